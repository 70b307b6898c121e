//! Erases what deleted accounts had: jobs and documents, templates, what the index says of them.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor as _, Addr};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lasting::Lasting;
use super::{AppError, template_context};
use crate::accounts::deleted::{self, DeletedAccount};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::domain::ids::AccountId;
use crate::jobs::cleanup::account;
use crate::jobs::registry::JobRegistry;
use crate::jobs::store::journal::Journal;
use crate::storage::ObjectStore;
use crate::storage::index::Index;
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::messages::DeleteAccountTemplates;

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
    index: Arc<dyn Index>,
    store: Arc<dyn ObjectStore>,
    journal: Journal,
    templates: Addr<TemplateRegistry>,
    /// That of the running service, if one runs.
    registry: Option<Addr<JobRegistry>>,
    /// Tells of deletions.
    deletions: Arc<Notify>,
}

impl Eraser {
    /// One that erases what `lasting` holds, as if no service ran.
    pub fn new(
        lasting: &Lasting,
        journal: Journal,
        templates: Addr<TemplateRegistry>,
        deletions: Arc<Notify>,
    ) -> Self {
        let (index, store) = (lasting.index.clone(), lasting.store.clone());
        Self { index, store, journal, templates, registry: None, deletions }
    }

    /// Erases when it is told of a deletion, and now and then, until the service of these jobs stops.
    pub async fn run(mut self, registry: Addr<JobRegistry>, stopping: CancellationToken) {
        self.registry = Some(registry);
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
                    () = self.deletions.notified() => {}
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        };
        stopping.run_until_cancelled(sweeps).await;
    }

    /// Erases what there is of all accounts that were deleted.
    async fn sweep(&self) -> Result<Erased, AppError> {
        let mut all = Erased::default();
        for deleted in deleted::all(self.index.as_ref()).await? {
            let erased = self.erase(deleted.account).await?;
            if erased == Erased::default() && deleted.is_over(SystemClock.now()) {
                self.index.commit(DeletedAccount::end(&deleted)).await?;
            }
            all.jobs += erased.jobs;
            all.templates += erased.templates;
        }
        Ok(all)
    }

    async fn erase(&self, account: AccountId) -> Result<Erased, AppError> {
        let (store, registry) = (self.store.as_ref(), self.registry.as_ref());
        // Jobs first: a preview that runs uses a template.
        let jobs = account::delete_jobs(&self.journal, store, registry, account).await?;
        let templates = self.templates.send(DeleteAccountTemplates(account)).await??;
        deleted::remove_entries(self.index.as_ref(), &ENTRIES, account).await?;
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
    let context = Arc::new(template_context(config, &lasting, &clock, &metrics));
    let templates = TemplateRegistry::new(context, lasting.index.clone(), config.jobs.mailbox_limit).start();
    let journal = Journal::new(lasting.index.clone(), &config.jobs);
    let swept = Eraser::new(&lasting, journal, templates, Arc::default()).sweep().await;
    lasting.index.close().await;
    swept
}
