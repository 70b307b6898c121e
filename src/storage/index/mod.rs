//! The index: small records and counters under sorted keys, durable when a commit returns.
//!
//! Others see [`Index`], [`WriteBatch`] and the page readers only; `app`, `cli` and `backup` open a [`SledIndex`]. Nothing
//! outside of this folder names sled.

mod database;
mod export;
pub mod paging;
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
/// Largest value; anything larger belongs in the object store.
pub const VALUE_LIMIT_BYTES: usize = 4 << 20;

/// An error of the index.
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
    /// The key or the value is invalid.
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

impl IndexError {
    /// Whether nothing of a refused batch was written. Of one that failed the next start may find it written.
    pub fn left_nothing(&self) -> bool {
        match self {
            Self::InUse(_)
            | Self::Damaged { .. }
            | Self::Full { .. }
            | Self::Refused { .. }
            | Self::Closed => true,
            Self::Failed(_) => false,
        }
    }
}

/// A full disk is temporary; everything else is an internal error.
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

/// The write to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyWrite {
    /// The key gets this value.
    Put(Vec<u8>),
    /// The key is deleted.
    Delete,
    /// This is added to the counter under the key.
    Add(i64),
    /// The key becomes a counter with this number, whatever it was.
    Count(i64),
    /// An addition to a value that is not a counter: the whole batch fails.
    AddToValue,
}

/// Writes that are applied all or none, with the same result as one after the other. Each key has one step: a later put or
/// delete replaces an earlier step, an addition is merged into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct WriteBatch {
    pub(crate) steps: BTreeMap<String, KeyWrite>,
}

impl WriteBatch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `key` to `value`.
    pub fn put(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.steps.insert(key.into(), KeyWrite::Put(value.into()));
        self
    }

    /// Deletes `key`; a missing one is not an error.
    pub fn delete(mut self, key: impl Into<String>) -> Self {
        self.steps.insert(key.into(), KeyWrite::Delete);
        self
    }

    /// Adds `delta` to the counter `key`. The index adds when it writes, so several batches may add in any order. A counter
    /// that was never written is zero.
    pub fn add(mut self, key: impl Into<String>, delta: i64) -> Self {
        let key = key.into();
        let step = match self.steps.get(&key) {
            None => KeyWrite::Add(delta),
            Some(KeyWrite::Add(before)) => KeyWrite::Add(before.saturating_add(delta)),
            Some(KeyWrite::Delete) => KeyWrite::Count(delta),
            Some(KeyWrite::Count(before)) => KeyWrite::Count(before.saturating_add(delta)),
            Some(KeyWrite::Put(_) | KeyWrite::AddToValue) => KeyWrite::AddToValue,
        };
        self.steps.insert(key, step);
        self
    }

    /// Appends all writes of `other`.
    pub fn and(mut self, other: Self) -> Self {
        for (key, step) in other.steps {
            self = match step {
                KeyWrite::Put(value) => self.put(key, value),
                KeyWrite::Delete => self.delete(key),
                KeyWrite::Add(delta) => self.add(key, delta),
                KeyWrite::Count(number) => self.delete(key.clone()).add(key, number),
                KeyWrite::AddToValue => self.put(key.clone(), []).add(key, 0),
            };
        }
        self
    }

    /// The keys that get a value.
    pub fn puts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter(|(_, step)| matches!(step, KeyWrite::Put(_))).map(|(key, _)| key.as_str())
    }

    /// Bytes of the keys and values that it writes.
    pub(super) fn bytes(&self) -> u64 {
        let length = |(key, step): (&String, &KeyWrite)| {
            let value = if let KeyWrite::Put(value) = step { value.len() } else { 0 };
            (key.len() + value) as u64
        };
        self.steps.iter().map(length).sum()
    }

    /// Whether it writes nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// A key with its value. A counter's value is its number in eight bytes, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
}

/// Entries of one page of [`Pages`].
const PAGE: usize = 1_000;

/// The entries whose keys begin with a prefix, page by page. Deletions between two pages do not hide other entries.
pub struct Pages<'a> {
    index: &'a dyn Index,
    prefix: &'a str,
    after: Option<String>,
}

