//! Tags in attributes. Of an address the part holds only a relationship's id. When an element is begun again, tags in its
//! attributes are not evaluated again.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Action, LAST, Node, Planner};
use crate::tags::{Placed, Tags};
use crate::word::{Part, Place};

#[derive(Debug)]
pub(crate) struct Address {
    /// The range of the relationship's id in the part.
    pub id: Range<usize>,
    /// The text before each tag, and the tag's index.
    pub tags: Vec<(String, usize)>,
    /// The text behind the last tag.
    pub rest: String,
    /// A picture replaces the shape around it and gets the id.
    pub is_of_picture: bool,
}

/// The values of attributes with tags, from start offset to end offset and whether it is an address. They are needed where the
/// element is ended and begun again.
pub(super) fn attributes(part: &Part, tags: &Tags) -> BTreeMap<usize, (usize, bool)> {
    let mut found = BTreeMap::new();
    for placed in &tags.all {
        let Some(text) = part.paragraphs.get(placed.paragraph) else { continue };
        match &text.place {
            Place::Address { id, .. } => {
                found.insert(id.start, (id.end, true));
            }
            Place::Attribute | Place::CodeAttribute | Place::Tick(_) => {
                let (first, last) = (text.pieces.first(), text.pieces.last());
                if let Some((first, last)) = first.zip(last) {
                    found.insert(first.raw.start, (last.raw.end, false));
                }
            }
            Place::Paragraph | Place::Element | Place::Code => {}
        }
    }
    found
}

impl Planner<'_> {
    /// Plans addresses: each link gets a relationship of its own in every copy.
    pub(super) fn addresses(&mut self) {
        let mut by_text: BTreeMap<usize, Vec<(usize, &Placed)>> = BTreeMap::new();
        for (index, placed) in self.tags.all.iter().enumerate() {
            by_text.entry(placed.paragraph).or_default().push((index, placed));
        }
        for (text, tags) in by_text {
            let Some(Place::Address { target, id }) = self.part.paragraphs.get(text).map(|text| &text.place)
            else {
                continue;
            };
            let mut before = Vec::with_capacity(tags.len());
            let mut from = 0;
            for &(index, placed) in &tags {
                let (first, last) = (placed.cuts.first(), placed.cuts.last());
                let (begin, end) = (first.map_or(0, |cut| cut.start), last.map_or(0, |cut| cut.end));
                before.push((target.get(from..begin).unwrap_or_default().to_owned(), index));
                from = end;
            }
            let rest = target.get(from..).unwrap_or_default().to_owned();
            let picture = self.pictured.range(..=id.start).next_back().filter(|(_, end)| id.start < **end);
            let picture = picture.map(|(begin, _)| *begin);
            let is_of_picture = picture.is_some();
            let address = Address { id: id.clone(), tags: before, rest, is_of_picture };
            let rank = Self::rank(tags.first().map_or(0, |&(index, _)| index), 0);
            let (at, rank) = picture.map_or((id.start, rank), |begin| (begin, LAST - 3));
            self.push(at, rank, Action::Write(Node::Address(Box::new(address))));
            self.push(id.start, LAST, Action::Skip(id.end));
        }
    }
}
