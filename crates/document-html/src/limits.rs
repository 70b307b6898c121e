//! What one document may cost, and what is said of one that costs more.

/// So much of a document is read and written.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of one part of the package, unpacked; all parts together may have four times as many.
    pub part_bytes: u64,
    /// Elements and texts of one part.
    pub nodes: u32,
    /// Elements within elements. Whatever walks a document goes down by recursion, so this also bounds its stack.
    pub depth: usize,
    /// Bytes of the HTML, its pictures in base64 among them.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { part_bytes: 256 << 20, nodes: 2_000_000, depth: 200, output_bytes: 256 << 20 }
    }
}

/// Why a document does not become HTML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no package of the kind, or lacks a part, or one is no XML.
    #[error("the document cannot be read as OpenDocument: {0}")]
    Package(String),
    /// A part unpacks to more than is read.
    #[error("the document's part '{name}' has more than the {limit} bytes that html is made of")]
    Part {
        /// Its name in the package.
        name: String,
        /// Allowed.
        limit: u64,
    },
    /// Its parts together unpack to more than is read.
    #[error("the document's parts have more than the {limit} bytes together that html is made of")]
    Parts {
        /// Allowed.
        limit: u64,
    },
    /// It has too many elements and texts.
    #[error("the document's part '{name}' has more than the {limit} elements and texts that html is made of")]
    Nodes {
        /// The part's name in the package.
        name: String,
        /// Allowed.
        limit: u32,
    },
    /// Its elements stand too deep in each other.
    #[error("the document has tables, lists or frames within each other more than {limit} deep")]
    Depth {
        /// Allowed.
        limit: usize,
    },
    /// The HTML would be too long.
    #[error("the HTML of the document has more than the {limit} bytes allowed; its pictures count with it")]
    Output {
        /// Allowed.
        limit: usize,
    },
}
