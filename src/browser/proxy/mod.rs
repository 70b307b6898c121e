//! All that a page can reach: the files of its template, served under a host name of its own, and the hosts that
//! `outbound` allows.
//!
//! `pool` binds one server a tab, `page` opens a session for each document; `tab` and `output` read what a session has
//! refused or reached. Calls nothing of `browser`.

mod forward;
pub(in crate::browser) mod mime;
mod request;
pub(in crate::browser) mod server;
pub(in crate::browser) mod session;
mod slots;
mod static_files;
mod tunnel;
