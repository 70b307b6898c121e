//! Supervisor of the browsers: starts them, pings them, replaces those that are lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;
use headless_chrome::protocol::cdp::Browser::GetVersion;

use super::messages::LeaseTab;
use super::recycle::Successor;
use super::state::BrowserPool;
use crate::browser::chromium::instance::Chromium;
use crate::browser::chromium::kills::{BrowserEnd, Kills};
use crate::browser::chromium::memory::Reading;
use crate::browser::chromium::process::LaunchError;
use crate::browser::tab::events::EventLimits;
use crate::browser::tab::factory::TabFactory;
use crate::browser::tab::lease::{BrowserId, HeldTab};
use crate::domain::ids::AccountId;
use crate::domain::lane::{Lane, PerLane};

/// A browser that died younger than this, and the one before it too, is not replaced at once.
const SHORT_LIFE: Duration = Duration::from_secs(5);
/// The pauses after failed starts: this, doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A place for a process. At most one launch is under way for each.
pub(in crate::browser) enum BrowserSlot {
    /// Of a quarantine browser that nobody needs.
    Off,
    Starting,
    Running(Box<RunningBrowser>),
    Pausing,
}

/// Whose pages the browser of a place shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum Purpose {
    /// Those with script, and the others where these have no browser of their own.
    Shared,
    /// Those without script: what a script does to its browser cannot reach them.
    Static,
    /// Those of one account at a time, which is in quarantine; the number is that of its room.
    Quarantine(usize),
}

/// Why a browser is lost.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::browser) enum BrowserLoss {
    /// It died.
    #[error("its connection ended")]
    Died,
    /// It does not answer, or not as it should.
    #[error("{0}")]
    Silent(String),
    /// It was started in vain.
    #[error("{0}")]
    Unusable(&'static str),
    /// We end it for the memory of its own process, which its pages filled.
    #[error("its own process took {own_mb} MB (browser.own_memory_limit_mb)")]
    Filled { own_mb: u64 },
}

impl BrowserLoss {
    fn name(&self) -> &'static str {
        match self {
            Self::Died => "died",
            Self::Silent(_) | Self::Unusable(_) => "silent",
            Self::Filled { .. } => "filled",
        }
    }

    /// Whether one of its pages may have done it.
    fn is_suspicious(&self) -> bool {
        !matches!(self, Self::Unusable(_))
    }
}

pub(in crate::browser) struct RunningBrowser {
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
    /// For whom it has given leases that did not come back.
    pub leases: Vec<LeaseTab>,
    /// Whose page it showed last.
    pub tenant: Option<AccountId>,
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
    pub(in crate::browser) fn start_browsers(&mut self, ctx: &mut Context<Self>) {
        let count = |processes: u64| usize::try_from(processes).unwrap_or(1);
        let (shared, fixed) = (count(self.config.processes), count(self.config.static_processes));
        let rooms = count(self.config.quarantine_processes);
        self.purposes = std::iter::repeat_n(Purpose::Shared, shared)
            .chain(std::iter::repeat_n(Purpose::Static, fixed))
            .chain((0..rooms).map(Purpose::Quarantine))
            .collect();
        self.places = self.purposes.iter().map(|_| BrowserSlot::Off).collect();
        for place in 0..shared + fixed {
            self.places[place] = BrowserSlot::Starting;
            self.launch(place, 0, ctx);
        }
        let watch = Duration::from_millis(self.config.memory_watch_ms);
        ctx.run_interval(watch, |pool, ctx| {
            if pool.leased > 0 {
                pool.measure_memory(ctx);
            }
            pool.recycle_when_due(ctx);
        });
        let ping = Duration::from_millis(self.config.ping_interval_ms);
        ctx.run_interval(ping, |pool, ctx| {
            pool.ping(ctx);
            pool.close_unneeded_rooms(ctx);
            pool.sweep_kept(ctx);
            pool.measure_memory(ctx);
        });
    }

    /// Where the next tab of `lane` is made that is for anybody.
    pub(in crate::browser) fn least_busy(&self, lane: Lane) -> Option<(BrowserId, TabFactory)> {
        let wanted = self.purpose_for(lane);
        let of_lane = self.placed().filter(|running| self.purpose(running.id) == wanted);
        let running = of_lane.min_by_key(|running| running.tabs)?;
        Some((running.id, self.maker(running)))
    }

    /// Which browsers show the pages of `lane` that are not in quarantine.
    pub(in crate::browser) fn purpose_for(&self, lane: Lane) -> Purpose {
        let has_own = lane == Lane::Static && self.config.static_processes > 0;
        if has_own { Purpose::Static } else { Purpose::Shared }
    }

