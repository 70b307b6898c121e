//! The files of one template, as the assembler reads them and the page's origin serves them.

use std::collections::BTreeMap;

use bytes::Bytes;

/// The files of one template by their path (`index.html`, `assets/logo.png`: relative, `/` between
/// segments, no `.` or `..`). Cloning shares the bytes.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The path of the entry, the page itself.
    pub entry: String,
    /// Every file, the entry included.
    pub files: BTreeMap<String, Bytes>,
}

impl Site {
    /// A site of one file.
    #[must_use]
    pub fn single(entry: &str, content: Bytes) -> Self {
        Self { entry: entry.to_owned(), files: BTreeMap::from([(entry.to_owned(), content)]) }
    }

    /// Whether there is anything beside the entry.
    #[must_use]
    pub fn has_assets(&self) -> bool {
        self.files.len() > 1
    }
}
