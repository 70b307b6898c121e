//! The idle children of a pool, and how many others there are.

use std::collections::VecDeque;

use crate::domain::ids::AccountId;
use crate::workers::worker::{Replacement, Worker};

/// A pool's idle children, and the numbers of those that start or work.
#[derive(Default)]
pub(super) struct PoolState {
    /// Idle children that have had no job.
    pub ready: VecDeque<Worker>,
    /// Idle children with the account that they worked for, oldest first.
    pub kept: VecDeque<(AccountId, Worker)>,
    /// Children that are starting, but not for a job.
    pub starting: usize,
    /// One of those replaces a server.
    pub is_replacing: bool,
    /// Children that have a job, are started for one, or are getting ready again.
    pub working: usize,
    /// Those of them whose job made way: they end with it, and others are started in their place.
    pub leaving: usize,
}

impl PoolState {
    /// The child with this environment that was used last by the account (by any account for servers), else a fresh one.
    pub fn pick(
        &mut self,
        account: AccountId,
        is_shared: bool,
        environment: &[(&'static str, &str)],
    ) -> Option<Worker> {
        let fits = |(owner, worker): &(AccountId, Worker)| {
            (is_shared || *owner == account) && worker.has(environment)
        };
        let at = self.kept.iter().rposition(fits);
        let kept = at.and_then(|at| self.kept.remove(at)).map(|(_, worker)| worker);
        kept.or_else(|| if environment.is_empty() { self.ready.pop_front() } else { None })
    }

    /// Keeps the child for its account. Returns a child to be ended: this one if it has been replaced, or the oldest if there are
    /// more than `most`.
    pub fn keep(&mut self, account: AccountId, worker: Worker, most: usize) -> Option<Worker> {
        if worker.is_replaced() {
            return Some(worker);
        }
        self.kept.push_back((account, worker));
        if self.kept.len() > most { self.kept.pop_front().map(|(_, worker)| worker) } else { None }
    }

    /// Takes out those that have ended.
    pub fn remove_gone(&mut self) -> Vec<Worker> {
        let mut gone = Vec::new();
        for mut worker in std::mem::take(&mut self.ready) {
            if worker.is_waiting() { self.ready.push_back(worker) } else { gone.push(worker) }
        }
        for (account, mut worker) in std::mem::take(&mut self.kept) {
            if worker.is_waiting() { self.kept.push_back((account, worker)) } else { gone.push(worker) }
        }
        gone
    }

    /// The request of the server that has been idle longest, if no replacement is starting.
    pub fn wanted_replacement(&self) -> Option<Replacement> {
        let wanted = || self.kept.iter().find_map(|(_, worker)| worker.replacement().cloned());
        if self.is_replacing { None } else { wanted() }
    }

    /// Takes out the servers that have been replaced.
    pub fn remove_replaced(&mut self) -> Vec<Worker> {
        let (gone, kept): (VecDeque<_>, _) =
            std::mem::take(&mut self.kept).into_iter().partition(|(_, worker)| worker.is_replaced());
        self.kept = kept;
        gone.into_iter().map(|(_, worker)| worker).collect()
    }
}
