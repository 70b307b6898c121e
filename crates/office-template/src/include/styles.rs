//! The styles of an included document. A style that both documents have, by id or name, keeps the including document's
//! definition.

use std::collections::{BTreeMap, BTreeSet};

use super::lists::own_attributes;
use super::rewrite::{Change, Seen, rewritten, with_value};
use super::taken::Merged;
use super::text::Used;
use super::{numbering, parts::Own};
use crate::package::Package;
use crate::package::xml::with_last;
use crate::styles::{Style, Styles};
use crate::word::attribute::value_in;
use crate::written::Refusal;

/// Adds the styles that are used and missing, and records the new ids of all that are used.
pub(super) fn merge(
    merged: &mut Merged,
    own: &mut Own<'_>,
    (used, links): (&Used, &BTreeSet<String>),
    ((main, namespace), package): ((&str, &str), &mut Package<'_>),
) -> Result<(), Refusal> {
    let wanted: Vec<&String> =
        used.styles.iter().chain(links).filter(|id| !merged.asked.contains(*id)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let xml = own.part("styles", package)?.unwrap_or_default();
    let theirs = Styles::read(&xml);
    let part = crate::named_styles::part(package, main, namespace)?;
    let host = package.part(&part)?.unwrap_or_default();
    let ours = Styles::read(&host);
    let mut names = Names {
        ours: &ours,
        theirs: &theirs,
        taken: BTreeSet::new(),
        added: Vec::new(),
        map: &mut merged.styles,
    };
    for id in wanted {
        names.take(id);
        merged.asked.insert(id.clone());
    }
    let added = std::mem::take(&mut names.added);
    let mut definitions = String::new();
    for style in added {
        let Some(definition) = xml.get(style.range.clone()) else { continue };
        let listed = numbering::of_style(definition, &theirs.prefix);
        let list = match listed {
            Some(list) => numbering::of_styles(merged, &list, (main, namespace), package)?,
            None => None,
        };
        let text = defined(definition, style, (&theirs, &ours), &merged.styles, list);
        definitions.push_str(&text.map_err(|error| super::named("a file that is taken in", error))?);
    }
    if !definitions.is_empty() {
        package.put(&part, with_last(&host, &definitions))?;
    }
    Ok(())
}

struct Names<'a, 'm> {
    ours: &'a Styles,
    theirs: &'a Styles,
    /// Ids given to styles that are added.
    taken: BTreeSet<String>,
    added: Vec<&'a Style>,
    map: &'m mut BTreeMap<String, String>,
}

impl Names<'_, '_> {
    /// Maps a style, and those it refers to, to ids of the package. It is a loop, since a chain may be as long as the part has
    /// styles.
    fn take(&mut self, id: &str) {
        let mut left = vec![id.to_owned()];
        while let Some(id) = left.pop() {
            let Some(style) = self.theirs.get(&id).filter(|_| !self.map.contains_key(&id)) else { continue };
            let same = self.ours.get(&id).filter(|ours| ours.kind == style.kind);
            let same = same.or_else(|| self.ours.named(&style.kind, &style.name));
            if let Some(same) = same {
                self.map.insert(id, same.id.clone());
                continue;
            }
            let mut name = self.ours.free_id(&id);
            while !self.taken.insert(name.clone()) {
                name.push('_');
            }
            self.map.insert(id, name);
            left.extend(
                [&style.based_on, &style.link, &style.next].into_iter().filter(|id| !id.is_empty()).cloned(),
            );
            self.added.push(style);
        }
    }
}

/// A definition with the new ids. Elements and attributes of other prefixes are left out: the part may not declare them.
fn defined(
    definition: &[u8],
    style: &Style,
    (theirs, ours): (&Styles, &Styles),
    names: &BTreeMap<String, String>,
    list: Option<u64>,
) -> Result<String, crate::error::Error> {
    let prefix = if ours.prefix.is_empty() { "w:" } else { &ours.prefix };
    if theirs.prefix != prefix {
        return Ok(String::new());
    }
    let change = |seen: &Seen<'_>| match seen.name {
        "style" if seen.depth == 0 => {
            let id = names.get(&style.id).unwrap_or(&style.id);
            Change::Tag(own_attributes(seen.tag, prefix, |name| match name {
                "styleId" => Some(Some(id.clone())),
                "default" => Some(None),
                _ => None,
            }))
        }
        "basedOn" | "next" | "link" => {
            let id = value_in(seen.tag, "val");
            names.get(&id).map_or(Change::Drop, |name| with_value(seen.tag, "val", name))
        }
        "numId" if seen.parent == "numPr" => {
            with_value(seen.tag, "val", &list.unwrap_or_default().to_string())
        }
        name if name.contains(':') => Change::Drop,
        _ => Change::Tag(own_attributes(seen.tag, prefix, |_| None)),
    };
    let text = rewritten(definition, prefix, change)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
