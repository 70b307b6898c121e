//! Which index a bucket belongs to.
//!
//! Hazard: sweeps delete objects that no record names. Two services with separate indexes and one bucket would delete each
//! other's objects. So the bucket bears the name of its index, which is compared before every listing: a sweep finds objects
//! only by listing.
//!
//! A service writes its name into a bucket without one, once, when it starts. After that a missing name is an error, and the
//! service does not write it again: the bucket may belong to another service whose name was deleted.

use bytes::Bytes;
use tokio::time::timeout;

use super::error::{Action, RequestError};
use super::staged::of_memory;
use super::{S3Store, StoreError};
use crate::clock;
use crate::storage::StorageError;
use crate::storage::index::{Index, IndexError, WriteBatch};

/// The object with the name, behind the prefix.
const OBJECT: &str = "owner/index";
/// A name is a UUID; anything longer was not written by platen.
const NAME_LIMIT_BYTES: u64 = 64;
/// The index's key for its own name.
const NAME: &str = "store/owner";
/// Present in the index once the bucket has borne the name.
const CLAIMED: &str = "store/claimed";

/// The name that a bucket must bear.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    name: Bytes,
    has_claimed: bool,
}

/// Whose name a bucket bears.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BucketOwner {
    Us,
    AnotherIndex,
    Nobody,
}

impl S3Store {
    /// The store as belonging to `index`; no request is sent yet.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn belonging_to(self, index: &dyn Index) -> Result<Self, IndexError> {
        let name = match index.get(NAME).await? {
            Some(name) => name.into(),
            None => begin_name(index).await?,
        };
        let has_claimed = index.get(CLAIMED).await?.is_some();
        Ok(Self { owner: Some(Owner { name, has_claimed }), ..self })
    }

    /// Checks at a start whether the bucket may be used, without changing it. A bucket that does not answer passes: every
    /// listing checks again.
    ///
    /// # Errors
    /// When it belongs to another index, or has lost the name of this one.
    pub async fn check_at_start(&self) -> Result<(), StoreError> {
        let Some(owner) = &self.owner else { return Ok(()) };
        match self.read_owner_in_time(owner).await {
            Some(BucketOwner::AnotherIndex) => Err(another()),
            Some(BucketOwner::Nobody) if owner.has_claimed => Err(nameless()),
            Some(BucketOwner::Us | BucketOwner::Nobody) | None => Ok(()),
        }
    }

    /// Writes the name of `index` into a bucket without one, the first time that `index` reaches the bucket.
    ///
    /// # Errors
    /// When the index or the store fails, or the bucket belongs to another index by now.
    pub async fn claim(&self, index: &dyn Index) -> Result<(), StorageError> {
        let Some(owner) = self.owner.as_ref().filter(|owner| !owner.has_claimed) else { return Ok(()) };
        let Some(mut found) = self.read_owner_in_time(owner).await else { return Ok(()) };
        if found == BucketOwner::Nobody {
            self.write(&owner.name).await?;
            // Another service that started at the same moment may have written after us.
            found = self.read_owner(owner).await?;
        }
        if found != BucketOwner::Us {
            return Err(another().into());
        }
        Ok(index.commit(WriteBatch::new().put(CLAIMED, [])).await?)
    }

    /// Takes the bucket over for `index`, even from another index. The name is a new one: another copy of this index (a restored
    /// backup) may still use the old one.
    ///
    /// # Errors
    /// When the index or the store fails.
    pub async fn taken_over(self, index: &dyn Index) -> Result<Self, StorageError> {
        let name = begin_name(index).await?;
        self.write(&name).await?;
        index.commit(WriteBatch::new().put(CLAIMED, [])).await?;
        Ok(Self { owner: Some(Owner { name, has_claimed: true }), ..self })
    }

    /// Called before every listing, so that nothing in another index's bucket is swept.
    pub(super) async fn check_owner(&self) -> Result<(), StoreError> {
        let Some(owner) = &self.owner else { return Ok(()) };
        match self.read_owner(owner).await? {
            BucketOwner::Us => Ok(()),
            BucketOwner::AnotherIndex => Err(another()),
            BucketOwner::Nobody => Err(nameless()),
        }
    }

    /// The owner; `None` if the store does not answer in time.
    async fn read_owner_in_time(&self, owner: &Owner) -> Option<BucketOwner> {
        let cause = match timeout(self.probe_limit, self.without_retries().read_owner(owner)).await {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time (s3.probe_timeout_ms)".to_owned(),
        };
        tracing::warn!(cause, "the store does not tell whose it is");
        None
    }

    async fn read_owner(&self, owner: &Owner) -> Result<BucketOwner, StoreError> {
        let (client, path) = (&self.client, self.owner_path());
        let read = client
            .repeat(|| async { client.get_once(&path, None).await?.whole(NAME_LIMIT_BYTES).await })
            .await;
        match read {
            Ok(Some(name)) if name == owner.name => Ok(BucketOwner::Us),
            Ok(_) => Ok(BucketOwner::AnotherIndex),
            Err(RequestError::NotFound) => Ok(BucketOwner::Nobody),
            Err(error) => Err(error.into_error(&self.address, Action::Get, OBJECT)),
        }
    }

    async fn write(&self, name: &Bytes) -> Result<(), StoreError> {
        let put = self.client.put(&self.owner_path(), name.len() as u64, || of_memory(name)).await;
        put.map(drop).map_err(|error| error.into_error(&self.address, Action::Put, OBJECT))
    }

    fn owner_path(&self) -> String {
        format!("{}{OBJECT}", self.prefix)
    }
}

async fn begin_name(index: &dyn Index) -> Result<Bytes, IndexError> {
    let name = clock::new_id().to_string();
    index.commit(WriteBatch::new().put(NAME, name.clone()).delete(CLAIMED)).await?;
    Ok(name.into())
}

fn another() -> StoreError {
    refusal(
        "the bucket (s3.bucket, s3.prefix) belongs to another index: give each service a bucket or a prefix of its \
         own, for each deletes what it does not know. If the other index is lost, restore it from a backup, if there \
         is one (jobs, accounts and tokens are nowhere else); then, with or without one, run `platen index rebuild`, \
         which takes the bucket over",
    )
}

fn nameless() -> StoreError {
    refusal(
        "the bucket (s3.bucket, s3.prefix) does not bear the name of its index (owner/index): nothing is listed or \
         swept in it. Start the service again if the store was not there when it started; if the object was deleted, \
         run `platen index rebuild`, which writes it",
    )
}

fn refusal(sentence: &str) -> StoreError {
    StoreError::Failed(std::io::Error::other(sentence))
}
