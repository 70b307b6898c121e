//! Properties of runs and cells, in the order of the schema (ECMA-376, part 1, 17.3.2.28 and 17.4.69).

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

const CELL_ORDER: [&str; 18] = [
    "cnfStyle",
    "tcW",
    "gridSpan",
    "hMerge",
    "vMerge",
    "tcBorders",
    "shd",
    "noWrap",
    "tcMar",
    "textDirection",
    "tcFitText",
    "vAlign",
    "hideMark",
    "headers",
    "cellIns",
    "cellDel",
    "cellMerge",
    "tcPrChange",
];

/// `properties`, a whole `w:rPr` or nothing, with `element` added, or in place of the one with its name.
pub(crate) fn with_property(properties: &str, prefix: &str, element: &str) -> String {
    with(properties, (prefix, "rPr", word_writer::RUN_PROPERTIES), element)
}

/// As [`with_property`], for a cell's `w:tcPr`.
pub(crate) fn with_cell_property(properties: &str, prefix: &str, element: &str) -> String {
    with(properties, (prefix, "tcPr", &CELL_ORDER), element)
}

fn with(properties: &str, (prefix, around, order): (&str, &str, &[&str]), element: &str) -> String {
    let rank = |name: &str| {
        let local = name.strip_prefix(prefix).unwrap_or_default();
        order.iter().position(|known| *known == local).unwrap_or(order.len())
    };
    let name = element.trim_start_matches('<').split([' ', '/', '>']).next().unwrap_or_default();
    let mut kept: Vec<(usize, &str)> = children(properties)
        .into_iter()
        .filter_map(|(child, range)| Some((rank(&child), properties.get(range)?)).filter(|_| child != name))
        .collect();
    kept.push((rank(name), element));
    // The sort is stable: properties that are not in `order` come last, in their own order.
    kept.sort_by_key(|&(rank, _)| rank);
    let inner: String = kept.into_iter().map(|(_, text)| text).collect();
    format!("<{prefix}{around}>{inner}</{prefix}{around}>")
}

/// The content of `xml`, one element or nothing, without the children of these names.
pub(crate) fn inner(xml: &str, prefix: &str, without: &[&str]) -> String {
    let children = children(xml).into_iter().filter_map(|(name, range)| {
        let local = name.strip_prefix(prefix).unwrap_or_default();
        xml.get(range).filter(|_| !without.contains(&local))
    });
    children.collect()
}

/// The names and ranges of the children of `xml`, which is one element.
pub(crate) fn children(xml: &str) -> Vec<(String, Range<usize>)> {
    let mut reader = Reader::from_str(xml);
    let mut children = Vec::new();
    let (mut depth, mut from, mut begin) = (0_u32, 0, 0);
    let mut name = String::new();
    while let Ok(event) = reader.read_event() {
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match event {
            Event::Start(tag) => {
                if depth == 1 {
                    begin = from;
                    name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                }
                depth += 1;
            }
            Event::Empty(tag) if depth == 1 => {
                children.push((String::from_utf8_lossy(tag.name().as_ref()).into_owned(), from..end));
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    children.push((std::mem::take(&mut name), begin..end));
                }
            }
            Event::Eof => break,
            Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        from = end;
    }
    children
}

#[cfg(test)]
mod tests {
    use super::{with_cell_property, with_property};

    #[test]
    fn a_property_stands_once_and_in_its_order() {
        let one =
            "<w:rPr><w:b/><w:color w:val=\"FF0000\"/><w:sz w:val=\"20\"/><w14:glow><a/></w14:glow></w:rPr>";
        assert_eq!(
            with_property(one, "w:", "<w:color w:val=\"0000FF\"/>"),
            "<w:rPr><w:b/><w:color w:val=\"0000FF\"/><w:sz w:val=\"20\"/><w14:glow><a/></w14:glow></w:rPr>"
        );
        assert_eq!(with_property("", "w:", "<w:b/>"), "<w:rPr><w:b/></w:rPr>");
        assert_eq!(with_property("<w:rPr/>", "w:", "<w:b/>"), "<w:rPr><w:b/></w:rPr>");
        assert_eq!(
            with_cell_property("<w:tcPr><w:tcW/><w:vAlign/></w:tcPr>", "w:", "<w:shd/>"),
            "<w:tcPr><w:tcW/><w:shd/><w:vAlign/></w:tcPr>"
        );
    }
}
