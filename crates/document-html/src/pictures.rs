//! The pictures of a document: those of its package, and those that LibreOffice drew.
//!
//! A package keeps a chart, a drawing or a formula as what it is made of, with at most a metafile of LibreOffice's own kind beside
//! it. LibreOffice's HTML of the same document has each of them as a picture; so that HTML is searched for pictures, and nothing
//! else of it is used.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use html5gum::{StartTag, Token, Tokenizer};
use roxmltree::{Node, NodeId};

use crate::xml::attribute;

/// What kind of picture bytes are, by their beginning: the kinds that browsers and readers of mail show.
pub fn kind(bytes: &[u8]) -> Option<&'static str> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if begins(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if begins(b"GIF8") {
        Some("image/gif")
    } else if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// A picture as an address with the picture in it; nothing for what is none.
pub fn address(bytes: &[u8]) -> Option<String> {
    Some(format!("data:{};base64,{}", kind(bytes)?, STANDARD.encode(bytes)))
}

/// The pictures that LibreOffice drew: those of a text by the names of what they show, those of a workbook by its sheets.
#[derive(Debug, Default)]
pub struct Drawn {
    /// Nothing for a name that different pictures have.
    named: HashMap<String, Option<String>>,
    /// By the sheet's number; a workbook of one sheet says none.
    sheets: HashMap<Option<usize>, Vec<Image>>,
    given: HashMap<NodeId, String>,
}

/// A picture of a sheet, in whose HTML none has a name.
#[derive(Debug, PartialEq)]
pub struct Image {
    /// The picture as an address. What the package has itself is not read once more.
    pub picture: Option<String>,
    /// The checksum in its file's name.
    pub sum: Option<String>,
    /// Whether the package has a picture of this checksum.
    pub is_packed: bool,
    /// Width and height, in pixels.
    pub size: Option<(f64, f64)>,
    /// Whether it stands in a cell; the others stand behind their table.
    pub in_cell: bool,
}

impl Drawn {
    /// Finds the pictures of LibreOffice's HTML. Those that it keeps in files of their own are asked for by name. `packed` are
    /// the names of the package's pictures.
    pub fn find(
        html: &[u8],
        file: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
        packed: &HashSet<String>,
    ) -> Self {
        let all: HashSet<_> = packed.iter().filter_map(|name| sum(name)).collect();
        let of_shown = packed.iter().filter(|name| is_shown(name));
        let shown: HashSet<_> = of_shown.filter_map(|name| sum(name)).collect();
        let mut found = Self::default();
        let (mut sheet, mut cells) = (None, 0_usize);
        for token in Tokenizer::new(html).flatten() {
            let tag = match token {
                Token::StartTag(tag) => tag,
                Token::EndTag(tag) if &**tag.name == b"td" => {
                    cells = cells.saturating_sub(1);
                    continue;
                }
                Token::EndTag(_)
                | Token::String(_)
                | Token::Comment(_)
                | Token::Doctype(_)
                | Token::Error(_) => continue,
            };
            match &**tag.name {
                b"td" => cells += 1,
                b"a" => {
                    let number =
                        text(&tag, b"name").and_then(|name| name.strip_prefix("table")?.parse().ok());
                    sheet = number.or(sheet);
                }
                b"img" => {
                    let Some(source) = text(&tag, b"src") else { continue };
                    let sum = sum(&source);
                    let has = |sums: &HashSet<String>| sum.as_ref().is_some_and(|sum| sums.contains(sum));
                    let is_packed = has(&all);
                    let picture = if source.starts_with("data:") {
                        inline(&source)
                    } else if has(&shown) {
                        None
                    } else {
                        file(&source).and_then(|bytes| address(&bytes))
                    };
                    if let Some(name) = text(&tag, b"name") {
                        found.name(name, picture);
                        continue;
                    }
                    let pixels = |name: &[u8]| text(&tag, name)?.parse().ok();
                    let size = pixels(b"width").zip(pixels(b"height"));
                    let image = Image { picture, sum, is_packed, size, in_cell: cells > 0 };
                    found.sheets.entry(sheet).or_default().push(image);
                }
                _ => {}
            }
        }
        found
    }

