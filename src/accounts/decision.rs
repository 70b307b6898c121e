//! An order of the operator between its check and its answer.

use std::sync::Arc;

use super::admin::{AdminError, TokenView};
use super::deleted;
use super::ledger::UsageKey;
use super::token::TokenRecord;
use crate::accounts::subscription::Account;
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TokenId};
use crate::storage::index::{Index, IndexError, WriteBatch};

/// An order that may be carried out.
pub(super) struct Decision {
    pub at: Timestamp,
    pub batch: WriteBatch,
    pub effect: Effect,
    /// The id that the operator gives to a new account. It is refused while data of a deleted account with this id is
    /// left.
    pub given_id: Option<AccountId>,
    /// For each account of the answer, the counter that is not in memory.
    pub counters: Vec<Option<UsageKey>>,
}

/// An order that is durable.
pub(super) struct Written {
    pub at: Timestamp,
    pub effect: Effect,
    /// For each account of the answer, its number of documents in the index.
    pub stored: Vec<u64>,
}

/// What an order changes in memory and answers with.
pub(super) enum Effect {
    SaveAccount(Account),
    DeleteAccount(Account),
    ShowAccounts(Vec<Account>),
    /// The token, an older one that is deleted with it, and the text of a new token.
    SaveToken(TokenRecord, Option<TokenId>, Option<String>),
    ShowTokens(Vec<TokenView>),
}

impl Decision {
    /// Reads what the answer needs and writes what the order changes.
    pub async fn write(self, index: Arc<dyn Index>) -> Result<Written, AdminError> {
        if let Some(id) = self.given_id
            && deleted::has(&*index, id).await?
        {
            return Err(AdminError(format!(
                "what account {id} had is still being erased; take another id, or wait for an hour and more"
            )));
        }
        let mut stored = Vec::with_capacity(self.counters.len());
        for counter in &self.counters {
            stored.push(read_counter(&*index, counter.as_ref()).await?);
        }
        if !self.batch.is_empty() {
            index.commit(self.batch).await?;
        }
        Ok(Written { at: self.at, effect: self.effect, stored })
    }
}

/// The counter's number in the index; zero without a counter.
pub(super) async fn read_counter(index: &dyn Index, counter: Option<&UsageKey>) -> Result<u64, IndexError> {
    match counter {
        Some(counter) => counter.read(index).await,
        None => Ok(0),
    }
}
