//! Where in a part there are texts that may have tags.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Id;

/// Which elements a part is written in.
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
    /// The targets of its links, by relationship id; only those that may have tags.
    pub addresses: BTreeMap<String, String>,
}

/// Where a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the runs of a paragraph.
    Paragraph,
    /// In an attribute that is shown or read out: an alternative text, a tooltip.
    Attribute,
    /// In an element that holds nothing else: a property of the document, a cell's value that a chart remembers.
    Element,
    /// In the code of a field, between its beginning and its result.
    Code,
    /// The same, of a field that is one element (`w:fldSimple`).
    CodeAttribute,
    /// The address `target` of a link, whose pieces the text's are; `id` is where the part names the relationship.
    Address { target: String, id: Range<usize> },
    /// In the name of a tick box. The element is the control's properties, or the form field's data, that have the name.
    Tick(Id),
}
