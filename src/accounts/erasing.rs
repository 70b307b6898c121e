//! Accounts that were deleted, and whose jobs and templates are to go.
//!
//! `erasing/<account>` is written in the batch that removes the account and its tokens, so that a crash in between
//! leaves nothing that nobody erases. It stays for a while after nothing more was found: a request that was let in before
//! the deletion may end after it.

use crate::clock::Timestamp;
use crate::domain::ids::AccountId;
use crate::storage::index::{Change, Index, IndexError, scan_all};

const PREFIX: &str = "erasing/";
/// Entries removed at a time.
const PAGE: usize = 1_000;
/// Longer than any request lasts.
const LATECOMERS_MS: u64 = 3_600_000;

/// An account that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasing {
    /// Which one.
    pub account: AccountId,
    /// When it was deleted.
    pub since: Timestamp,
}

impl Erasing {
    /// Whether nothing of the account can appear any more.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        now.since_ms(self.since) >= LATECOMERS_MS
    }

    /// The batch that notes it.
    pub(super) fn begin(&self) -> Change {
        Change::new().put(key(self.account), self.since.sortable())
    }

    /// The batch that forgets it.
    pub fn end(&self) -> Change {
        Change::new().delete(key(self.account))
    }
}

/// All of them.
///
/// # Errors
/// When the index fails.
pub async fn all(index: &dyn Index) -> Result<Vec<Erasing>, IndexError> {
    let entries = scan_all(index, PREFIX).await?;
    let found = entries.iter().filter_map(|entry| {
        let account = entry.key.strip_prefix(PREFIX)?.parse().ok()?;
        Some(Erasing { account, since: Timestamp::parse(std::str::from_utf8(&entry.value).ok()?)? })
    });
    Ok(found.collect())
}

/// Whether the account is one of them.
pub(super) async fn has(index: &dyn Index, account: AccountId) -> Result<bool, IndexError> {
    Ok(index.get(&key(account)).await?.is_some())
}

/// Removes what the index says of a deleted account under these words, as `usage/<account>/…`.
///
/// # Errors
/// When the index fails; a repetition goes on.
pub async fn remove_entries(index: &dyn Index, words: &[&str], account: AccountId) -> Result<(), IndexError> {
    for word in words {
        loop {
            let page = index.scan(&format!("{word}/{account}"), None, PAGE).await?;
            if page.is_empty() {
                break;
            }
            index
                .commit(page.into_iter().fold(Change::new(), |change, entry| change.delete(entry.key)))
                .await?;
        }
    }
    Ok(())
}

fn key(account: AccountId) -> String {
    format!("{PREFIX}{account}")
}
