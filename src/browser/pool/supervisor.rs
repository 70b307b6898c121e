//! Supervisor of the browsers: starts them, pings them, replaces those that are lost.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;

use super::actor::BrowserPool;
use super::browsers::{BrowserLoss, BrowserSlot, Purpose, RunningBrowser, pause_after};
use crate::browser::chromium::flags::Graphics;
use crate::browser::chromium::hung::HungWatch;
use crate::browser::chromium::instance::Chromium;
use crate::browser::chromium::launch_error::LaunchError;
use crate::browser::chromium::memory::MemoryReading;
use crate::browser::chromium::network::NetworkService;
use crate::browser::chromium::profile::Profile;
use crate::browser::tab::factory::TabFactory;
use crate::browser::tab::lease::{BrowserId, LeaseTab};
use crate::browser::tab::monitor::EventLimits;
use crate::config::{Start, as_count};
use crate::domain::lane::{Lane, PerLane};
use crate::workers::SessionShare;

/// A browser that died younger than this, and the one before it too, is not replaced at once.
const SHORT_LIFE: Duration = Duration::from_secs(5);

impl BrowserPool {
    /// Starts the processes, unless they are to start with the first page that needs them, and begins to watch them.
    pub(super) fn start_browsers(&mut self, ctx: &mut Context<Self>) {
        let count = |processes: u64| usize::try_from(processes).unwrap_or(1);
        let (shared, fixed) = (count(self.config.processes), count(self.config.static_processes));
        let quarantine = count(self.config.quarantine_processes);
        self.purposes = std::iter::repeat_n(Purpose::Shared, shared)
            .chain(std::iter::repeat_n(Purpose::Static, fixed))
            .chain((0..quarantine).map(Purpose::Quarantine))
            .chain((0..as_count(self.config.graphics_processes)).map(Purpose::Graphics))
            .collect();
        self.slots = self.purposes.iter().map(|_| BrowserSlot::Off).collect();
        if self.config.start == Start::Eager {
            for slot in 0..shared + fixed {
                self.slots[slot] = BrowserSlot::Starting;
                self.launch(slot, 0, ctx);
            }
        }
        let watch = Duration::from_millis(self.config.memory_watch_ms);
        ctx.run_interval(watch, |pool, ctx| {
            pool.yield_beside();
            if pool.leased + pool.beside > 0 || pool.is_a_share_reduced() {
                pool.measure(ctx);
            }
            pool.recycle_when_due(ctx);
        });
        self.watch_for_hung(ctx);
        let ping = Duration::from_millis(self.config.ping_interval_ms);
        ctx.run_interval(ping, |pool, ctx| {
            pool.ping(ctx);
            pool.end_unneeded(ctx);
            pool.sweep_reusable(ctx);
            pool.measure(ctx);
            pool.look_for_hung(ctx);
        });
    }

    /// Where the next tab of `lane` is made, in browsers that all accounts share.
    pub(super) fn least_busy(&self, lane: Lane) -> Option<(BrowserId, TabFactory)> {
        let wanted = self.purpose_for(lane);
        let of_lane = self.placed().filter(|running| self.purpose(running.id) == wanted);
        let running = of_lane.min_by_key(|running| running.tabs)?;
        Some((running.id, self.factory(running)))
    }

    /// Which browsers show the pages of `lane` that are not in quarantine.
    pub(super) fn purpose_for(&self, lane: Lane) -> Purpose {
        let has_own = lane == Lane::Static && self.config.static_processes > 0;
        if has_own { Purpose::Static } else { Purpose::Shared }
    }

    /// What the browser, or the one that took its slot, is for.
    pub(super) fn purpose(&self, browser: BrowserId) -> Purpose {
        self.purposes.get(browser.slot).copied().unwrap_or(Purpose::Shared)
    }

    pub(super) fn is_shared(&self, browser: BrowserId) -> bool {
        !self.purpose(browser).is_of_one_account()
    }

    /// Whether a page of either lane can be rendered now. Browsers that start with the first page count as able to until one
    /// fails: otherwise the service would not be ready for a moment whenever a lane is first used.
    pub(super) fn is_ready(&self) -> bool {
        let is_lazy = self.config.start == Start::Lazy;
        [Lane::Static, Lane::Scripted].into_iter().all(|lane| {
            let is_off = || self.slots_for(lane).all(|slot| matches!(self.slots[slot], BrowserSlot::Off));
            self.least_busy(lane).is_some() || (is_lazy && (self.last_failure.is_none() || is_off()))
        })
    }

    /// The slots of the browsers that show the pages of `lane`, outside of quarantine.
    fn slots_for(&self, lane: Lane) -> impl Iterator<Item = usize> {
        let wanted = self.purpose_for(lane);
        self.purposes.iter().enumerate().filter(move |(_, purpose)| **purpose == wanted).map(|(slot, _)| slot)
    }

