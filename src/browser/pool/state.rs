//! The pool of browsers: leases tabs first come, first served, and keeps browsers running.
//!
//! ```text
//!  LeaseTab ──> waiters ──┐                       ┌── Lease ──(dropped)──> disposed of
//!                         ├── granted, in order ──┘              └─(no script, its page went well)─┐
//!  make a tab ──> spares ─┤     at most `tabs` leased, spare and kept                              │
//!   kept: its account's ──┘<──────────────────(reset: keeping.rs)──────────────────────────────────┘
//!
//!  a place:  Starting ──> RunningBrowser ──(connection closed, no answer)──> Starting …
//!                │             └──(did enough: recycle.rs)──> RunningBrowser, another one
//!                └─(failed)─> Pausing ──(a while)──> Starting
//! ```
//!
//! Browser slots are for pages with script, for pages without (a browser in which no script runs, so that none can end it),
//! and for accounts in quarantine (`quarantine.rs`); the last are started when somebody waits for one.
//!
//! Everything runs on the actor's own thread, which must therefore be one that lasts.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::sync::mpsc;

use super::acquire::Waiter;
use super::messages::{GetPoolStatus, PoolStatus, ShutDown};
use super::quarantine::Quarantine;
use super::recycle::RecycleReason;
use super::release::ReturnedTabs;
use super::reuse::ReusableTabs;
use super::supervisor::{BrowserLoss, BrowserSlot, Purpose, RunningBrowser};
use crate::browser::cdp::connection::CallError;
use crate::browser::chromium::capacity;
use crate::browser::chromium::font_families::{self, Families};
use crate::browser::chromium::profile::Profile;
use crate::browser::page::scripts::IdleScripts;
use crate::browser::proxy::server::PageServer;
use crate::browser::tab::factory::TabFactory;
use crate::browser::tab::lease::{BrowserId, HeldTab, TabReturned};
use crate::browser::tab::tab::Tab;
use crate::config::BrowserConfig;
use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;
use crate::outbound::Outbound;
use crate::slots::AccountShare;
use crate::telemetry::BrowserMetrics;
use crate::workers::Starter;

/// How long a browser that refused a tab is left alone.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The actor. It starts its browsers when it is started.
pub struct BrowserPool {
    pub(in crate::browser) config: Arc<BrowserConfig>,
    /// What pages mean without naming a font.
    pub(in crate::browser) families: Arc<Families>,
    pub(in crate::browser) starter: Starter,
    /// The way of its pages to allowed hosts.
    outbound: Outbound,
    pub(in crate::browser) metrics: BrowserMetrics,
    /// Most tabs leased at once.
    pub(in crate::browser) tabs: usize,
    pub(in crate::browser) spare_tabs: usize,
    pub(in crate::browser) cores: usize,
    pub(in crate::browser) places: Vec<BrowserSlot>,
    /// What each place is for.
    pub(in crate::browser) purposes: Vec<Purpose>,
    pub(in crate::browser) quarantine: Quarantine,
    share: AccountShare,
    /// Replaced browsers with their last pages.
    pub(in crate::browser) leaving: Vec<RunningBrowser>,
    pub(in crate::browser) last_generation: u64,
    pub(in crate::browser) free_origins: Vec<Arc<PageServer>>,
    pub(in crate::browser) spares: VecDeque<HeldTab>,
    /// Tabs without script, each of one account.
    pub(in crate::browser) kept: ReusableTabs<HeldTab>,
    pub(in crate::browser) leased: usize,
    pub(in crate::browser) leased_by: HashMap<AccountId, usize>,
    pub(in crate::browser) waiters: VecDeque<Waiter>,
    pub(in crate::browser) returns: mpsc::UnboundedSender<TabReturned>,
    pub(in crate::browser) returned: mpsc::UnboundedReceiver<TabReturned>,
    pub(in crate::browser) last_failure: Option<String>,
    /// Why a tab has no origin; forgotten with the next that has one.
    no_port: Option<String>,
    retries_origin: bool,
    pub(in crate::browser) stopping: bool,
    /// The scripts that watch whether a page is at rest.
    pub(in crate::browser) watches: IdleScripts,
}

impl BrowserPool {
    /// A pool that starts its processes through `starter` and counts in `metrics`; its pages reach what
    /// `outbound` allows.
    #[must_use]
    pub fn new(config: BrowserConfig, starter: Starter, outbound: Outbound, metrics: BrowserMetrics) -> Self {
        let (returns, returned) = mpsc::unbounded_channel();
        let watches = IdleScripts::new(&config);
        Self {
            metrics,
            tabs: capacity::tabs(config.tabs),
            spare_tabs: usize::try_from(config.spare_tabs).unwrap_or(usize::MAX),
            cores: capacity::cores(),
            places: Vec::new(),
            purposes: Vec::new(),
            quarantine: Quarantine::new(
                usize::try_from(config.quarantine_processes).unwrap_or(1),
                Duration::from_secs(config.quarantine_s),
            ),
            share: AccountShare::default(),
            leaving: Vec::new(),
            families: Arc::new(Families::of(&config)),
            config: Arc::new(config),
            starter,
            outbound,
            last_generation: 0,
            free_origins: Vec::new(),
            spares: VecDeque::new(),
            kept: ReusableTabs::new(),
            leased: 0,
            leased_by: HashMap::new(),
            waiters: VecDeque::new(),
            returns,
            returned,
            last_failure: None,
            no_port: None,
            retries_origin: false,
            stopping: false,
            watches,
        }
    }

