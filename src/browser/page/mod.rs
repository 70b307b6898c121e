//! One document in a tab: loaded, emulated, waited for, looked at, and what is said when it fails.
//!
//! Called from outside by [`open`](open::open); `output` makes the file of the page that it answers. Calls `tab` and all
//! below it.

pub(in crate::browser) mod diagnose;
pub(in crate::browser) mod emulate;
pub(in crate::browser) mod end;
pub(in crate::browser) mod error;
mod fonts;
mod inspect;
mod limits;
mod load;
pub(in crate::browser) mod open;
pub(in crate::browser) mod open_page;
mod pictures;
pub(in crate::browser) mod scripts;
pub(in crate::browser) mod task;
mod wait;
mod wait_idle;
