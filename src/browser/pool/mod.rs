//! The actor that owns browsers and leases their tabs.
//!
//! Called from outside by its messages alone. Calls `tab`, `chromium` and `proxy`, and knows nothing of documents.
//!
//! `state` is the actor, `browsers` the types of what it owns; its methods lie by what they are for: `acquire` (a waiter gets
//! a tab), `release` (a tab comes back), `supervisor` (processes start, die, are pinged), `recycle` (they are replaced by
//! plan), `quarantine_browsers`. What `reuse`, `recent_keys` and `quarantine` decide is pure.

mod acquire;
mod browsers;
pub(in crate::browser) mod messages;
mod quarantine;
mod quarantine_browsers;
mod recent_keys;
mod recycle;
mod release;
mod reuse;
pub(in crate::browser) mod state;
mod supervisor;
