//! Accounts, tokens, subscriptions, and the check at init.
