//! What one text may cost, and what is said of one that costs more.

/// So much of a text is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of HTML.
    pub bytes: usize,
    /// Elements, also those that the parser adds.
    pub elements: usize,
    /// Elements within elements. The parser looks through all open elements at every tag, so this also bounds its time.
    pub depth: usize,
    /// Tables within tables; deeper ones are written as their texts alone.
    pub table_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 << 20, elements: 200_000, depth: 256, table_depth: 8 }
    }
}

/// Why a text is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is too long.
    #[error(
        "the HTML has {bytes} bytes, more than the {limit} allowed; shorten it or keep its pictures apart from it"
    )]
    Bytes {
        /// Of this one.
        bytes: usize,
        /// Allowed.
        limit: usize,
    },
    /// It has too many elements.
    #[error("the HTML has more than the {limit} elements allowed; divide it into several texts")]
    Elements {
        /// Allowed.
        limit: usize,
    },
    /// Its elements stand too deep in each other.
    #[error(
        "the HTML has elements within elements more than {limit} deep; look for tags that are never closed"
    )]
    Depth {
        /// Allowed.
        limit: usize,
    },
}
