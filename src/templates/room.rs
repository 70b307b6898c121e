//! How much is done at once: changes of one account, archives held in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::config::TemplatesConfig;
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};

/// Seconds after which a caller may try again.
const RETRY_AFTER_S: u64 = 2;

/// The room there is.
pub(super) struct Room {
    open: Arc<Mutex<HashMap<AccountId, u64>>>,
    account_limit: u64,
    /// For changes. Renders have room of their own, so that no flood of changes keeps them waiting.
    packing: Semaphore,
    loading: Semaphore,
    wait: Duration,
}

/// A change of an account under way.
#[derive(Debug)]
pub(super) struct Entered {
    open: Arc<Mutex<HashMap<AccountId, u64>>>,
    account: AccountId,
}

impl Room {
    /// As much as the configuration says.
    pub fn new(limits: &TemplatesConfig) -> Self {
        let archives = usize::try_from(limits.unpacking_limit).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            open: Arc::default(),
            account_limit: limits.changes_account_limit,
            packing: Semaphore::new(archives),
            loading: Semaphore::new(archives),
            wait: Duration::from_millis(limits.unpacking_timeout_ms),
        }
    }

    /// A place for a change of `account`, until it is dropped.
    ///
    /// # Errors
    /// `rate_limited` when the account has too many under way.
    pub fn enter(&self, account: AccountId) -> Result<Entered, Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(account).or_default();
        if *count >= self.account_limit {
            let limit = self.account_limit;
            let detail = format!(
                "This account has {limit} changes of templates under way (templates.changes_account_limit); wait for \
                 some to end."
            );
            return Err(Problem::new(Code::RateLimited, detail).retry_after(RETRY_AFTER_S));
        }
        *count += 1;
        Ok(Entered { open: Arc::clone(&self.open), account })
    }

    /// A place for a change that holds an archive in memory, until it is dropped.
    ///
    /// # Errors
    /// `overloaded` when none is free in time.
    pub async fn pack(&self) -> Result<SemaphorePermit<'_>, Problem> {
        if let Ok(permit) = timeout(self.wait, self.packing.acquire()).await {
            return permit.map_err(Problem::internal);
        }
        let limit_ms = self.wait.as_millis();
        let detail = format!(
            "Other archives were being unpacked for {limit_ms} ms (templates.unpacking_timeout_ms); try again."
        );
        Err(Problem::new(Code::Overloaded, detail).retry_after(RETRY_AFTER_S))
    }

    /// A place for a package that is unpacked, until it is dropped.
    pub async fn load(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed, so there is always a permit to wait for.
        self.loading.acquire().await.ok()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[tokio::test]
    async fn an_account_has_so_many_places_and_another_one_its_own() {
        let limits = TemplatesConfig { changes_account_limit: 2, ..Config::default().templates };
        let (room, one, other) = (Room::new(&limits), AccountId::generate(), AccountId::generate());
        let held = [room.enter(one).unwrap(), room.enter(one).unwrap()];
        assert_eq!(room.enter(one).unwrap_err().code, Code::RateLimited);
        drop(room.enter(other).unwrap());
        drop(held);
        assert!(room.open.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn who_waits_too_long_for_memory_is_told_and_renders_do_not_wait_for_changes() {
        tokio::time::pause();
        let limits = TemplatesConfig { unpacking_limit: 1, ..Config::default().templates };
        let room = Room::new(&limits);
        let _held = room.pack().await.unwrap();
        assert_eq!(room.pack().await.unwrap_err().code, Code::Overloaded);
        assert!(room.load().await.is_some());
    }
}
