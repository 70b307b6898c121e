//! Access tokens: shown once, kept as their SHA-256.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::clock::{Timestamp, random_bytes};
use crate::domain::ids::{AccountId, TokenId};

/// What every token begins with, so that scanners for leaked secrets recognise one.
const PREFIX: &str = "pl_";
const RANDOM_BYTES: usize = 32;
/// Longest text that is hashed as a token; longer ones are refused without the cost of a hash.
const LENGTH_LIMIT: usize = 100;
/// Last characters of a token that are kept, to tell it apart in a list.
const SHOWN_CHARS: usize = 4;

/// The SHA-256 of a token.
pub type TokenHash = [u8; 32];

/// What is kept of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Which token. The id is shown in lists and grants no access.
    pub id: TokenId,
    /// Whose.
    pub account: AccountId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// Its last characters.
    pub last_chars: String,
    /// Its SHA-256.
    pub hash: TokenHash,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it expires; without a date, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl TokenRecord {
    /// A new token of the account: the record, and the text that is shown once.
    ///
    /// # Errors
    /// When the operating system has no random bytes to give.
    pub fn generate(account: AccountId, now: Timestamp) -> std::io::Result<(Self, String)> {
        let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random_bytes::<RANDOM_BYTES>()?));
        let record = Self {
            id: TokenId::generate(),
            account,
            created_at: now,
            revoked_at: None,
            last_chars: text[text.len() - SHOWN_CHARS..].to_owned(),
            hash: Sha256::digest(&text).into(),
            name: None,
            expires_at: None,
        };
        Ok((record, text))
    }

    /// Whether `hash` is that of this token; compared in constant time.
    pub fn belongs_to(&self, hash: &TokenHash) -> bool {
        bool::from(self.hash.ct_eq(hash))
    }

    /// When it was revoked or expired, if it was.
    pub fn ended_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.revoked_at.or(self.expires_at.filter(|expiry| *expiry <= now))
    }
}

/// The hash of what a caller gave as a token, if it looks like one.
pub fn hash(text: &str) -> Option<TokenHash> {
    let plausible = text.len() <= LENGTH_LIMIT && text.starts_with(PREFIX);
    plausible.then(|| Sha256::digest(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_and_random_and_valid_until_it_is_revoked_or_expires() {
        let account = AccountId::generate();
        let (mut record, text) = TokenRecord::generate(account, Timestamp(1)).unwrap();
        let (other, _) = TokenRecord::generate(account, Timestamp(1)).unwrap();
        assert_eq!(text.len(), "pl_".len() + 43);
        assert!(text.ends_with(&record.last_chars));
        let hashed = hash(&text).unwrap();
        assert!(record.belongs_to(&hashed) && !other.belongs_to(&hashed));
        assert_eq!(record.ended_at(Timestamp(9)), None);
        record.expires_at = Some(Timestamp(5));
        let ended = [4, 5, 6].map(|now| record.ended_at(Timestamp(now)));
        assert_eq!(ended, [None, Some(Timestamp(5)), Some(Timestamp(5))]);
        record.revoked_at = Some(Timestamp(2));
        assert_eq!(record.ended_at(Timestamp(3)), Some(Timestamp(2)));
        assert_eq!(hash("Bearer x"), None);
        assert_eq!(hash(&format!("pl_{}", "x".repeat(200))), None);
    }

    #[test]
    fn the_record_does_not_hold_the_token() {
        let (record, text) = TokenRecord::generate(AccountId::generate(), Timestamp(1)).unwrap();
        let written = serde_json::to_string(&record).unwrap();
        assert!(!written.contains(&text["pl_".len()..text.len() - SHOWN_CHARS]));
    }
}
