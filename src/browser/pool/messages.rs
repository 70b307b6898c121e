//! What can be asked of the pool of browsers.

use actix::Message;

use crate::browser::tab::lease::Lease;
use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;

/// Asks for a tab: a fresh one or, without script, one that its account had before. The answer comes when one is
/// free, first come, first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "Result<Lease, LeaseError>")]
pub struct LeaseTab {
    /// For whom the page is rendered.
    pub account: AccountId,
    /// Whether script may run in it.
    pub lane: Lane,
    /// In a browser in which nobody else has a page.
    pub alone: bool,
}

impl LeaseTab {
    /// A tab for a page of `account`.
    #[must_use]
    pub fn new(account: AccountId, lane: Lane) -> Self {
        Self { account, lane, alone: false }
    }

    /// The same, for a page under which a browser died.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
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

/// Asks how the pool does.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "PoolStatus")]
pub struct GetPoolStatus;

/// How the pool does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    /// Whether any page can be rendered: a browser answers for each lane.
    pub ready: bool,
    /// Why none is ready, if it is known.
    pub cause: Option<String>,
    /// The process ids of the browsers that run.
    pub browsers: Vec<i32>,
    /// Most pages rendered at once.
    pub tabs: usize,
    /// Fresh tabs made ahead.
    pub spare: usize,
    /// Tabs kept for a further page of their accounts.
    pub kept: usize,
    /// Accounts' lanes in quarantine.
    pub quarantined: usize,
    /// Tabs in use.
    pub leased: usize,
    /// Who waits for a tab.
    pub waiting: usize,
    /// The process ids of replaced browsers that still have pages.
    pub leaving: Vec<i32>,
    /// Browsers replaced by plan so far.
    pub recycled: u64,
    /// Leases so far that had to wait for a browser to start.
    pub launch_waits: u64,
}

/// Ends all browsers; answered when their processes and folders are gone.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct ShutDown;
