//! How many jobs of each account are initialized and not started, and how many there may be.
//!
//! Hazard: an open job counts against no document quota, and keeps its record, data and uploads for a day. Without a limit
//! one account could fill the index and the disk for all. So each account may have only so many at a time.
//! `open/<account>/<job>` is written and removed in the batch of the job's record, so that a start counts the open jobs
//! without reading those that have ended.

use std::collections::HashSet;

use crate::domain::ids::{AccountId, JobId};
use crate::problem::{Code, Problem};
use crate::storage::account_counts::AccountCounts;
use crate::storage::index::{Index, IndexError, scan_all};

const PREFIX: &str = "open/";

/// The jobs that are initialized and not started.
#[derive(Debug)]
pub struct OpenJobs {
    accounts: AccountCounts<HashSet<JobId>>,
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
        let accounts = AccountCounts::<HashSet<JobId>>::new(default_limit);
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

    /// Counts a job that is about to be written.
    ///
    /// # Errors
    /// `rate_limited` when the account has as many open jobs as it may have.
    pub fn insert(&self, account: AccountId, job: JobId) -> Result<(), Problem> {
        self.accounts.with(account, |jobs, limit| {
            let Some(limit) = limit.filter(|&limit| jobs.len() as u64 >= limit) else {
                jobs.insert(job);
                return Ok(());
            };
            let detail = format!(
                "This account has {} jobs that are initialized and not started, of the {limit} it may have \
                 (accounts.open_jobs_limit). Start some (POST /documents/{{jobId}}/render), cancel those that are not \
                 needed (DELETE /jobs/{{jobId}}), or ask the operator of this service for more (platen account set NAME \
                 --open-jobs-limit N).",
                jobs.len()
            );
            Err(Problem::new(Code::RateLimited, detail))
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
