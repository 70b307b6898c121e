//! One document in a tab: emulation, loading, waiting until it is ready, and the diagnosis when it fails.
//!
//! Called from outside by [`open`](open::open); `output` makes the file of the page that it returns, with the emulation,
//! scripts and diagnosis from here. Calls `tab`, `proxy`, `chromium` and `cdp`, never `pool`.

pub(in crate::browser) mod diagnose;
pub(in crate::browser) mod emulate;
pub(in crate::browser) mod end;
pub(in crate::browser) mod error;
mod follow;
mod fonts;
mod inspect;
mod limits;
mod load;
pub(in crate::browser) mod open;
pub(in crate::browser) mod open_page;
mod pictures;
pub(in crate::browser) mod scripts;
mod scroll;
pub(in crate::browser) mod task;
mod wait;
mod wait_idle;
