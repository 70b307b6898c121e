//! References to what is kept in other parts: to notes and comments by their ids, to headers and charts by relationships.

use std::ops::Range;

use super::{Node, Planner};
use crate::word::ReferenceKind;
use crate::word::attribute::attribute;

#[derive(Debug)]
pub(crate) struct Reference {
    /// The id in the part.
    pub id: Range<usize>,
    /// All of a comment's reference, which may stand only once where no comment is found; otherwise the same as `id`.
    pub whole: Range<usize>,
    pub kind: ReferenceKind,
    /// Begins or ends the range of a comment.
    pub is_mark: bool,
}

impl Planner<'_> {
    /// The reference at `range`.
    pub(super) fn reference(&self, range: Range<usize>, kind: ReferenceKind) -> Option<Node> {
        let (mut id, mut is_mark) = (range.clone(), false);
        if kind.is_of_comment() {
            let tag = self.part.xml.get(range.clone())?;
            let found = attribute(tag, "id")?.value;
            id = range.start + found.start..range.start + found.end;
            is_mark = memchr::memmem::find(tag, b"commentRange").is_some();
        }
        Some(Node::Reference(Box::new(Reference { id, whole: range, kind, is_mark })))
    }
}
