//! The processes of the pool: started, asked whether they live, replaced when they are lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;
use headless_chrome::protocol::cdp::Browser::GetVersion;

use super::chromium::Chromium;
use super::events::Kills;
use super::lease::{BrowserId, HeldTab};
use super::maker::Maker;
use super::memory::Reading;
use super::pool::BrowserPool;
use super::process::LaunchError;
use super::recycle::Successor;
use crate::domain::lane::PerLane;

/// A browser that died younger than this, and the one before it too, is not replaced at once.
const SHORT_LIFE: Duration = Duration::from_secs(5);
/// The pauses after failed starts: this, doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A place for a process. At most one launch is under way for each.
pub(super) enum Place {
    Starting,
    Running(Box<Running>),
    Pausing,
}

pub(super) struct Running {
    pub chromium: Chromium,
    pub id: BrowserId,
    pub since: Instant,
    pub kills: Arc<Kills>,
    /// Tabs in it, from when their making begins until they are disposed of.
    pub tabs: usize,
    /// Those of them that are being made.
    pub making: PerLane<usize>,
    /// The first tabs of a successor, until it takes over.
    pub warm: Vec<HeldTab>,
    /// Leases it has given so far.
    pub documents: u64,
    pub memory: Reading,
    /// What takes its place by plan, while that is under way.
    pub successor: Option<Successor>,
    /// Not replaced by plan before this.
    pub stays_until: Instant,
    pub failed_successors: u32,
    failed_starts: u32,
}

impl BrowserPool {
    /// Starts every process for the first time and begins to watch them.
    pub(super) fn start_browsers(&mut self, ctx: &mut Context<Self>) {
        let processes = usize::try_from(self.config.processes).unwrap_or(1);
        self.places = (0..processes).map(|_| Place::Starting).collect();
        (0..processes).for_each(|place| self.launch(place, 0, ctx));
        let watch = Duration::from_millis(self.config.memory_watch_ms);
        ctx.run_interval(watch, |pool, ctx| {
            if pool.leased > 0 {
                pool.weigh_all(ctx);
            }
            pool.recycle_when_due(ctx);
        });
        let ping = Duration::from_millis(self.config.ping_interval_ms);
        ctx.run_interval(ping, |pool, ctx| {
            pool.ping(ctx);
            pool.sweep_kept(ctx);
            pool.weigh_all(ctx);
        });
    }

    pub(super) fn least_busy(&self) -> Option<(BrowserId, Maker)> {
        let running = self.placed().min_by_key(|running| running.tabs)?;
        Some((running.id, self.maker(running)))
    }

    pub(super) fn maker(&self, running: &Running) -> Maker {
        Maker {
            connection: running.chromium.connection.clone(),
            kills: Arc::clone(&running.kills),
            told_limit_bytes: self.config.told_limit_mb << 20,
            fonts: Arc::clone(&running.chromium.fonts),
            call_limit: Duration::from_millis(self.config.call_timeout_ms),
            withholds_frames: running.chromium.withholds_frames,
            watch: Arc::clone(&self.watch),
        }
    }

    /// Every process that gives leases.
    pub(super) fn placed(&self) -> impl Iterator<Item = &Running> {
        self.places.iter().filter_map(|state| match state {
            Place::Running(running) => Some(&**running),
            Place::Starting | Place::Pausing => None,
        })
    }

    /// Every process that runs: in its place, about to take one, or with its last pages.
    pub(super) fn all(&self) -> impl Iterator<Item = &Running> {
        let successors = self.placed().filter_map(|running| running.successor.as_ref()?.running());
        self.placed().chain(successors).chain(&self.leaving)
    }

    pub(super) fn find(&mut self, browser: BrowserId) -> Option<&mut Running> {
        if let Some(at) = self.leaving.iter().position(|running| running.id == browser) {
            return self.leaving.get_mut(at);
        }
        let Place::Running(running) = self.places.get_mut(browser.place)? else { return None };
        if running.id == browser {
            return Some(running);
        }
        running.successor.as_mut()?.running_mut().filter(|running| running.id == browser)
    }

    pub(super) fn count_tab(&mut self, browser: BrowserId, change: isize) {
        if let Some(running) = self.find(browser) {
            running.tabs = running.tabs.saturating_add_signed(change);
        }
    }

    /// Starts a process for a place that has none, or for one whose process is to be replaced.
    pub(super) fn launch(&mut self, place: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        let (starter, config) = (self.starter.clone(), Arc::clone(&self.config));
        let launched = async move { Chromium::launch(&starter, &config).await };
        ctx.spawn(wrap_future::<_, Self>(launched).map(move |launched, pool, ctx| {
            pool.launched(place, failed_starts, launched, ctx);
        }));
    }

