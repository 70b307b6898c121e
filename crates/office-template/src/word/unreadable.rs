//! Why a part cannot be read.

use quick_xml::Reader;

use crate::limits::Limit;

/// Why a part cannot be read.
pub(crate) enum Unreadable {
    /// What is wrong with its XML.
    Xml(String),
    /// It passes a limit; the text is for a message, behind the part's name.
    Limit(Limit, &'static str),
}

/// The error for XML that the parser refuses.
pub(super) fn broken(reader: &Reader<&[u8]>, error: &quick_xml::Error) -> Unreadable {
    Unreadable::Xml(format!("its XML is broken at byte {} ({error})", reader.error_position()))
}

/// How far it was read, in bytes.
pub(super) fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}
