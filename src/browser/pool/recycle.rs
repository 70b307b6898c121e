//! Planned replacement of browsers that have done enough: the new one runs before the old one is ended.
//!
//! ```text
//!  due ──> starting ──(answers)──> warming ──(its tabs are made)──> takes the slot
//!              └─(failed)─> postponed              │
//!                                the old one: draining ──(its last tab is gone, or too late)──> ended
//! ```
//!
//! Until the new one has its tabs the old one gives leases as before, so no job waits for a start. One replacement is under
//! way at a time, in the whole pool: several at once would fill a machine that is short of memory, which is why they are
//! replaced.

use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;

use super::actor::BrowserPool;
use super::browsers::{
    BrowserLoss, BrowserSlot, Purpose, RecycleReason, RunningBrowser, Successor, pause_after,
};
use crate::browser::chromium::kills::BrowserEnd;
use crate::browser::tab::lease::{BrowserId, HeldTab};
use crate::domain::lane::{Lane, PerLane};

impl BrowserPool {
    /// Starts the successor of a browser that is due, unless one is being replaced.
    pub(super) fn recycle_when_due(&mut self, ctx: &mut Context<Self>) {
        if self.stopping || !self.draining.is_empty() {
            return;
        }
        let mut due = None;
        for running in self.placed().filter(|running| self.is_shared(running.id)) {
            if running.successor.is_some() {
                return;
            }
            due = due.or_else(|| Some((running.id.slot, self.recycle_reason(running)?)));
        }
        let Some((slot, reason)) = due else { return };
        let BrowserSlot::Running(running) = &mut self.slots[slot] else { return };
        running.successor = Some(Successor { reason, running: None, tabs_left: 0 });
        tracing::info!(
            browser.pid = running.chromium.id(),
            browser.documents = running.documents,
            browser.bytes = running.memory.whole(),
            browser.age_s = running.since.elapsed().as_secs(),
            reason = reason.name(),
            "a browser is replaced by plan"
        );
        self.launch(slot, 0, ctx);
    }

    /// Why the browser has done enough, if so.
    pub(super) fn recycle_reason(&self, running: &RunningBrowser) -> Option<RecycleReason> {
        let config = &self.config;
        let reached = |value: u64, limit: u64| limit > 0 && value >= limit;
        if Instant::now() < running.stays_until {
            None
        } else if reached(running.documents, config.recycle_documents) {
            Some(RecycleReason::Documents)
        } else if reached(running.since.elapsed().as_secs(), config.recycle_age_s) {
            Some(RecycleReason::Age)
        } else if reached(running.memory.whole(), config.recycle_memory_mb << 20) {
            Some(RecycleReason::Memory)
        } else {
            None
        }
    }

    /// Has the first tabs of a successor made: one at least, which shows that it can make tabs.
    pub(super) fn warm_up(&mut self, fresh: Box<RunningBrowser>, ctx: &mut Context<Self>) {
        let (id, factory) = (fresh.id, self.factory(&fresh));
        let first = match self.purpose(id) {
            Purpose::Static => PerLane { static_: self.warm_target.max(1), scripted: 0 },
            Purpose::Shared | Purpose::Quarantine(_) | Purpose::Graphics(_)
                if self.config.static_processes > 0 =>
            {
                PerLane { static_: 0, scripted: self.warm_target.max(1) }
            }
            Purpose::Shared | Purpose::Quarantine(_) | Purpose::Graphics(_) => {
                PerLane { static_: self.warm_target, scripted: self.warm_target.max(1) }
            }
        };
        let Some(BrowserSlot::Running(old)) = self.slots.get_mut(id.slot) else { return };
        let Some(successor) = old.successor.as_mut().filter(|it| it.running.is_none()) else { return };
        let first: Vec<Lane> = first.each().take(self.tabs).collect();
        (successor.running, successor.tabs_left) = (Some(fresh), first.len());
        for lane in first {
            if !self.make_tab_in(id, factory.clone(), lane, ctx) {
                let loss = BrowserLoss::Unusable("there is no port for its first tab");
                return self.lose(id, &loss, ctx);
            }
        }
        self.update_metrics();
    }

    /// The replacement of a browser failed to start: the old one stays for a while.
    pub(super) fn postpone(&mut self, slot: usize) {
        if let Some(BrowserSlot::Running(running)) = self.slots.get_mut(slot) {
            running.successor = None;
            running.stays_until = Instant::now() + pause_after(running.failed_successors);
            running.failed_successors += 1;
        }
    }

