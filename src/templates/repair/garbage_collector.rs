//! The garbage collector: deletes templates that were begun and not saved in time, and objects that no record names.
//!
//! Unfinished templates are in the index in the order of their times, so a sweep reads those whose time is over and no
//! others.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::clock::{Timestamp, repeat_every};
use crate::config::as_count;
use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::Problem;
use crate::storage::deletion_log;
use crate::storage::index::WriteBatch;
use crate::storage::walk::Walk;
use crate::storage::{Folder, StorageKey};
use crate::templates::changes::delete::remove;
use crate::templates::registry::index::{self, Unfinished};
use crate::templates::registry::locks::TemplateLock;
use crate::templates::registry::writer::TemplateWriter;
use crate::templates::registry::{TemplateContext, TemplateRegistry};

/// Templates that are removed at a time: their commits go to the disk together.
const PAGE: usize = 100;
/// The folders of templates' objects.
const FOLDERS: &[Folder] = &[Folder::Unfinished, Folder::Templates, Folder::Uploads];

/// What a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Templates that were begun and not saved in time.
    pub unfinished: u64,
    /// Objects that no record named.
    pub orphans: u64,
}

/// Sweeps beside the registry, under its locks.
pub struct GarbageCollector {
    writer: TemplateWriter,
    registry: Recipient<DeleteOrphans>,
    walk: Walk,
}

impl GarbageCollector {
    /// A garbage collector of the templates of `registry`, which works with `context`.
    pub fn new(context: Arc<TemplateContext>, registry: &Addr<TemplateRegistry>) -> Self {
        let (locks, commits) = (registry.clone().recipient(), registry.clone().recipient());
        let writer = TemplateWriter::new(context, locks, commits);
        Self { writer, registry: registry.clone().recipient(), walk: Walk::over(FOLDERS) }
    }

    /// Sweeps every `templates.sweep_interval_s` until the service stops. A sweep under way is then dropped: it holds
    /// nothing that the registry does not finish or give back.
    pub async fn run(self, stopping: CancellationToken) {
        let interval = Duration::from_secs(self.writer.context.limits.sweep_interval_s);
        let sweep = |mut collector: Self| async move {
            let swept = collector.sweep().await;
            collector.report(swept);
            collector
        };
        repeat_every(interval, stopping, self, sweep).await;
    }

    /// Deletes every template whose time is over, and looks at `templates.sweep_objects_limit` objects.
    ///
    /// # Errors
    /// When index or store fail; the next sweep goes on.
    pub async fn sweep(&mut self) -> Result<Swept, Problem> {
        let now = self.writer.context.clock.now();
        let unfinished = self.sweep_unfinished(now).await?;
        let orphans = self.sweep_orphans(now).await?;
        Ok(Swept { unfinished, orphans })
    }

    /// Goes on until none is left: templates must be deleted at least as fast as they can be begun.
    async fn sweep_unfinished(&self, now: Timestamp) -> Result<u64, Problem> {
        let retention_ms = self.writer.context.limits.unfinished_retention_s.saturating_mul(1_000);
        let (mut removed, mut after) = (0, None::<String>);
        loop {
            let oldest = self.writer.context.index.unfinished(after.as_deref(), PAGE).await?;
            let begun: Vec<_> = oldest.iter().filter_map(|key| Unfinished::parse(key)).collect();
            let over = begun.iter().take_while(|begun| now.since_ms(begun.since) >= retention_ms);
            let gone = join_all(over.map(|begun| self.expire(begun))).await;
            let gone: Vec<bool> = gone.into_iter().collect::<Result<_, _>>()?;
            removed += gone.iter().filter(|gone| **gone).count() as u64;
            if oldest.len() < PAGE || gone.len() < begun.len() {
                return Ok(removed);
            }
            // One that cannot be removed stays the oldest, so the next page begins behind it.
            after = oldest.last().cloned();
        }
    }

    /// Removes the template unless it was saved meanwhile.
    async fn expire(&self, begun: &Unfinished) -> Result<bool, Problem> {
        let lock = self.writer.lock([begun.template]).await?;
        match self.writer.context.index.read(begun.account, begun.template).await {
            Ok(Some(record)) if record.unfinished => remove(&self.writer, lock, &record).await.map(|()| true),
            Ok(_) => {
                let stale = WriteBatch::new().delete(begun.key());
                self.writer.commit_entries(begun.account, lock, stale).await?;
                Ok(false)
            }
            Err(error) => {
                // One record that cannot be read must not keep the sweep from the others.
                tracing::error!(template.id = %begun.template, error = %error, "an unfinished template cannot be read, and stays");
                Ok(false)
            }
        }
    }

    /// Looks at some of the objects, and deletes those that no template names. An interrupted change makes such
    /// objects.
    ///
    /// Hazard: a change under way has objects that no record names yet. So one is looked at under the lock of its template,
    /// and only when it is older than `templates.orphan_age_s`.
    async fn sweep_orphans(&mut self, now: Timestamp) -> Result<u64, Problem> {
        let limit = as_count(self.writer.context.limits.sweep_objects_limit);
        let page = self.walk.next(self.writer.context.store.as_ref(), limit).await?;
        let orphan_age_ms = self.writer.context.limits.orphan_age_s.saturating_mul(1_000);
        let old = page.into_iter().filter(|key| now.since_ms(key.made_at()) >= orphan_age_ms);
        let owned: Vec<_> = old.filter_map(|key| Some((index::owner(&key)?, key))).collect();
        let mut orphans = 0;
        for of_one in owned.chunk_by(|(one, _), (other, _)| one == other) {
            let keys = of_one.iter().map(|(_, key)| *key);
            orphans += self.remove_orphans(of_one[0].0, keys.collect()).await;
        }
        Ok(orphans)
    }

