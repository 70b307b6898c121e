//! The messages of the pool that ask for its status and end it.
//!
//! The other one, [`LeaseTab`](crate::browser::LeaseTab), is in `tab/lease.rs`: a lease has the request that it was given for,
//! and `tab` may not name `pool`. There is `LeaseNotice` as well, which is no message: a lease that is dropped sends it by a
//! channel, and `LeaseNotices` (`actor.rs`) receives it for the pool.

use actix::Message;

/// Asks for the pool's status.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "PoolStatus")]
pub struct GetPoolStatus;

/// The pool's status.
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
    /// Tabs made ahead.
    pub warm: usize,
    /// Tabs for a further page of their accounts.
    pub reusable: usize,
    /// Accounts' lanes in quarantine.
    pub quarantined: usize,
    /// Tabs in use.
    pub leased: usize,
    /// Jobs that wait for a tab.
    pub waiting: usize,
    /// The process ids of replaced browsers that still have pages.
    pub draining: Vec<i32>,
    /// Browsers replaced by plan so far.
    pub recycled: u64,
    /// Leases so far that had to wait for a browser to start.
    pub launch_waits: u64,
}

/// Ends all browsers; answered when their processes and folders are gone.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct ShutDown;
