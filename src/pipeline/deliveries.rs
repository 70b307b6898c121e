//! How many documents are delivered at once, over all and by one account: a receiver that takes nothing
//! holds up its own account only.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::domain::ids::AccountId;

/// Hands out the right to deliver.
pub struct DeliveryLimits {
    all: Arc<Semaphore>,
    account_limit: usize,
    accounts: Mutex<HashMap<AccountId, Weak<Semaphore>>>,
}

/// The right to deliver; given back when it is dropped.
pub struct DeliveryPermit {
    _account: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl DeliveryLimits {
    /// At most `limit` at once, and `account_limit` of one account.
    #[must_use]
    pub fn new(limit: usize, account_limit: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(limit)), account_limit, accounts: Mutex::default() }
    }

    /// Waits for a turn; `None` only when the service is being taken apart.
    pub async fn acquire(&self, account: AccountId) -> Option<DeliveryPermit> {
        let turns = self.account_permits(account);
        // The account's own first: who waits for it takes no turn from the others.
        let own = turns.acquire_owned().await.ok()?;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(DeliveryPermit { _account: own, _all: all })
    }

    fn account_permits(&self, account: AccountId) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = accounts.get(&account).and_then(Weak::upgrade) {
            return turns;
        }
        accounts.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(self.account_limit));
        accounts.insert(account, Arc::downgrade(&turns));
        turns
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_account_waits_for_its_own_deliveries_only() {
        let deliveries = DeliveryLimits::new(3, 2);
        let (one, other) = (AccountId::generate(), AccountId::generate());
        let enter = async |account| timeout(Duration::from_secs(1), deliveries.acquire(account)).await.ok();
        let (first, second) = (enter(one).await, enter(one).await);
        assert!(first.is_some() && second.is_some());
        assert!(enter(one).await.is_none(), "the account has two");
        let third = enter(other).await;
        assert!(third.is_some());
        drop(first);
        assert!(enter(one).await.is_some());
        drop((second, third));
        assert!(enter(AccountId::generate()).await.is_some());
        assert!(deliveries.accounts.lock().unwrap().len() <= 1, "accounts without deliveries are forgotten");
    }
}
