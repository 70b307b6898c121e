//! The right to one tab, for as long as it is held.

use std::time::Instant;

use tokio::sync::mpsc;

use super::reset::Traces;
use super::tab::Tab;
use crate::browser::pool::messages::LeaseTab;

/// One tab, to oneself. Dropped, it is disposed of with all that its page kept, or reset and kept for its
/// account, and another one can be leased.
pub struct Lease {
    held: Option<HeldTab>,
    asked: LeaseTab,
    end: LeaseEnd,
    returns: mpsc::UnboundedSender<TabReturned>,
}

/// A tab and the browser it lives in.
pub(in crate::browser) struct HeldTab {
    pub tab: Tab,
    pub browser: BrowserId,
    pub since: Instant,
    /// Leases of it so far.
    pub documents: u64,
    /// What its last page left in it.
    pub traces: Traces,
}

/// How a lease ended.
#[derive(Debug)]
pub(in crate::browser) enum LeaseEnd {
    /// Before its page was a file.
    GivenUp,
    /// The same, and the browser answered nothing any more.
    Stalled,
    /// The file is made, and the page left no more than this.
    Reusable(Traces),
}

/// Which process of the pool, and which of those that took its place one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) struct BrowserId {
    pub place: usize,
    pub generation: u64,
}

/// A lease ended. Sent over a channel of its own: a full mailbox must not cost the pool a tab, and
/// there are never more of these than tabs.
pub(in crate::browser) struct TabReturned {
    pub held: HeldTab,
    pub asked: LeaseTab,
    pub end: LeaseEnd,
}

impl HeldTab {
    pub(in crate::browser) fn new(tab: Tab, browser: BrowserId) -> Self {
        Self { tab, browser, since: Instant::now(), documents: 0, traces: Traces::default() }
    }
}

impl Lease {
    pub(in crate::browser) fn new(
        held: HeldTab,
        asked: LeaseTab,
        returns: mpsc::UnboundedSender<TabReturned>,
    ) -> Self {
        Self { held: Some(held), asked, end: LeaseEnd::GivenUp, returns }
    }

    /// The browser does not answer: it is lost when the tab comes back, rather than at a later ping.
    pub(in crate::browser) fn report_stalled(&mut self) {
        self.end = LeaseEnd::Stalled;
    }

    /// Its page is a file, and another page of its account may follow in its tab.
    pub(in crate::browser) fn report_reusable(&mut self, traces: Traces) {
        self.end = LeaseEnd::Reusable(traces);
    }

    /// Whether other pages were in the tab before this one.
    pub(in crate::browser) fn was_used(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.documents > 1)
    }

    /// Whether nobody else has a page in its browser.
    pub(in crate::browser) fn is_alone(&self) -> bool {
        self.asked.alone
    }

    /// The tab; it is there until the lease is dropped.
    pub(in crate::browser) fn tab(&self) -> Option<&Tab> {
        self.held.as_ref().map(|held| &held.tab)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            // Without a pool the browser is gone, and the tab with it.
            let end = std::mem::replace(&mut self.end, LeaseEnd::GivenUp);
            let _ = self.returns.send(TabReturned { held, asked: self.asked, end });
        }
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lease").finish_non_exhaustive()
    }
}
