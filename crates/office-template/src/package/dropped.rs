//! Parts that are taken out of a document while it is filled.

use std::collections::{BTreeMap, BTreeSet};

use super::{Content, LIST, Package, relationships, replaced};
use crate::error::Error;

/// What each part refers to inside of the document, by its name: ids, and names of parts in lower case.
type Graph = BTreeMap<String, Vec<(String, String)>>;

/// The remaining parts that refer to removed ones, with the ids of these references.
pub(crate) type Referring = Vec<(String, BTreeSet<String>)>;

impl Package<'_> {
    /// Removes these parts (names in lower case) and all that only they lead to: a picture that another part shows too is kept.
    /// Returns the remaining parts that refer to removed ones.
    pub(crate) fn drop_parts(&mut self, parts: &BTreeSet<String>) -> Result<Referring, Error> {
        let graph = self.graph()?;
        let kept = reached(&graph, &BTreeSet::from([String::new()]), parts);
        let mut gone = reached(&graph, parts, &BTreeSet::new());
        gone.retain(|part| !kept.contains(part));
        let mut referring = Vec::new();
        for (part, targets) in graph.iter().filter(|(part, _)| !gone.contains(&part.to_ascii_lowercase())) {
            let ids = targets.iter().filter(|(_, target)| gone.contains(target)).map(|(id, _)| id.clone());
            let ids: BTreeSet<String> = ids.collect();
            if !ids.is_empty() {
                referring.push((part.clone(), ids));
            }
        }
        self.take_out(&gone)?;
        Ok(referring)
    }

    fn take_out(&mut self, gone: &BTreeSet<String>) -> Result<(), Error> {
        for name in gone {
            for name in [name.clone(), relationships::name(name)] {
                self.remove(&name);
                if let Some(at) = self.added_at.remove(&name)
                    && let Some((added, content)) = self.added.get_mut(at)
                {
                    // Its place in the list is kept empty, or the indices of all later parts would be wrong.
                    added.clear();
                    *content = Content::Plain(Vec::new());
                }
            }
        }
        self.relationships.retain(|part, _| !gone.contains(&part.to_ascii_lowercase()));
        let list = self.part(LIST)?.unwrap_or_default();
        let is_gone = |name: &str| gone.contains(&name.trim_start_matches('/').to_ascii_lowercase());
        let lines = self.elements(LIST, &list)?.into_iter().filter(|entry| entry.name == "Override");
        let edits: Vec<_> = lines
            .filter(|entry| is_gone(entry.value("PartName")))
            .map(|entry| (entry.whole, String::new()))
            .collect();
        self.put(LIST, replaced(&list, &edits))
    }

    /// The current relationships of all parts.
    fn graph(&mut self) -> Result<Graph, Error> {
        let added = self.added.iter().map(|(name, _)| name.clone());
        let names: Vec<String> = self.names().into_iter().chain(added).collect();
        // The file's names are in lower case here, but relationships already read are kept by the name that was used for it.
        let mut own: BTreeMap<String, String> =
            self.relationships.keys().map(|name| (name.to_ascii_lowercase(), name.clone())).collect();
        for part in names.iter().filter_map(|name| relationships::source(name)) {
            own.entry(part.to_ascii_lowercase()).or_insert(part);
        }
        let mut graph = Graph::new();
        for part in own.into_values() {
            let all = self.relationships_of(&part)?.iter().filter(|one| !one.is_external);
            let targets = all.map(|one| {
                let target = relationships::resolved(&part, &one.target).unwrap_or_default();
                (one.id.clone(), target.to_ascii_lowercase())
            });
            let targets = targets.collect();
            graph.insert(part, targets);
        }
        Ok(graph)
    }
}

/// All parts reached from `begin`, these included, but not through those in `without`.
fn reached(graph: &Graph, begin: &BTreeSet<String>, without: &BTreeSet<String>) -> BTreeSet<String> {
    let edges: BTreeMap<String, &Vec<(String, String)>> =
        graph.iter().map(|(part, targets)| (part.to_ascii_lowercase(), targets)).collect();
    let mut next: Vec<&str> = begin.iter().map(String::as_str).collect();
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    while let Some(part) = next.pop() {
        if !without.contains(part) && reached.insert(part) {
            let targets = edges.get(part).into_iter().flat_map(|targets| targets.iter());
            next.extend(targets.map(|(_, target)| target.as_str()));
        }
    }
    reached.into_iter().map(str::to_owned).collect()
}
