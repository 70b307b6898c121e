//! Tags in the shapes of a slide: which are allowed, and which shape a picture replaces.

use std::collections::{BTreeMap, BTreeSet};

use crate::lexer::Tag;
use crate::tags::{Placed, Tags};
use crate::word::attribute::attribute;
use crate::word::{Element, Id, Kind, Part, Place};
use crate::writing::Writing;

/// Placeholders whose paragraphs have no bullets.
const PLAIN: [&[u8]; 11] = [
    b"title",
    b"ctrTitle",
    b"subTitle",
    b"dt",
    b"ftr",
    b"sldNum",
    b"hdr",
    b"pic",
    b"chart",
    b"tbl",
    b"sldImg",
];

const ALONE: &str = "a picture takes the place of a whole shape; let its tag be the shape's only text, or write it into \
    the alternative text of a shape or a picture";

const INSIDE: &str = "it repeats the whole slide and stands in a section, which is a part of one; let it stand outside of all sections; \
    its list says which slides there are";

/// Which tags paragraphs of a slide may have, and how these are written.
pub(crate) fn on_slide(tag: Result<Tag, String>) -> (Writing, Result<Tag, String>) {
    let tag = match tag {
        Ok(tag) => tag,
        Err(message) => return (Writing::SlideRun, Err(message)),
    };
    match &tag {
        Tag::Image(_) | Tag::Qr(_) | Tag::Barcode(_) => (Writing::Shape, Ok(tag)),
        Tag::Value(_)
        | Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Slides(_)
        | Tag::Delimiters(_) => (Writing::SlideRun, Ok(tag)),
        Tag::Command(command, _) if command.name == "link" => (Writing::SlideRun, Ok(tag)),
        Tag::Sheet(_) => {
            let message = "it repeats a sheet of a workbook; a slide is repeated by {:slides list}";
            (Writing::SlideRun, Err(message.to_owned()))
        }
        Tag::Html(_) | Tag::Xml(_) | Tag::Command(..) => {
            let message =
                "it is of Word files; a slide has values, sections, pictures, links and {:slides list}";
            (Writing::SlideRun, Err(message.to_owned()))
        }
    }
}

/// The shape or picture around the element; a table is neither.
pub(crate) fn shape_of(part: &Part, id: Id) -> Option<Id> {
    part.path(id).find(|&id| matches!(local(part, id), "sp" | "pic"))
}

/// The frame around a table of a slide.
pub(crate) fn frame(part: &Part, table: Id) -> Id {
    part.path(table).find(|&id| local(part, id) == "graphicFrame").unwrap_or(table)
}

/// Whether a cell of a drawing's table is merged with its neighbour to the left or right.
pub(crate) fn is_merged(part: &Part, cell: Id) -> bool {
    let tag = start_tag(part, cell);
    let value = |name| attribute(tag, name).and_then(|found| tag.get(found.value)).unwrap_or_default();
    !matches!(value("gridSpan"), b"" | b"1") || matches!(value("hMerge"), b"1" | b"true")
}

/// The list that a paragraph of a slide is an item of, of which a shape has one. Bullets are the paragraph's own, or come from a
/// placeholder for text.
pub(crate) fn list(part: &Part, paragraph: Id) -> Option<&'static str> {
    const IN_SHAPE: &str = "shape";
    let properties = part.element(paragraph)?.properties;
    let has = |names: &[&str]| part.children(properties).any(|id| names.contains(&local(part, id)));
    if has(&["buNone"]) {
        return None;
    }
    if has(&["buChar", "buAutoNum", "buBlip"]) {
        return Some(IN_SHAPE);
    }
    let is_notes = local(part, 0) == "notes";
    let shape = shape_of(part, paragraph).filter(|_| !is_notes)?;
    let placeholder = placeholder(part, shape)?;
    let tag = start_tag(part, placeholder);
    let kind = attribute(tag, "type").and_then(|found| tag.get(found.value)).unwrap_or_default();
    (!PLAIN.contains(&kind)).then_some(IN_SHAPE)
}

/// The `ph` element of a shape, which names its placeholder in the layout. It is among the first elements (ECMA-376, part 1,
/// 19.3.1.43), so only these are searched: this runs for each paragraph, and searching all would take quadratic time.
fn placeholder(part: &Part, shape: Id) -> Option<Id> {
    const FIRST: usize = 64;
    let own = part.children(shape).next()?;
    let end = part.element(own)?.range().end;
    let inside =
        (own..).take(FIRST).take_while(|&id| part.element(id).is_some_and(|one| one.range().start < end));
    { inside }.find(|&id| local(part, id) == "ph")
}

