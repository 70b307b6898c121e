//! The journal: job records in the durable index.
//!
//! Two keys a job: `job/<account>/<id>` holds the record, `live/<id>` marks what was started and has not
//! ended, so that a start after a crash reads what is unfinished and nothing else.

use std::sync::Arc;

use super::record::{JobRecord, RECORD_VERSION};
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::storage::index::{Change, Entry, Index, IndexError};

const LIVE_PREFIX: &str = "live/";
/// Entries read at a time.
const PAGE: usize = 1_000;

/// Why a record cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The record is not of a form that this version knows.
    #[error("the record of job {id} cannot be read: {reason}")]
    Unreadable {
        /// Which job.
        id: JobId,
        /// Why.
        reason: String,
    },
}

/// Reads and writes job records.
#[derive(Clone)]
pub struct Journal {
    index: Arc<dyn Index>,
}

impl Journal {
    /// A journal in `index`.
    #[must_use]
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }

    /// Writes the record, and `with` it, in one batch; durable when it answers.
    ///
    /// # Errors
    /// When the index fails: nothing is written then.
    pub async fn commit(&self, record: &JobRecord, with: Change) -> Result<(), JournalError> {
        Ok(self.index.commit(change_of(record, with)?).await?)
    }

    /// Writes the record without waiting for the disk: a crash may lose it.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn write_unsynced(&self, record: &JobRecord) -> Result<(), JournalError> {
        Ok(self.index.write_unsynced(change_of(record, Change::new())?).await?)
    }

    /// The job of `account`, if it is there.
    ///
    /// # Errors
    /// When the index fails or the record is of an unknown form.
    pub async fn read(&self, account: AccountId, id: JobId) -> Result<Option<JobRecord>, JournalError> {
        let Some(bytes) = self.index.get(&record_key(account, id)).await? else { return Ok(None) };
        let record: JobRecord = serde_json::from_slice(&bytes)
            .map_err(|error| JournalError::Unreadable { id, reason: error.to_string() })?;
        if record.version > RECORD_VERSION {
            let reason = format!("version {} is newer than this program's", record.version);
            return Err(JournalError::Unreadable { id, reason });
        }
        Ok(Some(record))
    }

    /// Everything that was started and has not ended, oldest first.
    ///
    /// # Errors
    /// When the index fails or a record is of an unknown form.
    pub async fn unfinished(&self) -> Result<Vec<JobRecord>, JournalError> {
        let mut records = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.index.scan(LIVE_PREFIX, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(records) };
            after = Some(last.key.clone());
            for mark in &page {
                if let Some((account, id)) = parse_mark(mark) {
                    records.extend(self.read(account, id).await?);
                }
            }
        }
    }
}

fn change_of(record: &JobRecord, with: Change) -> Result<Change, JournalError> {
    let bytes = serde_json::to_vec(record)
        .map_err(|error| JournalError::Unreadable { id: record.id, reason: error.to_string() })?;
    let change = with.put(record_key(record.account, record.id), bytes);
    Ok(match record.state {
        JobState::Initialized => change,
        JobState::Queued | JobState::Running => {
            change.put(live_key(record.id), record.account.to_string().into_bytes())
        }
        JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => {
            change.delete(live_key(record.id))
        }
    })
}

fn record_key(account: AccountId, id: JobId) -> String {
    format!("job/{account}/{id}")
}

fn live_key(id: JobId) -> String {
    format!("{LIVE_PREFIX}{id}")
}

fn parse_mark(mark: &Entry) -> Option<(AccountId, JobId)> {
    let id = mark.key.strip_prefix(LIVE_PREFIX)?.parse().ok()?;
    Some((std::str::from_utf8(&mark.value).ok()?.parse().ok()?, id))
}