    pub(super) fn is_successor(&self, browser: BrowserId) -> bool {
        let Some(BrowserSlot::Running(old)) = self.slots.get(browser.slot) else { return false };
        let successor = old.successor.as_ref().and_then(|it| it.running.as_ref());
        successor.is_some_and(|running| running.id == browser)
    }

    /// Adds a new tab to the warm ones, or to the successor that it was made in, which takes over with the last of its first
    /// tabs.
    pub(super) fn add_tab(&mut self, held: HeldTab, ctx: &mut Context<Self>) {
        let browser = held.browser;
        let successor = match self.slots.get_mut(browser.slot) {
            Some(BrowserSlot::Running(old)) => old.successor.as_mut(),
            _ => None,
        };
        match successor {
            Some(Successor { running: Some(running), tabs_left, .. }) if running.id == browser => {
                running.first_tabs.push(held);
                *tabs_left = tabs_left.saturating_sub(1);
                if *tabs_left == 0 {
                    self.take_over(browser.slot, ctx);
                }
            }
            _ => self.warm_tabs.push_back(held),
        }
    }

    /// The new browser leases its tabs from now on; the old one finishes its pages.
    fn take_over(&mut self, slot: usize, ctx: &mut Context<Self>) {
        let Some(BrowserSlot::Running(old)) = self.slots.get_mut(slot) else { return };
        let Some(Successor { running: Some(mut running), reason, .. }) = old.successor.take() else { return };
        tracing::info!(
            browser.pid = running.chromium.id(),
            browser.replaced = old.chromium.id(),
            browser.tabs = old.tabs,
            "a new browser took the place of another"
        );
        self.warm_tabs.extend(running.first_tabs.drain(..));
        let replaced = std::mem::replace(&mut self.slots[slot], BrowserSlot::Running(running));
        let BrowserSlot::Running(old) = replaced else { return };
        self.metrics.recycles.of([reason.name()]).inc();
        let id = old.id;
        self.draining.push(*old);
        let drain = Duration::from_secs(self.config.recycle_drain_s);
        ctx.run_later(drain, move |pool, ctx| pool.cut_drain(id, ctx));
        self.clear_draining(ctx);
    }

    /// Disposes of the idle tabs of draining browsers, and ends those browsers that have no tab left.
    pub(super) fn clear_draining(&mut self, ctx: &mut Context<Self>) {
        if self.draining.is_empty() {
            return;
        }
        let (idle, warm) = std::mem::take(&mut self.warm_tabs)
            .into_iter()
            .partition(|held| self.draining.iter().any(|running| running.id == held.browser));
        self.warm_tabs = warm;
        let draining: Vec<_> = self.draining.iter().map(|running| running.id).collect();
        let reusable = self.reusable.extract(|held| draining.contains(&held.browser));
        for held in idle.into_iter().chain(reusable) {
            Self::dispose(held, ctx);
        }
        let (empty, draining): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.draining).into_iter().partition(|running| running.tabs == 0);
        self.draining = draining;
        for running in empty {
            tracing::debug!(browser.pid = running.chromium.id(), "a replaced browser is ended");
            ctx.spawn(wrap_future(running.chromium.end()));
        }
        self.update_metrics();
    }

    /// The last pages of a replaced browser took too long: they end with it, and are rendered again.
    fn cut_drain(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        let Some(at) = self.draining.iter().position(|running| running.id == browser) else { return };
        let running = self.draining.swap_remove(at);
        tracing::warn!(
            browser.pid = running.chromium.id(),
            browser.tabs = running.tabs,
            "a replaced browser is ended with pages still in it (browser.recycle_drain_s)"
        );
        self.metrics.drains_cut.inc();
        running.kills.announce_browser(BrowserEnd::Replaced);
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(running.chromium.end()));
        self.update_metrics();
    }

    /// Takes out a successor that is lost before it took over; its slot is still filled.
    pub(super) fn take_successor(&mut self, browser: BrowserId) -> Option<RunningBrowser> {
        let Some(BrowserSlot::Running(old)) = self.slots.get_mut(browser.slot) else { return None };
        let lost = old.successor.as_mut()?.running.take_if(|running| running.id == browser)?;
        self.postpone(browser.slot);
        Some(*lost)
    }
}
