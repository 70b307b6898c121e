//! A change of a template in three steps: new objects are written, one commit of the index names them, and the objects that
//! the index names no more are deleted. The commit is sent by `PendingChange::commit` and made by the registry's handler below.
//!
//! Hazard: the service may be killed at any moment, and a change may fail half-way. Every new object has a new id. So the index
//! names only old objects before the commit and only new ones after it, and all that it names are in the store; and a failed
//! change deletes only objects that no other change can have named. What is left over (new objects whose commit never came, old
//! ones that a kill kept from being deleted) is named by no record, and the garbage collector deletes it.
//!
//! Bytes are reserved in the account's quota before they are written: several changes at once could otherwise pass the check
//! one by one and exceed the quota together. The commit adds to the account's counter in the index what the new record counts
//! more than the replaced ones, or subtracts what it counts less.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix::prelude::*;
use bytes::Bytes;

use crate::domain::ids::{AccountId, ObjectId};
use crate::problem::Problem;
use crate::storage::index::WriteBatch;
use crate::storage::{
    ObjectStore, StorageKey, StorageReservation, StoreError, TemplatePart, delete_or_warn, deletion_log,
    quota,
};
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::index;
use crate::templates::registry::locks::TemplateLock;
use crate::templates::registry::messages::CommitChange;
use crate::templates::registry::record::TemplateRecord;
use crate::templates::registry::writer::TemplateWriter;

/// A change under way, with the objects that it has written. They are deleted where it is dropped before its commit.
pub(in crate::templates) struct PendingChange<'a> {
    writer: &'a TemplateWriter,
    lock: TemplateLock,
    written: Vec<StorageKey>,
    sizes: BTreeMap<ObjectId, u64>,
    reservation: StorageReservation,
    /// The error of a copied object that exceeded the account's quota. It is kept for the commit: [`copy`](Self::copy) reports
    /// errors of the store only, which its callers repeat or translate.
    refusal: Option<Problem>,
}

impl<'a> PendingChange<'a> {
    /// A change of templates of `account` under their `lock`, which has written nothing. It may use the bytes of `replaced`
    /// beyond the quota, since it deletes most of them.
    pub fn begin(
        writer: &'a TemplateWriter,
        lock: TemplateLock,
        account: AccountId,
        replaced: &[&TemplateRecord],
    ) -> Self {
        Self::continue_with(writer, lock, writer.context.quota.begin(account).replacing(count(replaced)))
    }

    /// A change whose bytes so far are counted in `reservation`.
    pub fn continue_with(
        writer: &'a TemplateWriter,
        lock: TemplateLock,
        reservation: StorageReservation,
    ) -> Self {
        Self { writer, lock, written: Vec::new(), sizes: BTreeMap::new(), reservation, refusal: None }
    }

    /// Writes a new object.
    ///
    /// # Errors
    /// `storage_exceeded`, or when the store fails.
    pub async fn put(&mut self, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
        self.reservation.grow(bytes.len() as u64)?;
        self.note_size(&key, bytes.len() as u64);
        self.written.push(key);
        self.writer.context.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
    }

    /// Writes a new object with the content of another one. Where the quota has no room for it, the commit fails.
    pub async fn copy(&mut self, from: &StorageKey, key: StorageKey) -> Result<(), StoreError> {
        self.written.push(key);
        let bytes = self.writer.context.store.copy(from, &key).await?.bytes;
        self.note_size(&key, bytes);
        if let Err(problem) = self.reservation.grow(bytes) {
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

    /// Writes `record` and deletes the records of `replaced` that have another id, in one commit. When this answers, the
    /// commit is durable and `obsolete_keys` are deleted, in this order; those that could not be deleted are in the deletion
    /// log.
    ///
    /// # Errors
    /// `storage_exceeded`, or when the index fails.
    pub async fn commit(
        mut self,
        replaced: &[&TemplateRecord],
        mut record: TemplateRecord,
        obsolete_keys: Vec<StorageKey>,
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
        let bytes = (count(replaced), record.stored_bytes());
        self.send_to_registry(record.account, batch, bytes, obsolete_keys).await
    }

    /// Commits that a template is removed; `obsolete_keys` as for [`commit`](Self::commit).
    pub async fn remove(
        self,
        record: &TemplateRecord,
        obsolete_keys: Vec<StorageKey>,
    ) -> Result<(), Problem> {
        let (batch, bytes) = (index::delete_record(record), (record.stored_bytes(), 0));
        self.send_to_registry(record.account, batch, bytes, obsolete_keys).await
    }

    async fn send_to_registry(
        mut self,
        account: AccountId,
        batch: WriteBatch,
        (before, after): (u64, u64),
        obsolete_keys: Vec<StorageKey>,
    ) -> Result<(), Problem> {
        // The reservation so far counts all bytes that were written, and allows for those that are replaced. From the commit
        // on the account stores only the difference more, so only that is reserved for it.
        self.reservation = self.writer.context.quota.begin(account);
        self.reservation.grow(after.saturating_sub(before))?;
        let reservation = std::mem::replace(&mut self.reservation, self.writer.context.quota.begin(account));
        // Hazard: an index that answers an error may have written the batch all the same. Were the new objects deleted now, the
        // record would name objects that are not there. So they are left to the garbage collector, which reads the record.
        self.written.clear();
        let (lock, bytes_before_after) = (self.lock.clone(), (before, after));
        let change = CommitChange { account, lock, batch, bytes_before_after, reservation, obsolete_keys };
        self.writer.commit(change).await
    }
}

/// The commit itself: batch and deletion log in one write, then the deletions, then the cache. The work needs nothing but
/// shared parts and could be done by the sender. It is a message for two reasons: only the registry has the index to write,
/// and it finishes the work under the lock even where the sender is dropped half-way (the garbage collector, when the service
/// stops).
impl Handler<CommitChange> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CommitChange, _: &mut Self::Context) -> Self::Result {
        let CommitChange { account, lock, batch, bytes_before_after, reservation, obsolete_keys } = message;
        let (before, after) = bytes_before_after;
        let (index, context) = (Arc::clone(&self.index), Arc::clone(&self.context));
        // Not awaited by the actor: commits of different templates run at the same time, and the index syncs them together.
        Box::pin(async move {
            let log_id = ObjectId::generate().0;
            let mut batch = batch.and(deletion_log::log_entry(log_id, &obsolete_keys));
            if before != after {
                let delta = quota::signed(after).saturating_sub(quota::signed(before));
                batch = batch.add(quota::counter(account), delta);
            }
            index.commit(batch).await?;
            reservation.keep(before.saturating_sub(after));
            let packages: Vec<_> = obsolete_keys.iter().filter_map(package_of).collect();
            if !obsolete_keys.is_empty() {
                deletion_log::clear(index.as_ref(), context.store.as_ref(), &[(log_id, obsolete_keys)]).await;
            }
            // Only now: until the objects were deleted, a render that had read the former record could load its package and put
            // it into the cache again, where it would stay although no template names it.
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

/// Deletes the objects of a change, the last one first: that is the info object, and without it no rebuild of the index takes
/// the others for a template.
async fn delete(store: Arc<dyn ObjectStore>, keys: Vec<StorageKey>) {
    let keys: Vec<_> = keys.into_iter().rev().collect();
    let consequence = "objects of a change that was broken off stay behind until they are swept";
    delete_or_warn(store.as_ref(), &keys, consequence).await;
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
