//! The store in an S3-compatible bucket. The only folder that names rust-s3.
//!
//! The library signs and makes requests without a large body; `client` makes those with one. Keys are our own ids and
//! words, so that none needs an encoding that servers do differently; there are no tags, for prefixes say what may go.
//! A PUT is durable and atomic when it is answered: that is the protocol's promise.

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

pub use presigned_urls::S3PresignedUrls;

use self::client::{Arriving, Chunks, Wire, plain_tag};
use self::error::{Action, RequestError};
use self::staged::{Staged, of_memory};
use super::object_files::{ObjectFiles, blocking};
use super::{
    ByteRange, Folder, ObjectMeta, ObjectReader, ObjectStore, StagedObject, StorageKey, StoreError,
    UploadStaging, bounds, write_and_read,
};
use crate::config::S3Config;

/// Keys that one page of a list has at most.
const PAGE: usize = 1_000;
/// Objects that one request deletes at most.
const BATCH: usize = 1_000;
/// How often an object is opened anew that was replaced between two looks at it.
const LOOKS: usize = 4;

/// Objects in a bucket.
#[derive(Clone)]
pub struct S3Store {
    reach: Reach,
    probe_limit: Duration,
    /// The name that the bucket must hold before it is listed.
    owner: Option<owner::Owner>,
}

/// How the bucket is reached.
#[derive(Clone)]
struct Reach {
    wire: Wire,
    address: Arc<error::BucketAddress>,
    prefix: Arc<str>,
    spool: Arc<ObjectFiles>,
    spool_bytes: u64,
}

impl S3Store {
    /// The store that `config` names. No request is made yet: a store that is down now may be up later. Large
    /// objects being made wait in `spool`, a folder of their own, as long as `free_limit_bytes` are left there.
    ///
    /// # Errors
    /// When the settings make no address, or the folder cannot be used.
    pub async fn open(config: &S3Config, spool: PathBuf, free_limit_bytes: u64) -> Result<Self, StoreError> {
        let spool = blocking(move || ObjectFiles::open(spool, free_limit_bytes)).await?;
        let reach = Reach {
            wire: wire_to(config, &config.endpoint)?,
            address: Arc::new(error::BucketAddress::of(config)),
            prefix: config.prefix.as_str().into(),
            spool: Arc::new(spool),
            spool_bytes: config.spool_bytes,
        };
        Ok(Self { reach, probe_limit: Duration::from_millis(config.probe_timeout_ms), owner: None })
    }

    /// The same store without retries, for probes that want the first answer.
    pub fn impatient(&self) -> Self {
        let wire = self.reach.wire.impatient();
        Self { reach: Reach { wire, ..self.reach.clone() }, ..self.clone() }
    }

    async fn tried(&self) -> Result<(), StoreError> {
        self.check_owner().await?;
        write_and_read(self).await
    }

    /// Begins to read an object, or the part of it that `range` names.
    async fn arriving(
        &self,
        key: &StorageKey,
        range: Option<ByteRange>,
    ) -> Result<(Arriving, Part), StoreError> {
        let (reach, path) = (&self.reach, self.reach.path(key));
        let error = |error: RequestError| reach.error(error, Action::Get, key);
        if range.is_none() {
            let arriving = reach.wire.get(&path, None).await.map_err(error)?;
            let bytes = arriving.length().map_err(error)?;
            let meta = ObjectMeta { bytes, etag: arriving.tag() };
            return Ok((arriving, Part { meta, start: 0, length: bytes }));
        }
        for _ in 0..LOOKS {
            let meta = self.head(key).await?;
            let (start, length) = bounds(range, meta.bytes)?;
            let arriving = reach.wire.get(&path, Some((start, start + length - 1))).await.map_err(error)?;
            // Another version may have been put in its place since.
            if arriving.tag() == meta.etag && arriving.length().map_err(error)? == length {
                return Ok((arriving, Part { meta, start, length }));
            }
        }
        Err(error(RequestError::Passing("the object is replaced all the time".to_owned())))
    }

    async fn delete_batch(&self, keys: &[StorageKey]) -> Result<(), StoreError> {
        let (reach, Some(first)) = (&self.reach, keys.first()) else { return Ok(()) };
        let objects: Vec<_> = keys.iter().map(|key| ObjectIdentifier::new(reach.path(key))).collect();
        let request = || reach.wire.bucket().delete_objects(objects.clone());
        let done =
            reach.wire.ask(request).await.map_err(|error| reach.error(error, Action::Delete, first))?;
        let Some(refused) = done.errors.iter().find(|error| error.code != "NoSuchKey") else { return Ok(()) };
        let body = format!("<Code>{}</Code>", refused.code);
        let status = if refused.code == "AccessDenied" { 403 } else { 500 };
        Err(reach.error(RequestError::of_answer(status, body.as_bytes()), Action::Delete, first))
    }
}

/// Which bytes of which object.
struct Part {
    meta: ObjectMeta,
    start: u64,
    length: u64,
}

