//! How much is done at once: changes of one account, archives held in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedMutexGuard, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::config::TemplatesConfig;
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};
use crate::templates::registry::locks::Turns;

/// Seconds after which a caller may try again.
const RETRY_AFTER_S: u64 = 2;

/// The room there is.
pub(in crate::templates) struct Room {
    open: Arc<Mutex<HashMap<AccountId, u64>>>,
    account_limit: u64,
    /// For changes. Renders have room of their own, so that no flood of changes keeps them waiting.
    packing: Queue,
    loading: Queue,
    wait: Duration,
}

/// Places for archives in memory. Of one account only one waits at a time, so that a crowd of its own keeps no other
/// account waiting.
struct Queue {
    places: Semaphore,
    turns: Turns<AccountId>,
}

/// A place for an archive in memory, until it is dropped.
pub(in crate::templates) struct Place<'a> {
    _place: SemaphorePermit<'a>,
    _turn: OwnedMutexGuard<()>,
}

impl Queue {
    fn new(places: usize) -> Self {
        Self { places: Semaphore::new(places), turns: Turns::default() }
    }

    async fn place(&self, account: AccountId) -> Result<Place<'_>, Problem> {
        let turn = self.turns.of(account).await;
        let place = self.places.acquire().await.map_err(Problem::internal)?;
        Ok(Place { _place: place, _turn: turn })
    }
}

/// A change of an account under way.
#[derive(Debug)]
pub(in crate::templates) struct Entered {
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
            packing: Queue::new(archives),
            loading: Queue::new(archives),
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

    /// A place for a change that holds an archive in memory.
    ///
    /// # Errors
    /// `overloaded` when none is free in time.
    pub async fn pack(&self, account: AccountId) -> Result<Place<'_>, Problem> {
        if let Ok(place) = timeout(self.wait, self.packing.place(account)).await {
            return place;
        }
        let limit_ms = self.wait.as_millis();
        let detail = format!(
            "Other archives were being unpacked for {limit_ms} ms (templates.unpacking_timeout_ms); try again."
        );
        Err(Problem::new(Code::Overloaded, detail).retry_after(RETRY_AFTER_S))
    }

    /// A place for a package of `account` that is unpacked for a render.
    ///
    /// # Errors
    /// None that is known: the places are never closed.
    pub async fn load(&self, account: AccountId) -> Result<Place<'_>, Problem> {
        self.loading.place(account).await
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
        let (room, account) = (Room::new(&limits), AccountId::generate());
        let _held = room.pack(account).await.unwrap();
        assert_eq!(room.pack(AccountId::generate()).await.err().unwrap().code, Code::Overloaded);
        assert!(room.load(account).await.is_ok());
    }

    #[tokio::test]
    async fn a_crowd_of_one_account_keeps_no_other_waiting() {
        tokio::time::pause();
        let limits = TemplatesConfig { unpacking_limit: 2, ..Config::default().templates };
        let (room, one, other) = (Room::new(&limits), AccountId::generate(), AccountId::generate());
        let _held = room.pack(one).await.unwrap();
        let crowd = futures_util::future::join_all((0..30).map(|_| room.pack(one)));
        let (crowd, place) = tokio::join!(crowd, room.pack(other));
        assert!(place.is_ok() && crowd.iter().all(Result::is_err), "one place is the other account's");
    }
}
