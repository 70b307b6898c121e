//! The pieces of a chart's part that its data replace.

use std::ops::Range;

use super::Kind;
use crate::error::Error;
use crate::package::entries::{Entry, entries};

/// The elements of a chart's part.
pub(super) struct Layout {
    pub elements: Vec<Entry>,
    /// The charts of its plot area: columns with lines over them are two.
    pub groups: Vec<Group>,
    /// In the order of the data.
    pub series: Vec<Pattern>,
}

/// A chart of a plot area.
pub(super) struct Group {
    /// The namespace prefix of its elements, with the colon.
    pub prefix: String,
    /// Its name without the prefix, such as `lineChart`.
    pub name: String,
    /// The offset in the part at which its series are written.
    pub at: usize,
}

/// A series of the template.
pub(super) struct Pattern {
    pub element: usize,
    pub group: usize,
}

/// Elements of a chart that come before its series.
const BEFORE: [&str; 7] =
    ["barDir", "grouping", "varyColors", "wireframe", "scatterStyle", "radarStyle", "ofPieType"];

impl Layout {
    pub(super) fn read(part: &str, xml: &[u8]) -> Result<Self, Error> {
        let elements = entries(part, xml)?;
        let mut layout = Self { elements, groups: Vec::new(), series: Vec::new() };
        let Some(area) = layout.elements.iter().position(|element| element.name == "plotArea") else {
            return Ok(layout);
        };
        let mut patterns = Vec::new();
        for at in layout.children(area) {
            let Some(element) = layout.elements.get(at).filter(|element| element.name.ends_with("Chart"))
            else {
                continue;
            };
            let group = layout.groups.len();
            let (mut place, mut is_placed) = (element.tag.end, false);
            for child in layout.children(at) {
                let Some(found) = layout.elements.get(child) else { continue };
                if found.name == "ser" {
                    let order = layout
                        .child(child, "order")
                        .map_or(u32::MAX, |order| order.value("val").parse().unwrap_or(u32::MAX));
                    patterns.push((order, Pattern { element: child, group }));
                    place = if is_placed { place } else { found.whole.start };
                    is_placed = true;
                } else if !is_placed && BEFORE.contains(&found.name.as_str()) {
                    place = found.whole.end;
                }
            }
            let prefix = prefix(xml, element);
            layout.groups.push(Group { prefix, name: element.name.clone(), at: place });
        }
        patterns.sort_by_key(|(order, _)| *order);
        layout.series = patterns.into_iter().map(|(_, pattern)| pattern).collect();
        Ok(layout)
    }

    /// What all charts of the plot area draw their values over; an error where they differ.
    pub(super) fn kind(&self) -> Result<Kind, String> {
        let kind = |group: &Group| match group.name.as_str() {
            "scatterChart" => Kind::Points,
            "bubbleChart" => Kind::Bubbles,
            _ => Kind::Categories,
        };
        let Some(first) = self.groups.first().map(kind) else {
            return Err(
                "the chart has nothing that draws values; choose another kind of chart for it".to_owned()
            );
        };
        if self.groups.iter().any(|group| kind(group) != first) {
            return Err("the chart draws some series over categories and others over points, and data can be only one of these; \
                        make two charts of it".to_owned());
        }
        Ok(first)
    }

    /// The indices of the element's children.
    pub(super) fn children(&self, of: usize) -> Vec<usize> {
        let end = self.elements.get(of).map_or(0, |element| element.whole.end);
        let mut children = Vec::new();
        let mut at = of + 1;
        while let Some(child) = self.elements.get(at).filter(|child| child.whole.start < end) {
            children.push(at);
            let behind = child.whole.end;
            at = (at + 1).max(self.elements.partition_point(|element| element.whole.start < behind));
        }
        children
    }

    pub(super) fn child(&self, of: usize, name: &str) -> Option<&Entry> {
        let children = self.children(of).into_iter().filter_map(|at| self.elements.get(at));
        { children }.find(|child| child.name == name)
    }

    /// The elements in the range of one of them, this one included.
    pub(super) fn within(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, &Entry)> {
        let first = self.elements.partition_point(|element| element.whole.start < range.start);
        let end = range.end;
        let elements = self.elements.iter().enumerate().skip(first);
        elements.take_while(move |(_, element)| element.whole.start < end)
    }
}

/// The element's namespace prefix, with its colon.
pub(super) fn prefix(xml: &[u8], element: &Entry) -> String {
    let name = xml.get(element.tag.start + 1..element.tag.end).unwrap_or_default();
    let at = memchr::memmem::find(name, element.name.as_bytes()).unwrap_or_default();
    String::from_utf8_lossy(name.get(..at).unwrap_or_default()).into_owned()
}

/// The name of the root, and its start tag.
pub(super) fn root(xml: &[u8]) -> Option<(&str, &[u8])> {
    let begins = memchr::memchr_iter(b'<', xml);
    let begin = { begins }.find(|&at| xml.get(at + 1).is_some_and(|byte| !b"?!".contains(byte)))?;
    let behind = xml.get(begin..)?;
    let tag = behind.get(..=memchr::memchr(b'>', behind)?)?;
    let name = tag.get(1..)?.split(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte)).next()?;
    Some((std::str::from_utf8(name).ok()?, tag))
}
