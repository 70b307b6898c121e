//! What is counted for each account, and how much it may be: by the limit for all accounts, or one of the account's own.
//!
//! Plain types under a lock: check and count are one step, or two requests at once would get more than the limit.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::ids::AccountId;

/// What is counted for each account.
#[derive(Debug)]
pub struct AccountCounts<T> {
    default_limit: u64,
    accounts: Mutex<HashMap<AccountId, AccountCount<T>>>,
}

#[derive(Clone, Debug, Default)]
struct AccountCount<T> {
    counted: T,
    /// The account's own limit; zero for none.
    own_limit: Option<u64>,
}

impl<T: Clone + Default> AccountCounts<T> {
    /// Nothing is counted yet; each account may have `default_limit`, zero for as much as it likes.
    pub fn new(default_limit: u64) -> Self {
        Self { default_limit, accounts: Mutex::default() }
    }

    /// Gives the account a limit of its own, zero for none; without one the default holds.
    pub fn set_limit(&self, account: AccountId, own_limit: Option<u64>) {
        self.lock().entry(account).or_default().own_limit = own_limit;
    }

    /// What is counted for the account, and its limit if it has one.
    pub fn get(&self, account: AccountId) -> (T, Option<u64>) {
        let AccountCount { counted, own_limit } = self.lock().get(&account).cloned().unwrap_or_default();
        (counted, self.limit(own_limit))
    }

    /// Looks at what is counted for the account, with its limit if it has one, and changes it.
    pub fn with<R>(&self, account: AccountId, change: impl FnOnce(&mut T, Option<u64>) -> R) -> R {
        let mut accounts = self.lock();
        let AccountCount { counted, own_limit } = accounts.entry(account).or_default();
        change(counted, self.limit(*own_limit))
    }

    /// All that is counted.
    pub fn all(&self) -> Vec<(AccountId, T)> {
        self.lock().iter().map(|(account, count)| (*account, count.counted.clone())).collect()
    }

    fn limit(&self, own_limit: Option<u64>) -> Option<u64> {
        Some(own_limit.unwrap_or(self.default_limit)).filter(|&limit| limit > 0)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, AccountCount<T>>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
