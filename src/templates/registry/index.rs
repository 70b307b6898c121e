//! The templates' part of the index: how it is read, and the batches that change it.
//!
//! | Key | What it holds |
//! |---|---|
//! | `template/<account>/<id>` | a record |
//! | `public/<id>` | the owner of a template that every account may use |
//! | `unfinished/<time>/<account>/<id>` | nothing: the template was begun then and is not saved |
//! | `damaged/<account>/<id>` | nothing: a rebuild found a part of it lost, and it is not saved again or deleted since |

use std::collections::HashSet;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::record::TemplateRecord;
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TemplateId};
use crate::storage::index::{Entry, Index, IndexError, Pages, WriteBatch};
use crate::storage::{StorageKey, Upload, record};

/// The form of a template's record that this version reads and writes.
const RECORD_VERSION: u8 = 1;
pub(in crate::templates) const RECORDS: &str = "template/";
const PUBLIC: &str = "public/";
const UNFINISHED: &str = "unfinished/";
const DAMAGED: &str = "damaged/";

/// Reads the records of templates. Only the registry writes them, and a rebuild while no service runs.
#[derive(Clone)]
pub(in crate::templates) struct TemplateIndex {
    index: Arc<dyn Index>,
}

/// A record of a list; only the id of one that cannot be read.
pub(in crate::templates) type Listed = (TemplateId, Option<TemplateRecord>);

/// A template that was begun and not saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::templates) struct Unfinished {
    pub since: Timestamp,
    pub account: AccountId,
    pub template: TemplateId,
}

