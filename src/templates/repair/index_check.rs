//! Whether a service may go by what the index says of templates: it was made whole, and it belongs to the store.
//!
//! What no record names is deleted in time. So an index that was lost and begun anew must never be taken for one
//! that knows the store: the service would delete every saved template.

use crate::storage::index::{Index, IndexError, WriteBatch};
use crate::storage::{Folder, ObjectStore, StoreError};

/// It is there while a rebuild is under way, or was broken off.
const MARK: &str = "rebuilding/templates";
/// It is there once the index has met the store: what such an index does not name was never saved, or is gone.
const KNOWN: &str = "known/templates";
/// What the records of templates begin with.
const RECORDS: &str = "template/";

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
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
    HalfWay,
    /// The index was begun anew beside a store that is not new.
    #[error(
        "the index is new and knows nothing of the templates saved in the store, which would be swept as nobody's: \
         if there is a backup, restore the index from it (jobs, accounts and tokens are nowhere else); then, with or \
         without one, run `platen index rebuild`, and start again"
    )]
    Stranger,
}

/// Lets a service start on `index` and `store`, or does not. What was not known to belong together, and is new as a
/// whole, is from now on. Objects of jobs, and of templates that are not saved, stop no start.
///
/// # Errors
/// See [`TrustError`].
pub async fn check(index: &dyn Index, store: &dyn ObjectStore) -> Result<(), TrustError> {
    if index.get(MARK).await?.is_some() {
        return Err(TrustError::HalfWay);
    }
    if index.get(KNOWN).await?.is_some() {
        return Ok(());
    }
    if !is_trusted(index).await? && !store.list(Folder::Templates, None, 1).await?.is_empty() {
        return Err(TrustError::Stranger);
    }
    Ok(index.commit(WriteBatch::new().put(KNOWN, [])).await?)
}

/// Whether what the index does not name is nobody's. An index without the entry that says so, but with records of
/// templates, was used by a service that did not write it.
pub(in crate::templates) async fn is_trusted(index: &dyn Index) -> Result<bool, IndexError> {
    if index.get(KNOWN).await?.is_some() {
        return Ok(true);
    }
    // The records may be those that a rebuild has got to.
    Ok(index.get(MARK).await?.is_none() && !index.scan(RECORDS, None, 1).await?.is_empty())
}

/// From now on no service starts until a rebuild has ended.
///
/// # Errors
/// When the index fails.
pub async fn begin(index: &dyn Index) -> Result<(), IndexError> {
    // Once there is the mark, records alone say nothing any more.
    let change = WriteBatch::new().put(MARK, []);
    index.commit(if is_trusted(index).await? { change.put(KNOWN, []) } else { change }).await
}

/// A rebuild has ended.
pub(in crate::templates) async fn end(index: &dyn Index) -> Result<(), IndexError> {
    index.commit(WriteBatch::new().delete(MARK).put(KNOWN, [])).await
}