    fn name(&mut self, name: String, picture: Option<String>) {
        match self.named.entry(name) {
            Entry::Vacant(entry) => drop(entry.insert(picture)),
            Entry::Occupied(mut entry) if *entry.get() != picture => drop(entry.insert(None)),
            Entry::Occupied(_) => {}
        }
    }

    /// The pictures of a sheet, in their order.
    pub fn images(&mut self, sheet: usize) -> Vec<Image> {
        self.sheets.remove(&Some(sheet)).or_else(|| self.sheets.remove(&None)).unwrap_or_default()
    }

    /// Keeps the picture of something.
    pub fn give(&mut self, node: NodeId, picture: String) {
        self.given.insert(node, picture);
    }

    /// The picture of something: the one that it was given, or that of its name.
    pub fn of(&self, node: Node<'_, '_>) -> Option<String> {
        let named = || self.named.get(attribute(node, "draw", "name")?)?.as_ref();
        self.given.get(&node.id()).or_else(named).cloned()
    }
}

/// A picture's address, made anew: what is in it is known to be a picture.
fn inline(source: &str) -> Option<String> {
    let (_, data) = source.split_once(";base64,")?;
    let compact: Vec<u8> = data.bytes().filter(|one| !one.is_ascii_whitespace()).collect();
    address(&STANDARD.decode(compact).ok()?)
}

fn text(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    let value = tag.attributes.get(name)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The checksum of a picture in its file's name, in eight digits: the package writes it so (`Pictures/…0A1B2C3D.png`),
/// LibreOffice's HTML without zeros before it (`sales_html_a1b2c3d.png`).
pub fn sum(name: &str) -> Option<String> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let digits = match stem.rsplit_once("_html_") {
        Some((_, digits)) => digits,
        None => stem.get(stem.len().checked_sub(8)?..)?,
    };
    u32::from_str_radix(digits, 16).ok().map(|sum| format!("{sum:08x}"))
}

/// Whether a file's name is that of a picture of the kinds that browsers show.
pub fn is_shown(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(end.as_str(), "png" | "jpg" | "jpeg" | "gif" | "webp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_pictures_are_found_by_name_and_by_sheet() {
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        let html = format!(
            "<img src=\"data:image/png;base64,{png}\" name=\"Chart 1\"/><img name=twice src=1_html_1.png><img name=twice src=2_html_2.png>\
             <a name=table0><h1><table><td><img src=x_html_ff00ff.png width=3 height=4></td></table><img src=x_html_12345678.png>\
             <a name=table2><img src=\"data:text/html;base64,PGI+\"><img src=x_html_abc.png>"
        );
        let mut asked = Vec::new();
        let mut file = |name: &str| {
            asked.push(name.to_owned());
            (name.len() < 16).then(|| format!("GIF89a{name}").into_bytes())
        };
        let packed =
            ["Pictures/1000ABCD12345678.png", "Pictures/100000000ABC.emf", "Pictures/1000000000FF00FF.png"];
        let packed = packed.map(str::to_owned).into();
        let mut drawn = Drawn::find(html.as_bytes(), &mut file, &packed);
        assert_eq!(drawn.named.get("Chart 1"), Some(&Some(format!("data:image/png;base64,{png}"))));
        assert_eq!(drawn.named.get("twice"), Some(&None), "which of them it is nobody knows");
        let image = |sum: &str, size, in_cell| Image {
            picture: None,
            sum: Some(sum.to_owned()),
            is_packed: true,
            size,
            in_cell,
        };
        assert_eq!(
            drawn.images(0),
            [image("00ff00ff", Some((3.0, 4.0)), true), image("12345678", None, false)]
        );
        assert_eq!(drawn.images(1), []);
        let [none, drawn] = &drawn.images(2)[..] else { panic!("two") };
        assert_eq!((&none.picture, &none.sum, none.is_packed), (&None, &None, false));
        // What browsers do not show is taken as LibreOffice drew it.
        assert!(drawn.picture.is_some() && drawn.is_packed, "{drawn:?}");
        assert_eq!(asked, ["1_html_1.png", "2_html_2.png", "x_html_abc.png"]);
    }
}
