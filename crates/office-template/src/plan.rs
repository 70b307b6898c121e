//! From a part's tags to the tree that fills it.
//!
//! First every change to the part's bytes is written down with its place, then one sweep over the places makes the tree. What is not
//! named by a change is copied as it is.

mod asides;
mod cut;
mod shape;
mod slot;
mod sweep;
mod ticks;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::extent::{Extent, is_blank};
use crate::lexer::Tag;
use crate::powerpoint;
use crate::tags::{Placed, Tags};
use crate::word::{Dialect, Id, Kind, NONE, Part, SECTION_BREAK, Sections, UniqueKind};
use crate::writing::Writing;
pub(crate) use asides::Address;
pub(crate) use slot::{Around, Slot};
use sweep::sweep;

/// A piece of what the part becomes. Ranges are bytes of the part.
#[derive(Debug)]
pub(crate) enum Node {
    /// Copied as it is.
    Raw(Range<usize>),
    Owned(String),
    /// What the tag of this place answers.
    Content(Box<Slot>),
    /// The id of a relationship to an address with tags.
    Address(Box<Address>),
    /// The id that was last written for the address in this place.
    AddressAgain(usize),
    /// Nothing; from here on boxes are as the tag of this place answers.
    Tick(usize),
    /// What a box has when it is ticked, and when it is not.
    Ticked(String, String),
    /// As often as the tag of this number answers.
    Section(usize, Vec<Node>),
    /// Only in the first of all copies.
    First(Range<usize>),
    /// A number; every copy but the first takes a new one.
    Number(Range<usize>),
    /// A paragraph with these properties, where there is none before the place: a cell must end with one.
    Paragraph(String),
    /// An element that must hold one of this name, as a table a row: left out where it has none.
    Holder(&'static str, Vec<Node>),
}

/// A change, at a place in the part.
struct Change {
    at: usize,
    /// Among the changes at one place. What ends there comes before what begins, tags come in their order.
    rank: usize,
    action: Action,
}

enum Action {
    Skip(usize),
    Write(Node),
    Open(usize),
    Close(usize),
    OpenHolder,
    CloseHolder(&'static str),
}

const FIRST: usize = 0;
const LAST: usize = usize::MAX;

/// The most pieces of elements that a template's sections end and begin again.
pub(crate) const CUTS: usize = 1_000_000;

const CROSSING: &str =
    "what it repeats is in part what another section repeats; let one of them stand inside of the other";
const MANY_CUTS: &str = "it begins or ends inside of too many elements; let it stand in plain text";

struct Planner<'a> {
    part: &'a Part,
    tags: &'a Tags,
    changes: Vec<Change>,
    /// Where the paragraphs begin in which nothing but tags of sections stands. They vanish, unless a section of the document ends there.
    dropped: BTreeMap<usize, usize>,
    /// What paragraphs and tables may vanish from, and the last of them.
    emptied: BTreeMap<Id, Id>,
    /// For pictures, which are no wider than the text.
    sections: Sections,
    /// The values of attributes with tags, by where they begin, with their ends and whether they are an address.
    attributes: BTreeMap<usize, (usize, bool)>,
    /// Where shapes begin and end that pictures take the place of.
    pictured: BTreeMap<usize, usize>,
    cuts_left: &'a mut usize,
}

/// The tree of a part, or the opening tag of a section that cannot be, and why: it crosses another one, as rows do that two sections
/// share in part. Numbers of tags are their places in `tags.all`. `cuts_left` becomes less.
pub(crate) fn plan(
    part: &Part,
    tags: &Tags,
    extents: &[Option<Extent>],
    cuts_left: &mut usize,
) -> Result<Vec<Node>, (usize, &'static str)> {
    let (dropped, emptied) = (BTreeMap::new(), BTreeMap::new());
    let sections = if tags.all.iter().any(has_width) { part.sections() } else { Sections::new() };
    let (attributes, pictured) = (asides::attributes(part, tags), BTreeMap::new());
    let mut planner = Planner {
        part,
        tags,
        changes: Vec::new(),
        dropped,
        emptied,
        sections,
        attributes,
        pictured,
        cuts_left,
    };
    planner.drop_paragraphs(extents);
    planner.tags().map_err(|tag| (tag, MANY_CUTS))?;
    for (pair, extent) in tags.pairs.iter().zip(extents) {
        if let Some(extent) = extent {
            planner.section(pair.open, pair.close, extent).ok_or((pair.open, MANY_CUTS))?;
        }
    }
    planner.addresses();
    planner.holders(extents);
    planner.uniques();
    planner.boxes();
    let mut changes = planner.changes;
    changes.sort_by_key(|change| (change.at, change.rank));
    sweep(part, changes).map_err(|tag| (tag, CROSSING))
}

/// Whether what stands in the tag's place is fitted into the text's width.
fn has_width(placed: &Placed) -> bool {
    placed.tag.has_content() && placed.writing == Writing::Run && !matches!(placed.tag, Tag::Value(_))
}

impl Planner<'_> {
    fn push(&mut self, at: usize, rank: usize, action: Action) {
        self.changes.push(Change { at, rank, action });
    }

