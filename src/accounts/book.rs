//! The accounts and tokens of the service in memory, every change of them durable in the index first.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use tokio::sync::{Mutex as AsyncMutex, Notify};

use super::erasing::Erasing;
use super::last_use::{self, LastUses};
use super::ledger::{Ledger, Reservation, UsageKey};
use super::open::OpenJobs;
use super::token::{self, TokenHash, TokenRecord};
use crate::clock::{Clock, Timestamp};
use crate::config::AccountsConfig;
use crate::domain::ids::{AccountId, TokenId};
use crate::domain::subscription::Account;
use crate::problem::{Code, Problem};
use crate::storage::index::{Change, Index, IndexError};
use crate::storage::{StorageQuota, record};

/// Version of the account and token records.
const RECORD_VERSION: u8 = 1;
const ACCOUNT_PREFIX: &str = "account/";
const TOKEN_PREFIX: &str = "token/";
/// Records read at a time.
const PAGE: usize = 500;

/// What is known of accounts: used by the actor of a running service, and by the commands when none
/// runs.
pub struct Book {
    pub(super) index: Arc<dyn Index>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) token_limit: usize,
    pub(super) ledger: Arc<Ledger>,
    pub(super) storage: Arc<StorageQuota>,
    pub(super) open_jobs: Arc<OpenJobs>,
    pub(super) last_uses: LastUses,
    /// Tells that an account was deleted.
    deletions: Arc<Notify>,
    /// Held from the decision about a change until it is durable and known: one at a time.
    pub(super) turn: AsyncMutex<()>,
    state: Mutex<State>,
}

/// The records, found by what they are asked for.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) accounts: BTreeMap<String, Account>,
    pub(super) tokens: BTreeMap<TokenId, TokenRecord>,
    names: HashMap<AccountId, String>,
    hashes: HashMap<TokenHash, TokenId>,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Book")
    }
}

