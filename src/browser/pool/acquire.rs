//! Acquire: a waiter gets a reusable tab of its account, a warm one, or one that is made.

use std::collections::HashMap;
use std::ops::Add as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::sync::oneshot;

use super::actor::{BrowserPool, Waiter};
use super::browsers::{Leased, Purpose};
use super::release::DisposeReason;
use super::reuse::{Plan, ReuseKey, TabCapacity};
use crate::browser::tab::canvas::PageGraphics;
use crate::browser::tab::lease::{BrowserId, HeldTab, Lease, LeaseError, LeaseTab};
use crate::domain::lane::{Lane, PerLane};

/// Where a tab comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TabSource {
    /// A browser that all accounts share.
    Shared,
    /// The browser of this slot, which one account has at a time.
    Own(usize),
}

impl Handler<LeaseTab> for BrowserPool {
    type Result = ResponseActFuture<Self, Result<Lease, LeaseError>>;

    fn handle(&mut self, message: LeaseTab, ctx: &mut Self::Context) -> Self::Result {
        tracing::debug!(account.id = %message.account, lane = ?message.lane, "a tab is asked for");
        let (answer, granted) = oneshot::channel();
        if !self.stopping {
            // A tab that has come back by now may be the right one, and its page may have asked for WebGL.
            while let Ok(notice) = self.incoming.try_recv() {
                self.notice(notice, ctx);
            }
            let request = LeaseTab { graphics: self.graphics_for(message), ..message };
            self.waiters.push_back(Waiter { request, answer, waits_for_launch: false });
            self.serve_waiters(ctx);
        }
        let limit_ms = self.config.lease_timeout_ms;
        // Dropped at the deadline, which closes the waiter.
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
    /// Leases tabs to waiters, and has the missing ones made.
    pub(super) fn serve_waiters(&mut self, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        self.waiters.retain(|waiter| !waiter.answer.is_closed());
        self.serve_leases(ctx);
        self.raise_shares(ctx);
        self.look_for_way(ctx);
        self.clear_draining(ctx);
        self.make_wanted(ctx);
        self.reset_used(ctx);
        self.recycle_when_due(ctx);
        self.update_metrics();
    }

    fn make_wanted(&mut self, ctx: &mut Context<Self>) {
        let sources = self.sources();
        let apart = self.make_own_tabs(&sources, ctx);
        let limit = self.tabs.saturating_sub(self.leased + apart);
        // Tabs that a successor makes cannot be leased before it takes over.
        let making = self.placed().filter(|running| self.is_shared(running.id));
        let making = making.fold(PerLane::default(), |sum, it| it.making.with(sum, usize::add));
        // A tab made ahead takes a core for a while: it is made when a core has no page.
        let ahead = if self.leased < self.cores { self.warm_target } else { 0 };
        let waiting =
            self.waiters.iter().zip(&sources).filter(|(_, source)| **source == Some(TabSource::Shared));
        let waiting: Vec<_> =
            waiting.map(|(waiter, _)| (self.reuse_key(waiter.request), waiter.request.lane)).collect();
        let capacity = TabCapacity { limit, warm: self.warm_counts(), making, ahead };
        let Plan { make, evict_warm, evict } = self.reusable.plan(waiting.into_iter(), capacity);
        for held in evict {
            self.dispose_and_count(held, DisposeReason::NeededByWaiter, ctx);
        }
        for lane in evict_warm.each() {
            if let Some(held) = self.take_warm(lane, TabSource::Shared) {
                Self::dispose(held, ctx);
            }
        }
        for lane in make.each() {
            match self.least_busy(lane) {
                None => self.wait_for_launch(lane, &sources, ctx),
                Some((browser, factory)) => {
                    if !self.make_tab_in(browser, factory, lane, ctx) {
                        return;
                    }
                }
            }
        }
    }

    /// Where each waiter would get a tab now, by the number of tabs, the shares of accounts and the quarantine browsers.
    /// Earlier waiters first; one that may have no tab now reserves none.
    fn sources(&mut self) -> Vec<Option<TabSource>> {
        let share = self.share.of(self.tabs);
        let (mut all, mut held) = (self.leased, self.leased_by.clone());
        let mut pass = self.waiter_pass(|purpose| matches!(purpose, Purpose::Quarantine(_)), self.cores);
        // One page at a time: where its graphics hang, take the memory or die, no other page is there to suffer by it.
        let mut drawing = self.waiter_pass(|purpose| matches!(purpose, Purpose::Graphics(_)), 1);
        let slot = |wanted: Purpose| self.purposes.iter().position(|it| *it == wanted).map(TabSource::Own);
        let mut sources = Vec::with_capacity(self.waiters.len());
        for waiter in &self.waiters {
            let mine = held.entry(waiter.request.account).or_default();
            let may = all < self.tabs && *mine < share;
            let source = if !may {
                None
            } else if waiter.request.graphics == PageGraphics::Given {
                self.graphics.assign(waiter.request, &mut drawing).map(Purpose::Graphics).and_then(slot)
            } else if self.quarantine.holds(waiter.request) {
                self.quarantine.assign(waiter.request, &mut pass).map(Purpose::Quarantine).and_then(slot)
            } else {
                Some(TabSource::Shared)
            };
            if source.is_some() {
                all += 1;
                *mine += 1;
            }
            sources.push(source);
        }
        sources
    }

    fn warm_counts(&self) -> PerLane<usize> {
        let mut counts = PerLane::default();
        for held in self.warm_tabs.iter().filter(|held| self.is_shared(held.browser)) {
            *counts.of_mut(held.tab.lane) += 1;
        }
        counts
    }

    fn take_warm(&mut self, lane: Lane, source: TabSource) -> Option<HeldTab> {
        let fits = |browser: BrowserId| match source {
            TabSource::Shared => self.is_shared(browser),
            TabSource::Own(slot) => browser.slot == slot,
        };
        let at = self.warm_tabs.iter().position(|held| held.tab.lane == lane && fits(held.browser))?;
        self.warm_tabs.remove(at)
    }

    /// Counts waiters that would have a tab by now if a browser ran, each once, and starts the browsers that wait for their
    /// first page.
    fn wait_for_launch(&mut self, lane: Lane, sources: &[Option<TabSource>], ctx: &mut Context<Self>) {
        let mut is_wanted = false;
        for (waiter, source) in self.waiters.iter_mut().zip(sources) {
            let waits = *source == Some(TabSource::Shared) && waiter.request.lane == lane;
            is_wanted |= waits;
            if waits && !std::mem::replace(&mut waiter.waits_for_launch, true) {
                self.metrics.launch_waits.inc();
            }
        }
        // Tabs that nobody waits for are made ahead in browsers that run.
        if is_wanted {
            self.start_for(lane, ctx);
        }
    }

    /// Waiters are served in order, but one whose lane has no tab right now does not block the others: a page with
    /// script that waits for a browser must not idle a free tab of the static lane.
    fn serve_leases(&mut self, ctx: &mut Context<Self>) {
        let mut awaited = HashMap::new();
        let mut at = 0;
        for source in self.sources() {
            let granted =
                source.and_then(|source| self.tab_for(self.waiters[at].request, source, &mut awaited, ctx));
            match granted {
                Some((held, tab)) => self.lease_to(at, held, tab),
                None => at += 1,
            }
        }
    }

    /// A living tab, and the metrics' name for its kind.
    fn tab_for(
        &mut self,
        request: LeaseTab,
        source: TabSource,
        awaited: &mut HashMap<ReuseKey, usize>,
        ctx: &mut Context<Self>,
    ) -> Option<(HeldTab, &'static str)> {
        if let Some(key) = self.reuse_key(request).filter(|_| source == TabSource::Shared) {
            while let Some(held) = self.reusable.take(key) {
                if held.tab.is_alive() {
                    let kind = if held.traces.unreplaced_since.is_some() { "left" } else { "kept" };
                    return Some((held, kind));
                }
                self.dispose_and_count(held, DisposeReason::Broken, ctx);
            }
            // A tab that is being reset is ready sooner than a new one, and costs less.
            let being_reset = awaited.entry(key).or_insert_with(|| self.reusable.being_reset(key));
            if *being_reset > 0 {
                *being_reset -= 1;
                return None;
            }
        }
        if let TabSource::Own(slot) = source
            && !self.is_fresh_for(slot, request)
        {
            return None;
        }
        while let Some(held) = self.take_warm(request.lane, source) {
            if held.tab.is_alive() {
                return Some((held, "fresh"));
            }
            Self::dispose(held, ctx);
        }
        None
    }

    /// Leases `held` to the waiter at `at`; `tab` is the metrics' name for its kind.
    fn lease_to(&mut self, at: usize, mut held: HeldTab, tab: &'static str) {
        let Some(waiter) = self.waiters.remove(at) else { return };
        let LeaseTab { account, lane, graphics, .. } = waiter.request;
        if graphics == PageGraphics::Given {
            self.graphics.admit(account, lane, Instant::now());
        }
        let lane = lane.name();
        self.leased += 1;
        *self.leased_by.entry(waiter.request.account).or_default() += 1;
        held.documents += 1;
        if held.documents == 1 {
            self.note_first_page(&held);
        }
        if let Some(running) = self.find(held.browser) {
            running.documents += 1;
            let renderer = Arc::clone(&held.tab.events.renderer);
            running.leases.push(Leased { request: waiter.request, renderer, since: Instant::now() });
            running.last_account = Some(waiter.request.account);
        }
        self.note_page(held.browser, waiter.request.account);
        self.metrics.leases.of([lane, tab]).inc();
        self.metrics.leased.of([lane]).inc();
        // Where the waiter has gone the lease is dropped, which returns the tab.
        let _ = waiter.answer.send(Lease::new(held, waiter.request, self.notices.clone()));
    }
}
