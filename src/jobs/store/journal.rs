//! The journal: job records in the durable index.
//!
//! `job/<account>/<id>` holds the record. `live/<id>` marks a job that was started and has not ended: a start after a crash
//! reads these and no other job. `open/<account>/<id>` marks one that is initialized and not started (`accounts/open_jobs.rs`).
//! `input/<id>/…` holds small inputs. `expiry.rs` and `idempotency.rs` explain their own keys.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::spawn_blocking;

use crate::accounts::open_jobs;
use crate::config::JobsConfig;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::messages::InputPart;
use crate::jobs::store::expiry::{self, Retention};
use crate::jobs::store::inputs;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::pipeline::InlineInputs;
use crate::storage::deletion_log::{self, PendingDeletion};
use crate::storage::index::{Entry, Index, IndexError, Pages, WriteBatch};
use crate::storage::{ObjectStore, UploadStaging, record};

/// The form of a job record that this version reads and writes.
const RECORD_VERSION: u8 = 1;
const LIVE_PREFIX: &str = "live/";

/// A job of a list; without a view where its record cannot be read.
pub(in crate::jobs) type ListedJob = (JobId, Option<JobView>);

/// Reads and writes job records. Clones share the lock.
#[derive(Clone)]
pub struct Journal {
    index: Arc<dyn Index>,
    retention: Retention,
    ended: Arc<Mutex<()>>,
}

impl Journal {
    /// A journal in `index`, which writes for each job when it expires by `limits`.
    pub fn new(index: Arc<dyn Index>, limits: &JobsConfig) -> Self {
        Self { index, retention: Retention::of(limits), ended: Arc::default() }
    }

    /// The index itself, for what is no record: marks, keys of callers, batches.
    pub(in crate::jobs) fn index(&self) -> &dyn Index {
        self.index.as_ref()
    }

