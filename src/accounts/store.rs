//! Accounts and tokens in memory, and every decision about them.
//!
//! The actor [`Accounts`](super::Accounts) owns one while a service runs, a command of the operator while none does. An
//! order is carried out in three steps: `AccountStore::decide` checks it, `Decision::write` makes it durable without
//! touching what is in memory, and `AccountStore::apply` changes that and answers. So an order that could not be
//! written has changed nothing.

use std::sync::Arc;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use super::admin::{AccountView, AdminError, AdminReply, AdminRequest, Expiry, TokenView, check_name};
use super::decision::{Decision, Effect, Written};
use super::deleted::DeletedAccount;
use super::last_use::{self, LastUses};
use super::ledger::{DocumentReturns, Ledger, Reservation, UsageKey};
use super::open_jobs::OpenJobs;
use super::records::Records;
use super::token::{self, TokenRecord};
use crate::accounts::subscription::{Account, Status};
use crate::clock::{Clock, Timestamp};
use crate::config::{AccountsConfig, as_count};
use crate::domain::ids::{AccountId, TokenId};
use crate::problem::{Code, Problem};
use crate::storage::index::{Index, IndexError, WriteBatch, scan_all};
use crate::storage::{StorageQuota, record};

/// Version of the account and token records.
const RECORD_VERSION: u8 = 1;
const ACCOUNT_PREFIX: &str = "account/";
const TOKEN_PREFIX: &str = "token/";
/// Most items of one answer; the next ones are asked for by the last.
const PAGE: usize = 100;
const DEFAULT_PLAN: &str = "default";

/// The accounts and tokens of the service, and what they have used.
pub struct AccountStore {
    index: Arc<dyn Index>,
    clock: Arc<dyn Clock>,
    token_limit: usize,
    records: Records,
    ledger: Ledger,
    last_uses: LastUses,
    storage: Arc<StorageQuota>,
    open_jobs: Arc<OpenJobs>,
    account_deleted: Arc<Notify>,
}

impl std::fmt::Debug for AccountStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("AccountStore")
    }
}

impl AccountStore {
    /// Reads the records, what every account has used in its current period, what its templates count as stored, and
    /// which of its jobs are open.
    ///
    /// # Errors
    /// When the index fails or a record cannot be read.
    pub async fn load(
        index: Arc<dyn Index>,
        clock: Arc<dyn Clock>,
        config: &AccountsConfig,
    ) -> Result<Self, IndexError> {
        let storage = StorageQuota::load(&*index, config.stored_bytes_limit).await?;
        let open_jobs = Arc::new(OpenJobs::load(&*index, config.open_jobs_limit).await?);
        let (mut records, mut ledger) = (Records::default(), Ledger::new());
        let now = clock.now();
        for account in load_all::<Account>(&*index, ACCOUNT_PREFIX).await? {
            let key = UsageKey::new(account.id, account.period(now));
            ledger.used(&key, key.read(&*index).await?);
            storage.set_limit(account.id, account.stored_bytes_limit);
            open_jobs.set_limit(account.id, account.open_jobs_limit);
            records.put_account(account);
        }
        for token in load_all(&*index, TOKEN_PREFIX).await? {
            records.put_token(token);
        }
        let last_uses = LastUses::load(&*index, |token| records.token(token).is_some()).await?;
        let token_limit = as_count(config.token_limit);
        Ok(Self {
            index,
            clock,
            token_limit,
            records,
            ledger,
            last_uses,
            storage,
            open_jobs,
            account_deleted: Arc::default(),
        })
    }

    /// The bytes that each account has stored, with their limits.
    pub fn storage(&self) -> Arc<StorageQuota> {
        Arc::clone(&self.storage)
    }

    /// The open jobs of each account, with their limits.
    pub fn open_jobs(&self) -> Arc<OpenJobs> {
        Arc::clone(&self.open_jobs)
    }

    /// Notified when an account was deleted: its jobs and templates are to be deleted then.
    pub fn account_deleted(&self) -> Arc<Notify> {
        Arc::clone(&self.account_deleted)
    }

    /// The handle through which documents that were reserved and not made are given back.
    pub fn document_returns(&self) -> DocumentReturns {
        self.ledger.document_returns()
    }

