//! Parts that are taken out of a document while it is filled.

use std::collections::BTreeSet;

use super::{Content, LIST, Package, entries, relationships, replaced};
use crate::error::Error;

impl Package<'_> {
    /// Takes parts out, by their names in lower case, with what they refer to; what refers to them is [`Package::referring`]'s to tell.
    pub(crate) fn drop_parts(&mut self, gone: &BTreeSet<String>) -> Result<(), Error> {
        for name in gone {
            for name in [name.clone(), relationships::name(name)] {
                self.remove(&name);
                if let Some(at) = self.added_at.remove(&name)
                    && let Some((added, content)) = self.added.get_mut(at)
                {
                    // Its place stays, or all others would have another one.
                    added.clear();
                    *content = Content::Plain(Vec::new());
                }
            }
        }
        self.relationships.retain(|part, _| !gone.contains(&part.to_ascii_lowercase()));
        let list = self.part(LIST)?.unwrap_or_default();
        let is_gone = |name: &str| gone.contains(&name.trim_start_matches('/').to_ascii_lowercase());
        let lines = entries(LIST, &list)?.into_iter().filter(|entry| entry.name == "Override");
        let edits: Vec<_> = lines
            .filter(|entry| is_gone(entry.value("PartName")))
            .map(|entry| (entry.whole, String::new()))
            .collect();
        self.put(LIST, replaced(&list, &edits))
    }

    /// The parts that refer to one of these, each with the ids by which it does.
    pub(crate) fn referring(&mut self, gone: &BTreeSet<String>) -> Result<Vec<(String, Vec<String>)>, Error> {
        let added = self.added.iter().map(|(name, _)| name.clone());
        let names: Vec<String> = self.names().into_iter().chain(added).collect();
        let mut found = Vec::new();
        for part in names.iter().filter_map(|name| relationships::source(name)) {
            // The names of a file's parts are known in lower case; what was read of one is kept by the name that it was read by.
            let own = self.relationships.keys().find(|own| own.eq_ignore_ascii_case(&part)).cloned();
            let part = own.unwrap_or(part);
            let all = self.relationships_of(&part)?.iter().filter(|one| !one.is_external);
            let ids = all.filter(|one| {
                let target = relationships::resolved(&part, &one.target).unwrap_or_default();
                gone.contains(&target.to_ascii_lowercase())
            });
            let ids: Vec<String> = ids.map(|one| one.id.clone()).collect();
            if !ids.is_empty() {
                found.push((part, ids));
            }
        }
        Ok(found)
    }
}
