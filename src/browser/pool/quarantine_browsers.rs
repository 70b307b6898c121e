//! The browsers of quarantine (`quarantine.rs`): started when a page waits for one, ended when their holders are out of
//! quarantine.

use std::collections::HashMap;
use std::time::Instant;

use actix::fut::wrap_future;
use actix::prelude::*;

use super::acquire::TabSource;
use super::actor::BrowserPool;
use super::browsers::{BrowserSlot, Purpose, RunningBrowser};
use super::quarantine::{Occupancy, Quarantine, WaiterPass};
use crate::browser::tab::lease::{BrowserId, LeaseTab};
use crate::domain::lane::PerLane;

impl BrowserPool {
    /// Begins a pass over the waiters, by what is in the quarantine browsers now.
    pub(super) fn waiter_pass(&self) -> WaiterPass {
        let slots = self.purposes.iter().zip(&self.slots);
        let slots = slots.filter(|(purpose, _)| matches!(purpose, Purpose::Quarantine(_)));
        let occupancy = |running: &RunningBrowser| Occupancy {
            pages: self.pages_in(running),
            is_alone: running.leases.iter().any(|lease| lease.alone),
        };
        let browsers = slots.map(|(_, slot)| slot.running().map(occupancy).unwrap_or_default());
        Quarantine::pass(browsers.collect(), self.cores)
    }

    /// Has the tabs made that waiters in quarantine need, and the browsers started; returns how many waiters that are.
    pub(super) fn make_quarantine_tabs(
        &mut self,
        sources: &[Option<TabSource>],
        ctx: &mut Context<Self>,
    ) -> usize {
        let mut wanted: HashMap<usize, (LeaseTab, PerLane<usize>)> = HashMap::new();
        for (waiter, source) in self.waiters.iter().zip(sources) {
            if let Some(TabSource::Quarantine(slot)) = source {
                let (_, lanes) = wanted.entry(*slot).or_insert((waiter.request, PerLane::default()));
                *lanes.of_mut(waiter.request.lane) += 1;
            }
        }
        let all = wanted.values().map(|(_, lanes)| lanes.sum()).sum();
        for (slot, (first, lanes)) in wanted {
            self.make_tabs_of(slot, first, lanes, ctx);
        }
        all
    }

    fn make_tabs_of(
        &mut self,
        slot: usize,
        first: LeaseTab,
        wanted: PerLane<usize>,
        ctx: &mut Context<Self>,
    ) {
        let (id, factory, making) = match &self.slots[slot] {
            BrowserSlot::Off => {
                self.slots[slot] = BrowserSlot::Starting;
                return self.launch(slot, 0, ctx);
            }
            BrowserSlot::Starting | BrowserSlot::Pausing => return,
            BrowserSlot::Running(running) if self.is_stale(running, first) => {
                return self.restart(running.id, ctx);
            }
            BrowserSlot::Running(running) => (running.id, self.factory(running), running.making),
        };
        let mut there = making;
        for held in self.warm_tabs.iter().filter(|held| held.browser == id) {
            *there.of_mut(held.tab.lane) += 1;
        }
        for lane in wanted.with(there, usize::saturating_sub).each() {
            if !self.make_tab_in(id, factory.clone(), lane, ctx) {
                return;
            }
        }
    }

    /// Pages in it; those that are being disposed of count, for they may still fill it.
    fn pages_in(&self, running: &RunningBrowser) -> usize {
        let warm = self.warm_tabs.iter().filter(|held| held.browser == running.id).count();
        running.tabs.saturating_sub(running.making.sum() + warm)
    }

    /// Whether the browser must be restarted before the next page. Hazard: what pages of another account have left in it (of
    /// any account, where the next page is to be alone) would be blamed on that page.
    fn is_stale(&self, running: &RunningBrowser, next: LeaseTab) -> bool {
        let is_used = running.last_account.is_some_and(|last| next.alone || last != next.account);
        is_used && self.pages_in(running) == 0
    }

    /// Whether a quarantine browser may show the next page.
    pub(super) fn is_fresh_for(&self, slot: usize, next: LeaseTab) -> bool {
        matches!(&self.slots[slot], BrowserSlot::Running(running) if !self.is_stale(running, next))
    }

    fn restart(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        self.end_quarantine_browser(browser, ctx);
        self.slots[browser.slot] = BrowserSlot::Starting;
        self.launch(browser.slot, 0, ctx);
    }

    /// Ends the browsers whose holders are out of quarantine.
    pub(super) fn end_unneeded_quarantine(&mut self, ctx: &mut Context<Self>) {
        self.quarantine.release(Instant::now());
        if self.waiters.iter().any(|waiter| self.quarantine.holds(waiter.request)) {
            return;
        }
        let is_unneeded = |running: &&RunningBrowser| match self.purpose(running.id) {
            Purpose::Quarantine(at) => running.leases.is_empty() && self.quarantine.is_unneeded(at),
            Purpose::Shared | Purpose::Static => false,
        };
        let unneeded: Vec<_> = self.placed().filter(is_unneeded).map(|running| running.id).collect();
        for browser in unneeded {
            self.end_quarantine_browser(browser, ctx);
            if let Purpose::Quarantine(at) = self.purpose(browser) {
                self.quarantine.vacate(at);
            }
        }
        self.update_metrics();
    }

    fn end_quarantine_browser(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        let closed = std::mem::replace(&mut self.slots[browser.slot], BrowserSlot::Off);
        let BrowserSlot::Running(running) = closed else { return };
        tracing::debug!(browser.pid = running.chromium.id(), "a quarantine browser is ended");
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(running.chromium.end()));
    }
}
