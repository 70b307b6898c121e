//! Lists that begin again at each turn of a section.
//!
//! Hazard: copies of an item belong to the same list. If a list of three items is repeated, the second turn would run from 4 to 6.
//! So each turn gets a list of its own, unless the list belongs to more than the turn:
//!
//! - it began before the section or goes on behind it;
//! - the section's tags stand in its items;
//! - it numbers headings;
//! - each turn is one item of it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Action, Beside, LAST, Node, Planner};
use crate::extent::{self, Extent};
use crate::lexer::Tag;
use crate::styles::Styles;
use crate::tags::Pair;
use crate::word::attribute::attribute;
use crate::word::{Dialect, Element, Id, PieceKind, Place};

/// The number of a list, at an item of it.
#[derive(Clone, Debug)]
pub(crate) struct ListNumber {
    /// Its place in the part; empty where the paragraph's style gives the list.
    pub range: Range<usize>,
    pub list: String,
    /// Where a style gives the list: what writes it into the paragraph, before and behind the number.
    pub around: Option<(String, String)>,
    /// How many levels the list has up to the deepest item.
    pub levels: u8,
    /// Whether it is an item of the list's first level.
    pub is_top: bool,
}

/// A list that lies whole within a section.
#[derive(Clone, Debug)]
pub(crate) struct Restart {
    pub list: String,
    /// A text stands before it in each turn, so even a single item is a list of its own.
    pub is_introduced: bool,
}

/// An item of a list.
struct Item {
    element: Id,
    /// Where its paragraph begins.
    at: usize,
    level: u8,
    is_heading: bool,
}

/// Where an item's number is written, and what is written before and behind it.
type NumberPlace = (Range<usize>, Option<(String, String)>);

/// Whether one of the ranges, which are in their order and apart, contains the place.
fn is_in(ranges: &[Range<usize>], place: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= place);
    before.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| place < range.end)
}

/// Whether a tag writes a text where it stands.
fn says_text(tag: &Tag) -> bool {
    match tag {
        Tag::Value(_) | Tag::Html(_) | Tag::Xml(_) => true,
        Tag::Command(command, _) => matches!(command.name, "link" | "include" | "toc"),
        Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Slides(_)
        | Tag::Sheet(_)
        | Tag::Delimiters(_) => false,
    }
}

