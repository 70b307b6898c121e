//! What is due for some jobs, as one batch of the index.
//!
//! The caller holds [`Journal::lock_ended`](crate::jobs::store::journal::Journal::lock_ended) from the first read to the write,
//! and deletes objects only when the batch is durable: a record must stop naming an object before that is deleted.

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::context::JobContext;
use crate::jobs::registry::expire::ExpireJob;
use crate::jobs::store::expiry::{self, ExpiryAction, Retention};
use crate::jobs::store::record::JobRecord;
use crate::storage::deletion_log::{self, PendingDeletion};
use crate::storage::index::{IndexError, WriteBatch};

/// A job whose record cannot be read is tried again after so long.
const UNREADABLE_PAUSE_MS: u64 = 86_400_000;

/// What is due for some jobs.
pub(super) struct ExpiryBatch<'a> {
    context: &'a JobContext,
    retention: Retention,
    now: Timestamp,
    /// To be committed before `gone` is deleted.
    pub batch: WriteBatch,
    /// The objects to be deleted once `batch` is durable.
    pub gone: Vec<PendingDeletion>,
    /// The jobs whose actors are to end them.
    pub expired: Vec<ExpireJob>,
    /// Documents to be deleted.
    pub outputs: u64,
    /// Records to be deleted.
    pub records: u64,
}

impl<'a> ExpiryBatch<'a> {
    /// An empty batch, for what is due at `now`.
    pub fn new(context: &'a JobContext, now: Timestamp) -> Self {
        Self {
            context,
            retention: Retention::of(&context.limits),
            now,
            batch: WriteBatch::new(),
            gone: Vec::new(),
            expired: Vec::new(),
            outputs: 0,
            records: 0,
        }
    }

    /// Adds what is due for the job of an entry, and removes the entry in the same batch.
    pub async fn add(&mut self, entry: &str) -> Result<(), IndexError> {
        let Some((_, account, job)) = expiry::parse(entry) else {
            tracing::error!(index.key = entry, "an entry of what is due names no job, and goes");
            self.append(WriteBatch::new().delete(entry));
            return Ok(());
        };
        match self.context.journal.read(account, job).await {
            Ok(Some(record)) => self.add_record(entry, record)?,
            Ok(None) => self.append(WriteBatch::new().delete(entry)),
            Err(error) => {
                // It would be the first entry of every sweep, and enough of them would keep all others from expiring.
                tracing::error!(job.id = %job, error = %error, "a job is due and cannot be read; it is tried again in a day");
                self.rename(entry, self.now.plus_ms(UNREADABLE_PAUSE_MS), account, job);
            }
        }
        Ok(())
    }

    fn add_record(&mut self, entry: &str, record: JobRecord) -> Result<(), IndexError> {
        let (account, job) = (record.account, record.id);
        match self.retention.next(&record) {
            // The job was started, and its end will write a new entry.
            None => self.append(WriteBatch::new().delete(entry)),
            // The entry was written under a shorter retention than today's.
            Some((at, _)) if at > self.now => self.rename(entry, at, account, job),
            Some((at, ExpiryAction::Expire)) => {
                // The job's end removes the entry of this time, so it has to have this time.
                self.rename(entry, at, account, job);
                self.expired.push(ExpireJob { account, job });
            }
            Some((_, ExpiryAction::DeleteOutput)) => self.delete_output(entry, record)?,
            Some((_, ExpiryAction::DeleteRecord)) => {
                let (batch, gone) = self.context.journal.deletion(&record, self.context.upload_staging());
                self.append(batch.delete(entry));
                self.gone.push(gone);
                self.records += 1;
            }
        }
        Ok(())
    }

    fn delete_output(&mut self, entry: &str, mut record: JobRecord) -> Result<(), IndexError> {
        let keys = vec![record.output_key()];
        let retention_s = self.context.limits.output_retention_s;
        record.output = None;
        record
            .warnings
            .push(&format!("the document was removed after {retention_s} s (jobs.output_retention_s)"));
        let with = deletion_log::log_entry(record.id.0, &keys).delete(entry);
        self.append(self.context.journal.write_batch(&record, with)?);
        self.gone.push((record.id.0, keys));
        self.outputs += 1;
        Ok(())
    }

    fn rename(&mut self, entry: &str, at: Timestamp, account: AccountId, job: JobId) {
        self.append(WriteBatch::new().delete(entry).put(expiry::key(at, account, job), []));
    }

    fn append(&mut self, batch: WriteBatch) {
        self.batch = std::mem::take(&mut self.batch).and(batch);
    }
}
