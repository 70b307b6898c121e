//! The templates' part of the index.
//!
//! `template/<account>/<id>` holds a record, `public/<id>` the owner of a template that every account may use,
//! `unfinished/<time>/<account>/<id>` stands for one that was begun then and is not saved,
//! `damaged/<account>/<id>` for one of which a rebuild found something lost, until it is saved again or deleted.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::record::TemplateRecord;
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TemplateId};
use crate::storage::index::{Entry, Index, IndexError, WriteBatch};
use crate::storage::{StorageKey, Upload, record};

/// The form of a template's record that this version reads and writes.
const RECORD_VERSION: u8 = 1;
const RECORDS: &str = "template/";
const PUBLIC: &str = "public/";
const UNFINISHED: &str = "unfinished/";
const DAMAGED: &str = "damaged/";
/// Entries looked at a time when all of them are.
const PAGE: usize = 1_000;

/// Reads the records of templates. Only the registry writes them, and a rebuild while no service runs.
#[derive(Clone)]
pub(in crate::templates) struct TemplateIndex {
    index: Arc<dyn Index>,
}

/// A record in a list, or the id of one that cannot be read.
pub(in crate::templates) type Listed = (TemplateId, Option<TemplateRecord>);

/// A template that was begun and not saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::templates) struct Unfinished {
    pub since: Timestamp,
    pub account: AccountId,
    pub template: TemplateId,
}

impl TemplateIndex {
    /// The templates of `index`.
    #[must_use]
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }

    /// The record of a template of `account`.
    ///
    /// # Errors
    /// When the index fails or the record cannot be read.
    pub(in crate::templates) async fn read(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<Option<TemplateRecord>, IndexError> {
        let key = record_key(account, id);
        let bytes = self.index.get(&key).await?;
        bytes.map(|bytes| record::decode(RECORD_VERSION, &key, &bytes)).transpose()
    }

    /// The same, and none where the record cannot be read.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::templates) async fn readable(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<Option<TemplateRecord>, IndexError> {
        let key = record_key(account, id);
        let bytes = self.index.get(&key).await?;
        Ok(bytes.and_then(|bytes| record::decode(RECORD_VERSION, &key, &bytes).ok()))
    }

    /// Whether there is a record, readable or not.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::templates) async fn has_record(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<bool, IndexError> {
        Ok(self.index.get(&record_key(account, id)).await?.is_some())
    }

    /// The record of a template that `account` may use: its own, or a public one.
    ///
    /// # Errors
    /// As for `read`.
    pub(in crate::templates) async fn usable(
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
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::templates) async fn newest(
        &self,
        account: AccountId,
        before: Option<TemplateId>,
        limit: usize,
    ) -> Result<Vec<Listed>, IndexError> {
        let before = before.map(|id| record_key(account, id));
        let prefix = format!("{RECORDS}{account}/");
        let page = self.index.scan_back(&prefix, before.as_deref(), limit).await?;
        // Many records take too long to read for a thread that actors share.
        let listed = spawn_blocking(move || page.iter().filter_map(listed).collect());
        listed.await.map_err(|error| IndexError::Failed(error.to_string()))
    }

    /// The entries of what was begun and is not saved, oldest first, behind `after`; at most `limit`.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::templates) async fn unfinished(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, IndexError> {
        let page = self.index.scan(UNFINISHED, after, limit).await?;
        Ok(page.into_iter().map(|entry| entry.key).collect())
    }

    /// Every template that is saved, as far as its record can be read.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::templates) async fn saved(&self) -> Result<Vec<(AccountId, TemplateId)>, IndexError> {
        let (mut saved, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.index.scan(RECORDS, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(saved) };
            after = Some(last.key.clone());
            let records = page.iter().filter_map(|entry| {
                record::decode::<TemplateRecord>(RECORD_VERSION, &entry.key, &entry.value).ok()
            });
            saved.extend(
                records.filter(|record| !record.unfinished).map(|record| (record.account, record.id)),
            );
        }
    }

    /// Whether a rebuild found something of the template lost: nothing of it is swept then.
    ///
    /// # Errors
    /// When the index fails.
    pub(in crate::templates) async fn is_damaged(
        &self,
        account: AccountId,
        id: TemplateId,
    ) -> Result<bool, IndexError> {
        Ok(self.index.get(&damaged_key(account, id)).await?.is_some())
    }
}

/// Removes, in portions, what `index` says of templates beside `kept`.
///
/// # Errors
/// When the index fails.
pub(in crate::templates) async fn keep_only(
    index: &dyn Index,
    kept: &HashSet<String>,
) -> Result<(), IndexError> {
    for prefix in [RECORDS, PUBLIC, UNFINISHED, DAMAGED] {
        let mut after: Option<String> = None;
        loop {
            let page = index.scan(prefix, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            let stale = page.into_iter().map(|entry| entry.key).filter(|key| !kept.contains(key));
            index.commit(stale.fold(WriteBatch::new(), WriteBatch::delete)).await?;
        }
    }
    Ok(())
}

/// The batch that writes a record and what stands for it.
///
/// # Errors
/// When the record cannot be written as bytes.
pub fn writing(record: &TemplateRecord) -> Result<WriteBatch, IndexError> {
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

/// The batch that says that something of a template is lost.
pub(in crate::templates) fn damaging(account: AccountId, id: TemplateId) -> WriteBatch {
    WriteBatch::new().put(damaged_key(account, id), [])
}

/// Whose an object is, and of which template; none for one that is no template's.
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

/// The batch that removes a record and what stands for it.
pub(in crate::templates) fn removing(record: &TemplateRecord) -> WriteBatch {
    let change = WriteBatch::new()
        .delete(record_key(record.account, record.id))
        .delete(public_key(record.id))
        .delete(Unfinished::of(record).key());
    // Parts of a saved template may lie beside one that is not saved, and are not what goes with that.
    if record.unfinished { change } else { change.delete(damaged_key(record.account, record.id)) }
}

/// The batch that removes a record that cannot be read, and what stands for it. When it was begun nobody knows: the entry
/// of one that was not saved goes when its time is over.
pub(in crate::templates) fn dropping(account: AccountId, id: TemplateId) -> WriteBatch {
    [record_key(account, id), public_key(id), damaged_key(account, id)]
        .into_iter()
        .fold(WriteBatch::new(), WriteBatch::delete)
}

impl Unfinished {
    fn of(record: &TemplateRecord) -> Self {
        Self { since: record.created_at, account: record.account, template: record.id }
    }

    /// The entry that stands for it.
    pub(in crate::templates) fn key(&self) -> String {
        format!("{UNFINISHED}{}/{}/{}", self.since.sortable(), self.account, self.template)
    }

    /// What an entry stands for.
    pub(in crate::templates) fn parse(key: &str) -> Option<Self> {
        let mut parts = key.strip_prefix(UNFINISHED)?.split('/');
        let since = Timestamp::parse(parts.next()?)?;
        Some(Self { since, account: parts.next()?.parse().ok()?, template: parts.next()?.parse().ok()? })
    }
}

/// One record that cannot be read must not hide the others from their owner.
fn listed(entry: &Entry) -> Option<Listed> {
    let id = entry.key.rsplit('/').next()?.parse().ok()?;
    let read = record::decode::<TemplateRecord>(RECORD_VERSION, &entry.key, &entry.value);
    let read = read.inspect_err(|error| tracing::error!(error = %error, "a list leaves a template out"));
    Some((id, read.ok()))
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