impl TemplateIndex {
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }

    /// The record of a template of `account`. One that cannot be read is an error, as an index that fails.
    pub async fn read(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<Option<TemplateRecord>, IndexError> {
        self.stored(account, id).await?.map(|entry| decoded(&entry)).transpose()
    }

    /// The same; `None` also where the record cannot be read.
    pub async fn read_if_readable(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<Option<TemplateRecord>, IndexError> {
        Ok(self.stored(account, id).await?.and_then(|entry| decoded(&entry).ok()))
    }

    /// The record's entry, readable or not.
    pub async fn stored(&self, account: AccountId, id: TemplateId) -> Result<Option<Entry>, IndexError> {
        let key = record_key(account, id);
        Ok(self.index.get(&key).await?.map(|value| Entry { key, value }))
    }

    /// The record of a template that `account` may use: its own, or a public one.
    pub async fn usable(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<Option<TemplateRecord>, IndexError> {
        if let Some(record) = self.read(account, id).await? {
            return Ok(Some(record));
        }
        let owner = self.index.get(&public_key(id)).await?;
        let owner = owner.and_then(|owner| std::str::from_utf8(&owner).ok()?.parse().ok());
        let Some(owner) = owner else { return Ok(None) };
        Ok(self.read(owner, id).await?.filter(TemplateRecord::is_public))
    }

    /// The newest templates of `account` begun before `before`; at most `limit`.
    pub async fn newest(
        &self,
        account: AccountId,
        before: Option<TemplateId>,
        limit: usize,
    ) -> Result<Vec<Listed>, IndexError> {
        let before = before.map(|id| record_key(account, id));
        let prefix = format!("{RECORDS}{account}/");
        let page = self.index.scan_back(&prefix, before.as_deref(), limit).await?;
        // Decoding many records takes too long for a thread that others share.
        let listed = spawn_blocking(move || page.iter().filter_map(listed).collect());
        listed.await.map_err(|error| IndexError::Failed(error.to_string()))
    }

    /// The entries of what was begun and is not saved, the oldest first, from behind `after`; at most `limit`.
    pub async fn unfinished(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, IndexError> {
        let page = self.index.scan(UNFINISHED, after, limit).await?;
        Ok(page.into_iter().map(|entry| entry.key).collect())
    }

    /// Every template that is saved and whose record can be read.
    pub async fn saved(&self) -> Result<Vec<(AccountId, TemplateId)>, IndexError> {
        let (mut saved, mut pages) = (Vec::new(), Pages::of(self.index.as_ref(), RECORDS));
        while let Some(page) = pages.next().await? {
            let records = page.iter().filter_map(|entry| decoded(entry).ok());
            saved.extend(
                records.filter(|record| !record.unfinished).map(|record| (record.account, record.id)),
            );
        }
        Ok(saved)
    }

    /// Whether a rebuild found something of the template lost: the garbage collector deletes nothing of it then.
    pub async fn is_damaged(&self, account: AccountId, id: TemplateId) -> Result<bool, IndexError> {
        Ok(self.index.get(&damaged_key(account, id)).await?.is_some())
    }
}

/// Removes, page by page, the entries of templates whose keys are not `kept`.
pub(in crate::templates) async fn keep_only(
    index: &dyn Index,
    kept: &HashSet<String>,
) -> Result<(), IndexError> {
    for prefix in [RECORDS, PUBLIC, UNFINISHED, DAMAGED] {
        let mut pages = Pages::of(index, prefix);
        while let Some(page) = pages.next().await? {
            let stale = page.into_iter().map(|entry| entry.key).filter(|key| !kept.contains(key));
            let batch = stale.fold(WriteBatch::new(), WriteBatch::delete);
            if !batch.is_empty() {
                index.commit(batch).await?;
            }
        }
    }
    Ok(())
}

/// The batch that writes a record and the entries that belong to it. That of a saved template removes its entry of damage.
///
/// # Errors
/// When the record cannot be written as bytes.
pub fn put_record(record: &TemplateRecord) -> Result<WriteBatch, IndexError> {
    let change =
        WriteBatch::new().put(record_key(record.account, record.id), record::encode(RECORD_VERSION, record)?);
    let change = if record.is_public() {
        change.put(public_key(record.id), record.account.to_string())
    } else {
        change.delete(public_key(record.id))
    };
    let unfinished = Unfinished::of(record).key();
    Ok(if record.unfinished {
        change.put(unfinished, [])
    } else {
        change.delete(unfinished).delete(damaged_key(record.account, record.id))
    })
}

/// The batch that marks a template of which something is lost, so that the garbage collector deletes none of its objects.
pub(in crate::templates) fn mark_damaged(account: AccountId, id: TemplateId) -> WriteBatch {
    WriteBatch::new().put(damaged_key(account, id), [])
}

/// The account and the template that an object belongs to; none for an object of a job.
pub(in crate::templates) fn owner(key: &StorageKey) -> Option<(AccountId, TemplateId)> {
    match *key {
        StorageKey::TemplateUpload(account, template)
        | StorageKey::Upload(account, Upload::Content(template))
        | StorageKey::UnfinishedPackage(account, template, _)
        | StorageKey::Template(account, template, ..) => Some((account, template)),
        StorageKey::JobData(..)
        | StorageKey::JobTemplate(..)
        | StorageKey::JobSecret(..)
        | StorageKey::JobOutput(..)
        | StorageKey::Upload(_, Upload::Data(_) | Upload::Template(_))
        | StorageKey::Probe(_) => None,
    }
}

/// The batch that removes a record and the entries that belong to it.
pub(in crate::templates) fn delete_record(record: &TemplateRecord) -> WriteBatch {
    let change = WriteBatch::new()
        .delete(record_key(record.account, record.id))
        .delete(public_key(record.id))
        .delete(Unfinished::of(record).key());
    // A rebuild may make a draft of a damaged template: the saved parts beside it stay when the draft is removed.
    if record.unfinished { change } else { change.delete(damaged_key(record.account, record.id)) }
}

/// The batch that removes a record that cannot be read, and the entries that belong to it, but for that of an unfinished
/// template: its key has a time that only the record knows. The sweep removes it when that time is over.
pub(in crate::templates) fn delete_unreadable(account: AccountId, id: TemplateId) -> WriteBatch {
    [record_key(account, id), public_key(id), damaged_key(account, id)]
        .into_iter()
        .fold(WriteBatch::new(), WriteBatch::delete)
}

impl Unfinished {
    fn of(record: &TemplateRecord) -> Self {
        Self { since: record.created_at, account: record.account, template: record.id }
    }

    pub(in crate::templates) fn key(&self) -> String {
        format!("{UNFINISHED}{}/{}/{}", self.since.sortable(), self.account, self.template)
    }

    /// The template whose entry has this key.
    pub(in crate::templates) fn parse(key: &str) -> Option<Self> {
        let mut parts = key.strip_prefix(UNFINISHED)?.split('/');
        let since = Timestamp::parse(parts.next()?)?;
        Some(Self { since, account: parts.next()?.parse().ok()?, template: parts.next()?.parse().ok()? })
    }
}

/// A record of a list. One that cannot be read is reported and left out: it must not hide the others from their owner.
fn listed(entry: &Entry) -> Option<Listed> {
    let id = entry.key.rsplit('/').next()?.parse().ok()?;
    let read =
        decoded(entry).inspect_err(|error| tracing::error!(error = %error, "a list leaves a template out"));
    Some((id, read.ok()))
}

fn decoded(entry: &Entry) -> Result<TemplateRecord, IndexError> {
    record::decode(RECORD_VERSION, &entry.key, &entry.value)
}

fn record_key(account: AccountId, id: TemplateId) -> String {
    format!("{RECORDS}{account}/{id}")
}

fn damaged_key(account: AccountId, id: TemplateId) -> String {
    format!("{DAMAGED}{account}/{id}")
}

fn public_key(id: TemplateId) -> String {
    format!("{PUBLIC}{id}")
}
