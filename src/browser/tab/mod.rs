//! One tab, whatever page is in it: how it is made, leased, observed and reset.
//!
//! `pool` makes, leases and resets tabs; `page` and `output` drive one by its lease. Calls `cdp`, `chromium` and `proxy`.

pub(in crate::browser) mod canvas;
mod clean;
pub(in crate::browser) mod console;
mod events;
pub(in crate::browser) mod excess;
pub(in crate::browser) mod factory;
pub(in crate::browser) mod failed_requests;
pub(in crate::browser) mod idle;
pub(in crate::browser) mod idle_scripts;
pub(in crate::browser) mod lease;
mod loads;
pub(in crate::browser) mod monitor;
pub(in crate::browser) mod own_host;
mod own_world;
pub(in crate::browser) mod page_state;
pub(in crate::browser) mod plain;
mod request_headers;
pub(in crate::browser) mod reset;
#[expect(clippy::module_inception, reason = "the room holds all about tabs, this file the tab itself")]
pub(in crate::browser) mod tab;
pub(in crate::browser) mod traces;
mod workers;
