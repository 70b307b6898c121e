//! A change of a template in three steps: new objects are written, one commit names them, and the objects that it names
//! no more are deleted.
//!
//! Hazard: a kill at any moment, and a change that fails half-way. Each new object has an id that nothing had before, so
//! whenever the service is killed the index names the old objects or the new ones, and all of them are there; and what a
//! failed change deletes again is never what a later one relies on. New objects that no commit names, and old ones that a
//! kill kept from being deleted, are swept.
//!
//! What is written counts in the account's quota before it is written, so that several changes at once cannot exceed it
//! together. The counter in the index moves in the commit, by what the record counts more or less than those before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix::prelude::*;
use bytes::Bytes;

use crate::domain::ids::{AccountId, ObjectId};
use crate::problem::Problem;
use crate::storage::index::WriteBatch;
use crate::storage::{
    ObjectStore, StorageKey, StorageReservation, StoreError, TemplatePart, deletion_log, quota,
};
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::index;
use crate::templates::registry::locks::TemplateLock;
use crate::templates::registry::messages::CommitChange;
use crate::templates::registry::record::TemplateRecord;
use crate::templates::registry::writer::TemplateWriter;

/// The objects of a change under way. Dropped before its commit, they are deleted.
pub(in crate::templates) struct PendingChange<'a> {
    writer: &'a TemplateWriter,
    lock: TemplateLock,
    written: Vec<StorageKey>,
    sizes: BTreeMap<ObjectId, u64>,
    stored: StorageReservation,
    /// The account's quota had no room for what was copied.
    refusal: Option<Problem>,
}

impl<'a> PendingChange<'a> {
    /// A change of templates of `account` under their `lock`, which has written nothing. The bytes of `replaced` are
    /// free for it, since it deletes most of them.
    pub fn begin(
        writer: &'a TemplateWriter,
        lock: TemplateLock,
        account: AccountId,
        replaced: &[&TemplateRecord],
    ) -> Self {
        Self::with(writer, lock, writer.context.quota.begin(account).replacing(count(replaced)))
    }

    /// A change whose bytes so far are counted in `stored`.
    pub fn with(writer: &'a TemplateWriter, lock: TemplateLock, stored: StorageReservation) -> Self {
        Self { writer, lock, written: Vec::new(), sizes: BTreeMap::new(), stored, refusal: None }
    }

    /// Writes a new object.
    ///
    /// # Errors
    /// `storage_exceeded`, or when the store fails.
    pub async fn put(&mut self, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
        self.stored.grow(bytes.len() as u64)?;
        self.note_size(&key, bytes.len() as u64);
        self.written.push(key);
        self.writer.context.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
    }

