//! The sweeper: expires jobs that were not started, deletes documents, records and idempotency keys whose retention is
//! over, and objects that no record names.
//!
//! Each step can be repeated, and records are written before objects are deleted: after a crash in the middle the next
//! sweep does the rest.

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::clock::{Timestamp, repeat_every};
use crate::config::as_count;
use crate::jobs::cleanup::JOBS_PER_BATCH;
use crate::jobs::cleanup::expiry_batch::ExpiryBatch;
use crate::jobs::context::JobContext;
use crate::jobs::registry::JobRegistry;
use crate::jobs::store::{expiry, idempotency};
use crate::storage::deletion_log::{self, Replay};
use crate::storage::index::Entry;
use crate::storage::walk::Walk;
use crate::storage::{Folder, StorageError, StorageKey, Upload};

/// The folders of jobs' objects, and of what probes of the store left.
const FOLDERS: &[Folder] = &[Folder::Jobs, Folder::Outputs, Folder::Uploads, Folder::Probes];

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Jobs that expired.
    pub expired: u64,
    /// Documents that were deleted.
    pub outputs: u64,
    /// Records that were deleted.
    pub records: u64,
    /// Objects that no record named.
    pub orphans: u64,
}

/// Sweeps at an interval.
pub struct Sweeper {
    context: Arc<JobContext>,
    registry: Addr<JobRegistry>,
    replay: Replay,
    walk: Walk,
}

impl Sweeper {
    /// A sweeper of the jobs of `context`; `registry` ends those that have an actor.
    pub fn new(context: Arc<JobContext>, registry: Addr<JobRegistry>) -> Self {
        Self { context, registry, replay: Replay::default(), walk: Walk::over(FOLDERS) }
    }

    /// Sweeps every `jobs.sweep_interval_s` until the service stops, which aborts a sweep under way.
    pub async fn run(self, stopping: CancellationToken) {
        let interval = Duration::from_secs(self.context.limits.sweep_interval_s);
        let sweep = |mut sweeper: Self| async move {
            report(sweeper.sweep().await);
            sweeper
        };
        repeat_every(interval, stopping, self, sweep).await;
    }

    /// Sweeps once: at most `jobs.sweep_limit` jobs that are due, and `jobs.sweep_objects_limit` objects.
    ///
    /// # Errors
    /// When index or store fails; the next sweep continues.
    pub async fn sweep(&mut self) -> Result<Swept, StorageError> {
        let (journal, store) = (&self.context.journal, self.context.pipeline.store.as_ref());
        let now = self.context.clock.now();
        self.replay.sweep(journal.index(), store).await?;
        idempotency::sweep(journal.index(), now).await?;
        let mut swept = Swept::default();
        self.sweep_expired(now, &mut swept).await?;
        swept.orphans = self.sweep_orphans(now).await?;
        Ok(swept)
    }

    async fn sweep_expired(&self, now: Timestamp, swept: &mut Swept) -> Result<(), StorageError> {
        let mut left = as_count(self.context.limits.sweep_limit);
        let mut after: Option<String> = None;
        while left > 0 {
            let limit = JOBS_PER_BATCH.min(left);
            let index = self.context.journal.index();
            let mut page = index.scan(expiry::PREFIX, after.as_deref(), limit).await?;
            let is_due = |entry: &Entry| expiry::parse(&entry.key).is_none_or(|(at, ..)| at <= now);
            page.truncate(page.iter().take_while(|entry| is_due(entry)).count());
            self.expire_page(&page, now, swept).await?;
            if page.len() < limit {
                return Ok(());
            }
            left -= page.len();
            after = page.pop().map(|last| last.key);
        }
        Ok(())
    }

    async fn expire_page(
        &self,
        page: &[Entry],
        now: Timestamp,
        swept: &mut Swept,
    ) -> Result<(), StorageError> {
        let (journal, store) = (&self.context.journal, self.context.pipeline.store.as_ref());
        let lock = journal.lock_ended().await;
        let mut batch = ExpiryBatch::new(&self.context, now);
        for entry in page {
            batch.add(&entry.key).await?;
        }
        let ExpiryBatch { batch, gone, expired, outputs, records, .. } = batch;
        journal.index().commit(batch).await?;
        drop(lock);
        swept.outputs += outputs;
        swept.records += records;
        deletion_log::clear(journal.index(), store, &gone).await;
        let expired = join_all(expired.into_iter().map(|message| self.registry.send(message))).await;
        swept.expired += expired.into_iter().filter(|done| matches!(done, Ok(true))).count() as u64;
        Ok(())
    }

    /// Looks at some of the objects, and deletes those that no job names. A run that is killed between the commit of its file
    /// and that of its record makes such an object.
    async fn sweep_orphans(&mut self, now: Timestamp) -> Result<u64, StorageError> {
        let (journal, store) = (&self.context.journal, self.context.pipeline.store.as_ref());
        let limit = as_count(self.context.limits.sweep_objects_limit);
        let mut orphans = Vec::new();
        for key in self.walk.next(store, limit).await? {
            if self.is_orphan(&key, now).await {
                orphans.push(key);
            }
        }
        Ok(deletion_log::remove_unnamed(journal.index(), store, &orphans).await)
    }

    /// Whether no record names the object. A young one may belong to a record that is being written; where the record
    /// cannot be read, the object is kept.
    async fn is_orphan(&self, key: &StorageKey, now: Timestamp) -> bool {
        if now.since_ms(key.made_at()) < self.context.limits.orphan_age_s.saturating_mul(1_000) {
            return false;
        }
        let (account, job, output) = match *key {
            StorageKey::JobOutput(account, job, file) => (account, job, Some(file)),
            StorageKey::JobData(account, job)
            | StorageKey::JobTemplate(account, job)
            | StorageKey::JobSecret(account, job)
            | StorageKey::Upload(account, Upload::Data(job) | Upload::Template(job)) => (account, job, None),
            StorageKey::Probe(_) => return true,
            StorageKey::TemplateUpload(..)
            | StorageKey::Upload(_, Upload::Content(_))
            | StorageKey::UnfinishedPackage(..)
            | StorageKey::Template(..) => return false,
        };
        match self.context.journal.read(account, job).await {
            Ok(None) => true,
            Ok(Some(record)) => {
                record.state.is_final() && !(record.output.is_some() && output == Some(record.file()))
            }
            Err(error) => {
                tracing::warn!(storage.key = %key, error = %error, "an object stays, for its job cannot be read");
                false
            }
        }
    }
}

fn report(swept: Result<Swept, StorageError>) {
    match swept {
        Ok(swept) if swept == Swept::default() => {}
        Ok(swept) => tracing::info!(
            sweep.expired = swept.expired,
            sweep.outputs = swept.outputs,
            sweep.records = swept.records,
            sweep.orphans = swept.orphans,
            "swept"
        ),
        Err(error) => tracing::warn!(error = %error, "a sweep stopped half-way; the next one goes on"),
    }
}