    /// The rank of a tag's changes; `step` orders them.
    fn rank(tag: usize, step: usize) -> usize {
        tag * 4 + step + 1
    }

    fn drop_paragraphs(&mut self, extents: &[Option<Extent>]) {
        let whole = self.tags.pairs.iter().zip(extents).filter_map(|(pair, extent)| match extent {
            Some(Extent::Paragraphs(..)) => Some([pair.open, pair.close]),
            _ => None,
        });
        let of_sections = whole.flatten().filter_map(|index| self.tags.all.get(index));
        let mut paragraphs: BTreeSet<usize> = of_sections.map(|placed| placed.paragraph).collect();
        let is_of_delimiters = |placed: &Placed| matches!(placed.tag, Tag::Delimiters(_) | Tag::Slides(_));
        let of_delimiters = self.tags.all.iter().filter(|placed| is_of_delimiters(placed));
        let of_delimiters: BTreeSet<usize> = of_delimiters.map(|placed| placed.paragraph).collect();
        paragraphs
            .extend(of_delimiters.into_iter().filter(|&index| self.tags.of(index).all(is_of_delimiters)));
        for index in paragraphs {
            let Some(paragraph) = self.part.paragraphs.get(index) else { continue };
            if is_blank(self.part, self.tags, index, 0..paragraph.text.len())
                && let Some(element) = self.part.element(paragraph.element)
            {
                self.dropped.insert(index, element.range().start);
                // The break is behind the tags: a section that begins here has it in each copy, one that ends here is before it.
                if paragraph.text.ends_with(SECTION_BREAK) {
                    continue;
                }
                self.push(element.range().start, FIRST + 1, Action::Skip(element.range().end));
                self.emptied.insert(element.parent, paragraph.element);
            }
        }
    }

    /// Takes the tags out, and puts in what they answer. `Err` with the tag that stands inside of too many elements.
    fn tags(&mut self) -> Result<(), usize> {
        let tags = self.tags;
        for (index, placed) in tags.all.iter().enumerate() {
            match placed.writing {
                Writing::Address => continue,
                Writing::Tick => self.tick(index, placed),
                Writing::Shape => {
                    self.shape(index, placed);
                    continue;
                }
                Writing::Run
                | Writing::DrawingRun
                | Writing::SlideRun
                | Writing::Attribute
                | Writing::Element
                | Writing::Code(_)
                | Writing::CodeAttribute(_) => {}
            }
            if let Tag::Slides(_) = placed.tag {
                self.slides(placed);
            }
            if placed.tag.has_content() && placed.writing != Writing::Tick {
                let slot = self.slot(index, placed)?;
                self.push(placed.at(), Self::rank(index, 0), Action::Write(Node::Content(Box::new(slot))));
            }
            for cut in &placed.cuts {
                self.push(cut.start, Self::rank(index, 3), Action::Skip(cut.end));
            }
        }
        for &id in &tags.touched {
            if self.part.dialect == Dialect::Word
                && matches!(self.part.kind(id), Kind::Text | Kind::Code)
                && let Some(element) = self.part.element(id)
            {
                let tag = element.start_tag();
                self.push(
                    tag.start,
                    FIRST,
                    Action::Write(Node::Owned(format!("<{} xml:space=\"preserve\">", self.part.name(id)))),
                );
                self.push(tag.start, FIRST, Action::Skip(tag.end));
            }
        }
        Ok(())
    }

    /// `None` where there are too many cuts.
    fn section(&mut self, open: usize, close: usize, extent: &Extent) -> Option<()> {
        let (opening, closing) = (self.tags.all.get(open)?, self.tags.all.get(close)?);
        match *extent {
            Extent::Between(first, last) => {
                let ends =
                    [(open, opening, first, Action::Open(open)), (close, closing, last, Action::Close(open))];
                for (index, tag, above, action) in ends {
                    let (end, begin) = self.cut(tag.element, above)?;
                    self.push(tag.at(), Self::rank(index, 0), Action::Write(Node::Owned(end)));
                    self.push(tag.at(), Self::rank(index, 1), action);
                    for node in begin {
                        self.push(tag.at(), Self::rank(index, 2), Action::Write(node));
                    }
                }
            }
            Extent::Paragraphs(first, last) | Extent::Elements(first, last) => {
                let range = |id| self.part.element(id).map_or(0..0, crate::word::Element::range);
                let (mut begin, mut end) = (range(first).start, range(last).end);
                if matches!(extent, Extent::Paragraphs(..)) {
                    begin = self.dropped.get(&opening.paragraph).copied().unwrap_or(begin);
                    end = self.dropped.get(&closing.paragraph).copied().unwrap_or(end);
                }
                self.push(begin, Self::rank(open, 0), Action::Open(open));
                self.push(end, Self::rank(close, 0), Action::Close(open));
                if matches!(self.part.kind(last), Kind::Paragraph | Kind::Table | Kind::Control)
                    && let Some(around) = self.part.element(first)
                {
                    self.emptied.insert(around.parent, last);
                }
            }
            Extent::Column(ref pieces) => {
                for &id in pieces {
                    let range = self.part.element(id).map_or(0..0, crate::word::Element::range);
                    self.push(range.start, Self::rank(open, 0), Action::Open(open));
                    self.push(range.end, Self::rank(close, 0), Action::Close(open));
                }
            }
        }
        Some(())
    }