    /// Deletes those objects of one template that it does not name. Where that cannot be known they stay, and the sweep goes
    /// on with the next template.
    async fn remove_orphans(&self, owner: (AccountId, TemplateId), mut keys: Vec<StorageKey>) -> u64 {
        let (account, template) = owner;
        let Ok(lock) = self.writer.lock([template]).await else { return 0 };
        // A rebuild found something of it lost: what is left is for the operator to look at.
        if self.writer.context.index.is_damaged(account, template).await.unwrap_or(true) {
            return 0;
        }
        let named = match self.writer.context.index.read(account, template).await {
            Ok(record) => record.map(|record| (record.unfinished, record.objects())),
            Err(error) => {
                tracing::warn!(template.id = %template, error = %error, "objects stay, for their template cannot be read");
                return 0;
            }
        };
        let is_named = |key: &StorageKey| {
            named.as_ref().is_some_and(|(unfinished, objects)| {
                let is_upload = matches!(key, StorageKey::TemplateUpload(..) | StorageKey::Upload(..));
                objects.contains(key) || (*unfinished && is_upload)
            })
        };
        keys.retain(|key| !is_named(key));
        if keys.is_empty() {
            return 0;
        }
        self.registry.send(DeleteOrphans { lock, keys }).await.unwrap_or(0)
    }

    fn report(&self, swept: Result<Swept, Problem>) {
        match swept {
            Ok(swept) if swept == Swept::default() => {}
            Ok(Swept { unfinished, orphans }) => {
                self.writer.context.metrics.swept.of(["unfinished"]).inc_by(unfinished);
                self.writer.context.metrics.swept.of(["orphan"]).inc_by(orphans);
                tracing::info!(sweep.unfinished = unfinished, sweep.orphans = orphans, "swept templates");
            }
            Err(error) => {
                tracing::warn!(error = %error, "a sweep of templates stopped half-way; the next one goes on");
            }
        }
    }
}

/// Deletes objects of a template that no record names, as was checked under `lock`; answers how many.
///
/// It is a message because the sweep is dropped when the service stops: the registry finishes the deletion and holds the lock
/// until then, so that no change of the template runs into it. And only the registry has the index to sync.
#[derive(Debug, Message)]
#[rtype(result = "u64")]
struct DeleteOrphans {
    lock: TemplateLock,
    keys: Vec<StorageKey>,
}

impl Handler<DeleteOrphans> for TemplateRegistry {
    type Result = ResponseFuture<u64>;

    fn handle(&mut self, message: DeleteOrphans, _: &mut Self::Context) -> Self::Result {
        let (index, store) = (Arc::clone(&self.index), Arc::clone(&self.context.store));
        Box::pin(async move {
            let DeleteOrphans { lock, keys } = message;
            let deleted = deletion_log::remove_unnamed(index.as_ref(), store.as_ref(), &keys).await;
            drop(lock);
            deleted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FixedClock;
    use crate::config::Config;
    use crate::domain::ids::JobId;
    use crate::storage::disk::DiskStore;
    use crate::storage::index::{Index, SledIndex};
    use crate::storage::{ObjectStore as _, StoreError, Upload};
    use crate::telemetry::metrics::Metrics;
    use crate::templates::registry::record::TemplateRecord;

    #[actix::test]
    async fn an_upload_that_is_staged_apart_is_deleted_when_its_template_is_not_unfinished() {
        let (folder, config) = (tempfile::tempdir().unwrap(), Config::default());
        let index = SledIndex::open(&folder.path().join("index"), &config.storage).await.unwrap();
        let store = Arc::new(DiskStore::open(folder.path().join("objects")).await.unwrap());
        let account = AccountId::generate();
        let begun = TemplateRecord::begun(account);
        let clock = Arc::new(FixedClock::at(begun.id.made_at().plus_ms(2 * 3_600_000)));
        index.commit(index::put_record(&begun).unwrap()).await.unwrap();
        let upload = |upload| StorageKey::Upload(account, upload);
        let named_upload = upload(Upload::Content(begun.id));
        let gone = upload(Upload::Content(TemplateId::generate()));
        let of_a_job = upload(Upload::Data(JobId::generate()));
        for key in [&named_upload, &gone, &of_a_job] {
            store.put(key, "x".into()).await.unwrap();
        }
        let index: Arc<dyn Index> = Arc::new(index);
        let storage = (Arc::clone(&index), store.clone() as Arc<_>);
        let context = TemplateContext::new(clock, storage, &config, Metrics::new().templates.clone());
        let context = Arc::new(context);
        let registry = TemplateRegistry::new(Arc::clone(&context), index, 10).start();
        let swept = GarbageCollector::new(context, &registry).sweep().await.unwrap();
        assert_eq!(swept, Swept { unfinished: 0, orphans: 1 });
        assert!(matches!(store.head(&gone).await, Err(StoreError::NotFound(_))));
        assert!(store.head(&named_upload).await.is_ok() && store.head(&of_a_job).await.is_ok());
    }
}
