//! Whether a service may start on this index and this store: the index must be whole, and it must belong to the store.
//!
//! Hazard: the garbage collector deletes objects that no record names. A service on an empty index (the old one was lost)
//! would therefore delete every saved template of the store. So the index has an entry (`known/…`) that says that it knows
//! all saved templates of this store. Without the entry, a service starts only where the store has no saved templates.

use crate::storage::index::{Index, IndexError, WriteBatch};
use crate::storage::{Folder, ObjectStore, StoreError};
use crate::templates::registry::index::RECORDS;

/// The entry is there while a rebuild is under way, and after one that did not end.
const REBUILDING: &str = "rebuilding/templates";
/// The entry is there once the index knows all saved templates of the store: an object that it does not name was never saved,
/// or is deleted.
const KNOWN: &str = "known/templates";

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum IndexCheckError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A rebuild did not end.
    #[error(
        "the index holds a part of the templates only: `platen index rebuild` did not end; run it again \
             (after a restore beside a bucket, run it once)"
    )]
    HalfRebuilt,
    /// The index was begun anew beside a store that is not new.
    #[error(
        "the index is new and knows nothing of the templates saved in the store, which would be swept as nobody's: \
         if there is a backup, restore the index from it (jobs, accounts and tokens are nowhere else); then, with or \
         without one, run `platen index rebuild`, and start again"
    )]
    UnknownTemplates,
}

/// Checks that a service may start on `index` and `store`. Where both are new, the index gets the entry that it knows all saved
/// templates. Objects of jobs, and of templates that are not saved, do not matter.
///
/// # Errors
/// See [`IndexCheckError`].
pub async fn check(index: &dyn Index, store: &dyn ObjectStore) -> Result<(), IndexCheckError> {
    if index.get(REBUILDING).await?.is_some() {
        return Err(IndexCheckError::HalfRebuilt);
    }
    if index.get(KNOWN).await?.is_some() {
        return Ok(());
    }
    if !is_trusted(index).await? && !store.list(Folder::Templates, None, 1).await?.is_empty() {
        return Err(IndexCheckError::UnknownTemplates);
    }
    Ok(index.commit(WriteBatch::new().put(KNOWN, [])).await?)
}

/// Whether the index knows every saved template of the store. An index without the entry that says so, but with records of
/// templates, is of a platen that did not write the entry yet, and is trusted as well.
pub(in crate::templates) async fn is_trusted(index: &dyn Index) -> Result<bool, IndexError> {
    if index.get(KNOWN).await?.is_some() {
        return Ok(true);
    }
    // While a rebuild is under way, or after one that did not end, the records may be a part of them only.
    Ok(index.get(REBUILDING).await?.is_none() && !index.scan(RECORDS, None, 1).await?.is_empty())
}

/// From now on no service starts until a rebuild has ended.
///
/// # Errors
/// When the index fails.
pub async fn begin(index: &dyn Index) -> Result<(), IndexError> {
    // An index may be trusted for its records alone. Once it has the entry REBUILDING, records prove nothing any more, so an
    // index that is trusted now gets the entry KNOWN in the same batch.
    let change = WriteBatch::new().put(REBUILDING, []);
    index.commit(if is_trusted(index).await? { change.put(KNOWN, []) } else { change }).await
}

/// A rebuild has ended.
pub(in crate::templates) async fn end(index: &dyn Index) -> Result<(), IndexError> {
    index.commit(WriteBatch::new().delete(REBUILDING).put(KNOWN, [])).await
}
