//! Rebuilds the templates' part of the index from the store.
//!
//! A saved template comes back from its newest info object all of whose objects are there, one that is not saved from its
//! archive, or from its upload. Nothing in the store is changed, and no template is worse off than before: a record whose
//! files are there stays, whatever else is lost.
//!
//! Hazard: the garbage collector deletes what no record names. So a template of which something is lost gets an entry
//! (`damaged/…`) that keeps the garbage collector from all of its objects until an operator has looked at it. And from the
//! first write to the last the index has the entry `rebuilding/…`: a service does not start on half a rebuild, and another
//! rebuild does all of it again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::index_check;
use crate::domain::ids::{AccountId, ObjectId, TemplateId};
use crate::problem::Problem;
use crate::storage::index::{Index, IndexError, WriteBatch};
use crate::storage::{
    Folder, ObjectStore, StorageKey, StoreError, TemplatePart, deletion_log, quota, size_of,
};
use crate::templates::package::Package;
use crate::templates::registry::index::{self, TemplateIndex};
use crate::templates::registry::info_object::InfoObject;
use crate::templates::registry::record::{Content, TemplateRecord};
use crate::thread;

/// Templates written at a time.
const PORTION: usize = 500;

/// Why the index was not made anew.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store cannot be listed.
    #[error("{0}. Look at the disk of the store, then run `platen index rebuild` again")]
    Store(#[from] StoreError),
}

/// What a rebuild found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Saved templates.
    pub saved: u64,
    /// Templates that were begun and not saved.
    pub unfinished: u64,
    /// Templates of which something is lost or cannot be read; some are counted among the others as well.
    pub damaged: Vec<Damaged>,
    /// How many templates each account has.
    pub owners: BTreeMap<AccountId, u64>,
}

/// A template of which something is lost or cannot be read. What is left of it stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Whose.
    pub account: AccountId,
    /// Which template.
    pub template: TemplateId,
    /// What is wrong with it, and the remedy.
    pub cause: String,
}

/// The objects of one template that are in the store.
#[derive(Debug, Default)]
struct TemplateObjects {
    objects: HashSet<StorageKey>,
    infos: Vec<ObjectId>,
    packages: Vec<ObjectId>,
    has_upload: bool,
}

type TemplateKey = (AccountId, TemplateId);
type Templates = BTreeMap<TemplateKey, TemplateObjects>;

/// What can be made of a template.
#[derive(Debug, Default)]
struct Recovered {
    record: Option<TemplateRecord>,
    /// Why it is damaged, if it is.
    damage: Option<String>,
}

/// A rebuild under way.
struct Rebuild {
    index: Arc<dyn Index>,
    templates: TemplateIndex,
    store: Arc<dyn ObjectStore>,
    /// Whether the index knew all templates that were saved.
    is_trusted: bool,
    /// Objects in the deletion log: no record names them, and they may still be there.
    gone: HashSet<StorageKey>,
    /// The keys that the index shall have.
    kept: HashSet<String>,
    /// What is written next.
    batch: WriteBatch,
    gathered: usize,
    rebuilt: Rebuilt,
    /// What the templates of each account count as stored.
    stored: BTreeMap<AccountId, u64>,
}

/// Rebuilds the templates' part of `index` from `store`. Nothing else may use them meanwhile.
///
/// # Errors
/// When the index fails, or a folder of the store cannot be read: then it has to be done again.
pub async fn rebuild(index: Arc<dyn Index>, store: Arc<dyn ObjectStore>) -> Result<Rebuilt, RebuildError> {
    let is_trusted = index_check::is_trusted(index.as_ref()).await?;
    if !is_trusted {
        index_check::begin(index.as_ref()).await?;
    }
    let gone = deletion_log::logged_objects(index.as_ref()).await?;
    let templates = TemplateIndex::new(Arc::clone(&index));
    let all = find(&templates, store.as_ref(), &gone).await?;
    // Not before the store was listed: where that fails, a service may still start on an index that is whole.
    index_check::begin(index.as_ref()).await?;
    let (kept, rebuilt) = (HashSet::new(), Rebuilt::default());
    let (batch, stored) = (WriteBatch::new(), BTreeMap::new());
    let mut work =
        Rebuild { index, templates, store, is_trusted, gone, kept, batch, gathered: 0, rebuilt, stored };
    work.write(&all).await?;
    index::keep_only(work.index.as_ref(), &work.kept).await?;
    work.count().await?;
    index_check::end(work.index.as_ref()).await?;
    Ok(work.rebuilt)
}

