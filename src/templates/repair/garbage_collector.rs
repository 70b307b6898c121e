//! The janitor: what was begun and never saved goes, and so does what no record names.
//!
//! What was begun stands in the index in the order of its time, so a sweep reads what is over and nothing else.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::Problem;
use crate::storage::deletion_log;
use crate::storage::index::WriteBatch;
use crate::storage::walk::Walk;
use crate::storage::{Folder, StorageKey};
use crate::templates::changes::delete::remove;
use crate::templates::registry::context::Deps;
use crate::templates::registry::index::{self, Unfinished};

/// Templates that are removed at a time: their commits go to the disk together.
const PAGE: usize = 100;
/// Where the objects of templates lie.
const FOLDERS: &[Folder] = &[Folder::Unfinished, Folder::Templates, Folder::Uploads];

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Templates that were begun and not saved in time.
    pub unfinished: u64,
    /// Objects that nobody named.
    pub orphans: u64,
}

/// Sweeps.
pub struct Janitor {
    deps: Arc<Deps>,
    walk: Walk,
}

impl Janitor {
    /// A janitor over what `deps` hold.
    #[must_use]
    pub fn new(deps: Arc<Deps>) -> Self {
        Self { deps, walk: Walk::over(FOLDERS) }
    }

    /// Sweeps now and then until the service stops; a sweep that is under way then is left where it is.
    pub async fn run(mut self, stopping: CancellationToken) {
        let interval = Duration::from_secs(self.deps.limits.sweep_interval_s);
        let sweeps = async {
            loop {
                tokio::time::sleep(interval).await;
                let tidied = self.sweep().await;
                self.tell(tidied);
            }
        };
        stopping.run_until_cancelled(sweeps).await;
    }

    /// Does what is due, and looks at `templates.sweep_objects_limit` objects.
    ///
    /// # Errors
    /// When index or store fail; the next sweep goes on.
    pub async fn sweep(&mut self) -> Result<Tidied, Problem> {
        let now = self.deps.clock.now();
        let unfinished = self.sweep_unfinished(now).await?;
        let orphans = self.sweep_orphans(now).await?;
        Ok(Tidied { unfinished, orphans })
    }

    /// Goes on until nothing is over: what was begun in a minute must not take longer than a minute to go.
    async fn sweep_unfinished(&self, now: Timestamp) -> Result<u64, Problem> {
        let kept_ms = self.deps.limits.unfinished_retention_s.saturating_mul(1_000);
        let (mut removed, mut after) = (0, None::<String>);
        loop {
            let oldest = self.deps.index.unfinished(after.as_deref(), PAGE).await;
            let oldest = oldest?;
            let begun: Vec<_> = oldest.iter().filter_map(|key| Unfinished::parse(key)).collect();
            let over = begun.iter().take_while(|begun| now.since_ms(begun.since) >= kept_ms);
            let gone = join_all(over.map(|begun| self.expire(begun))).await;
            let gone: Vec<bool> = gone.into_iter().collect::<Result<_, _>>()?;
            removed += gone.iter().filter(|gone| **gone).count() as u64;
            if oldest.len() < PAGE || gone.len() < begun.len() {
                return Ok(removed);
            }
            // One that cannot be removed stays the oldest: it goes on behind it.
            after = oldest.last().cloned();
        }
    }

    /// Removes the template unless it was saved meanwhile.
    async fn expire(&self, begun: &Unfinished) -> Result<bool, Problem> {
        let _turn = self.deps.turns.of(begun.template).await;
        match self.deps.index.read(begun.account, begun.template).await {
            Ok(Some(record)) if record.unfinished => remove(&self.deps, &record).await.map(|()| true),
            Ok(_) => {
                let change = WriteBatch::new().delete(begun.key());
                self.deps.index.commit(change).await?;
                Ok(false)
            }
            Err(error) => {
                // One that nobody understands must not keep the others.
                tracing::error!(template.id = %begun.template, error = %error, "an unfinished template cannot be read, and stays");
                Ok(false)
            }
        }
    }

