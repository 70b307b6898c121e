//! The index: small records and counters under sorted keys, durable when a commit is answered.

mod engine;
mod sled_index;
mod value;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;

pub use sled_index::SledIndex;

/// Longest key, in bytes.
pub const KEY_LIMIT_BYTES: usize = 160;
/// Largest value; anything larger belongs into the object store.
pub const VALUE_LIMIT_BYTES: usize = 4 << 20;

/// Why the index did not do what was asked.
#[derive(Debug, thiserror::Error)]
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
    #[error(
        "less than {limit_bytes} bytes are free on the disk of {}; free some, or lower storage.free_limit_bytes",
        path.display()
    )]
    Full {
        /// The folder of the index.
        path: PathBuf,
        /// How much must stay free.
        limit_bytes: u64,
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

/// What happens to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The key gets this value.
    Put(Vec<u8>),
    /// The key goes.
    Delete,
    /// The counter under the key moves by so much.
    Add(i64),
}

/// Steps that are applied all together or not at all. Each key has one step: a later put or delete
/// replaces an earlier step, additions add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Change {
    pub(crate) steps: BTreeMap<String, Step>,
}

impl Change {
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
        let before = match self.steps.get(&key) {
            Some(Step::Add(before)) => *before,
            Some(Step::Put(_) | Step::Delete) | None => 0,
        };
        self.steps.insert(key, Step::Add(before.saturating_add(delta)));
        self
    }

    /// And everything that `other` does.
    pub fn and(mut self, other: Self) -> Self {
        for (key, step) in other.steps {
            self = match step {
                Step::Put(value) => self.put(key, value),
                Step::Delete => self.delete(key),
                Step::Add(delta) => self.add(key, delta),
            };
        }
        self
    }

    /// The keys that get a value.
    pub fn puts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter(|(_, step)| matches!(step, Step::Put(_))).map(|(key, _)| key.as_str())
    }

    /// Whether it changes nothing.
    #[must_use]
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

/// One sorted space of keys. Reading sees a change as soon as it is applied, which may be a moment
/// before it is durable.
#[async_trait]
pub trait Index: Send + Sync {
    /// Applies the change; it is durable when this answers `Ok`.
    ///
    /// # Errors
    /// `Full`, `Refused`, `Failed` or `Closed`; the change is not answered for then.
    async fn commit(&self, change: Change) -> Result<(), IndexError>;

    /// Applies the change after those before it without waiting for the disk: a crash of the
    /// machine may lose it, but never it alone while a later commit stays.
    ///
    /// # Errors
    /// As for `commit`.
    async fn write_unsynced(&self, change: Change) -> Result<(), IndexError>;

    /// Everything that can be seen now is durable when this answers.
    ///
    /// # Errors
    /// `Full`, `Failed` or `Closed`.
    async fn sync(&self) -> Result<(), IndexError>;

    /// The value of a key.
    ///
    /// # Errors
    /// `Failed` or `Closed`.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError>;

    /// At most `limit` entries whose keys begin with `prefix`, in the order of the keys, beginning
    /// behind the key `after`.
    ///
    /// # Errors
    /// `Failed` or `Closed`.
    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError>;

    /// As `scan` from the last key back, beginning before the key `before`.
    ///
    /// # Errors
    /// `Failed` or `Closed`.
    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError>;

    /// The number a counter stands at; zero when it was never written.
    ///
    /// # Errors
    /// `Failed` or `Closed`.
    async fn counter(&self, key: &str) -> Result<i64, IndexError>;

    /// Writes what waits and lets go of the files; everything after it is answered `Closed`.
    async fn close(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_of_a_key_counts_and_additions_add_up() {
        let change = Change::new().put("a", "1").delete("a").add("n", 2).and(Change::new().add("n", -5));
        let expected = [("a".to_owned(), Step::Delete), ("n".to_owned(), Step::Add(-3))];
        assert_eq!(change.steps, BTreeMap::from(expected));
    }
}
