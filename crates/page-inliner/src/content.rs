//! What a file is, by its name and its content: only where both agree is it shown the same from a `data:` address.
//!
//! A picture must be whole. Of a damaged one the author is warned, and the warning names its file; inlined, it would have no
//! name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use office_picture::Format;
use roxmltree::{Document, ParsingOptions};

use crate::address::stays_in_document;
use crate::css;
use crate::role::Role;

/// Elements of a drawing; more is left to the browser.
const NODES_LIMIT: u32 = 100_000;
/// Namespaces that a drawing names, and attributes of one element.
const NAMESPACES_LIMIT: usize = 32;
const ATTRIBUTES_LIMIT: usize = 256;

/// The `data:` address of a picture or font that is served as `essence` (a type without parameters); none where its
/// content is another type, or damaged, or refers to something.
pub fn data_address(role: Role, essence: &str, content: &[u8]) -> Option<String> {
    let is_sound = match (role, essence) {
        (Role::Picture, "image/png") => Format::Png.is_whole(content),
        (Role::Picture, "image/jpeg") => Format::Jpeg.is_whole(content),
        (Role::Picture, "image/webp") => Format::WebP.is_whole(content),
        (Role::Picture, "image/svg+xml") => std::str::from_utf8(content).is_ok_and(is_drawing),
        (Role::Font, "font/ttf" | "font/otf" | "font/woff" | "font/woff2") => is_font(content),
        _ => false,
    };
    is_sound.then(|| encoded(essence, content))
}

/// The address of a style sheet.
pub fn sheet_address(text: &str) -> String {
    encoded("text/css;charset=utf-8", text.as_bytes())
}

fn encoded(kind: &str, content: &[u8]) -> String {
    let mut address = String::with_capacity(kind.len() + 13 + content.len().div_ceil(3) * 4);
    address.push_str("data:");
    address.push_str(kind);
    address.push_str(";base64,");
    STANDARD.encode_string(content, &mut address);
    address
}

fn is_font(content: &[u8]) -> bool {
    [&b"\0\x01\0\0"[..], b"true", b"OTTO", b"wOFF", b"wOF2"].iter().any(|start| content.starts_with(start))
}

/// Whether it is an SVG that refers to nothing outside of itself. In a picture Chromium runs none of its scripts and loads
/// nothing that it names; by this check no page depends on that.
fn is_drawing(text: &str) -> bool {
    if is_costly(text) {
        return false;
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_LIMIT, ..ParsingOptions::default() };
    let Ok(document) = Document::parse_with_options(text, options) else { return false };
    let root = document.root_element().tag_name();
    (root.name(), root.namespace()) == ("svg", Some("http://www.w3.org/2000/svg"))
        && document.descendants().all(|node| {
            let is_plain = !node.is_pi() && !matches!(node.tag_name().name(), "foreignObject" | "script");
            let styles = node.tag_name().name() == "style";
            is_plain
                && (!styles
                    || node
                        .children()
                        .all(|child| css::refers_to_nothing_outside(child.text().unwrap_or_default())))
                && node.attributes().all(|attribute| match attribute.name() {
                    "href" | "src" => stays_in_document(attribute.value()),
                    _ => css::refers_to_nothing_outside(attribute.value()),
                })
        })
}

