//! The children of a pool that have no job, and how many others there are.

use std::collections::VecDeque;

use crate::domain::ids::AccountId;
use crate::workers::worker::Worker;

/// What a pool has of children.
#[derive(Default)]
pub(super) struct Shelf {
    /// They had no job yet.
    pub ready: VecDeque<Worker>,
    /// Oldest first.
    pub kept: VecDeque<(AccountId, Worker)>,
    pub starting: usize,
    /// One of those that start is to take the place of a server that did enough.
    pub is_relieving: bool,
    /// They have a job, are started for one, or get ready for a further one.
    pub working: usize,
}

impl Shelf {
    /// The child of this environment that worked for the account last, or for anybody where they are shared, else a
    /// fresh one.
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

    /// Keeps the child, and gives back the one that there is no place for, or that shall go.
    pub fn keep(&mut self, account: AccountId, worker: Worker, most: usize) -> Option<Worker> {
        if worker.may_go() {
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
}
