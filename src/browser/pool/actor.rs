//! The pool of browsers: leases tabs first come, first served, and keeps browsers running.
//!
//! ```text
//!  LeaseTab ──> waiters ──┐                       ┌── Lease ──(dropped)──> disposed of
//!                         ├── granted, in order ──┘              └───────(reusable: reuse.rs)──────┐
//!  make ──> warm tabs ────┤     at most `tabs` leased, warm and reusable                           │
//!  reusable tabs ─────────┘<──────────────────(reset: release.rs)──────────────────────────────────┘
//!
//!  a slot:   Starting ──> RunningBrowser ──(connection closed, no answer)──> Starting …
//!                │             └──(did enough: recycle.rs)──> RunningBrowser, another one
//!                └─(failed)─> Pausing ──(a while)──> Starting
//! ```
//!
//! Browser slots are for pages with script, for pages without (in a browser that runs no script, none can crash it), and for
//! accounts in quarantine (`quarantine.rs`) or for pages that draw with WebGL (`one_account.rs`); these are started when a page
//! waits for one. So are the others with `browser.start = "lazy"`.
//!
//! Everything runs on the actor's own thread, so that must be one that lasts as long as the pool.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{self, Poll};
use std::time::Duration;

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::browsers::{BrowserLoss, BrowserSlot, Purpose, RecycleReason, RunningBrowser};
use super::messages::{GetPoolStatus, PoolStatus, ShutDown};
use super::quarantine::Quarantine;
use super::recent_keys::RecentKeys;
use super::reuse::ReusableTabs;
use crate::browser::cdp::error::CallError;
use crate::browser::chromium::capacity;
use crate::browser::chromium::font_families::{self, Families};
use crate::browser::chromium::profile::Profile;
use crate::browser::proxy::server::PageServer;
use crate::browser::tab::factory::TabFactory;
use crate::browser::tab::idle_scripts::IdleScripts;
use crate::browser::tab::lease::{BrowserId, HeldTab, Lease, LeaseNotice, LeaseTab, LeaseWay};
use crate::browser::tab::tab::Tab;
use crate::config::{BrowserConfig, as_count};
use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;
use crate::outbound::Outbound;
use crate::slots::AccountShare;
use crate::slots::engines::EngineBudget;
use crate::slots::way::Way;
use crate::telemetry::BrowserMetrics;
use crate::workers::Starter;

/// Pause before a tab is tried again that could not be made.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// Longest wait for the removal of what killed services have left behind.
const SWEEP_LIMIT: Duration = Duration::from_secs(10);

/// The actor. It starts its browsers when it is started, or with the first page (`browser.start`).
pub struct BrowserPool {
    pub(super) config: Arc<BrowserConfig>,
    pub(super) families: Arc<Families>,
    pub(super) starter: Starter,
    /// Which hosts its pages reach.
    outbound: Outbound,
    pub(super) metrics: BrowserMetrics,
    /// Most tabs leased at once.
    pub(super) tabs: usize,
    /// Warm tabs of each lane that are wanted while no job waits (`browser.spare_tabs`).
    pub(super) warm_target: usize,
    pub(super) cores: usize,
    pub(super) slots: Vec<BrowserSlot>,
    /// What each slot is for.
    pub(super) purposes: Vec<Purpose>,
    pub(super) quarantine: Quarantine,
    /// Who has the browsers that draw WebGL, by the same rules: whoever used one lately, instead of whoever is in quarantine.
    pub(super) graphics: Quarantine,
    /// Pages that asked for WebGL lately.
    pub(super) drawing: RecentKeys,
    pub(super) engines: EngineBudget,
    /// When a program of them ran last, as far as that was seen.
    pub(super) program_seen: Option<std::time::Instant>,
    /// How many tabs one account may hold.
    pub(super) share: AccountShare,
    /// Replaced browsers with their last pages.
    pub(super) draining: Vec<RunningBrowser>,
    pub(super) last_generation: u64,
    pub(super) free_servers: Vec<Arc<PageServer>>,
    pub(super) warm_tabs: VecDeque<HeldTab>,
    /// Tabs for further pages of their accounts.
    pub(super) reusable: ReusableTabs<HeldTab>,
    /// Scripted pages that were rendered lately.
    pub(super) recent: RecentKeys,
    pub(super) leased: usize,
    /// Most leases whose jobs made way, and how many there are: they are not counted among the leased tabs.
    pub(super) overflow: usize,
    pub(super) beside: usize,
    /// Leases whose jobs may make way.
    pub(super) holders: Vec<(Weak<LeaseWay>, Instant, Way)>,
    /// A look at who waits is due.
    pub(super) is_looking: bool,
    pub(super) leased_by: HashMap<AccountId, usize>,
    /// Accounts that had a long page lately, each until when that counts.
    pub(super) long_page_accounts: HashMap<AccountId, std::time::Instant>,
    pub(super) waiters: VecDeque<Waiter>,
    pub(super) notices: mpsc::UnboundedSender<LeaseNotice>,
    pub(super) incoming: mpsc::UnboundedReceiver<LeaseNotice>,
    pub(super) last_failure: Option<String>,
    /// Why a tab got no server; cleared by the next that gets one.
    no_port: Option<String>,
    retries_server: bool,
    pub(super) stopping: bool,
    /// The scripts that watch whether a page is idle.
    pub(super) idle_scripts: IdleScripts,
}