/// The objects of all templates, without those in the deletion log; no objects for a saved template that only the index knows.
async fn find(
    index: &TemplateIndex,
    store: &dyn ObjectStore,
    gone: &HashSet<StorageKey>,
) -> Result<Templates, RebuildError> {
    let mut templates = Templates::new();
    for folder in [Folder::Templates, Folder::Unfinished, Folder::Uploads] {
        for key in store.list(folder, None, usize::MAX).await? {
            if let Some(template_key) = index::owner(&key).filter(|_| !gone.contains(&key)) {
                templates.entry(template_key).or_default().add(key);
            }
        }
    }
    for found in templates.values_mut() {
        // An id sorts by its time: the newest first.
        found.infos.sort_unstable_by(|one, other| other.cmp(one));
        found.packages.sort_unstable_by(|one, other| other.cmp(one));
    }
    for template_key in index.saved().await? {
        templates.entry(template_key).or_default();
    }
    Ok(templates)
}

impl TemplateObjects {
    fn add(&mut self, key: StorageKey) {
        match key {
            StorageKey::Template(_, _, object, TemplatePart::Info) => self.infos.push(object),
            StorageKey::UnfinishedPackage(_, _, object) => self.packages.push(object),
            StorageKey::TemplateUpload(..) | StorageKey::Upload(..) => self.has_upload = true,
            StorageKey::Template(..)
            | StorageKey::JobData(..)
            | StorageKey::JobTemplate(..)
            | StorageKey::JobSecret(..)
            | StorageKey::JobOutput(..)
            | StorageKey::Probe(_) => {}
        }
        self.objects.insert(key);
    }

    fn has_all_of(&self, record: &TemplateRecord) -> bool {
        record.objects().iter().all(|key| self.objects.contains(key))
    }

    fn has_files_of(&self, record: &TemplateRecord) -> bool {
        record.content.as_ref().is_some_and(|content| self.objects.contains(&record.package(content)))
    }
}

impl Rebuild {
    async fn write(&mut self, templates: &Templates) -> Result<(), RebuildError> {
        let mut damaged = BTreeMap::new();
        let (mut restored, mut used_up) = (BTreeSet::new(), BTreeSet::new());
        for (&template_key, found) in templates {
            let Recovered { record, damage } = self.saved(template_key, found).await?;
            damaged.extend(damage.map(|damage| (template_key, damage)));
            if let Some(record) = record {
                restored.insert(template_key);
                used_up.extend(record.content.iter().map(|content| (template_key.0, content.id)));
                self.rebuilt.saved += 1;
                self.put(record).await?;
            }
        }
        for (&template_key, found) in templates {
            // An update copies the content of an unfinished template and removes that one: objects of it that are still there
            // are no template.
            if restored.contains(&template_key) || used_up.contains(&template_key) {
                continue;
            }
            let Recovered { record, damage } = self.unfinished(template_key, found).await?;
            if let Some(damage) = damage {
                damaged.entry(template_key).or_insert(damage);
            }
            if let Some(record) = record {
                restored.insert(template_key);
                self.rebuilt.unfinished += 1;
                self.put(record).await?;
            }
        }
        for (&template_key, found) in templates {
            if !restored.contains(&template_key) && !damaged.contains_key(&template_key) {
                damaged.extend(self.remains(template_key, found).await?.map(|damage| (template_key, damage)));
            }
        }
        // After the records: the batch that writes a saved template's record deletes its entry of damage.
        for ((account, template), cause) in damaged {
            self.add(index::mark_damaged(account, template)).await?;
            self.rebuilt.damaged.push(Damaged { account, template, cause });
        }
        self.flush().await
    }

