//! When tokens were used last, to the hour: at most one write for each token and hour, not one for each request.
//!
//! `seen/<token>` holds the beginning of the hour. It is no part of the token's record, which a revocation rewrites.

use std::collections::HashMap;

use crate::clock::Timestamp;
use crate::domain::ids::TokenId;
use crate::storage::index::{Index, IndexError, WriteBatch, scan_all};

const PREFIX: &str = "seen/";
const HOUR_MS: u64 = 3_600_000;

/// The hours in which tokens were used last.
#[derive(Debug, Default)]
pub(super) struct LastUses(HashMap<TokenId, Timestamp>);

impl LastUses {
    /// Reads the uses of the tokens that are `known`, and deletes the entries of all others. Hazard: a use is written without
    /// waiting, so its write may follow the deletion of the token, and nothing else would ever delete that entry.
    pub async fn load(index: &dyn Index, known: impl Fn(TokenId) -> bool) -> Result<Self, IndexError> {
        let (mut hours, mut stale) = (HashMap::new(), WriteBatch::new());
        for entry in scan_all(index, PREFIX).await? {
            let token = entry.key.strip_prefix(PREFIX).and_then(|token| token.parse().ok());
            let hour = || Timestamp::parse(std::str::from_utf8(&entry.value).ok()?);
            match token.filter(|token| known(*token)).zip(hour()) {
                Some((token, hour)) => drop(hours.insert(token, hour)),
                None => stale = stale.delete(entry.key.clone()),
            }
        }
        if !stale.is_empty() {
            index.commit(stale).await?;
        }
        Ok(Self(hours))
    }

    /// Records a use. Returns the batch to be written if it is the token's first use in this hour.
    pub fn record(&mut self, token: TokenId, now: Timestamp) -> Option<WriteBatch> {
        let hour = Timestamp(now.0 - now.0 % HOUR_MS);
        if self.0.get(&token).is_some_and(|recorded| *recorded >= hour) {
            return None;
        }
        self.0.insert(token, hour);
        Some(WriteBatch::new().put(key(token), hour.sortable()))
    }

    /// The beginning of the hour in which the token was used last, if it ever was.
    pub fn of(&self, token: TokenId) -> Option<Timestamp> {
        self.0.get(&token).copied()
    }

    /// Removes the token from memory; its entry is deleted in the batch that deletes its record.
    pub fn forget(&mut self, token: TokenId) {
        self.0.remove(&token);
    }
}

/// The key of a token's entry.
pub(super) fn key(token: TokenId) -> String {
    format!("{PREFIX}{token}")
}
