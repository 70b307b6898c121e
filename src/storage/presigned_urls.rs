//! Presigned URLs: the holder of one may upload or download one object, for a lifetime and up to a size. Those of the
//! service's own routes are signed and verified here; those of a bucket are made in `s3`.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::StorageKey;
use super::data_dir::{DataDir, DataDirError};
use crate::clock::{Clock, Timestamp, random_bytes};

/// A presigned URL and the end of its lifetime.
#[derive(Debug)]
pub struct PresignedUrl {
    /// Absolute.
    pub url: String,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// Response headers that tell a browser how to treat an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHeaders {
    /// Its media type.
    pub content_type: &'static str,
    /// `Content-Disposition`: shown or saved, and under which name.
    pub disposition: String,
    /// The file name, if the caller chose one.
    pub file_name: Option<String>,
}

/// Makes presigned URLs; implemented for each store.
pub trait PresignedUrls: Send + Sync {
    /// One for uploading the object `key`.
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> PresignedUrl;

    /// One for downloading the object.
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
        let signed =
            self.signer.sign(&PresignedAccess { operation, key, expires_at, limit_bytes, file_name });
        PresignedUrl { url: format!("{}{signed}", self.base), expires_at }
    }
}

impl PresignedUrls for OwnPresignedUrls {
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> PresignedUrl {
        self.mint(Operation::Put, *key, (limit_bytes, None))
    }

    /// Of the headers only the file name is in the signed URL: the route derives all others from the key.
    fn download(&self, key: &StorageKey, headers: &ResponseHeaders) -> PresignedUrl {
        self.mint(Operation::Get, *key, (0, headers.file_name.clone()))
    }
}

/// The path of presigned URLs of our own routes; what follows is the object's path.
pub const PATH_PREFIX: &str = "/v1/objects/";

/// Prefix of the signed text (domain separation): a signature made with the secret for another purpose is not valid for a URL.
const DOMAIN: &[u8] = b"platen address 1\n";
const SECRET_BYTES: usize = 32;

/// What the bearer of a presigned URL may do with the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Operation {
    /// Upload it.
    Put,
    /// Download it.
    Get,
}

/// What a presigned URL allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresignedAccess {
    /// What may be done.
    pub operation: Operation,
    /// With which object: owner, job, and for an output the target, hence file name and media type.
    pub key: StorageKey,
    /// Until when.
    pub expires_at: Timestamp,
    /// Most bytes that may be uploaded.
    pub limit_bytes: u64,
    /// The file name for saving, if not that of the key.
    pub file_name: Option<String>,
}

/// Why a presigned URL is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresignError {
    /// It was not signed by this service for this operation.
    Invalid,
    /// It was, and has expired.
    Expired,
}

/// Signs presigned URLs and verifies them.
#[derive(Clone)]
pub struct Signer {
    keyed: Hmac<Sha256>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Signer")
    }
}

impl Signer {
    /// A signer with the secret of the data folder, which is generated at the first start.
    ///
    /// # Errors
    /// When the secret can be neither read nor made.
    pub fn open(folder: &DataDir) -> Result<Self, DataDirError> {
        folder.secret("address.key", random_bytes::<SECRET_BYTES>).map(|secret| Self::new(&secret))
    }

    /// A signer with this secret.
    pub fn new(secret: &[u8; SECRET_BYTES]) -> Self {
        // A key shorter than SHA-256's block is used as it is, padded with zeros (RFC 2104).
        let mut block = [0_u8; 64];
        block[..SECRET_BYTES].copy_from_slice(secret);
        Self { keyed: Hmac::new(&block.into()) }
    }

    /// Path and query of a presigned URL with this access.
    pub fn sign(&self, access: &PresignedAccess) -> String {
        let path = access.key.to_string();
        let operation: &str = access.operation.into();
        let (expires_at, limit) = (access.expires_at.0, access.limit_bytes);
        let mut terms = format!("op={operation}&exp={expires_at}&limit={limit}");
        if let Some(name) = &access.file_name {
            // Encoded, it has no `&` and no `=`, so it ends where the signature begins.
            terms = format!("{terms}&name={}", utf8_percent_encode(name, NON_ALPHANUMERIC));
        }
        let signature = self.signature(&path, &terms);
        format!("{PATH_PREFIX}{path}?{terms}&sig={signature}")
    }

