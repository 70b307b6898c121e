//! Who waits gets a tab: one of his account's that is kept, a spare one, or one that is made.

use std::collections::HashMap;
use std::ops::Add as _;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::sync::oneshot;

use super::keeping::Gone;
use super::kept::{Plan, Room};
use super::lease::{HeldTab, Lease};
use super::messages::{LeaseError, LeaseTab};
use super::pool::BrowserPool;
use crate::domain::ids::AccountId;
use crate::domain::lane::{Lane, PerLane};

/// Somebody who asked for a tab.
pub(super) struct Waiter {
    pub asked: LeaseTab,
    pub answer: oneshot::Sender<Lease>,
    /// It was counted as one that waits for a browser to start.
    pub waits_for_launch: bool,
}

impl Handler<LeaseTab> for BrowserPool {
    type Result = ResponseActFuture<Self, Result<Lease, LeaseError>>;

    fn handle(&mut self, message: LeaseTab, ctx: &mut Self::Context) -> Self::Result {
        tracing::debug!(account.id = %message.account, lane = ?message.lane, "a tab is asked for");
        let (answer, granted) = oneshot::channel();
        if !self.stopping {
            // One of those that came back by now may be the right one.
            while let Ok(returned) = self.returned.try_recv() {
                self.take_back(returned, ctx);
            }
            self.waiters.push_back(Waiter { asked: message, answer, waits_for_launch: false });
            self.pump(ctx);
        }
        let limit_ms = self.config.lease_timeout_ms;
        // A block of its own: when it is over, nobody waits there any more.
        let waited = async move { tokio::time::timeout(Duration::from_millis(limit_ms), granted).await };
        Box::pin(wrap_future::<_, Self>(waited).map(move |granted, pool, ctx| match granted {
            Ok(Ok(lease)) => Ok(lease),
            Ok(Err(_)) => Err(LeaseError::Stopping),
            Err(_) => {
                let cause = pool.cause().map_or(String::new(), |it| format!("; {it}"));
                pool.pump(ctx);
                Err(LeaseError::Timeout { limit_ms, tabs: pool.tuning.tabs(), cause })
            }
        }))
    }
}

impl BrowserPool {
    /// Gives tabs to those who wait, and has as many made as are wanted.
    pub(super) fn pump(&mut self, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        self.waiters.retain(|waiter| !waiter.answer.is_closed());
        self.grant(ctx);
        self.clear_leaving(ctx);
        self.make_wanted(ctx);
        self.reset_used(ctx);
        self.recycle_when_due(ctx);
        self.tell();
    }

    fn make_wanted(&mut self, ctx: &mut Context<Self>) {
        let places = self.tuning.tabs().saturating_sub(self.leased);
        // What a successor makes is nobody's before it takes over.
        let making = self.placed().fold(PerLane::default(), |sum, it| it.making.with(sum, usize::add));
        // A tab made ahead takes a core for a while: it is made when there is one that has no page.
        let ahead = if self.leased < self.cores { self.spare_tabs } else { 0 };
        let waiting = self.waiters.iter().map(|waiter| (waiter.asked.account, waiter.asked.lane));
        let room = Room { places, spare: self.spare_counts(), making, ahead };
        let Plan { make, spares_gone, gone } = self.kept.make_room(waiting, room);
        for held in gone {
            self.let_go(held, Gone::Room, ctx);
        }
        for lane in spares_gone.each() {
            if let Some(held) = self.take_spare(lane) {
                Self::dispose(held, ctx);
            }
        }
        for lane in make.each() {
            let Some((browser, maker)) = self.least_busy() else { return self.note_launch_waits(places) };
            if !self.make_tab_in(browser, maker, lane, ctx) {
                return;
            }
        }
    }

    fn spare_counts(&self) -> PerLane<usize> {
        let mut counts = PerLane::default();
        for held in &self.spares {
            *counts.of_mut(held.tab.lane()) += 1;
        }
        counts
    }

    fn take_spare(&mut self, lane: Lane) -> Option<HeldTab> {
        let at = self.spares.iter().position(|held| held.tab.lane() == lane)?;
        self.spares.remove(at)
    }

    /// Counts those who would have a tab by now if a browser ran.
    fn note_launch_waits(&mut self, demand: usize) {
        for waiter in self.waiters.iter_mut().take(demand).filter(|waiter| !waiter.waits_for_launch) {
            waiter.waits_for_launch = true;
            self.metrics.launch_waits.inc();
        }
    }

    /// Who comes later may have a tab that those before him cannot have, as long as places are left for them.
    fn grant(&mut self, ctx: &mut Context<Self>) {
        let mut awaited = HashMap::new();
        let mut at = 0;
        while self.leased + at < self.tuning.tabs() && at < self.waiters.len() {
            match self.tab_for(self.waiters[at].asked, &mut awaited, ctx) {
                Some((held, tab)) => self.give(at, held, tab),
                None => at += 1,
            }
        }
    }

    /// A living tab, and whether it is a fresh one or one that was kept.
    fn tab_for(
        &mut self,
        asked: LeaseTab,
        awaited: &mut HashMap<AccountId, usize>,
        ctx: &mut Context<Self>,
    ) -> Option<(HeldTab, &'static str)> {
        if asked.lane == Lane::Static {
            while let Some(held) = self.kept.take(asked.account) {
                if held.tab.is_alive() {
                    return Some((held, "kept"));
                }
                self.let_go(held, Gone::Broken, ctx);
            }
            // One that is being reset is there sooner than a fresh one is made, and costs less.
            let coming = awaited.entry(asked.account).or_insert_with(|| self.kept.coming(asked.account));
            if *coming > 0 {
                *coming -= 1;
                return None;
            }
        }
        while let Some(held) = self.take_spare(asked.lane) {
            if held.tab.is_alive() {
                return Some((held, "fresh"));
            }
            Self::dispose(held, ctx);
        }
        None
    }

    fn give(&mut self, at: usize, mut held: HeldTab, tab: &'static str) {
        let Some(waiter) = self.waiters.remove(at) else { return };
        let lane = waiter.asked.lane.name();
        self.leased += 1;
        held.documents += 1;
        if let Some(running) = self.find(held.browser) {
            running.documents += 1;
        }
        self.metrics.leases.of([lane, tab]).inc();
        self.metrics.leased.of([lane]).inc();
        // Nobody waits there any more: the lease comes back by itself.
        let _ = waiter.answer.send(Lease::new(held, waiter.asked, self.returns.clone()));
    }
}
