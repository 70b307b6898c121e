//! The real index on a disk that a test can declare full.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use platen::storage::index::{Entry, Index, IndexError, WriteBatch};

/// Refuses writes while `is_full`; reads go on.
pub struct FullIndex {
    pub index: Arc<dyn Index>,
    pub is_full: Arc<AtomicBool>,
}

impl FullIndex {
    fn check(&self) -> Result<(), IndexError> {
        if !self.is_full.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(IndexError::Full { path: PathBuf::from("/full"), cause: "a test says so".to_owned() })
    }
}

#[async_trait]
impl Index for FullIndex {
    async fn commit(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.check()?;
        self.index.commit(change).await
    }

    async fn write_unsynced(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.check()?;
        self.index.write_unsynced(change).await
    }

    async fn sync(&self) -> Result<(), IndexError> {
        self.index.sync().await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        self.index.get(key).await
    }

    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        self.index.scan(prefix, after, limit).await
    }

    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        self.index.scan_back(prefix, before, limit).await
    }

    async fn counter(&self, key: &str) -> Result<i64, IndexError> {
        self.index.counter(key).await
    }

    async fn close(&self) {
        self.index.close().await;
    }
}
