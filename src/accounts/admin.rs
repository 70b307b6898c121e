//! The operator's requests and the answers to them, in one process or over the control socket.

use serde::{Deserialize, Serialize};

use crate::accounts::subscription::{Account, Status};
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TokenId};
use crate::storage::index::IndexError;

/// Longest name of an account or a plan, in characters.
const NAME_LIMIT: usize = 64;

/// A question or an order of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum AdminRequest {
    /// Makes an account: active, for ever, and without a limit unless one is given.
    CreateAccount {
        /// Its name.
        name: String,
        /// Its plan.
        plan: Option<String>,
        /// Documents in a period.
        documents_per_month: Option<u64>,
        /// The id that it had before its record was lost; a new one when it is not given.
        #[serde(default)]
        id: Option<AccountId>,
    },
    /// Changes what is given of an account.
    SetAccount {
        /// Its name.
        name: String,
        /// What changes.
        settings: AccountSettings,
    },
    /// Lists the accounts by name, beginning behind one.
    ListAccounts {
        /// The last name that is known already.
        after: Option<String>,
    },
    /// Deletes an account with its tokens at once, and what else it has as soon as possible.
    DeleteAccount {
        /// Its name.
        name: String,
    },
    /// Makes a token.
    CreateToken {
        /// The account's name.
        account: String,
        /// What it is called.
        #[serde(default)]
        name: Option<String>,
        /// When it ends.
        #[serde(default)]
        expiry: Option<Expiry>,
    },
    /// Lists the tokens in the order in which they were made, beginning behind one.
    ListTokens {
        /// Only those of the account of this name.
        account: Option<String>,
        /// The last token that is known already.
        after: Option<TokenId>,
    },
    /// Revokes a token at once.
    RevokeToken {
        /// Which one.
        id: TokenId,
    },
}

/// What may change of an account; what is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountSettings {
    /// The plan.
    pub plan: Option<String>,
    /// The status.
    pub status: Option<Status>,
    /// The documents in a period.
    pub documents: Option<Documents>,
    /// Until when it is paid for.
    pub renewal: Option<Renewal>,
    /// The bytes that it may have stored.
    #[serde(default)]
    pub stored_bytes: Option<AccountLimit>,
    /// The jobs that may be initialized and not started.
    #[serde(default)]
    pub open_jobs: Option<AccountLimit>,
}

impl AccountSettings {
    /// The account with what is given.
    pub(super) fn change(self, mut account: Account, now: Timestamp) -> Result<Account, AdminError> {
        if let Some(plan) = self.plan {
            check_name(&plan)?;
            account.plan = plan;
        }
        account.status = self.status.unwrap_or(account.status);
        match self.documents {
            Some(Documents::Unlimited) => account.documents_per_month = None,
            Some(Documents::Limit(limit)) => account.documents_per_month = Some(limit),
            None => {}
        }
        match self.renewal {
            Some(Renewal::Never) => account.renew(None, now),
            Some(Renewal::At(moment)) => account.renew(Some(moment), now),
            None => {}
        }
        if let Some(limit) = self.stored_bytes {
            account.stored_bytes_limit = limit.own();
        }
        if let Some(limit) = self.open_jobs {
            account.open_jobs_limit = limit.own();
        }
        Ok(account)
    }
}

/// When a token ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    /// So many milliseconds after it is made.
    In(u64),
    /// At this moment.
    At(Timestamp),
}

/// An account's own value of a limit that the configuration sets for all accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountLimit {
    /// That of the configuration.
    Default,
    /// None.
    Unlimited,
    /// So many.
    Limit(u64),
}

impl AccountLimit {
    /// The limit in the account's record: `None` for that of the configuration, zero for none.
    fn own(self) -> Option<u64> {
        match self {
            Self::Default => None,
            Self::Unlimited => Some(0),
            Self::Limit(limit) => Some(limit),
        }
    }
}

/// How many documents an account may make in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Documents {
    /// As many as it likes.
    Unlimited,
    /// So many.
    Limit(u64),
}

/// Until when a subscription is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// For ever.
    Never,
    /// Until this moment.
    At(Timestamp),
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdminReply {
    /// The account as it is now.
    Account(AccountView),
    /// Some accounts; when there are none, the list is at its end.
    Accounts(Vec<AccountView>),
    /// A new token: the only time that its text is shown.
    Token {
        /// Its name in lists.
        id: TokenId,
        /// The token.
        text: String,
    },
    /// Some tokens; when there are none, the list is at its end.
    Tokens(Vec<TokenView>),
}

/// An account as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountView {
    /// The account.
    pub account: Account,
    /// Documents used in the current period.
    pub used: u64,
    /// When they are counted anew.
    pub period_ends_at: Timestamp,
    /// How many of its tokens are valid.
    pub active_tokens: usize,
    /// Bytes that it has stored.
    pub stored_bytes: u64,
    /// Bytes that it may have stored; without a number as many as it likes.
    pub stored_bytes_limit: Option<u64>,
    /// Jobs that are initialized and not started.
    pub open_jobs: u64,
    /// How many there may be; without a number as many as it likes.
    pub open_jobs_limit: Option<u64>,
}

/// A token as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    /// Its name in lists.
    pub id: TokenId,
    /// The name of the account.
    pub account: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// Its last characters.
    pub last_chars: String,
    /// What it is called.
    pub name: Option<String>,
    /// When it ends, or has ended.
    pub expires_at: Option<Timestamp>,
    /// Whether it has ended by that.
    pub is_expired: bool,
    /// The beginning of the hour in which it was used last, if it ever was.
    pub last_used_at: Option<Timestamp>,
}

/// Why an order was not carried out, in a sentence for the operator.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AdminError(pub(super) String);

impl From<IndexError> for AdminError {
    fn from(error: IndexError) -> Self {
        Self(error.to_string())
    }
}

/// Checks the name of an account, a plan or a token.
pub(super) fn check_name(name: &str) -> Result<(), AdminError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins && name.len() <= NAME_LIMIT && name.bytes().all(allowed) {
        return Ok(());
    }
    let shown: String = name.chars().take(NAME_LIMIT).collect();
    Err(AdminError(format!(
        "'{shown}' cannot be a name; take 1 to {NAME_LIMIT} letters, digits and . _ - @ +, beginning with a letter or digit"
    )))
}