    /// What can be made of a template as a saved one; nothing where no info object and no record says that it was saved.
    async fn saved(&self, of: TemplateKey, found: &TemplateObjects) -> Result<Recovered, RebuildError> {
        let known = self.known(of).await?;
        let is_draft = |known: &TemplateRecord| known.unfinished && known.content.is_some();
        if known.as_ref().is_some_and(|known| is_draft(known) && found.has_all_of(known)) {
            return Ok(Recovered::default());
        }
        // The info object that the index names comes first: it is of the change that was acknowledged. Any other one may be of
        // a change that was broken off.
        let known = known.filter(|known| !known.unfinished);
        let named = known.as_ref().and_then(|known| known.info.as_ref()).map(|info| info.object);
        let others = found.infos.iter().filter(|object| Some(**object) != named);
        let mut damage = None;
        for &object in named.iter().chain(others) {
            let key = StorageKey::Template(of.0, of.1, object, TemplatePart::Info);
            let cause = match self.described(&key, found).await {
                Ok(record) => return Ok(Recovered { record: Some(record), damage }),
                Err(cause) => cause,
            };
            if let Some(known) = known.as_ref().filter(|known| found.has_files_of(known)) {
                let damage = format!(
                    "{cause}; its files are there and it is rendered as before: save it again with new previews"
                );
                return Ok(Recovered { record: Some(known.clone()), damage: Some(damage) });
            }
            damage.get_or_insert(cause);
        }
        if found.objects.is_empty() && known.is_some() {
            let damage = "nothing of it is in the store; the index keeps its record: look whether the whole folder of \
                         the objects is there and rebuild again, or delete the template";
            return Ok(Recovered { record: known, damage: Some(damage.to_owned()) });
        }
        Ok(Recovered { record: None, damage: damage.map(|cause| unsolved(&cause)) })
    }

    /// The record in an info object, if everything that it names is there; what is wrong otherwise.
    async fn described(&self, key: &StorageKey, found: &TemplateObjects) -> Result<TemplateRecord, String> {
        if !found.objects.contains(key) {
            return Err(format!("{key} is not there"));
        }
        let bytes = self.store.get(key, u64::MAX).await.map_err(|error| unreadable(key, &error))?;
        let object = InfoObject::read(&bytes).map_err(|problem| unreadable(key, cause_of(&problem)))?;
        let mut record = object.record;
        // The sizes in an info object were written before its own was known.
        record.sizes.extend(record.info.iter().map(|info| (info.object, bytes.len() as u64)));
        if !is_of(&record, key) {
            return Err(format!("{key} tells of another template"));
        }
        match record.objects().iter().find(|named| !found.objects.contains(named)) {
            Some(missing) => Err(format!("{key} names {missing}, which is not there")),
            None => Ok(record),
        }
    }

    /// What can be made of a template as one that is not saved.
    async fn unfinished(&self, of: TemplateKey, found: &TemplateObjects) -> Result<Recovered, RebuildError> {
        let (account, template) = of;
        let known = self.known(of).await?;
        let known = known.filter(|known| known.unfinished && found.has_all_of(known));
        let known = known.and_then(|known| known.content).map(|content| content.object);
        let mut damage = None;
        for &object in known.iter().chain(&found.packages) {
            let key = StorageKey::UnfinishedPackage(account, template, object);
            match self.reopened(&key).await {
                Ok((Package { entry, kind, .. }, bytes)) => {
                    let content = Content { id: template, object, entry, kind, copy_of: None };
                    let mut record = TemplateRecord::unfinished(account, template, Some(content));
                    record.sizes.insert(object, bytes);
                    return Ok(Recovered { record: Some(record), damage: None });
                }
                Err(cause) => drop(damage.get_or_insert(cause)),
            }
        }
        let record = found.has_upload.then(|| TemplateRecord::unfinished(account, template, None));
        Ok(Recovered { record, damage: damage.map(|cause| unsolved(&cause)) })
    }

    /// The package under the key, and its size in bytes.
    async fn reopened(&self, key: &StorageKey) -> Result<(Package, u64), String> {
        let bytes = self.store.get(key, u64::MAX).await.map_err(|error| unreadable(key, &error))?;
        let size = bytes.len() as u64;
        let reopened = thread::on_blocking_thread(move || Package::reopen(&bytes)).await;
        let reopened = reopened.map_err(|error| unreadable(key, &error))?;
        Ok((reopened.map_err(|error| unreadable(key, error))?, size))
    }

