//! The XMP packet (ISO 16684-1) with what is said anew in it.

use std::fmt::Write as _;

use crate::Metadata;

/// Behind what it says.
const END: &str = "</rdf:RDF>";

/// The packet, without what it said of these and with what is said now; `None` where it is no packet.
pub fn with_metadata(packet: &str, metadata: &Metadata) -> Option<String> {
    let said = [
        ("dc:title", &metadata.title, Some("Alt")),
        ("dc:creator", &metadata.author, Some("Seq")),
        ("dc:description", &metadata.subject, Some("Alt")),
        ("pdf:Keywords", &metadata.keywords, None),
    ];
    let mut packet = packet.to_owned();
    let mut entries = String::new();
    for (name, text, list) in said {
        let Some(text) = text else { continue };
        packet = without(&packet, name)?;
        let text = escaped(text);
        let value = match list {
            Some("Alt") => format!("<rdf:Alt><rdf:li xml:lang=\"x-default\">{text}</rdf:li></rdf:Alt>"),
            Some(list) => format!("<rdf:{list}><rdf:li>{text}</rdf:li></rdf:{list}>"),
            None => text,
        };
        let _ = writeln!(entries, "   <{name}>{value}</{name}>");
    }
    let (before, behind) = packet.split_once(END)?;
    Some(format!(
        "{before} <rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\">\n{entries}  </rdf:Description>\n {END}{behind}"
    ))
}

/// The packet without the element, where it has it.
fn without(packet: &str, name: &str) -> Option<String> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let Some((before, rest)) = packet.split_once(&start) else { return Some(packet.to_owned()) };
    let (_, behind) = rest.split_once(&end)?;
    Some(format!("{}{}", before.trim_end_matches(' '), behind.trim_start_matches('\n')))
}

/// What XML does not know is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' => escaped.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