impl Book {
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
        let mut state = State::default();
        for account in load_all(&*index, ACCOUNT_PREFIX).await? {
            state.put_account(account);
        }
        for token in load_all(&*index, TOKEN_PREFIX).await? {
            state.put_token(token);
        }
        let (ledger, now) = (Arc::new(Ledger::default()), clock.now());
        for account in state.accounts.values() {
            ledger.used(&UsageKey::new(account.id, account.period(now)), &*index).await?;
        }
        let token_limit = usize::try_from(config.token_limit).unwrap_or(usize::MAX);
        let storage = StorageQuota::load(&*index, config.stored_bytes_limit).await?;
        let open_jobs = Arc::new(OpenJobs::load(&*index, config.open_jobs_limit).await?);
        let last_uses = LastUses::load(&*index, |token| state.tokens.contains_key(&token)).await?;
        let (turn, accounts) = (AsyncMutex::default(), state.accounts.values().cloned().collect::<Vec<_>>());
        let state = Mutex::new(state);
        let deletions = Arc::default();
        let book =
            Self { index, clock, token_limit, ledger, storage, open_jobs, last_uses, deletions, turn, state };
        for account in &accounts {
            book.set_limits(account);
        }
        Ok(book)
    }

    /// What accounts have stored, and may.
    #[must_use]
    pub fn storage(&self) -> Arc<StorageQuota> {
        Arc::clone(&self.storage)
    }

    /// Which jobs are open, and how many may be.
    #[must_use]
    pub fn open_jobs(&self) -> Arc<OpenJobs> {
        Arc::clone(&self.open_jobs)
    }

    /// Tells that an account was deleted, of which there may be more to erase.
    #[must_use]
    pub fn deletions(&self) -> Arc<Notify> {
        Arc::clone(&self.deletions)
    }

    /// Whose token this is, and what is to be written of its use, without haste.
    ///
    /// # Errors
    /// `unauthorized` when it is nobody's, was revoked or has expired.
    pub fn authenticate(&self, text: &str) -> Result<(AccountId, Change), Problem> {
        let now = self.clock.now();
        let found = token::hash(text).and_then(|hash| {
            let state = self.state();
            let id = state.hashes.get(&hash)?;
            state.tokens.get(id).filter(|record| record.belongs_to(&hash)).cloned()
        });
        let unauthorized = |detail| Problem::new(Code::Unauthorized, detail);
        match found.filter(|record| record.revoked_at.is_none()) {
            Some(record) if record.ended_at(now).is_none() => {
                Ok((record.account, self.last_uses.note(record.id, now).unwrap_or_default()))
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

    /// Whether there is such an account.
    #[must_use]
    pub fn knows(&self, account: AccountId) -> bool {
        self.state().account(account).is_some()
    }

    /// The check at init: an active subscription, and a document that is left in the period. Previews take none, but
    /// where none is left they would be documents that cost nothing.
    ///
    /// # Errors
    /// `subscription_required`, `quota_exceeded`, or `internal` when the index fails.
    pub async fn reserve(&self, account: AccountId, counts: bool) -> Result<Reservation, Problem> {
        let now = self.clock.now();
        let account = self.state().account(account).cloned().ok_or_else(|| {
            Problem::new(Code::SubscriptionRequired, "The account of this token does not exist any more.")
        })?;
        account.check_subscription(now)?;
        if !counts {
            let used = self.used(&account, now).await.map_err(Problem::internal)?;
            account.check_quota(used, account.period(now))?;
            return Ok(Reservation::uncounted(Arc::clone(&self.ledger)));
        }
        Reservation::take(&self.ledger, &account, account.period(now), &*self.index).await
    }

    /// The batch that gives a document back is durable: the account may have another.
    pub fn give_back(&self, usage: &UsageKey) {
        self.ledger.lower(usage);
    }

    /// What the account has used in the period of this moment.
    pub(super) async fn used(&self, account: &Account, now: Timestamp) -> Result<u64, IndexError> {
        self.ledger.used(&UsageKey::new(account.id, account.period(now)), &*self.index).await
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the account's record durable and known.
    pub(super) async fn save_account(&self, account: Account) -> Result<(), IndexError> {
        let bytes = record::encode(RECORD_VERSION, &account)?;
        self.index.commit(Change::new().put(format!("{ACCOUNT_PREFIX}{}", account.id), bytes)).await?;
        self.set_limits(&account);
        self.state().put_account(account);
        Ok(())
    }

    /// Tells those who count what the account may have by its own record.
    fn set_limits(&self, account: &Account) {
        self.storage.set_limit(account.id, account.stored_bytes_limit);
        self.open_jobs.set_limit(account.id, account.open_jobs_limit);
    }

    /// Makes the token's record durable and known, and forgets another one.
    pub(super) async fn save_token(
        &self,
        token: TokenRecord,
        forgotten: Option<TokenId>,
    ) -> Result<(), IndexError> {
        let bytes = record::encode(RECORD_VERSION, &token)?;
        let mut change = Change::new().put(format!("{TOKEN_PREFIX}{}", token.id), bytes);
        if let Some(id) = forgotten {
            change = change.delete(format!("{TOKEN_PREFIX}{id}")).delete(last_use::key(id));
        }
        self.index.commit(change).await?;
        let mut state = self.state();
        state.put_token(token);
        if let Some(id) = forgotten {
            state.forget_token(id);
            self.last_uses.forget(id);
        }
        Ok(())
    }

    /// Removes the account and its tokens, durably, and notes that all else of it is to go.
    pub(super) async fn remove_account(&self, account: &Account) -> Result<(), IndexError> {
        let tokens: Vec<_> = self.state().tokens_of(account.id).map(|token| token.id).collect();
        let noted = Erasing { account: account.id, since: self.clock.now() }.begin();
        let change = noted.delete(format!("{ACCOUNT_PREFIX}{}", account.id));
        let change = tokens.iter().fold(change, |change, id| {
            change.delete(format!("{TOKEN_PREFIX}{id}")).delete(last_use::key(*id))
        });
        self.index.commit(change).await?;
        let mut state = self.state();
        for id in tokens {
            state.forget_token(id);
            self.last_uses.forget(id);
        }
        state.names.remove(&account.id);
        state.accounts.remove(&account.name);
        drop(state);
        self.deletions.notify_one();
        Ok(())
    }
}

impl State {
    pub(super) fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.get(self.names.get(&id)?)
    }

    pub(super) fn tokens_of(&self, account: AccountId) -> impl Iterator<Item = &TokenRecord> {
        self.tokens.values().filter(move |token| token.account == account)
    }

    fn put_account(&mut self, account: Account) {
        self.names.insert(account.id, account.name.clone());
        self.accounts.insert(account.name.clone(), account);
    }

    fn put_token(&mut self, token: TokenRecord) {
        self.hashes.insert(token.hash, token.id);
        self.tokens.insert(token.id, token);
    }

    fn forget_token(&mut self, id: TokenId) {
        if let Some(token) = self.tokens.remove(&id) {
            self.hashes.remove(&token.hash);
        }
    }
}

async fn load_all<T: DeserializeOwned>(index: &dyn Index, prefix: &str) -> Result<Vec<T>, IndexError> {
    let (mut records, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = index.scan(prefix, after.as_deref(), PAGE).await?;
        for entry in &page {
            records.push(record::decode(RECORD_VERSION, &entry.key, &entry.value)?);
        }
        match page.into_iter().last() {
            Some(last) => after = Some(last.key),
            None => return Ok(records),
        }
    }
}
