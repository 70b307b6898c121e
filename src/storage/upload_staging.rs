//! Where an upload arrives, and how it becomes a job's input or a template's content.
//!
//! Hazard: the holder of a presigned URL of a bucket can use it again until it expires, and so change an input after it was
//! checked. An upload to a bucket therefore arrives under a key of its own and is copied, once, to a key that no URL covers. An
//! upload through the service's own route is opened and closed by the service (a job refuses it once the input is taken, a
//! template replaces its upload under its lock), so it is written to the object's key directly.

use super::{ObjectStore, StorageKey, StoreError, Upload, check_size};

/// Where uploads arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadStaging {
    /// At the key of the object itself.
    Direct,
    /// Under a key of their own, until they are taken.
    Staged,
}

impl UploadStaging {
    /// The key under which an upload for the object `key` arrives.
    pub fn of(self, key: &StorageKey) -> StorageKey {
        if self == Self::Direct {
            return *key;
        }
        match *key {
            StorageKey::JobData(account, job) => StorageKey::Upload(account, Upload::Data(job)),
            StorageKey::JobTemplate(account, job) => StorageKey::Upload(account, Upload::Template(job)),
            StorageKey::TemplateUpload(account, template) => {
                StorageKey::Upload(account, Upload::Content(template))
            }
            // These are never uploaded.
            key @ (StorageKey::JobSecret(..)
            | StorageKey::JobOutput(..)
            | StorageKey::UnfinishedPackage(..)
            | StorageKey::Template(..)
            | StorageKey::Upload(..)
            | StorageKey::Probe(_)) => key,
        }
    }
}

/// Copies the upload for `key`, if there is one, to `key`; later uploads do not change it. Returns its size in bytes if the
/// upload bypassed the service, which then has not counted it.
///
/// # Errors
/// `TooLarge` when it is larger than `limit_bytes`: then the object is not there. `Failed` when the store fails.
pub async fn take(
    store: &dyn ObjectStore,
    key: &StorageKey,
    limit_bytes: u64,
) -> Result<Option<u64>, StoreError> {
    let upload = store.upload_staging().of(key);
    if upload == *key {
        return Ok(None);
    }
    let taken = async {
        check_size(store.head(&upload).await?.bytes, limit_bytes)?;
        let bytes = store.copy(&upload, key).await?.bytes;
        let copied = check_size(bytes, limit_bytes);
        if copied.is_err() {
            // Another upload replaced it between the check and the copy.
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