    fn launched(
        &mut self,
        place: usize,
        failed_starts: u32,
        launched: Result<Chromium, LaunchError>,
        ctx: &mut Context<Self>,
    ) {
        if self.stopping {
            return;
        }
        self.metrics.launches.of([if launched.is_ok() { "answered" } else { "failed" }]).inc();
        let replaces = matches!(self.places[place], Place::Running(_));
        match launched {
            Ok(chromium) => {
                let running = self.receive(place, failed_starts, chromium, ctx);
                if replaces {
                    return self.warm(running, ctx);
                }
                self.places[place] = Place::Running(running);
                self.last_failure = None;
                self.pump(ctx);
            }
            Err(error) => {
                tracing::error!(%error, browser.place = place, "a browser did not start");
                if replaces {
                    return self.put_off(place);
                }
                self.last_failure = Some(error.to_string());
                self.pause(place, failed_starts, ctx);
            }
        }
    }

    fn receive(
        &mut self,
        place: usize,
        failed_starts: u32,
        chromium: Chromium,
        ctx: &mut Context<Self>,
    ) -> Box<Running> {
        self.last_generation += 1;
        let id = BrowserId { place, generation: self.last_generation };
        let connection = chromium.connection.clone();
        ctx.spawn(
            wrap_future::<_, Self>(async move { connection.closed().await })
                .map(move |(), pool, ctx| pool.lose(id, "its connection ended", ctx)),
        );
        let since = Instant::now();
        Box::new(Running {
            chromium,
            id,
            since,
            kills: Arc::default(),
            tabs: 0,
            making: PerLane::default(),
            warm: Vec::new(),
            documents: 0,
            memory: Reading::default(),
            successor: None,
            stays_until: since + Duration::from_secs(self.config.recycle_pause_s),
            failed_successors: 0,
            failed_starts,
        })
    }

    fn pause(&mut self, place: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        self.places[place] = Place::Pausing;
        ctx.run_later(pause_after(failed_starts), move |pool, ctx| {
            if !pool.stopping {
                pool.places[place] = Place::Starting;
                pool.launch(place, failed_starts + 1, ctx);
            }
        });
    }

    /// Ends a browser that died or does not answer, and has another one take its place. Its leases end by
    /// themselves: their calls have no answer any more.
    pub(super) fn lose(&mut self, browser: BrowserId, reason: &str, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        let Some(lost) = self.take_out(browser, ctx) else { return };
        tracing::warn!(browser.pid = lost.chromium.id(), reason, "a browser is lost and replaced");
        self.metrics.lost.inc();
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(lost.chromium.end()));
        self.pump(ctx);
    }

    /// Its tabs are gone with it.
    pub(super) fn forget_tabs_of(&mut self, browser: BrowserId) {
        self.spares.retain(|held| held.browser != browser);
        self.kept.extract(|held| held.browser == browser);
    }

    fn take_out(&mut self, browser: BrowserId, ctx: &mut Context<Self>) -> Option<Running> {
        if let Some(at) = self.leaving.iter().position(|running| running.id == browser) {
            return Some(self.leaving.swap_remove(at));
        }
        let is_placed = matches!(self.places.get(browser.place)?, Place::Running(it) if it.id == browser);
        if !is_placed {
            return self.take_successor(browser);
        }
        let place = std::mem::replace(&mut self.places[browser.place], Place::Starting);
        let Place::Running(mut lost) = place else { return None };
        let short = lost.since.elapsed() < SHORT_LIFE;
        match lost.successor.take().map(Successor::into_running) {
            Some(Some(mut successor)) => {
                self.spares.extend(successor.warm.drain(..));
                self.places[browser.place] = Place::Running(successor);
            }
            // Its launch is under way: it finds the place empty.
            Some(None) => {}
            None if short && lost.failed_starts > 0 => self.pause(browser.place, lost.failed_starts, ctx),
            None => self.launch(browser.place, u32::from(short), ctx),
        }
        Some(*lost)
    }

    /// A browser that is stopped or stuck closes nothing: it is asked.
    fn ping(&mut self, ctx: &mut Context<Self>) {
        let limit = Duration::from_millis(self.config.call_timeout_ms);
        let asked: Vec<_> = self.all().map(|it| (it.id, it.chromium.connection.clone())).collect();
        for (browser, connection) in asked {
            let answered = async move { connection.call(None, GetVersion(None), limit).await };
            ctx.spawn(wrap_future::<_, Self>(answered).map(move |answered, pool, ctx| {
                if let Err(error) = answered {
                    pool.lose(browser, &error.to_string(), ctx);
                }
            }));
        }
    }
}

/// How long nothing is started after so many failed starts and one more.
pub(super) fn pause_after(failed_starts: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failed_starts.min(10)).min(LONGEST_PAUSE)
}
