//! What the operator may ask: making, changing and listing accounts and tokens.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::book::Book;
use super::erasing;
pub use super::order::{
    AccountLimit, AccountView, Documents, Expiry, Renewal, Reply, Request, Settings, TokenView,
};
use super::token::TokenRecord;
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TokenId};
use crate::domain::subscription::{Account, Status};
use crate::storage::index::IndexError;

/// Longest name of an account or a plan, in characters.
const NAME_LIMIT: usize = 64;
/// Most items of one answer; the next ones are asked for by the last.
const PAGE: usize = 100;
const DEFAULT_PLAN: &str = "default";

/// Why an order was not carried out, in a sentence for the operator.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The name is taken.
    #[error("account '{0}' exists already; change it with `platen account set {0} …`")]
    Exists(String),
    /// The id is another account's.
    #[error("the id {id} is that of account '{account}'; an id belongs to one account")]
    IdTaken {
        /// The id.
        id: AccountId,
        /// Whose it is.
        account: String,
    },
    /// The id is that of an account that was deleted.
    #[error("what account {0} had is still being erased; take another id, or wait for an hour and more")]
    Erasing(AccountId),
    /// The token would never open anything.
    #[error("a token cannot expire at {}, which is over; give a later date", .0.rfc3339())]
    Expired(Timestamp),
    /// There is no such account.
    #[error("there is no account '{0}'; `platen account list` lists them")]
    NoAccount(String),
    /// There is no such token.
    #[error("there is no token {0}; `platen token list` lists them")]
    NoToken(TokenId),
    /// The name is none.
    #[error(
        "'{0}' cannot be a name; take 1 to {NAME_LIMIT} letters, digits and . _ - @ +, beginning with a letter or digit"
    )]
    Name(String),
    /// The account has as many tokens as it may.
    #[error(
        "account '{account}' has {limit} active tokens, which is accounts.token_limit; revoke one with `platen token revoke ID`"
    )]
    TokenLimit {
        /// The account's name.
        account: String,
        /// The limit.
        limit: usize,
    },
    /// There are no random bytes.
    #[error("the operating system gives no random bytes for a token: {0}")]
    Random(#[from] std::io::Error),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl Book {
    /// Does what the operator asks; an order is durable when this answers.
    ///
    /// # Errors
    /// A sentence for the operator.
    pub async fn administer(&self, request: Request) -> Result<Reply, AdminError> {
        let _turn = self.turn.lock().await;
        match request {
            Request::CreateAccount { name, plan, documents_per_month, id } => {
                self.create_account(name, plan, documents_per_month, id).await
            }
            Request::SetAccount { name, settings } => self.set_account(name, settings).await,
            Request::ListAccounts { after } => self.list_accounts(after).await,
            Request::DeleteAccount { name } => self.delete_account(name).await,
            Request::CreateToken { account, name, expiry } => self.create_token(account, name, expiry).await,
            Request::ListTokens { account, after } => self.list_tokens(account, after),
            Request::RevokeToken { id } => self.revoke_token(id).await,
        }
    }

    async fn create_account(
        &self,
        name: String,
        plan: Option<String>,
        documents_per_month: Option<u64>,
        id: Option<AccountId>,
    ) -> Result<Reply, AdminError> {
        let plan = plan.unwrap_or_else(|| DEFAULT_PLAN.to_owned());
        check_name(&name)?;
        check_name(&plan)?;
        if self.state().accounts.contains_key(&name) {
            return Err(AdminError::Exists(name));
        }
        let id = id.unwrap_or_else(AccountId::generate);
        if let Some(account) = self.state().account(id) {
            return Err(AdminError::IdTaken { id, account: account.name.clone() });
        }
        if erasing::has(&*self.index, id).await? {
            return Err(AdminError::Erasing(id));
        }
        let account = Account {
            id,
            name,
            plan,
            status: Status::Active,
            documents_per_month,
            renews_at: None,
            created_at: self.clock.now(),
            stored_bytes_limit: None,
            open_jobs_limit: None,
            moved: None,
        };
        self.save_account(account.clone()).await?;
        Ok(Reply::Account(self.view(account).await?))
    }

    async fn set_account(&self, name: String, settings: Settings) -> Result<Reply, AdminError> {
        let mut account = self.account_named(name)?;
        if let Some(plan) = settings.plan {
            check_name(&plan)?;
            account.plan = plan;
        }
        if let Some(status) = settings.status {
            account.status = status;
        }
        match settings.documents {
            Some(Documents::Unlimited) => account.documents_per_month = None,
            Some(Documents::Limit(limit)) => account.documents_per_month = Some(limit),
            None => {}
        }
        match settings.renewal {
            Some(Renewal::Never) => account.renew(None, self.clock.now()),
            Some(Renewal::At(moment)) => account.renew(Some(moment), self.clock.now()),
            None => {}
        }
        if let Some(bound) = settings.stored_bytes {
            account.stored_bytes_limit = bound.own();
        }
        if let Some(bound) = settings.open_jobs {
            account.open_jobs_limit = bound.own();
        }
        self.save_account(account.clone()).await?;
        Ok(Reply::Account(self.view(account).await?))
    }

    async fn list_accounts(&self, after: Option<String>) -> Result<Reply, AdminError> {
        let page: Vec<Account> = behind(&self.state().accounts, after).take(PAGE).cloned().collect();
        let mut views = Vec::with_capacity(page.len());
        for account in page {
            views.push(self.view(account).await?);
        }
        Ok(Reply::Accounts(views))
    }

    async fn delete_account(&self, name: String) -> Result<Reply, AdminError> {
        let account = self.account_named(name)?;
        let view = self.view(account.clone()).await?;
        self.remove_account(&account).await?;
        Ok(Reply::Account(view))
    }

    async fn create_token(
        &self,
        account: String,
        name: Option<String>,
        expiry: Option<Expiry>,
    ) -> Result<Reply, AdminError> {
        let (account, now) = (self.account_named(account)?, self.clock.now());
        name.as_deref().map(check_name).transpose()?;
        let expires_at = expiry.map(|expiry| match expiry {
            Expiry::In(ms) => now.plus_ms(ms),
            Expiry::At(moment) => moment,
        });
        if let Some(over) = expires_at.filter(|moment| *moment <= now) {
            return Err(AdminError::Expired(over));
        }
        let limit = self.token_limit;
        if self.active_tokens(account.id) >= limit {
            return Err(AdminError::TokenLimit { account: account.name, limit });
        }
        let (record, text) = TokenRecord::generate(account.id, now)?;
        let (record, id) = (TokenRecord { name, expires_at, ..record }, record.id);
        // One that expired goes here as one that is revoked goes at the next revocation.
        let oldest = self.oldest_ended_beyond_limit(account.id, 0);
        self.save_token(record, oldest).await?;
        Ok(Reply::Token { id, text })
    }

    fn list_tokens(&self, account: Option<String>, after: Option<TokenId>) -> Result<Reply, AdminError> {
        let only = account.map(|name| self.account_named(name)).transpose()?.map(|account| account.id);
        let state = self.state();
        let found = behind(&state.tokens, after).filter(|token| only.is_none_or(|id| token.account == id));
        let name = |id| state.account(id).map(|account| account.name.clone()).unwrap_or_default();
        let view = |token: &TokenRecord| self.token_view(token, name(token.account));
        Ok(Reply::Tokens(found.take(PAGE).map(view).collect()))
    }

    fn token_view(&self, token: &TokenRecord, account: String) -> TokenView {
        TokenView {
            id: token.id,
            account,
            created_at: token.created_at,
            revoked_at: token.revoked_at,
            last_chars: token.last_chars.clone(),
            name: token.name.clone(),
            expires_at: token.expires_at,
            is_expired: token.ended_at(self.clock.now()).is_some(),
            // The hour of its first use may have begun before it was made.
            last_used_at: self.last_uses.of(token.id).map(|hour| hour.max(token.created_at)),
        }
    }

    /// Revokes the token; of an account's revoked ones the oldest goes when there are more than it
    /// may have active ones. A repeat changes nothing.
    async fn revoke_token(&self, id: TokenId) -> Result<Reply, AdminError> {
        let token = self.state().tokens.get(&id).cloned();
        let mut token = token.ok_or(AdminError::NoToken(id))?;
        if token.revoked_at.is_none() {
            let now = self.clock.now();
            // One that expired is among those that ended already.
            let more = usize::from(token.ended_at(now).is_none());
            token.revoked_at = Some(now);
            let oldest = self.oldest_ended_beyond_limit(token.account, more);
            // What is written cannot go in the same batch; it goes at the next revocation.
            let oldest = oldest.filter(|oldest| *oldest != id);
            self.save_token(token, oldest).await?;
        }
        let state = self.state();
        let token = state.tokens.get(&id).ok_or(AdminError::NoToken(id))?;
        let account = state.account(token.account).map(|account| account.name.clone()).unwrap_or_default();
        Ok(Reply::Tokens(vec![self.token_view(token, account)]))
    }

    /// The token of those that opened nothing longest, where there are more than the limit when `more` come to them.
    fn oldest_ended_beyond_limit(&self, account: AccountId, more: usize) -> Option<TokenId> {
        let (state, now) = (self.state(), self.clock.now());
        let ended = state.tokens_of(account).filter_map(|token| Some((token.ended_at(now)?, token.id)));
        let ended: Vec<_> = ended.collect();
        if ended.len() + more <= self.token_limit {
            return None;
        }
        ended.into_iter().min().map(|(_, id)| id)
    }

    fn active_tokens(&self, account: AccountId) -> usize {
        let now = self.clock.now();
        self.state().tokens_of(account).filter(|token| token.ended_at(now).is_none()).count()
    }

    fn account_named(&self, name: String) -> Result<Account, AdminError> {
        self.state().accounts.get(&name).cloned().ok_or(AdminError::NoAccount(name))
    }

    async fn view(&self, account: Account) -> Result<AccountView, AdminError> {
        let now = self.clock.now();
        let used = self.used(&account, now).await?;
        let id = account.id;
        Ok(AccountView {
            used,
            period_ends_at: account.period(now).end,
            active_tokens: self.active_tokens(id),
            stored_bytes: self.storage.used(id),
            stored_bytes_limit: self.storage.limit(id),
            open_jobs: self.open_jobs.count(id),
            open_jobs_limit: self.open_jobs.limit(id),
            account,
        })
    }
}

fn behind<K: Ord, V>(map: &BTreeMap<K, V>, after: Option<K>) -> impl Iterator<Item = &V> {
    let first = after.map_or(Bound::Unbounded, Bound::Excluded);
    map.range((first, Bound::Unbounded)).map(|(_, value)| value)
}

fn check_name(name: &str) -> Result<(), AdminError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins && name.len() <= NAME_LIMIT && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(AdminError::Name(name.chars().take(NAME_LIMIT).collect()))
}
