//! The children that a pool starts ahead, and those in the place of servers that have ended.

use std::sync::Weak;

use super::{Inner, Pool};
use crate::workers::worker::{Worker, WorkerFault};

impl Pool {
    /// A server has ended. If it had no job, nobody has seen it yet.
    pub(super) async fn replace_gone(pool: &Weak<Inner>) {
        let Some(inner) = pool.upgrade() else { return };
        let pool = Self { inner };
        let gone = pool.shelf().remove_gone();
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
            let mut stock = self.shelf();
            let others = if self.inner.quarters.is_some() { stock.kept.len() + stock.working } else { 0 };
            let missing = wanted.saturating_sub(stock.ready.len() + stock.starting + others);
            stock.starting += missing;
            self.tell(&stock);
            missing
        };
        for _ in 0..missing {
            let pool = self.clone();
            tokio::spawn(async move {
                let started = pool.start(&[]).await;
                pool.put(started);
            });
        }
    }

    pub(super) fn put(&self, started: Result<Worker, WorkerFault>) {
        let mut stock = self.shelf();
        stock.starting -= 1;
        match started {
            Ok(worker) => stock.ready.push_back(worker),
            Err(fault) => {
                tracing::warn!(pool.name = self.inner.settings.name, error = %fault, "no spare");
            }
        }
        self.tell(&stock);
        self.inner.arrival.notify_waiters();
    }
}
