//! Copies a slide's parts: each copy gets a name of its own, and refers to the other copies.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

use super::deck::{ONCE, Slide};
use crate::error::Error;
use crate::package::entries::{Entry, entries};
use crate::package::xml::{attribute_text, replaced};
use crate::package::{Package, relationships_of, resolved};
use crate::word::attribute::attribute;

/// The names of a copy's parts, by those of the slide's.
pub(crate) type Names = BTreeMap<String, String>;

/// A part of the template's slide.
pub(super) struct Original<'d> {
    name: &'d str,
    kind: &'d str,
    content: Vec<u8>,
    relationships: Option<Vec<u8>>,
}

impl<'d> Original<'d> {
    /// The parts of a slide, read before any of them is filled.
    pub(super) fn all(slide: &'d Slide, package: &mut Package<'_>) -> Result<Vec<Self>, Error> {
        let mut all = Vec::with_capacity(slide.parts.len());
        for part in &slide.parts {
            let content = uncommented(&part.name, package.part(&part.name)?.unwrap_or_default())?;
            let relationships = package.part(&relationships_of(&part.name))?;
            all.push(Self { name: &part.name, kind: &part.kind, content, relationships });
        }
        Ok(all)
    }

    /// Adds a copy of all of them; returns the names.
    pub(super) fn copied(originals: &[Self], package: &mut Package<'_>) -> Result<Names, Error> {
        let mut names = Names::new();
        for one in originals {
            let (stem, end) = one.name.rsplit_once('.').unwrap_or((one.name, "xml"));
            let stem = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
            names.insert(one.name.to_owned(), package.free_name(stem, &format!(".{end}")));
        }
        let targets: BTreeMap<String, &str> =
            names.iter().map(|(own, copy)| (own.to_ascii_lowercase(), copy.as_str())).collect();
        for one in originals {
            let Some(name) = names.get(one.name) else { continue };
            package.put(name, one.content.clone())?;
            package.override_type(name, one.kind)?;
            if let Some(list) = &one.relationships {
                let list = redirected(list, (one.name, name), &targets, package)?;
                package.put(&relationships_of(name), list)?;
            }
        }
        Ok(names)
    }
}

/// A part's relationships for its copy: `targets` gives the copies by the originals' names in lower case; relationships to parts
/// that must not be copied ([`ONCE`]) are removed.
pub(crate) fn redirected(
    list: &[u8],
    (part, copy): (&str, &str),
    targets: &BTreeMap<String, &str>,
    package: &Package<'_>,
) -> Result<Vec<u8>, Error> {
    let mut edits = Vec::new();
    for entry in package.elements(&relationships_of(part), list)? {
        if entry.name != "Relationship" || entry.value("TargetMode").eq_ignore_ascii_case("external") {
            continue;
        }
        if entry.value("Type").rsplit('/').next() == Some(ONCE) && part.starts_with("ppt/") {
            edits.push((entry.whole.clone(), String::new()));
            continue;
        }
        let target = resolved(part, entry.value("Target")).unwrap_or_default();
        let Some(target) = targets.get(&target.to_ascii_lowercase()) else { continue };
        let tag = list.get(entry.tag.clone()).unwrap_or_default();
        if let Some(place) = attribute(tag, "Target") {
            let range = entry.tag.start + place.value.start..entry.tag.start + place.value.end;
            edits.push((range, attribute_text(&relative(copy, target))));
        }
    }
    Ok(replaced(list, &edits))
}

/// A slide without its mark of comments. `PowerPoint` marks slides that have comments, and calls a file damaged where the mark's
/// relationship is missing, which copies do not get.
pub(super) fn uncommented(part: &str, xml: Vec<u8>) -> Result<Vec<u8>, Error> {
    if memmem::find(&xml, b":commentRel").is_none() {
        return Ok(xml);
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut open: Vec<Entry> = Vec::new();
    for entry in entries(part, &xml)? {
        while open.pop_if(|around| around.whole.end <= entry.whole.start).is_some() {}
        if entry.name == "ext" {
            open.push(entry);
        } else if entry.name == "commentRel" {
            let cut = open.first().unwrap_or(&entry).whole.clone();
            if edits.last().is_none_or(|(last, _)| last.end <= cut.start) {
                edits.push((cut, String::new()));
            }
        }
    }
    Ok(replaced(&xml, &edits))
}

/// The target relative to the part's folder, with `..` as most programs write it.
fn relative(part: &str, target: &str) -> String {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (mut from, mut to) = (folder.split('/').peekable(), target.split('/').peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.filter(|name| !name.is_empty()).map(|_| "..");
    up.chain(to).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{relative, uncommented};

    #[test]
    fn a_copy_says_nothing_of_comments() {
        let xml = b"<p:sld><p:extLst><p:ext uri=\"a\"><p14:creationId/></p:ext><p:ext uri=\"b\"><p188:commentRel r:id=\"rId3\"/></p:ext>\
            </p:extLst></p:sld>";
        let cut = uncommented("x", xml.to_vec()).expect("is read");
        assert_eq!(
            String::from_utf8(cut).expect("UTF-8"),
            "<p:sld><p:extLst><p:ext uri=\"a\"><p14:creationId/></p:ext></p:extLst></p:sld>"
        );
    }

    #[test]
    fn targets_are_written_from_the_parts_folder() {
        assert_eq!(relative("ppt/slides/slide2.xml", "ppt/charts/chart3.xml"), "../charts/chart3.xml");
        assert_eq!(relative("ppt/slides/slide2.xml", "ppt/slides/slide1.xml"), "slide1.xml");
        assert_eq!(relative("slide.xml", "notes/n.xml"), "notes/n.xml");
    }
}
