//! From a part's tags to the tree that fills it.
//!
//! First every change to the part's bytes is written down with its place, then one sweep over the places makes the tree. What is not
//! named by a change is copied as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::extent::{Extent, is_blank};
use crate::lexer::Tag;
use crate::tags::Tags;
use crate::word::attribute::attributes;
use crate::word::{Id, Kind, Part, SingleKind};

/// A piece of what the part becomes. Ranges are bytes of the part.
#[derive(Debug)]
pub(crate) enum Node {
    /// Copied as it is.
    Raw(Range<usize>),
    Owned(String),
    /// The text of the tag of this number.
    Value(usize),
    /// As often as the tag of this number answers.
    Section(usize, Vec<Node>),
    /// Only in the first of all copies.
    First(Range<usize>),
    /// Only in the last of all copies.
    Last(Range<usize>),
    /// A number; every copy but the first takes a new one.
    Number(Range<usize>),
    /// A paragraph with these properties, where there is none before the place: a cell must end with one.
    Paragraph(String),
    /// A table: left out where it has no row.
    Table(Vec<Node>),
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
    Insert(String),
    Value(usize),
    Open(usize),
    Close(usize),
    Single(SingleKind, usize),
    Paragraph(String),
    OpenTable,
    CloseTable,
}

const FIRST: usize = 0;
const LAST: usize = usize::MAX;

struct Planner<'a> {
    part: &'a Part,
    tags: &'a Tags,
    changes: Vec<Change>,
    /// Where the paragraphs begin that vanish because nothing but tags of sections stands in them.
    dropped: BTreeMap<usize, usize>,
}

/// The tree of a part, or the opening tag of a section that crosses another one, as rows do that two sections share in part. Numbers of tags are their places
/// in `tags.all`.
pub(crate) fn plan(part: &Part, tags: &Tags, extents: &[Option<Extent>]) -> Result<Vec<Node>, usize> {
    let mut planner = Planner { part, tags, changes: Vec::new(), dropped: BTreeMap::new() };
    planner.drop_paragraphs(extents);
    planner.tags();
    for (pair, extent) in tags.pairs.iter().zip(extents) {
        if let Some(extent) = *extent {
            planner.section(pair.open, pair.close, extent);
        }
    }
    planner.tables(extents);
    planner.singles();
    planner.boxes(extents);
    let mut changes = planner.changes;
    changes.sort_by_key(|change| (change.at, change.rank));
    sweep(part, changes)
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
        let paragraphs: BTreeSet<usize> = whole
            .flatten()
            .filter_map(|index| self.tags.all.get(index))
            .map(|placed| placed.paragraph)
            .collect();
        for index in paragraphs {
            let Some(paragraph) = self.part.paragraphs.get(index) else { continue };
            if is_blank(self.part, self.tags, index, 0..paragraph.text.len())
                && let Some(element) = self.part.element(paragraph.element)
            {
                self.dropped.insert(index, element.range().start);
                self.push(element.range().start, FIRST + 1, Action::Skip(element.range().end));
            }
        }
    }

    /// Takes the tags out, and puts values in.
    fn tags(&mut self) {
        let tags = self.tags;
        for (index, placed) in tags.all.iter().enumerate() {
            if matches!(placed.tag, Tag::Value(_)) {
                self.push(placed.at(), Self::rank(index, 0), Action::Value(index));
            }
            for cut in &placed.cuts {
                self.push(cut.start, Self::rank(index, 3), Action::Skip(cut.end));
            }
        }
        for &id in &tags.touched {
            if self.part.kind(id) == Kind::Text
                && let Some(element) = self.part.element(id)
            {
                let tag = element.start_tag();
                self.push(
                    tag.start,
                    FIRST,
                    Action::Insert(format!("<{} xml:space=\"preserve\">", self.part.name(id))),
                );
                self.push(tag.start, FIRST, Action::Skip(tag.end));
            }
        }
    }

    fn section(&mut self, open: usize, close: usize, extent: Extent) {
        let (Some(opening), Some(closing)) = (self.tags.all.get(open), self.tags.all.get(close)) else {
            return;
        };
        match extent {
            Extent::Between(first, last) => {
                let (end, begin) = self.cut(opening.element, first);
                self.push(opening.at(), Self::rank(open, 0), Action::Insert(end));
                self.push(opening.at(), Self::rank(open, 1), Action::Open(open));
                self.push(opening.at(), Self::rank(open, 2), Action::Insert(begin));
                let (end, begin) = self.cut(closing.element, last);
                self.push(closing.at(), Self::rank(close, 0), Action::Insert(end));
                self.push(closing.at(), Self::rank(close, 1), Action::Close(open));
                self.push(closing.at(), Self::rank(close, 2), Action::Insert(begin));
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
            }
        }
    }

    /// What ends everything from `element` up to `above`, which stays open, and what begins it again.
    fn cut(&self, element: Id, above: Id) -> (String, String) {
        let (mut end, mut begin) = (String::new(), String::new());
        for id in self.part.path(element).take_while(|&id| id != above) {
            let name = self.part.name(id);
            end.extend(["</", name, ">"]);
            begin.insert_str(0, &self.again(id, name));
        }
        (end, begin)
    }

    /// The start of an element once more, with its properties and without what must stand once.
    fn again(&self, id: Id, name: &str) -> String {
        let Some(element) = self.part.element(id) else { return String::new() };
        if element.kind == Kind::Text {
            return format!("<{name} xml:space=\"preserve\">");
        }
        let mut start = self.part.text(element.start_tag()).to_owned();
        for attribute in attributes(start.clone().as_bytes()).collect::<Vec<_>>().into_iter().rev() {
            if start
                .get(attribute.name)
                .is_some_and(|name| name.ends_with(":paraId") || name.ends_with(":textId"))
            {
                start.replace_range(attribute.whole, "");
            }
        }
        let Some(properties) = self.part.element(element.properties) else { return start };
        let range = properties.range();
        let mut from = range.start;
        if properties.kind != Kind::ControlProperties {
            start.push_str(self.part.text(range));
            return start;
        }
        for single in self.part.singles_in(range.clone()).filter(|single| single.kind != SingleKind::Number) {
            start.push_str(self.part.text(from..single.range.start));
            from = single.range.end;
        }
        start.push_str(self.part.text(from..range.end));
        start
    }

    /// The tables whose rows may all vanish.
    fn tables(&mut self, extents: &[Option<Extent>]) {
        let rows = extents.iter().filter_map(|extent| match extent {
            Some(Extent::Elements(first, _)) => Some(*first),
            _ => None,
        });
        let tables: BTreeSet<Id> = rows
            .filter(|&row| self.part.kind(row) != Kind::Table)
            .filter_map(|row| self.part.path(row).find(|&id| self.part.kind(id) == Kind::Table))
            .collect();
        for range in
            tables.into_iter().filter_map(|id| self.part.element(id)).map(crate::word::Element::range)
        {
            self.push(range.start, LAST - 1, Action::OpenTable);
            self.push(range.end, FIRST, Action::CloseTable);
        }
    }

    /// What copies must not have in common. Without a section there are no copies.
    fn singles(&mut self) {
        if self.tags.pairs.is_empty() {
            return;
        }
        for single in &self.part.singles {
            let action = Action::Single(single.kind, single.range.end);
            self.push(single.range.start, LAST - 1, action);
        }
    }

    /// Cells, text boxes and their like that paragraphs may vanish from keep one.
    fn boxes(&mut self, extents: &[Option<Extent>]) {
        let mut seen = BTreeSet::new();
        for extent in extents {
            let &Some(Extent::Paragraphs(first, last) | Extent::Elements(first, last)) = extent else {
                continue;
            };
            let Some(around) = self.part.element(first).map(|element| element.parent) else { continue };
            let is_kept = matches!(self.part.kind(around), Kind::Cell | Kind::Box | Kind::ControlContent);
            if !is_kept || self.part.kind(last) == Kind::Row || !seen.insert(around) {
                continue;
            }
            let properties = self.part.element(last).and_then(|last| self.part.element(last.properties));
            let kept = properties.map_or("", |properties| self.part.text(properties.range()));
            let kept = if kept.contains("sectPr") { "" } else { kept };
            let name = format!("{}p", self.part.prefix);
            let paragraph = format!("<{name}>{kept}</{name}>");
            if let Some(around) = self.part.element(around) {
                self.push(around.end_tag().start, LAST, Action::Paragraph(paragraph));
            }
        }
    }
}

