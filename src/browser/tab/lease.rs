//! The right to one tab, for as long as it is held, and the message that asks for it.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use actix::Message;
use tokio::sync::mpsc;

use super::canvas::PageGraphics;
use super::tab::Tab;
use super::traces::Traces;
use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;
use crate::domain::site::ContentHash;
use crate::slots::way::{MakesWay, Way};
use crate::workers::yield_to_all_in_session;

/// Asks for a tab: a fresh one, or one that the account used before (with script for the same template). Answered in order,
/// when one is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "Result<Lease, LeaseError>")]
pub struct LeaseTab {
    /// For whom the page is rendered.
    pub account: AccountId,
    /// Whether script may run in it.
    pub lane: Lane,
    /// In a browser without other pages, for a page that was in a browser when that died: if this one dies too, the page is
    /// the reason.
    pub alone: bool,
    /// Hash of the template that the page is made of: with script a tab is reused for the same one only.
    pub content: Option<ContentHash>,
    /// Whether its browser has WebGL, or what follows if the page asks for it.
    pub graphics: PageGraphics,
}

impl LeaseTab {
    /// A tab for a page of `account`.
    pub fn new(account: AccountId, lane: Lane) -> Self {
        Self { account, lane, alone: false, content: None, graphics: PageGraphics::default() }
    }
}

/// Why there is no tab.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// None was free in time.
    #[error("no tab was free within {limit_ms} ms (browser.lease_timeout_ms; browser.tabs is {tabs}){cause}")]
    Timeout {
        /// The deadline.
        limit_ms: u64,
        /// How many tabs there are.
        tabs: usize,
        /// Why no browser runs, where that is the reason; begins with a separator.
        cause: String,
    },
    /// The service is shutting down.
    #[error("the service is shutting down")]
    Stopping,
}

/// The right to one tab. Dropped, the tab is disposed of with all that its page kept, or reset for reuse by its account,
/// and another one can be leased.
pub struct Lease {
    held: Option<HeldTab>,
    request: LeaseTab,
    pub(in crate::browser) end: LeaseEnd,
    way: Arc<LeaseWay>,
}

/// A lease whose job makes way.
#[derive(Debug)]
pub(in crate::browser) struct LeaseWay {
    /// Its tab's renderer, where that is known by now.
    renderer: Arc<OnceLock<i32>>,
    this: Weak<LeaseWay>,
    /// [`HELD`], [`BESIDE`] or [`RETURNED`], the last for good.
    place: AtomicU8,
    pool: mpsc::UnboundedSender<LeaseNotice>,
}

/// A tab and the browser it lives in.
pub(in crate::browser) struct HeldTab {
    pub tab: Tab,
    pub browser: BrowserId,
    /// When the tab was made.
    pub created: Instant,
    /// Leases of it so far.
    pub documents: u64,
    /// What its last page left in it.
    pub traces: Traces,
}

#[derive(Debug)]
pub(in crate::browser) enum LeaseEnd {
    /// Before its page was a file.
    Failed,
    /// The same, and the browser itself did not answer when it was asked why the page was late: the pool ends it.
    Stalled,
    /// The file is made, and something of the page would stay in the tab.
    NotReusable,
    /// The file is made, and the page has left no more than this.
    Reusable(Traces),
}

/// A browser of the pool: its slot, and which of the processes that were in it one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) struct BrowserId {
    pub slot: usize,
    pub generation: u64,
}

/// What leases tell the pool. Hazard: the pool's mailbox may be full, and a return that is refused would cost it the tab. So
/// notices go by a channel of their own, which is unbounded; there are never more than a few for each tab.
pub(in crate::browser) enum LeaseNotice {
    Returned(Box<TabReturned>),
    /// The lease's job may make way.
    Held(Weak<LeaseWay>, Way),
    /// The lease's job makes way.
    MakesWay(Arc<LeaseWay>),
}

/// A lease ended.
pub(in crate::browser) struct TabReturned {
    pub held: HeldTab,
    pub request: LeaseTab,
    pub end: LeaseEnd,
    /// It was beside the tabs.
    pub was_beside: bool,
}

/// A lease counts among the tabs.
const HELD: u8 = 0;
/// It goes on beside the tabs, and its tab is for no other page.
const BESIDE: u8 = 1;
/// It ended.
const RETURNED: u8 = 2;

impl LeaseWay {
    /// Takes the lease from the tabs; false where it is beside them already, or has ended.
    pub fn go_beside(&self) -> bool {
        self.place.compare_exchange(HELD, BESIDE, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether it counts among the tabs.
    pub fn is_held(&self) -> bool {
        self.place.load(Ordering::Acquire) == HELD
    }

    /// Makes the process yield that shows the page of a lease beside the tabs, once that process is known.
    pub fn yield_processor(&self) {
        if self.place.load(Ordering::Acquire) == BESIDE
            && let Some(renderer) = self.renderer.get()
        {
            yield_to_all_in_session(*renderer);
        }
    }
}

impl MakesWay for LeaseWay {
    fn make_way(&self) {
        // By a message of the pool, which counts.
        if let Some(way) = self.this.upgrade() {
            let _ = self.pool.send(LeaseNotice::MakesWay(way));
        }
    }
}

impl HeldTab {
    pub(in crate::browser) fn new(tab: Tab, browser: BrowserId) -> Self {
        Self { tab, browser, created: Instant::now(), documents: 0, traces: Traces::default() }
    }
}

impl Lease {
    pub(in crate::browser) fn new(
        held: HeldTab,
        request: LeaseTab,
        pool: mpsc::UnboundedSender<LeaseNotice>,
    ) -> Self {
        held.tab.events.monitor.set_graphics(request.graphics);
        let renderer = Arc::clone(&held.tab.events.renderer);
        let way = Arc::new_cyclic(|this| LeaseWay {
            renderer,
            place: AtomicU8::new(HELD),
            pool,
            this: Weak::clone(this),
        });
        Self { held: Some(held), request, end: LeaseEnd::Failed, way }
    }

    /// Lets the job make way with it.
    pub fn make_way_with(&self, way: &Way) {
        let _ = self.way.pool.send(LeaseNotice::Held(Arc::downgrade(&self.way), way.clone()));
        way.hold(&self.way);
    }

    /// Whether other pages were in the tab before this one.
    pub(in crate::browser) fn was_used(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.documents > 1)
    }

    /// What the page before has left in the tab.
    pub(in crate::browser) fn traces(&self) -> Option<&Traces> {
        self.held.as_ref().map(|held| &held.traces)
    }

    /// Whether its browser has no other page.
    pub(in crate::browser) fn is_alone(&self) -> bool {
        self.request.alone
    }

    /// The tab; it is there until the lease is dropped.
    pub(in crate::browser) fn tab(&self) -> Option<&Tab> {
        self.held.as_ref().map(|held| &held.tab)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            let end = std::mem::replace(&mut self.end, LeaseEnd::Failed);
            // Without a pool the browser is gone, and the tab with it.
            let was_beside = self.way.place.swap(RETURNED, Ordering::AcqRel) == BESIDE;
            let returned = TabReturned { held, request: self.request, end, was_beside };
            let _ = self.way.pool.send(LeaseNotice::Returned(Box::new(returned)));
        }
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lease").finish_non_exhaustive()
    }
}
