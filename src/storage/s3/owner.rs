//! Which index a bucket belongs to.
//!
//! Hazard: objects that no record names are swept. Two services with an index each and one bucket between them would
//! delete each other's objects. So the bucket holds the name of its index, which is compared before anything is listed:
//! a sweep finds objects by listing only.
//!
//! A service writes its name into a bucket without one, once, when it starts. From then on a missing name is an error and
//! no permission to write another: the bucket may be another service's that lost its name.

use bytes::Bytes;
use tokio::time::timeout;

use super::error::{Action, RequestError};
use super::staged::of_memory;
use super::{S3Store, StoreError};
use crate::clock;
use crate::storage::index::{Index, IndexError, WriteBatch};

/// Where the name lies in the bucket, behind the prefix.
const OBJECT: &str = "owner/index";
/// A name is a UUID; anything longer is not ours.
const NAME_LIMIT_BYTES: u64 = 64;
/// The index' own name is under this key.
const NAME: &str = "store/owner";
/// In the index once the bucket has held the name.
const CLAIMED: &str = "store/claimed";

/// Why a bucket is not used.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store failed, or is not ours.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The name that a bucket must hold.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    name: Bytes,
    has_claimed: bool,
}

/// Whose name a bucket holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BucketOwner {
    Us,
    AnotherIndex,
    Nobody,
}

impl S3Store {
    /// The store as one that belongs to `index`; no request is made yet.
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

    /// Checks whether the bucket may be ours, without changing it. A bucket that does not answer passes: nothing is listed
    /// before it has answered.
    ///
    /// # Errors
    /// When it is another index's, or was ours and bears no name any more.
    pub async fn respect(&self) -> Result<(), StoreError> {
        let Some(owner) = &self.owner else { return Ok(()) };
        match self.look_in_time(owner).await {
            Some(BucketOwner::AnotherIndex) => Err(another()),
            Some(BucketOwner::Nobody) if owner.has_claimed => Err(nameless()),
            Some(BucketOwner::Us | BucketOwner::Nobody) | None => Ok(()),
        }
    }

    /// Gives a bucket that bears no name that of `index`, which has met it.
    ///
    /// # Errors
    /// When the index fails, the store does while it is asked, or it is another index's by now.
    pub async fn claim(&self, index: &dyn Index) -> Result<(), OwnerError> {
        let Some(owner) = self.owner.as_ref().filter(|owner| !owner.has_claimed) else { return Ok(()) };
        let Some(mut found) = self.look_in_time(owner).await else { return Ok(()) };
        if found == BucketOwner::Nobody {
            self.write(&owner.name).await?;
            // Another service that started at the same moment may have written after us.
            found = self.look(owner).await?;
        }
        if found != BucketOwner::Us {
            return Err(another().into());
        }
        Ok(index.commit(WriteBatch::new().put(CLAIMED, [])).await?)
    }

    /// The bucket belongs to `index` from now on, whosever it was. The name is a new one, for another copy of the index
    /// may bear the old one.
    ///
    /// # Errors
    /// When the index or the store fails.
    pub async fn taken_over(self, index: &dyn Index) -> Result<Self, OwnerError> {
        let name = begin_name(index).await?;
        self.write(&name).await?;
        index.commit(WriteBatch::new().put(CLAIMED, [])).await?;
        Ok(Self { owner: Some(Owner { name, has_claimed: true }), ..self })
    }

    /// Checked before every list: nothing of another index' bucket is swept.
    pub(super) async fn check_owner(&self) -> Result<(), StoreError> {
        let Some(owner) = &self.owner else { return Ok(()) };
        match self.look(owner).await? {
            BucketOwner::Us => Ok(()),
            BucketOwner::AnotherIndex => Err(another()),
            BucketOwner::Nobody => Err(nameless()),
        }
    }

    /// `None` where the store does not answer.
    async fn look_in_time(&self, owner: &Owner) -> Option<BucketOwner> {
        let cause = match timeout(self.probe_limit, self.impatient().look(owner)).await {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time (s3.probe_timeout_ms)".to_owned(),
        };
        tracing::warn!(cause, "the store does not tell whose it is");
        None
    }

    async fn look(&self, owner: &Owner) -> Result<BucketOwner, StoreError> {
        let (client, path) = (&self.client, self.owner_path());
        let read = client
            .repeat(|| async { client.get_once(&path, None).await?.whole(NAME_LIMIT_BYTES).await })
            .await;
        match read {
            Ok(Some(name)) if name == owner.name => Ok(BucketOwner::Us),
            Ok(_) => Ok(BucketOwner::AnotherIndex),
            Err(RequestError::Absent) => Ok(BucketOwner::Nobody),
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