impl Planner<'_> {
    /// Plans the numbers of lists that may begin again; returns these lists by the opening tags of their sections.
    pub(super) fn lists(
        &mut self,
        extents: &[Option<Extent>],
        Beside { styles, is_copied, .. }: Beside<'_>,
    ) -> BTreeMap<usize, Vec<Restart>> {
        let mut restarts: BTreeMap<usize, Vec<Restart>> = BTreeMap::new();
        if self.part.dialect != Dialect::Word || self.tags.pairs.is_empty() && !is_copied {
            return restarts;
        }
        let lists = self.items(styles);
        let mut by_begin: Vec<(usize, usize, &str)> = { lists.iter() }
            .filter(|(_, items)| items.iter().all(|item| !item.is_heading))
            .filter_map(|(&list, items)| Some((items.first()?.at, items.last()?.at, list)))
            .collect();
        by_begin.sort_unstable();
        let mut found: BTreeMap<&str, &[Item]> = BTreeMap::new();
        if is_copied {
            let all = by_begin.iter().filter_map(|&(_, _, list)| Some((list, lists.get(list)?.as_slice())));
            found.extend(all);
        }
        for (pair, extent) in self.tags.pairs.iter().zip(extents) {
            let Some((range, may_be_introduced)) = extent.as_ref().and_then(|extent| self.span(pair, extent))
            else {
                continue;
            };
            let from = by_begin.partition_point(|&(first, ..)| first < range.start);
            let opened = self.tags.all.get(pair.open).and_then(|tag| self.part.paragraphs.get(tag.paragraph));
            let around = opened.and_then(|paragraph| extent::list(self.part, styles, paragraph.element));
            let inside = by_begin.iter().skip(from).take_while(|&&(first, ..)| first < range.end);
            let mut whole = inside.filter(|&&(_, last, _)| last < range.end).peekable();
            if whole.peek().is_none() {
                continue;
            }
            let introduction =
                if may_be_introduced { self.introduction(pair, &range, extents) } else { None };
            for &(first, _, list) in whole.filter(|&&(_, _, list)| around != Some(list)) {
                let is_introduced = introduction.is_some_and(|begin| begin < first);
                restarts.entry(pair.open).or_default().push(Restart { list: list.to_owned(), is_introduced });
                found.extend(lists.get(list).map(|items| (list, items.as_slice())));
            }
        }
        let mut numbers = Vec::new();
        for (list, items) in found {
            let levels = items.iter().map(|item| item.level).max().unwrap_or_default().saturating_add(1);
            let top = items.iter().map(|item| item.level).min().unwrap_or_default();
            for item in items {
                let written = self.list_number(item);
                numbers.extend(written.map(|(range, around)| ListNumber {
                    range,
                    list: list.to_owned(),
                    around,
                    levels,
                    is_top: item.level == top,
                }));
            }
        }
        for number in numbers {
            let Range { start, end } = number.range;
            self.push(start, LAST - 1, Action::Write(Node::List(Box::new(number.clone()))));
            self.push(start, LAST - 1, Action::Skip(end));
            self.listed.insert(start, number);
        }
        restarts
    }

    /// The items of each list, in their order. Paragraphs that hold only tags of sections are no items: they vanish.
    fn items<'s>(&'s self, styles: &'s Styles) -> BTreeMap<&'s str, Vec<Item>> {
        let part = self.part;
        let mut lists: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
        for (index, paragraph) in part.paragraphs.iter().enumerate() {
            if paragraph.place != Place::Paragraph || self.dropped.contains_key(&index) {
                continue;
            }
            let element = paragraph.element;
            let Some(list) = extent::list(part, styles, element) else { continue };
            let style = part.property(element, "pStyle").and_then(|id| part.val(id)).unwrap_or_default();
            let own = part
                .property(element, "numPr")
                .and_then(|numbering| part.val(part.child(numbering, "ilvl")?)?.parse().ok());
            let outline = part.property(element, "outlineLvl").and_then(|id| part.val(id));
            let of_style = || styles.level(style).is_some_and(|level| level <= 9);
            let is_heading = outline.map_or_else(of_style, |level| level != "9");
            lists.entry(list).or_default().push(Item {
                element,
                at: part.element(element).map_or(0, |element| element.range().start),
                level: own.unwrap_or_else(|| styles.list_level(style)),
                is_heading,
            });
        }
        lists
    }

    /// The bytes that a section repeats, and whether a list in it may have an introduction. One in rows has none: rows are often
    /// numbered, and their other cells introduce nothing.
    fn span(&self, pair: &Pair, extent: &Extent) -> Option<(Range<usize>, bool)> {
        let (opening, closing) = (self.tags.all.get(pair.open)?, self.tags.all.get(pair.close)?);
        let range = |id| self.part.element(id).map_or(0..0, Element::range);
        match *extent {
            Extent::Between(..) => Some((opening.at()..closing.at(), true)),
            Extent::Paragraphs(first, last) => Some((range(first).start..range(last).end, true)),
            Extent::Elements(first, last) => Some((range(first).start..range(last).end, false)),
            Extent::Column(_) => None,
        }
    }

    /// Where the first paragraph begins that has a text in each turn of a section, which repeats the bytes of `range`. What an
    /// inner section writes may be missing, and pictures and breaks say nothing.
    fn introduction(&self, pair: &Pair, range: &Range<usize>, extents: &[Option<Extent>]) -> Option<usize> {
        let inner = self.inner(pair, range, extents);
        let begin = |element| self.part.element(element).map_or(0, |element| element.range().start);
        let paragraphs = &self.part.paragraphs;
        let from = paragraphs.partition_point(|paragraph| begin(paragraph.element) < range.start);
        // The section may begin amid of a paragraph.
        let opened = self.tags.all.get(pair.open).map_or(from, |tag| tag.paragraph).min(from);
        let all = (opened..).zip(paragraphs.iter().skip(opened));
        let mut inside = all.take_while(|(_, paragraph)| begin(paragraph.element) < range.end);
        let is_meant = |index: usize| !self.dropped.contains_key(&index);
        let found = inside.find(|&(index, _)| is_meant(index) && self.has_text(index, range, &inner));
        found.map(|(_, paragraph)| begin(paragraph.element))
    }

    /// The bytes that the sections within a section repeat, in their order and apart.
    fn inner(&self, pair: &Pair, range: &Range<usize>, extents: &[Option<Extent>]) -> Vec<Range<usize>> {
        let from = self.tags.pairs.partition_point(|other| other.open <= pair.open);
        let behind = self.tags.pairs.iter().zip(extents).skip(from);
        let behind = behind.take_while(|(other, _)| other.open < pair.close);
        let mut ranges = Vec::new();
        for (other, extent) in behind {
            match extent {
                Some(Extent::Column(pieces)) => {
                    let pieces = pieces.iter().filter_map(|&id| self.part.element(id));
                    ranges.extend(pieces.map(Element::range));
                }
                Some(extent) => ranges.extend(self.span(other, extent).map(|(range, _)| range)),
                None => {}
            }
        }
        ranges.sort_unstable_by_key(|inner| inner.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for inner in ranges.into_iter().filter(|inner| inner.start < range.end) {
            match apart.last_mut().filter(|last| inner.start < last.end) {
                Some(last) => last.end = last.end.max(inner.end),
                None => apart.push(inner),
            }
        }
        apart
    }

    /// Whether a paragraph has a text in `range` outside of the `inner` ranges.
    fn has_text(&self, index: usize, range: &Range<usize>, inner: &[Range<usize>]) -> bool {
        let Some(paragraph) = self.part.paragraphs.get(index).filter(|one| one.place == Place::Paragraph)
        else {
            return false;
        };
        let silent = self.tags.of(index).filter(|placed| !says_text(&placed.tag));
        let silent: Vec<Range<usize>> = silent.map(|placed| placed.text.clone()).collect();
        let is_said =
            |at: usize, raw: usize| range.contains(&raw) && !is_in(inner, raw) && !is_in(&silent, at);
        paragraph.pieces.iter().filter(|piece| piece.kind != PieceKind::Object).any(|piece| {
            let text = paragraph.text.get(piece.text.clone()).unwrap_or_default();
            let mut letters = text.char_indices().filter(|(_, letter)| !letter.is_whitespace());
            letters.any(|(at, _)| {
                let raw = if piece.kind == PieceKind::Text { at } else { 0 };
                is_said(piece.text.start + at, piece.raw.start + raw)
            })
        })
    }

    /// Where an item's number is written, and what is written around it.
    fn list_number(&self, item: &Item) -> Option<NumberPlace> {
        /// What may stand before `w:numPr` among a paragraph's properties (ECMA-376, part 1, 17.3.1.26).
        const BEFORE: [&str; 6] =
            ["pStyle", "keepNext", "keepLines", "pageBreakBefore", "framePr", "widowControl"];
        let part = self.part;
        if let Some(numbering) = part.property(item.element, "numPr") {
            let id = part.child(numbering, "numId")?;
            let tag = part.element(id)?.start_tag();
            let value = attribute(part.xml.get(tag.clone())?, "val")?.value;
            return Some((tag.start + value.start..tag.start + value.end, None));
        }
        let properties = part.element(item.element)?.properties;
        let before = part.children(properties).filter(|&id| BEFORE.contains(&part.local(id))).last()?;
        let at = part.element(before)?.range().end;
        let w = &part.prefix;
        let begin = format!("<{w}numPr><{w}ilvl {w}val=\"{}\"/><{w}numId {w}val=\"", item.level);
        Some((at..at, Some((begin, format!("\"/></{w}numPr>")))))
    }
}
