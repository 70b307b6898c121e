//! What every request passes. `serve` wraps a connection in `traffic` and `connection`, which reads heads by `head` and bodies
//! by `body_end`. It wraps the application in `request`, which calls `access_log` and `unread_body`; handlers take an
//! [`auth::Caller`], which asks `rate_limit`.

pub(super) mod access_log;
pub(super) mod auth;
mod body_end;
pub(super) mod connection;
mod head;
pub(super) mod rate_limit;
pub(super) mod refusal;
pub(super) mod request;
pub(super) mod traffic;
pub(super) mod unread_body;
