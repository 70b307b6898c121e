//! Accounts and their tokens.

use serde::Deserialize;

use super::Faults;

/// Section `[accounts]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountsConfig {
    /// Active tokens of one account.
    pub token_limit: u64,
    /// Bytes that an account may have stored: inputs of jobs that have not ended, and templates. Zero: no limit.
    pub stored_bytes_limit: u64,
    /// Jobs of an account that may be initialized and not started. Zero: no limit.
    pub open_jobs_limit: u64,
    /// Messages waiting for the accounts' actor; one more is refused with 503.
    pub mailbox_limit: u64,
    /// Connections to the control socket at once.
    pub control_connection_limit: u64,
    /// Longest request on the control socket.
    pub control_line_limit_bytes: u64,
    /// Until a request on the control socket is answered.
    pub control_timeout_ms: u64,
}

impl AccountsConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("accounts.token_limit", self.token_limit, 1, 10_000);
        faults.within("accounts.stored_bytes_limit", self.stored_bytes_limit, 0, 1 << 50);
        faults.within("accounts.open_jobs_limit", self.open_jobs_limit, 0, 1 << 32);
        faults.within("accounts.mailbox_limit", self.mailbox_limit, 16, 1 << 20);
        faults.within("accounts.control_connection_limit", self.control_connection_limit, 1, 1_024);
        faults.within("accounts.control_line_limit_bytes", self.control_line_limit_bytes, 1_024, 1 << 24);
        faults.within("accounts.control_timeout_ms", self.control_timeout_ms, 100, 600_000);
    }
}
