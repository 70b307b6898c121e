//! One after the other: changes of one template wait for each other, changes of different ones do not; of the
//! changes of one account that unpack, one waits for its place at a time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Above so many, those that nobody holds are looked for.
const TIDY_AT: usize = 1_024;

/// Who changes which template.
#[derive(Debug)]
pub(in crate::templates) struct Turns<K> {
    held: Mutex<HashMap<K, Weak<AsyncMutex<()>>>>,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self { held: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash + Ord> Turns<K> {
    /// Waits until nobody else has the turn of `key`.
    pub async fn of(&self, key: K) -> OwnedMutexGuard<()> {
        self.turn(key).lock_owned().await
    }

    /// Waits for both; two who want the same two never wait for each other.
    pub async fn both(&self, one: K, other: K) -> Vec<OwnedMutexGuard<()>> {
        let mut keys = vec![one, other];
        keys.sort_unstable();
        keys.dedup();
        let mut guards = Vec::with_capacity(keys.len());
        for key in keys {
            guards.push(self.of(key).await);
        }
        guards
    }

    fn turn(&self, key: K) -> Arc<AsyncMutex<()>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = held.get(&key).and_then(Weak::upgrade) {
            return turn;
        }
        if held.len() >= TIDY_AT {
            held.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(AsyncMutex::new(()));
        held.insert(key, Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TemplateId;

    #[tokio::test]
    async fn who_wants_the_same_waits_and_who_wants_another_does_not() {
        let turns = Turns::default();
        let (one, other) = (TemplateId::generate(), TemplateId::generate());
        let held = turns.both(other, one).await;
        assert_eq!(held.len(), 2);
        assert!(turns.turn(one).try_lock_owned().is_err() && turns.turn(other).try_lock_owned().is_err());
        assert!(turns.turn(TemplateId::generate()).try_lock_owned().is_ok());
        drop(held);
        assert_eq!(turns.both(one, one).await.len(), 1);
        assert!(turns.turn(one).try_lock_owned().is_ok());
    }

    #[tokio::test]
    async fn what_nobody_holds_is_forgotten() {
        let turns = Turns::default();
        let held = turns.of(TemplateId::generate()).await;
        for _ in 0..3 * TIDY_AT {
            drop(turns.of(TemplateId::generate()).await);
        }
        assert!(turns.held.lock().unwrap().len() <= TIDY_AT + 1);
        drop(held);
    }
}
