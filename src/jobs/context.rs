//! What the job registry, the job actors and the sweeper share.

use std::sync::Arc;

use actix::Recipient;

use crate::accounts::actor::ReserveDocument;
use crate::accounts::{DocumentReturns, OpenJobs, UsageKey};
use crate::clock::Clock;
use crate::config::JobsConfig;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::stored_inputs::StoredInputs;
use crate::pipeline::PipelineContext;
use crate::storage::UploadStaging;
use crate::storage::index::WriteBatch;

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
    /// Where documents that were reserved and not made are given back.
    pub document_returns: DocumentReturns,
    /// Jobs that are initialized and not started, counted by account.
    pub open_jobs: Arc<OpenJobs>,
    /// Bytes of inputs that count in their accounts' storage.
    pub stored: StoredInputs,
}

impl JobContext {
    /// Counts the inputs of jobs of an earlier run of the service: of those that are open, and of those that were started
    /// and are `unfinished`. To be called once, before the registry starts.
    pub async fn restore_stored_inputs(&self, unfinished: &[JobRecord]) {
        self.stored.restore(&self.journal, self.pipeline.store.as_ref(), &self.open_jobs, unfinished).await;
    }

    /// Whether uploads are staged beside their final key.
    pub(in crate::jobs) fn upload_staging(&self) -> UploadStaging {
        self.pipeline.store.upload_staging()
    }

    /// The part of a job's final batch that gives its document back, if it made none.
    pub(in crate::jobs) fn give_back(record: &JobRecord) -> WriteBatch {
        unused_reservation(record).map(UsageKey::give_back).unwrap_or_default()
    }

    /// Gives the document back in the ledger; to be called once the batch with `give_back` is durable.
    pub(in crate::jobs) fn report_given_back(&self, record: &JobRecord) {
        if let Some(usage) = unused_reservation(record).cloned() {
            self.document_returns.give_back(usage);
        }
    }
}

fn unused_reservation(record: &JobRecord) -> Option<&UsageKey> {
    record.usage.as_ref().filter(|_| record.output.is_none())
}
