//! Accounts and their tokens.

use serde::Deserialize;

use super::SettingErrors;

/// Section `[accounts]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountsConfig {
    /// Active tokens of one account.
    pub token_limit: u64,
    /// Bytes that an account may store: templates, and inputs of jobs that have not ended; 0: no limit.
    pub stored_bytes_limit: u64,
    /// Jobs of an account that are initialized and not started; 0: no limit.
    pub open_jobs_limit: u64,
    /// Messages waiting for the accounts' actor, and tokens looked up at once; one more token is refused with 503.
    pub mailbox_limit: u64,
    /// Connections to the control socket at once.
    pub control_connection_limit: u64,
    /// Longest request on the control socket.
    pub control_line_limit_bytes: u64,
    /// Longest time to answer a request on the control socket.
    pub control_timeout_ms: u64,
}

impl AccountsConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("accounts.token_limit", self.token_limit, 1, 10_000);
        errors.within("accounts.stored_bytes_limit", self.stored_bytes_limit, 0, 1 << 50);
        errors.within("accounts.open_jobs_limit", self.open_jobs_limit, 0, 1 << 32);
        errors.within("accounts.mailbox_limit", self.mailbox_limit, 16, 1 << 20);
        errors.within("accounts.control_connection_limit", self.control_connection_limit, 1, 1_024);
        errors.within("accounts.control_line_limit_bytes", self.control_line_limit_bytes, 1_024, 1 << 24);
        errors.within("accounts.control_timeout_ms", self.control_timeout_ms, 100, 600_000);
    }
}
