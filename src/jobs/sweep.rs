//! The sweeper: what is kept for a time goes when the time is over.
//!
//! Jobs that are due stand in the order of their time, so a sweep reads what is due and nothing else,
//! however many jobs there are. Each step can be repeated: a crash in the middle loses nothing of it.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use tokio_util::sync::CancellationToken;

use super::actor;
use super::deps::Deps;
use super::due::{self, Due, Retention};
use super::erase;
use super::idempotency;
use super::leftovers;
use super::record::JobRecord;
use super::registry::{Found, JobRegistry};
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::storage::index::IndexError;
use crate::storage::{Folder, StorageKey, StoreError};

/// Entries read at a time.
const PAGE: usize = 200;
/// An object without a record may be one whose record is being written: younger ones are left alone.
const ORPHAN_AGE_MS: u64 = 3_600_000;

/// Ends a job that was not started in time.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub(super) struct ExpireJob {
    account: AccountId,
    job: JobId,
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
    /// The registry is gone.
    #[error("the service is stopping")]
    Stopping,
}

/// Sweeps.
pub struct Sweeper {
    deps: Arc<Deps>,
    registry: Addr<JobRegistry>,
    /// Where the search for orphans goes on.
    after: Option<StorageKey>,
}

impl Sweeper {
    /// A sweeper over what `deps` hold.
    #[must_use]
    pub fn new(deps: Arc<Deps>, registry: Addr<JobRegistry>) -> Self {
        Self { deps, registry, after: None }
    }

    /// Sweeps now and then until the service stops.
    pub async fn run(mut self, stopping: CancellationToken) {
        let interval = Duration::from_secs(self.deps.limits.sweep_interval_s);
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                () = tokio::time::sleep(interval) => {}
            }
            match self.sweep().await {
                Ok(swept) if swept == Swept::default() => {}
                Ok(swept) => tracing::info!(
                    sweep.expired = swept.expired,
                    sweep.outputs = swept.outputs,
                    sweep.records = swept.records,
                    sweep.orphans = swept.orphans,
                    "swept"
                ),
                Err(error) => {
                    tracing::warn!(error = %error, "a sweep stopped half-way; the next one goes on");
                }
            }
        }
    }

    /// Does what is due, at most `jobs.sweep_limit` of each kind.
    ///
    /// # Errors
    /// See [`SweepError`].
    pub async fn sweep(&mut self) -> Result<Swept, SweepError> {
        let (journal, store) = (&self.deps.journal, self.deps.parts.store.as_ref());
        let now = self.deps.clock.now();
        leftovers::replay(journal, store).await?;
        idempotency::sweep(journal, now).await?;
        let mut swept = Swept::default();
        let mut left = usize::try_from(self.deps.limits.sweep_limit).unwrap_or(usize::MAX);
        while left > 0 {
            let page = journal.scan(due::PREFIX, PAGE.min(left)).await?;
            let mut count = 0;
            for entry in &page {
                let Some((at, account, job)) = due::parse(&entry.key) else { continue };
                if at > now {
                    break;
                }
                self.settle(&entry.key, account, job, &mut swept).await?;
                count += 1;
            }
            left -= count;
            if count < PAGE {
                break;
            }
        }
        swept.orphans = self.sweep_orphans(now).await?;
        Ok(swept)
    }

    /// Does what is due for one job; the entry goes, whatever it was.
    async fn settle(
        &self,
        entry: &str,
        account: AccountId,
        job: JobId,
        swept: &mut Swept,
    ) -> Result<(), SweepError> {
        let (deps, journal) = (&self.deps, &self.deps.journal);
        let alone = journal.alone().await;
        let record = journal.read(account, job).await?;
        let next = record.as_ref().and_then(|record| Retention::of(&deps.limits).next(record));
        let due = next.filter(|(at, _)| *at <= deps.clock.now()).map(|(_, due)| due);
        let (Some(record), Some(due)) = (record, due) else {
            // Something happened to the job since; the entry that counts stands elsewhere.
            let renewed = next.map(|(at, _)| due::key(at, account, job));
            return Ok(journal.move_due(entry, renewed.as_deref()).await?);
        };
        match due {
            Due::Expire => {
                drop(alone);
                let expired = self.registry.send(ExpireJob { account, job }).await;
                expired.map_err(|_| SweepError::Stopping)?;
                swept.expired += 1;
            }
            Due::DropOutput => {
                self.drop_output(record).await?;
                swept.outputs += 1;
            }
            Due::DropRecord => {
                erase::erase(journal, deps.parts.store.as_ref(), &record).await?;
                swept.records += 1;
            }
        }
        Ok(journal.move_due(entry, None).await?)
    }

    async fn drop_output(&self, mut record: JobRecord) -> Result<(), SweepError> {
        let (journal, store) = (&self.deps.journal, self.deps.parts.store.as_ref());
        let keys = [erase::output(&record)];
        let kept_s = self.deps.limits.output_retention_s;
        record.output = None;
        record.warnings.push(&format!("the document was removed after {kept_s} s (jobs.output_retention_s)"));
        journal.commit(&record, leftovers::mark(record.id, &keys)).await?;
        leftovers::clear(journal, store, record.id, &keys).await;
        Ok(())
    }

    /// Looks at some of the objects, and deletes those that no job names: a run that was stopped while its
    /// file got its name leaves one.
    async fn sweep_orphans(&mut self, now: Timestamp) -> Result<u64, SweepError> {
        let store = self.deps.parts.store.as_ref();
        let limit = usize::try_from(self.deps.limits.sweep_limit).unwrap_or(usize::MAX);
        let mut orphans = 0;
        for folder in Folder::ALL {
            let after = self.after.filter(|key| key.folder() == folder);
            if self.after.is_some() && after.is_none() {
                continue;
            }
            let page = store.list(folder, after, limit).await?;
            for key in &page {
                if self.is_orphan(key, now).await? {
                    store.delete(key).await?;
                    orphans += 1;
                }
            }
            if page.len() == limit {
                self.after = page.last().copied();
                return Ok(orphans);
            }
            self.after = None;
        }
        Ok(orphans)
    }

    async fn is_orphan(&self, key: &StorageKey, now: Timestamp) -> Result<bool, IndexError> {
        if now.since_ms(key.made_at()) < ORPHAN_AGE_MS {
            return Ok(false);
        }
        let (account, job, is_output) = match *key {
            StorageKey::JobOutput(account, job, _) => (account, job, true),
            StorageKey::JobData(account, job) | StorageKey::JobTemplate(account, job) => {
                (account, job, false)
            }
            StorageKey::Probe(_) => return Ok(true),
        };
        let record = self.deps.journal.read(account, job).await?;
        let wanted =
            record.is_some_and(|record| !record.state.is_final() || (is_output && record.output.is_some()));
        Ok(!wanted)
    }
}

impl Handler<ExpireJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, message: ExpireJob, _: &mut Self::Context) -> Self::Result {
        let found = self.find(message.account, message.job);
        Box::pin(found.then(|found, registry, _| {
            let expired = async move {
                if let Ok(Found::Live(live)) = found {
                    // A job whose actor dies of it stands in the journal as it was, and is due again.
                    let _ = live.addr.send(actor::Expire).await;
                }
            };
            expired.into_actor(registry)
        }))
    }
}
