//! Where an upload lands before it becomes an input, and how it becomes one.
//!
//! An upload through our own route is asked for and closed, so that it goes straight to the object's key. An address of
//! the store itself can be used again, by whoever has it, until it expires: there an upload lands under a key of its
//! own, and what is worked with is a copy under the key that no address covers.

use super::{ObjectStore, StorageKey, StoreError, Upload, within};

/// Where uploads land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// At the key of the object.
    Final,
    /// Apart, until they are taken.
    Apart,
}

impl Landing {
    /// Where an upload lands that is to become the object `key`.
    #[must_use]
    pub fn of(self, key: &StorageKey) -> StorageKey {
        if self == Self::Final {
            return *key;
        }
        match *key {
            StorageKey::JobData(account, job) => StorageKey::Upload(account, Upload::Data(job)),
            StorageKey::JobTemplate(account, job) => StorageKey::Upload(account, Upload::Template(job)),
            StorageKey::TemplateUpload(account, template) => {
                StorageKey::Upload(account, Upload::Content(template))
            }
            // Nobody uploads these.
            key @ (StorageKey::JobSecret(..)
            | StorageKey::JobOutput(..)
            | StorageKey::UnfinishedPackage(..)
            | StorageKey::Template(..)
            | StorageKey::Upload(..)
            | StorageKey::Probe(_)) => key,
        }
    }
}

/// Makes what was uploaded for `key`, if anything was, the object `key`; uploads that come later change nothing of it.
/// Answers its size in bytes, where the store took the upload itself.
///
/// # Errors
/// `TooLarge` when it is larger than `limit_bytes`: then the object is not there. `Failed` when the store fails.
pub async fn take(
    store: &dyn ObjectStore,
    key: &StorageKey,
    limit_bytes: u64,
) -> Result<Option<u64>, StoreError> {
    let upload = store.landing().of(key);
    if upload == *key {
        return Ok(None);
    }
    let taken = async {
        within(store.head(&upload).await?.bytes, limit_bytes)?;
        let bytes = store.copy(&upload, key).await?.bytes;
        let copied = within(bytes, limit_bytes);
        if copied.is_err() {
            // Another upload came between the two looks.
            store.delete(key).await?;
        }
        copied.map(|()| Some(bytes))
    };
    match taken.await {
        // Nothing was uploaded.
        Err(StoreError::NotFound(_)) => Ok(None),
        outcome => outcome,
    }
}
