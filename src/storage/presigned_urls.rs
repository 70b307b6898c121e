//! Presigned URLs: whoever has one may put one object, or get one. Made here and nowhere else.

use std::sync::Arc;

use super::StorageKey;
use super::presign::{Grant, Operation, Signer};
use crate::clock::{Clock, Timestamp};

/// An address and the end of its lifetime.
#[derive(Debug)]
pub struct PresignedUrl {
    /// Absolute.
    pub url: String,
    /// From then on it is refused.
    pub expires_at: Timestamp,
}

/// How a browser is to treat an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHeaders {
    /// Its media type.
    pub content_type: &'static str,
    /// Whether it is shown or saved, and under which name.
    pub disposition: String,
    /// The name, where somebody chose it.
    pub file_name: Option<String>,
}

/// Makes addresses. Each store has its own.
pub trait PresignedUrls: Send + Sync {
    /// One at which what is to become the object `key` can be uploaded.
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> PresignedUrl;

    /// One at which the object can be fetched.
    fn download(&self, key: &StorageKey, headers: &ResponseHeaders) -> PresignedUrl;
}

/// Presigned URLs of our own routes.
#[derive(Clone)]
pub struct OwnPresignedUrls {
    signer: Arc<Signer>,
    clock: Arc<dyn Clock>,
    base: String,
    lifetime_ms: u64,
}

impl OwnPresignedUrls {
    /// Presigned URLs below `base` that live for `lifetime_s`.
    pub fn new(signer: Arc<Signer>, clock: Arc<dyn Clock>, base: String, lifetime_s: u64) -> Self {
        Self { signer, clock, base, lifetime_ms: lifetime_s.saturating_mul(1_000) }
    }

    fn mint(
        &self,
        operation: Operation,
        key: StorageKey,
        (limit_bytes, file_name): (u64, Option<String>),
    ) -> PresignedUrl {
        let expires_at = self.clock.now().plus_ms(self.lifetime_ms);
        let signed = self.signer.sign(&Grant { operation, key, expires_at, limit_bytes, file_name });
        PresignedUrl { url: format!("{}{signed}", self.base), expires_at }
    }
}

impl PresignedUrls for OwnPresignedUrls {
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> PresignedUrl {
        self.mint(Operation::Put, *key, (limit_bytes, None))
    }

    /// The route itself knows how an object is to be treated, but for the name.
    fn download(&self, key: &StorageKey, headers: &ResponseHeaders) -> PresignedUrl {
        self.mint(Operation::Get, *key, (0, headers.file_name.clone()))
    }
}