    /// Sets each account's counter to what its templates count.
    async fn count(&self) -> Result<(), RebuildError> {
        let index = self.index.as_ref();
        let known = quota::counters(index).await?.into_iter().map(|(account, _)| account);
        let accounts: BTreeSet<_> = known.chain(self.stored.keys().copied()).collect();
        for account in accounts {
            let bytes = self.stored.get(&account).copied().unwrap_or(0);
            self.index.commit(quota::counter_correction(index, account, bytes).await?).await?;
        }
        Ok(())
    }

    /// Looks up the sizes that no record has: of what an earlier version wrote, and of an upload.
    async fn measure(&self, record: &mut TemplateRecord) -> Result<(), RebuildError> {
        record.look_up_sizes(self.store.as_ref()).await?;
        if record.unfinished {
            let upload = StorageKey::TemplateUpload(record.account, record.id);
            let upload = self.store.upload_staging().of(&upload);
            record.upload_bytes = size_of(self.store.as_ref(), &upload).await?.unwrap_or(0);
        }
        Ok(())
    }

    /// Why a template of which no record could be made counts as damaged. `None` where it is not damaged: it has no object
    /// that only saved templates have, or such an object was left over by a first save that was broken off. The latter is
    /// known where the index was trusted and has neither a record of the template nor its entry of damage.
    async fn remains(
        &self,
        (account, template): TemplateKey,
        found: &TemplateObjects,
    ) -> Result<Option<String>, RebuildError> {
        // Only a saved template has such objects.
        let part = found.objects.iter().find(|key| matches!(key, StorageKey::Template(..)));
        let Some(part) = part else { return Ok(None) };
        let is_broken_off = self.is_trusted
            && self.templates.stored(account, template).await?.is_none()
            && !self.templates.is_damaged(account, template).await?;
        let damage = || unsolved(&format!("{part} is there, and no info object that tells of it"));
        Ok((!is_broken_off).then(damage))
    }

    /// The record that the index has, where it can be read and nothing that it names is in the deletion log.
    async fn known(&self, (account, template): TemplateKey) -> Result<Option<TemplateRecord>, RebuildError> {
        let known = self.templates.read_if_readable(account, template).await?;
        let is_gone = |known: &TemplateRecord| known.objects().iter().any(|key| self.gone.contains(key));
        Ok(known.filter(|known| !is_gone(known)))
    }

    async fn put(&mut self, mut record: TemplateRecord) -> Result<(), RebuildError> {
        *self.rebuilt.owners.entry(record.account).or_default() += 1;
        self.measure(&mut record).await?;
        record.counted = true;
        *self.stored.entry(record.account).or_default() += record.stored_bytes();
        self.add(index::put_record(&record)?).await
    }

    async fn add(&mut self, batch: WriteBatch) -> Result<(), RebuildError> {
        self.kept.extend(batch.puts().map(str::to_owned));
        self.batch = std::mem::take(&mut self.batch).and(batch);
        self.gathered += 1;
        if self.gathered < PORTION {
            return Ok(());
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), RebuildError> {
        self.gathered = 0;
        Ok(self.index.commit(std::mem::take(&mut self.batch)).await?)
    }
}

/// Whether the record of the info object at `key` is of that template, and names that object.
fn is_of(record: &TemplateRecord, key: &StorageKey) -> bool {
    let own = record.info.as_ref().map(|info| record.key(info.object, TemplatePart::Info));
    !record.unfinished && own.as_ref() == Some(key)
}

fn unreadable(key: &StorageKey, cause: impl std::fmt::Display) -> String {
    format!("{key} cannot be read: {cause}")
}

fn unsolved(cause: &str) -> String {
    format!("{cause}; what there is of it stays: put back what is lost from a backup, and rebuild again")
}

fn cause_of(problem: &Problem) -> &str {
    problem.cause.as_deref().unwrap_or(&problem.detail)
}
