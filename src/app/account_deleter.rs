//! Deletes what deleted accounts had: jobs and documents, templates, and their entries in the index.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor as _, Addr};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::persistence::Persistence;
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

/// Pause between two sweeps. A request admitted before its account was deleted may still write; a later sweep deletes that.
const PAUSE: Duration = Duration::from_mins(1);
/// An account's entries in the index beside records: the words before its id.
const ENTRIES: [&str; 5] = ["usage", "stored", "open", "idempotency", "damaged"];

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedData {
    /// Jobs, with their documents.
    pub jobs: u64,
    /// Templates.
    pub templates: u64,
}

/// Deletes what deleted accounts had, in sweeps.
pub(super) struct AccountDeleter {
    index: Arc<dyn Index>,
    store: Arc<dyn ObjectStore>,
    journal: Journal,
    templates: Addr<TemplateRegistry>,
    /// The registry of the running service; none while no service runs.
    registry: Option<Addr<JobRegistry>>,
    /// Notified when an account is deleted.
    account_deleted: Arc<Notify>,
}

impl AccountDeleter {
    /// A deleter for the index and the store of `persistence`, with no service running.
    pub fn new(
        persistence: &Persistence,
        journal: Journal,
        templates: Addr<TemplateRegistry>,
        account_deleted: Arc<Notify>,
    ) -> Self {
        let (index, store) = (persistence.index.clone(), persistence.store.clone());
        Self { index, store, journal, templates, registry: None, account_deleted }
    }

    /// Sweeps after each deletion of an account and every [`PAUSE`], until `stopping` is cancelled.
    pub async fn run(mut self, registry: Addr<JobRegistry>, stopping: CancellationToken) {
        self.registry = Some(registry);
        let sweeps = async {
            loop {
                match self.sweep().await {
                    Ok(done) if done == DeletedData::default() => {}
                    Ok(DeletedData { jobs, templates }) => {
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
                    () = self.account_deleted.notified() => {}
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        };
        stopping.run_until_cancelled(sweeps).await;
    }

    /// Deletes what is left of all deleted accounts.
    async fn sweep(&self) -> Result<DeletedData, AppError> {
        let mut all = DeletedData::default();
        for deleted in deleted::all(self.index.as_ref()).await? {
            let done = self.delete(deleted.account).await?;
            if done == DeletedData::default() && deleted.has_no_late_requests(SystemClock.now()) {
                self.index.commit(DeletedAccount::removal_batch(&deleted)).await?;
            }
            all.jobs += done.jobs;
            all.templates += done.templates;
        }
        Ok(all)
    }

    async fn delete(&self, account: AccountId) -> Result<DeletedData, AppError> {
        let (store, registry) = (self.store.as_ref(), self.registry.as_ref());
        // Jobs first: a running preview uses a template.
        let jobs = account::delete_jobs(&self.journal, store, registry, account).await?;
        let templates = self.templates.send(DeleteAccountTemplates(account)).await??;
        deleted::remove_entries(self.index.as_ref(), &ENTRIES, account).await?;
        Ok(DeletedData { jobs, templates })
    }
}

/// Sweeps once, while no service runs.
///
/// # Errors
/// When a service uses the data folder, or index or store cannot be used.
pub async fn delete_account_data(config: &Config) -> Result<DeletedData, AppError> {
    let metrics = Metrics::new();
    let persistence = Persistence::open(config, &metrics).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let context = template_context(config, &persistence, (&clock, &metrics), None);
    let templates =
        TemplateRegistry::new(context, persistence.index.clone(), config.jobs.mailbox_limit).start();
    let journal = Journal::new(persistence.index.clone(), &config.jobs);
    let swept = AccountDeleter::new(&persistence, journal, templates, Arc::default()).sweep().await;
    persistence.index.close().await;
    swept
}
