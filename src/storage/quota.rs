//! How many bytes each account has stored, and how many it may: the number in memory decides.
//!
//! Hazard: uploads and templates cost their sender nothing and stay for a day or for ever, so one account could fill the
//! disk of all. So bytes are counted before they are written, and check and count are one step: of two uploads at the
//! same moment only as many bytes are taken as the quota has left. What does not become durable is given back when its
//! [`StorageReservation`] is dropped.
//!
//! After a restart the numbers are read, not measured: templates have a counter in the index, which changes in the batch
//! of their record ([`counter`]); inputs of jobs that have not ended are few, and the job registry counts them again.
//!
//! A plain type under a lock, not an actor: it is asked for every chunk of an upload, and a mailbox would add a wait to each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::index::{Index, IndexError, WriteBatch, scan_all};
use super::{StagedObject, StorageKey, StoreError};
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};

const PREFIX: &str = "stored/";

/// What every account has stored, and may store.
#[derive(Debug)]
pub struct StorageQuota {
    default_limit: u64,
    accounts: Mutex<HashMap<AccountId, Stored>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    bytes: u64,
    /// The account's own limit in bytes; zero for none.
    own_limit: Option<u64>,
}

/// Bytes that count for an account, be they stored already or not; given back when this is dropped.
#[derive(Debug)]
pub struct StorageReservation {
    quota: Arc<StorageQuota>,
    account: AccountId,
    bytes: u64,
    replaced: u64,
}

/// An upload on its way into the store, counted as it comes.
#[derive(Debug)]
pub struct CountedUpload {
    staged: Box<dyn StagedObject>,
    stored: StorageReservation,
    /// Its first bytes, which say what it is.
    start: Vec<u8>,
}

/// So many first bytes of an upload are kept.
const START_BYTES: usize = 4;

/// The key of the counter that holds what an account's templates count.
pub fn counter(account: AccountId) -> String {
    format!("{PREFIX}{account}")
}

/// The batch that sets a counter to `bytes`, if nothing else changes it meanwhile.
///
/// # Errors
/// When the index fails.
pub async fn correct(index: &dyn Index, account: AccountId, bytes: u64) -> Result<WriteBatch, IndexError> {
    let key = counter(account);
    let delta = signed(bytes).saturating_sub(index.counter(&key).await?);
    Ok(if delta == 0 { WriteBatch::new() } else { WriteBatch::new().add(key, delta) })
}

/// The accounts that have a counter, with what it says.
///
/// # Errors
/// When the index fails.
pub async fn counters(index: &dyn Index) -> Result<Vec<(AccountId, i64)>, IndexError> {
    let entries = scan_all(index, PREFIX).await?;
    let found = entries.iter().filter_map(|entry| {
        let account = entry.key.strip_prefix(PREFIX)?.parse().ok()?;
        Some((account, i64::from_le_bytes(entry.value.as_slice().try_into().ok()?)))
    });
    Ok(found.collect())
}

impl StorageQuota {
    /// Nothing is counted yet; each account may store `default_limit` bytes, zero for as many as it likes.
    pub fn new(default_limit: u64) -> Arc<Self> {
        Arc::new(Self { default_limit, accounts: Mutex::default() })
    }

