//! Make way: a page that has had its tab for long goes on beside the tabs when another account waits for one.
//!
//! It is not counted among the tabs any more, its renderer yields to all others, and its tab is for no other page.

use std::sync::{Arc, Weak};

use actix::prelude::*;
use tokio::time::Instant;

use super::actor::BrowserPool;
use crate::browser::tab::lease::{LeaseNotice, LeaseWay};
use crate::domain::ids::AccountId;
use crate::slots::way::{LOOK_PAUSE, Way, longest};

impl BrowserPool {
    /// Handles what a lease tells.
    pub(super) fn notice(&mut self, notice: LeaseNotice, ctx: &mut Context<Self>) {
        match notice {
            LeaseNotice::Returned(returned) => self.release(*returned, ctx),
            LeaseNotice::Held(lease, way) => self.hold(lease, way),
            LeaseNotice::MakesWay(lease) => self.make_way(&lease),
        }
    }

    fn hold(&mut self, lease: Weak<LeaseWay>, way: Way) {
        self.holders.retain(|(lease, ..)| lease.strong_count() > 0);
        self.holders.push((lease, Instant::now(), way));
    }

    fn make_way(&mut self, lease: &Arc<LeaseWay>) {
        if self.beside < self.overflow && lease.go_beside() {
            self.beside += 1;
            self.leased -= 1;
            lease.yield_processor();
        }
    }

    /// Makes those yield whose processes were not known when they made way.
    pub(super) fn yield_beside(&self) {
        let leases = self.holders.iter().filter_map(|(lease, ..)| lease.upgrade());
        leases.for_each(|lease| lease.yield_processor());
    }

    /// The first account that waits for a tab, has its share left, and finds all tabs taken.
    fn starved(&self) -> Option<AccountId> {
        let share = self.share.of(self.tabs);
        let held = |account: AccountId| self.leased_by.get(&account).copied().unwrap_or(0);
        let mut waiting = self.waiters.iter().map(|waiter| waiter.request.account);
        waiting.find(|account| held(*account) < share).filter(|_| self.leased >= self.tabs)
    }

    /// Has the longest page of another account make way for one that waits, and looks again as long as one does.
    pub(super) fn look_for_way(&mut self, ctx: &mut Context<Self>) {
        let Some(account) = self.starved().filter(|_| !self.is_looking && !self.stopping) else { return };
        if self.beside < self.overflow {
            let living: Vec<_> = self
                .holders
                .iter()
                .filter_map(|(lease, since, way)| Some((lease.upgrade()?, *since, way.clone())))
                .collect();
            // One whose job made way when there was no room for it.
            let left = living
                .iter()
                .find(|(lease, _, way)| way.account() != account && way.has_made_way() && lease.is_held());
            if let Some((lease, ..)) = left {
                self.make_way(lease);
                return self.serve_waiters(ctx);
            }
            longest(account, living.iter().map(|(_, since, way)| (*since, way))).inspect(|way| way.make());
        }
        self.is_looking = true;
        ctx.run_later(LOOK_PAUSE, |pool, ctx| {
            pool.is_looking = false;
            pool.look_for_way(ctx);
        });
    }
}