/// What is being put together: the whole, a section, a table.
struct Frame {
    section: Option<usize>,
    nodes: Vec<Node>,
}

fn sweep(part: &Part, changes: Vec<Change>) -> Result<Vec<Node>, usize> {
    let mut frames = vec![Frame { section: None, nodes: Vec::new() }];
    let mut sections = 0_usize;
    let mut cursor = 0;
    for Change { at, action, .. } in changes {
        let top = frames.last_mut().ok_or(0_usize)?;
        let is_gone = at < cursor;
        if at > cursor {
            top.nodes.push(Node::Raw(cursor..at));
            cursor = at;
        }
        match action {
            Action::Open(tag) => {
                sections += 1;
                frames.push(Frame { section: Some(tag), nodes: Vec::new() });
            }
            Action::OpenTable => frames.push(Frame { section: None, nodes: Vec::new() }),
            Action::Close(tag) => {
                sections = sections.checked_sub(1).ok_or(tag)?;
                let frame = frames.pop().filter(|frame| frame.section == Some(tag)).ok_or(tag)?;
                frames.last_mut().ok_or(tag)?.nodes.push(Node::Section(tag, frame.nodes));
            }
            Action::CloseTable => {
                let frame = frames.pop().ok_or(0_usize)?;
                if let Some(tag) = frame.section {
                    return Err(tag);
                }
                frames.last_mut().ok_or(0_usize)?.nodes.push(Node::Table(frame.nodes));
            }
            _ if is_gone => {}
            Action::Skip(end) => cursor = cursor.max(end),
            Action::Insert(text) => {
                if !text.is_empty() {
                    top.nodes.push(Node::Owned(text));
                }
            }
            Action::Value(tag) => top.nodes.push(Node::Value(tag)),
            Action::Single(kind, end) => {
                if sections > 0 {
                    top.nodes.push(match kind {
                        SingleKind::First => Node::First(at..end),
                        SingleKind::Last => Node::Last(at..end),
                        SingleKind::Number => Node::Number(at..end),
                    });
                    cursor = end;
                }
            }
            Action::Paragraph(text) => top.nodes.push(Node::Paragraph(text)),
        }
    }
    let mut whole = frames.pop().filter(|frame| frame.section.is_none()).ok_or(0_usize)?;
    whole.nodes.push(Node::Raw(cursor..part.xml.len()));
    Ok(whole.nodes)
}
