//! One tab, whoever's page is in it: how it is made, leased, heard and reset.
//!
//! `pool` makes and keeps tabs, `page` and `output` drive one by its lease. Calls `cdp`, `chromium` and `proxy`,
//! and still names types of `page` and `pool` (`tests/tidy/circles.rs`).

pub(in crate::browser) mod console;
pub(in crate::browser) mod events;
pub(in crate::browser) mod excess;
pub(in crate::browser) mod factory;
pub(in crate::browser) mod failed_requests;
pub(in crate::browser) mod idle;
pub(in crate::browser) mod lease;
pub(in crate::browser) mod loads;
pub(in crate::browser) mod reset;
#[expect(clippy::module_inception, reason = "the room holds all about tabs, this file the tab itself")]
pub(in crate::browser) mod tab;
pub(in crate::browser) mod workers;
