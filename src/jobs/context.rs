//! What the job registry, the job actors and the sweeper share.

use std::sync::Arc;

use actix::Recipient;

use crate::accounts::actor::{GiveBack, ReserveDocument};
use crate::accounts::{OpenJobs, UsageKey};
use crate::clock::Clock;
use crate::config::JobsConfig;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::stored_inputs::StoredInputs;
use crate::pipeline::PipelineContext;
use crate::storage::Landing;
use crate::storage::index::{Change, IndexError};

/// Shared by the registry, all job actors and the sweeper.
pub struct JobContext {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The durable records.
    pub journal: Journal,
    /// What a run works with.
    pub pipeline: Arc<PipelineContext>,
    /// Section `[jobs]`.
    pub limits: JobsConfig,
    /// Reserves a document of the account, at init.
    pub reserve: Recipient<ReserveDocument>,
    /// Gives a document back that was reserved and not made.
    pub give_back: Recipient<GiveBack>,
    /// Jobs that are initialized and not started, counted by account.
    pub open: Arc<OpenJobs>,
    /// Bytes of inputs that count in their accounts' storage.
    pub stored: StoredInputs,
}

impl JobContext {
    /// Counts the inputs of jobs of an earlier run of the service: of those that are open, and of those that were started
    /// and are `unfinished`. To be called once, before the registry starts.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn restore_stored_inputs(&self, unfinished: &[JobRecord]) -> Result<(), IndexError> {
        self.stored.restore(&self.journal, self.pipeline.store.as_ref(), &self.open, unfinished).await
    }

    /// Whether uploads are staged beside their final key.
    pub(in crate::jobs) fn landing(&self) -> Landing {
        self.pipeline.store.landing()
    }

    /// The part of a job's final batch that gives its document back, if it made none.
    pub(in crate::jobs) fn give_back(record: &JobRecord) -> Change {
        unused_reservation(record).map(UsageKey::give_back).unwrap_or_default()
    }

    /// Tells the account's actor of what `give_back` wrote, once that is durable.
    pub(in crate::jobs) fn report_given_back(&self, record: &JobRecord) {
        if let Some(usage) = unused_reservation(record).cloned() {
            let told = self.give_back.send(GiveBack { usage });
            actix::spawn(async move {
                if let Err(error) = told.await {
                    tracing::error!(error = %error, "an account does not know of a document given back");
                }
            });
        }
    }
}

fn unused_reservation(record: &JobRecord) -> Option<&UsageKey> {
    record.usage.as_ref().filter(|_| record.output.is_none())
}
