//! What is due for some jobs, gathered into one batch of the index. It is written while nobody else
//! changes jobs that have ended, and before any of their objects is deleted.

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::cleanup::sweeper::ExpireJob;
use crate::jobs::context::JobContext;
use crate::jobs::registry::delete;
use crate::jobs::store::expiry;
use crate::jobs::store::expiry::{ExpiryAction, Retention};
use crate::jobs::store::record::JobRecord;
use crate::storage::index::{Change, IndexError};
use crate::storage::leftovers::{self, Gone};

/// A job whose record cannot be read is looked at again after so long.
const UNREADABLE_PAUSE_MS: u64 = 86_400_000;

/// What is due for some jobs.
pub(in crate::jobs) struct Batch<'a> {
    context: &'a JobContext,
    retention: Retention,
    now: Timestamp,
    /// The batch.
    pub change: Change,
    /// What is to be deleted when it is durable.
    pub gone: Vec<Gone>,
    /// Who is to end.
    pub expired: Vec<ExpireJob>,
    /// Documents that go.
    pub outputs: u64,
    /// Records that go.
    pub records: u64,
}

impl<'a> Batch<'a> {
    /// A batch of nothing.
    pub(in crate::jobs) fn new(context: &'a JobContext, now: Timestamp) -> Self {
        Self {
            context,
            retention: Retention::of(&context.limits),
            now,
            change: Change::new(),
            gone: Vec::new(),
            expired: Vec::new(),
            outputs: 0,
            records: 0,
        }
    }

    /// Adds what is due for the job of an entry. The entry goes in the same batch, unless what follows has
    /// the same name.
    ///
    /// # Errors
    /// When a record cannot be written as bytes.
    pub(in crate::jobs) async fn add(&mut self, entry: &str) -> Result<(), IndexError> {
        let Some((_, account, job)) = expiry::parse(entry) else {
            tracing::error!(index.key = entry, "an entry of what is due names no job, and goes");
            self.append(Change::new().delete(entry));
            return Ok(());
        };
        match self.context.journal.read(account, job).await {
            Ok(Some(record)) => self.add_record(entry, record)?,
            Ok(None) => self.append(Change::new().delete(entry)),
            Err(error) => {
                // One that nobody understands must not keep the others.
                tracing::error!(job.id = %job, error = %error, "a job is due and cannot be read; it is tried again in a day");
                self.rename(entry, self.now.plus_ms(UNREADABLE_PAUSE_MS), account, job);
            }
        }
        Ok(())
    }

    fn add_record(&mut self, entry: &str, record: JobRecord) -> Result<(), IndexError> {
        let (account, job) = (record.account, record.id);
        match self.retention.next(&record) {
            // It was started; its end makes a new entry.
            None => self.append(Change::new().delete(entry)),
            // Another configuration wrote the entry.
            Some((at, _)) if at > self.now => self.rename(entry, at, account, job),
            Some((at, ExpiryAction::Expire)) => {
                // The end of the job removes the entry that has this name.
                self.rename(entry, at, account, job);
                self.expired.push(ExpireJob { account, job });
            }
            Some((_, ExpiryAction::DeleteOutput)) => self.delete_output(entry, record)?,
            Some((_, ExpiryAction::DeleteRecord)) => {
                let (change, gone) = delete::deletion(&self.context.journal, &record, self.context.landing());
                self.append(change.delete(entry));
                self.gone.push(gone);
                self.records += 1;
            }
        }
        Ok(())
    }

    fn delete_output(&mut self, entry: &str, mut record: JobRecord) -> Result<(), IndexError> {
        let keys = vec![delete::output(&record)];
        let kept_s = self.context.limits.output_retention_s;
        record.output = None;
        record.warnings.push(&format!("the document was removed after {kept_s} s (jobs.output_retention_s)"));
        let with = leftovers::mark(record.id.0, &keys).delete(entry);
        self.append(self.context.journal.write_batch(&record, with)?);
        self.gone.push((record.id.0, keys));
        self.outputs += 1;
        Ok(())
    }

    fn rename(&mut self, entry: &str, at: Timestamp, account: AccountId, job: JobId) {
        self.append(Change::new().delete(entry).put(expiry::key(at, account, job), []));
    }

    fn append(&mut self, change: Change) {
        self.change = std::mem::take(&mut self.change).and(change);
    }
}
