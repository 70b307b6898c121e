//! Counts for each account with a limit: the default for all accounts, or the account's own.
//!
//! Hazard: two concurrent requests could both pass a check and together exceed the limit. So check and count are one step under
//! one lock.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::domain::ids::AccountId;

/// Counts by account.
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
    /// All counts at zero, with this limit for each account; zero: none.
    pub fn new(default_limit: u64) -> Self {
        Self { default_limit, accounts: Mutex::default() }
    }

    /// Sets the account's own limit (zero: none), or removes it.
    pub fn set_limit(&self, account: AccountId, own_limit: Option<u64>) {
        self.accounts.lock().entry(account).or_default().own_limit = own_limit;
    }

    /// The account's count, and its limit if it has one.
    pub fn get(&self, account: AccountId) -> (T, Option<u64>) {
        let AccountCount { counted, own_limit } =
            self.accounts.lock().get(&account).cloned().unwrap_or_default();
        (counted, self.limit(own_limit))
    }

    /// Changes the account's count, given its limit if it has one, as one step.
    pub fn with<R>(&self, account: AccountId, change: impl FnOnce(&mut T, Option<u64>) -> R) -> R {
        let mut accounts = self.accounts.lock();
        let AccountCount { counted, own_limit } = accounts.entry(account).or_default();
        change(counted, self.limit(*own_limit))
    }

    /// All counts.
    pub fn all(&self) -> Vec<(AccountId, T)> {
        self.accounts.lock().iter().map(|(account, count)| (*account, count.counted.clone())).collect()
    }

    fn limit(&self, own_limit: Option<u64>) -> Option<u64> {
        Some(own_limit.unwrap_or(self.default_limit)).filter(|&limit| limit > 0)
    }
}
