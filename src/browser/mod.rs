//! Chromium: process, connection, pool of tabs, one page. The only place that names `headless_chrome`.
//!
//! ```text
//!   output       the file of a page: PDF, picture, document            print, Printed
//!     │
//!   page         one document in a tab: load, wait, diagnose           open
//!     │   pool   actor: keeps browsers running, leases their tabs      its messages
//!     │    │
//!   tab          one tab: make, lease, observe, reset                  Lease
//!     │
//!   proxy        what its pages reach                                  media_type, PageServer
//!   chromium     one process from start to end                         probe, Process, fonts
//!     │
//!   cdp          the protocol                                          nothing from outside
//! ```
//!
//! A room calls those below it, at any depth, and none above or beside it (`tests/tidy/layers.rs`): what two of them need is
//! in the lower one.

mod cdp;
mod chromium;
mod output;
mod page;
mod pool;
mod proxy;
mod tab;

pub use chromium::capacity::static_pages;
pub use chromium::flags::Graphics;
pub use chromium::font_families::{
    LISTER, installed as installed_families, is_named, missing as missing_families,
};
pub use chromium::instance::probe;
pub use chromium::launch_error::LaunchError;
pub use chromium::process::{PipeEnds, Process, find_executable};
pub use output::print::{Printed, print};
pub use page::error::{PageError, Retry};
pub use page::open::{ReadyPage, open};
pub use page::task::{Delivery, PageOutput, PageStep, PageTask};
pub use pool::actor::BrowserPool;
pub use pool::messages::{GetPoolStatus, PoolStatus, ShutDown};
pub use proxy::mime::essence as media_type;
pub use proxy::server::PageServer;
pub use tab::canvas::PageGraphics;
pub use tab::lease::{Lease, LeaseError, LeaseTab};
