//! Bookmarks, and what refers to them by name: cross-references, links within the document, page references.
//!
//! Hazard: a bookmark may stand once, so if all copies but the first lost theirs, the references in all turns would lead to the
//! first turn. Each turn has bookmarks of its own instead, and what refers to a bookmark from within the turn leads to the turn's.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Action, LAST, Node, Planner, walk};
use crate::word::attribute::attribute;
use crate::word::{Paragraph, PieceKind, Place, UniqueKind};

/// Fields whose arguments are names of other things.
const WITHOUT_BOOKMARKS: [&str; 6] =
    ["SEQ", "STYLEREF", "INCLUDETEXT", "MERGEFIELD", "DOCPROPERTY", "DOCVARIABLE"];

/// One end of a bookmark.
#[derive(Debug)]
pub(crate) struct Bookmark {
    pub whole: Range<usize>,
    pub id: Range<usize>,
    /// Of its begin.
    pub name: Option<Range<usize>>,
}

/// The name of a bookmark where something refers to it.
#[derive(Debug)]
pub(crate) struct BookmarkName {
    pub range: Range<usize>,
    /// As a bookmark's name is written.
    pub name: String,
}

impl Planner<'_> {
    /// The end of a bookmark at `range`.
    pub(super) fn bookmark(&self, range: Range<usize>) -> Option<Node> {
        let tag = self.part.xml.get(range.clone())?;
        let place = |found: Range<usize>| range.start + found.start..range.start + found.end;
        let id = place(attribute(tag, "id")?.value);
        let name = attribute(tag, "name").map(|name| place(name.value));
        Some(Node::Bookmark(Box::new(Bookmark { whole: range, id, name })))
    }

    /// Plans the names of bookmarks in links and in the codes of fields; `known` are those of other parts.
    pub(super) fn bookmark_names(&mut self, known: &BTreeMap<String, Vec<usize>>) {
        let part = self.part;
        let own = part.uniques.iter().filter(|unique| unique.kind == UniqueKind::Bookmark);
        let own = own.filter_map(|unique| {
            let tag = part.xml.get(unique.range.clone())?;
            std::str::from_utf8(tag.get(attribute(tag, "name")?.value)?).ok()
        });
        let names: BTreeSet<&str> = own.chain(known.keys().map(String::as_str)).collect();
        if names.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for unique in part.uniques.iter().filter(|unique| unique.kind == UniqueKind::Anchor) {
            let name = part.text(unique.range.clone());
            if names.contains(name) {
                found.push((vec![unique.range.clone()], name.to_owned()));
            }
        }
        for code in
            part.paragraphs.iter().filter(|text| matches!(text.place, Place::Code | Place::CodeAttribute))
        {
            for word in named(&code.text) {
                let name = code.text.get(word.clone()).filter(|name| names.contains(name));
                found.extend(name.map(|name| (raw(code, &word), name.to_owned())));
            }
        }
        for (ranges, name) in found {
            let Some(first) = ranges.first().cloned() else { continue };
            let node = Node::BookmarkName(Box::new(BookmarkName { range: first.clone(), name }));
            self.push(first.start, LAST - 1, Action::Write(node));
            for range in ranges {
                self.push(range.start, LAST - 1, Action::Skip(range.end));
            }
        }
    }
}

/// The words of a field's code that may be names of bookmarks.
fn named(code: &str) -> Vec<Range<usize>> {
    let is_between = |letter: char| letter.is_whitespace() || "\"\u{201c}\u{201d}\u{201e}".contains(letter);
    let mut words = Vec::new();
    let mut from = None;
    for (at, letter) in code.char_indices().chain([(code.len(), ' ')]) {
        match (from, is_between(letter)) {
            (None, false) => from = Some(at),
            (Some(begin), true) => {
                words.push(begin..at);
                from = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    let text = |word: &Range<usize>| code.get(word.clone()).unwrap_or_default();
    let field = words.first().map(&text).unwrap_or_default().to_ascii_uppercase();
    if WITHOUT_BOOKMARKS.contains(&field.as_str()) {
        return Vec::new();
    }
    if field == "HYPERLINK" {
        let place = words.iter().position(|word| text(word) == "\\l");
        return place.and_then(|at| words.get(at + 1)).cloned().into_iter().collect();
    }
    words.into_iter().skip(1).collect()
}

/// The bytes of the part that a range of a code's text takes.
fn raw(code: &Paragraph, word: &Range<usize>) -> Vec<Range<usize>> {
    let pieces =
        code.pieces.iter().filter(|piece| piece.text.start < word.end && piece.text.end > word.start);
    let ranges = pieces.filter_map(|piece| match piece.kind {
        PieceKind::Object => None,
        PieceKind::Character => Some(piece.raw.clone()),
        PieceKind::Text => {
            let begin = word.start.saturating_sub(piece.text.start);
            let end = word.end.min(piece.text.end) - piece.text.start;
            Some(piece.raw.start + begin..piece.raw.start + end)
        }
    });
    ranges.collect()
}

/// The bookmarks of a part's tree that lie whole in one place, by their names: the opening tags of the sections around them.
pub(crate) fn whole_bookmarks(nodes: &[Node], xml: &[u8]) -> BTreeMap<String, Vec<usize>> {
    let text = |range: &Range<usize>| xml.get(range.clone()).unwrap_or_default();
    let mut ends = Ends::new();
    walk(nodes, &mut Vec::new(), &mut |node, around| {
        if let Node::Bookmark(bookmark) = node {
            let end = (bookmark.name.as_ref().map(&text), around.to_vec());
            ends.entry(text(&bookmark.id)).or_default().push(end);
        }
    });
    let mut bookmarks: BTreeMap<String, Option<Vec<usize>>> = BTreeMap::new();
    for all in ends.into_values() {
        // Word writes a text box twice, as a shape and for programs that know none, so an id may stand in both.
        let mut open: Option<(&[u8], Vec<usize>)> = None;
        for (name, around) in all {
            match (name, open.take()) {
                (Some(name), before) => {
                    note(&mut bookmarks, before.map(|(name, _)| (name, None)));
                    open = Some((name, around));
                }
                (None, Some((name, begun))) => {
                    note(&mut bookmarks, Some((name, (begun == around).then_some(around))));
                }
                (None, None) => {}
            }
        }
        note(&mut bookmarks, open.map(|(name, _)| (name, None)));
    }
    bookmarks.into_iter().filter_map(|(name, around)| Some((name, around?))).collect()
}

/// Notes the sections around a bookmark, `None` where it is torn. One whose copies differ is torn.
fn note(bookmarks: &mut BTreeMap<String, Option<Vec<usize>>>, found: Option<(&[u8], Option<Vec<usize>>)>) {
    let Some((name, around)) = found else { return };
    let Ok(name) = std::str::from_utf8(name) else { return };
    let known = bookmarks.entry(name.to_owned()).or_insert_with(|| around.clone());
    if *known != around {
        *known = None;
    }
}

/// The ends of bookmarks by their ids: the name, and the sections around.
type Ends<'x> = BTreeMap<&'x [u8], Vec<(Option<&'x [u8]>, Vec<usize>)>>;
