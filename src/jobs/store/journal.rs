//! The journal: job records in the durable index.
//!
//! Keys of a job: `job/<account>/<id>` holds the record, `live/<id>` marks what was started and has not
//! ended, so that a start after a crash reads what is unfinished and nothing else; `open/<account>/<id>` marks what
//! was initialized and not started (`accounts/open.rs`); `input/<id>/…` holds small inputs.
//! What `due.rs` and `idempotency.rs` write is explained there.

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};
use tokio::task::spawn_blocking;

use crate::accounts::open;
use crate::config::JobsConfig;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::registry::list::Listed;
use crate::jobs::store::expiry;
use crate::jobs::store::expiry::Retention;
use crate::jobs::store::inputs;
use crate::jobs::store::record::JobRecord;
use crate::storage::index::{Change, Entry, Index, IndexError};
use crate::storage::record;

/// The form of a job record that this version reads and writes.
const RECORD_VERSION: u8 = 1;
const LIVE_PREFIX: &str = "live/";
/// Entries read at a time.
const PAGE: usize = 1_000;

/// Reads and writes job records.
#[derive(Clone)]
pub struct Journal {
    index: Arc<dyn Index>,
    retention: Retention,
    ended: Arc<Mutex<()>>,
}

impl Journal {
    /// A journal in `index` that keeps things as long as `limits` say.
    #[must_use]
    pub fn new(index: Arc<dyn Index>, limits: &JobsConfig) -> Self {
        Self { index, retention: Retention::of(limits), ended: Arc::default() }
    }

    /// The index that it lies in.
    pub(in crate::jobs) fn index(&self) -> &dyn Index {
        self.index.as_ref()
    }

