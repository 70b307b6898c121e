//! What every request passes. `serve` wraps the application in `request`, which calls `access_log` and `unread_body`; handlers take
//! an [`auth::Caller`], which asks `rate_limit`.

pub(super) mod access_log;
pub(super) mod auth;
pub(super) mod rate_limit;
pub(super) mod request;
pub(super) mod unread_body;
