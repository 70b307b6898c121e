//! Leasing: a waiter gets a reusable tab of its account, a warm one, or a new one.

use std::collections::HashMap;
use std::ops::Add as _;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::sync::oneshot;

use super::messages::{LeaseError, LeaseTab};
use super::release::DisposeReason;
use super::reuse::{Plan, TabCapacity};
use super::state::BrowserPool;
use super::supervisor::Purpose;
use crate::browser::tab::lease::{BrowserId, HeldTab, Lease};
use crate::domain::ids::AccountId;
use crate::domain::lane::{Lane, PerLane};

/// Where a tab comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum TabSource {
    /// A browser of those for anybody.
    Common,
    /// The quarantine browser of this place.
    Room(usize),
}

/// Somebody who asked for a tab.
pub(in crate::browser) struct Waiter {
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
            self.serve_waiters(ctx);
        }
        let limit_ms = self.config.lease_timeout_ms;
        // A block of its own: when it is over, nobody waits there any more.
        let waited = async move { tokio::time::timeout(Duration::from_millis(limit_ms), granted).await };
        Box::pin(wrap_future::<_, Self>(waited).map(move |granted, pool, ctx| match granted {
            Ok(Ok(lease)) => Ok(lease),
            Ok(Err(_)) => Err(LeaseError::Stopping),
            Err(_) => {
                let cause = pool.cause().map_or(String::new(), |it| format!("; {it}"));
                pool.serve_waiters(ctx);
                Err(LeaseError::Timeout { limit_ms, tabs: pool.tabs, cause })
            }
        }))
    }
}

impl BrowserPool {
    /// Gives tabs to those who wait, and has as many made as are wanted.
    pub(in crate::browser) fn serve_waiters(&mut self, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        self.waiters.retain(|waiter| !waiter.answer.is_closed());
        self.grant_leases(ctx);
        self.clear_leaving(ctx);
        self.make_wanted(ctx);
        self.reset_used(ctx);
        self.recycle_when_due(ctx);
        self.update_metrics();
    }

    fn make_wanted(&mut self, ctx: &mut Context<Self>) {
        let seats = self.seats();
        let apart = self.make_in_rooms(&seats, ctx);
        let common = |seat: &Option<TabSource>| matches!(seat, Some(TabSource::Common));
        let places = self.tabs.saturating_sub(self.leased + apart);
        // What a successor makes is nobody's before it takes over.
        let making = self.placed().filter(|running| self.is_common(running.id));
        let making = making.fold(PerLane::default(), |sum, it| it.making.with(sum, usize::add));
        // A tab made ahead takes a core for a while: it is made when there is one that has no page.
        let ahead = if self.leased < self.cores { self.spare_tabs } else { 0 };
        let waiting = self.waiters.iter().zip(&seats).filter(|(_, seat)| common(seat));
        let waiting = waiting.map(|(waiter, _)| (waiter.asked.account, waiter.asked.lane));
        let room = TabCapacity { places, spare: self.spare_counts(), making, ahead };
        let Plan { make, spares_gone, gone } = self.kept.plan(waiting, room);
        for held in gone {
            self.dispose_reusable(held, DisposeReason::Room, ctx);
        }
        for lane in spares_gone.each() {
            if let Some(held) = self.take_spare(lane, TabSource::Common) {
                Self::dispose(held, ctx);
            }
        }
        for lane in make.each() {
            match self.least_busy(lane) {
                None => self.note_launch_waits(lane, &seats),
                Some((browser, maker)) => {
                    if !self.make_tab_in(browser, maker, lane, ctx) {
                        return;
                    }
                }
            }
        }
    }

