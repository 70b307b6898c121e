//! The pool of browsers: leases fresh tabs first come, first served, and keeps browsers running.
//!
//! ```text
//!  LeaseTab ──> waiters ──┐                       ┌── Lease ──(dropped)──> disposed of
//!                         ├── granted, in order ──┘
//!  make a tab ──> spares ─┘     at most `tabs` leased at once
//!
//!  a place:  Starting ──> Running ──(connection closed, no answer)──> Starting …
//!                │             └──(did enough: recycle.rs)──> Running, another one
//!                └─(failed)─> Pausing ──(a while)──> Starting
//! ```
//!
//! Everything runs on the actor's own thread, which must therefore be one that lasts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::sync::{mpsc, oneshot};

use super::capacity;
use super::cdp::CallError;
use super::fleet::{Place, Running};
use super::lease::{BrowserId, HeldTab, Lease, TabReturned};
use super::messages::{GetPoolStatus, LeaseError, LeaseTab, PoolStatus, ShutDown};
use super::origin::Origin;
use super::profile::Profile;
use super::recycle::Reason;
use super::tab::{Maker, Tab};
use crate::config::BrowserConfig;
use crate::domain::lane::Lane;
use crate::outbound::Outbound;
use crate::telemetry::BrowserMetrics;
use crate::workers::Starter;

/// How long a browser that refused a tab is left alone.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The actor. It starts its browsers when it is started.
pub struct BrowserPool {
    pub(super) config: Arc<BrowserConfig>,
    pub(super) starter: Starter,
    /// The way of its pages to allowed hosts.
    outbound: Outbound,
    pub(super) metrics: BrowserMetrics,
    pub(super) tabs: usize,
    pub(super) spare_tabs: usize,
    cores: usize,
    pub(super) places: Vec<Place>,
    /// Replaced browsers with their last pages.
    pub(super) leaving: Vec<Running>,
    pub(super) last_generation: u64,
    free_origins: Vec<Arc<Origin>>,
    pub(super) spares: VecDeque<HeldTab>,
    pub(super) leased: usize,
    waiters: VecDeque<Waiter>,
    returns: mpsc::UnboundedSender<TabReturned>,
    inbox: Option<mpsc::UnboundedReceiver<TabReturned>>,
    pub(super) last_failure: Option<String>,
    /// Why a tab has no origin; forgotten with the next that has one.
    no_port: Option<String>,
    retries_origin: bool,
    pub(super) stopping: bool,
}

struct Waiter {
    lane: Lane,
    answer: oneshot::Sender<Lease>,
    /// It was counted as one that waits for a browser to start.
    waits_for_launch: bool,
}

impl BrowserPool {
    /// A pool that starts its processes through `starter` and counts in `metrics`; its pages reach what
    /// `outbound` allows.
    #[must_use]
    pub fn new(config: BrowserConfig, starter: Starter, outbound: Outbound, metrics: BrowserMetrics) -> Self {
        let (returns, inbox) = mpsc::unbounded_channel();
        Self {
            metrics,
            tabs: capacity::tabs(config.tabs),
            spare_tabs: usize::try_from(config.spare_tabs).unwrap_or(usize::MAX),
            cores: capacity::cores(),
            places: Vec::new(),
            leaving: Vec::new(),
            config: Arc::new(config),
            starter,
            outbound,
            last_generation: 0,
            free_origins: Vec::new(),
            spares: VecDeque::new(),
            leased: 0,
            waiters: VecDeque::new(),
            returns,
            inbox: Some(inbox),
            last_failure: None,
            no_port: None,
            retries_origin: false,
            stopping: false,
        }
    }

    /// Gives tabs to those who wait, and has as many made as are wanted.
    pub(super) fn pump(&mut self, ctx: &mut Context<Self>) {
        if self.stopping {
            return;
        }
        self.waiters.retain(|waiter| !waiter.answer.is_closed());
        self.grant(ctx);
        self.clear_leaving(ctx);
        self.make_wanted(ctx);
        self.recycle_when_due(ctx);
        self.tell();
    }

    fn make_wanted(&mut self, ctx: &mut Context<Self>) {
        let free = self.tabs.saturating_sub(self.leased);
        let demand = self.waiters.len().min(free);
        // A tab made ahead takes a core for a while: it is made when there is one that has no page.
        let idle = self.waiters.is_empty() && self.leased < self.cores;
        let wanted = if idle { self.spare_tabs.min(free) } else { demand };
        // What a successor makes is nobody's before it takes over.
        let making: usize = self.placed().map(|running| running.making).sum();
        for _ in (making + self.spares.len())..wanted {
            let Some((browser, maker)) = self.least_busy() else { return self.note_launch_waits(demand) };
            if !self.make_tab_in(browser, maker, ctx) {
                return;
            }
        }
    }

