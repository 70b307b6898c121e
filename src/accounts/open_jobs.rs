//! How many jobs of each account are initialized and not started, and how many there may be.
//!
//! Hazard: an open job counts against no document quota, and keeps its record, data and uploads for a day. Without a limit
//! one account could fill the index and the disk for all. So each account may have only so many at a time.
//! `open/<account>/<job>` is written and removed in the batch of the job's record, so that a start counts the open jobs
//! without reading those that have ended.

use std::collections::BTreeSet;

use crate::domain::ids::{AccountId, JobId};
use crate::problem::{Code, Problem};
use crate::storage::account_counts::AccountCounts;
use crate::storage::index::{Index, IndexError, scan_all};

const PREFIX: &str = "open/";
/// The longest `Retry-After`, in seconds: an hour later a caller may have started or deleted some.
const LONGEST_RETRY_AFTER_S: u64 = 3_600;

/// The jobs that are initialized and not started.
#[derive(Debug)]
pub struct OpenJobs {
    accounts: AccountCounts<BTreeSet<JobId>>,
}

/// The key of an open job's entry.
pub fn key(account: AccountId, job: JobId) -> String {
    format!("{PREFIX}{account}/{job}")
}

impl OpenJobs {
    /// Reads the open jobs from their entries in the index. An account without a limit of its own may have `default_limit` of
    /// them; zero: no limit.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn load(index: &dyn Index, default_limit: u64) -> Result<Self, IndexError> {
        let accounts = AccountCounts::<BTreeSet<JobId>>::new(default_limit);
        for (account, job) in scan_all(index, PREFIX).await?.iter().filter_map(|entry| parse(&entry.key)) {
            accounts.with(account, |jobs, _| jobs.insert(job));
        }
        Ok(Self { accounts })
    }

    /// Gives the account a limit of its own, zero for none; without one the default holds.
    pub fn set_limit(&self, account: AccountId, own_limit: Option<u64>) {
        self.accounts.set_limit(account, own_limit);
    }

    /// How many jobs of the account may be open; without a number as many as it likes.
    pub fn limit(&self, account: AccountId) -> Option<u64> {
        self.accounts.with(account, |_, limit| limit)
    }

    /// How many jobs of the account are open.
    pub fn count(&self, account: AccountId) -> u64 {
        self.accounts.with(account, |jobs, _| jobs.len() as u64)
    }

    /// The open jobs of all accounts.
    pub fn all(&self) -> Vec<(AccountId, JobId)> {
        let accounts = self.accounts.all().into_iter();
        accounts.flat_map(|(account, jobs)| jobs.into_iter().map(move |job| (account, job))).collect()
    }

    /// Counts a job that is about to be written. A job expires `start_window_s` seconds after it was made.
    ///
    /// # Errors
    /// `rate_limited` when the account has as many open jobs as it may have; a repeat makes sense when the earliest of
    /// them has expired.
    pub fn insert(&self, account: AccountId, job: JobId, start_window_s: u64) -> Result<(), Problem> {
        self.accounts.with(account, |jobs, limit| {
            let Some(limit) = limit.filter(|&limit| jobs.len() as u64 >= limit) else {
                jobs.insert(job);
                return Ok(());
            };
            // Ids sort by the time they were made.
            let age_ms = jobs.first().map_or(0, |earliest| job.made_at().since_ms(earliest.made_at()));
            let expires_in_s = start_window_s.saturating_sub(age_ms / 1_000).max(1);
            let detail = format!(
                "This account has {} jobs that are initialized and not started, of the {limit} it may have \
                 (accounts.open_jobs_limit). Start some (POST /documents/{{jobId}}/render), delete those that are not \
                 needed (DELETE /jobs/{{jobId}}), or ask the operator of this service for more (platen account set NAME \
                 --open-jobs-limit N). The earliest of them expires in {expires_in_s} s.",
                jobs.len()
            );
            let retry_after_s = expires_in_s.min(LONGEST_RETRY_AFTER_S);
            Err(Problem::new(Code::RateLimited, detail).retry_after(retry_after_s))
        })
    }

    /// Stops counting a job that was started, has ended, or was never written.
    pub fn remove(&self, account: AccountId, job: JobId) {
        self.accounts.with(account, |jobs, _| jobs.remove(&job));
    }
}

fn parse(key: &str) -> Option<(AccountId, JobId)> {
    let (account, job) = key.strip_prefix(PREFIX)?.split_once('/')?;
    Some((account.parse().ok()?, job.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use uuid::Builder;

    use super::*;

    #[test]
    fn one_job_too_many_may_come_again_when_the_earliest_has_expired() {
        const DAY_S: u64 = 86_400;
        let open = OpenJobs { accounts: AccountCounts::new(2) };
        let account = AccountId::generate();
        let at = |seconds: u64| {
            JobId(
                Builder::from_unix_timestamp_millis(1_700_000_000_000 + seconds * 1_000, &[0; 10])
                    .into_uuid(),
            )
        };
        // The one that was made last is counted first.
        for made in [100, 0] {
            open.insert(account, at(made), DAY_S).unwrap();
        }
        let repeat = |now| open.insert(account, at(now), DAY_S).unwrap_err().retry_after_s;
        assert_eq!([150, DAY_S - 3_600].map(repeat), [Some(3_600); 2]);
        assert_eq!([DAY_S - 3_599, DAY_S - 1, DAY_S, DAY_S + 9].map(repeat), [3_599, 1, 1, 1].map(Some));
        open.remove(account, at(0));
        open.insert(account, at(200), DAY_S).unwrap();
        assert_eq!(repeat(DAY_S - 1), Some(101), "of those that are open");
    }
}
