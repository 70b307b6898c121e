//! A slide's parts, copied: each under a name of its own, and referring to the copies.

use super::deck::{ONCE, Slide};
use super::repeat::Names;
use crate::error::Error;
use crate::package::{Package, attribute_text, entries, relationships_of, replaced, resolved};
use crate::word::attribute::attribute;

/// A part as the template has it.
pub(super) struct Original<'d> {
    name: &'d str,
    kind: &'d str,
    content: Vec<u8>,
    relationships: Option<Vec<u8>>,
}

impl<'d> Original<'d> {
    /// The parts of a slide that nothing has been filled of.
    pub(super) fn all(slide: &'d Slide, package: &mut Package<'_>) -> Result<Vec<Self>, Error> {
        let mut all = Vec::with_capacity(slide.parts.len());
        for part in &slide.parts {
            let content = package.part(&part.name)?.unwrap_or_default();
            let relationships = package.part(&relationships_of(&part.name))?;
            all.push(Self { name: &part.name, kind: &part.kind, content, relationships });
        }
        Ok(all)
    }

    /// Adds a copy of all of them; tells their names.
    pub(super) fn copied(originals: &[Self], package: &mut Package<'_>) -> Result<Names, Error> {
        let mut names = Names::new();
        for one in originals {
            let (stem, end) = one.name.rsplit_once('.').unwrap_or((one.name, "xml"));
            let stem = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
            names.insert(one.name.to_owned(), package.free_name(stem, &format!(".{end}")));
        }
        for one in originals {
            let Some(name) = names.get(one.name) else { continue };
            package.put(name, one.content.clone())?;
            package.override_type(name, one.kind);
            if let Some(list) = &one.relationships {
                let list = redirected(list, (one.name, name), &names)?;
                package.put(&relationships_of(name), list)?;
            }
        }
        Ok(names)
    }
}

/// A part's relationships for its copy: to the copies, and without what stands once.
pub(crate) fn redirected(list: &[u8], (part, copy): (&str, &str), names: &Names) -> Result<Vec<u8>, Error> {
    let mut edits = Vec::new();
    for entry in entries(&relationships_of(part), list)? {
        if entry.name != "Relationship" || entry.value("TargetMode").eq_ignore_ascii_case("external") {
            continue;
        }
        if entry.value("Type").rsplit('/').next() == Some(ONCE) && part.starts_with("ppt/") {
            edits.push((entry.whole.clone(), String::new()));
            continue;
        }
        let target = resolved(part, entry.value("Target")).unwrap_or_default();
        let found = names.iter().find(|(own, _)| own.eq_ignore_ascii_case(&target));
        let Some((_, target)) = found else { continue };
        let tag = list.get(entry.tag.clone()).unwrap_or_default();
        if let Some(place) = attribute(tag, "Target") {
            let range = entry.tag.start + place.value.start..entry.tag.start + place.value.end;
            edits.push((range, attribute_text(&relative(copy, target))));
        }
    }
    Ok(replaced(list, &edits))
}

/// The target as most write it: from the part's own folder upwards.
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
    use super::relative;

    #[test]
    fn targets_are_written_from_the_parts_folder() {
        assert_eq!(relative("ppt/slides/slide2.xml", "ppt/charts/chart3.xml"), "../charts/chart3.xml");
        assert_eq!(relative("ppt/slides/slide2.xml", "ppt/slides/slide1.xml"), "slide1.xml");
        assert_eq!(relative("slide.xml", "notes/n.xml"), "notes/n.xml");
    }
}