/// A job that asked for a tab.
pub(super) struct Waiter {
    pub request: LeaseTab,
    pub answer: oneshot::Sender<Lease>,
    /// It was counted among those that wait for a browser to start.
    pub waits_for_launch: bool,
}

impl BrowserPool {
    /// A pool that starts its processes through `starter` and counts in `metrics`; its pages reach what `outbound` allows, and
    /// one account gets at most its share of the tabs. Long pages yield to the programs of `engines`.
    pub fn new(
        config: BrowserConfig,
        starter: Starter,
        outbound: Outbound,
        engines: EngineBudget,
        metrics: BrowserMetrics,
    ) -> Self {
        let share = engines.share();
        let (notices, incoming) = mpsc::unbounded_channel();
        let tabs = capacity::tabs(config.tabs);
        let idle_scripts = IdleScripts::new(&config);
        Self {
            metrics,
            tabs,
            overflow: share.overflow_of(tabs),
            warm_target: as_count(config.spare_tabs),
            cores: capacity::cores(),
            slots: Vec::new(),
            purposes: Vec::new(),
            quarantine: Quarantine::new(
                usize::try_from(config.quarantine_processes).unwrap_or(1),
                Duration::from_secs(config.quarantine_s),
            ),
            graphics: Quarantine::new(
                as_count(config.graphics_processes),
                Duration::from_secs(config.graphics_idle_s),
            ),
            drawing: RecentKeys::default(),
            share,
            engines,
            draining: Vec::new(),
            families: Arc::new(Families::of(&config)),
            config: Arc::new(config),
            starter,
            outbound,
            last_generation: 0,
            free_servers: Vec::new(),
            warm_tabs: VecDeque::new(),
            reusable: ReusableTabs::new(),
            recent: RecentKeys::default(),
            leased: 0,
            beside: 0,
            holders: Vec::new(),
            is_looking: false,
            leased_by: HashMap::new(),
            long_page_accounts: HashMap::new(),
            program_seen: None,
            waiters: VecDeque::new(),
            notices,
            incoming,
            last_failure: None,
            no_port: None,
            retries_server: false,
            stopping: false,
            idle_scripts,
        }
    }

    /// False when there is no port for its server.
    pub(super) fn make_tab_in(
        &mut self,
        browser: BrowserId,
        factory: TabFactory,
        lane: Lane,
        ctx: &mut Context<Self>,
    ) -> bool {
        let Some(server) = self.free_server() else {
            // No other event may come for a long time.
            if !std::mem::replace(&mut self.retries_server, true) {
                ctx.run_later(RETRY_PAUSE, |pool, ctx| {
                    pool.retries_server = false;
                    pool.serve_waiters(ctx);
                });
            }
            return false;
        };
        if let Some(running) = self.find(browser) {
            *running.making.of_mut(lane) += 1;
            running.tabs += 1;
        }
        let made = wrap_future::<_, Self>(factory.make(lane, Arc::clone(&server)));
        ctx.spawn(made.map(move |made, pool, ctx| pool.tab_made(browser, (lane, server), made, ctx)));
        true
    }

