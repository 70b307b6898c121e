//! Deleted accounts whose jobs and templates are still to be deleted.
//!
//! Hazard: a crash after the deletion of an account would leave objects without an owner. So `erasing/<account>` is
//! written in the batch that removes the account and its tokens, and stays until everything is deleted, and for at
//! least an hour: a request that was admitted before the deletion may write after it.

use crate::clock::Timestamp;
use crate::domain::ids::AccountId;
use crate::storage::index::{Index, IndexError, Pages, WriteBatch, scan_all};

const PREFIX: &str = "erasing/";
/// Longer than any request lasts.
const LATE_REQUESTS_MS: u64 = 3_600_000;

/// A deleted account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletedAccount {
    /// Which one.
    pub account: AccountId,
    /// When it was deleted.
    pub since: Timestamp,
}

impl DeletedAccount {
    /// Whether no request that was admitted before the deletion can still write: each has ended by now. Only then may the
    /// entry be removed, or what such a request writes would stay without an owner.
    pub fn has_no_late_requests(&self, now: Timestamp) -> bool {
        now.since_ms(self.since) >= LATE_REQUESTS_MS
    }

    /// The batch that enters the account here.
    pub(super) fn entry_batch(&self) -> WriteBatch {
        WriteBatch::new().put(key(self.account), self.since.sortable())
    }

    /// The batch that removes its entry, once everything is deleted.
    pub fn removal_batch(&self) -> WriteBatch {
        WriteBatch::new().delete(key(self.account))
    }
}

/// All deleted accounts that have an entry here.
///
/// # Errors
/// When the index fails.
pub async fn all(index: &dyn Index) -> Result<Vec<DeletedAccount>, IndexError> {
    let entries = scan_all(index, PREFIX).await?;
    let found = entries.iter().filter_map(|entry| {
        let account = entry.key.strip_prefix(PREFIX)?.parse().ok()?;
        Some(DeletedAccount { account, since: Timestamp::parse(std::str::from_utf8(&entry.value).ok()?)? })
    });
    Ok(found.collect())
}

/// Whether the account has an entry here.
pub(super) async fn has(index: &dyn Index, account: AccountId) -> Result<bool, IndexError> {
    Ok(index.get(&key(account)).await?.is_some())
}

/// Removes the entries of a deleted account under these prefixes, as `usage/<account>/…`.
///
/// # Errors
/// When the index fails; a repetition goes on.
pub async fn remove_entries(index: &dyn Index, words: &[&str], account: AccountId) -> Result<(), IndexError> {
    for word in words {
        let prefix = format!("{word}/{account}");
        let mut pages = Pages::of(index, &prefix);
        while let Some(page) = pages.next().await? {
            index
                .commit(page.into_iter().fold(WriteBatch::new(), |batch, entry| batch.delete(entry.key)))
                .await?;
        }
    }
    Ok(())
}

fn key(account: AccountId) -> String {
    format!("{PREFIX}{account}")
}
