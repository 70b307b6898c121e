//! The pictures of a document: those of its package, and those that LibreOffice drew.
//!
//! A package keeps a chart, a drawing or a formula as what it is made of, with at most a metafile of LibreOffice's own kind beside
//! it. LibreOffice's HTML of the same document has each of them as a picture; so that HTML is searched for pictures, and nothing
//! else of it is used.

use std::collections::{HashMap, HashSet, VecDeque};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use html5gum::{StartTag, Token, Tokenizer};

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

/// The pictures that LibreOffice drew, by the names of what they show, or in their order where they have none.
#[derive(Debug, Default)]
pub struct Drawn {
    named: HashMap<String, String>,
    unnamed: VecDeque<String>,
}

impl Drawn {
    /// Finds the pictures of LibreOffice's HTML. Those that it keeps in files of their own are asked for by name; those whose
    /// names end as a picture of the package does are that one, and are left out.
    pub fn find(
        html: &[u8],
        file: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
        packed: &HashSet<String>,
    ) -> Self {
        let mut found = Self::default();
        for token in Tokenizer::new(html).flatten() {
            let Token::StartTag(tag) = token else { continue };
            if &**tag.name != b"img" {
                continue;
            }
            let Some(source) = text(&tag, b"src") else { continue };
            let picture = if source.starts_with("data:") {
                inline(&source)
            } else if packed.iter().any(|name| belongs(&source, name)) {
                None
            } else {
                file(&source).and_then(|bytes| address(&bytes))
            };
            let Some(picture) = picture else { continue };
            match text(&tag, b"name") {
                Some(name) => drop(found.named.insert(name, picture)),
                None => found.unnamed.push_back(picture),
            }
        }
        found
    }

    /// The picture of what has a name; where none has, the next of those without.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.named.get(name).cloned().or_else(|| self.unnamed.pop_front())
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

/// `sales_html_a1f4b55d.png` is the package's `…A1F4B55D.png`.
fn belongs(source: &str, packed: &str) -> bool {
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_ascii_lowercase();
    let source = stem(source);
    let sum = source.rsplit('_').next().unwrap_or_default();
    sum.len() == 8 && stem(packed).ends_with(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_pictures_are_found_by_name_and_by_order() {
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        let html = format!(
            "<img src=\"data:image/png;base64,{png}\" name=\"Chart 1\"/><img src=x_html_00ff00ff.png><img src=x_html_12345678.png>\
             <img src=\"data:text/html;base64,PGI+\" name=bad><img src=http://a/b.png>"
        );
        let mut asked = Vec::new();
        let mut file = |name: &str| {
            asked.push(name.to_owned());
            (name == "x_html_00ff00ff.png").then(|| b"GIF89a".to_vec())
        };
        let packed = ["Pictures/1000ABCD12345678.png".to_owned()].into();
        let mut drawn = Drawn::find(html.as_bytes(), &mut file, &packed);
        assert_eq!(drawn.take("Chart 1"), Some(format!("data:image/png;base64,{png}")));
        assert_eq!(drawn.take("another").as_deref(), Some("data:image/gif;base64,R0lGODlh"));
        assert_eq!(drawn.take("another"), None);
        assert_eq!(asked, ["x_html_00ff00ff.png", "http://a/b.png"]);
    }
}
