//! How many jobs of each account are initialized and not started, and how many there may be.
//!
//! Hazard: such a job costs nothing and waits for a day with its record, data and uploads, so one account could fill the
//! index of all. Each account may have a number of them. `open/<account>/<job>` is written and removed in the batch of the
//! job's record, so that a start counts them without reading the jobs that have ended.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::ids::{AccountId, JobId};
use crate::problem::{Code, Problem};
use crate::storage::index::{Index, IndexError, scan_all};

const PREFIX: &str = "open/";
/// `Retry-After`, as of a full queue.
const RETRY_AFTER_S: u64 = 2;

/// The jobs that are initialized and not started.
#[derive(Debug)]
pub struct OpenJobs {
    default_limit: u64,
    accounts: Mutex<HashMap<AccountId, Open>>,
}

#[derive(Debug, Default)]
struct Open {
    jobs: HashSet<JobId>,
    /// The account's own limit; zero for none.
    own_limit: Option<u64>,
}

/// The key that stands for an open job.
pub fn mark(account: AccountId, job: JobId) -> String {
    format!("{PREFIX}{account}/{job}")
}

impl OpenJobs {
    /// Those that the index has marks of; each account may have `default_limit` of them, zero for as many as it likes.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn load(index: &dyn Index, default_limit: u64) -> Result<Self, IndexError> {
        let mut accounts = HashMap::<AccountId, Open>::new();
        for (account, job) in scan_all(index, PREFIX).await?.iter().filter_map(|entry| parse(&entry.key)) {
            accounts.entry(account).or_default().jobs.insert(job);
        }
        Ok(Self { default_limit, accounts: Mutex::new(accounts) })
    }

    /// Gives the account a limit of its own, zero for none; without one the default holds.
    pub fn set_limit(&self, account: AccountId, own_limit: Option<u64>) {
        self.lock().entry(account).or_default().own_limit = own_limit;
    }

    /// How many jobs of the account may be open; without a number as many as it likes.
    pub fn limit(&self, account: AccountId) -> Option<u64> {
        let own = self.lock().get(&account).and_then(|open| open.own_limit);
        Some(own.unwrap_or(self.default_limit)).filter(|&limit| limit > 0)
    }

    /// How many jobs of the account are open.
    pub fn count(&self, account: AccountId) -> u64 {
        self.lock().get(&account).map_or(0, |open| open.jobs.len() as u64)
    }

    /// All of them.
    pub fn all(&self) -> Vec<(AccountId, JobId)> {
        let accounts = self.lock();
        let of = |(account, open): (&AccountId, &Open)| {
            let account = *account;
            open.jobs.iter().map(move |job| (account, *job)).collect::<Vec<_>>()
        };
        accounts.iter().flat_map(of).collect()
    }

    /// Counts a job that is about to be written.
    ///
    /// # Errors
    /// `rate_limited` when the account has as many open jobs as it may have.
    pub fn enter(&self, account: AccountId, job: JobId) -> Result<(), Problem> {
        let limit = self.limit(account);
        let mut accounts = self.lock();
        let jobs = &mut accounts.entry(account).or_default().jobs;
        if let Some(limit) = limit.filter(|&limit| jobs.len() as u64 >= limit) {
            let detail = format!(
                "This account has {} jobs that are initialized and not started, of the {limit} it may have \
                 (accounts.open_jobs_limit). Start some (POST /documents/{{jobId}}/render), cancel those that are not \
                 needed (DELETE /jobs/{{jobId}}), or ask the operator of this service for more (platen account set NAME \
                 --open-jobs-limit N).",
                jobs.len()
            );
            return Err(Problem::new(Code::RateLimited, detail).retry_after(RETRY_AFTER_S));
        }
        jobs.insert(job);
        Ok(())
    }

    /// Stops counting a job that was started, has ended, or was never written.
    pub fn leave(&self, account: AccountId, job: JobId) {
        if let Some(open) = self.lock().get_mut(&account) {
            open.jobs.remove(&job);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, Open>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse(key: &str) -> Option<(AccountId, JobId)> {
    let (account, job) = key.strip_prefix(PREFIX)?.split_once('/')?;
    Some((account.parse().ok()?, job.parse().ok()?))
}