    /// What the browser, or the one that took its place, is for.
    pub(in crate::browser) fn purpose(&self, browser: BrowserId) -> Purpose {
        self.purposes.get(browser.place).copied().unwrap_or(Purpose::Shared)
    }

    /// Whether its tabs are for anybody.
    pub(in crate::browser) fn is_common(&self, browser: BrowserId) -> bool {
        !matches!(self.purpose(browser), Purpose::Quarantine(_))
    }

    /// Whether a page of either lane can be rendered now.
    pub(in crate::browser) fn is_ready(&self) -> bool {
        [Lane::Static, Lane::Scripted].iter().all(|lane| self.least_busy(*lane).is_some())
    }

    pub(in crate::browser) fn maker(&self, running: &RunningBrowser) -> TabFactory {
        TabFactory {
            connection: running.chromium.connection.clone(),
            kills: Arc::clone(&running.kills),
            telling: EventLimits {
                all_bytes: self.config.told_limit_mb << 20,
                frame_address_bytes: self.config.frame_address_limit_mb << 20,
            },
            fonts: Arc::clone(&running.chromium.fonts),
            families: Arc::clone(&self.families),
            call_limit: Duration::from_millis(self.config.call_timeout_ms),
            withholds_frames: running.chromium.withholds_frames,
            watches: self.watches.clone(),
        }
    }

    /// Every process that gives leases.
    pub(in crate::browser) fn placed(&self) -> impl Iterator<Item = &RunningBrowser> {
        self.places.iter().filter_map(|state| match state {
            BrowserSlot::Running(running) => Some(&**running),
            BrowserSlot::Off | BrowserSlot::Starting | BrowserSlot::Pausing => None,
        })
    }

    /// Every process that runs: in its place, about to take one, or with its last pages.
    pub(in crate::browser) fn all(&self) -> impl Iterator<Item = &RunningBrowser> {
        let successors = self.placed().filter_map(|running| running.successor.as_ref()?.running());
        self.placed().chain(successors).chain(&self.leaving)
    }

    pub(in crate::browser) fn find(&mut self, browser: BrowserId) -> Option<&mut RunningBrowser> {
        if let Some(at) = self.leaving.iter().position(|running| running.id == browser) {
            return self.leaving.get_mut(at);
        }
        let BrowserSlot::Running(running) = self.places.get_mut(browser.place)? else { return None };
        if running.id == browser {
            return Some(running);
        }
        running.successor.as_mut()?.running_mut().filter(|running| running.id == browser)
    }

    pub(in crate::browser) fn count_tab(&mut self, browser: BrowserId, change: isize) {
        if let Some(running) = self.find(browser) {
            running.tabs = running.tabs.saturating_add_signed(change);
        }
    }