    /// Starts the browsers for `lane` that were never started.
    pub(super) fn start_for(&mut self, lane: Lane, ctx: &mut Context<Self>) {
        let off: Vec<_> =
            self.slots_for(lane).filter(|slot| matches!(self.slots[*slot], BrowserSlot::Off)).collect();
        for slot in off {
            self.slots[slot] = BrowserSlot::Starting;
            self.launch(slot, 0, ctx);
        }
    }

    pub(super) fn factory(&self, running: &RunningBrowser) -> TabFactory {
        TabFactory {
            network: Arc::clone(&running.network),
            connection: running.chromium.connection.clone(),
            kills: Arc::clone(&running.kills),
            event_limits: EventLimits {
                all_bytes: self.config.told_limit_mb << 20,
                frame_address_bytes: self.config.frame_address_limit_mb << 20,
            },
            fonts: Arc::clone(&running.chromium.fonts),
            families: Arc::clone(&self.families),
            call_limit: Duration::from_millis(self.config.call_timeout_ms),
            withholds_frames: running.chromium.withholds_frames,
            idle_scripts: self.idle_scripts.clone(),
        }
    }

    /// Every process that gives leases.
    pub(super) fn placed(&self) -> impl Iterator<Item = &RunningBrowser> {
        self.slots.iter().filter_map(BrowserSlot::running)
    }

    /// Every process that runs: in its slot, about to take one, or draining.
    pub(super) fn all(&self) -> impl Iterator<Item = &RunningBrowser> {
        let successors = self.placed().filter_map(|running| running.successor.as_ref()?.running.as_deref());
        self.placed().chain(successors).chain(&self.draining)
    }

    pub(super) fn find(&mut self, browser: BrowserId) -> Option<&mut RunningBrowser> {
        if let Some(at) = self.draining.iter().position(|running| running.id == browser) {
            return self.draining.get_mut(at);
        }
        let BrowserSlot::Running(running) = self.slots.get_mut(browser.slot)? else { return None };
        if running.id == browser {
            return Some(running);
        }
        running.successor.as_mut()?.running.as_deref_mut().filter(|running| running.id == browser)
    }

    pub(super) fn count_tab(&mut self, browser: BrowserId, change: isize) {
        if let Some(running) = self.find(browser) {
            running.tabs = running.tabs.saturating_add_signed(change);
        }
    }

    /// Starts a process for a slot that has none, or for one whose process is to be replaced.
    pub(super) fn launch(&mut self, slot: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        // A folder that could not be removed when its browser ended would otherwise stay until the next start.
        tokio::task::spawn_blocking(Profile::sweep);
        let (starter, config) = (self.starter.clone(), Arc::clone(&self.config));
        let graphics = self.purposes[slot].graphics();
        let launched = async move { Chromium::launch(&starter, &config, graphics).await };
        ctx.spawn(wrap_future::<_, Self>(launched).map(move |launched, pool, ctx| {
            pool.launched(slot, failed_starts, launched, ctx);
        }));
    }

    fn launched(
        &mut self,
        slot: usize,
        failed_starts: u32,
        launched: Result<Chromium, LaunchError>,
        ctx: &mut Context<Self>,
    ) {
        if self.stopping {
            return;
        }
        self.metrics.launches.of([if launched.is_ok() { "answered" } else { "failed" }]).inc();
        let replaces = matches!(self.slots[slot], BrowserSlot::Running(_));
        match launched {
            Ok(chromium) => {
                let running = self.receive(slot, failed_starts, chromium, ctx);
                if replaces {
                    return self.warm_up(running, ctx);
                }
                self.slots[slot] = BrowserSlot::Running(running);
                if self.is_ready() {
                    self.last_failure = None;
                }
                self.serve_waiters(ctx);
            }
            Err(error) => {
                tracing::error!(%error, browser.place = slot, "a browser did not start");
                if replaces {
                    return self.postpone(slot);
                }
                if self.purposes[slot].graphics() == Graphics::WebGl {
                    self.slots[slot] = BrowserSlot::Off;
                    self.do_without_graphics();
                    return self.serve_waiters(ctx);
                }
                self.last_failure = Some(error.to_string());
                self.pause(slot, failed_starts, ctx);
            }
        }
    }

    fn receive(
        &mut self,
        slot: usize,
        failed_starts: u32,
        chromium: Chromium,
        ctx: &mut Context<Self>,
    ) -> Box<RunningBrowser> {
        self.last_generation += 1;
        let id = BrowserId { slot, generation: self.last_generation };
        let connection = chromium.connection.clone();
        ctx.spawn(
            wrap_future::<_, Self>(async move { connection.closed().await })
                .map(move |(), pool, ctx| pool.lose(id, &BrowserLoss::Died, ctx)),
        );
        let since = Instant::now();
        Box::new(RunningBrowser {
            network: Arc::new(NetworkService::of(chromium.id())),
            chromium,
            id,
            since,
            kills: Arc::default(),
            tabs: 0,
            making: PerLane::default(),
            first_tabs: Vec::new(),
            leases: Vec::new(),
            last_account: None,
            documents: 0,
            memory: MemoryReading::default(),
            renderers: HashMap::new(),
            strangers: HashMap::new(),
            share: SessionShare::default(),
            long_until: None,
            short_until: None,
            is_measured: false,
            hung_watch: HungWatch::default(),
            successor: None,
            stays_until: since + Duration::from_secs(self.config.recycle_pause_s),
            failed_successors: 0,
            failed_starts,
        })
    }

