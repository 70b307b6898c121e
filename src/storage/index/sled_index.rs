//! The index on sled: one writer that commits in groups, with concurrent readers.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use parking_lot::Mutex;
use sled::{Db, IVec};
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};

use super::database::{Database, WriteRequest};
use super::{Entry, Index, IndexError, KeyWrite, WriteBatch, value};
use crate::config::{StorageConfig, as_count};
#[cfg(debug_assertions)]
use crate::failpoint::{Step, meet};
use crate::telemetry::Histogram;
use crate::telemetry::IndexMetrics;
use crate::telemetry::metrics::Metrics;

/// Most batches made durable together: enough to use the disk well, and a bound for a batch.
const GROUP_LIMIT: usize = 256;

/// An index in a folder of its own.
pub struct SledIndex {
    metrics: IndexMetrics,
    open: Mutex<Option<Open>>,
    writer: AsyncMutex<Option<JoinHandle<()>>>,
}

/// The parts that exist until it is closed.
#[derive(Clone)]
struct Open {
    database: Arc<Database>,
    queue: mpsc::Sender<WriteRequest>,
}

impl SledIndex {
    /// Opens the index in the folder `path`, or makes it. Only one process can have it open.
    ///
    /// # Errors
    /// `InUse` or `Damaged`.
    pub async fn open(path: &Path, config: &StorageConfig) -> Result<Self, IndexError> {
        Self::open_counted(path, config, Metrics::new().index).await
    }

    /// As `open`, with its writes counted in `metrics`.
    ///
    /// # Errors
    /// `InUse` or `Damaged`.
    pub async fn open_counted(
        path: &Path,
        config: &StorageConfig,
        metrics: IndexMetrics,
    ) -> Result<Self, IndexError> {
        let (folder, options) = (path.to_owned(), config.clone());
        let database = spawn_blocking(move || Database::open(&folder, &options))
            .await
            .map_err(|error| IndexError::Failed(error.to_string()))??;
        let database = Arc::new(database);
        let limit = as_count(config.index_queue_limit);
        let (queue, requests) = mpsc::channel(limit.min(tokio::sync::Semaphore::MAX_PERMITS));
        let writer = tokio::spawn(write(Arc::clone(&database), requests, metrics.batch.clone()));
        let (open, writer) = (Mutex::new(Some(Open { database, queue })), AsyncMutex::new(Some(writer)));
        Ok(Self { metrics, open, writer })
    }

    fn opened(&self) -> Result<Open, IndexError> {
        self.open.lock().clone().ok_or(IndexError::Closed)
    }

    async fn submit(&self, batch: WriteBatch, durable: bool) -> Result<(), IndexError> {
        check(&batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        let since = Instant::now();
        let written = self.write(batch, durable);
        #[cfg(debug_assertions)]
        let written = self.between_fail_points(written, durable);
        let written = written.await;
        self.metrics.commits.of([if durable { "durable" } else { "unsynced" }]).inc();
        match &written {
            Ok(()) if durable => self.metrics.seconds.observe(since.elapsed().as_secs_f64()),
            Ok(()) => {}
            Err(_) => drop(self.metrics.errors.inc()),
        }
        written
    }

    async fn write(&self, batch: WriteBatch, durable: bool) -> Result<(), IndexError> {
        let (answer, answered) = oneshot::channel();
        let queue = self.opened()?.queue;
        let request = WriteRequest { batch, durable, answer };
        queue.send(request).await.map_err(|_| IndexError::Closed)?;
        drop(queue);
        answered.await.unwrap_or_else(|_| Err(IndexError::Failed("the writer ended".to_owned())))
    }

    pub(super) fn database(&self) -> Result<Arc<Database>, IndexError> {
        Ok(self.opened()?.database)
    }

    /// Reads on a blocking thread.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        reading: impl FnOnce(&Database) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexError> {
        let database = self.database()?;
        let read = spawn_blocking(move || reading(&database)).await;
        read.unwrap_or_else(|error| Err(IndexError::Failed(error.to_string())))
    }
}