/// Whether a paragraph of a slide is in its title.
pub(crate) fn is_title(part: &Part, paragraph: Id) -> bool {
    let placeholder = shape_of(part, paragraph).and_then(|shape| placeholder(part, shape));
    let Some(tag) = placeholder.map(|id| start_tag(part, id)) else { return false };
    let kind = attribute(tag, "type").and_then(|found| tag.get(found.value)).unwrap_or_default();
    matches!(kind, b"title" | b"ctrTitle")
}

/// Whether a shape has no text but the tag.
fn is_alone(part: &Part, shape: Id, (text, range): (usize, &std::ops::Range<usize>)) -> bool {
    let Some(whole) = part.element(shape).map(Element::range) else { return false };
    let begin = |index: usize| {
        let element = part.paragraphs.get(index).and_then(|one| part.element(one.element));
        element.map_or(0, |element| element.range().start)
    };
    // Searches from the tag's own text outwards, up to the shape's ends.
    let before = (0..=text).rev().take_while(|&index| begin(index) >= whole.start);
    let behind = (text + 1..part.paragraphs.len()).take_while(|&index| begin(index) < whole.end);
    before.chain(behind).filter_map(|index| Some((index, part.paragraphs.get(index)?))).all(|(index, one)| {
        let rest = if index == text {
            [one.text.get(..range.start), one.text.get(range.end..)]
        } else if one.place == Place::Paragraph {
            [Some(one.text.as_str()), None]
        } else {
            [None, None]
        };
        rest.into_iter().flatten().all(|text| text.trim().is_empty())
    })
}

/// Reports pictures of a slide that have no shape to replace, and slides with two lists, or with a list inside of a section.
pub(crate) fn check(part: &Part, name: &str, tags: &mut Tags) {
    let mut faults = Vec::new();
    let mut repeat = None;
    let mut ends: BTreeSet<usize> = BTreeSet::new();
    let closing: BTreeMap<usize, usize> = tags.pairs.iter().map(|pair| (pair.open, pair.close)).collect();
    for (index, placed) in tags.all.iter().enumerate() {
        ends.remove(&index);
        ends.extend(closing.get(&index));
        if matches!(placed.tag, Tag::Slides(_)) && !ends.is_empty() {
            faults.push((index, INSIDE));
        }
        // A shape may be in the file twice, once for older versions.
        if let Tag::Slides(list) = &placed.tag
            && repeat.get_or_insert(list) != &list
        {
            faults.push((index, super::deck::TWICE));
        }
    }
    let mut taken = BTreeSet::new();
    for (index, placed) in tags.all.iter().enumerate() {
        if placed.writing != Writing::Shape {
            continue;
        }
        let shape = shape_of(part, placed.element);
        let Some(text) = part.paragraphs.get(placed.paragraph) else { continue };
        let is_whole = match text.place {
            Place::Paragraph => {
                shape.is_some_and(|shape| is_alone(part, shape, (placed.paragraph, &placed.text)))
            }
            Place::Attribute
            | Place::Element
            | Place::Code
            | Place::CodeAttribute
            | Place::Address { .. }
            | Place::Tick(_) => text.text.get(placed.text.clone()) == Some(text.text.trim()),
        };
        if !is_whole || !shape.is_some_and(|shape| taken.insert(shape)) {
            faults.push((index, ALONE));
        }
    }
    for (index, message) in faults {
        tags.report(index, name, message);
    }
}

/// The element's name without its prefix.
fn local(part: &Part, id: Id) -> &str {
    let name = part.name(id);
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

fn start_tag(part: &Part, id: Id) -> &[u8] {
    part.element(id).and_then(|element| part.xml.get(element.start_tag())).unwrap_or_default()
}

/// Whether it is a text box drawn by the author, and no placeholder of the layout.
fn is_text_box(part: &Part, shape: Id) -> bool {
    let own = part.children(shape).find(|&id| local(part, id) == "nvSpPr");
    let drawing = own.and_then(|own| part.children(own).find(|&id| local(part, id) == "cNvSpPr"));
    let tag = drawing.map(|id| start_tag(part, id)).unwrap_or_default();
    let value = attribute(tag, "txBox").and_then(|found| tag.get(found.value)).unwrap_or_default();
    part.kind(shape) == Kind::Other && matches!(value, b"1" | b"true")
}

/// The text box around a tag, if it has no other text.
pub(crate) fn text_box_of(part: &Part, placed: &Placed) -> Option<Id> {
    let shape = shape_of(part, placed.element)?;
    let is_own = is_text_box(part, shape) && is_alone(part, shape, (placed.paragraph, &placed.text));
    is_own.then_some(shape)
}
