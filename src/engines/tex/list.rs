//! One list that another program makes between two runs of TeX, and the files in which it is found.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use tex_log::Report;

use super::folder::Folder;
use crate::workers::Finished;

/// The longest input of a list, and the longest list, that is read.
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
    /// A hash of its input: the list is made again when this changes.
    pub input: u64,
}

/// The output of a run of TeX, in which lists are searched.
pub(super) struct RunOutput<'r> {
    pub folder: &'r Folder<'r>,
    pub finished: &'r Finished,
    pub report: &'r Report,
    /// The main `.aux`.
    pub aux: &'r [u8],
}

impl RunOutput<'_> {
    /// A file in the folder of the job; empty where it is missing or cannot be read.
    pub async fn file(&self, name: &str) -> Bytes {
        self.finished.read(name, LIST_BYTES).await.unwrap_or_default()
    }
}

/// A hash of these parts.
pub(super) fn digest<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.into_iter().for_each(|part| part.hash(&mut hasher));
    hasher.finish()
}
