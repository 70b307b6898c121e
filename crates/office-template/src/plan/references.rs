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
    pub piece: Piece,
}

/// What a reference writes. The pieces of a comment have one id in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The begin of a comment's range.
    Begin,
    /// The end of one, which some programs write behind the comment's reference.
    End,
    /// The reference itself.
    Own,
}

impl Reference {
    /// Whether it begins or ends the range of a comment.
    pub(crate) fn is_mark(&self) -> bool {
        self.piece != Piece::Own
    }
}

impl Planner<'_> {
    /// The reference at `range`.
    pub(super) fn reference(&self, range: Range<usize>, kind: ReferenceKind) -> Option<Node> {
        let (mut id, mut piece) = (range.clone(), Piece::Own);
        if kind.is_of_comment() {
            let tag = self.part.xml.get(range.clone())?;
            let found = attribute(tag, "id")?.value;
            id = range.start + found.start..range.start + found.end;
            let has = |name: &[u8]| memchr::memmem::find(tag, name).is_some();
            piece = match (has(b"commentRangeStart"), has(b"commentRangeEnd")) {
                (true, _) => Piece::Begin,
                (_, true) => Piece::End,
                (false, false) => Piece::Own,
            };
        }
        Some(Node::Reference(Box::new(Reference { id, whole: range, kind, piece })))
    }
}
