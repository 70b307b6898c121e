//! The browsers that one account has at a time: the ones of quarantine (`quarantine.rs`), and the ones that draw WebGL, whose
//! graphics process all pages in them share. They are started when a page waits for one, and ended when their holders are out
//! of quarantine, or have drawn nothing for a while.

use std::collections::HashMap;
use std::time::Instant;

use actix::fut::wrap_future;
use actix::prelude::*;

use super::acquire::TabSource;
use super::actor::{BrowserPool, Waiter};
use super::browsers::{BrowserSlot, Purpose, RunningBrowser};
use super::quarantine::{Occupancy, Quarantine, WaiterPass};
use super::reuse::ReuseKey;
use crate::browser::tab::canvas::PageGraphics;
use crate::browser::tab::lease::{BrowserId, LeaseTab};
use crate::domain::lane::{Lane, PerLane};

impl BrowserPool {
    /// Begins a pass over the waiters, by what is in the browsers of a purpose now; each shows so many pages at once.
    pub(super) fn waiter_pass(&self, is_wanted: fn(Purpose) -> bool, pages_limit: usize) -> WaiterPass {
        let slots = self.purposes.iter().zip(&self.slots).filter(|(purpose, _)| is_wanted(**purpose));
        let occupancy = |running: &RunningBrowser| Occupancy {
            pages: self.pages_in(running),
            is_alone: running.leases.iter().any(|lease| lease.request.alone),
        };
        let browsers = slots.map(|(_, slot)| slot.running().map(occupancy).unwrap_or_default());
        Quarantine::pass(browsers.collect(), pages_limit)
    }

    /// Whether a page gets WebGL: where it asks for that, or asked for it the last time.
    pub(super) fn graphics_for(&self, request: LeaseTab) -> PageGraphics {
        if self.config.graphics_processes == 0 {
            return PageGraphics::Off;
        }
        let is_known = request.lane == Lane::Scripted
            && Self::drawing_key(request).is_some_and(|key| self.drawing.has(key));
        if is_known { PageGraphics::Given } else { request.graphics }
    }

    /// Remembers that the page asked for WebGL.
    pub(super) fn note_drawing(&mut self, request: LeaseTab) {
        if let Some(key) = Self::drawing_key(request) {
            self.drawing.note(key);
        }
    }

    fn drawing_key(request: LeaseTab) -> Option<ReuseKey> {
        let content = Some(request.content?);
        Some(ReuseKey { account: request.account, content })
    }

    /// No browser that draws WebGL starts: the pages that wait for one are rendered without.
    pub(super) fn do_without_graphics(&mut self) {
        for waiter in &mut self.waiters {
            if waiter.request.graphics == PageGraphics::Given {
                waiter.request.graphics = PageGraphics::Unavailable;
            }
        }
    }

    /// Has the tabs made that waiters for such browsers need, and the browsers started; returns how many waiters that are.
    pub(super) fn make_own_tabs(&mut self, sources: &[Option<TabSource>], ctx: &mut Context<Self>) -> usize {
        let mut wanted: HashMap<usize, (LeaseTab, PerLane<usize>)> = HashMap::new();
        for (waiter, source) in self.waiters.iter().zip(sources) {
            if let Some(TabSource::Own(slot)) = source {
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
                if self.pages_in(running) > 0 {
                    return;
                }
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
    /// any account, where the next page is to be alone) would be blamed on that page, and what they have left in graphics
    /// could be read by it. The same when it has done enough (`recycle.rs`).
    fn is_stale(&self, running: &RunningBrowser, next: LeaseTab) -> bool {
        let is_anothers = running.last_account.is_some_and(|last| next.alone || last != next.account);
        is_anothers && self.pages_in(running) == 0 || self.recycle_reason(running).is_some()
    }

    /// Whether such a browser may show the next page.
    pub(super) fn is_fresh_for(&self, slot: usize, next: LeaseTab) -> bool {
        matches!(&self.slots[slot], BrowserSlot::Running(running) if !self.is_stale(running, next))
    }

    fn restart(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        self.end_own_browser(browser, ctx);
        self.slots[browser.slot] = BrowserSlot::Starting;
        self.launch(browser.slot, 0, ctx);
    }

    /// Ends the browsers whose holders need them no more.
    pub(super) fn end_unneeded(&mut self, ctx: &mut Context<Self>) {
        let now = Instant::now();
        self.quarantine.release(now);
        self.graphics.release(now);
        let waits = |waiter: &Waiter| {
            self.quarantine.holds(waiter.request) || waiter.request.graphics == PageGraphics::Given
        };
        if self.waiters.iter().any(waits) {
            return;
        }
        let is_unneeded = |running: &&RunningBrowser| match self.purpose(running.id) {
            Purpose::Quarantine(at) => running.leases.is_empty() && self.quarantine.is_unneeded(at),
            Purpose::Graphics(at) => running.leases.is_empty() && self.graphics.is_unneeded(at),
            Purpose::Shared | Purpose::Static => false,
        };
        let unneeded: Vec<_> = self.placed().filter(is_unneeded).map(|running| running.id).collect();
        for browser in unneeded {
            self.end_own_browser(browser, ctx);
            match self.purpose(browser) {
                Purpose::Quarantine(at) => self.quarantine.vacate(at),
                Purpose::Graphics(at) => self.graphics.vacate(at),
                Purpose::Shared | Purpose::Static => {}
            }
        }
        self.update_metrics();
    }

    fn end_own_browser(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        let closed = std::mem::replace(&mut self.slots[browser.slot], BrowserSlot::Off);
        let BrowserSlot::Running(running) = closed else { return };
        tracing::debug!(browser.pid = running.chromium.id(), "a browser of one account is ended");
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(running.chromium.end()));
    }
}