    /// Counts those who would have a tab by now if a browser ran.
    fn note_launch_waits(&mut self, demand: usize) {
        for waiter in self.waiters.iter_mut().take(demand).filter(|waiter| !waiter.waits_for_launch) {
            waiter.waits_for_launch = true;
            self.metrics.launch_waits.inc();
        }
    }

    fn grant(&mut self, ctx: &mut Context<Self>) {
        while self.leased < self.tabs && !self.waiters.is_empty() {
            let Some(held) = self.spares.pop_front() else { return };
            if !held.tab.is_alive() {
                Self::dispose(held, ctx);
                continue;
            }
            let Some(waiter) = self.waiters.pop_front() else { return };
            self.leased += 1;
            if let Some(running) = self.find(held.browser) {
                running.documents += 1;
            }
            self.metrics.leases.of([waiter.lane.name()]).inc();
            self.metrics.leased.of([waiter.lane.name()]).inc();
            // Nobody waits there any more: the lease comes back by itself.
            let _ = waiter.answer.send(Lease::new(held, waiter.lane, self.returns.clone()));
        }
    }

    /// False when there is no port for it.
    pub(super) fn make_tab_in(&mut self, browser: BrowserId, maker: Maker, ctx: &mut Context<Self>) -> bool {
        let Some(origin) = self.free_origin() else {
            // Nothing else may happen for a long time, and somebody waits.
            if !std::mem::replace(&mut self.retries_origin, true) {
                ctx.run_later(RETRY_PAUSE, |pool, ctx| {
                    pool.retries_origin = false;
                    pool.pump(ctx);
                });
            }
            return false;
        };
        if let Some(running) = self.find(browser) {
            running.making += 1;
            running.tabs += 1;
        }
        let made = wrap_future::<_, Self>(maker.make(Arc::clone(&origin)));
        ctx.spawn(made.map(move |made, pool, ctx| pool.tab_made(browser, origin, made, ctx)));
        true
    }

    fn tab_made(
        &mut self,
        browser: BrowserId,
        origin: Arc<Origin>,
        made: Result<Tab, CallError>,
        ctx: &mut Context<Self>,
    ) {
        if self.stopping {
            return;
        }
        if let Some(running) = self.find(browser) {
            running.making -= 1;
        }
        match made {
            Ok(tab) => self.keep_tab(HeldTab { tab, browser }, ctx),
            Err(error) => {
                if !error.is_of_browser() {
                    self.free_origins.push(origin);
                }
                self.count_tab(browser, -1);
                tracing::warn!(%error, "a tab could not be made");
                if !error.is_of_browser() && !self.is_successor(browser) {
                    ctx.run_later(RETRY_PAUSE, Self::pump);
                    return;
                }
                self.lose(browser, &error.to_string(), ctx);
            }
        }
        self.pump(ctx);
    }

    /// Until the page is gone it may ask its slot for more: the slot is free after that.
    pub(super) fn dispose(held: HeldTab, ctx: &mut Context<Self>) {
        let HeldTab { tab, browser } = held;
        let origin = Arc::clone(tab.origin());
        ctx.spawn(wrap_future::<_, Self>(tab.dispose()).map(move |disposed, pool, ctx| {
            pool.count_tab(browser, -1);
            match disposed {
                Err(error) if error.is_of_browser() => pool.lose(browser, &error.to_string(), ctx),
                // What is refused is gone already.
                Ok(()) | Err(_) => pool.free_origins.push(origin),
            }
            pool.clear_leaving(ctx);
        }));
    }

    /// Shows in the metrics what there is now.
    pub(super) fn tell(&self) {
        let level = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let up = self.placed().count();
        let making = self.all().map(|running| running.making).sum();
        let successors = self.all().count() - up - self.leaving.len();
        for (state, count) in [("up", up), ("successor", successors), ("leaving", self.leaving.len())] {
            self.metrics.browsers.of([state]).set(level(count));
        }
        self.metrics.tabs.of(["making"]).set(level(making));
        self.metrics.tabs.of(["spare"]).set(level(self.spares.len()));
        self.metrics.waiting.set(level(self.waiters.len()));
    }

    fn cause(&self) -> Option<&String> {
        self.last_failure.as_ref().or(self.no_port.as_ref())
    }

