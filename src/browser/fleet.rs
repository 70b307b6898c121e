//! The processes of the pool: started, watched, replaced.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;
use headless_chrome::protocol::cdp::Browser::GetVersion;

use super::chromium::Chromium;
use super::events::Kills;
use super::lease::BrowserId;
use super::memory;
use super::pool::BrowserPool;
use super::process::LaunchError;
use super::tab::Maker;

/// A browser that died younger than this, and the one before it too, is not replaced at once.
const SHORT_LIFE: Duration = Duration::from_secs(5);
/// The pauses after failed starts: this, doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A place for a process.
pub(super) enum Place {
    Starting,
    Running(Box<Running>),
    Pausing,
}

pub(super) struct Running {
    pub chromium: Chromium,
    generation: u64,
    since: Instant,
    kills: Arc<Kills>,
    tabs: usize,
    failed_starts: u32,
}

impl BrowserPool {
    /// Starts every process for the first time and begins to watch them.
    pub(super) fn start_browsers(&mut self, ctx: &mut Context<Self>) {
        let processes = usize::try_from(self.config.processes).unwrap_or(1);
        self.places = (0..processes).map(|_| Place::Starting).collect();
        (0..processes).for_each(|place| self.launch(place, 0, ctx));
        let watch = Duration::from_millis(self.config.memory_watch_ms);
        ctx.run_interval(watch, |pool, _| pool.watch_memory());
        let ping = Duration::from_millis(self.config.ping_interval_ms);
        ctx.run_interval(ping, Self::ping);
    }

    pub(super) fn least_busy(&self) -> Option<(BrowserId, Maker)> {
        let running = self.places.iter().enumerate().filter_map(|(place, state)| match state {
            Place::Running(running) => Some((place, running)),
            Place::Starting | Place::Pausing => None,
        });
        let (place, running) = running.min_by_key(|(_, running)| running.tabs)?;
        let maker = Maker {
            connection: running.chromium.connection.clone(),
            kills: Arc::clone(&running.kills),
            fonts: Arc::clone(&running.chromium.fonts),
            call_limit: Duration::from_millis(self.config.call_timeout_ms),
        };
        Some((BrowserId { place, generation: running.generation }, maker))
    }

    fn running(&mut self, browser: BrowserId) -> Option<&mut Running> {
        match self.places.get_mut(browser.place)? {
            Place::Running(running) if running.generation == browser.generation => Some(running),
            Place::Running(_) | Place::Starting | Place::Pausing => None,
        }
    }

    pub(super) fn count_tab(&mut self, browser: BrowserId, change: isize) {
        if let Some(running) = self.running(browser) {
            running.tabs = running.tabs.saturating_add_signed(change);
        }
    }

    fn launch(&mut self, place: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        self.places[place] = Place::Starting;
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
        let chromium = match launched {
            Ok(chromium) => chromium,
            Err(error) => {
                tracing::error!(%error, browser.place = place, "a browser did not start");
                self.last_failure = Some(error.to_string());
                return self.pause(place, failed_starts, ctx);
            }
        };
        self.last_generation += 1;
        let browser = BrowserId { place, generation: self.last_generation };
        let connection = chromium.connection.clone();
        ctx.spawn(
            wrap_future::<_, Self>(async move { connection.closed().await })
                .map(move |(), pool, ctx| pool.lose(browser, "its connection ended", ctx)),
        );
        self.places[place] = Place::Running(Box::new(Running {
            chromium,
            generation: browser.generation,
            since: Instant::now(),
            kills: Arc::default(),
            tabs: 0,
            failed_starts,
        }));
        self.last_failure = None;
        self.pump(ctx);
    }

    fn pause(&mut self, place: usize, failed_starts: u32, ctx: &mut Context<Self>) {
        self.places[place] = Place::Pausing;
        let pause = FIRST_PAUSE.saturating_mul(1 << failed_starts.min(10)).min(LONGEST_PAUSE);
        ctx.run_later(pause, move |pool, ctx| pool.launch(place, failed_starts + 1, ctx));
    }

    /// Ends a browser that died or does not answer, and starts another one in its place. Its leases end
    /// by themselves: their calls have no answer any more.
    pub(super) fn lose(&mut self, browser: BrowserId, reason: &str, ctx: &mut Context<Self>) {
        if self.stopping || self.running(browser).is_none() {
            return;
        }
        let place = std::mem::replace(&mut self.places[browser.place], Place::Starting);
        let Place::Running(lost) = place else { return };
        tracing::warn!(browser.pid = lost.chromium.id(), reason, "a browser is lost and replaced");
        self.spares.retain(|held| held.browser != browser);
        ctx.spawn(wrap_future(lost.chromium.end()));
        let short = lost.since.elapsed() < SHORT_LIFE;
        if short && lost.failed_starts > 0 {
            self.pause(browser.place, lost.failed_starts, ctx);
        } else {
            self.launch(browser.place, u32::from(short), ctx);
        }
    }

    fn watch_memory(&mut self) {
        if self.leased == 0 {
            return;
        }
        let limit_bytes = self.config.renderer_memory_limit_mb << 20;
        for place in &self.places {
            if let Place::Running(running) = place {
                let (id, kills) = (running.chromium.id(), Arc::clone(&running.kills));
                tokio::task::spawn_blocking(move || memory::sweep(id, limit_bytes, &kills));
            }
        }
    }

    /// A browser that is stopped or stuck closes nothing: it is asked.
    fn ping(&mut self, ctx: &mut Context<Self>) {
        let limit = Duration::from_millis(self.config.call_timeout_ms);
        for (place, state) in self.places.iter().enumerate() {
            let Place::Running(running) = state else { continue };
            let browser = BrowserId { place, generation: running.generation };
            let connection = running.chromium.connection.clone();
            let answered = async move { connection.call(None, GetVersion(None), limit).await };
            ctx.spawn(wrap_future::<_, Self>(answered).map(move |answered, pool, ctx| {
                if let Err(error) = answered {
                    pool.lose(browser, &error.to_string(), ctx);
                }
            }));
        }
    }
}
