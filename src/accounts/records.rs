//! The records of accounts and tokens in memory. Accounts are found by name and id, tokens by id and by the hash of their
//! text.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::token::{TokenHash, TokenRecord};
use crate::accounts::subscription::Account;
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TokenId};

/// Every account by name and id, every token by id and hash.
#[derive(Debug, Default)]
pub(super) struct Records {
    accounts: BTreeMap<String, Account>,
    tokens: BTreeMap<TokenId, TokenRecord>,
    names: HashMap<AccountId, String>,
    hashes: HashMap<TokenHash, TokenId>,
}

impl Records {
    pub fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.get(self.names.get(&id)?)
    }

    pub fn account_named(&self, name: &str) -> Option<&Account> {
        self.accounts.get(name)
    }

    pub fn token(&self, id: TokenId) -> Option<&TokenRecord> {
        self.tokens.get(&id)
    }

    pub fn token_with(&self, hash: &TokenHash) -> Option<&TokenRecord> {
        self.tokens.get(self.hashes.get(hash)?).filter(|record| record.belongs_to(hash))
    }

    /// The accounts by name, beginning behind one.
    pub fn accounts_after(&self, name: Option<String>) -> impl Iterator<Item = &Account> {
        behind(&self.accounts, name)
    }

    /// The tokens in the order in which they were made, beginning behind one.
    pub fn tokens_after(&self, id: Option<TokenId>) -> impl Iterator<Item = &TokenRecord> {
        behind(&self.tokens, id)
    }

    pub fn tokens_of(&self, account: AccountId) -> impl Iterator<Item = &TokenRecord> {
        self.tokens.values().filter(move |token| token.account == account)
    }

    pub fn active_tokens(&self, account: AccountId, now: Timestamp) -> usize {
        self.tokens_of(account).filter(|token| token.ended_at(now).is_none()).count()
    }

    /// The account's token that ended first, if those that ended and `more` that are about to end exceed `limit` together.
    pub fn oldest_ended(
        &self,
        account: AccountId,
        now: Timestamp,
        more: usize,
        limit: usize,
    ) -> Option<TokenId> {
        let ended = self.tokens_of(account).filter_map(|token| Some((token.ended_at(now)?, token.id)));
        let ended: Vec<_> = ended.collect();
        if ended.len() + more <= limit {
            return None;
        }
        ended.into_iter().min().map(|(_, id)| id)
    }

    pub fn put_account(&mut self, account: Account) {
        self.names.insert(account.id, account.name.clone());
        self.accounts.insert(account.name.clone(), account);
    }

    pub fn remove_account(&mut self, account: &Account) {
        self.names.remove(&account.id);
        self.accounts.remove(&account.name);
    }

    pub fn put_token(&mut self, token: TokenRecord) {
        self.hashes.insert(token.hash, token.id);
        self.tokens.insert(token.id, token);
    }

    pub fn remove_token(&mut self, id: TokenId) {
        if let Some(token) = self.tokens.remove(&id) {
            self.hashes.remove(&token.hash);
        }
    }
}

fn behind<K: Ord, V>(map: &BTreeMap<K, V>, after: Option<K>) -> impl Iterator<Item = &V> {
    let first = after.map_or(Bound::Unbounded, Bound::Excluded);
    map.range((first, Bound::Unbounded)).map(|(_, value)| value)
}