    /// The tables whose rows may all vanish, and the rows whose cells may.
    fn holders(&mut self, extents: &[Option<Extent>]) {
        let mut found = BTreeMap::new();
        let vanishing = extents.iter().flatten().flat_map(|extent| match extent {
            Extent::Elements(first, _) => std::slice::from_ref(first),
            Extent::Column(pieces) => pieces,
            Extent::Between(..) | Extent::Paragraphs(..) => &[],
        });
        for &first in vanishing {
            let around = |kind| self.part.path(first).find(|&id| self.part.kind(id) == kind);
            let kind = self.part.kind(first);
            let is_slide = self.part.dialect == Dialect::Slide;
            let is_in_row = || {
                let kinds = self.part.path(first).map(|id| self.part.kind(id));
                kinds.into_iter().find(|kind| matches!(kind, Kind::Row | Kind::Table)) == Some(Kind::Row)
            };
            if kind == Kind::Cell || kind == Kind::Control && is_in_row() {
                found.extend(around(Kind::Row).map(|row| (row, "tc")));
            }
            if matches!(kind, Kind::Cell | Kind::Row | Kind::Control) {
                // A frame without a table is one that PowerPoint does not open.
                let frame = |table| if is_slide { powerpoint::frame(self.part, table) } else { table };
                found.extend(around(Kind::Table).map(|table| (frame(table), "tr")));
            }
        }
        for (id, child) in found {
            let Some(&element) = self.part.element(id) else { continue };
            self.push(element.range().start, LAST - 1, Action::OpenHolder);
            self.push(element.range().end, FIRST, Action::CloseHolder(child));
            if child == "tr" {
                self.emptied.entry(element.parent).or_insert(id);
            }
        }
    }

    /// What copies must not have in common, and what holds of a control until it is filled.
    fn uniques(&mut self) {
        let part = self.part;
        let around = |is_meant: fn(&&Placed) -> bool| -> BTreeSet<Id> {
            self.tags.all.iter().filter(is_meant).flat_map(|placed| part.path(placed.element)).collect()
        };
        let filled = around(|_| true);
        let filled_with_forms = around(|placed| has_width(placed));
        // Without a section there are no copies.
        let are_copies = !self.tags.pairs.is_empty();
        for unique in &self.part.uniques {
            let range = unique.range.clone();
            let node = match unique.kind {
                UniqueKind::First if are_copies => Some(Node::First(range)),
                UniqueKind::Number if are_copies => Some(Node::Number(range)),
                UniqueKind::Binding(control) if filled.contains(&control) => None,
                UniqueKind::Plain(control) if filled_with_forms.contains(&control) => None,
                UniqueKind::First | UniqueKind::Number | UniqueKind::Binding(_) | UniqueKind::Plain(_) => {
                    continue;
                }
            };
            let Range { start, end } = unique.range;
            // Behind the holders that begin here.
            if let Some(node) = node {
                self.push(start, LAST - 1, Action::Write(node));
            }
            self.push(start, LAST - 1, Action::Skip(end));
        }
    }

    /// Cells, text boxes and their like that paragraphs or tables may vanish from keep a paragraph.
    fn boxes(&mut self) {
        for (around, last) in std::mem::take(&mut self.emptied) {
            if !matches!(self.part.kind(around), Kind::Cell | Kind::Box | Kind::ControlContent) {
                continue;
            }
            let name = format!("{}p", self.part.prefix);
            let paragraph = format!("<{name}>{}</{name}>", self.kept(last));
            if let Some(around) = self.part.element(around) {
                self.push(around.end_tag().start, LAST, Action::Write(Node::Paragraph(paragraph)));
            }
        }
    }

    /// A paragraph's properties for an empty one: no bullet, no section break, no change.
    fn kept(&self, paragraph: Id) -> String {
        let properties = self.part.element(paragraph).map_or(NONE, |element| element.properties);
        let Some(element) = self.part.element(properties) else { return String::new() };
        if self.part.dialect != Dialect::Word || element.kind != Kind::ParagraphProperties {
            return String::new();
        }
        let mut kept = String::new();
        for id in self.part.children(properties) {
            let local = self.part.name(id).strip_prefix(&self.part.prefix).unwrap_or_default();
            let text = self.part.text(self.part.element(id).map_or(0..0, crate::word::Element::range));
            let is_of_list = local == "numPr" || local == "pStyle" && text.contains("\"List");
            let is_changed = local == "pPrChange" || local == "rPr" && text.contains(":id=");
            if !is_of_list && !is_changed && local != "sectPr" {
                kept.push_str(text);
            }
        }
        if kept.is_empty() { kept } else { format!("<{0}pPr>{kept}</{0}pPr>", self.part.prefix) }
    }
}
