//! The index: small records and counters under sorted keys, durable when a commit is answered.

mod engine;
mod export;
mod sled_index;
mod space;
mod value;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;

pub use export::ExportedPage;
pub use sled_index::SledIndex;
pub use value::Exported;

use crate::problem::Problem;

/// Longest key, in bytes.
pub const KEY_LIMIT_BYTES: usize = 160;
/// Largest value; anything larger belongs into the object store.
pub const VALUE_LIMIT_BYTES: usize = 4 << 20;

/// Why the index did not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum IndexError {
    /// Another process has it open.
    #[error("the data folder is in use by another platen ({}); stop it, or set storage.data_dir to another folder", .0.display())]
    InUse(PathBuf),
    /// It cannot be opened.
    #[error(
        "the index {} cannot be opened: {cause}. Stop every platen, then restore the folder from a backup, \
         or begin a new index with `platen index rebuild --discard-damaged` (templates come back, jobs, accounts and \
         tokens are lost with the old one)",
        path.display()
    )]
    Damaged {
        /// The folder of the index.
        path: PathBuf,
        /// What the database said.
        cause: String,
    },
    /// Too little space is left on its disk; it works again when there is more.
    #[error("the disk of the index {} is full ({cause}); free some space there", path.display())]
    Full {
        /// The folder of the index.
        path: PathBuf,
        /// How that shows.
        cause: String,
    },
    /// The key or the value is not one that the index takes.
    #[error("the index does not take the key '{key}': {cause}")]
    Refused {
        /// The key.
        key: String,
        /// What is wrong.
        cause: String,
    },
    /// The database failed; after a failed write it takes no more writes until the next start.
    #[error("the index failed: {0}. Look at its disk, then restart the service")]
    Failed(String),
    /// It was closed.
    #[error("the index is closed")]
    Closed,
}

/// A full disk passes; everything else is a fault of ours.
impl From<IndexError> for Problem {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Full { .. } => Self::disk_full(error),
            IndexError::InUse(_)
            | IndexError::Damaged { .. }
            | IndexError::Refused { .. }
            | IndexError::Failed(_)
            | IndexError::Closed => Self::internal(error),
        }
    }
}

/// What happens to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The key gets this value.
    Put(Vec<u8>),
    /// The key is deleted.
    Delete,
    /// The counter under the key moves by so much.
    Add(i64),
    /// Whatever was under the key, it is a counter of this number now.
    Count(i64),
    /// A value is put and counted on: no counter, so none of the change is applied.
    AddToValue,
}

/// Steps that are applied all together or not at all, with the result that they had one after the other.
/// Each key has one step: a later put or delete replaces an earlier step, an addition goes on from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct WriteBatch {
    pub(crate) steps: BTreeMap<String, Step>,
}

impl WriteBatch {
    /// A change of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// And `key` gets `value`.
    pub fn put(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.steps.insert(key.into(), Step::Put(value.into()));
        self
    }

    /// And `key` goes; that it is not there is no error.
    pub fn delete(mut self, key: impl Into<String>) -> Self {
        self.steps.insert(key.into(), Step::Delete);
        self
    }

    /// And the counter `key` moves by `delta`. The index adds when it writes, so additions of
    /// several changes may come in any order. A counter that was never written is zero.
    pub fn add(mut self, key: impl Into<String>, delta: i64) -> Self {
        let key = key.into();
        let step = match self.steps.get(&key) {
            None => Step::Add(delta),
            Some(Step::Add(before)) => Step::Add(before.saturating_add(delta)),
            Some(Step::Delete) => Step::Count(delta),
            Some(Step::Count(before)) => Step::Count(before.saturating_add(delta)),
            Some(Step::Put(_) | Step::AddToValue) => Step::AddToValue,
        };
        self.steps.insert(key, step);
        self
    }

    /// And everything that `other` does.
    pub fn and(mut self, other: Self) -> Self {
        for (key, step) in other.steps {
            self = match step {
                Step::Put(value) => self.put(key, value),
                Step::Delete => self.delete(key),
                Step::Add(delta) => self.add(key, delta),
                Step::Count(number) => self.delete(key.clone()).add(key, number),
                Step::AddToValue => self.put(key.clone(), []).add(key, 0),
            };
        }
        self
    }

    /// The keys that get a value.
    pub fn puts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter(|(_, step)| matches!(step, Step::Put(_))).map(|(key, _)| key.as_str())
    }

    /// Bytes of the keys and values that it writes.
    pub(super) fn bytes(&self) -> u64 {
        let length = |(key, step): (&String, &Step)| {
            let value = if let Step::Put(value) = step { value.len() } else { 0 };
            (key.len() + value) as u64
        };
        self.steps.iter().map(length).sum()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// A key with its value. A counter's value are the eight bytes of its number, least first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
}

/// Entries that [`scan_all`] reads at a time.
const PAGE: usize = 1_000;

/// Every entry whose key begins with `prefix`, for what is kept in memory anyway.
///
/// # Errors
/// As [`Index::scan`].
pub async fn scan_all(index: &dyn Index, prefix: &str) -> Result<Vec<Entry>, IndexError> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let page = index.scan(prefix, entries.last().map(|entry| entry.key.as_str()), PAGE).await?;
        if page.is_empty() {
            return Ok(entries);
        }
        entries.extend(page);
    }
}

/// One sorted space of keys. Reading sees a change as soon as it is applied, which may be a moment
/// before it is durable.
#[async_trait]
pub trait Index: Send + Sync {
    /// Applies the change; it is durable when this answers `Ok`.
    async fn commit(&self, change: WriteBatch) -> Result<(), IndexError>;

    /// Applies the change after those before it without waiting for the disk: a crash of the
    /// machine may lose it, but never it alone while a later commit stays.
    async fn write_unsynced(&self, change: WriteBatch) -> Result<(), IndexError>;

    /// Everything that can be seen now is durable when this answers.
    async fn sync(&self) -> Result<(), IndexError>;

    /// The value of a key.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError>;

    /// At most `limit` entries whose keys begin with `prefix`, in the order of the keys, beginning
    /// behind the key `after`.
    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError>;

    /// As `scan` from the last key back, beginning before the key `before`.
    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError>;

    /// The number a counter stands at; zero when it was never written.
    async fn counter(&self, key: &str) -> Result<i64, IndexError>;

    /// Writes what waits and lets go of the files; everything after it is answered `Closed`.
    async fn close(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_of_a_key_counts_and_an_addition_goes_on_from_it() {
        let step = |change: WriteBatch| change.steps["n"].clone();
        assert_eq!(step(WriteBatch::new().put("n", "1").delete("n")), Step::Delete);
        assert_eq!(step(WriteBatch::new().add("n", 2).and(WriteBatch::new().add("n", -5))), Step::Add(-3));
        let begun_anew = WriteBatch::new().add("n", 7).delete("n").add("n", 2);
        assert_eq!(step(begun_anew.clone()), Step::Count(2));
        assert_eq!(step(WriteBatch::new().add("n", 9).and(begun_anew.clone())), Step::Count(2));
        assert_eq!(step(begun_anew.clone().and(WriteBatch::new().add("n", 3))), Step::Count(5));
        assert_eq!(step(begun_anew.put("n", "1")), Step::Put(b"1".to_vec()));
        let no_counter = WriteBatch::new().put("n", "1").and(WriteBatch::new().add("n", 1));
        assert_eq!(step(no_counter.clone()), Step::AddToValue);
        assert_eq!(step(WriteBatch::new().delete("n").and(no_counter.clone())), Step::AddToValue);
        assert_eq!(step(no_counter.delete("n")), Step::Delete);
    }
}
