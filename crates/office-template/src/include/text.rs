//! The text of an included document: its paragraphs and tables, with the names and numbers that hold in the package.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memchr::memmem;

use super::copy::Copy;
use super::rewrite::{Change, Seen, rewritten};
use crate::error::Error;
use crate::forms::root;
use crate::package::Package;
use crate::package::xml::attribute_text;
use crate::source::{Document, Source};
use crate::word::Prefixes;
use crate::word::attribute::{attributes, value_in};
use crate::written::Refusal;

const NOTES: &str = "its footnotes, endnotes and comments are left out";
const SECTIONS: &str = "its section breaks are left out; what is taken in stands in the section around";

/// What a text refers to.
#[derive(Default)]
pub(super) struct Used {
    pub styles: BTreeSet<String>,
    pub lists: BTreeSet<String>,
    pub relationships: BTreeSet<String>,
}

/// Names and numbers in the package, by those in the document.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub styles: &'a BTreeMap<String, String>,
    pub lists: &'a BTreeMap<String, u64>,
    pub relationships: &'a BTreeMap<String, String>,
    /// The prefixes of attributes with ids of relationships.
    pub prefixes: &'a Prefixes,
}

/// The content of a main part's body.
pub(super) fn body<'x>(xml: &'x [u8], prefix: &str) -> Option<&'x [u8]> {
    let begin = memmem::find(xml, format!("<{prefix}body").as_bytes())?;
    let end = memmem::rfind(xml, format!("</{prefix}body>").as_bytes())?;
    let begin = begin + memchr::memchr(b'>', xml.get(begin..end)?)? + 1;
    xml.get(begin..end)
}

/// What the `body` of a part refers to; `prefixes` are its part's.
pub(super) fn used(body: &[u8], prefix: &str, prefixes: &Prefixes) -> Result<Used, Error> {
    let mut used = Used::default();
    let look = |seen: &Seen<'_>| {
        match seen.name {
            "pStyle" | "rStyle" | "tblStyle" => {
                used.styles.insert(value_in(seen.tag, "val"));
            }
            "numId" if seen.parent == "numPr" => {
                used.lists.insert(value_in(seen.tag, "val"));
            }
            // The last section's properties are left out, with its headers.
            "sectPr" => return Change::Drop,
            _ => {}
        }
        for attribute in attributes(seen.tag) {
            if seen.tag.get(attribute.name).is_some_and(|name| prefixes.hold(name)) {
                let id = seen.tag.get(attribute.value).unwrap_or_default();
                used.relationships.insert(String::from_utf8_lossy(id).into_owned());
            }
        }
        Change::Keep
    };
    rewritten(body, prefix, look)?;
    Ok(used)
}

/// The text, and warnings about what was left out of it.
pub(super) fn written(
    (xml, body): (&[u8], &[u8]),
    names: Names<'_>,
    (document, host): (&Document, Source<'_>),
    package: &mut Package<'_>,
) -> Result<(String, BTreeSet<&'static str>), Refusal> {
    let mut writer = Writer {
        names,
        declared: declarations(root(xml), root(host.xml), body),
        copy: Copy::begin(&mut *package, host.root.0)?,
        left_out: BTreeSet::new(),
    };
    let text = rewritten(body, host.prefix, |seen| writer.change(seen));
    let left_out = writer.left_out;
    let text = text.map_err(|error| super::named(&document.name, error))?;
    if text.len() > package.room() {
        return Err(package.full().into());
    }
    Ok((String::from_utf8_lossy(&text).into_owned(), left_out))
}

struct Writer<'a, 'p, 'f> {
    names: Names<'a>,
    /// Namespace declarations for the elements at the top.
    declared: Vec<(String, String)>,
    copy: Copy<'p, 'f>,
    left_out: BTreeSet<&'static str>,
}

