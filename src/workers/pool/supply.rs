//! Starts a pool's spare children, and replacements of servers.
//!
//! A server that has done its number of jobs, or holds too much memory, continues until its replacement is ready; then it ends,
//! at once or after its job. Both take memory until then, so the pool replaces one server at a time.

use std::sync::Weak;
use std::sync::atomic::Ordering;

use super::{Inner, Pool};
use crate::workers::worker::{Replacement, Worker, WorkerError};

impl Pool {
    /// Called when a server has ended: removes it if it was idle, and starts another one.
    pub(super) async fn replace_gone(pool: &Weak<Inner>) {
        let Some(inner) = pool.upgrade() else { return };
        let pool = Self { inner };
        let gone = pool.inner.state.lock().remove_gone();
        for worker in gone {
            tracing::warn!(pool.name = pool.inner.settings.name, "a server ended while it had no job");
            worker.end().await;
        }
        pool.refill();
    }

    /// Starts as many children as are missing. A child that cannot start is not tried again here; the
    /// next job that needs one reports it.
    pub(super) fn refill(&self) {
        let wanted = self.inner.settings.spares;
        let missing = {
            let mut state = self.inner.state.lock();
            let others = if self.inner.servers.is_some() {
                (state.kept.len() + state.working).saturating_sub(state.leaving)
            } else {
                0
            };
            let missing = wanted.saturating_sub(state.ready.len() + state.starting + others);
            state.starting += missing;
            self.publish_levels(&state);
            missing
        };
        for _ in 0..missing {
            let pool = self.clone();
            self.inner.runtime.spawn(async move {
                let started = pool.start(&[]).await;
                pool.put(started);
            });
        }
    }

    fn put(&self, started: Result<Worker, WorkerError>) {
        let mut state = self.inner.state.lock();
        state.starting -= 1;
        match started {
            Ok(worker) => state.ready.push_back(worker),
            Err(error) => {
                tracing::warn!(pool.name = self.inner.settings.name, error = %error, "no spare");
            }
        }
        self.publish_levels(&state);
        self.inner.arrival.notify_waiters();
    }

    /// Starts a replacement for an idle server that requested one, unless a replacement is starting already.
    pub(super) fn start_replacement(&self) {
        let replacement = {
            let mut state = self.inner.state.lock();
            let Some(replacement) = state.wanted_replacement() else { return };
            state.is_replacing = true;
            state.starting += 1;
            self.publish_levels(&state);
            replacement
        };
        let pool = self.clone();
        self.inner.runtime.spawn(async move {
            let started = pool.start(&[]).await;
            let is_ready = started.is_ok();
            pool.put(started);
            pool.end_replaced(is_ready.then_some(replacement)).await;
        });
    }

    /// Ends the old server when the new one is ready. If its start failed the old one continues, and its next job tries again.
    async fn end_replaced(&self, replacement: Option<Replacement>) {
        let gone = {
            let mut state = self.inner.state.lock();
            state.is_replacing = false;
            replacement.as_ref().inspect(|is_ready| is_ready.store(true, Ordering::Release));
            let gone = state.remove_replaced();
            self.publish_levels(&state);
            gone
        };
        for worker in gone {
            worker.end().await;
        }
        if replacement.is_some() {
            // Meanwhile a server may have died, and another may have requested a replacement.
            self.refill();
            self.start_replacement();
        }
    }
}
