//! The store in an S3-compatible bucket. Only this folder may name rust-s3; `app` and `cli` call it.
//!
//! The library signs, and sends requests without a large body; `client` sends those with one. Keys consist of ids and fixed
//! words, so none needs escaping, which servers do differently. Lifecycle rules work by prefix, so there are no tags. The
//! protocol guarantees that a PUT is durable and atomic once it is answered.

mod client;
mod error;
mod owner;
mod presigned_urls;
pub mod self_test;
mod staged;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use s3::serde_types::ObjectIdentifier;
use tokio::time::timeout;

#[cfg(debug_assertions)]
pub(super) use error::answer_500;
pub use presigned_urls::S3PresignedUrls;

use self::client::{BucketClient, Chunks, Download, plain_tag};
use self::error::{Action, BucketAddress, RequestError};
use self::staged::{Staged, of_memory};
use super::object_files::{ObjectFiles, blocking};
use super::staged_buffer::StagedBuffer;
use super::{
    ByteRange, Folder, ObjectMeta, ObjectReader, ObjectStore, StagedObject, StorageKey, StoreError,
    UploadStaging, resolve_range, write_and_read,
};
use crate::config::{S3Config, as_count};

/// Most keys in one page of a list.
const PAGE: usize = 1_000;
/// Most objects deleted by one request.
const BATCH: usize = 1_000;
/// Most attempts to open an object that is replaced between HEAD and GET.
const OPEN_ATTEMPTS: usize = 4;

/// Objects in a bucket.
#[derive(Clone)]
pub struct S3Store {
    client: BucketClient,
    address: Arc<BucketAddress>,
    prefix: Arc<str>,
    /// The staged files of large objects being written.
    spool: Arc<ObjectFiles>,
    spool_bytes: usize,
    probe_limit: Duration,
    /// The name that the bucket must bear before it is listed.
    owner: Option<owner::Owner>,
}

impl S3Store {
    /// The store of `config`. No request is sent yet: a store that is down now may be up later. Large objects being written
    /// are staged in the folder `spool`, as long as `free_limit_bytes` are free there.
    ///
    /// # Errors
    /// When the settings do not make a valid URL, or the folder cannot be used.
    pub async fn open(config: &S3Config, spool: PathBuf, free_limit_bytes: u64) -> Result<Self, StoreError> {
        let spool = blocking(move || ObjectFiles::open(spool, free_limit_bytes)).await?;
        let address = BucketAddress::of(config);
        let client = BucketClient::new(config, &config.endpoint)
            .map_err(|error| error.into_error(&address, Action::Get, "store"))?;
        Ok(Self {
            client,
            address: Arc::new(address),
            prefix: config.prefix.as_str().into(),
            spool: Arc::new(spool),
            spool_bytes: as_count(config.spool_bytes),
            probe_limit: Duration::from_millis(config.probe_timeout_ms),
            owner: None,
        })
    }

    /// The same store without retries, for probes that want the first answer.
    pub fn without_retries(&self) -> Self {
        Self { client: self.client.without_retries(), ..self.clone() }
    }

    async fn check_and_probe(&self) -> Result<(), StoreError> {
        self.check_owner().await?;
        write_and_read(self).await
    }

    /// Begins to read an object or a range of it; returns also the range's first byte and length.
    async fn download(
        &self,
        key: &StorageKey,
        range: Option<ByteRange>,
    ) -> Result<(Download, ObjectMeta, (u64, u64)), StoreError> {
        let path = self.path(key);
        let error = |error: RequestError| self.error(error, Action::Get, key);
        if range.is_none() {
            let download = self.client.get(&path, None).await.map_err(error)?;
            let bytes = download.length().map_err(error)?;
            let meta = ObjectMeta { bytes, etag: download.tag() };
            return Ok((download, meta, (0, bytes)));
        }
        for _ in 0..OPEN_ATTEMPTS {
            let meta = self.head(key).await?;
            let (start, length) = resolve_range(range, meta.bytes)?;
            let download = self.client.get(&path, Some((start, start + length - 1))).await.map_err(error)?;
            // If the object was replaced since the HEAD, tag or length differ: try again.
            if download.tag() == meta.etag && download.length().map_err(error)? == length {
                return Ok((download, meta, (start, length)));
            }
        }
        Err(error(RequestError::Transient("the object is replaced all the time".to_owned())))
    }

    /// Puts an object; `body` is called for each attempt.
    async fn put_body(
        &self,
        key: &StorageKey,
        bytes: u64,
        body: impl Fn() -> Chunks + Sync,
    ) -> Result<ObjectMeta, StoreError> {
        let outcome = self.client.put(&self.path(key), bytes, body).await;
        let etag = outcome.map_err(|error| self.error(error, Action::Put, key))?;
        Ok(ObjectMeta { bytes, etag })
    }

    /// The key of the object in the bucket.
    fn path(&self, key: &StorageKey) -> String {
        format!("{}{key}", self.prefix)
    }

    fn error(&self, error: RequestError, action: Action, key: &StorageKey) -> StoreError {
        error.into_error(&self.address, action, &key.to_string())
    }

