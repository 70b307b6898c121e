//! How many archives are unpacked in memory at once (`templates.unpacking_limit`).
//!
//! Hazard: an unpacked archive takes many times the memory that it has packed, and one account could have the service
//! hold many. So an account has one slot at a time. Changes have slots of their own, as many as renders have: a flood
//! of changes keeps no render waiting.

use std::time::Duration;

use tokio::time::timeout;

use crate::config::{TemplatesConfig, as_count};
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};
use crate::slots::{AccountShare, AccountSlots, Slot};

/// Slots of one account, for changes and for renders each.
const ACCOUNT_LIMIT: u64 = 1;

pub(in crate::templates) struct UnpackingLimits {
    changes: AccountSlots,
    renders: AccountSlots,
    wait: Duration,
}

impl UnpackingLimits {
    pub fn new(limits: &TemplatesConfig) -> Self {
        let count = as_count(limits.unpacking_limit);
        let slots = || AccountSlots::new(count, AccountShare::new(ACCOUNT_LIMIT));
        let wait = Duration::from_millis(limits.unpacking_timeout_ms);
        Self { changes: slots(), renders: slots(), wait }
    }

    /// A slot for a change that holds an archive in memory.
    ///
    /// # Errors
    /// `overloaded` when none is free in time.
    pub async fn for_change(&self, account: AccountId) -> Result<Slot, Problem> {
        timeout(self.wait, self.changes.acquire(account)).await.map_err(|_| {
            let limit_ms = self.wait.as_millis();
            let detail = format!(
                "Other archives were being unpacked for {limit_ms} ms (templates.unpacking_timeout_ms); try again."
            );
            Problem::new(Code::Overloaded, detail)
        })
    }

    /// A slot for a package of `account` that is unpacked for a render.
    pub async fn for_render(&self, account: AccountId) -> Slot {
        self.renders.acquire(account).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[tokio::test]
    async fn a_change_that_waits_too_long_is_refused_and_renders_do_not_wait_for_changes() {
        tokio::time::pause();
        let limits = TemplatesConfig { unpacking_limit: 1, ..Config::default().templates };
        let (unpacking, account) = (UnpackingLimits::new(&limits), AccountId::generate());
        let _held = unpacking.for_change(account).await.unwrap();
        let refused = unpacking.for_change(AccountId::generate()).await;
        assert_eq!(refused.unwrap_err().code, Code::Overloaded);
        drop(unpacking.for_render(account).await);
    }
}