impl Reach {
    /// Where the object lies in the bucket.
    fn path(&self, key: &StorageKey) -> String {
        format!("{}{key}", self.prefix)
    }

    fn error(&self, error: RequestError, action: Action, key: &StorageKey) -> StoreError {
        error.into_error(&self.address, action, &key.to_string())
    }
}

#[async_trait]
impl ObjectStore for S3Store {
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError> {
        let reach = self.reach.clone();
        Ok(Box::new(Staged { reach, limit_bytes, bytes: 0, gathered: Vec::new(), file: None }))
    }

    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError> {
        put(&self.reach, key, bytes.len() as u64, || of_memory(&bytes)).await
    }

    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError> {
        let (reach, path) = (&self.reach, self.reach.path(key));
        let whole =
            reach.wire.repeat(|| async { reach.wire.get_once(&path, None).await?.whole(limit_bytes).await });
        let whole = whole.await.map_err(|error| reach.error(error, Action::Get, key))?;
        whole.ok_or(StoreError::TooLarge { limit_bytes })
    }

    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError> {
        let (arriving, Part { meta, start, length }) = self.arriving(key, range).await?;
        let (reach, key) = (self.reach.clone(), *key);
        let chunks = stream::try_unfold(arriving, |mut arriving| async move {
            Ok(arriving.next().await?.map(|chunk| (chunk, arriving)))
        });
        let chunks = chunks.map_err(move |error| reach.error(error, Action::Get, &key)).boxed();
        Ok(ObjectReader { meta, start, length, chunks })
    }

    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let (reach, path) = (&self.reach, self.reach.path(key));
        let error = |error: RequestError| reach.error(error, Action::Get, key);
        let Some(known) = reach.wire.head(&path).await.map_err(error)? else {
            // Such an answer has no words. Whether the store gave it, or something before it, its answer to a GET says.
            let there = reach.wire.get(&path, None).await.map_err(error)?;
            return Ok(ObjectMeta { bytes: there.length().map_err(error)?, etag: there.tag() });
        };
        let bytes = known.content_length.and_then(|bytes| u64::try_from(bytes).ok());
        let bytes =
            bytes.ok_or_else(|| error(RequestError::Passing("an answer without a length".to_owned())))?;
        Ok(ObjectMeta { bytes, etag: plain_tag(&known.e_tag.unwrap_or_default()) })
    }

    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        self.check_owner().await?;
        let reach = &self.reach;
        let below = format!("{}{}/", reach.prefix, folder.name());
        let mut keys = Vec::new();
        let mut after = after.map(|key| reach.path(&key));
        while keys.len() < limit {
            let most = (limit - keys.len()).min(PAGE);
            let request =
                || reach.wire.bucket().list_page(below.clone(), None, None, after.clone(), Some(most));
            let listed = reach.wire.ask(request).await;
            let (page, _) =
                listed.map_err(|error| error.into_error(&reach.address, Action::List, folder.name()))?;
            let paths = page.contents.iter().filter_map(|object| object.key.strip_prefix(&*reach.prefix));
            // A name that is none of ours is passed over.
            keys.extend(paths.filter_map(StorageKey::from_path));
            if !page.is_truncated {
                break;
            }
            // A list that ends early would have what it does not name swept or left out of a rebuild.
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
        let reach = &self.reach;
        // A copy onto itself is refused by the protocol.
        if from != to {
            let (source, target) = (reach.path(from), reach.path(to));
            let request = || reach.wire.bucket().copy_object_internal(&source, &target);
            reach.wire.ask(request).await.map_err(|error| reach.error(error, Action::Copy, from))?;
        }
        self.head(to).await
    }

    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError> {
        let (reach, path) = (&self.reach, self.reach.path(key));
        match reach.wire.ask(|| reach.wire.bucket().delete_object(&path)).await {
            Ok(_) | Err(RequestError::Absent) => Ok(()),
            Err(error) => Err(reach.error(error, Action::Delete, key)),
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
            Err(RequestError::Passing(cause).into_error(&self.reach.address, Action::Get, "probe"))
        };
        timeout(self.probe_limit, self.impatient().tried()).await.unwrap_or_else(late)
    }
}

/// Puts an object whose body is made anew for each try.
async fn put(
    reach: &Reach,
    key: &StorageKey,
    bytes: u64,
    body: impl Fn() -> Chunks + Sync,
) -> Result<ObjectMeta, StoreError> {
    let outcome = reach.wire.put(&reach.path(key), bytes, body).await;
    let etag = outcome.map_err(|error| reach.error(error, Action::Put, key))?;
    Ok(ObjectMeta { bytes, etag })
}

fn wire_to(config: &S3Config, endpoint: &str) -> Result<Wire, StoreError> {
    Wire::new(config, endpoint)
        .map_err(|error| error.into_error(&error::BucketAddress::of(config), Action::Get, "store"))
}
