//! Accounts, tokens, subscriptions, and the check at init.
//!
//! Who may call what: `http` sends [`actor::Authenticate`], `jobs` sends [`actor::ReserveDocument`] and gives documents back
//! through [`DocumentReturns`], the control socket sends [`actor::Administer`]. The actor owns the [`AccountStore`]; a command
//! that runs while no service does has one of its own. [`OpenJobs`] is shared by whoever opens and ends jobs, as
//! [`StorageQuota`](crate::storage::StorageQuota) is by whoever stores: each counts and checks in one step, in the middle of
//! what its caller does, and so is a plain type and no actor.

pub mod actor;
pub mod admin;
pub mod control;
mod decision;
pub mod deleted;
mod last_use;
pub mod ledger;
pub mod open_jobs;
mod records;
pub mod store;
pub mod subscription;
pub mod token;

pub use actor::Accounts;
pub use ledger::{DocumentReturns, Reservation, UsageKey};
pub use open_jobs::OpenJobs;
pub use store::AccountStore;
