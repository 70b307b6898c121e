//! What the inputs of jobs count in their accounts' storage, from their arrival until the end of the job.
//!
//! Nothing is written for it while a job waits: after a restart the sizes come from the job's record and, for uploads that
//! came after it was written, from the store. A bucket that takes uploads itself does not report them, so there they count
//! from the start of the job on.
//!
//! A plain type with a lock, not a part of an actor: an upload is counted by the job's actor, on its thread, before it
//! answers, and must go on counting when that actor is evicted or has panicked; the registry reads the same counts.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use parking_lot::Mutex;

use crate::accounts::{OpenJobs, open_jobs};
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::messages::InputPart;
use crate::jobs::store::inputs;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::pipeline::InlineInputs;
use crate::problem::{Code, Problem};
use crate::storage::index::WriteBatch;
use crate::storage::{
    self, CountedUpload, ObjectStore, StorageKey, StorageQuota, StorageReservation, StoreError,
    UploadStaging, upload_staging,
};

/// Jobs whose inputs are looked up at once when the service starts.
const LOOKUPS_AT_ONCE: usize = 32;

/// The inputs of jobs that have not ended, as they count.
pub struct StoredInputs {
    quota: Arc<StorageQuota>,
    jobs: Mutex<HashMap<JobId, CountedInputs>>,
}

/// The inputs of one job; they count until this is dropped.
#[derive(Debug, Default)]
pub(in crate::jobs) struct CountedInputs {
    data: Option<StorageReservation>,
    template: Option<StorageReservation>,
}

impl CountedInputs {
    pub(in crate::jobs) fn bytes(&self) -> u64 {
        [&self.data, &self.template].into_iter().flatten().map(StorageReservation::bytes).sum()
    }

    fn part(&mut self, part: InputPart) -> &mut Option<StorageReservation> {
        match part {
            InputPart::Data => &mut self.data,
            InputPart::Template => &mut self.template,
        }
    }
}

impl StoredInputs {
    /// No inputs yet; they will count in `quota`.
    pub fn new(quota: Arc<StorageQuota>) -> Self {
        Self { quota, jobs: Mutex::default() }
    }

