//! The actor that owns browsers and leases their tabs.
//!
//! Called from outside by its messages alone, and returns a lease; `page` and `output` never call it. Calls `tab`, `chromium`
//! and `proxy`, and knows nothing of documents.
//!
//! `actor` is [`BrowserPool`](actor::BrowserPool), `browsers` the types of what it owns; its methods are grouped by purpose:
//! `acquire` (a waiter gets a tab), `release` (a tab comes back), `supervisor` (processes start, die, are pinged), `hung`
//! (those that hang are found and ended), `recycle` (they are replaced by plan), `measure` (memory, processor time, shares of
//! sessions), `make_way` (a long page goes on beside the tabs), `one_account` (browsers that one account has at a time). `reuse`, `recent_keys` and
//! `quarantine` only decide: no processes, no clock.

mod acquire;
pub(in crate::browser) mod actor;
mod browsers;
mod hung;
mod make_way;
mod measure;
pub(in crate::browser) mod messages;
mod one_account;
mod quarantine;
mod recent_keys;
mod recycle;
mod release;
mod reuse;
mod supervisor;
