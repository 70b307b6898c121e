//! Turns a part's tags into the tree that fills it.
//!
//! First every change to the part's bytes is collected with its offset, then one sweep over the sorted changes makes the tree.
//! Bytes without a change are copied.

mod asides;
mod bookmarks;
mod cut;
mod lists;
mod references;
mod shape;
mod slot;
mod sweep;
mod ticks;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::extent::{Extent, is_blank};
use crate::lexer::Tag;
use crate::package::relationships::Relationship;
use crate::powerpoint;
use crate::styles::Styles;
use crate::tags::{Placed, Tags};
use crate::word::{Dialect, Id, Kind, NONE, Part, SECTION_BREAK, Sections, UniqueKind};
use crate::writing::Writing;
pub(crate) use asides::Address;
pub(crate) use bookmarks::{
    Bookmark, BookmarkName, Bookmarks, NameKind, WholeBookmark, key, whole_bookmarks,
};
pub(crate) use lists::{ListNumber, Restart};
pub(crate) use references::{Piece, Reference};
pub(crate) use slot::{Around, Slot};
use sweep::sweep;

/// A piece of the filled part. Ranges are bytes of the template's part.
#[derive(Debug)]
pub(crate) enum Node {
    /// Copied as it is.
    Raw(Range<usize>),
    Owned(String),
    /// The answer to a tag.
    Content(Box<Slot>),
    /// The id of a relationship to an address with tags.
    Address(Box<Address>),
    /// The id last written for the address at this offset.
    AddressAgain(usize),
    /// Writes nothing; the tag of this index decides whether the boxes that follow are ticked.
    Tick(usize),
    /// What is written for a ticked box, and for one that is not.
    Ticked(String, String),
    /// The body, once for each copy that the tag of this index answers, and the lists that may begin again in each of them.
    Section(usize, Vec<Node>, Vec<Restart>),
    /// The number of a list that may begin again.
    List(Box<ListNumber>),
    /// One end of a bookmark.
    Bookmark(Box<Bookmark>),
    /// The name of a bookmark that something refers to, or the id of a relationship to it.
    BookmarkName(Box<BookmarkName>),
    /// A reference to what is kept in another part.
    Reference(Box<Reference>),
    /// The id of a shape: every turn but the first has one of its own.
    Shape(Range<usize>),
    /// Written only in the first of all copies.
    First(Range<usize>),
    /// A number; every copy but the first gets a new one.
    Number(Range<usize>),
    /// This empty paragraph, where no paragraph precedes: a cell must end with one.
    Paragraph(String),
    /// An element that must have a child of this name, as a table a row: left out where it has none.
    Holder(&'static str, Vec<Node>),
}

/// A change at an offset in the part.
struct Change {
    at: usize,
    /// The order among changes at one offset: what ends there goes before what begins, and tags keep their order.
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

/// The most pieces of elements that a template's sections may split.
pub(crate) const CUTS: usize = 1_000_000;

const CROSSING: &str =
    "what it repeats is in part what another section repeats; let one of them stand inside of the other";
const MANY_CUTS: &str = "it begins or ends inside of too many elements; let it stand in plain text";

struct Planner<'a> {
    part: &'a Part,
    tags: &'a Tags,
    changes: Vec<Change>,
    /// The start offsets of paragraphs that have only tags of sections, delimiters or slides, by their indices. They are removed,
    /// unless a section break is in them.
    dropped: BTreeMap<usize, usize>,
    /// Elements that may lose paragraphs or tables, each with the last of these.
    emptied: BTreeMap<Id, Id>,
    /// The widths of the text, which pictures must not exceed.
    sections: Sections,
    /// The values of attributes with tags: from start offset to end offset, and whether it is an address.
    attributes: BTreeMap<usize, (usize, bool)>,
    /// The numbers of lists that may begin again, by their offsets.
    listed: BTreeMap<usize, ListNumber>,
    /// The names of bookmarks in links, by their offsets.
    linked: BTreeMap<usize, BookmarkName>,
    /// Start and end offsets of shapes that pictures replace.
    pictured: BTreeMap<usize, usize>,
    cuts_left: &'a mut usize,
}

/// What a part's tree depends on besides the part itself.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub styles: &'a Styles,
    /// A section writes the whole part.
    pub is_copied: bool,
    /// The bookmarks of the parts before.
    pub bookmarks: &'a Bookmarks,
    /// The part's relationships, where sections may repeat something.
    pub links: Option<&'a BTreeMap<String, Relationship>>,
}

