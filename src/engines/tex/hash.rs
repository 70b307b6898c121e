//! Cache keys: hashes of all inputs.

use sha2::{Digest as _, Sha256};

/// A hash of all inputs.
pub(super) type Key = [u8; 32];

/// A hash over several parts, each with its length, so that no two lists of parts collide by concatenation.
pub(super) struct Hash(Sha256);

impl Hash {
    /// For keys of the kind `what`.
    pub fn new(what: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add(what.as_bytes());
        hash
    }

    /// Adds a part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// The key.
    pub fn key(self) -> Key {
        self.0.finalize().into()
    }
}
