//! Names of things by what they are made of.

use sha2::{Digest as _, Sha256};

/// The hash of everything that something is made of.
pub(super) type Key = [u8; 32];

/// A hash of parts, none of which can be taken for another.
pub(super) struct Hash(Sha256);

impl Hash {
    /// One of things that are called `what`.
    pub fn new(what: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add(what.as_bytes());
        hash
    }

    /// A part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// The name.
    pub fn key(self) -> Key {
        self.0.finalize().into()
    }
}