    async fn delete_batch(&self, keys: &[StorageKey]) -> Result<(), StoreError> {
        let Some(first) = keys.first() else { return Ok(()) };
        let objects: Vec<_> = keys.iter().map(|key| ObjectIdentifier::new(self.path(key))).collect();
        let request = || self.client.bucket().delete_objects(objects.clone());
        let done =
            self.client.ask(request).await.map_err(|error| self.error(error, Action::Delete, first))?;
        let Some(refused) = done.errors.iter().find(|error| error.code != "NoSuchKey") else { return Ok(()) };
        let body = format!("<Code>{}</Code>", refused.code);
        let status = if refused.code == "AccessDenied" { 403 } else { 500 };
        Err(self.error(RequestError::of_answer(status, body.as_bytes()), Action::Delete, first))
    }
}

#[async_trait]
impl ObjectStore for S3Store {
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError> {
        let buffer = StagedBuffer::new(Arc::clone(&self.spool), limit_bytes, self.spool_bytes);
        Ok(Box::new(Staged { store: self.clone(), buffer }))
    }

    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError> {
        self.put_body(key, bytes.len() as u64, || of_memory(&bytes)).await
    }

    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError> {
        let path = self.path(key);
        let whole = self
            .client
            .repeat(|| async { self.client.get_once(&path, None).await?.whole(limit_bytes).await });
        let whole = whole.await.map_err(|error| self.error(error, Action::Get, key))?;
        whole.ok_or(StoreError::TooLarge { limit_bytes })
    }

    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError> {
        let (download, meta, (start, length)) = self.download(key, range).await?;
        let (store, key) = (self.clone(), *key);
        let chunks = stream::try_unfold(download, |mut download| async move {
            Ok(download.next().await?.map(|chunk| (chunk, download)))
        });
        let chunks = chunks.map_err(move |error| store.error(error, Action::Get, &key)).boxed();
        Ok(ObjectReader { meta, start, length, chunks })
    }

    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let path = self.path(key);
        let error = |error: RequestError| self.error(error, Action::Get, key);
        let Some(known) = self.client.head(&path).await.map_err(error)? else {
            // A 404 to a HEAD has no body, so it may also come from a proxy. The body of a GET shows whether it is the store's.
            let there = self.client.get(&path, None).await.map_err(error)?;
            return Ok(ObjectMeta { bytes: there.length().map_err(error)?, etag: there.tag() });
        };
        let bytes = known.content_length.and_then(|bytes| u64::try_from(bytes).ok());
        let bytes =
            bytes.ok_or_else(|| error(RequestError::Transient("an answer without a length".to_owned())))?;
        Ok(ObjectMeta { bytes, etag: plain_tag(&known.e_tag.unwrap_or_default()) })
    }

    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        self.check_owner().await?;
        let below = format!("{}{}/", self.prefix, folder.name());
        let mut keys = Vec::new();
        let mut after = after.map(|key| self.path(&key));
        while keys.len() < limit {
            let most = (limit - keys.len()).min(PAGE);
            let request =
                || self.client.bucket().list_page(below.clone(), None, None, after.clone(), Some(most));
            let listed = self.client.ask(request).await;
            let (page, _) =
                listed.map_err(|error| error.into_error(&self.address, Action::List, folder.name()))?;
            let paths = page.contents.iter().filter_map(|object| object.key.strip_prefix(&*self.prefix));
            // Foreign names are skipped.
            keys.extend(paths.filter_map(StorageKey::from_path));
            if !page.is_truncated {
                break;
            }
            // Hazard: from a list that ends early a rebuild would miss templates, and the garbage collector would then delete
            // their objects. So it is an error.
            let last = page.contents.last().map(|object| object.key.clone());
            if last.is_none() || last <= after {
                let folder = folder.name();
                let cause = format!(
                    "the store lists '{folder}' by half: it says that there is more, and does not go on"
                );
                return Err(StoreError::Failed(std::io::Error::other(cause)));
            }
            after = last;
        }
        Ok(keys)
    }

    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        // The protocol refuses to copy an object onto itself.
        if from != to {
            let (source, target) = (self.path(from), self.path(to));
            let request = || self.client.bucket().copy_object_internal(&source, &target);
            self.client.ask(request).await.map_err(|error| self.error(error, Action::Copy, from))?;
        }
        self.head(to).await
    }

    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError> {
        let path = self.path(key);
        match self.client.ask(|| self.client.bucket().delete_object(&path)).await {
            Ok(_) | Err(RequestError::NotFound) => Ok(()),
            Err(error) => Err(self.error(error, Action::Delete, key)),
        }
    }

    fn upload_staging(&self) -> UploadStaging {
        UploadStaging::Staged
    }

    async fn delete_all(&self, keys: &[StorageKey]) -> Result<(), StoreError> {
        let Some((first, others)) = keys.split_first() else { return Ok(()) };
        self.delete(first).await?;
        for batch in others.chunks(BATCH) {
            match batch {
                [key] => self.delete(key).await?,
                keys => self.delete_batch(keys).await?,
            }
        }
        Ok(())
    }

    async fn probe(&self) -> Result<(), StoreError> {
        let late = |_| {
            let limit_ms = self.probe_limit.as_millis();
            let cause = format!("no answer within {limit_ms} ms (s3.probe_timeout_ms)");
            Err(RequestError::Transient(cause).into_error(&self.address, Action::Get, "probe"))
        };
        timeout(self.probe_limit, self.without_retries().check_and_probe()).await.unwrap_or_else(late)
    }
}
