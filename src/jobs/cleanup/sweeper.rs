//! The sweeper: what is kept for a time goes when the time is over.
//!
//! Jobs that are due stand in the order of their time, so a sweep reads what is due and nothing else,
//! however many jobs there are. Each step can be repeated: a crash in the middle loses nothing of it.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::cleanup::expiry_batch::Batch;
use crate::jobs::context::JobContext;
use crate::jobs::registry::{Found, JobRegistry};
use crate::jobs::run::actor;
use crate::jobs::store::expiry;
use crate::jobs::store::idempotency;
use crate::storage::index::{Entry, IndexError};
use crate::storage::leftovers::{self, Replay};
use crate::storage::walk::Walk;
use crate::storage::{Folder, StorageKey, StoreError, Upload};

/// Jobs that are settled in one batch of the index: enough that ten thousand cost a hundred syncs, few
/// enough that nobody waits for the batch.
const PAGE: usize = 100;
/// Where the objects of jobs lie, and what probes left.
const FOLDERS: &[Folder] = &[Folder::Jobs, Folder::Outputs, Folder::Uploads, Folder::Probes];

/// Ends a job that was not started in time; answers whether it did.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "bool")]
pub(in crate::jobs) struct ExpireJob {
    pub account: AccountId,
    pub job: JobId,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Jobs that expired.
    pub expired: u64,
    /// Documents that went.
    pub outputs: u64,
    /// Records that went.
    pub records: u64,
    /// Objects that nobody named.
    pub orphans: u64,
}

/// Why a sweep stopped half-way; the next one goes on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sweeps.
pub struct Sweeper {
    context: Arc<JobContext>,
    registry: Addr<JobRegistry>,
    replay: Replay,
    walk: Walk,
}

impl Sweeper {
    /// A sweeper over what `context` hold.
    #[must_use]
    pub fn new(context: Arc<JobContext>, registry: Addr<JobRegistry>) -> Self {
        Self { context, registry, replay: Replay::default(), walk: Walk::over(FOLDERS) }
    }

    /// Sweeps now and then until the service stops; a sweep that is under way then is left where it is.
    pub async fn run(mut self, stopping: CancellationToken) {
        let interval = Duration::from_secs(self.context.limits.sweep_interval_s);
        let sweeps = async {
            loop {
                tokio::time::sleep(interval).await;
                tell(self.sweep().await);
            }
        };
        stopping.run_until_cancelled(sweeps).await;
    }

    /// Does what is due: for at most `jobs.sweep_limit` jobs, and looks at `jobs.sweep_objects_limit`
    /// objects of each kind.
    ///
    /// # Errors
    /// See [`SweepError`].
    pub async fn sweep(&mut self) -> Result<Swept, SweepError> {
        let (journal, store) = (&self.context.journal, self.context.pipeline.store.as_ref());
        let now = self.context.clock.now();
        self.replay.sweep(journal.index(), store).await?;
        idempotency::sweep(journal, now).await?;
        let mut swept = Swept::default();
        self.sweep_expired(now, &mut swept).await?;
        swept.orphans = self.sweep_orphans(now).await?;
        Ok(swept)
    }

    async fn sweep_expired(&self, now: Timestamp, swept: &mut Swept) -> Result<(), SweepError> {
        let mut left = usize::try_from(self.context.limits.sweep_limit).unwrap_or(usize::MAX);
        let mut after: Option<String> = None;
        while left > 0 {
            let limit = PAGE.min(left);
            let mut page = self.context.journal.scan_behind(expiry::PREFIX, after.as_deref(), limit).await?;
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

    /// Does what is due for the jobs of these entries.
    async fn expire_page(&self, page: &[Entry], now: Timestamp, swept: &mut Swept) -> Result<(), SweepError> {
        let (journal, store) = (&self.context.journal, self.context.pipeline.store.as_ref());
        let alone = journal.lock_ended().await;
        let mut batch = Batch::new(&self.context, now);
        for entry in page {
            batch.add(&entry.key).await?;
        }
        let Batch { change, gone, expired, outputs, records, .. } = batch;
        journal.apply(change).await?;
        drop(alone);
        swept.outputs += outputs;
        swept.records += records;
        leftovers::clear(journal.index(), store, &gone).await;
        let expired = join_all(expired.into_iter().map(|message| self.registry.send(message))).await;
        swept.expired += expired.into_iter().filter(|done| matches!(done, Ok(true))).count() as u64;
        Ok(())
    }

    /// Looks at some of the objects, and deletes those that no job names: a run that was stopped while its
    /// file got its name leaves one.
    async fn sweep_orphans(&mut self, now: Timestamp) -> Result<u64, SweepError> {
        let (journal, store) = (&self.context.journal, self.context.pipeline.store.as_ref());
        let limit = usize::try_from(self.context.limits.sweep_objects_limit).unwrap_or(usize::MAX);
        let mut orphans = Vec::new();
        for key in self.walk.next(store, limit).await? {
            if self.is_orphan(&key, now).await {
                orphans.push(key);
            }
        }
        Ok(leftovers::remove_unnamed(journal.index(), store, &orphans).await)
    }

    /// What cannot be known is no orphan.
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

fn tell(swept: Result<Swept, SweepError>) {
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

impl Handler<ExpireJob> for JobRegistry {
    type Result = ResponseActFuture<Self, bool>;

    fn handle(&mut self, message: ExpireJob, _: &mut Self::Context) -> Self::Result {
        let found = self.find(message.account, message.job);
        Box::pin(found.then(|found, registry, _| {
            let expired = async move {
                let Ok(Found::Active(active)) = found else { return false };
                // A job whose actor dies of it stands in the journal as it was, and is due again.
                active.addr.send(actor::Expire).await.unwrap_or(false)
            };
            expired.into_actor(registry)
        }))
    }
}