    fn pause(&mut self, slot: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        self.slots[slot] = BrowserSlot::Pausing;
        ctx.run_later(pause_after(failed_starts), move |pool, ctx| {
            if !pool.stopping {
                pool.slots[slot] = BrowserSlot::Starting;
                pool.launch(slot, failed_starts + 1, ctx);
            }
        });
    }

    /// Ends a browser that died, does not answer or is full, and has another one take its slot. Its leases end by
    /// themselves: their calls fail. The accounts whose pages may have been the reason go to quarantine.
    pub(super) fn lose(&mut self, browser: BrowserId, loss: &BrowserLoss, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        let Some(ended) = self.take_out(browser, loss, ctx) else { return };
        // Pending calls fail before the end of the connection is handled, so their errors may report the loss first.
        let is_dead = ended.chromium.connection.is_closed() && loss.end_on_purpose().is_none();
        let loss = if is_dead { &BrowserLoss::Died } else { loss };
        tracing::warn!(browser.pid = ended.chromium.id(), reason = %loss, "a browser is lost and replaced");
        self.metrics.lost.of([loss.name()]).inc();
        let purpose = self.purpose(browser);
        if self.is_shared(browser) && !self.placed().any(|running| self.purpose(running.id) == purpose) {
            self.last_failure = Some(format!("one was lost ({loss}); another one is being started"));
        }
        // Pages that draw are apart from others anyway.
        if loss.may_be_of_page() && !matches!(purpose, Purpose::Graphics(_)) {
            for lease in &ended.leases {
                self.admit_to_quarantine(lease.request);
            }
        }
        if let Some(end) = loss.end_on_purpose() {
            ended.kills.announce_browser(end);
        }
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(ended.chromium.end()));
        self.serve_waiters(ctx);
    }

    /// The account's pages of that lane go to a browser of their own for a while.
    pub(super) fn admit_to_quarantine(&mut self, request: LeaseTab) {
        let LeaseTab { account, lane, .. } = request;
        tracing::warn!(account.id = %account, lane = lane.name(), "an account is in quarantine");
        self.quarantine.admit(account, lane, Instant::now());
    }

    /// Forgets the idle tabs of a browser that is gone.
    pub(super) fn forget_tabs_of(&mut self, browser: BrowserId) {
        self.warm_tabs.retain(|held| held.browser != browser);
        self.reusable.extract(|held| held.browser == browser);
    }

    fn take_out(
        &mut self,
        browser: BrowserId,
        loss: &BrowserLoss,
        ctx: &mut Context<Self>,
    ) -> Option<RunningBrowser> {
        if let Some(at) = self.draining.iter().position(|running| running.id == browser) {
            return Some(self.draining.swap_remove(at));
        }
        let is_placed = matches!(self.slots.get(browser.slot)?, BrowserSlot::Running(it) if it.id == browser);
        if !is_placed {
            return self.take_successor(browser);
        }
        let slot = std::mem::replace(&mut self.slots[browser.slot], BrowserSlot::Starting);
        let BrowserSlot::Running(mut ended) = slot else { return None };
        if !self.is_shared(browser) {
            // Browsers of one account are started when a page waits for one.
            self.slots[browser.slot] = BrowserSlot::Off;
            return Some(*ended);
        }
        // A browser that we end on purpose is not broken: another one starts at once, however young it was.
        let short = ended.since.elapsed() < SHORT_LIFE && loss.end_on_purpose().is_none();
        match ended.successor.take().map(|it| it.running) {
            Some(Some(mut successor)) => {
                self.warm_tabs.extend(successor.first_tabs.drain(..));
                self.slots[browser.slot] = BrowserSlot::Running(successor);
            }
            // Its launch is under way, and will fill the slot.
            Some(None) => {}
            None if short && ended.failed_starts > 0 => self.pause(browser.slot, ended.failed_starts, ctx),
            None => self.launch(browser.slot, u32::from(short), ctx),
        }
        Some(*ended)
    }

    /// Asks every browser for its version. One that is stopped closes no connection: only its pages would notice.
    fn ping(&mut self, ctx: &mut Context<Self>) {
        let all: Vec<_> = self.all().map(|running| running.id).collect();
        for browser in all {
            self.ask(browser, ctx);
        }
    }
}
