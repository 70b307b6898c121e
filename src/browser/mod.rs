//! Chromium: process, connection, pool of tabs, one page. The only place that names `headless_chrome`.
//!
//! ```text
//!  pool      actor: keeps browsers running, leases their tabs     messages, from outside
//!   │
//!   │  output    the file of a page: PDF, picture, document       ReadyPage::print, Printed
//!   │   └ page   one document in a tab: load, wait, diagnose      open(lease, task)
//!   ├────└ tab       one tab: make, lease, hear, reset            Lease
//!   │       ├ proxy      what its pages reach                     nothing from outside
//!   └───────┼ chromium   one process from start to end            probe, find_executable
//!           └ cdp        the protocol                             nothing from outside
//! ```
//!
//! A room calls those below it. Not yet true of all: `tab` names types of `page` and `pool`, `pool` and `chromium` some of the
//! rooms above them; `tests/tidy/circles.rs` lists the circles that come of it, and no new one is allowed.

mod cdp;
mod chromium;
mod output;
mod page;
mod pool;
mod proxy;
mod tab;

pub use chromium::capacity::static_pages;
pub use chromium::font_families::{
    LISTER, installed as installed_families, is_named, missing as missing_families,
};
pub use chromium::probe::probe;
pub use chromium::process::{LaunchError, PipeEnds, Process, find_executable};
pub use output::print::Printed;
pub use page::error::{PageError, Retry};
pub use page::open::{PageOutput, PageStep, PageTask, ReadyPage, Way, open};
pub use pool::messages::{GetPoolStatus, LeaseError, LeaseTab, PoolStatus, ShutDown};
pub use pool::state::BrowserPool;
pub use tab::lease::Lease;
