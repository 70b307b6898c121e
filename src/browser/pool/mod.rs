//! The actor that owns browsers and leases their tabs.
//!
//! Called from outside by its messages alone. Calls `tab`, `chromium` and `proxy`, and knows nothing of documents.

pub(in crate::browser) mod acquire;
pub(in crate::browser) mod messages;
pub(in crate::browser) mod quarantine;
pub(in crate::browser) mod quarantine_browsers;
pub(in crate::browser) mod recycle;
pub(in crate::browser) mod release;
pub(in crate::browser) mod reuse;
pub(in crate::browser) mod state;
pub(in crate::browser) mod supervisor;
