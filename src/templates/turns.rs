//! One after the other: changes of one template wait for each other, changes of different ones do not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::domain::ids::TemplateId;

/// Above so many, those that nobody holds are looked for.
const TIDY_AT: usize = 1_024;

/// Who changes which template.
#[derive(Debug, Default)]
pub(super) struct Turns {
    held: Mutex<HashMap<TemplateId, Weak<AsyncMutex<()>>>>,
}

impl Turns {
    /// Waits until nobody else changes `template`.
    pub async fn of(&self, template: TemplateId) -> OwnedMutexGuard<()> {
        self.turn(template).lock_owned().await
    }

    /// Waits for both; two who want the same two never wait for each other.
    pub async fn both(&self, one: TemplateId, other: TemplateId) -> Vec<OwnedMutexGuard<()>> {
        let mut templates = vec![one, other];
        templates.sort_unstable();
        templates.dedup();
        let mut guards = Vec::with_capacity(templates.len());
        for template in templates {
            guards.push(self.of(template).await);
        }
        guards
    }

    fn turn(&self, template: TemplateId) -> Arc<AsyncMutex<()>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = held.get(&template).and_then(Weak::upgrade) {
            return turn;
        }
        if held.len() >= TIDY_AT {
            held.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(AsyncMutex::new(()));
        held.insert(template, Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
