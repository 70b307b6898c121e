//! The janitor: what was begun and never saved goes, and so does what no record names.
//!
//! What was begun stands in the index in the order of its time, so a sweep reads what is over and nothing else.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::deps::Deps;
use super::index::Unfinished;
use super::remove::remove;
use crate::clock::Timestamp;
use crate::problem::Problem;
use crate::storage::index::Change;
use crate::storage::{Folder, StorageKey, Upload};

/// An object without a record may be one whose record is being written: younger ones are left alone.
const ORPHAN_AGE_MS: u64 = 3_600_000;
/// Where the objects of templates lie.
const FOLDERS: [Folder; 3] = [Folder::Unfinished, Folder::Templates, Folder::Uploads];

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
    /// Where the search for orphans goes on.
    after: Option<StorageKey>,
}

impl Janitor {
    /// A janitor over what `deps` hold.
    #[must_use]
    pub fn new(deps: Arc<Deps>) -> Self {
        Self { deps, after: None }
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

    /// Does what is due, for at most `templates.sweep_limit` templates and as many objects.
    ///
    /// # Errors
    /// When index or store fail; the next sweep goes on.
    pub async fn sweep(&mut self) -> Result<Tidied, Problem> {
        let now = self.deps.clock.now();
        let unfinished = self.sweep_unfinished(now).await?;
        let orphans = self.sweep_orphans(now).await?;
        Ok(Tidied { unfinished, orphans })
    }

    async fn sweep_unfinished(&self, now: Timestamp) -> Result<u64, Problem> {
        let kept_ms = self.deps.limits.unfinished_retention_s.saturating_mul(1_000);
        let oldest = self.deps.index.unfinished(self.limit()).await.map_err(Problem::internal)?;
        let mut removed = 0;
        for begun in oldest.into_iter().take_while(|begun| now.since_ms(begun.since) >= kept_ms) {
            removed += u64::from(self.expire(&begun).await?);
        }
        Ok(removed)
    }

    /// Removes the template unless it was saved meanwhile.
    async fn expire(&self, begun: &Unfinished) -> Result<bool, Problem> {
        let _turn = self.deps.turns.of(begun.template).await;
        match self.deps.index.read(begun.account, begun.template).await {
            Ok(Some(record)) if record.unfinished => remove(&self.deps, &record).await.map(|()| true),
            Ok(_) => {
                let change = Change::new().delete(begun.key());
                self.deps.index.commit(change).await.map_err(Problem::internal)?;
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
        let mut orphans = 0;
        for folder in FOLDERS {
            let after = self.after.filter(|key| key.folder() == folder);
            if self.after.is_some() && after.is_none() {
                continue;
            }
            let page = self.deps.store.list(folder, after, self.limit()).await?;
            for key in &page {
                orphans += u64::from(self.remove_orphan(key, now).await?);
            }
            if page.len() == self.limit() {
                self.after = page.last().copied();
                return Ok(orphans);
            }
            self.after = None;
        }
        Ok(orphans)
    }

    async fn remove_orphan(&self, key: &StorageKey, now: Timestamp) -> Result<bool, Problem> {
        let (account, template) = match *key {
            StorageKey::TemplateUpload(account, template)
            | StorageKey::Upload(account, Upload::Content(template))
            | StorageKey::UnfinishedPackage(account, template, _)
            | StorageKey::Template(account, template, ..) => (account, template),
            StorageKey::JobData(..)
            | StorageKey::JobTemplate(..)
            | StorageKey::JobOutput(..)
            | StorageKey::Upload(_, Upload::Data(_) | Upload::Template(_))
            | StorageKey::Probe(_) => return Ok(false),
        };
        if now.since_ms(key.made_at()) < ORPHAN_AGE_MS {
            return Ok(false);
        }
        // A change under way names its objects at its end.
        let _turn = self.deps.turns.of(template).await;
        let record = self.deps.index.read(account, template).await.map_err(Problem::internal)?;
        let is_named = record.is_some_and(|record| match key {
            StorageKey::TemplateUpload(..) | StorageKey::Upload(..) => record.unfinished,
            _ => record.objects().contains(key),
        });
        if !is_named {
            self.deps.store.delete(key).await?;
        }
        Ok(!is_named)
    }

    fn limit(&self) -> usize {
        usize::try_from(self.deps.limits.sweep_limit).unwrap_or(usize::MAX)
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
                tracing::warn!(error = %error, "a sweep of templates stopped half-way; the next one goes on")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock as _, FixedClock};
    use crate::config::Config;
    use crate::domain::ids::{AccountId, JobId, TemplateId};
    use crate::storage::disk::DiskStore;
    use crate::storage::index::{Index, SledIndex};
    use crate::storage::{ObjectStore as _, StoreError};
    use crate::telemetry::metrics::Metrics;
    use crate::templates::index;
    use crate::templates::record::TemplateRecord;

    #[actix::test]
    async fn an_upload_that_lies_apart_goes_when_its_template_is_not_unfinished() {
        let (folder, config) = (tempfile::tempdir().unwrap(), Config::default());
        let index = SledIndex::open(&folder.path().join("index"), &config.storage).await.unwrap();
        let store = Arc::new(DiskStore::open(folder.path().join("objects")).await.unwrap());
        let account = AccountId::generate();
        let begun = TemplateRecord::begun(account, Timestamp(0));
        let clock = Arc::new(FixedClock::at(begun.id.made_at().plus_ms(ORPHAN_AGE_MS + 60_000)));
        let begun = TemplateRecord { created_at: clock.now(), ..begun };
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
