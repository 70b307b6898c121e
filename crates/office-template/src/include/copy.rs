//! Ids and names that must be unique in a document: each copy of included XML gets its own.

use std::collections::{HashMap, HashSet};

use memchr::memmem;

use crate::error::Error;
use crate::package::Package;
use crate::package::xml::attribute_text;
use crate::plan::key;
use crate::word::CHANGES;
use crate::word::attribute::{attribute, unescaped};

/// A copy that is being written.
pub(crate) struct Copy<'p, 'f> {
    package: &'p mut Package<'f>,
    /// The new numbers of its bookmarks, and the new names of those that had to be renamed, by their [`key`]s.
    numbers: HashMap<String, u64>,
    renamed: HashMap<String, String>,
}

impl<'p, 'f> Copy<'p, 'f> {
    /// Begins a copy in the document whose main part is `main`.
    pub(crate) fn begin(package: &'p mut Package<'f>, main: &str) -> Result<Self, Error> {
        if package.taken.bookmarks.is_none() {
            package.taken.bookmarks = Some(bookmarks(&package.part(main)?.unwrap_or_default()));
        }
        Ok(Self { package, numbers: HashMap::new(), renamed: HashMap::new() })
    }

    /// The new value of an attribute, `None` where it stays; both values are escaped. `element` has no prefix of Word's but any
    /// other, `local` has none.
    pub(crate) fn value(&mut self, element: &str, local: &str, value: &str) -> Option<String> {
        match (element, local) {
            ("bookmarkStart" | "bookmarkEnd", "id") => {
                let package = &mut *self.package;
                let number = self.numbers.entry(value.to_owned()).or_insert_with(|| package.number());
                Some(number.to_string())
            }
            ("bookmarkStart", "name") => self.bookmark(value),
            ("hyperlink", "anchor") => self.renamed.get(&key(value)).cloned(),
            (name, "id") if name.ends_with(":docPr") || CHANGES.contains(&name.as_bytes()) => {
                Some(self.package.number().to_string())
            }
            _ => None,
        }
    }

    /// A new name, where another bookmark has this one.
    fn bookmark(&mut self, written: &str) -> Option<String> {
        let name = unescaped(written);
        let names = self.package.taken.bookmarks.get_or_insert_default();
        if names.insert(key(&name)) {
            return None;
        }
        let short: String = name.chars().take(28).collect();
        let other = format!("{short}_{}", self.package.number());
        self.package.taken.bookmarks.get_or_insert_default().insert(key(&other));
        let other = attribute_text(&other);
        self.renamed.insert(key(written), other.clone());
        Some(other)
    }
}

/// The [`key`]s of a part's bookmarks.
fn bookmarks(xml: &[u8]) -> HashSet<String> {
    let found = memmem::find_iter(xml, b"bookmarkStart ").filter_map(|at| {
        let tag = xml.get(at..)?;
        let tag = tag.get(..memchr::memchr(b'>', tag)?)?;
        Some(key(&unescaped(&String::from_utf8_lossy(tag.get(attribute(tag, "name")?.value)?))))
    });
    found.collect()
}
