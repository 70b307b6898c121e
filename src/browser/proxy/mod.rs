//! All that a page can reach: the files of its template, served under a host name of its own, and the hosts that
//! `outbound` allows.
//!
//! `pool` binds one server a tab, `page` opens a session for each document. Calls nothing of `browser`.

pub(in crate::browser) mod forward;
pub(in crate::browser) mod mime;
pub(in crate::browser) mod server;
pub(in crate::browser) mod slots;
pub(in crate::browser) mod static_files;
pub(in crate::browser) mod tunnel;
