//! Bytes stored by each account, and their limit; the number in memory decides.
//!
//! Hazard: uploads and templates cost their sender nothing and stay for a day or forever, so one account could fill the disk
//! for all. So bytes are counted before they are written, and check and count are one step: two concurrent uploads together
//! get no more than the quota has left. Bytes that do not become durable are given back when their [`StorageReservation`] is
//! dropped.
//!
//! After a restart the numbers are read, not measured: templates have a counter in the index, which changes in the batch
//! of their record ([`counter`]); inputs of jobs that have not ended are few, and the job registry counts them again.
//!
//! Not an actor: it is called for every chunk of an upload, and a mailbox would add a wait to each.

use std::sync::Arc;

use super::account_counts::AccountCounts;
use super::index::{Index, IndexError, WriteBatch, scan_all};
use super::{StagedObject, StoreError};
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};

const PREFIX: &str = "stored/";

/// The stored bytes of every account, and their limits.
#[derive(Debug)]
pub struct StorageQuota {
    /// Bytes.
    accounts: AccountCounts<u64>,
}

/// Bytes counted for an account, stored or not; given back on drop.
#[derive(Debug)]
pub struct StorageReservation {
    quota: Arc<StorageQuota>,
    account: AccountId,
    bytes: u64,
    replaced: u64,
}

/// An upload being written to the store, counted as it arrives.
#[derive(Debug)]
pub struct CountedUpload {
    staged: Box<dyn StagedObject>,
    stored: StorageReservation,
    /// Its first bytes, by which its format is recognized.
    start: Vec<u8>,
}

/// How many first bytes of an upload are kept in memory.
const START_BYTES: usize = 4;

/// The key of the counter of an account's template bytes.
pub fn counter(account: AccountId) -> String {
    format!("{PREFIX}{account}")
}

/// The batch that sets a counter to `bytes`, provided that nothing else changes it meanwhile.
///
/// # Errors
/// When the index fails.
pub async fn counter_correction(
    index: &dyn Index,
    account: AccountId,
    bytes: u64,
) -> Result<WriteBatch, IndexError> {
    let key = counter(account);
    let delta = signed(bytes).saturating_sub(index.counter(&key).await?);
    Ok(if delta == 0 { WriteBatch::new() } else { WriteBatch::new().add(key, delta) })
}

/// The accounts that have a counter, with its value.
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
    /// All counts at zero; each account may store `default_limit` bytes, zero: no limit.
    pub fn new(default_limit: u64) -> Arc<Self> {
        Arc::new(Self { accounts: AccountCounts::new(default_limit) })
    }

    /// The quota with the counters of the index.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn load(index: &dyn Index, default_limit: u64) -> Result<Arc<Self>, IndexError> {
        let quota = Self::new(default_limit);
        for (account, bytes) in counters(index).await? {
            quota.accounts.with(account, |stored, _| *stored = u64::try_from(bytes).unwrap_or(0));
        }
        Ok(quota)
    }

    /// Sets the account's own limit (zero: none), or removes it.
    pub fn set_limit(&self, account: AccountId, own_limit: Option<u64>) {
        self.accounts.set_limit(account, own_limit);
    }

    /// How many bytes count for the account.
    pub fn used(&self, account: AccountId) -> u64 {
        self.accounts.get(account).0
    }

    /// How many bytes may count for the account; `None`: no limit.
    pub fn limit(&self, account: AccountId) -> Option<u64> {
        self.accounts.get(account).1
    }

    /// An empty reservation for the account.
    pub fn begin(self: &Arc<Self>, account: AccountId) -> StorageReservation {
        StorageReservation { quota: Arc::clone(self), account, bytes: 0, replaced: 0 }
    }

    /// Replaces `from` counted bytes of the account by `to`. If `is_checked` and they grow, checks the limit as if `replaced`
    /// bytes of the account were free already.
    fn change(
        &self,
        account: AccountId,
        (from, to): (u64, u64),
        replaced: u64,
        is_checked: bool,
    ) -> Result<(), Problem> {
        self.accounts.with(account, |stored, limit| {
            let others = stored.saturating_sub(from);
            if let Some(limit) = limit.filter(|_| is_checked && to > from)
                && others.saturating_sub(replaced).saturating_add(to) > limit
            {
                return Err(exceeded(*stored, to - from, limit));
            }
            *stored = others.saturating_add(to);
            Ok(())
        })
    }
}

impl StorageReservation {
    /// For a replacement: so many bytes that count now are deleted once this is durable, so the limit ignores them.
    pub fn replacing(mut self, bytes: u64) -> Self {
        self.replaced = bytes;
        self
    }

    /// How many bytes count.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether so many more bytes would fit: checked before the client sends them.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub fn check_fits(&self, bytes: u64) -> Result<(), Problem> {
        let (used, limit) = self.quota.accounts.get(self.account);
        let Some(limit) = limit else { return Ok(()) };
        if bytes == 0 || used.saturating_sub(self.replaced).saturating_add(bytes) <= limit {
            return Ok(());
        }
        Err(exceeded(used, bytes, limit))
    }

    /// Counts so many bytes more.
    ///
    /// # Errors
    /// `storage_exceeded`; then the count is unchanged.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Problem> {
        let grown = self.bytes.saturating_add(bytes);
        self.quota.change(self.account, (self.bytes, grown), self.replaced, true)?;
        self.bytes = grown;
        Ok(())
    }

    /// Sets the count to bytes that are stored already, without a check.
    pub fn set_stored(&mut self, bytes: u64) {
        // Unchecked, it cannot be refused.
        let _ = self.quota.change(self.account, (self.bytes, bytes), 0, false);
        self.bytes = bytes;
    }

    /// Keeps the count, as the bytes are durable now, and uncounts `gone` bytes that they replaced.
    pub fn keep(mut self, gone: u64) {
        let _ = self.quota.change(self.account, (gone, 0), 0, false);
        self.bytes = 0;
    }
}

impl Drop for StorageReservation {
    fn drop(&mut self) {
        let _ = self.quota.change(self.account, (self.bytes, 0), 0, false);
    }
}

impl CountedUpload {
    /// An upload that is written to `staged` and counted in `stored`.
    pub fn new(staged: Box<dyn StagedObject>, stored: StorageReservation) -> Self {
        Self { staged, stored, start: Vec::new() }
    }

    /// Whether so many bytes would fit: checked before the client sends them.
    ///
    /// # Errors
    /// `storage_exceeded`.
    pub fn check_fits(&self, bytes: u64) -> Result<(), Problem> {
        self.stored.check_fits(bytes)
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

    /// Its first four bytes, or fewer if it is shorter.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// Everything written so far, to be checked before the commit.
    ///
    /// # Errors
    /// As of the staged object.
    pub async fn content(&mut self) -> Result<bytes::Bytes, StoreError> {
        self.staged.content().await
    }

    /// The upload, which is not durable yet, and its reservation.
    pub fn into_parts(self) -> (Box<dyn StagedObject>, StorageReservation) {
        (self.staged, self.stored)
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
        assert!(other.check_fits(41).is_err() && other.check_fits(40).is_ok());
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
        much.set_stored(5);
        much.grow(5).unwrap();
        assert_eq!(StorageQuota::new(0).limit(account), None);
    }
}