    /// Locks the records of all ended jobs.
    ///
    /// Hazard: an ended job has no actor, so its owner's delete, the sweeper and the deletion of an account may change one
    /// record at once, and a record written after its deletion would come back. Whoever reads such a record in order to
    /// change it holds this lock from the read to the write.
    pub(in crate::jobs) async fn lock_ended(&self) -> MutexGuard<'_, ()> {
        self.ended.lock().await
    }

    /// Writes the record, and `with` it, in one batch; durable when it answers.
    ///
    /// # Errors
    /// When the index fails; [`IndexError::left_nothing`] says whether nothing is written then.
    pub async fn commit(&self, record: &JobRecord, with: WriteBatch) -> Result<(), IndexError> {
        self.index.commit(self.write_batch(record, with)?).await
    }

    /// Writes the record of a job that stays between start and end, without waiting for the disk: a crash may lose it.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn write_unsynced(&self, record: &JobRecord) -> Result<(), IndexError> {
        let (key, record) = (record_key(record.account, record.id), record::encode(RECORD_VERSION, record)?);
        self.index.write_unsynced(WriteBatch::new().put(key, record)).await
    }

    /// The record of the account's job, if there is one.
    ///
    /// # Errors
    /// When the index fails or the record cannot be read.
    pub async fn read(&self, account: AccountId, id: JobId) -> Result<Option<JobRecord>, IndexError> {
        let key = record_key(account, id);
        let bytes = self.index.get(&key).await?;
        bytes.map(|bytes| record::decode(RECORD_VERSION, &key, &bytes)).transpose()
    }

    /// As [`read`](Self::read), and none where the record cannot be read.
    pub(in crate::jobs) async fn read_if_readable(
        &self,
        account: AccountId,
        id: JobId,
    ) -> Result<Option<JobRecord>, IndexError> {
        let key = record_key(account, id);
        let bytes = self.index.get(&key).await?;
        Ok(bytes.and_then(|bytes| record::decode(RECORD_VERSION, &key, &bytes).ok()))
    }

    /// The inputs of a run: those of `inline`, and those in the journal that are not in it.
    pub(in crate::jobs) async fn load_inputs(
        &self,
        record: &JobRecord,
        inline: InlineInputs,
    ) -> Result<InlineInputs, IndexError> {
        let load = async |part, inline: Option<Bytes>| {
            if inline.is_some() || !inputs::is_journaled(record, part) {
                return Ok::<_, IndexError>(inline);
            }
            Ok(self.index.get(&inputs::key(record.id, part)).await?.map(Bytes::from))
        };
        let data = load(InputPart::Data, inline.data).await?;
        Ok(InlineInputs { data, template: load(InputPart::Template, inline.template).await? })
    }

    /// The ids of at most `limit` of the account's jobs, oldest first, behind `after`.
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

    /// At most `limit` of the account's jobs made before `before`, newest first.
    pub(in crate::jobs) async fn views(
        &self,
        account: AccountId,
        before: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<ListedJob>, IndexError> {
        let before = before.map(|id| record_key(account, id));
        let page = self.index.scan_back(&format!("job/{account}/"), before.as_deref(), limit).await?;
        // Decoding a page takes milliseconds, and this thread runs other actors.
        let views = spawn_blocking(move || page.iter().filter_map(listed_job).collect());
        views.await.map_err(|error| IndexError::Failed(error.to_string()))
    }

    /// Every job that was started and has not ended, oldest first.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn unfinished(&self) -> Result<Vec<JobRecord>, IndexError> {
        let (mut records, mut pages) = (Vec::new(), Pages::of(self.index.as_ref(), LIVE_PREFIX));
        while let Some(page) = pages.next().await? {
            for mark in &page {
                let Some((account, id)) = parse_mark(mark) else { continue };
                match self.read(account, id).await {
                    Ok(record) => records.extend(record),
                    // One record of another version must not keep the service from starting.
                    Err(error) => {
                        tracing::error!(job.id = %id, error = %error, "a started job cannot be read; it stays as it is");
                    }
                }
            }
        }
        Ok(records)
    }

    /// The batch that writes `with`, the record, and the marks of its state.
    pub(in crate::jobs) fn write_batch(
        &self,
        record: &JobRecord,
        with: WriteBatch,
    ) -> Result<WriteBatch, IndexError> {
        let (account, job) = (record.account, record.id);
        let mut batch = with.put(record_key(account, job), record::encode(RECORD_VERSION, record)?);
        if record.state == JobState::Initialized {
            batch = batch.put(open_jobs::key(account, job), []);
        } else {
            batch = batch.delete(expiry::key(self.retention.expires_at(record), account, job));
        }
        // The states that follow Initialized; a job that runs was queued before.
        if matches!(record.state, JobState::Queued | JobState::Cancelled | JobState::Expired) {
            batch = batch.delete(open_jobs::key(account, job));
        }
        if let Some((at, _)) = self.retention.next(record) {
            batch = batch.put(expiry::key(at, account, job), []);
        }
        Ok(match record.state {
            JobState::Initialized => batch,
            JobState::Queued | JobState::Running => {
                batch.put(live_key(job), account.to_string().into_bytes())
            }
            JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => {
                batch.delete(live_key(job))
            }
        })
    }

    /// The batch that removes a job that has ended, with its marks and inputs, and the objects to be deleted once it is
    /// durable: a record must stop naming an object before that is deleted.
    pub(in crate::jobs) fn deletion(
        &self,
        record: &JobRecord,
        staging: UploadStaging,
    ) -> (WriteBatch, PendingDeletion) {
        let (account, job) = (record.account, record.id);
        let mut keys = inputs::objects(record, staging);
        keys.push(record.output_key());
        let batch = inputs::removal(record).and(deletion_log::log_entry(job.0, &keys));
        let mut batch = batch.delete(record_key(account, job)).delete(live_key(job));
        if let Some((at, _)) = self.retention.next(record) {
            batch = batch.delete(expiry::key(at, account, job));
        }
        (batch, (job.0, keys))
    }

    /// Deletes a job that has ended: its record durably, then its objects.
    ///
    /// # Errors
    /// When the index fails: nothing is deleted then.
    pub(in crate::jobs) async fn delete(
        &self,
        store: &dyn ObjectStore,
        record: &JobRecord,
    ) -> Result<(), IndexError> {
        let (batch, gone) = self.deletion(record, store.upload_staging());
        self.index.commit(batch).await?;
        deletion_log::clear(self.index(), store, &[gone]).await;
        Ok(())
    }
}

/// The batch that removes a record that cannot be read. Its objects become orphans, which the sweeper finds.
pub(in crate::jobs) fn unreadable_deletion(account: AccountId, job: JobId) -> WriteBatch {
    let batch = WriteBatch::new().delete(record_key(account, job)).delete(live_key(job));
    inputs::keys(job).into_iter().fold(batch, WriteBatch::delete)
}

fn listed_job(entry: &Entry) -> Option<ListedJob> {
    let id = entry.key.rsplit('/').next()?.parse().ok()?;
    let read = record::decode::<JobRecord>(RECORD_VERSION, &entry.key, &entry.value);
    // One record that cannot be read must not hide the others from their owner.
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
