//! What the prefixes of XML stand for (Namespaces in XML 1.0).

use std::collections::BTreeMap;

use crate::word::TRANSITIONAL;
use crate::word::attribute::{attributes, unescaped};

/// These are bound already, to prefixes that nobody else may use for anything else.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
const DECLARATIONS: &str = "http://www.w3.org/2000/xmlns/";

/// Of attributes that refer to parts and addresses; in both forms of the format.
pub(super) const RELATIONSHIPS: [&str; 2] = [
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
];

/// An attribute as it is written, and what its value means.
pub(super) struct Attribute {
    pub name: String,
    pub value: String,
}

/// The prefixes that are known in a place; the empty one is that of names without one.
pub(super) struct Namespaces {
    /// What each stands for; what it stands for now is the last.
    known: BTreeMap<String, Vec<String>>,
    /// Word's own prefix in the document.
    words: String,
}

impl Namespaces {
    /// Those that a part's root, this start tag, declares.
    pub(super) fn of_root(tag: &[u8], words: &str) -> Self {
        let text = |range| String::from_utf8_lossy(tag.get(range).unwrap_or_default()).trim().to_owned();
        // Everybody writes r: without thinking of it, and is to be told the right thing where it is not declared.
        let mut known = BTreeMap::from([("r".to_owned(), vec![RELATIONSHIPS[0].to_owned()])]);
        for attribute in attributes(tag) {
            if let Some(prefix) = declared(&text(attribute.name)) {
                known.insert(prefix.to_owned(), vec![unescaped(&text(attribute.value))]);
            }
        }
        known.insert("xml".to_owned(), vec![XML.to_owned()]);
        let words = words.trim_end_matches(':').to_owned();
        // That of the part's own names is known, wherever it is declared.
        known.entry(words.clone()).or_insert_with(|| vec![TRANSITIONAL.to_owned()]);
        Self { known, words }
    }

    /// Adds what the attributes of an element declare. Tells the prefixes, for [`Namespaces::forget`].
    pub(super) fn declare(&mut self, attributes: &[Attribute]) -> Result<Vec<String>, String> {
        let mut prefixes = Vec::new();
        for Attribute { name, value } in attributes {
            let Some(prefix) = declared(name) else { continue };
            let is_bound =
                ["xml", "xmlns"].contains(&prefix) || [XML, DECLARATIONS].contains(&value.as_str());
            if is_bound || value.is_empty() || (name != "xmlns" && !is_name(prefix)) {
                return Err(format!("the XML has a declaration ({name}) that XML does not allow"));
            }
            if prefix == self.words && self.resolve(prefix).is_some_and(|known| known != value) {
                return Err(format!(
                    "the XML gives Word's prefix another meaning ({name}) than the document"
                ));
            }
            self.known.entry(prefix.to_owned()).or_default().push(value.clone());
            prefixes.push(prefix.to_owned());
        }
        Ok(prefixes)
    }

    /// Ends an element that declared these.
    pub(super) fn forget(&mut self, prefixes: &[String]) {
        for prefix in prefixes {
            self.known.get_mut(prefix).map(Vec::pop);
        }
    }

    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.known.get(prefix)?.last().map(String::as_str)
    }

    /// The namespace of an element's name, and the name without its prefix.
    pub(super) fn of_element<'n>(&self, name: &'n str) -> Result<(&str, &'n str), String> {
        let (prefix, local) = parts(name)?;
        match self.resolve(prefix) {
            Some(namespace) => Ok((namespace, local)),
            None if prefix.is_empty() => Ok(("", local)),
            None => Err(undeclared(prefix)),
        }
    }

    /// The same of an attribute's: without a prefix it has none.
    pub(super) fn of_attribute<'n>(&self, name: &'n str) -> Result<(&str, &'n str), String> {
        let (prefix, local) = parts(name)?;
        match self.resolve(prefix) {
            _ if prefix.is_empty() => Ok(("", local)),
            Some(namespace) => Ok((namespace, local)),
            None => Err(undeclared(prefix)),
        }
    }
}

/// The prefix that an attribute of this name declares.
pub(super) fn declared(name: &str) -> Option<&str> {
    if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") }
}

fn undeclared(prefix: &str) -> String {
    format!("the XML uses the prefix {prefix}:, which neither it nor the document declares")
}

/// A name's prefix, which may be empty, and the rest.
fn parts(name: &str) -> Result<(&str, &str), String> {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    if is_name(local) && (is_name(prefix) || !name.contains(':')) {
        return Ok((prefix, local));
    }
    Err(format!("the XML has a name that is none ({})", crate::error::quoted(name)))
}

/// XML allows letters of all languages, and Office uses those of ASCII.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}