    fn tab_made(
        &mut self,
        browser: BrowserId,
        (lane, server): (Lane, Arc<PageServer>),
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
            Ok(tab) => {
                self.note_tab(browser, &tab);
                self.add_tab(HeldTab::new(tab, browser), ctx);
            }
            Err(error) => {
                if !error.is_of_browser() {
                    self.free_servers.push(server);
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

    pub(super) fn update_metrics(&self) {
        let level = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let placed = |is_wanted: fn(Purpose) -> bool| {
            self.placed().filter(|running| is_wanted(self.purpose(running.id))).count()
        };
        let quarantined = placed(|purpose| matches!(purpose, Purpose::Quarantine(_)));
        let graphics = placed(|purpose| matches!(purpose, Purpose::Graphics(_)));
        let up = self.placed().count() - quarantined - graphics;
        let making = self.all().map(|running| running.making.sum()).sum();
        let draining = self.draining.len();
        let successors = self.all().count() - self.placed().count() - draining;
        for (state, count) in [
            ("up", up),
            ("quarantine", quarantined),
            ("graphics", graphics),
            ("successor", successors),
            ("leaving", draining),
        ] {
            self.metrics.browsers.of([state]).set(level(count));
        }
        self.metrics.tabs.of(["making"]).set(level(making));
        self.metrics.tabs.of(["spare"]).set(level(self.warm_tabs.len()));
        self.metrics.tabs.of(["kept"]).set(level(self.reusable.idle()));
        self.metrics.tab_limit.set(level(self.tabs));
        self.metrics.waiting.set(level(self.waiters.len()));
        self.metrics.quarantined.set(level(self.quarantine.count()));
    }

    pub(super) fn cause(&self) -> Option<&String> {
        self.last_failure.as_ref().or(self.no_port.as_ref())
    }

    fn free_server(&mut self) -> Option<Arc<PageServer>> {
        if let Some(server) = self.free_servers.pop() {
            return Some(server);
        }
        match PageServer::bind(self.outbound.clone()) {
            Ok(server) => {
                self.no_port = None;
                Some(Arc::new(server))
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
        ctx.spawn(LeaseNotices);
        if !self.config.sandbox {
            tracing::warn!("Chromium's sandbox is off (browser.sandbox): pages are not caged");
        }
        if !self.config.trusted_keys.is_empty() {
            tracing::warn!(
                browser.keys = self.config.trusted_keys.len(),
                "pages trust certificates by browser.trusted_keys, whatever name and dates are in them"
            );
        }
        tokio::spawn(font_families::warn_of_missing(self.starter.clone(), Arc::clone(&self.config)));
        // Waited for: what killed services have left behind is gone before the first page, unless there is very much of it.
        let sweep = tokio::time::timeout(SWEEP_LIMIT, tokio::task::spawn_blocking(Profile::sweep));
        let swept = wrap_future::<_, Self>(sweep);
        ctx.wait(swept.map(|_, pool, ctx| pool.start_browsers(ctx)));
    }
}

/// Takes tabs back, and what else leases tell, for as long as the pool lives.
struct LeaseNotices;

impl ActorFuture<BrowserPool> for LeaseNotices {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        pool: &mut BrowserPool,
        ctx: &mut Context<BrowserPool>,
        task: &mut task::Context<'_>,
    ) -> Poll<()> {
        while let Poll::Ready(Some(notice)) = pool.incoming.poll_recv(task) {
            pool.notice(notice, ctx);
            pool.serve_waiters(ctx);
        }
        Poll::Pending
    }
}

impl Handler<GetPoolStatus> for BrowserPool {
    type Result = MessageResult<GetPoolStatus>;

    fn handle(&mut self, _: GetPoolStatus, _: &mut Self::Context) -> Self::Result {
        MessageResult(PoolStatus {
            ready: !self.stopping && self.is_ready(),
            cause: self.cause().cloned(),
            browsers: self.placed().map(|running| running.chromium.id()).collect(),
            tabs: self.tabs,
            warm: self.warm_tabs.len(),
            reusable: self.reusable.idle(),
            quarantined: self.quarantine.count(),
            leased: self.leased,
            waiting: self.waiters.len(),
            draining: self.draining.iter().map(|running| running.chromium.id()).collect(),
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
        self.warm_tabs.clear();
        self.reusable = ReusableTabs::new();
        let placed = std::mem::take(&mut self.slots).into_iter().filter_map(BrowserSlot::into_running);
        let mut running: Vec<_> =
            placed.map(|running| *running).chain(std::mem::take(&mut self.draining)).collect();
        let successors: Vec<_> =
            running.iter_mut().filter_map(|it| it.successor.take()?.running.map(|it| *it)).collect();
        let ended = running.into_iter().chain(successors).map(|running| running.chromium.end());
        let ended = futures_util::future::join_all(ended);
        Box::pin(wrap_future::<_, Self>(ended).map(|_, _, ctx| ctx.stop()))
    }
}
