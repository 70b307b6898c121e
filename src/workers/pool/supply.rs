//! The children that a pool starts ahead, and those in the place of servers that have ended or did enough.
//!
//! A server that did as many jobs as it may, or holds more than it may between two, goes on with jobs until another one is
//! ready in its place; then it ends, at once or when its job is done. Both take memory until then, so the pool
//! replaces one at a time.

use std::sync::Weak;

use super::shelf::Shelf;
use super::{Inner, Pool};
use crate::workers::worker::{Relief, Worker, WorkerFault};

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

    fn put(&self, started: Result<Worker, WorkerFault>) {
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

    /// Starts a server in the place of one that did enough and has no job, unless one is on its way already.
    pub(super) fn relieve(&self) {
        let relief = {
            let mut stock = self.shelf();
            let Some(relief) = stock.relief_wanted() else { return };
            stock.is_relieving = true;
            stock.starting += 1;
            self.tell(&stock);
            relief
        };
        let pool = self.clone();
        tokio::spawn(async move {
            let started = pool.start(&[]).await;
            let is_ready = started.is_ok();
            pool.put(started);
            pool.end_relieved(is_ready.then_some(relief)).await;
        });
    }

    /// The new server is ready, or is not to be had: then the old one goes on, and its next job tries again.
    async fn end_relieved(&self, relief: Option<Relief>) {
        let gone = {
            let mut stock = self.shelf();
            stock.is_relieving = false;
            relief.as_ref().inspect(|relief| relief.come());
            let gone = stock.remove_relieved();
            self.tell(&stock);
            gone
        };
        for worker in gone {
            worker.end().await;
        }
        if relief.is_some() {
            // One may have died meanwhile, and another one be due.
            self.refill();
            self.relieve();
        }
    }
}

impl Shelf {
    /// That of the server that has waited longest of those that did enough.
    fn relief_wanted(&self) -> Option<Relief> {
        let wanted = || self.kept.iter().find_map(|(_, worker)| worker.relief().cloned());
        if self.is_relieving { None } else { wanted() }
    }

    /// Takes out those in whose place others are ready.
    fn remove_relieved(&mut self) -> Vec<Worker> {
        let (gone, kept) =
            std::mem::take(&mut self.kept).into_iter().partition(|(_, worker)| worker.may_go());
        self.kept = kept;
        let gone: std::collections::VecDeque<_> = gone;
        gone.into_iter().map(|(_, worker)| worker).collect()
    }
}
