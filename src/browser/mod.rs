//! Chromium: process, connection, pool of tabs, one page. The only place that names `headless_chrome`.
//!
//! ```text
//!  pool ── fleet ── chromium ── cdp ─ router ─ wire      processes, and how they are talked to
//!   │                              └ events              what a page tells
//!   ├── tab ── origin ── served                          a fresh context, and all that it can reach
//!   └── lease ──> page ── load ── print                  one page, from template to file
//! ```

mod blame;
mod capacity;
mod cdp;
mod chromium;
mod events;
mod fault;
mod flags;
mod fleet;
mod lease;
mod load;
mod memory;
mod messages;
mod origin;
mod page;
mod pool;
mod print;
mod profile;
mod router;
mod scripts;
mod served;
mod tab;
mod wire;

pub use chromium::{LaunchError, find_executable};
pub use fault::PageFault;
pub use lease::Lease;
pub use messages::{GetPoolStatus, LeaseError, LeaseTab, PoolStatus, ShutDown};
pub use page::{PageOutput, PageStep, PageTask, ReadyPage, open};
pub use pool::BrowserPool;
pub use print::Printed;
