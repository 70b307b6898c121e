//! The prefixes of attributes that hold ids of relationships: `r:` as a rule, but any prefix may be bound to their namespace.

use super::RELATIONSHIPS;

/// The prefix that nearly all programs use. A piece of XML without any declaration means it too.
const USUAL: &[u8] = b"r:";

/// How many bytes of a declaration may stand before its namespace. Without an end, each namespace in a text without blanks would
/// be looked back from to the text's beginning.
const LONGEST: usize = 100;

/// The prefixes of a part's relationships, with their colons.
pub(crate) struct Prefixes(Vec<Vec<u8>>);

impl Default for Prefixes {
    fn default() -> Self {
        Self(vec![USUAL.to_vec()])
    }
}

impl Prefixes {
    /// Those that `xml` declares, at any of its elements.
    pub(crate) fn of(xml: &[u8]) -> Self {
        let mut found = Self::default();
        for namespace in RELATIONSHIPS {
            for at in memchr::memmem::find_iter(xml, namespace.as_bytes()) {
                if !matches!(xml.get(at + namespace.len()), Some(b'"' | b'\'')) {
                    continue;
                }
                let prefix = xml.get(at.saturating_sub(LONGEST)..at).and_then(declared);
                let prefix = prefix.map(|prefix| [prefix, b":"].concat());
                found.0.extend(prefix.filter(|prefix| !found.0.contains(prefix)));
            }
        }
        found
    }

    /// Whether the attribute of this name holds the id of a relationship.
    pub(crate) fn hold(&self, name: &[u8]) -> bool {
        self.0.iter().any(|prefix| name.starts_with(prefix))
    }
}

/// The prefix of a declaration that ends before the namespace, as `… xmlns:r="`.
fn declared(before: &[u8]) -> Option<&[u8]> {
    let name = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'"))?;
    let name = name.trim_ascii_end().strip_suffix(b"=")?.trim_ascii_end();
    name.rsplit(u8::is_ascii_whitespace).next()?.strip_prefix(b"xmlns:")
}
