//! Marks in a part for what can be written only when the part is complete.

/// What is done at a mark.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// Colour something; six hexadecimal digits.
    Colour(String, Coloured),
    /// Put a table of contents with this many levels.
    Contents(u8),
}

/// What is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coloured {
    /// The text behind the mark in its paragraph.
    Text,
    /// The cell around.
    Cell,
    /// All cells of the row around.
    Row,
}