#[cfg(debug_assertions)]
impl SledIndex {
    /// A write between two fail points, for tests: a disk that is full before it has no space to allocate, one that is full
    /// after it cannot be synced.
    async fn between_fail_points(
        &self,
        written: impl Future<Output = Result<(), IndexError>> + Send,
        durable: bool,
    ) -> Result<(), IndexError> {
        let database = self.database()?;
        meet(Step::Index).await.map_err(|error| database.refused(&error))?;
        let written = written.await;
        match meet(Step::Index).await {
            Err(error) if durable => Err(IndexError::Failed(database.not_synced(&error))),
            Ok(()) | Err(_) => written,
        }
    }
}

#[async_trait]
impl Index for SledIndex {
    async fn commit(&self, batch: WriteBatch) -> Result<(), IndexError> {
        self.submit(batch, true).await
    }

    async fn write_unsynced(&self, batch: WriteBatch) -> Result<(), IndexError> {
        self.submit(batch, false).await
    }

    async fn sync(&self) -> Result<(), IndexError> {
        self.write(WriteBatch::new(), true).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        let key = key.to_owned();
        self.read(move |database| value::get(&database.db, &key)).await
    }

    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        let last = behind(prefix);
        let first = match after.map(str::as_bytes) {
            Some(key) if key >= last.as_slice() => return Ok(Vec::new()),
            Some(key) if key >= prefix.as_bytes() => Bound::Excluded(key.to_vec()),
            Some(_) | None => Bound::Included(prefix.as_bytes().to_vec()),
        };
        let range = (first, Bound::Excluded(last));
        self.read(move |database| collect(&database.db, database.db.range::<Vec<u8>, _>(range), limit)).await
    }

    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        let first = prefix.as_bytes().to_vec();
        let last = before.map_or_else(|| behind(prefix), |key| key.as_bytes().to_vec().min(behind(prefix)));
        if last <= first {
            return Ok(Vec::new());
        }
        self.read(move |database| {
            collect(&database.db, database.db.range::<Vec<u8>, _>(first..last).rev(), limit)
        })
        .await
    }

    async fn counter(&self, key: &str) -> Result<i64, IndexError> {
        let key = key.to_owned();
        self.read(move |database| value::counter(&database.db, &key)).await
    }

    async fn close(&self) {
        drop(self.open.lock().take());
        if let Some(writer) = self.writer.lock().await.take()
            && let Err(error) = writer.await
        {
            tracing::error!(%error, "the index' writer failed");
        }
    }
}

/// The writer: makes all waiting requests durable as one group, and repeats until the index is closed.
async fn write(database: Arc<Database>, mut requests: mpsc::Receiver<WriteRequest>, batch: Histogram) {
    let mut group = Vec::new();
    while requests.recv_many(&mut group, GROUP_LIMIT).await > 0 {
        batch.observe(f64::from(u32::try_from(group.len()).unwrap_or(u32::MAX)));
        let (database, taken) = (Arc::clone(&database), std::mem::take(&mut group));
        let writing = Arc::clone(&database);
        if let Err(error) = spawn_blocking(move || writing.write(taken)).await {
            database.give_up(error.to_string());
        }
    }
    // sled writes to the disk when its last handle is dropped.
    if let Err(error) = spawn_blocking(move || drop(database)).await {
        tracing::error!(%error, "the index failed when it was closed");
    }
}

fn check(batch: &WriteBatch) -> Result<(), IndexError> {
    for (key, step) in &batch.steps {
        value::check_key(key)?;
        if let KeyWrite::Put(bytes) = step {
            value::check_value(key, bytes)?;
        }
    }
    Ok(())
}

/// An upper bound of all keys that begin with `prefix`: keys are ASCII, so none has the byte 0xff.
fn behind(prefix: &str) -> Vec<u8> {
    [prefix.as_bytes(), &[0xff]].concat()
}

fn collect(
    db: &Db,
    found: impl Iterator<Item = sled::Result<(IVec, IVec)>>,
    limit: usize,
) -> Result<Vec<Entry>, IndexError> {
    let mut entries = Vec::new();
    for pair in found {
        if entries.len() == limit {
            break;
        }
        let (key, stored) = pair.map_err(value::failed)?;
        // Keys of the index itself, such as pieces of split values.
        if key.first() == Some(&b'~') {
            continue;
        }
        let key = String::from_utf8_lossy(&key).into_owned();
        // A split value that was replaced during the scan is read again; a deleted one is left out.
        let value = match value::assemble(db, &key, &stored)? {
            Some(value) => Some(value),
            None => value::get(db, &key)?,
        };
        entries.extend(value.map(|value| Entry { key, value }));
    }
    Ok(entries)
}
