//! Chromium: process, connection, pool of tabs, one page. The only place that names `headless_chrome`.
//!
//! ```text
//!  pool ── fleet ── chromium ── process      processes that run, and are replaced
//!   │        └ recycle  └── cdp ── wire      by plan; how they are talked to
//!   ├── grant ── tuning                      who gets which tab, and how many there are at once
//!   │     └── quarantine, rooms              accounts under whose pages a browser died, apart from the others
//!   ├── kept ── keeping ── reset             tabs without script, kept for their accounts
//!   ├── maker ── tab ── origin ── served     a context of its own, and all that it can reach:
//!   │     │      │       └ fence ── places, tunnel   its own files, and the hosts that are allowed
//!   │     │      └── events ── rest, loads, excess  what its page tells,
//!   │     │             └ page_workers        and its workers
//!   │     └── frames                         whether it is painted
//!   └── lease ──> page ── load ── resting ── print   one page, from template to file
//!                          │      └── snapshot: or from template to a document that opens by itself
//!                          └── emulate, wait, excerpt, banner, page_rules, tags, annotate: what formatOpts say of it
//! ```

mod annotate;
mod auto_height;
mod banner;
mod blame;
mod call_error;
mod capacity;
mod carried;
mod cdp;
mod chromium;
mod emulate;
mod events;
mod excerpt;
mod excess;
mod failures;
mod families;
mod fault;
mod fence;
mod flags;
mod fleet;
mod fonts;
mod frames;
mod grant;
mod header_footer;
mod inspect;
mod keeping;
mod kept;
mod kills;
mod lease;
mod load;
mod loads;
mod maker;
mod memory;
mod messages;
mod mime;
mod origin;
mod page;
mod page_rules;
mod page_workers;
mod pictures;
mod places;
mod pool;
mod print;
mod probe;
mod process;
mod profile;
mod quarantine;
mod recycle;
mod reset;
mod rest;
mod resting;
mod rooms;
mod router;
mod said;
mod scripts;
mod served;
mod shrink;
mod snapshot;
mod tab;
mod tags;
mod tuning;
mod tunnel;
mod wait;
mod wire;

pub use capacity::static_pages;
pub use families::{LISTER, installed as installed_families, is_named, missing as missing_families};
pub use fault::{PageFault, Retry};
pub use lease::Lease;
pub use messages::{GetPoolStatus, LeaseError, LeaseTab, PoolStatus, ShutDown};
pub use page::{PageOutput, PageStep, PageTask, ReadyPage, Way, open};
pub use pool::BrowserPool;
pub use print::Printed;
pub use probe::probe;
pub use process::{LaunchError, PipeEnds, Process, find_executable};
