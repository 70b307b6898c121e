//! Names and attributes of OpenDocument's elements.

use roxmltree::{Document, Node, ParsingOptions};

use crate::limits::{Error, Limits};

const OASIS: &str = "urn:oasis:names:tc:opendocument:xmlns:";
/// Namespaces whose usual prefix is another word than that of their address.
const SHORT: [(&str, &str); 3] =
    [("drawing", "draw"), ("xsl-fo-compatible", "fo"), ("svg-compatible", "svg")];

/// The tree of a part.
///
/// # Errors
///
/// [`Error::Package`] for what is no XML or has too many nodes.
pub fn parse<'a>(name: &str, text: &'a str, limits: &Limits) -> Result<Document<'a>, Error> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: limits.nodes, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| Error::Package(format!("{name}: {error}")))
}

/// The usual prefix of a namespace: `text` for that of texts, whatever the document calls it.
fn prefix(namespace: Option<&str>) -> &str {
    let namespace = namespace.unwrap_or_default();
    let Some(rest) = namespace.strip_prefix(OASIS) else {
        return match namespace {
            "http://www.w3.org/1999/xlink" => "xlink",
            "http://purl.org/dc/elements/1.1/" => "dc",
            "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0" => "loext",
            _ => "",
        };
    };
    let word = rest.split(':').next().unwrap_or_default();
    SHORT.iter().find(|(long, _)| *long == word).map_or(word, |(_, short)| *short)
}

/// An element's usual prefix and its name; both are empty for what is no element.
pub fn name<'a>(node: Node<'a, '_>) -> (&'a str, &'a str) {
    if node.is_element() { (prefix(node.tag_name().namespace()), node.tag_name().name()) } else { ("", "") }
}

/// The value of an attribute, by its usual prefix and name.
pub fn attribute<'a>(node: Node<'a, '_>, space: &str, local: &str) -> Option<&'a str> {
    let found = node.attributes().find(|one| one.name() == local && prefix(one.namespace()) == space);
    found.map(|one| one.value())
}

/// All attributes as (prefix, name, value).
pub fn attributes<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
    node.attributes().map(|one| (prefix(one.namespace()), one.name(), one.value()))
}

/// The first child of a name.
pub fn child<'a, 'i>(node: Node<'a, 'i>, space: &str, local: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|one| name(*one) == (space, local))
}

/// A number that says how often something is repeated or how far it reaches: at least one.
pub fn count(node: Node<'_, '_>, local: &str) -> usize {
    attribute(node, "table", local).and_then(|value| value.parse().ok()).unwrap_or(1).max(1)
}
