//! The rooms of quarantine (`quarantine.rs`): their browsers are started when somebody waits for one, and ended when
//! nobody needs them any more.

use std::collections::HashMap;
use std::time::Instant;

use actix::fut::wrap_future;
use actix::prelude::*;

use super::acquire::TabSource;
use super::messages::LeaseTab;
use super::quarantine::{Quarantine, Room, Walk};
use super::state::BrowserPool;
use super::supervisor::{BrowserSlot, Purpose, RunningBrowser};
use crate::browser::tab::lease::BrowserId;
use crate::domain::lane::PerLane;

impl BrowserPool {
    /// The rooms of quarantine as they are.
    pub(in crate::browser) fn walk(&self) -> Walk {
        let rooms = self.purposes.iter().zip(&self.places);
        let rooms = rooms.filter(|(purpose, _)| matches!(purpose, Purpose::Quarantine(_)));
        let room = |place: &BrowserSlot| match place {
            BrowserSlot::Running(running) => Room {
                pages: self.pages_in(running),
                is_alone: running.leases.iter().any(|lease| lease.alone),
            },
            BrowserSlot::Off | BrowserSlot::Starting | BrowserSlot::Pausing => Room::default(),
        };
        Quarantine::walk(rooms.map(|(_, place)| room(place)).collect(), self.cores)
    }

    /// Has the tabs made that are wanted in quarantine, and the browsers started; answers how many tabs of those who
    /// wait are, or will be, there.
    pub(in crate::browser) fn make_in_rooms(
        &mut self,
        seats: &[Option<TabSource>],
        ctx: &mut Context<Self>,
    ) -> usize {
        let mut wanted: HashMap<usize, (LeaseTab, PerLane<usize>)> = HashMap::new();
        for (waiter, seat) in self.waiters.iter().zip(seats) {
            if let Some(TabSource::Room(place)) = seat {
                let (_, lanes) = wanted.entry(*place).or_insert((waiter.asked, PerLane::default()));
                *lanes.of_mut(waiter.asked.lane) += 1;
            }
        }
        let all = wanted.values().map(|(_, lanes)| lanes.sum()).sum();
        for (place, (first, lanes)) in wanted {
            self.make_in_room(place, first, lanes, ctx);
        }
        all
    }

    fn make_in_room(
        &mut self,
        place: usize,
        first: LeaseTab,
        wanted: PerLane<usize>,
        ctx: &mut Context<Self>,
    ) {
        let (id, maker, making) = match &self.places[place] {
            BrowserSlot::Off => {
                self.places[place] = BrowserSlot::Starting;
                return self.launch(place, 0, ctx);
            }
            BrowserSlot::Starting | BrowserSlot::Pausing => return,
            BrowserSlot::Running(running) if self.is_stale(running, first) => {
                return self.renew(running.id, ctx);
            }
            BrowserSlot::Running(running) => (running.id, self.maker(running), running.making),
        };
        let mut there = making;
        for held in self.spares.iter().filter(|held| held.browser == id) {
            *there.of_mut(held.tab.lane()) += 1;
        }
        for lane in wanted.with(there, usize::saturating_sub).each() {
            if !self.make_tab_in(id, maker.clone(), lane, ctx) {
                return;
            }
        }
    }

    /// Pages in it, those included that are being disposed of: until they are gone they may fill it.
    fn pages_in(&self, running: &RunningBrowser) -> usize {
        let fresh = self.spares.iter().filter(|held| held.browser == running.id).count();
        running.tabs.saturating_sub(running.making.sum() + fresh)
    }

    /// Whether the browser must be another one before the next page, which would be charged with what others left
    /// behind: pages of another account, or any for one that is to be alone.
    fn is_stale(&self, running: &RunningBrowser, next: LeaseTab) -> bool {
        let is_used = running.tenant.is_some_and(|tenant| next.alone || tenant != next.account);
        is_used && self.pages_in(running) == 0
    }

    /// Whether the browser of a room may show the next page.
    pub(in crate::browser) fn is_fit(&self, place: usize, next: LeaseTab) -> bool {
        matches!(&self.places[place], BrowserSlot::Running(running) if !self.is_stale(running, next))
    }

    fn renew(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        self.close_room(browser, ctx);
        self.places[browser.place] = BrowserSlot::Starting;
        self.launch(browser.place, 0, ctx);
    }

    /// Ends the browsers of rooms whose holders are out of quarantine.
    pub(in crate::browser) fn close_unneeded_rooms(&mut self, ctx: &mut Context<Self>) {
        self.quarantine.release(Instant::now());
        if self.waiters.iter().any(|waiter| self.quarantine.holds(waiter.asked)) {
            return;
        }
        let is_unneeded = |running: &&RunningBrowser| match self.purpose(running.id) {
            Purpose::Quarantine(room) => running.leases.is_empty() && self.quarantine.is_unneeded(room),
            Purpose::Shared | Purpose::Static => false,
        };
        let unneeded: Vec<_> = self.placed().filter(is_unneeded).map(|running| running.id).collect();
        for browser in unneeded {
            self.close_room(browser, ctx);
            if let Purpose::Quarantine(room) = self.purpose(browser) {
                self.quarantine.vacate(room);
            }
        }
        self.update_metrics();
    }

    fn close_room(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        let closed = std::mem::replace(&mut self.places[browser.place], BrowserSlot::Off);
        let BrowserSlot::Running(running) = closed else { return };
        tracing::debug!(browser.pid = running.chromium.id(), "a quarantine browser is ended");
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(running.chromium.end()));
    }
}
