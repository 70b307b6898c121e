//! Where texts stand that may have tags.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Id;

/// What a part is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Word's own elements: `w:p`.
    Word,
    /// What Office draws: the paragraphs of charts and `SmartArt` are `a:p`.
    Drawing,
    /// The same on a slide or its notes, where shapes can become pictures and the whole slide can be repeated.
    Slide,
    /// The document's properties, a workbook's comments: elements with nothing but text.
    Properties,
}

impl Dialect {
    /// Whether paragraphs are those of drawings: `a:p`.
    pub(crate) fn is_drawn(self) -> bool {
        matches!(self, Self::Drawing | Self::Slide)
    }
}

/// What must be known of a part before it is read.
pub(crate) struct Origin {
    pub dialect: Dialect,
    /// Where its links lead, by the ids of the relationships; only those that may have tags.
    pub addresses: BTreeMap<String, String>,
}

/// Where a text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the runs of a paragraph.
    Paragraph,
    /// In an attribute that is shown or read out: an alternative text, a tooltip.
    Attribute,
    /// In an element that holds nothing else: a property of the document, what a chart keeps of its cells.
    Element,
    /// In the code of a field, between its beginning and its result.
    Code,
    /// The same, of a field that is written in one element.
    CodeAttribute,
    /// The address that a link refers to, by the relationship whose id stands in this range; the text's pieces are pieces of `target`.
    Address { target: String, id: Range<usize> },
    /// In what a tick box is called. The element is what says so: its control's properties, or its form field's data.
    Tick(Id),
}