    /// Uncounts documents that were given back; never ready.
    pub(super) fn poll_returned(&mut self, task: &mut Context<'_>) -> Poll<()> {
        self.ledger.poll_returned(task)
    }

    /// Whether there is such an account.
    pub fn knows(&self, account: AccountId) -> bool {
        self.records.account(account).is_some()
    }

    pub(super) fn index(&self) -> Arc<dyn Index> {
        Arc::clone(&self.index)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The account of the token, and the batch that records its use, empty unless it is the first one in this hour. The batch
    /// need not be synced.
    pub(super) fn authenticate(&mut self, text: &str) -> Result<(AccountId, WriteBatch), Problem> {
        let now = self.now();
        let found = token::hash(text).and_then(|hash| self.records.token_with(&hash));
        let unauthorized = |detail| Problem::new(Code::Unauthorized, detail);
        match found.filter(|record| record.revoked_at.is_none()) {
            Some(record) if record.ended_at(now).is_none() => {
                Ok((record.account, self.last_uses.record(record.id, now).unwrap_or_default()))
            }
            Some(record) => Err(unauthorized(format!(
                "The token expired at {}. Send one that has not; `platen token create` makes one.",
                record.expires_at.unwrap_or(now).rfc3339()
            ))),
            None => Err(unauthorized(
                "The token is unknown or was revoked. Send 'Authorization: Bearer <token>' with one from \
                 `platen token create`."
                    .to_owned(),
            )),
        }
    }

    /// The counter to be read before [`Self::reserve`] at this moment, where it is not in memory.
    pub(super) fn unread_counter(&self, account: AccountId, now: Timestamp) -> Option<UsageKey> {
        self.records.account(account).and_then(|account| self.unread(account, now))
    }

    /// The check at init: an active subscription, and a document that is left in the period. A preview takes no
    /// document, but is refused when none is left: it would be a document for free. `stored` is what the index says of
    /// the [`unread_counter`](Self::unread_counter).
    pub(super) fn reserve(
        &mut self,
        account: AccountId,
        counts: bool,
        (now, stored): (Timestamp, u64),
    ) -> Result<Reservation, Problem> {
        let account = self.records.account(account).ok_or_else(|| {
            Problem::new(Code::SubscriptionRequired, "The account of this token does not exist any more.")
        })?;
        account.check_subscription(now)?;
        let period = account.period(now);
        if counts {
            return self.ledger.take(account, period, stored);
        }
        let used = self.ledger.used(&UsageKey::new(account.id, period), stored);
        account.check_quota(used, account.period(now))?;
        Ok(self.ledger.uncounted())
    }

    /// Carries out an order while no service runs; it is durable when this answers.
    ///
    /// # Errors
    /// A sentence for the operator.
    pub async fn administer(&mut self, request: AdminRequest) -> Result<AdminReply, AdminError> {
        let written = self.decide(request)?.write(self.index()).await?;
        Ok(self.apply(written))
    }

    /// Whether an order may be carried out, and what it changes.
    pub(super) fn decide(&self, request: AdminRequest) -> Result<Decision, AdminError> {
        let now = self.now();
        let (mut batch, mut given_id) = (WriteBatch::new(), None);
        let effect = match request {
            AdminRequest::CreateAccount { name, plan, documents_per_month, id } => {
                given_id = id;
                Effect::SaveAccount(self.new_account(name, plan, documents_per_month, id)?)
            }
            AdminRequest::SetAccount { name, settings } => {
                Effect::SaveAccount(settings.change(self.named(&name)?.clone(), now)?)
            }
            AdminRequest::ListAccounts { after } => {
                Effect::ShowAccounts(self.records.accounts_after(after).take(PAGE).cloned().collect())
            }
            AdminRequest::DeleteAccount { name } => Effect::DeleteAccount(self.named(&name)?.clone()),
            AdminRequest::CreateToken { account, name, expiry } => self.new_token(&account, name, expiry)?,
            AdminRequest::ListTokens { account, after } => {
                let only = account.map(|name| self.named(&name).map(|account| account.id)).transpose()?;
                let found = self.records.tokens_after(after);
                let found = found.filter(|token| only.is_none_or(|id| token.account == id)).take(PAGE);
                Effect::ShowTokens(found.map(|token| self.token_view(token)).collect())
            }
            AdminRequest::RevokeToken { id } => self.revoked(id)?,
        };
        let shown = match &effect {
            Effect::SaveAccount(account) => {
                batch = batch.put(account_key(account.id), record::encode(RECORD_VERSION, account)?);
                std::slice::from_ref(account)
            }
            Effect::DeleteAccount(account) => {
                batch = DeletedAccount { account: account.id, since: now }
                    .entry_batch()
                    .delete(account_key(account.id));
                for token in self.records.tokens_of(account.id) {
                    batch = without_token(batch, token.id);
                }
                std::slice::from_ref(account)
            }
            Effect::SaveToken(token, gone, _) => {
                batch = batch.put(token_key(token.id), record::encode(RECORD_VERSION, token)?);
                batch = gone.iter().fold(batch, |batch, id| without_token(batch, *id));
                &[]
            }
            Effect::ShowAccounts(accounts) => accounts.as_slice(),
            Effect::ShowTokens(_) => &[],
        };
        let counters = shown.iter().map(|account| self.unread(account, now)).collect();
        Ok(Decision { at: now, batch, effect, given_id, counters })
    }

    /// Applies a durable order to what is in memory, and answers.
    pub(super) fn apply(&mut self, Written { at, effect, stored }: Written) -> AdminReply {
        let mut stored = stored.into_iter();
        let mut view = |store: &mut Self, account| store.view(account, at, stored.next().unwrap_or_default());
        match effect {
            Effect::SaveAccount(account) => {
                self.storage.set_limit(account.id, account.stored_bytes_limit);
                self.open_jobs.set_limit(account.id, account.open_jobs_limit);
                self.records.put_account(account.clone());
                AdminReply::Account(view(self, account))
            }
            Effect::DeleteAccount(account) => {
                let view = view(self, account);
                let tokens: Vec<_> = self.records.tokens_of(view.account.id).map(|token| token.id).collect();
                for id in tokens {
                    self.forget_token(id);
                }
                self.records.remove_account(&view.account);
                self.account_deleted.notify_one();
                AdminReply::Account(view)
            }
            Effect::ShowAccounts(accounts) => {
                AdminReply::Accounts(accounts.into_iter().map(|account| view(self, account)).collect())
            }
            Effect::SaveToken(token, gone, text) => {
                self.records.put_token(token.clone());
                if let Some(id) = gone {
                    self.forget_token(id);
                }
                match text {
                    Some(text) => AdminReply::Token { id: token.id, text },
                    None => AdminReply::Tokens(vec![self.token_view(&token)]),
                }
            }
            Effect::ShowTokens(views) => AdminReply::Tokens(views),
        }
    }

    fn new_account(
        &self,
        name: String,
        plan: Option<String>,
        documents_per_month: Option<u64>,
        id: Option<AccountId>,
    ) -> Result<Account, AdminError> {
        let plan = plan.unwrap_or_else(|| DEFAULT_PLAN.to_owned());
        check_name(&name)?;
        check_name(&plan)?;
        if self.records.account_named(&name).is_some() {
            return Err(AdminError(format!(
                "account '{name}' exists already; change it with `platen account set {name} …`"
            )));
        }
        let id = id.unwrap_or_else(AccountId::generate);
        if let Some(account) = self.records.account(id) {
            let owner = &account.name;
            return Err(AdminError(format!(
                "the id {id} is that of account '{owner}'; an id belongs to one account"
            )));
        }
        Ok(Account {
            id,
            name,
            plan,
            status: Status::Active,
            documents_per_month,
            renews_at: None,
            created_at: self.now(),
            stored_bytes_limit: None,
            open_jobs_limit: None,
            moved: None,
        })
    }

    fn new_token(
        &self,
        account: &str,
        name: Option<String>,
        expiry: Option<Expiry>,
    ) -> Result<Effect, AdminError> {
        let (account, now, limit) = (self.named(account)?, self.now(), self.token_limit);
        name.as_deref().map(check_name).transpose()?;
        let expires_at = expiry.map(|expiry| match expiry {
            Expiry::In(ms) => now.plus_ms(ms),
            Expiry::At(moment) => moment,
        });
        if let Some(over) = expires_at.filter(|moment| *moment <= now) {
            let over = over.rfc3339();
            return Err(AdminError(format!(
                "a token cannot expire at {over}, which is over; give a later date"
            )));
        }
        if self.records.active_tokens(account.id, now) >= limit {
            return Err(AdminError(format!(
                "account '{}' has {limit} active tokens, which is accounts.token_limit; revoke one with `platen token \
                 revoke ID`",
                account.name
            )));
        }
        let (record, text) = TokenRecord::generate(account.id, now).map_err(|cause| {
            AdminError(format!("the operating system gives no random bytes for a token: {cause}"))
        })?;
        // Tokens that expire would otherwise pile up in an account whose tokens are never revoked.
        let oldest = self.records.oldest_ended(account.id, now, 0, limit);
        Ok(Effect::SaveToken(TokenRecord { name, expires_at, ..record }, oldest, Some(text)))
    }

    /// Revokes the token. Of an account's ended tokens only as many are kept as it may have active ones: the oldest
    /// is deleted. A repetition changes nothing.
    fn revoked(&self, id: TokenId) -> Result<Effect, AdminError> {
        let missing = || AdminError(format!("there is no token {id}; `platen token list` lists them"));
        let mut token = self.records.token(id).cloned().ok_or_else(missing)?;
        if token.revoked_at.is_some() {
            return Ok(Effect::ShowTokens(vec![self.token_view(&token)]));
        }
        let now = self.now();
        // An expired token is among those that ended already.
        let more = usize::from(token.ended_at(now).is_none());
        token.revoked_at = Some(now);
        let oldest = self.records.oldest_ended(token.account, now, more, self.token_limit);
        // A batch cannot both write a key and delete it; this one goes at the next revocation.
        let oldest = oldest.filter(|oldest| *oldest != id);
        Ok(Effect::SaveToken(token, oldest, None))
    }

    fn named(&self, name: &str) -> Result<&Account, AdminError> {
        self.records.account_named(name).ok_or_else(|| {
            AdminError(format!("there is no account '{name}'; `platen account list` lists them"))
        })
    }

    fn unread(&self, account: &Account, now: Timestamp) -> Option<UsageKey> {
        Some(UsageKey::new(account.id, account.period(now))).filter(|key| self.ledger.is_unknown(key))
    }

    fn forget_token(&mut self, id: TokenId) {
        self.records.remove_token(id);
        self.last_uses.forget(id);
    }

    fn view(&mut self, account: Account, now: Timestamp, stored: u64) -> AccountView {
        let (id, period) = (account.id, account.period(now));
        AccountView {
            period_ends_at: period.end,
            used: self.ledger.used(&UsageKey::new(id, period), stored),
            active_tokens: self.records.active_tokens(id, now),
            stored_bytes: self.storage.used(id),
            stored_bytes_limit: self.storage.limit(id),
            open_jobs: self.open_jobs.count(id),
            open_jobs_limit: self.open_jobs.limit(id),
            account,
        }
    }

    fn token_view(&self, token: &TokenRecord) -> TokenView {
        let account = self.records.account(token.account);
        TokenView {
            id: token.id,
            account: account.map(|account| account.name.clone()).unwrap_or_default(),
            created_at: token.created_at,
            revoked_at: token.revoked_at,
            last_chars: token.last_chars.clone(),
            name: token.name.clone(),
            expires_at: token.expires_at,
            is_expired: token.ended_at(self.now()).is_some(),
            // The hour of its first use may have begun before it was made.
            last_used_at: self.last_uses.of(token.id).map(|hour| hour.max(token.created_at)),
        }
    }
}

async fn load_all<T: DeserializeOwned>(index: &dyn Index, prefix: &str) -> Result<Vec<T>, IndexError> {
    let entries = scan_all(index, prefix).await?;
    entries.iter().map(|entry| record::decode(RECORD_VERSION, &entry.key, &entry.value)).collect()
}

fn account_key(id: AccountId) -> String {
    format!("{ACCOUNT_PREFIX}{id}")
}

fn token_key(id: TokenId) -> String {
    format!("{TOKEN_PREFIX}{id}")
}

fn without_token(batch: WriteBatch, id: TokenId) -> WriteBatch {
    batch.delete(token_key(id)).delete(last_use::key(id))
}
