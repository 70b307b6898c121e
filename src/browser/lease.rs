//! The right to one tab, for as long as it is held.

use tokio::sync::mpsc;

use super::tab::Tab;
use crate::domain::lane::Lane;

/// One tab, to oneself. Dropped, it is disposed of with all that its page kept, and another one can be
/// leased.
pub struct Lease {
    held: Option<HeldTab>,
    lane: Lane,
    stalled: bool,
    returns: mpsc::UnboundedSender<TabReturned>,
}

/// A tab and the browser it lives in.
pub(super) struct HeldTab {
    pub tab: Tab,
    pub browser: BrowserId,
}

/// Which process of the pool, and which of those that took its place one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrowserId {
    pub place: usize,
    pub generation: u64,
}

/// A lease ended. Sent over a channel of its own: a full mailbox must not cost the pool a tab, and
/// there are never more of these than tabs.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub(super) struct TabReturned {
    pub held: HeldTab,
    pub lane: Lane,
    /// Its browser answered nothing any more.
    pub stalled: bool,
}

impl Lease {
    pub(super) fn new(held: HeldTab, lane: Lane, returns: mpsc::UnboundedSender<TabReturned>) -> Self {
        Self { held: Some(held), lane, stalled: false, returns }
    }

    /// The browser does not answer: it is lost when the tab comes back, rather than at a later ping.
    pub(super) fn report_stalled(&mut self) {
        self.stalled = true;
    }

    /// The tab; it is there until the lease is dropped.
    pub(super) fn tab(&self) -> Option<&Tab> {
        self.held.as_ref().map(|held| &held.tab)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            // Without a pool the browser is gone, and the tab with it.
            let _ = self.returns.send(TabReturned { held, lane: self.lane, stalled: self.stalled });
        }
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lease").finish_non_exhaustive()
    }
}
