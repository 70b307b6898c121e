//! Whose a bucket is. What no record names is deleted in time: two services with an index each and one bucket between
//! them would delete each other's objects. So the bucket bears the name of its index, which is read before anything is
//! listed in it: a list is the only way to what an index does not name.

use bytes::Bytes;
use tokio::time::timeout;

use super::S3Store;
use crate::clock;
use crate::storage::index::{Change, Index, IndexError};
use crate::storage::{ObjectStore as _, StorageKey, StoreError};

/// Under it the index keeps the name that its bucket bears.
const NAME: &str = "store/owner";
/// A name is a uuid; what is longer is another one's.
const NAME_LIMIT_BYTES: u64 = 64;

/// Whose a bucket is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Us,
    Another,
    Nobody,
}

impl S3Store {
    /// The store as that of `index`; nobody is asked yet.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn of(self, index: &dyn Index) -> Result<Self, IndexError> {
        let name = if let Some(name) = index.get(NAME).await? {
            name.into()
        } else {
            let name = clock::new_id().to_string();
            index.commit(Change::new().put(NAME, name.clone())).await?;
            name.into()
        };
        Ok(Self { owner: Some(name), ..self })
    }

    /// Looks whose the bucket is, if it answers: otherwise it is looked at again before anything is listed.
    ///
    /// # Errors
    /// When it is another index'.
    pub async fn respect(&self) -> Result<(), StoreError> {
        let cause = match timeout(self.probe_limit, self.impatient().claim()).await {
            Ok(Ok(Owner::Another)) => return Err(another()),
            Ok(Ok(Owner::Us | Owner::Nobody)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time (s3.probe_timeout_ms)".to_owned(),
        };
        tracing::warn!(cause, "the store does not tell whose it is");
        Ok(())
    }

    /// The bucket is this index' from now on, whosever it was.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn take_over(&self) -> Result<(), StoreError> {
        let Some(name) = &self.owner else { return Ok(()) };
        self.put(&StorageKey::Owner, name.clone()).await.map(drop)
    }

    /// Lets nothing be listed in another index' bucket.
    pub(super) async fn check_owner(&self) -> Result<(), StoreError> {
        match self.claim().await? {
            Owner::Us | Owner::Nobody => Ok(()),
            Owner::Another => Err(another()),
        }
    }

    /// A bucket that is nobody's is this index' from now on.
    async fn claim(&self) -> Result<Owner, StoreError> {
        let Some(name) = &self.owner else { return Ok(Owner::Nobody) };
        if let owner @ (Owner::Us | Owner::Another) = self.look(name).await? {
            return Ok(owner);
        }
        self.take_over().await?;
        // Who began at the same moment may have written after us.
        self.look(name).await
    }

    async fn look(&self, name: &Bytes) -> Result<Owner, StoreError> {
        match self.get(&StorageKey::Owner, NAME_LIMIT_BYTES).await {
            Ok(found) if found == name => Ok(Owner::Us),
            Ok(_) | Err(StoreError::TooLarge { .. }) => Ok(Owner::Another),
            Err(StoreError::NotFound(_)) => Ok(Owner::Nobody),
            Err(error) => Err(error),
        }
    }
}

fn another() -> StoreError {
    StoreError::Failed(std::io::Error::other(
        "the bucket (s3.bucket, s3.prefix) belongs to another index: give each service a bucket or a prefix of its \
         own, for each deletes what it does not know. If the other index is lost, `platen index rebuild` takes the \
         bucket over",
    ))
}