    /// Looks at some of the objects, and deletes those that no template names: a change that was broken off
    /// leaves some.
    async fn sweep_orphans(&mut self, now: Timestamp) -> Result<u64, Problem> {
        let limit = usize::try_from(self.deps.limits.sweep_objects_limit).unwrap_or(usize::MAX);
        let page = self.walk.next(self.deps.store.as_ref(), limit).await?;
        let mut orphans = 0;
        let old = page.into_iter().filter(|key| now.since_ms(key.made_at()) >= self.deps.orphan_age_ms);
        let mut of: Vec<(AccountId, TemplateId, Vec<StorageKey>)> = Vec::new();
        for (key, (account, template)) in old.filter_map(|key| index::owner(&key).map(|owner| (key, owner))) {
            match of.last_mut() {
                Some((_, last, keys)) if *last == template => keys.push(key),
                _ => of.push((account, template, vec![key])),
            }
        }
        for (account, template, keys) in of {
            orphans += self.remove_orphans(account, template, keys).await;
        }
        Ok(orphans)
    }

    /// Deletes those objects of one template that it does not name. What cannot be known or deleted stays, and keeps
    /// nobody else.
    async fn remove_orphans(&self, account: AccountId, template: TemplateId, keys: Vec<StorageKey>) -> u64 {
        // A change under way names its objects at its end.
        let _turn = self.deps.turns.of(template).await;
        // What a rebuild found something of lost is its operator's.
        if self.deps.index.is_damaged(account, template).await.unwrap_or(true) {
            return 0;
        }
        let named = match self.deps.index.read(account, template).await {
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
        let orphans: Vec<_> = keys.into_iter().filter(|key| !is_named(key)).collect();
        deletion_log::remove_unnamed(self.deps.index.index(), self.deps.store.as_ref(), &orphans).await
    }

    fn tell(&self, tidied: Result<Tidied, Problem>) {
        match tidied {
            Ok(tidied) if tidied == Tidied::default() => {}
            Ok(Tidied { unfinished, orphans }) => {
                self.deps.metrics.swept.of(["unfinished"]).inc_by(unfinished);
                self.deps.metrics.swept.of(["orphan"]).inc_by(orphans);
                tracing::info!(sweep.unfinished = unfinished, sweep.orphans = orphans, "swept templates");
            }
            Err(error) => {
                tracing::warn!(error = %error, "a sweep of templates stopped half-way; the next one goes on");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FixedClock;
    use crate::config::Config;
    use crate::domain::ids::{AccountId, JobId, TemplateId};
    use crate::storage::disk::DiskStore;
    use crate::storage::index::{Index, SledIndex};
    use crate::storage::{ObjectStore as _, StoreError, Upload};
    use crate::telemetry::metrics::Metrics;
    use crate::templates::registry::index;
    use crate::templates::registry::record::TemplateRecord;

    #[actix::test]
    async fn an_upload_that_lies_apart_goes_when_its_template_is_not_unfinished() {
        let (folder, config) = (tempfile::tempdir().unwrap(), Config::default());
        let index = SledIndex::open(&folder.path().join("index"), &config.storage).await.unwrap();
        let store = Arc::new(DiskStore::open(folder.path().join("objects")).await.unwrap());
        let account = AccountId::generate();
        let begun = TemplateRecord::begun(account);
        let clock = Arc::new(FixedClock::at(begun.id.made_at().plus_ms(2 * 3_600_000)));
        index.commit(index::writing(&begun).unwrap()).await.unwrap();
        let upload = |upload| StorageKey::Upload(account, upload);
        let kept = upload(Upload::Content(begun.id));
        let gone = upload(Upload::Content(TemplateId::generate()));
        let of_a_job = upload(Upload::Data(JobId::generate()));
        for key in [&kept, &gone, &of_a_job] {
            store.put(key, "x".into()).await.unwrap();
        }
        let places = (Arc::new(index) as Arc<dyn Index>, store.clone() as Arc<_>);
        let deps = Deps::new(clock, places, &config, Metrics::new().templates.clone());
        let tidied = Janitor::new(Arc::new(deps)).sweep().await.unwrap();
        assert_eq!(tidied, Tidied { unfinished: 0, orphans: 1 });
        assert!(matches!(store.head(&gone).await, Err(StoreError::NotFound(_))));
        assert!(store.head(&kept).await.is_ok() && store.head(&of_a_job).await.is_ok());
    }
}
