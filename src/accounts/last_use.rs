//! When tokens were used last, to the hour: a write an hour and token, none a request.
//!
//! `seen/<token>` holds the beginning of the hour. It is no part of the token's record, which a revocation rewrites.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::Timestamp;
use crate::domain::ids::TokenId;
use crate::storage::index::{Change, Index, IndexError};

const PREFIX: &str = "seen/";
const HOUR_MS: u64 = 3_600_000;
/// Entries read at a time.
const PAGE: usize = 1_000;

/// The hours in which tokens were used last.
#[derive(Debug, Default)]
pub(super) struct LastUses {
    hours: Mutex<HashMap<TokenId, Timestamp>>,
}

impl LastUses {
    /// Those that the index has of tokens that are `known`. A use that was written behind the end of its token's record would
    /// stay for ever: others go.
    pub async fn load(index: &dyn Index, known: impl Fn(TokenId) -> bool) -> Result<Self, IndexError> {
        let (mut hours, mut after) = (HashMap::new(), None::<String>);
        loop {
            let page = index.scan(PREFIX, after.as_deref(), PAGE).await?;
            let mut stale = Change::new();
            for entry in &page {
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
            match page.into_iter().last() {
                Some(last) => after = Some(last.key),
                None => return Ok(Self { hours: Mutex::new(hours) }),
            }
        }
    }

    /// Notes a use; what is to be written when it is the first one in its hour.
    pub fn note(&self, token: TokenId, now: Timestamp) -> Option<Change> {
        let hour = Timestamp(now.0 - now.0 % HOUR_MS);
        let mut hours = self.lock();
        if hours.get(&token).is_some_and(|noted| *noted >= hour) {
            return None;
        }
        hours.insert(token, hour);
        Some(Change::new().put(key(token), hour.sortable()))
    }

    /// The beginning of the hour in which the token was used last, if it ever was.
    pub fn of(&self, token: TokenId) -> Option<Timestamp> {
        self.lock().get(&token).copied()
    }

    /// Forgets the token, whose entry goes with its record.
    pub fn forget(&self, token: TokenId) {
        self.lock().remove(&token);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TokenId, Timestamp>> {
        self.hours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of a token.
pub(super) fn key(token: TokenId) -> String {
    format!("{PREFIX}{token}")
}
