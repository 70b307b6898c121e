//! A change of a template: new objects first, then one commit that names them, then those go that it names no more.
//!
//! Each new object has an id that nothing had before, so that what a failed change takes away again is never what
//! a later one relies on. Whatever moment the service is killed at, the index names the old objects or the new ones, and all of them are
//! there. New objects that no commit names, and old ones that a crash kept from going, are swept.

use std::sync::Arc;

use bytes::Bytes;

use super::deps::Deps;
use crate::domain::ids::ObjectId;
use crate::problem::Problem;
use crate::storage::index::Change;
use crate::storage::{ObjectStore, StorageKey, StoreError, TemplatePart, leftovers};

/// The objects of a change under way; dropped before its commit, they go.
pub(super) struct Changing<'a> {
    deps: &'a Deps,
    written: Vec<StorageKey>,
}

impl<'a> Changing<'a> {
    /// A change that has written nothing.
    pub fn begin(deps: &'a Deps) -> Self {
        Self { deps, written: Vec::new() }
    }

    /// Writes a new object.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn put(&mut self, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
        self.written.push(key);
        self.deps.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
    }

    /// Writes a new object with the content of another one.
    ///
    /// # Errors
    /// As the store says it.
    pub async fn copy(&mut self, from: &StorageKey, key: StorageKey) -> Result<(), StoreError> {
        self.written.push(key);
        self.deps.store.copy(from, &key).await.map(drop)
    }

    /// Makes the change: it is durable when this answers, and `gone` is deleted, in this order.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn commit(mut self, change: Change, gone: Vec<StorageKey>) -> Result<(), Problem> {
        // A commit that fails may have happened all the same: the sweep finds out.
        self.written.clear();
        let (deps, mark) = (self.deps, ObjectId::generate().0);
        let change = change.and(leftovers::mark(mark, &gone));
        deps.index.commit(change).await.map_err(Problem::internal)?;
        let packages: Vec<_> = gone.iter().filter_map(package_of).collect();
        if !gone.is_empty() {
            leftovers::clear(deps.index.index(), deps.store.as_ref(), &[(mark, gone)]).await;
        }
        // Not before: who had the former record may have loaded it until then.
        deps.cache.forget(packages);
        Ok(())
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let (written, store) = (std::mem::take(&mut self.written), Arc::clone(&self.deps.store));
        if !written.is_empty() {
            actix::spawn(delete(store, written));
        }
    }
}

/// The last one first: it tells of all others, and without it nothing can be made of them.
async fn delete(store: Arc<dyn ObjectStore>, keys: Vec<StorageKey>) {
    let keys: Vec<_> = keys.into_iter().rev().collect();
    if let Err(error) = store.delete_all(&keys).await {
        tracing::warn!(error = %error, "objects of a change that was broken off stay behind until they are swept");
    }
}

/// The package that lies under the key, if one does.
fn package_of(key: &StorageKey) -> Option<ObjectId> {
    match key {
        StorageKey::UnfinishedPackage(_, _, object)
        | StorageKey::Template(_, _, object, TemplatePart::Package) => Some(*object),
        StorageKey::Template(..)
        | StorageKey::TemplateUpload(..)
        | StorageKey::JobData(..)
        | StorageKey::JobTemplate(..)
        | StorageKey::JobOutput(..)
        | StorageKey::Upload(..)
        | StorageKey::Probe(_) => None,
    }
}