    /// Counts inputs that came with a request, of a job that will wait for its start.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub(in crate::jobs) fn count_inline(
        &self,
        account: AccountId,
        inline: &InlineInputs,
    ) -> Result<CountedInputs, Problem> {
        let count = |bytes: &Option<bytes::Bytes>| {
            let Some(bytes) = bytes else { return Ok(None) };
            let mut stored = self.quota.begin(account);
            stored.grow(bytes.len() as u64).map(|()| Some(stored))
        };
        Ok(CountedInputs { data: count(&inline.data)?, template: count(&inline.template)? })
    }

    /// Begins to count an upload; one that it replaces does not count beside it.
    pub(in crate::jobs) fn begin_upload(
        &self,
        account: AccountId,
        job: JobId,
        part: InputPart,
    ) -> StorageReservation {
        self.quota.begin(account).replacing(self.part_bytes(job, part))
    }

    /// How many bytes this input of the job counts.
    fn part_bytes(&self, job: JobId, part: InputPart) -> u64 {
        let mut jobs = self.jobs.lock();
        let counted = jobs.get_mut(&job).and_then(|counted| counted.part(part).as_ref());
        counted.map_or(0, StorageReservation::bytes)
    }

    /// Makes an upload the object `key`, durably, and counts it in the place of an earlier one.
    ///
    /// # Errors
    /// When the store fails. It may fail behind a write that it has done, so what is there then counts; where it does not tell
    /// which one that is, the larger.
    pub(in crate::jobs) async fn place(
        &self,
        store: &dyn ObjectStore,
        (job, part): (JobId, InputPart),
        upload: CountedUpload,
        key: &StorageKey,
    ) -> Result<(), StoreError> {
        let (staged, mut stored) = upload.into_parts();
        let placed = staged.commit(key).await.map(drop);
        if placed.is_err() {
            let (new, former) = (stored.bytes(), self.part_bytes(job, part));
            stored.set_stored(match storage::size_of(store, key).await {
                Ok(there) if there == Some(new) => new,
                Ok(_) => former,
                Err(_) => new.max(former),
            });
        }
        self.set(job, part, stored);
        placed
    }

    /// Counts an input that is stored, in the place of an earlier one.
    fn set(&self, job: JobId, part: InputPart, stored: StorageReservation) {
        let former = self.jobs.lock().entry(job).or_default().part(part).replace(stored);
        drop(former);
    }

    /// Counts the inputs of a new job from now on.
    pub(in crate::jobs) fn insert(&self, job: JobId, counted: CountedInputs) {
        if counted.data.is_some() || counted.template.is_some() {
            self.jobs.lock().insert(job, counted);
        }
    }

    /// How many bytes the job's inputs count.
    pub(in crate::jobs) fn bytes(&self, job: JobId) -> u64 {
        self.jobs.lock().get(&job).map_or(0, CountedInputs::bytes)
    }

    /// Stops counting the inputs of a job that has ended.
    pub(in crate::jobs) fn remove(&self, job: JobId) {
        let counted = self.jobs.lock().remove(&job);
        drop(counted);
    }

    /// Makes what was uploaded to presigned addresses the inputs that the job runs with; what is uploaded later changes
    /// nothing.
    ///
    /// # Errors
    /// `payload_too_large`, `storage_exceeded`, and the errors of the store.
    pub(in crate::jobs) async fn take_uploads(
        &self,
        store: &dyn ObjectStore,
        record: &JobRecord,
        limit_bytes: u64,
    ) -> Result<(), Problem> {
        let taken =
            inputs::uploaded_parts(record).map(|part| self.take_upload(store, record, part, limit_bytes));
        futures_util::future::try_join_all(taken).await.map(drop)
    }

    async fn take_upload(
        &self,
        store: &dyn ObjectStore,
        record: &JobRecord,
        part: InputPart,
        limit_bytes: u64,
    ) -> Result<(), Problem> {
        let key = part.storage_key(record.account, record.id);
        let taken = upload_staging::take(store, &key, limit_bytes).await.map_err(|error| match error {
            StoreError::TooLarge { limit_bytes } => too_large(&key, limit_bytes),
            StoreError::NotFound(_) | StoreError::Range { .. } | StoreError::Failed(_) => error.into(),
        });
        let Some(bytes) = taken? else { return Ok(()) };
        // The store took it without the service, so it was not counted until now.
        let mut stored = self.begin_upload(record.account, record.id, part);
        if let Err(problem) = stored.grow(bytes) {
            inputs::delete(store, &[key]).await;
            return Err(problem);
        }
        self.set(record.id, part, stored);
        Ok(())
    }

    /// Counts the inputs of jobs from an earlier run of the service: of those that are `open`, and of those that were
    /// started and are `unfinished`.
    pub(in crate::jobs) async fn restore(
        &self,
        journal: &Journal,
        store: &dyn ObjectStore,
        open: &OpenJobs,
        unfinished: &[JobRecord],
    ) {
        for record in unfinished.iter().filter(|record| record.stored_bytes > 0) {
            self.restore_part(record, InputPart::Template, record.stored_bytes);
        }
        let mut lookups = futures_util::stream::iter(open.all())
            .map(|(account, job)| async move {
                match journal.read(account, job).await {
                    Ok(Some(record)) => self.restore_open(store, &record).await,
                    Ok(None) => {
                        open.remove(account, job);
                        remove_open_entry(journal, account, job).await;
                    }
                    // It can be neither started nor cancelled, so it must not count among the account's open jobs, and
                    // it must not stop the service from starting. The entry stays for a version that can read it.
                    Err(error) => {
                        open.remove(account, job);
                        tracing::error!(job.id = %job, error = %error, "the inputs of a job count nothing, for it cannot be read");
                    }
                }
            })
            .buffer_unordered(LOOKUPS_AT_ONCE);
        while lookups.next().await.is_some() {}
    }

    async fn restore_open(&self, store: &dyn ObjectStore, record: &JobRecord) {
        if record.stored_bytes > 0 {
            // All of it as one part, one that came with init: that part has no upload, so none is counted in its place.
            let part = if record.given.data { InputPart::Data } else { InputPart::Template };
            self.restore_part(record, part, record.stored_bytes);
        }
        if store.upload_staging() != UploadStaging::Direct {
            return;
        }
        for part in inputs::uploaded_parts(record) {
            if let Some(bytes) = size(store, record, part).await {
                self.restore_part(record, part, bytes);
            }
        }
    }

    /// Counts what is known to be stored, whatever the limit is now.
    fn restore_part(&self, record: &JobRecord, part: InputPart, bytes: u64) {
        let mut stored = self.quota.begin(record.account);
        stored.set_stored(bytes);
        self.set(record.id, part, stored);
    }
}

/// Removes the entry of an open job that has no record. If it stays, the next start finds it again.
async fn remove_open_entry(journal: &Journal, account: AccountId, job: JobId) {
    let batch = WriteBatch::new().delete(open_jobs::key(account, job));
    if let Err(error) = journal.index().write_unsynced(batch).await {
        tracing::warn!(job.id = %job, error = %error, "the mark of an open job that is gone stays");
    }
}

async fn size(store: &dyn ObjectStore, record: &JobRecord, part: InputPart) -> Option<u64> {
    let size = storage::size_of(store, &part.storage_key(record.account, record.id)).await;
    size.unwrap_or_else(|error| {
        tracing::warn!(job.id = %record.id, error = %error, "an upload counts nothing, for the store does not tell its size");
        None
    })
}

fn too_large(key: &StorageKey, limit_bytes: u64) -> Problem {
    let name = key.file_name();
    let detail = format!(
        "The upload of '{name}' is larger than {limit_bytes} bytes (http.upload_limit_bytes); upload a smaller one, and \
         start the job again."
    );
    Problem::new(Code::PayloadTooLarge, detail)
}