impl<'a> Pages<'a> {
    /// The pages of `prefix`, from the first one.
    pub fn of(index: &'a dyn Index, prefix: &'a str) -> Self {
        Self { index, prefix, after: None }
    }

    /// The next page, in the order of the keys; `None` at the end.
    ///
    /// # Errors
    /// As [`Index::scan`].
    pub async fn next(&mut self) -> Result<Option<Vec<Entry>>, IndexError> {
        let page = self.index.scan(self.prefix, self.after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = Some(last.key.clone());
        Ok(Some(page))
    }
}

/// Every entry whose key begins with `prefix`. Only for prefixes whose entries fit into memory.
///
/// # Errors
/// As [`Index::scan`].
pub async fn scan_all(index: &dyn Index, prefix: &str) -> Result<Vec<Entry>, IndexError> {
    let (mut entries, mut pages) = (Vec::new(), Pages::of(index, prefix));
    while let Some(page) = pages.next().await? {
        entries.extend(page);
    }
    Ok(entries)
}

/// One sorted key space. Readers see a batch as soon as it is applied, which may be a moment before it is durable.
#[async_trait]
pub trait Index: Send + Sync {
    /// Applies the batch; it is durable when this returns `Ok`.
    async fn commit(&self, batch: WriteBatch) -> Result<(), IndexError>;

    /// Applies the batch in order, without waiting for the disk. A crash of the machine, or of the service within sled's flush
    /// interval (500 ms), may lose it, but then also every later one.
    async fn write_unsynced(&self, batch: WriteBatch) -> Result<(), IndexError>;

    /// When this returns, everything that readers saw at its call is durable.
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

    /// The number of a counter; zero if it was never written.
    async fn counter(&self, key: &str) -> Result<i64, IndexError>;

    /// Writes pending batches and closes the files; later calls fail with `Closed`.
    async fn close(&self);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_last_step_of_a_key_counts_and_additions_are_merged() {
        let step = |batch: WriteBatch| batch.steps["n"].clone();
        assert_eq!(step(WriteBatch::new().put("n", "1").delete("n")), KeyWrite::Delete);
        assert_eq!(
            step(WriteBatch::new().add("n", 2).and(WriteBatch::new().add("n", -5))),
            KeyWrite::Add(-3)
        );
        let begun_anew = WriteBatch::new().add("n", 7).delete("n").add("n", 2);
        assert_eq!(step(begun_anew.clone()), KeyWrite::Count(2));
        assert_eq!(step(WriteBatch::new().add("n", 9).and(begun_anew.clone())), KeyWrite::Count(2));
        assert_eq!(step(begun_anew.clone().and(WriteBatch::new().add("n", 3))), KeyWrite::Count(5));
        assert_eq!(step(begun_anew.put("n", "1")), KeyWrite::Put(b"1".to_vec()));
        let no_counter = WriteBatch::new().put("n", "1").and(WriteBatch::new().add("n", 1));
        assert_eq!(step(no_counter.clone()), KeyWrite::AddToValue);
        assert_eq!(step(WriteBatch::new().delete("n").and(no_counter.clone())), KeyWrite::AddToValue);
        assert_eq!(step(no_counter.delete("n")), KeyWrite::Delete);
    }

    #[tokio::test]
    async fn deletions_between_two_pages_hide_no_other_entry() {
        let folder = tempfile::tempdir().unwrap();
        let index = SledIndex::open(folder.path(), &Config::default().storage).await.unwrap();
        let keys: Vec<_> = (0..=2 * PAGE).map(|number| format!("page/{number:05}")).collect();
        let all = keys.iter().fold(WriteBatch::new(), |batch, key| batch.put(key.as_str(), "x"));
        index.commit(all.put("pagf", "another prefix")).await.unwrap();
        let (mut found, mut pages) = (Vec::new(), Pages::of(&index, "page/"));
        while let Some(page) = pages.next().await.unwrap() {
            let stale = page.iter().step_by(2).map(|entry| entry.key.as_str());
            index.commit(stale.fold(WriteBatch::new(), WriteBatch::delete)).await.unwrap();
            found.extend(page.into_iter().map(|entry| entry.key));
        }
        assert!(found == keys, "{} of {} were found", found.len(), keys.len());
        assert_eq!(scan_all(&index, "page/").await.unwrap().len(), PAGE);
        index.close().await;
    }
}
