//! What every job works with.

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
use crate::storage::index::Change;

/// Shared by the registry and all job actors.
pub struct JobContext {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where records last.
    pub journal: Journal,
    /// What a run works with.
    pub pipeline: Arc<PipelineContext>,
    /// Section `[jobs]`.
    pub limits: JobsConfig,
    /// The check at init.
    pub reserve: Recipient<ReserveDocument>,
    /// Tells the account of a document that was not made.
    pub give_back: Recipient<GiveBack>,
    /// Which jobs are initialized and not started.
    pub open: Arc<OpenJobs>,
    /// What the inputs of jobs count as stored.
    pub stored: StoredInputs,
}

impl JobContext {
    /// Where uploads land.
    pub(in crate::jobs) fn landing(&self) -> Landing {
        self.pipeline.store.landing()
    }

    /// The part of a job's last batch that gives its document back, if it made none.
    pub(in crate::jobs) fn give_back(record: &JobRecord) -> Change {
        uncounted(record).map(UsageKey::give_back).unwrap_or_default()
    }

    /// Tells the account what `give_back` has written.
    pub(in crate::jobs) fn returned(&self, record: &JobRecord) {
        if let Some(usage) = uncounted(record).cloned() {
            let told = self.give_back.send(GiveBack { usage });
            actix::spawn(async move {
                if let Err(error) = told.await {
                    tracing::error!(error = %error, "an account does not know of a document given back");
                }
            });
        }
    }
}

fn uncounted(record: &JobRecord) -> Option<&UsageKey> {
    record.usage.as_ref().filter(|_| record.output.is_none())
}