    fn free_origin(&mut self) -> Option<Arc<Origin>> {
        if let Some(origin) = self.free_origins.pop() {
            return Some(origin);
        }
        match Origin::bind(self.outbound.clone()) {
            Ok(origin) => {
                self.no_port = None;
                Some(Arc::new(origin))
            }
            Err(error) => {
                if self.no_port.is_none() {
                    tracing::error!(%error, "no port for a page's origin");
                }
                self.no_port = Some(format!("no port for a page's origin: {error}"));
                None
            }
        }
    }
}

impl Actor for BrowserPool {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        if let Some(inbox) = self.inbox.take() {
            ctx.add_stream(futures_util::stream::unfold(inbox, |mut inbox| async move {
                inbox.recv().await.map(|returned| (returned, inbox))
            }));
        }
        if !self.config.sandbox {
            tracing::warn!("Chromium's sandbox is off (browser.sandbox): pages are not caged");
        }
        tokio::task::spawn_blocking(Profile::sweep);
        self.start_browsers(ctx);
    }
}

impl Handler<LeaseTab> for BrowserPool {
    type Result = ResponseActFuture<Self, Result<Lease, LeaseError>>;

    fn handle(&mut self, message: LeaseTab, ctx: &mut Self::Context) -> Self::Result {
        tracing::debug!(account.id = %message.account, lane = ?message.lane, "a tab is asked for");
        let (answer, granted) = oneshot::channel();
        if !self.stopping {
            self.waiters.push_back(Waiter { lane: message.lane, answer, waits_for_launch: false });
            self.pump(ctx);
        }
        let limit_ms = self.config.lease_timeout_ms;
        // A block of its own: when it is over, nobody waits there any more.
        let waited = async move { tokio::time::timeout(Duration::from_millis(limit_ms), granted).await };
        Box::pin(wrap_future::<_, Self>(waited).map(move |granted, pool, ctx| match granted {
            Ok(Ok(lease)) => Ok(lease),
            Ok(Err(_)) => Err(LeaseError::Stopping),
            Err(_) => {
                let cause = pool.cause().map_or(String::new(), |it| format!("; {it}"));
                pool.pump(ctx);
                Err(LeaseError::Timeout { limit_ms, tabs: pool.tabs, cause })
            }
        }))
    }
}

impl StreamHandler<TabReturned> for BrowserPool {
    fn handle(&mut self, returned: TabReturned, ctx: &mut Self::Context) {
        let TabReturned { held, lane, stalled } = returned;
        self.leased -= 1;
        self.metrics.leased.of([lane.name()]).dec();
        if stalled {
            self.lose(held.browser, "it did not answer when its page was late", ctx);
        }
        Self::dispose(held, ctx);
        self.pump(ctx);
    }
}

impl Handler<GetPoolStatus> for BrowserPool {
    type Result = MessageResult<GetPoolStatus>;

    fn handle(&mut self, _: GetPoolStatus, _: &mut Self::Context) -> Self::Result {
        let browsers: Vec<i32> = self
            .places
            .iter()
            .filter_map(|place| match place {
                Place::Running(running) => Some(running.chromium.id()),
                Place::Starting | Place::Pausing => None,
            })
            .collect();
        MessageResult(PoolStatus {
            ready: !self.stopping && !browsers.is_empty(),
            cause: self.cause().cloned(),
            browsers,
            tabs: self.tabs,
            spare: self.spares.len(),
            leased: self.leased,
            waiting: self.waiters.len(),
            leaving: self.leaving.iter().map(|running| running.chromium.id()).collect(),
            recycled: Reason::ALL.iter().map(|it| self.metrics.recycles.of([it.name()]).get()).sum(),
            launch_waits: self.metrics.launch_waits.get(),
        })
    }
}

impl Handler<ShutDown> for BrowserPool {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, _: ShutDown, _: &mut Self::Context) -> Self::Result {
        self.stopping = true;
        self.waiters.clear();
        self.spares.clear();
        let placed = std::mem::take(&mut self.places).into_iter().filter_map(|place| match place {
            Place::Running(running) => Some(*running),
            Place::Starting | Place::Pausing => None,
        });
        let mut running: Vec<_> = placed.chain(std::mem::take(&mut self.leaving)).collect();
        let successors =
            running.iter_mut().filter_map(|it| it.successor.take()?.into_running().map(|it| *it));
        let successors: Vec<_> = successors.collect();
        let ended = running.into_iter().chain(successors).map(|running| running.chromium.end());
        let ended = futures_util::future::join_all(ended);
        Box::pin(wrap_future::<_, Self>(ended).map(|_, _, ctx| ctx.stop()))
    }
}
