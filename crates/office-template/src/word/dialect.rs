//! What elements are in each dialect, by their names.

use super::attribute::attributes;
use super::place::Dialect;
use super::{Kind, NAMESPACES};

/// The namespaces of drawings, transitional and strict.
const DRAWING: [&str; 2] =
    ["http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main"];

impl Dialect {
    /// The prefix of the dialect's elements in this part with its colon, as the root declares it.
    pub(super) fn prefix(self, root: &[u8]) -> String {
        let (namespaces, usual) = match self {
            Self::Word => (NAMESPACES, "w:"),
            Self::Drawing | Self::Slide => (DRAWING, "a:"),
            Self::Properties => return String::new(),
        };
        for attribute in attributes(root) {
            let name = root.get(attribute.name).unwrap_or_default().trim_ascii_end();
            let value = root.get(attribute.value).unwrap_or_default();
            if namespaces.iter().any(|known| known.as_bytes() == value) {
                if name == b"xmlns" {
                    return String::new();
                }
                if let Some(prefix) = name.strip_prefix(b"xmlns:") {
                    return format!("{}:", String::from_utf8_lossy(prefix));
                }
            }
        }
        usual.to_owned()
    }

    /// The local name of an equation's element that is read as the one of the same name in text: a run, its text, its properties.
    pub(super) fn in_equation(self, name: &[u8]) -> Option<&[u8]> {
        let local = name.strip_prefix(b"m:").filter(|_| self == Self::Word)?;
        matches!(local, b"r" | b"t" | b"rPr").then_some(local)
    }

    /// What an element is; `local` is its name without the dialect's prefix, and empty where it has another.
    pub(super) fn kind(self, name: &[u8], local: &[u8]) -> Kind {
        match self {
            Self::Word => word(local),
            Self::Drawing | Self::Slide => drawing(name, local),
            Self::Properties => property(name),
        }
    }
}

fn word(local: &[u8]) -> Kind {
    match local {
        b"p" => Kind::Paragraph,
        b"r" => Kind::Run,
        b"t" => Kind::Text,
        b"instrText" => Kind::Code,
        b"tbl" => Kind::Table,
        b"tr" => Kind::Row,
        b"tc" => Kind::Cell,
        b"txbxContent" | b"hdr" | b"ftr" | b"footnote" | b"endnote" | b"comment" => Kind::Box,
        b"sdt" => Kind::Control,
        b"sdtContent" => Kind::ControlContent,
        b"sdtPr" => Kind::ControlProperties,
        b"pPr" => Kind::ParagraphProperties,
        b"rPr" => Kind::Properties,
        b"moveFrom" => Kind::MoveFrom,
        _ => Kind::Other,
    }
}

fn drawing(name: &[u8], local: &[u8]) -> Kind {
    match local {
        b"p" => Kind::Paragraph,
        b"r" => Kind::Run,
        b"t" => Kind::Text,
        b"tbl" => Kind::Table,
        b"tr" => Kind::Row,
        b"tc" => Kind::Cell,
        b"txBody" => Kind::Box,
        b"pPr" => Kind::ParagraphProperties,
        b"rPr" => Kind::Properties,
        // The element around paragraphs belongs to the format around the drawing: a node of SmartArt, a chart's title.
        b"" => match name {
            // A cell's value that a chart remembers; a comment on a slide.
            b"c:v" | b"p:text" => Kind::Value,
            b"dgm:t" => Kind::Box,
            _ if name.ends_with(b":txBody") || name.ends_with(b":rich") => Kind::Box,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// What a property is. Dates and numbers are no texts, and cannot hold a tag.
fn property(name: &[u8]) -> Kind {
    let (prefix, local) = match name.iter().position(|&byte| byte == b':') {
        Some(at) => name.split_at(at),
        None => (&b""[..], name),
    };
    let is_text = match prefix {
        b"dc" => true,
        b"cp" => matches!(
            local,
            b":keywords" | b":category" | b":contentStatus" | b":lastModifiedBy" | b":version"
        ),
        b"vt" => matches!(local, b":lpwstr" | b":lpstr" | b":bstr"),
        b"" => matches!(
            local,
            b"Company" | b"Manager" | b"HyperlinkBase"
            // The texts of a workbook's comments, and of threaded ones.
            | b"t" | b"text"
        ),
        _ => false,
    };
    if is_text { Kind::Value } else { Kind::Other }
}
