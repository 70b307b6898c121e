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
    /// Those that the index has of tokens that are `known`. The write of a use does not wait for a revocation and may
    /// come after it; entries without their token are deleted here, or they would stay for ever.
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

    /// Notes a use; what is to be written when it is the first one in its hour.
    pub fn note(&mut self, token: TokenId, now: Timestamp) -> Option<WriteBatch> {
        let hour = Timestamp(now.0 - now.0 % HOUR_MS);
        if self.0.get(&token).is_some_and(|noted| *noted >= hour) {
            return None;
        }
        self.0.insert(token, hour);
        Some(WriteBatch::new().put(key(token), hour.sortable()))
    }

    /// The beginning of the hour in which the token was used last, if it ever was.
    pub fn of(&self, token: TokenId) -> Option<Timestamp> {
        self.0.get(&token).copied()
    }

    /// Forgets the token, whose entry goes with its record.
    pub fn forget(&mut self, token: TokenId) {
        self.0.remove(&token);
    }
}

/// The entry of a token.
pub(super) fn key(token: TokenId) -> String {
    format!("{PREFIX}{token}")
}