/// The tree of a part. An error is the opening tag of a section that overlaps another (as where two share some rows) or splits
/// too many elements, and why. Tags are indices in `tags.all`. Each split is taken from `cuts_left`.
pub(crate) fn plan(
    (part, beside): (&Part, Beside<'_>),
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
        listed: BTreeMap::new(),
        linked: BTreeMap::new(),
        pictured,
        cuts_left,
    };
    // Without a section there are no copies.
    let are_copies = beside.is_copied || !tags.pairs.is_empty();
    if are_copies {
        planner.linked = planner.linked(beside);
    }
    planner.drop_paragraphs(extents);
    let mut restarts = planner.lists(extents, beside);
    planner.tags().map_err(|tag| (tag, MANY_CUTS))?;
    for (pair, extent) in tags.pairs.iter().zip(extents) {
        if let Some(extent) = extent {
            planner.section(pair.open, pair.close, extent).ok_or((pair.open, MANY_CUTS))?;
        }
    }
    planner.addresses();
    planner.holders(extents);
    planner.uniques(are_copies);
    if are_copies {
        planner.bookmark_names(beside);
    }
    planner.boxes();
    let mut changes = planner.changes;
    changes.sort_by_key(|change| (change.at, change.rank));
    sweep(part, changes, &mut restarts).map_err(|tag| (tag, CROSSING))
}

/// Visits the nodes that are no section and no holder, each with the opening tags of the sections around it.
pub(crate) fn walk<'n>(
    nodes: &'n [Node],
    around: &mut Vec<usize>,
    visit: &mut impl FnMut(&'n Node, &[usize]),
) {
    for node in nodes {
        if let Node::Section(tag, body, _) = node {
            around.push(*tag);
            walk(body, around, visit);
            around.pop();
        } else if let Node::Holder(_, body) = node {
            walk(body, around, visit);
        } else {
            visit(node, around);
        }
    }
}

/// Whether the content is fitted into the text's width.
fn has_width(placed: &Placed) -> bool {
    placed.tag.has_content() && placed.writing == Writing::Run && !matches!(placed.tag, Tag::Value(_))
}

impl Planner<'_> {
    fn push(&mut self, at: usize, rank: usize, action: Action) {
        self.changes.push(Change { at, rank, action });
    }

    /// The rank of a tag's changes; `step`, 0 to 3, orders those of one tag.
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
                // The section break is behind the tags: a section that begins here repeats it, one that ends here ends before it.
                if paragraph.text.ends_with(SECTION_BREAK) {
                    continue;
                }
                self.push(element.range().start, FIRST + 1, Action::Skip(element.range().end));
                self.emptied.insert(element.parent, paragraph.element);
            }
        }
    }

    /// Replaces the tags by their answers. `Err` with a tag that is inside of too many elements.
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

    /// Marks tables that may lose all rows, and rows that may lose all cells, as holders.
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
                // `PowerPoint` does not open a file with a frame without a table.
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

    /// Handles what must differ between copies, and removes properties of a control that hold only until it is filled.
    fn uniques(&mut self, are_copies: bool) {
        let part = self.part;
        let around = |is_meant: fn(&&Placed) -> bool| -> BTreeSet<Id> {
            self.tags.all.iter().filter(is_meant).flat_map(|placed| part.path(placed.element)).collect()
        };
        let filled = around(|_| true);
        let filled_with_forms = around(|placed| has_width(placed));
        for unique in &self.part.uniques {
            let range = unique.range.clone();
            let node = match unique.kind {
                UniqueKind::First if are_copies => Some(Node::First(range)),
                UniqueKind::Number if are_copies => Some(Node::Number(range)),
                UniqueKind::Shape if are_copies => Some(Node::Shape(range)),
                UniqueKind::Bookmark if are_copies => self.bookmark(range),
                UniqueKind::Reference(kind) if are_copies => self.reference(range, kind),
                UniqueKind::Binding(control) if filled.contains(&control) => None,
                UniqueKind::Plain(control) if filled_with_forms.contains(&control) => None,
                UniqueKind::First
                | UniqueKind::Number
                | UniqueKind::Shape
                | UniqueKind::Bookmark
                | UniqueKind::Anchor
                | UniqueKind::Link
                | UniqueKind::Reference(_)
                | UniqueKind::Binding(_)
                | UniqueKind::Plain(_) => continue,
            };
            let Range { start, end } = unique.range;
            // This rank is behind the holders that begin at the same offset.
            if let Some(node) = node {
                self.push(start, LAST - 1, Action::Write(node));
            }
            self.push(start, LAST - 1, Action::Skip(end));
        }
    }

    /// Adds a paragraph to cells, text boxes and their like that may lose all paragraphs or tables.
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

    /// A paragraph's properties for an empty one: without list, section break and tracked changes.
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
