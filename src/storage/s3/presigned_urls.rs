//! Presigned URLs of the bucket: uploads and downloads there bypass the service.
//!
//! Only the header `Host` is signed, so that a client may send any content type with its upload, or none.

use std::collections::HashMap;

use futures_util::FutureExt;
use s3::Bucket;
use s3::error::S3Error;
use tokio::task::unconstrained;

use super::client::bucket;
use super::error::{Action, BucketAddress, RequestError};
use crate::clock::{Clock, Timestamp};
use crate::config::S3Config;
use crate::storage::presigned_urls::{OwnPresignedUrls, PresignedUrl, PresignedUrls, ResponseHeaders};
use crate::storage::upload_staging::UploadStaging;
use crate::storage::{StorageKey, StoreError};

/// `Cache-Control` of downloads.
const CACHE_CONTROL: &str = "private, no-store";

/// Makes presigned URLs of a bucket.
pub struct S3PresignedUrls {
    bucket: Bucket,
    prefix: String,
    lifetime_s: u32,
    clock: std::sync::Arc<dyn Clock>,
    own: OwnPresignedUrls,
}

impl S3PresignedUrls {
    /// Presigned URLs of the bucket at the endpoint for callers, valid for `lifetime_s`. If signing fails, `own` makes one that
    /// leads through the service.
    ///
    /// # Errors
    /// When the settings do not make a valid URL.
    pub fn new(
        config: &S3Config,
        lifetime_s: u64,
        clock: std::sync::Arc<dyn Clock>,
        own: OwnPresignedUrls,
    ) -> Result<Self, StoreError> {
        let endpoint =
            if config.public_endpoint.is_empty() { &config.endpoint } else { &config.public_endpoint };
        let bucket = bucket(config, endpoint).map_err(|error| {
            RequestError::of_library(&error).into_error(&BucketAddress::of(config), Action::Get, "bucket")
        })?;
        let lifetime_s = u32::try_from(lifetime_s).unwrap_or(u32::MAX);
        Ok(Self { bucket, prefix: config.prefix.clone(), lifetime_s, clock, own })
    }

    /// When a URL that is signed now expires: the signature's time is in whole seconds.
    fn expires_at(&self) -> Timestamp {
        let now = self.clock.now().0;
        Timestamp(now - now % 1_000).plus_ms(u64::from(self.lifetime_s) * 1_000)
    }

    fn path(&self, key: &StorageKey) -> String {
        format!("{}{key}", self.prefix)
    }
}

impl PresignedUrls for S3PresignedUrls {
    fn upload(&self, key: &StorageKey, limit_bytes: u64) -> PresignedUrl {
        let (path, expires_at) = (self.path(&UploadStaging::Staged.of(key)), self.expires_at());
        match at_once(self.bucket.presign_put(path, self.lifetime_s, None, None)) {
            Some(url) => PresignedUrl { url, expires_at },
            None => self.own.upload(key, limit_bytes),
        }
    }

    fn download(&self, key: &StorageKey, headers: &ResponseHeaders) -> PresignedUrl {
        let (path, expires_at) = (self.path(key), self.expires_at());
        let overrides = [
            ("response-content-type", headers.content_type),
            ("response-content-disposition", headers.disposition.as_str()),
            ("response-cache-control", CACHE_CONTROL),
        ];
        let overrides: HashMap<_, _> =
            overrides.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        match at_once(self.bucket.presign_get(path, self.lifetime_s, Some(overrides))) {
            Some(url) => PresignedUrl { url, expires_at },
            None => self.own.download(key, headers),
        }
    }
}

/// The URL of a signature that never waits: the library reads the keys behind a lock that is never written. `unconstrained`,
/// because tokio may make even a ready future wait when the task has used up its budget.
fn at_once(signing: impl Future<Output = Result<String, S3Error>>) -> Option<String> {
    match unconstrained(signing).now_or_never() {
        Some(Ok(url)) => Some(url),
        Some(Err(error)) => {
            tracing::error!(error = %error, "an address of the store cannot be signed; the service's own is given");
            None
        }
        None => None,
    }
}
