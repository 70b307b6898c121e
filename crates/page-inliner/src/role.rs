//! What files are to a page.

/// What a page wants of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The rules of a style sheet.
    Sheet,
    /// A picture to be shown.
    Picture,
    /// A font to be drawn with.
    Font,
}