    /// What the URL allows, if this service signed it for this operation and it has not expired. `path` is what follows
    /// `/objects/` and `query` what follows `?`, both exactly as received: the signature covers the bytes, so no other
    /// spelling of a URL is valid.
    ///
    /// # Errors
    /// `Invalid` or `Expired`.
    pub fn verify(
        &self,
        operation: Operation,
        path: &str,
        query: &str,
        now: Timestamp,
    ) -> Result<PresignedAccess, PresignError> {
        let (terms, signature) = query.split_once("&sig=").ok_or(PresignError::Invalid)?;
        let expected = self.signature(path, terms);
        if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
            return Err(PresignError::Invalid);
        }
        let access = parse(path, terms).ok_or(PresignError::Invalid)?;
        if access.operation != operation {
            return Err(PresignError::Invalid);
        }
        if now >= access.expires_at { Err(PresignError::Expired) } else { Ok(access) }
    }

    fn signature(&self, path: &str, terms: &str) -> String {
        let mut keyed = self.keyed.clone();
        keyed.update(DOMAIN);
        keyed.update(path.as_bytes());
        keyed.update(b"?");
        keyed.update(terms.as_bytes());
        URL_SAFE_NO_PAD.encode(keyed.finalize().into_bytes())
    }
}

fn parse(path: &str, terms: &str) -> Option<PresignedAccess> {
    let mut terms = terms.split('&');
    let mut term = |name: &str| terms.next()?.strip_prefix(name)?.strip_prefix('=');
    let operation = term("op")?.parse().ok()?;
    let expires_at = Timestamp(term("exp")?.parse().ok()?);
    let limit_bytes = term("limit")?.parse().ok()?;
    let name = term("name").map(|name| percent_decode_str(name).decode_utf8());
    let file_name = name.transpose().ok()?.map(std::borrow::Cow::into_owned);
    Some(PresignedAccess { operation, key: StorageKey::from_path(path)?, expires_at, limit_bytes, file_name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{AccountId, JobId};
    use crate::domain::kinds::FileKind;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn signer() -> Signer {
        Signer::new(&[7; SECRET_BYTES])
    }

    fn grant(operation: Operation) -> PresignedAccess {
        let key = StorageKey::JobOutput(AccountId::generate(), JobId::generate(), FileKind::Pdf);
        let file_name = Some("Größe & 1=1.pdf".to_owned());
        PresignedAccess { operation, key, expires_at: NOW.plus_ms(1_000), limit_bytes: 77, file_name }
    }

    fn check(address: &str, operation: Operation, now: Timestamp) -> Result<PresignedAccess, PresignError> {
        let (path, query) = address
            .strip_prefix(PATH_PREFIX)
            .and_then(|rest| rest.split_once('?'))
            .ok_or(PresignError::Invalid)?;
        signer().verify(operation, path, query, now)
    }

    #[test]
    fn a_url_allows_what_was_signed_until_it_expires() {
        let grant = grant(Operation::Get);
        let address = signer().sign(&grant);
        assert_eq!(check(&address, Operation::Get, NOW), Ok(grant.clone()));
        assert_eq!(check(&address, Operation::Get, NOW.plus_ms(999)), Ok(grant));
        assert_eq!(check(&address, Operation::Get, NOW.plus_ms(1_000)), Err(PresignError::Expired));
    }

    #[test]
    fn a_url_for_one_operation_is_invalid_for_the_other() {
        for (granted, asked) in [(Operation::Put, Operation::Get), (Operation::Get, Operation::Put)] {
            let address = signer().sign(&grant(granted));
            assert_eq!(check(&address, asked, NOW), Err(PresignError::Invalid));
        }
    }

    #[test]
    fn no_character_can_be_altered_removed_or_added() {
        let address = signer().sign(&grant(Operation::Put));
        for at in 0..address.len() {
            for other in "aA0Z9-_/.=&?% \u{e4}".chars() {
                let altered = format!("{}{other}{}", &address[..at], &address[at + 1..]);
                let added = format!("{}{other}{}", &address[..at], &address[at..]);
                for wrong in [altered, added].iter().filter(|wrong| **wrong != address) {
                    assert_eq!(check(wrong, Operation::Put, NOW), Err(PresignError::Invalid), "{wrong}");
                }
            }
            let removed = format!("{}{}", &address[..at], &address[at + 1..]);
            assert_eq!(check(&removed, Operation::Put, NOW), Err(PresignError::Invalid), "{removed}");
        }
        let longer = format!("{address}a");
        assert_eq!(check(&longer, Operation::Put, NOW), Err(PresignError::Invalid));
    }

    #[test]
    fn another_secret_makes_another_signature_and_the_secret_lasts() {
        let root = tempfile::tempdir().unwrap();
        let folder = DataDir::open(root.path()).unwrap();
        let grant = grant(Operation::Get);
        let address = Signer::open(&folder).unwrap().sign(&grant);
        assert_eq!(Signer::open(&folder).unwrap().sign(&grant), address);
        assert_eq!(check(&address, Operation::Get, NOW), Err(PresignError::Invalid));
    }
}
