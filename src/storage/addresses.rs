//! Addresses that let whoever has them put one object, or get one: the one place where they are made.

use std::sync::Arc;

use super::StorageKey;
use super::presign::{Grant, Operation, Signer};
use crate::clock::{Clock, Timestamp};

/// An address and the end of its lifetime.
#[derive(Debug)]
pub struct Address {
    /// Absolute.
    pub url: String,
    /// From then on it is refused.
    pub expires_at: Timestamp,
}

/// How a browser is to treat an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Its media type.
    pub content_type: &'static str,
    /// Whether it is shown or saved, and under which name.
    pub disposition: String,
    /// The name, where somebody chose it.
    pub file_name: Option<String>,
}

/// Makes addresses. Each store has its own.
pub trait Addresses: Send + Sync {
    /// One at which what is to become the object `key` can be uploaded.
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> Address;

    /// One at which the object can be fetched.
    fn download(&self, key: &StorageKey, manner: &Manner) -> Address;
}

/// Addresses of our own routes.
#[derive(Clone)]
pub struct OwnAddresses {
    signer: Arc<Signer>,
    clock: Arc<dyn Clock>,
    base: String,
    lifetime_ms: u64,
}

impl OwnAddresses {
    /// Addresses below `base` that live for `lifetime_s`.
    #[must_use]
    pub fn new(signer: Arc<Signer>, clock: Arc<dyn Clock>, base: String, lifetime_s: u64) -> Self {
        Self { signer, clock, base, lifetime_ms: lifetime_s.saturating_mul(1_000) }
    }

    fn mint(
        &self,
        operation: Operation,
        key: StorageKey,
        (limit_bytes, file_name): (u64, Option<String>),
    ) -> Address {
        let expires_at = self.clock.now().plus_ms(self.lifetime_ms);
        let signed = self.signer.sign(&Grant { operation, key, expires_at, limit_bytes, file_name });
        Address { url: format!("{}{signed}", self.base), expires_at }
    }
}

impl Addresses for OwnAddresses {
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> Address {
        self.mint(Operation::Put, *key, (limit_bytes, None))
    }

    /// The route itself knows how an object is to be treated, but for the name.
    fn download(&self, key: &StorageKey, manner: &Manner) -> Address {
        self.mint(Operation::Get, *key, (0, manner.file_name.clone()))
    }
}