    /// The same with what the counters in the index say.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn load(index: &dyn Index, default_limit: u64) -> Result<Arc<Self>, IndexError> {
        let quota = Self::new(default_limit);
        for (account, bytes) in counters(index).await? {
            quota.lock().entry(account).or_default().bytes = u64::try_from(bytes).unwrap_or(0);
        }
        Ok(quota)
    }

    /// Gives the account a limit of its own, zero for none; without one the default holds.
    pub fn set_limit(&self, account: AccountId, own_limit: Option<u64>) {
        self.lock().entry(account).or_default().own_limit = own_limit;
    }

    /// How many bytes count for the account.
    pub fn used(&self, account: AccountId) -> u64 {
        self.stored(account).bytes
    }

    /// How many bytes may count for the account; without a number as many as it likes.
    pub fn limit(&self, account: AccountId) -> Option<u64> {
        self.limit_of(self.stored(account))
    }

    fn limit_of(&self, stored: Stored) -> Option<u64> {
        Some(stored.own_limit.unwrap_or(self.default_limit)).filter(|&limit| limit > 0)
    }

    fn stored(&self, account: AccountId) -> Stored {
        self.lock().get(&account).copied().unwrap_or_default()
    }

    /// Something of the account that counts nothing yet.
    pub fn begin(self: &Arc<Self>, account: AccountId) -> StorageReservation {
        StorageReservation { quota: Arc::clone(self), account, bytes: 0, replaced: 0 }
    }

    /// Replaces `from` counted bytes of the account by `to`, whatever its limit is.
    fn replace(&self, account: AccountId, from: u64, to: u64) {
        let mut accounts = self.lock();
        let stored = accounts.entry(account).or_default();
        stored.bytes = stored.bytes.saturating_sub(from).saturating_add(to);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, Stored>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageReservation {
    /// The same, where so many bytes that count now are deleted once this is durable: they do not stand against it.
    pub fn replacing(mut self, bytes: u64) -> Self {
        self.replaced = bytes;
        self
    }

    /// How many bytes count.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether so many more bytes may come: asked before they are sent.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub fn expect(&self, bytes: u64) -> Result<(), Problem> {
        self.check(self.quota.stored(self.account), bytes)
    }

    fn check(&self, stored: Stored, more: u64) -> Result<(), Problem> {
        let others = stored.bytes.saturating_sub(self.bytes).saturating_sub(self.replaced);
        match self.quota.limit_of(stored) {
            Some(limit) if more > 0 && others.saturating_add(self.bytes).saturating_add(more) > limit => {
                Err(exceeded(stored.bytes, more, limit))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Counts so many bytes more.
    ///
    /// # Errors
    /// `storage_exceeded`; nothing more counts then.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Problem> {
        let mut accounts = self.quota.lock();
        let stored = accounts.entry(self.account).or_default();
        self.check(*stored, bytes)?;
        stored.bytes = stored.bytes.saturating_add(bytes);
        drop(accounts);
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }

    /// Counts so many bytes, which are stored already.
    pub fn found(&mut self, bytes: u64) {
        self.quota.replace(self.account, self.bytes, bytes);
        self.bytes = bytes;
    }

    /// What is counted is durable, and `gone` bytes that counted before are no more.
    pub fn keep(mut self, gone: u64) {
        self.quota.replace(self.account, gone, 0);
        self.bytes = 0;
    }
}

impl Drop for StorageReservation {
    fn drop(&mut self) {
        self.quota.replace(self.account, self.bytes, 0);
    }
}

impl CountedUpload {
    /// An upload that comes into `staged` and counts in `stored`.
    pub fn new(staged: Box<dyn StagedObject>, stored: StorageReservation) -> Self {
        Self { staged, stored, start: Vec::new() }
    }

    /// Whether so many bytes may come: asked before they are sent.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub fn expect(&self, bytes: u64) -> Result<(), Problem> {
        self.stored.expect(bytes)
    }

    /// Counts bytes that are written next.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub fn count(&mut self, bytes: usize) -> Result<(), Problem> {
        self.stored.grow(bytes as u64)
    }

    /// Writes bytes that are counted.
    ///
    /// # Errors
    /// As of the staged object.
    pub async fn write(&mut self, bytes: bytes::Bytes) -> Result<(), StoreError> {
        let missing = START_BYTES.saturating_sub(self.start.len());
        self.start.extend_from_slice(bytes.get(..missing).unwrap_or(&bytes));
        self.staged.write(bytes).await
    }

    /// Its first bytes: four, where it has so many.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// All that has come, to be looked at before it is kept.
    ///
    /// # Errors
    /// As of the staged object.
    pub async fn content(&mut self) -> Result<bytes::Bytes, StoreError> {
        self.staged.content().await
    }

    /// The upload, which is not durable yet, and what it counts.
    pub fn into_parts(self) -> (Box<dyn StagedObject>, StorageReservation) {
        (self.staged, self.stored)
    }

    /// Makes it the object `key`, durably; what it counts.
    ///
    /// # Errors
    /// When the store fails; nothing of it is visible then, and nothing counts.
    pub async fn commit(self, key: &StorageKey) -> Result<StorageReservation, StoreError> {
        self.staged.commit(key).await?;
        Ok(self.stored)
    }
}

/// A number of bytes as a counter holds it.
pub fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn exceeded(used: u64, more: u64, limit: u64) -> Problem {
    let detail = format!(
        "This account has stored {used} of its {limit} bytes (accounts.stored_bytes_limit), and {more} more do not fit. \
         Delete templates that are not needed (DELETE /templates/{{templateId}}) and jobs that are not started (DELETE \
         /jobs/{{jobId}}), or ask the operator of this service for more (platen account set NAME --stored-bytes-limit N)."
    );
    Problem::new(Code::StorageExceeded, detail).with("used", used).with("limit", limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_concurrent_uploads_get_no_more_bytes_than_the_quota() {
        let (quota, account) = (StorageQuota::new(100), AccountId::generate());
        let (mut one, mut other) = (quota.begin(account), quota.begin(account));
        one.grow(60).unwrap();
        assert!(other.expect(41).is_err() && other.expect(40).is_ok());
        let refused = other.grow(41).unwrap_err();
        assert_eq!(refused.code, Code::StorageExceeded);
        assert!(refused.detail.contains("60 of its 100 bytes (accounts.stored_bytes_limit)"), "{refused}");
        other.grow(40).unwrap();
        assert_eq!(quota.used(account), 100);
        drop(one);
        other.grow(60).unwrap();
        quota.begin(AccountId::generate()).grow(100).unwrap();
    }

    #[test]
    fn a_replacement_may_use_the_bytes_that_it_replaces() {
        let (quota, account) = (StorageQuota::new(100), AccountId::generate());
        let mut first = quota.begin(account);
        first.grow(80).unwrap();
        assert!(quota.begin(account).grow(80).is_err());
        let mut second = quota.begin(account).replacing(80);
        second.grow(90).unwrap();
        assert_eq!(quota.used(account), 170, "both are there for a moment");
        assert!(second.grow(11).is_err());
        drop(first);
        assert_eq!(quota.used(account), 90);
        second.keep(30);
        assert_eq!(quota.used(account), 60);
    }

    #[test]
    fn an_account_may_have_a_limit_of_its_own_and_zero_is_none() {
        let (quota, account) = (StorageQuota::new(10), AccountId::generate());
        quota.set_limit(account, Some(20));
        assert_eq!(quota.limit(account), Some(20));
        quota.set_limit(account, Some(0));
        let mut much = quota.begin(account);
        much.grow(1 << 40).unwrap();
        quota.set_limit(account, None);
        assert!(much.grow(1).is_err());
        much.found(5);
        much.grow(5).unwrap();
        assert_eq!(StorageQuota::new(0).limit(account), None);
    }
}