    /// Jobs that have ended have no actor: who changes or removes a record of one does it alone.
    pub(in crate::jobs) async fn lock_ended(&self) -> MutexGuard<'_, ()> {
        self.ended.lock().await
    }

    /// The batch that removes the record of a job that has ended, and what stands for it.
    pub(in crate::jobs) fn deletion(&self, record: &JobRecord) -> Change {
        let (account, job) = (record.account, record.id);
        let change = Change::new().delete(record_key(account, job)).delete(live_key(job));
        match self.retention.next(record) {
            Some((at, _)) => change.delete(expiry::key(at, account, job)),
            None => change,
        }
    }

    /// Writes a batch; durable when it answers.
    ///
    /// # Errors
    /// When the index fails: nothing is written then.
    pub(in crate::jobs) async fn apply(&self, change: Change) -> Result<(), IndexError> {
        self.index.commit(change).await
    }

    /// Writes the record, and `with` it, in one batch; durable when it answers.
    ///
    /// # Errors
    /// When the index fails: nothing is written then.
    pub async fn commit(&self, record: &JobRecord, with: Change) -> Result<(), IndexError> {
        self.index.commit(self.write_batch(record, with)?).await
    }

    /// Writes the record of a job that was queued, and nothing of what stands for it already, without waiting for the disk: a crash may
    /// lose it.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn write_unsynced(&self, record: &JobRecord) -> Result<(), IndexError> {
        let (key, record) = (record_key(record.account, record.id), record::encode(RECORD_VERSION, record)?);
        self.index.write_unsynced(Change::new().put(key, record)).await
    }

    /// The job of `account`, if it is there.
    ///
    /// # Errors
    /// When the index fails or the record cannot be read.
    pub async fn read(&self, account: AccountId, id: JobId) -> Result<Option<JobRecord>, IndexError> {
        let key = record_key(account, id);
        let bytes = self.index.get(&key).await?;
        bytes.map(|bytes| record::decode(RECORD_VERSION, &key, &bytes)).transpose()
    }

    /// The same, and none where the record cannot be read.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn readable(
        &self,
        account: AccountId,
        id: JobId,
    ) -> Result<Option<JobRecord>, IndexError> {
        let key = record_key(account, id);
        let bytes = self.index.get(&key).await?;
        Ok(bytes.and_then(|bytes| record::decode(RECORD_VERSION, &key, &bytes).ok()))
    }

    /// The ids of the account's jobs behind `after`; at most `limit`.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn ids(
        &self,
        account: AccountId,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<JobId>, IndexError> {
        let after = after.map(|id| record_key(account, id));
        let page = self.index.scan(&format!("job/{account}/"), after.as_deref(), limit).await?;
        Ok(page.iter().filter_map(|entry| entry.key.rsplit('/').next()?.parse().ok()).collect())
    }

    /// The bytes under a key of the journal's own.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn value(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        self.index.get(key).await
    }

    /// The newest jobs of `account` made before `before`, as their records say; at most `limit`.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn views(
        &self,
        account: AccountId,
        before: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Listed>, IndexError> {
        let before = before.map(|id| record_key(account, id));
        let page = self.index.scan_back(&format!("job/{account}/"), before.as_deref(), limit).await?;
        // Many records take too long to read for a thread that actors share.
        let views = spawn_blocking(move || page.iter().filter_map(listed).collect());
        views.await.map_err(|error| IndexError::Failed(error.to_string()))
    }

    /// The first entries of the journal's own whose keys begin with `prefix`.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn scan(&self, prefix: &str, limit: usize) -> Result<Vec<Entry>, IndexError> {
        self.index.scan(prefix, None, limit).await
    }

    /// As `scan`, beginning behind the key `after`.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn scan_behind(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        self.index.scan(prefix, after, limit).await
    }

    /// The last entry of the journal's own whose key begins with `prefix`.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn last(&self, prefix: &str) -> Result<Option<Entry>, IndexError> {
        Ok(self.index.scan_back(prefix, None, 1).await?.pop())
    }

    /// Changes entries of the journal's own without waiting for the disk.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::jobs) async fn change_unsynced(&self, change: Change) -> Result<(), IndexError> {
        self.index.write_unsynced(change).await
    }

    /// Everything that was started and has not ended, oldest first.
    ///
    /// # Errors
    /// When the index fails or a record cannot be read.
    pub async fn unfinished(&self) -> Result<Vec<JobRecord>, IndexError> {
        let mut records = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.index.scan(LIVE_PREFIX, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(records) };
            after = Some(last.key.clone());
            for mark in &page {
                let Some((account, id)) = parse_mark(mark) else { continue };
                match self.read(account, id).await {
                    Ok(record) => records.extend(record),
                    // One that nobody understands must not keep the service from starting.
                    Err(error) => {
                        tracing::error!(job.id = %id, error = %error, "a started job cannot be read; it stays as it is");
                    }
                }
            }
        }
    }

    /// The batch that writes `with`, and then the record and what stands for it.
    ///
    /// # Errors
    /// When the record cannot be written as bytes.
    pub(in crate::jobs) fn write_batch(
        &self,
        record: &JobRecord,
        with: Change,
    ) -> Result<Change, IndexError> {
        let (account, job) = (record.account, record.id);
        let mut change = with.put(record_key(account, job), record::encode(RECORD_VERSION, record)?);
        if record.state == JobState::Initialized {
            change = change.put(open::mark(account, job), []);
        } else {
            change = change.delete(expiry::key(self.retention.expires_at(record), account, job));
        }
        // From these three it may come; what runs, was queued.
        if matches!(record.state, JobState::Queued | JobState::Cancelled | JobState::Expired) {
            change = change.delete(open::mark(account, job));
        }
        if let Some((at, _)) = self.retention.next(record) {
            change = change.put(expiry::key(at, account, job), []);
        }
        Ok(match record.state {
            JobState::Initialized => change,
            JobState::Queued | JobState::Running => {
                change.put(live_key(job), account.to_string().into_bytes())
            }
            JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => {
                change.delete(live_key(job))
            }
        })
    }
}

/// The batch that removes a record that cannot be read, with what only it told of.
pub(in crate::jobs) fn unreadable_deletion(account: AccountId, job: JobId) -> Change {
    let change = Change::new().delete(record_key(account, job)).delete(live_key(job));
    inputs::keys(job).into_iter().fold(change, Change::delete)
}

/// One record that cannot be read must not hide the others from their owner.
fn listed(entry: &Entry) -> Option<Listed> {
    let id = entry.key.rsplit('/').next()?.parse().ok()?;
    let read = record::decode::<JobRecord>(RECORD_VERSION, &entry.key, &entry.value);
    let read = read.inspect_err(|error| tracing::error!(error = %error, "a list leaves a job out"));
    Some((id, read.ok().map(|record| record.view())))
}

fn record_key(account: AccountId, id: JobId) -> String {
    format!("job/{account}/{id}")
}

fn live_key(id: JobId) -> String {
    format!("{LIVE_PREFIX}{id}")
}

fn parse_mark(mark: &Entry) -> Option<(AccountId, JobId)> {
    let id = mark.key.strip_prefix(LIVE_PREFIX)?.parse().ok()?;
    Some((std::str::from_utf8(&mark.value).ok()?.parse().ok()?, id))
}
