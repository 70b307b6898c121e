//! A change of a template: new objects first, then one commit that names them, then those go that it names no more.
//!
//! Each new object has an id that nothing had before, so that what a failed change takes away again is never what
//! a later one relies on. Whatever moment the service is killed at, the index names the old objects or the new ones, and all of them are
//! there. New objects that no commit names, and old ones that a crash kept from going, are swept.
//!
//! What is written counts in the account's storage before it is, so that changes at the same moment have no more room
//! than one; in the commit the counter moves by what the record counts more or less than those before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::domain::ids::{AccountId, ObjectId};
use crate::problem::Problem;
use crate::storage::index::WriteBatch;
use crate::storage::{ObjectStore, StorageKey, StoreError, StoredBytes, TemplatePart, deletion_log, quota};
use crate::templates::registry::context::Deps;
use crate::templates::registry::index;
use crate::templates::registry::record::TemplateRecord;

/// The objects of a change under way; dropped before its commit, they go.
pub(in crate::templates) struct Changing<'a> {
    deps: &'a Deps,
    written: Vec<StorageKey>,
    sizes: BTreeMap<ObjectId, u64>,
    stored: StoredBytes,
    /// There was no room for what was copied.
    refusal: Option<Problem>,
}

/// The states before a change; nothing, where the template is new.
pub(in crate::templates) type Formers<'a> = &'a [&'a TemplateRecord];

impl<'a> Changing<'a> {
    /// A change of templates of `account` that has written nothing. What `formers` count is free for it: most of it goes.
    pub fn begin(deps: &'a Deps, account: AccountId, formers: Formers<'_>) -> Self {
        Self::with(deps, deps.quota.begin(account).replacing(count(formers)))
    }

    /// A change to which belongs what counts in `stored`.
    pub fn with(deps: &'a Deps, stored: StoredBytes) -> Self {
        Self { deps, written: Vec::new(), sizes: BTreeMap::new(), stored, refusal: None }
    }

    /// Writes a new object.
    ///
    /// # Errors
    /// `storage_exceeded`, or when the store fails.
    pub async fn put(&mut self, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
        self.stored.grow(bytes.len() as u64)?;
        self.measured(&key, bytes.len() as u64);
        self.written.push(key);
        self.deps.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
    }

    /// Writes a new object with the content of another one. That there is no room for it is answered by the commit.
    ///
    /// # Errors
    /// As the store says it.
    pub async fn copy(&mut self, from: &StorageKey, key: StorageKey) -> Result<(), StoreError> {
        self.written.push(key);
        let bytes = self.deps.store.copy(from, &key).await?.bytes;
        self.measured(&key, bytes);
        if let Err(problem) = self.stored.grow(bytes) {
            self.refusal.get_or_insert(problem);
        }
        Ok(())
    }

    fn measured(&mut self, key: &StorageKey, bytes: u64) {
        if let StorageKey::Template(_, _, object, _) | StorageKey::UnfinishedPackage(_, _, object) = key {
            self.sizes.insert(*object, bytes);
        }
    }

    /// Says in the record how large the objects are that it names; one that is not written yet has no size.
    pub fn measure(&self, formers: Formers<'_>, record: &mut TemplateRecord) {
        let known = |object: &ObjectId| {
            let before = || formers.iter().find_map(|former| former.sizes.get(object));
            self.sizes.get(object).or_else(before).copied()
        };
        record.sizes = record.object_ids().filter_map(|object| Some((object, known(&object)?))).collect();
    }

    /// Makes `record` what there is instead of `formers`, of which others than itself are no more: it is durable when
    /// this answers, and `gone` is deleted, in this order.
    ///
    /// # Errors
    /// `storage_exceeded`, or when the index fails.
    pub async fn commit(
        mut self,
        formers: Formers<'_>,
        mut record: TemplateRecord,
        gone: Vec<StorageKey>,
    ) -> Result<(), Problem> {
        if let Some(refusal) = self.refusal.take() {
            return Err(refusal);
        }
        self.measure(formers, &mut record);
        record.look_up_sizes(self.deps.store.as_ref()).await?;
        record.counted = true;
        let mut change = index::writing(&record).map_err(Problem::internal)?;
        for used_up in formers.iter().filter(|former| former.id != record.id) {
            change = change.and(index::removing(used_up));
        }
        self.make(change, (record.account, count(formers), record.stored_bytes()), gone).await
    }

    /// Removes a template: that is durable when this answers, and `gone` is deleted, in this order.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn remove(self, record: &TemplateRecord, gone: Vec<StorageKey>) -> Result<(), Problem> {
        self.make(index::removing(record), (record.account, record.stored_bytes(), 0), gone).await
    }

    async fn make(
        mut self,
        change: WriteBatch,
        (account, before, after): (AccountId, u64, u64),
        gone: Vec<StorageKey>,
    ) -> Result<(), Problem> {
        // What it wrote had the room of what it replaces; what it leaves has none but its own.
        self.stored = self.deps.quota.begin(account);
        self.stored.grow(after.saturating_sub(before))?;
        let delta = quota::signed(after).saturating_sub(quota::signed(before));
        // A commit that fails may have happened all the same: the sweep finds out.
        self.written.clear();
        let (deps, mark) = (self.deps, ObjectId::generate().0);
        let change = change.and(deletion_log::mark(mark, &gone)).add(quota::counter(account), delta);
        deps.index.commit(change).await?;
        std::mem::replace(&mut self.stored, deps.quota.begin(account)).keep(before.saturating_sub(after));
        let packages: Vec<_> = gone.iter().filter_map(package_of).collect();
        if !gone.is_empty() {
            deletion_log::clear(deps.index.index(), deps.store.as_ref(), &[(mark, gone)]).await;
        }
        // Not before: who had the former record may have loaded it until then.
        deps.cache.forget(packages);
        Ok(())
    }
}

fn count(formers: Formers<'_>) -> u64 {
    formers.iter().map(|former| former.stored_bytes()).sum()
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
    if let Err(error) = store.delete_all(&keys).await
        && !error.is_held()
    {
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
        | StorageKey::JobSecret(..)
        | StorageKey::JobOutput(..)
        | StorageKey::Upload(..)
        | StorageKey::Probe(_) => None,
    }
}
