//! One list that another program makes between two runs of TeX, and where it is looked for.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use tex_log::Report;

use super::folder::Folder;
use crate::workers::Finished;

/// The longest file that a list is made of, and the longest list that is looked into.
pub(super) const LIST_BYTES: u64 = 16 << 20;

/// A program that makes lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Bibtex,
    Biber,
    Makeindex,
}

/// A list to be made.
#[derive(Debug)]
pub(super) struct List {
    pub maker: Maker,
    pub arguments: Vec<String>,
    /// The file that it is written into.
    pub name: String,
    /// What it is made of, as far as that matters; the same number for the same.
    pub input: u64,
}

/// Where lists are looked for: what a run of TeX has left.
pub(super) struct RunOutput<'r> {
    pub folder: &'r Folder<'r>,
    pub finished: &'r Finished,
    pub report: &'r Report,
    /// The main `.aux`.
    pub aux: &'r [u8],
}

impl RunOutput<'_> {
    /// A file in the folder of the job; an empty one where there is none, or none that can be taken.
    pub async fn file(&self, name: &str) -> Bytes {
        self.finished.read(name, LIST_BYTES).await.unwrap_or_default()
    }
}

/// The number that stands for these bytes.
pub(super) fn digest<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.into_iter().for_each(|part| part.hash(&mut hasher));
    hasher.finish()
}