    /// Writes a new object with the content of another one. Where the quota has no room for it, the commit fails.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn copy(&mut self, from: &StorageKey, key: StorageKey) -> Result<(), StoreError> {
        self.written.push(key);
        let bytes = self.writer.context.store.copy(from, &key).await?.bytes;
        self.note_size(&key, bytes);
        if let Err(problem) = self.stored.grow(bytes) {
            self.refusal.get_or_insert(problem);
        }
        Ok(())
    }

    fn note_size(&mut self, key: &StorageKey, bytes: u64) {
        if let StorageKey::Template(_, _, object, _) | StorageKey::UnfinishedPackage(_, _, object) = key {
            self.sizes.insert(*object, bytes);
        }
    }

    /// Writes into the record how large the objects are that it names; one that is not written yet has no size.
    pub fn fill_in_sizes(&self, replaced: &[&TemplateRecord], record: &mut TemplateRecord) {
        let known = |object: &ObjectId| {
            let before = || replaced.iter().find_map(|record| record.sizes.get(object));
            self.sizes.get(object).or_else(before).copied()
        };
        record.sizes =
            record.object_keys().filter_map(|(object, _)| Some((object, known(&object)?))).collect();
    }

    /// Commits `record` in place of `replaced`, of which those with another id are removed. It is durable when this answers;
    /// then `gone` is deleted, in this order.
    ///
    /// # Errors
    /// `storage_exceeded`, or when the index fails.
    pub async fn commit(
        mut self,
        replaced: &[&TemplateRecord],
        mut record: TemplateRecord,
        gone: Vec<StorageKey>,
    ) -> Result<(), Problem> {
        if let Some(refusal) = self.refusal.take() {
            return Err(refusal);
        }
        self.fill_in_sizes(replaced, &mut record);
        record.look_up_sizes(self.writer.context.store.as_ref()).await?;
        record.counted = true;
        let mut batch = index::put_record(&record).map_err(Problem::internal)?;
        for removed in replaced.iter().filter(|removed| removed.id != record.id) {
            batch = batch.and(index::delete_record(removed));
        }
        self.send(batch, (record.account, count(replaced), record.stored_bytes()), gone).await
    }

    /// Commits that a template is removed. It is durable when this answers; then `gone` is deleted, in this order.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn remove(self, record: &TemplateRecord, gone: Vec<StorageKey>) -> Result<(), Problem> {
        self.send(index::delete_record(record), (record.account, record.stored_bytes(), 0), gone).await
    }

    async fn send(
        mut self,
        batch: WriteBatch,
        (account, before, after): (AccountId, u64, u64),
        gone: Vec<StorageKey>,
    ) -> Result<(), Problem> {
        // So far the change could use the bytes that it replaces; the commit reserves what the account stores more than
        // before.
        self.stored = self.writer.context.quota.begin(account);
        self.stored.grow(after.saturating_sub(before))?;
        let reserved = std::mem::replace(&mut self.stored, self.writer.context.quota.begin(account));
        // A commit that is answered with an error may have been written all the same, so its objects are left to the sweep.
        self.written.clear();
        let (lock, stored) = (self.lock.clone(), (before, after));
        self.writer.commit(CommitChange { account, lock, batch, stored, reserved, gone }).await
    }
}

impl Handler<CommitChange> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CommitChange, _: &mut Self::Context) -> Self::Result {
        let CommitChange { account, lock, batch, stored: (before, after), reserved, gone } = message;
        let (index, context) = (Arc::clone(&self.index), Arc::clone(&self.context));
        // Commits of different templates run at the same time, so that the index syncs them together.
        Box::pin(async move {
            let mark = ObjectId::generate().0;
            let mut batch = batch.and(deletion_log::mark(mark, &gone));
            if before != after {
                let delta = quota::signed(after).saturating_sub(quota::signed(before));
                batch = batch.add(quota::counter(account), delta);
            }
            index.commit(batch).await?;
            reserved.keep(before.saturating_sub(after));
            let packages: Vec<_> = gone.iter().filter_map(package_of).collect();
            if !gone.is_empty() {
                deletion_log::clear(index.as_ref(), context.store.as_ref(), &[(mark, gone)]).await;
            }
            // Only now: a render that read the former record may have put its package into the cache until its object was gone.
            context.cache.forget(packages);
            drop(lock);
            Ok(())
        })
    }
}

fn count(replaced: &[&TemplateRecord]) -> u64 {
    replaced.iter().map(|record| record.stored_bytes()).sum()
}

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        let (written, store) = (std::mem::take(&mut self.written), Arc::clone(&self.writer.context.store));
        if !written.is_empty() {
            actix::spawn(delete(store, written));
        }
    }
}

/// The last one is deleted first: it is the info object, and without it no rebuild takes the others for a template.
async fn delete(store: Arc<dyn ObjectStore>, keys: Vec<StorageKey>) {
    let keys: Vec<_> = keys.into_iter().rev().collect();
    if let Err(error) = store.delete_all(&keys).await
        && !error.is_held()
    {
        tracing::warn!(error = %error, "objects of a change that was broken off stay behind until they are swept");
    }
}

/// The package that the key names, if it names one.
fn package_of(key: &StorageKey) -> Option<ObjectId> {
    if let StorageKey::UnfinishedPackage(_, _, object)
    | StorageKey::Template(_, _, object, TemplatePart::Package) = key
    {
        return Some(*object);
    }
    None
}