/// Hazard: the parser compares each attribute with all others of its element, and copies the namespaces of an element to
/// those in it; either would take hours of a drawing that is made for it.
fn is_costly(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), b"xmlns").nth(NAMESPACES_LIMIT).is_some()
        || text.split('<').any(|tag| tag.bytes().filter(|byte| *byte == b'=').nth(ATTRIBUTES_LIMIT).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of one pixel.
    const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\
        \xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

    #[test]
    fn a_picture_is_whole_and_what_its_name_says() {
        let address = data_address(Role::Picture, "image/png", DOT).unwrap();
        assert!(address.starts_with("data:image/png;base64,iVBORw0KGgo"), "{address}");
        for essence in ["image/jpeg", "image/webp", "image/svg+xml", "image/gif", "text/css", "font/ttf"] {
            assert_eq!(data_address(Role::Picture, essence, DOT), None, "{essence}");
        }
        assert_eq!(data_address(Role::Font, "image/png", DOT), None);
        for at in [0, 12, 16, 30, 45, DOT.len() - 5] {
            let mut damaged = DOT.to_vec();
            damaged[at] ^= 1;
            assert_eq!(data_address(Role::Picture, "image/png", &damaged), None, "{at}");
            assert_eq!(data_address(Role::Picture, "image/png", &DOT[..at]), None, "{at}");
        }
        assert_eq!(data_address(Role::Picture, "image/png", &[DOT, b"x"].concat()), None);
        let jpeg = |content: &[u8]| data_address(Role::Picture, "image/jpeg", content);
        let whole =
            b"\xff\xd8\xff\xe0\0\x03x\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0\xff\xda\0\x02data\xff\xd9";
        assert!(jpeg(whole).unwrap().starts_with("data:image/jpeg;base64,/9j/4AAD"));
        assert_eq!(jpeg(b"\xff\xd8\xff\xe0\xff\xd9"), None);
        for at in [1, 5, 11, 13, whole.len() - 1] {
            let mut damaged = whole.to_vec();
            damaged[at] ^= 1;
            assert_eq!(jpeg(&damaged), None, "{at}");
        }
        let webp = |content: &[u8]| data_address(Role::Picture, "image/webp", content).is_some();
        for whole in [
            &b"RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2a\x01\0\x01\0"[..],
            b"RIFF\x12\0\0\0WEBPVP8L\x05\0\0\0\x2f\0\0\0\0\0",
        ] {
            assert!(webp(whole));
            assert!(!webp(&whole[..whole.len() - 1]));
            for at in [0, 7, 8, 15] {
                let mut damaged = whole.to_vec();
                damaged[at] ^= 1;
                assert!(!webp(&damaged), "{at}");
            }
        }
        assert!(!webp(b"RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2b\x01\0\x01\0"));
    }

    #[test]
    fn a_drawing_refers_to_nothing_beside_itself() {
        let drawing = |inner: &str| {
            let text = format!(
                "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>{inner}</svg>"
            );
            data_address(Role::Picture, "image/svg+xml", text.as_bytes()).is_some()
        };
        for inner in [
            "",
            "<defs><g id='a'/></defs><use href='#a'/><use xlink:href='#a'/><rect fill='url(#a)' style='filter:url(#b)'/>",
            "<image href='data:image/png;base64,AA'/><style>p{fill:url(#a)}</style><text>url(x) href</text>",
        ] {
            assert!(drawing(inner), "{inner}");
        }
        for inner in [
            "<use href='b.svg#a'/>",
            "<image xlink:href='a.png'/>",
            "<a href='http://h.example/'/>",
            "<rect fill='url(a.svg#b)'/>",
            "<rect style='fill:u\\72l(a.svg#b)'/>",
            "<style>@import 'a.css';</style>",
            "<style><![CDATA[p{background:url(a.png)}]]></style>",
            "<foreignObject/>",
            "<script/>",
            "<?xml-stylesheet href='a.css'?>",
            "<b>",
        ] {
            assert!(!drawing(inner), "{inner}");
        }
        let entity = b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg xmlns='http://www.w3.org/2000/svg'/>";
        assert_eq!(data_address(Role::Picture, "image/svg+xml", entity), None);
        assert_eq!(data_address(Role::Picture, "image/svg+xml", b"<svg/>"), None);
    }

    #[test]
    fn a_drawing_that_takes_long_to_read_is_not_read() {
        let many = |part: fn(u32) -> String| (0..30_000).map(part).collect::<String>();
        for inner in [
            format!("<g{}/>", many(|at| format!(" a{at}=''"))),
            format!("<g{}>{}</g>", many(|at| format!(" xmlns:a{at}='b'")), "<a xmlns:z='b'/>".repeat(30_000)),
        ] {
            let text = format!("<svg xmlns='http://www.w3.org/2000/svg'>{inner}</svg>");
            assert_eq!(data_address(Role::Picture, "image/svg+xml", text.as_bytes()), None);
        }
    }

    #[test]
    fn a_font_is_one_by_its_first_bytes() {
        assert_eq!(
            data_address(Role::Font, "font/woff2", b"wOF2").as_deref(),
            Some("data:font/woff2;base64,d09GMg==")
        );
        assert_eq!(data_address(Role::Font, "font/ttf", b"<html>"), None);
        assert_eq!(data_address(Role::Font, "image/svg+xml", b"OTTO"), None);
    }
}