    /// The same, of which one account gets its `share` of the tabs.
    #[must_use]
    pub fn shared(self, share: AccountShare) -> Self {
        Self { share, ..self }
    }

    /// How many tabs one account may hold.
    pub(in crate::browser) fn account_tabs(&self) -> usize {
        self.share.of(self.tabs)
    }

    /// False when there is no port for it.
    pub(in crate::browser) fn make_tab_in(
        &mut self,
        browser: BrowserId,
        maker: TabFactory,
        lane: Lane,
        ctx: &mut Context<Self>,
    ) -> bool {
        let Some(origin) = self.free_origin() else {
            // Nothing else may happen for a long time, and somebody waits.
            if !std::mem::replace(&mut self.retries_origin, true) {
                ctx.run_later(RETRY_PAUSE, |pool, ctx| {
                    pool.retries_origin = false;
                    pool.serve_waiters(ctx);
                });
            }
            return false;
        };
        if let Some(running) = self.find(browser) {
            *running.making.of_mut(lane) += 1;
            running.tabs += 1;
        }
        let made = wrap_future::<_, Self>(maker.make(lane, Arc::clone(&origin)));
        ctx.spawn(made.map(move |made, pool, ctx| pool.tab_made(browser, (lane, origin), made, ctx)));
        true
    }

    fn tab_made(
        &mut self,
        browser: BrowserId,
        (lane, origin): (Lane, Arc<PageServer>),
        made: Result<Tab, CallError>,
        ctx: &mut Context<Self>,
    ) {
        if self.stopping {
            return;
        }
        if let Some(running) = self.find(browser) {
            *running.making.of_mut(lane) -= 1;
        }
        match made {
            Ok(tab) => self.keep_tab(HeldTab::new(tab, browser), ctx),
            Err(error) => {
                if !error.is_of_browser() {
                    self.free_origins.push(origin);
                }
                self.count_tab(browser, -1);
                tracing::warn!(%error, "a tab could not be made");
                if !error.is_of_browser() && !self.is_successor(browser) {
                    ctx.run_later(RETRY_PAUSE, Self::serve_waiters);
                    return;
                }
                self.lose(browser, &BrowserLoss::Silent(error.to_string()), ctx);
            }
        }
        self.serve_waiters(ctx);
    }

    /// Shows in the metrics what there is now.
    pub(in crate::browser) fn update_metrics(&self) {
        let level = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (common, apart): (Vec<_>, Vec<_>) = self.placed().partition(|running| self.is_common(running.id));
        let up = common.len();
        let making = self.all().map(|running| running.making.sum()).sum();
        let successors = self.all().count() - up - apart.len() - self.leaving.len();
        let leaving = self.leaving.len();
        for (state, count) in
            [("up", up), ("quarantine", apart.len()), ("successor", successors), ("leaving", leaving)]
        {
            self.metrics.browsers.of([state]).set(level(count));
        }
        self.metrics.tabs.of(["making"]).set(level(making));
        self.metrics.tabs.of(["spare"]).set(level(self.spares.len()));
        self.metrics.tabs.of(["kept"]).set(level(self.kept.idle()));
        self.metrics.tab_limit.set(level(self.tabs));
        self.metrics.waiting.set(level(self.waiters.len()));
        self.metrics.quarantined.set(level(self.quarantine.count()));
    }

    pub(in crate::browser) fn cause(&self) -> Option<&String> {
        self.last_failure.as_ref().or(self.no_port.as_ref())
    }

    fn free_origin(&mut self) -> Option<Arc<PageServer>> {
        if let Some(origin) = self.free_origins.pop() {
            return Some(origin);
        }
        match PageServer::bind(self.outbound.clone()) {
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
        ctx.spawn(ReturnedTabs);
        if !self.config.sandbox {
            tracing::warn!("Chromium's sandbox is off (browser.sandbox): pages are not caged");
        }
        if !self.config.trusted_keys.is_empty() {
            tracing::warn!(
                browser.keys = self.config.trusted_keys.len(),
                "pages trust certificates by browser.trusted_keys, whatever name and dates are in them"
            );
        }
        tokio::task::spawn_blocking(Profile::sweep);
        tokio::spawn(font_families::warn_of_missing(self.starter.clone(), Arc::clone(&self.config)));
        self.start_browsers(ctx);
    }
}

impl Handler<GetPoolStatus> for BrowserPool {
    type Result = MessageResult<GetPoolStatus>;

    fn handle(&mut self, _: GetPoolStatus, _: &mut Self::Context) -> Self::Result {
        let browsers: Vec<i32> = self
            .places
            .iter()
            .filter_map(|place| match place {
                BrowserSlot::Running(running) => Some(running.chromium.id()),
                BrowserSlot::Off | BrowserSlot::Starting | BrowserSlot::Pausing => None,
            })
            .collect();
        MessageResult(PoolStatus {
            ready: !self.stopping && self.is_ready(),
            cause: self.cause().cloned(),
            browsers,
            tabs: self.tabs,
            spare: self.spares.len(),
            kept: self.kept.idle(),
            quarantined: self.quarantine.count(),
            leased: self.leased,
            waiting: self.waiters.len(),
            leaving: self.leaving.iter().map(|running| running.chromium.id()).collect(),
            recycled: RecycleReason::ALL.iter().map(|it| self.metrics.recycles.of([it.name()]).get()).sum(),
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
        self.kept = ReusableTabs::new();
        let placed = std::mem::take(&mut self.places).into_iter().filter_map(|place| match place {
            BrowserSlot::Running(running) => Some(*running),
            BrowserSlot::Off | BrowserSlot::Starting | BrowserSlot::Pausing => None,
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