    /// Where each of those who wait would get a tab by now, as far as the tabs, the shares of accounts and the rooms
    /// of quarantine go. Who waits first keeps a place for itself; one that may have none now keeps none.
    fn seats(&mut self) -> Vec<Option<TabSource>> {
        let share = self.account_tabs();
        let (mut all, mut held) = (self.leased, self.leased_by.clone());
        let mut walk = self.walk();
        let mut seats = Vec::with_capacity(self.waiters.len());
        for waiter in &self.waiters {
            let mine = held.entry(waiter.asked.account).or_default();
            let may = all < self.tabs && *mine < share;
            let seat = if !may {
                None
            } else if self.quarantine.holds(waiter.asked) {
                let room = self.quarantine.place(waiter.asked, &mut walk);
                room.and_then(|room| self.purposes.iter().position(|it| *it == Purpose::Quarantine(room)))
                    .map(TabSource::Room)
            } else {
                Some(TabSource::Common)
            };
            if seat.is_some() {
                all += 1;
                *mine += 1;
            }
            seats.push(seat);
        }
        seats
    }

    fn spare_counts(&self) -> PerLane<usize> {
        let mut counts = PerLane::default();
        for held in self.spares.iter().filter(|held| self.is_common(held.browser)) {
            *counts.of_mut(held.tab.lane()) += 1;
        }
        counts
    }

    fn take_spare(&mut self, lane: Lane, seat: TabSource) -> Option<HeldTab> {
        let fits = |browser: BrowserId| match seat {
            TabSource::Common => self.is_common(browser),
            TabSource::Room(place) => browser.place == place,
        };
        let at = self.spares.iter().position(|held| held.tab.lane() == lane && fits(held.browser))?;
        self.spares.remove(at)
    }

    /// Counts those who would have a tab by now if a browser ran.
    fn note_launch_waits(&mut self, lane: Lane, seats: &[Option<TabSource>]) {
        for (waiter, seat) in self.waiters.iter_mut().zip(seats) {
            let waits = matches!(seat, Some(TabSource::Common)) && waiter.asked.lane == lane;
            if waits && !std::mem::replace(&mut waiter.waits_for_launch, true) {
                self.metrics.launch_waits.inc();
            }
        }
    }

    /// Waiters are served in order, but one whose lane has no tab right now does not block the others: a page with
    /// script that waits for a browser must not idle a free tab of the static lane.
    fn grant_leases(&mut self, ctx: &mut Context<Self>) {
        let mut awaited = HashMap::new();
        let mut at = 0;
        for seat in self.seats() {
            let given = seat.and_then(|seat| self.tab_for(self.waiters[at].asked, seat, &mut awaited, ctx));
            match given {
                Some((held, tab)) => self.give(at, held, tab),
                None => at += 1,
            }
        }
    }

    /// A living tab, and whether it is a fresh one or one that was kept.
    fn tab_for(
        &mut self,
        asked: LeaseTab,
        seat: TabSource,
        awaited: &mut HashMap<AccountId, usize>,
        ctx: &mut Context<Self>,
    ) -> Option<(HeldTab, &'static str)> {
        if asked.lane == Lane::Static && seat == TabSource::Common {
            while let Some(held) = self.kept.take(asked.account) {
                if held.tab.is_alive() {
                    return Some((held, "kept"));
                }
                self.dispose_reusable(held, DisposeReason::Broken, ctx);
            }
            // One that is being reset is there sooner than a fresh one is made, and costs less.
            let being_reset =
                awaited.entry(asked.account).or_insert_with(|| self.kept.being_reset(asked.account));
            if *being_reset > 0 {
                *being_reset -= 1;
                return None;
            }
        }
        if let TabSource::Room(place) = seat
            && !self.is_fit(place, asked)
        {
            return None;
        }
        while let Some(held) = self.take_spare(asked.lane, seat) {
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
        *self.leased_by.entry(waiter.asked.account).or_default() += 1;
        held.documents += 1;
        if let Some(running) = self.find(held.browser) {
            running.documents += 1;
            running.leases.push(waiter.asked);
            running.tenant = Some(waiter.asked.account);
        }
        self.metrics.leases.of([lane, tab]).inc();
        self.metrics.leased.of([lane]).inc();
        // Nobody waits there any more: the lease comes back by itself.
        let _ = waiter.answer.send(Lease::new(held, waiter.asked, self.returns.clone()));
    }
}
