//! Chromium's protocol (CDP): the connection over its pipe, calls, events. Knows nothing of pages.
//!
//! Every other room but `proxy` calls it; it calls none of them.

pub(in crate::browser) mod commands;
pub(in crate::browser) mod connection;
pub(in crate::browser) mod error;
pub(in crate::browser) mod event;
pub(in crate::browser) mod pending;
mod router;
pub(in crate::browser) mod wire;