    /// Starts a process for a place that has none, or for one whose process is to be replaced.
    pub(in crate::browser) fn launch(&mut self, place: usize, failed_starts: u32, ctx: &mut Context<Self>) {
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
        let replaces = matches!(self.places[place], BrowserSlot::Running(_));
        match launched {
            Ok(chromium) => {
                let running = self.receive(place, failed_starts, chromium, ctx);
                if replaces {
                    return self.warm(running, ctx);
                }
                self.places[place] = BrowserSlot::Running(running);
                if self.is_ready() {
                    self.last_failure = None;
                }
                self.serve_waiters(ctx);
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
    ) -> Box<RunningBrowser> {
        self.last_generation += 1;
        let id = BrowserId { place, generation: self.last_generation };
        let connection = chromium.connection.clone();
        ctx.spawn(
            wrap_future::<_, Self>(async move { connection.closed().await })
                .map(move |(), pool, ctx| pool.lose(id, &BrowserLoss::Died, ctx)),
        );
        let since = Instant::now();
        Box::new(RunningBrowser {
            chromium,
            id,
            since,
            kills: Arc::default(),
            tabs: 0,
            making: PerLane::default(),
            warm: Vec::new(),
            leases: Vec::new(),
            tenant: None,
            documents: 0,
            memory: Reading::default(),
            successor: None,
            stays_until: since + Duration::from_secs(self.config.recycle_pause_s),
            failed_successors: 0,
            failed_starts,
        })
    }

    fn pause(&mut self, place: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        self.places[place] = BrowserSlot::Pausing;
        ctx.run_later(pause_after(failed_starts), move |pool, ctx| {
            if !pool.stopping {
                pool.places[place] = BrowserSlot::Starting;
                pool.launch(place, failed_starts + 1, ctx);
            }
        });
    }

    /// Ends a browser that died, does not answer or is full, and has another one take its place. Its leases end by
    /// themselves: their calls have no answer any more. Whose pages may have been the reason goes to quarantine.
    pub(in crate::browser) fn lose(
        &mut self,
        browser: BrowserId,
        loss: &BrowserLoss,
        ctx: &mut Context<Self>,
    ) {
        if self.stopping {
            return;
        }
        let Some(ended) = self.take_out(browser, loss, ctx) else { return };
        // Calls that wait are answered before its end is: one of them may be heard of first.
        let is_dead = ended.chromium.connection.is_closed() && !matches!(loss, BrowserLoss::Filled { .. });
        let loss = if is_dead { &BrowserLoss::Died } else { loss };
        tracing::warn!(browser.pid = ended.chromium.id(), reason = %loss, "a browser is lost and replaced");
        self.metrics.lost.of([loss.name()]).inc();
        if !self.is_ready() {
            self.last_failure = Some(format!("one was lost ({loss}); another one is being started"));
        }
        if loss.is_suspicious() {
            for asked in &ended.leases {
                self.admit_to_quarantine(*asked);
            }
        }
        if matches!(loss, BrowserLoss::Filled { .. }) {
            ended.kills.announce_browser(BrowserEnd::Filled);
        }
        self.forget_tabs_of(browser);
        ctx.spawn(wrap_future(ended.chromium.end()));
        self.serve_waiters(ctx);
    }

    /// The account's pages of that lane go to a room of their own for a while.
    pub(in crate::browser) fn admit_to_quarantine(&mut self, asked: LeaseTab) {
        let LeaseTab { account, lane, .. } = asked;
        tracing::warn!(account.id = %account, lane = lane.name(), "an account is in quarantine");
        self.quarantine.admit(account, lane, Instant::now());
    }

    /// Its tabs are gone with it.
    pub(in crate::browser) fn forget_tabs_of(&mut self, browser: BrowserId) {
        self.spares.retain(|held| held.browser != browser);
        self.kept.extract(|held| held.browser == browser);
    }

    fn take_out(
        &mut self,
        browser: BrowserId,
        loss: &BrowserLoss,
        ctx: &mut Context<Self>,
    ) -> Option<RunningBrowser> {
        if let Some(at) = self.leaving.iter().position(|running| running.id == browser) {
            return Some(self.leaving.swap_remove(at));
        }
        let is_placed =
            matches!(self.places.get(browser.place)?, BrowserSlot::Running(it) if it.id == browser);
        if !is_placed {
            return self.take_successor(browser);
        }
        let place = std::mem::replace(&mut self.places[browser.place], BrowserSlot::Starting);
        let BrowserSlot::Running(mut ended) = place else { return None };
        if !self.is_common(browser) {
            // The next one is started when somebody waits for it.
            self.places[browser.place] = BrowserSlot::Off;
            return Some(*ended);
        }
        // A browser that we end on purpose is well: another one starts at once, however young it was.
        let short = ended.since.elapsed() < SHORT_LIFE && !matches!(loss, BrowserLoss::Filled { .. });
        match ended.successor.take().map(Successor::into_running) {
            Some(Some(mut successor)) => {
                self.spares.extend(successor.warm.drain(..));
                self.places[browser.place] = BrowserSlot::Running(successor);
            }
            // Its launch is under way: it finds the place empty.
            Some(None) => {}
            None if short && ended.failed_starts > 0 => self.pause(browser.place, ended.failed_starts, ctx),
            None => self.launch(browser.place, u32::from(short), ctx),
        }
        Some(*ended)
    }

    /// A browser that is stopped or stuck closes nothing: it is asked.
    fn ping(&mut self, ctx: &mut Context<Self>) {
        let limit = Duration::from_millis(self.config.call_timeout_ms);
        let asked: Vec<_> = self.all().map(|it| (it.id, it.chromium.connection.clone())).collect();
        for (browser, connection) in asked {
            let answered = async move { connection.call(None, GetVersion(None), limit).await };
            ctx.spawn(wrap_future::<_, Self>(answered).map(move |answered, pool, ctx| {
                if let Err(error) = answered {
                    pool.lose(browser, &BrowserLoss::Silent(error.to_string()), ctx);
                }
            }));
        }
    }
}

/// How long nothing is started after so many failed starts and one more.
pub(in crate::browser) fn pause_after(failed_starts: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failed_starts.min(10)).min(LONGEST_PAUSE)
}
