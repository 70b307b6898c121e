//! What every job works with.

use std::sync::Arc;

use actix::Recipient;

use crate::accounts::actor::ReserveDocument;
use crate::accounts::{OpenJobs, Returns, UsageKey};
use crate::clock::Clock;
use crate::config::JobsConfig;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::stored_inputs::StoredInputs;
use crate::pipeline::Parts;
use crate::storage::UploadStaging;
use crate::storage::index::WriteBatch;

/// Shared by the registry and all job actors.
pub struct Deps {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where records last.
    pub journal: Journal,
    /// What a run works with.
    pub parts: Arc<Parts>,
    /// Section `[jobs]`.
    pub limits: JobsConfig,
    /// The check at init.
    pub reserve: Recipient<ReserveDocument>,
    /// Where documents that were not made are given back.
    pub returns: Returns,
    /// Which jobs are initialized and not started.
    pub open: Arc<OpenJobs>,
    /// What the inputs of jobs count as stored.
    pub stored: StoredInputs,
}

impl Deps {
    /// Where uploads land.
    pub(in crate::jobs) fn upload_staging(&self) -> UploadStaging {
        self.parts.store.upload_staging()
    }

    /// The part of a job's last batch that gives its document back, if it made none.
    pub(in crate::jobs) fn give_back(record: &JobRecord) -> WriteBatch {
        uncounted(record).map(UsageKey::give_back).unwrap_or_default()
    }

    /// Tells the account what `give_back` has written.
    pub(in crate::jobs) fn returned(&self, record: &JobRecord) {
        if let Some(usage) = uncounted(record).cloned() {
            self.returns.give_back(usage);
        }
    }
}

fn uncounted(record: &JobRecord) -> Option<&UsageKey> {
    record.usage.as_ref().filter(|_| record.output.is_none())
}
