//! Accounts and their tokens.

use serde::Deserialize;

use super::Faults;

/// Section `[accounts]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountsConfig {
    /// Active tokens of one account.
    pub token_limit: u64,
}

impl AccountsConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("accounts.token_limit", self.token_limit, 1, 10_000);
    }
}
