//! What the inputs of jobs count in their accounts' storage, from their arrival until the end of the job.
//!
//! Nothing is written for it while a job waits: after a restart the sizes come from the job's record, and, for uploads
//! that came after it was written, from the store. A bucket that takes uploads itself tells nobody of them, so there
//! they count from the start of the job on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt as _;

use crate::accounts::open;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::context::JobContext;
use crate::jobs::messages::InputPart;
use crate::jobs::store::inputs;
use crate::jobs::store::record::JobRecord;
use crate::pipeline::InlineInputs;
use crate::problem::Problem;
use crate::storage::index::{Change, IndexError};
use crate::storage::{Landing, ObjectStore, StorageQuota, StoreError, StoredBytes};

/// Jobs whose inputs are looked for at once, at a start.
const LOOKED_FOR_AT_ONCE: usize = 32;

/// The inputs of jobs that have not ended, as they count.
pub struct StoredInputs {
    quota: Arc<StorageQuota>,
    jobs: Mutex<HashMap<JobId, CountedInputs>>,
}

/// The inputs of one job.
#[derive(Debug, Default)]
pub(in crate::jobs) struct CountedInputs {
    data: Option<StoredBytes>,
    template: Option<StoredBytes>,
}

impl CountedInputs {
    /// How many bytes they count.
    pub(in crate::jobs) fn bytes(&self) -> u64 {
        [&self.data, &self.template].into_iter().flatten().map(StoredBytes::bytes).sum()
    }

    fn part(&mut self, part: InputPart) -> &mut Option<StoredBytes> {
        match part {
            InputPart::Data => &mut self.data,
            InputPart::Template => &mut self.template,
        }
    }
}

impl StoredInputs {
    /// Inputs that count in `quota`; none yet.
    #[must_use]
    pub fn new(quota: Arc<StorageQuota>) -> Self {
        Self { quota, jobs: Mutex::default() }
    }

    /// Counts what came with a request and will wait for a start.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub(in crate::jobs) fn count_inline(
        &self,
        account: AccountId,
        inline: &InlineInputs,
    ) -> Result<CountedInputs, Problem> {
        let count = |bytes: &Option<bytes::Bytes>| {
            let length = bytes.as_ref().map(|bytes| bytes.len() as u64);
            length.map(|length| self.grown(account, length)).transpose()
        };
        Ok(CountedInputs { data: count(&inline.data)?, template: count(&inline.template)? })
    }

    /// An upload that is about to come, in the place of one that may be there.
    pub(in crate::jobs) fn begin_upload(
        &self,
        account: AccountId,
        job: JobId,
        part: InputPart,
    ) -> StoredBytes {
        let replaced =
            self.lock().get_mut(&job).and_then(|counted| Some(counted.part(part).as_ref()?.bytes()));
        self.quota.begin(account).replacing(replaced.unwrap_or(0))
    }

    /// Counts an upload that the store took itself, and that becomes an input now.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub(in crate::jobs) fn count_upload(
        &self,
        record: &JobRecord,
        part: InputPart,
        bytes: u64,
    ) -> Result<(), Problem> {
        let mut stored = self.begin_upload(record.account, record.id, part);
        stored.grow(bytes)?;
        self.set(record.id, part, stored);
        Ok(())
    }

    /// An input is there; one that it replaces counts no more.
    pub(in crate::jobs) fn set(&self, job: JobId, part: InputPart, stored: StoredBytes) {
        let former = self.lock().entry(job).or_default().part(part).replace(stored);
        drop(former);
    }

    /// The inputs of a new job are there.
    pub(in crate::jobs) fn insert(&self, job: JobId, counted: CountedInputs) {
        if counted.data.is_some() || counted.template.is_some() {
            self.lock().insert(job, counted);
        }
    }

    /// How many bytes the job's inputs count.
    pub(in crate::jobs) fn bytes(&self, job: JobId) -> u64 {
        self.lock().get(&job).map_or(0, CountedInputs::bytes)
    }

    /// The job has ended, and its inputs go.
    pub(in crate::jobs) fn remove(&self, job: JobId) {
        let counted = self.lock().remove(&job);
        drop(counted);
    }

    fn grown(&self, account: AccountId, bytes: u64) -> Result<StoredBytes, Problem> {
        let mut stored = self.quota.begin(account);
        stored.grow(bytes)?;
        Ok(stored)
    }

    /// What is known to be there counts, whatever the limit says.
    fn restore_part(&self, record: &JobRecord, part: InputPart, bytes: u64) {
        let mut stored = self.quota.begin(record.account);
        stored.found(bytes);
        self.set(record.id, part, stored);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, CountedInputs>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts what an earlier life of the service left: inputs of the jobs that are open, and of those that were started
/// and are `unfinished`.
///
/// # Errors
/// When the index fails.
pub async fn restore(context: &JobContext, unfinished: &[JobRecord]) -> Result<(), IndexError> {
    for record in unfinished.iter().filter(|record| record.stored_bytes > 0) {
        context.stored.restore_part(record, InputPart::Template, record.stored_bytes);
    }
    let mut looked = futures_util::stream::iter(context.open.all())
        .map(|(account, job)| async move {
            match context.journal.read(account, job).await {
                Ok(Some(record)) => restore_open(context, &record).await,
                Ok(None) => {
                    context.open.leave(account, job);
                    forget_mark(context, account, job).await;
                }
                // One that nobody understands must not keep the service from starting, nor a place that nobody can
                // give back: it can be neither started nor cancelled. Its mark stays for a version that reads it.
                Err(error) => {
                    context.open.leave(account, job);
                    tracing::error!(job.id = %job, error = %error, "the inputs of a job count nothing, for it cannot be read");
                }
            }
        })
        .buffer_unordered(LOOKED_FOR_AT_ONCE);
    while looked.next().await.is_some() {}
    Ok(())
}

/// A mark without a job stands for nothing; one that stays is looked at again at the next start.
async fn forget_mark(context: &JobContext, account: AccountId, job: JobId) {
    let change = Change::new().delete(open::mark(account, job));
    if let Err(error) = context.journal.change_unsynced(change).await {
        tracing::warn!(job.id = %job, error = %error, "the mark of an open job that is gone stays");
    }
}

async fn restore_open(context: &JobContext, record: &JobRecord) {
    if record.stored_bytes > 0 {
        // Beside an upload that is found, not in its place: what came with init is one part, or both and no upload.
        let part = if record.given.data { InputPart::Data } else { InputPart::Template };
        context.stored.restore_part(record, part, record.stored_bytes);
    }
    if context.landing() != Landing::Final {
        return;
    }
    let store = context.pipeline.store.as_ref();
    for part in inputs::uploaded_parts(record) {
        if let Some(bytes) = size(store, record, part).await {
            context.stored.restore_part(record, part, bytes);
        }
    }
}

async fn size(store: &dyn ObjectStore, record: &JobRecord, part: InputPart) -> Option<u64> {
    match store.head(&inputs::object(record.account, record.id, part)).await {
        Ok(meta) => Some(meta.bytes),
        Err(StoreError::NotFound(_)) => None,
        Err(error) => {
            tracing::warn!(job.id = %record.id, error = %error, "an upload counts nothing, for the store does not tell its size");
            None
        }
    }
}
