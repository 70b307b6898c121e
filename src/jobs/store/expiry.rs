//! When a job expires, when its document is deleted, and when its record: a pure function of the record, which `cleanup`
//! acts on.
//!
//! The index has one entry a job, `due/<time>/<account>/<job>`, written in the batch of the record. The entries are sorted
//! by time, so a sweep reads what is due and nothing else, however many jobs there are.

use crate::clock::Timestamp;
use crate::config::JobsConfig;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::store::record::JobRecord;

/// Before every entry.
pub(in crate::jobs) const PREFIX: &str = "due/";

/// What is to be done when an entry is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiryAction {
    /// End the job: its start window is over.
    Expire,
    /// Delete the document and keep the record.
    DeleteOutput,
    /// Delete the record, and the document if there is one.
    DeleteRecord,
}

/// How long jobs, documents and records are kept.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "units stand last in names")]
pub struct Retention {
    start_window_ms: u64,
    output_ms: u64,
    record_ms: u64,
}

impl Retention {
    /// By section `[jobs]`.
    pub fn of(limits: &JobsConfig) -> Self {
        Self {
            start_window_ms: limits.start_window_s.saturating_mul(1_000),
            output_ms: limits.output_retention_s.saturating_mul(1_000),
            record_ms: limits.record_retention_s.saturating_mul(1_000),
        }
    }

    /// What is to be done next with the job, and when; nothing while it is queued or runs.
    pub fn next(&self, record: &JobRecord) -> Option<(Timestamp, ExpiryAction)> {
        match record.state {
            JobState::Initialized => Some((self.expires_at(record), ExpiryAction::Expire)),
            JobState::Queued | JobState::Running => None,
            JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => {
                let ended_at = record.finished_at.unwrap_or(record.created_at);
                let deletes_output = record.output.is_some() && self.output_ms < self.record_ms;
                Some(if deletes_output {
                    (ended_at.plus_ms(self.output_ms), ExpiryAction::DeleteOutput)
                } else {
                    (ended_at.plus_ms(self.record_ms), ExpiryAction::DeleteRecord)
                })
            }
        }
    }

    /// The end of the job's start window.
    pub fn expires_at(&self, record: &JobRecord) -> Timestamp {
        record.created_at.plus_ms(self.start_window_ms)
    }
}

/// The entry of a job.
pub(in crate::jobs) fn key(at: Timestamp, account: AccountId, job: JobId) -> String {
    format!("{PREFIX}{}/{account}/{job}", at.sortable())
}

/// The time and the job of an entry.
pub(in crate::jobs) fn parse(key: &str) -> Option<(Timestamp, AccountId, JobId)> {
    let mut parts = key.strip_prefix(PREFIX)?.split('/');
    let at = Timestamp::parse(parts.next()?)?;
    Some((at, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_sort_by_time_and_parse_back() {
        let (account, job) = (AccountId::generate(), JobId::generate());
        let keys = [9, 10, 1_700_000_000_000].map(|at| key(Timestamp(at), account, job));
        assert!(keys.is_sorted(), "{keys:?}");
        assert_eq!(parse(&keys[1]), Some((Timestamp(10), account, job)));
        assert_eq!(parse("due/soon"), None);
    }
}
