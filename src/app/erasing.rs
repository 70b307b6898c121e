//! Erases what deleted accounts had: jobs and documents, templates, what the index says of them.

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lasting::Lasting;
use super::{AppError, templates};
use crate::accounts::erasing::{self, Erasing};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::domain::ids::AccountId;
use crate::jobs::journal::Journal;
use crate::jobs::purge;
use crate::jobs::registry::JobRegistry;
use crate::storage::ObjectStore;
use crate::storage::index::Index;
use crate::telemetry::metrics::Metrics;
use crate::templates::deps::Deps;
use crate::templates::remove;

/// Between two looks for what came late.
const PAUSE: Duration = Duration::from_mins(1);
/// What the index has of an account beside records, as the words before its id.
const ENTRIES: [&str; 5] = ["usage", "stored", "open", "idempotency", "damaged"];

/// What was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Jobs, with their documents.
    pub jobs: u64,
    /// Templates.
    pub templates: u64,
}

/// Erases.
pub(super) struct Eraser {
    pub index: Arc<dyn Index>,
    pub store: Arc<dyn ObjectStore>,
    pub journal: Journal,
    pub templates: Arc<Deps>,
    /// That of the running service, if one runs.
    pub registry: Option<Addr<JobRegistry>>,
    pub clock: Arc<dyn Clock>,
}

impl Eraser {
    /// Erases when it is told of a deletion, and now and then, until the service stops.
    pub async fn run(self, deletions: Arc<Notify>, stopping: CancellationToken) {
        let sweeps = async {
            loop {
                match self.sweep().await {
                    Ok(erased) if erased == Erased::default() => {}
                    Ok(Erased { jobs, templates }) => {
                        tracing::info!(
                            job.count = jobs,
                            template.count = templates,
                            "deleted accounts were erased"
                        );
                    }
                    Err(error) => {
                        tracing::warn!(error = %error, "what a deleted account had is still there; it is tried again");
                    }
                }
                tokio::select! {
                    () = deletions.notified() => {}
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        };
        stopping.run_until_cancelled(sweeps).await;
    }

    /// Erases what there is of all accounts that were deleted.
    async fn sweep(&self) -> Result<Erased, AppError> {
        let mut all = Erased::default();
        for deleted in erasing::all(self.index.as_ref()).await? {
            let erased = self.erase(deleted.account).await?;
            if erased == Erased::default() && deleted.is_over(self.clock.now()) {
                self.index.commit(Erasing::end(&deleted)).await?;
            }
            all.jobs += erased.jobs;
            all.templates += erased.templates;
        }
        Ok(all)
    }

    async fn erase(&self, account: AccountId) -> Result<Erased, AppError> {
        let (store, registry) = (self.store.as_ref(), self.registry.as_ref());
        // Jobs first: a preview that runs uses a template.
        let jobs = purge::erase_jobs(&self.journal, store, registry, account).await?;
        let templates = remove::remove_all(&self.templates, account).await?;
        erasing::remove_entries(self.index.as_ref(), &ENTRIES, account).await?;
        Ok(Erased { jobs, templates })
    }
}

/// Erases what deleted accounts had while no service runs.
///
/// # Errors
/// When a service uses the data folder, or index or store cannot be used.
pub async fn erase_deleted(config: &Config) -> Result<Erased, AppError> {
    let metrics = Metrics::new();
    let lasting = Lasting::open(config, &metrics).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let eraser = Eraser {
        templates: Arc::new(templates(config, &lasting, &clock, &metrics)),
        journal: Journal::new(lasting.index.clone(), &config.jobs),
        index: lasting.index.clone(),
        store: lasting.store.clone(),
        registry: None,
        clock,
    };
    let erased = eraser.sweep().await;
    lasting.index.close().await;
    erased
}