impl Writer<'_, '_, '_> {
    fn change(&mut self, seen: &Seen<'_>) -> Change {
        match seen.name {
            "sectPr" => {
                if seen.depth > 0 {
                    self.left_out.insert(SECTIONS);
                }
                return Change::Drop;
            }
            "footnoteReference" | "endnoteReference" | "commentReference" => {
                self.left_out.insert(NOTES);
                return Change::Drop;
            }
            "commentRangeStart" | "commentRangeEnd" | "permStart" | "permEnd" | "moveFromRangeStart"
            | "moveFromRangeEnd" | "moveToRangeStart" | "moveToRangeEnd" => return Change::Drop,
            // A control's id must be unique, and its data binding refers to a part that is not copied.
            "id" if seen.parent == "sdtPr" => return Change::Drop,
            name if seen.parent == "sdtPr" && name.ends_with("dataBinding") => return Change::Drop,
            _ => {}
        }
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        for attribute in attributes(seen.tag) {
            let name = seen.tag.get(attribute.name.clone()).unwrap_or_default().trim_ascii_end();
            let name = std::str::from_utf8(name).unwrap_or_default();
            let value = String::from_utf8_lossy(seen.tag.get(attribute.value.clone()).unwrap_or_default());
            if name.ends_with(":paraId") || name.ends_with(":textId") {
                changes.push((attribute.whole, String::new()));
            } else if let Some(value) = self.value(seen, name, &value) {
                changes.push((attribute.value, value));
            }
        }
        if seen.depth == 0 {
            let end =
                seen.tag.iter().position(|&byte| byte.is_ascii_whitespace() || byte == b'>' || byte == b'/');
            let declared = self.declarations(seen.tag);
            changes.insert(0, (end.unwrap_or(1)..end.unwrap_or(1), declared));
        }
        if changes.is_empty() { Change::Keep } else { Change::Tag(changes) }
    }

    /// The new value of an attribute, `None` where it stays.
    fn value(&mut self, seen: &Seen<'_>, name: &str, value: &str) -> Option<String> {
        if self.names.prefixes.hold(name.as_bytes()) {
            return self.names.relationships.get(value).cloned();
        }
        let local = name.rsplit(':').next().unwrap_or_default();
        match (seen.name, local) {
            ("pStyle" | "rStyle" | "tblStyle", "val") => {
                let own = value_in(seen.tag, "val");
                Some(attribute_text(self.names.styles.get(&own)?))
            }
            ("numId", "val") if seen.parent == "numPr" => {
                Some(self.names.lists.get(value).copied().unwrap_or_default().to_string())
            }
            _ => self.copy.value(seen.name, local, value),
        }
    }

    /// The declarations that a start tag does not have itself.
    fn declarations(&self, tag: &[u8]) -> String {
        let mut text = String::new();
        for (name, value) in &self.declared {
            let has = |attribute: crate::word::attribute::Attribute| {
                tag.get(attribute.name).is_some_and(|found| found.trim_ascii_end() == name.as_bytes())
            };
            if !attributes(tag).any(has) {
                text.extend([" ", name, "=\"", value, "\""]);
            }
        }
        text
    }
}

/// The declarations of a document's root that the text needs and the host's root lacks, with the list of prefixes that readers
/// may ignore (`mc:Ignorable`).
fn declarations(own: &[u8], host: &[u8], body: &[u8]) -> Vec<(String, String)> {
    let all = |tag: &[u8]| -> Vec<(String, String)> {
        let text = |range: Range<usize>| match tag.get(range) {
            Some(bytes) => String::from_utf8_lossy(bytes.trim_ascii_end()),
            None => Cow::Borrowed(""),
        };
        attributes(tag).map(|one| (text(one.name).into_owned(), text(one.value).into_owned())).collect()
    };
    let (own, host) = (all(own), all(host));
    let is_used = |prefix: &str| memmem::find(body, format!("{prefix}:").as_bytes()).is_some();
    let ignorable = own.iter().find(|(name, _)| name.ends_with(":Ignorable"));
    let ignored = ignorable.map(|(_, list)| list.split_whitespace().filter(|prefix| is_used(prefix)));
    let ignored: Vec<&str> = ignored.into_iter().flatten().collect();
    let ignoring = ignorable.filter(|_| !ignored.is_empty());
    let needed = |name: &str| {
        let prefix = name.strip_prefix("xmlns:")?;
        let is_of_list = ignoring.is_some_and(|(name, _)| name.split(':').next() == Some(prefix));
        (is_used(prefix) || is_of_list).then_some(())
    };
    let missing = own.iter().filter(|one| needed(&one.0).is_some() && !host.contains(one));
    let mut declared: Vec<(String, String)> = missing.cloned().collect();
    declared.extend(ignoring.map(|(name, _)| (name.clone(), ignored.join(" "))));
    declared
}
