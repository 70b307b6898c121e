//! Bookmarks, and what refers to them by name: cross-references, links within the document, page references.
//!
//! Hazard: a bookmark may stand once. If only the first copy kept it, the references in all turns would lead to the first turn.
//! So each turn has bookmarks of its own, and a reference from within the turn leads to the turn's.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Action, Beside, LAST, Node, Planner, walk};
use crate::word::attribute::attribute;
use crate::word::{Paragraph, PieceKind, Place, UniqueKind};

/// The bookmarks that lie whole in one place, by their [`key`]s.
pub(crate) type Bookmarks = BTreeMap<String, WholeBookmark>;

/// A bookmark that lies whole in one place.
#[derive(Clone, Debug)]
pub(crate) struct WholeBookmark {
    /// Its name as its begin has it.
    pub name: String,
    /// The tags that open the sections around it.
    pub around: Vec<usize>,
}

/// What names of bookmarks are compared by: to Word `total` and `Total` are one name.
pub(crate) fn key(name: &str) -> String {
    name.to_lowercase()
}

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
#[derive(Clone, Debug)]
pub(crate) struct BookmarkName {
    /// The bytes of the name, or of the id of the relationship whose target names the bookmark.
    pub range: Range<usize>,
    /// As the reference has it.
    pub name: String,
    pub kind: NameKind,
}

/// How a bookmark is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// By the text itself.
    Text,
    /// By a relationship within the document with the target `#name`.
    Link,
    /// The same, where the relationship says that its target is outside of the file.
    ExternalLink,
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

    /// The names of bookmarks in links, by their offsets.
    pub(super) fn linked(&self, beside: Beside<'_>) -> BTreeMap<usize, BookmarkName> {
        let part = self.part;
        let own = self.own_names();
        let mut found = BTreeMap::new();
        for unique in &part.uniques {
            let range = unique.range.clone();
            let text = part.text(range.clone());
            let (name, kind) = match unique.kind {
                UniqueKind::Anchor => (text, NameKind::Text),
                UniqueKind::Link => {
                    let target = beside.links.and_then(|links| links.get(text));
                    let Some(link) = target.filter(|link| link.kind.ends_with("/hyperlink")) else {
                        continue;
                    };
                    let Some(name) = link.target.strip_prefix('#') else { continue };
                    (name, if link.is_external { NameKind::ExternalLink } else { NameKind::Link })
                }
                UniqueKind::First
                | UniqueKind::Number
                | UniqueKind::Shape
                | UniqueKind::Bookmark
                | UniqueKind::Reference(_)
                | UniqueKind::Binding(_)
                | UniqueKind::Plain(_) => continue,
            };
            if is_bookmark(name, &own, beside) {
                found.insert(range.start, BookmarkName { range, name: name.to_owned(), kind });
            }
        }
        found
    }

    /// The [`key`]s of the bookmarks of this part.
    fn own_names(&self) -> BTreeSet<String> {
        let part = self.part;
        let own = part.uniques.iter().filter(|unique| unique.kind == UniqueKind::Bookmark);
        let own = own.filter_map(|unique| {
            let tag = part.xml.get(unique.range.clone())?;
            std::str::from_utf8(tag.get(attribute(tag, "name")?.value)?).ok()
        });
        own.map(key).collect()
    }

    /// Plans the names of bookmarks in links and in the codes of fields.
    pub(super) fn bookmark_names(&mut self, beside: Beside<'_>) {
        let part = self.part;
        let own = self.own_names();
        if own.is_empty() && beside.bookmarks.is_empty() {
            return;
        }
        let mut found: Vec<(Vec<Range<usize>>, BookmarkName)> =
            self.linked.values().map(|name| (vec![name.range.clone()], name.clone())).collect();
        for code in
            part.paragraphs.iter().filter(|text| matches!(text.place, Place::Code | Place::CodeAttribute))
        {
            for word in named(&code.text) {
                let name = code.text.get(word.clone()).filter(|name| is_bookmark(name, &own, beside));
                let ranges = raw(code, &word);
                if let (Some(name), Some(range)) = (name, ranges.first().cloned()) {
                    let name = BookmarkName { range, name: name.to_owned(), kind: NameKind::Text };
                    found.push((ranges, name));
                }
            }
        }
        for (ranges, name) in found {
            let node = Node::BookmarkName(Box::new(name.clone()));
            self.push(name.range.start, LAST - 1, Action::Write(node));
            for range in ranges {
                self.push(range.start, LAST - 1, Action::Skip(range.end));
            }
        }
    }
}

/// Whether a bookmark of the part, or of those before, has this name.
fn is_bookmark(name: &str, own: &BTreeSet<String>, beside: Beside<'_>) -> bool {
    let key = key(name);
    own.contains(&key) || beside.bookmarks.contains_key(&key)
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

/// The bookmarks of a part's tree that lie whole in one place, with the opening tags of the sections around them.
pub(crate) fn whole_bookmarks(nodes: &[Node], xml: &[u8]) -> Bookmarks {
    let text = |range: &Range<usize>| xml.get(range.clone()).unwrap_or_default();
    let mut ends = Ends::new();
    walk(nodes, &mut Vec::new(), &mut |node, around| {
        if let Node::Bookmark(bookmark) = node {
            let end = (bookmark.name.as_ref().map(&text), around.to_vec());
            ends.entry(text(&bookmark.id)).or_default().push(end);
        }
    });
    let mut bookmarks: BTreeMap<String, Option<WholeBookmark>> = BTreeMap::new();
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
    bookmarks.into_iter().filter_map(|(name, whole)| Some((name, whole?))).collect()
}

/// Notes the sections around a bookmark, `None` where it is torn. One whose copies differ is torn.
fn note(bookmarks: &mut BTreeMap<String, Option<WholeBookmark>>, found: Option<(&[u8], Option<Vec<usize>>)>) {
    let Some((name, around)) = found else { return };
    let Ok(name) = std::str::from_utf8(name) else { return };
    let whole = around.map(|around| WholeBookmark { name: name.to_owned(), around });
    let known = bookmarks.entry(key(name)).or_insert_with(|| whole.clone());
    if known.as_ref().map(|known| &known.around) != whole.as_ref().map(|whole| &whole.around) {
        *known = None;
    }
}

/// The ends of bookmarks by their ids: the name, and the sections around.
type Ends<'x> = BTreeMap<&'x [u8], Vec<(Option<&'x [u8]>, Vec<usize>)>>;
