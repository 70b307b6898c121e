//! The actor that owns browsers and leases their tabs.
//!
//! Called from outside by its messages alone. Calls `tab`, `chromium` and `proxy`, and knows nothing of documents.

mod acquire;
mod browsers;
pub(in crate::browser) mod messages;
mod quarantine;
mod quarantine_browsers;
mod recycle;
mod release;
mod reuse;
pub(in crate::browser) mod state;
mod supervisor;
