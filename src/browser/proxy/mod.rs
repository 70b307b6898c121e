//! All that a page can reach: the files of its template, served under a host name of its own, and the hosts that
//! `outbound` allows.
//!
//! `pool` binds one server a tab, `page` opens a session for each document; `tab` and `output` read what a session has
//! refused or reached. Calls nothing of `browser`.

mod forward;
pub(in crate::browser) mod mime;
pub(in crate::browser) mod page_session;
mod request;
pub(in crate::browser) mod server;
mod slots;
mod static_files;
mod tunnel;
