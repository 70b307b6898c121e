//! The namespaces of prefixes in XML of the data (Namespaces in XML 1.0).

use std::collections::BTreeMap;

use crate::word::TRANSITIONAL;
use crate::word::attribute::{attributes, unescaped};

/// Namespaces bound to the reserved prefixes `xml` and `xmlns`, which must not be declared otherwise.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
const DECLARATIONS: &str = "http://www.w3.org/2000/xmlns/";

/// Namespaces of attributes that refer to parts and addresses, in both forms of the format.
pub(super) const RELATIONSHIPS: [&str; 2] = [
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
];

/// An attribute's name as written, and its value unescaped.
pub(super) struct Attribute {
    pub name: String,
    pub value: String,
}

/// The prefixes in scope; the empty prefix is the default namespace.
pub(super) struct Namespaces {
    /// The namespaces of each prefix; the innermost declaration is the last.
    known: BTreeMap<String, Vec<String>>,
    /// Word's own prefix in the document.
    words: String,
}

impl Namespaces {
    /// The prefixes declared by a part's root, whose start tag is `tag`.
    pub(super) fn of_root(tag: &[u8], words: &str) -> Self {
        let text = |range| String::from_utf8_lossy(tag.get(range).unwrap_or_default()).trim().to_owned();
        // Authors use `r:` without declaring it. Known here, it gets the message that references are refused, and not
        // "undeclared".
        let mut known = BTreeMap::from([("r".to_owned(), vec![RELATIONSHIPS[0].to_owned()])]);
        for attribute in attributes(tag) {
            if let Some(prefix) = declared(&text(attribute.name)) {
                known.insert(prefix.to_owned(), vec![unescaped(&text(attribute.value))]);
            }
        }
        known.insert("xml".to_owned(), vec![XML.to_owned()]);
        let words = words.trim_end_matches(':').to_owned();
        // The prefix of the part's own names is known even if it is not declared at the root.
        known.entry(words.clone()).or_insert_with(|| vec![TRANSITIONAL.to_owned()]);
        Self { known, words }
    }

    /// Adds what the attributes of an element declare. Returns the prefixes, for [`Namespaces::forget`].
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

    /// Removes the declarations of an element that ends.
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

    /// As [`Namespaces::of_element`], for an attribute: without a prefix it has no namespace.
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

/// A name's prefix, which may be empty, and its local part.
fn parts(name: &str) -> Result<(&str, &str), String> {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    if is_name(local) && (is_name(prefix) || !name.contains(':')) {
        return Ok((prefix, local));
    }
    Err(format!("the XML has a name that is none ({})", crate::error::quoted(name)))
}

/// Only ASCII: XML allows letters of all languages, but Office uses none of them.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}
