//! What stands between the connection and every handler: bytes counted, malformed requests refused, who asks, how often,
//! and the log of it.

pub(super) mod access_log;
pub(super) mod auth;
pub(super) mod connection;
pub(super) mod rate_limit;
pub(super) mod refusal;
pub(super) mod request;
pub(super) mod traffic;
pub(super) mod unread_body;
