//! The templates' part of the index made anew from what lies in the store.
//!
//! A saved template comes back from its newest info object all of whose objects are there, one that is not saved
//! from its archive, or from its upload. Nothing in the store is changed. While it goes on, a mark in the index
//! says so: a service does not start on half of it, and whoever rebuilds again gets all of it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::index::{self, TemplateIndex};
use super::info::InfoObject;
use super::package::Package;
use super::record::{Content, TemplateRecord};
use crate::domain::ids::{AccountId, ObjectId, TemplateId};
use crate::problem::Problem;
use crate::storage::index::{Change, Index, IndexError};
use crate::storage::{Folder, ObjectStore, StorageKey, StoreError, TemplatePart, leftovers};

/// It is there while a rebuild is under way, or was broken off.
const MARK: &str = "rebuilding/templates";
/// Templates written at a time.
const PORTION: usize = 500;

/// Why the index was not made anew, or cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An earlier rebuild did not end.
    #[error("the index holds a part of the templates only: `platen index rebuild` did not end; run it again")]
    HalfWay,
}

/// What a rebuild found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Saved templates.
    pub saved: u64,
    /// Templates that were begun and not saved.
    pub unfinished: u64,
    /// Templates of which there are parts only.
    pub damaged: Vec<Damaged>,
    /// How many templates each account has.
    pub owners: BTreeMap<AccountId, u64>,
}

/// A template of which there are parts only. They stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Whose.
    pub account: AccountId,
    /// Which template.
    pub template: TemplateId,
    /// What is wrong with it.
    pub cause: String,
}

/// The objects of one template.
#[derive(Debug, Default)]
struct Found {
    objects: HashSet<StorageKey>,
    infos: Vec<ObjectId>,
    packages: Vec<ObjectId>,
    has_upload: bool,
}

type Templates = BTreeMap<(AccountId, TemplateId), Found>;

/// A rebuild under way.
struct Rebuild {
    index: TemplateIndex,
    store: Arc<dyn ObjectStore>,
    /// The keys that the index shall have.
    kept: HashSet<String>,
    /// What is written next.
    change: Change,
    gathered: usize,
    rebuilt: Rebuilt,
}

/// Says whether a rebuild was broken off.
///
/// # Errors
/// `HalfWay` then; when the index fails.
pub async fn refuse_half(index: &dyn Index) -> Result<(), RebuildError> {
    if index.get(MARK).await?.is_some() { Err(RebuildError::HalfWay) } else { Ok(()) }
}

/// Makes the templates' part of `index` anew from `store`. Nobody else may use them meanwhile.
///
/// # Errors
/// When index or store fail: then it has to be done again.
pub async fn rebuild(index: Arc<dyn Index>, store: Arc<dyn ObjectStore>) -> Result<Rebuilt, RebuildError> {
    let templates = find(index.as_ref(), store.as_ref()).await?;
    index.commit(Change::new().put(MARK, [])).await?;
    let index = TemplateIndex::new(index);
    let (kept, found) = (HashSet::new(), Rebuilt::default());
    let mut work = Rebuild { index, store, kept, change: Change::new(), gathered: 0, rebuilt: found };
    work.write(&templates).await?;
    work.index.keep_only(&work.kept).await?;
    work.index.commit(Change::new().delete(MARK)).await?;
    Ok(work.rebuilt)
}

/// The objects of all templates, without those that are deleted and only not gone yet.
async fn find(index: &dyn Index, store: &dyn ObjectStore) -> Result<Templates, RebuildError> {
    let gone = leftovers::marked(index).await?;
    let mut templates = Templates::new();
    for folder in [Folder::Templates, Folder::Unfinished, Folder::Uploads] {
        for key in store.list(folder, None, usize::MAX).await? {
            if let Some(owner) = index::owner(&key).filter(|_| !gone.contains(&key)) {
                templates.entry(owner).or_default().add(key);
            }
        }
    }
    for found in templates.values_mut() {
        // An id sorts by its time: the newest first.
        found.infos.sort_unstable_by(|one, other| other.cmp(one));
        found.packages.sort_unstable_by(|one, other| other.cmp(one));
    }
    Ok(templates)
}

impl Found {
    fn add(&mut self, key: StorageKey) {
        match key {
            StorageKey::Template(_, _, object, TemplatePart::Info) => self.infos.push(object),
            StorageKey::UnfinishedPackage(_, _, object) => self.packages.push(object),
            StorageKey::TemplateUpload(..) | StorageKey::Upload(..) => self.has_upload = true,
            StorageKey::Template(..)
            | StorageKey::JobData(..)
            | StorageKey::JobTemplate(..)
            | StorageKey::JobOutput(..)
            | StorageKey::Probe(_) => {}
        }
        self.objects.insert(key);
    }

    fn has_all_of(&self, record: &TemplateRecord) -> bool {
        record.objects().iter().all(|key| self.objects.contains(key))
    }
}

impl Rebuild {
    async fn write(&mut self, templates: &Templates) -> Result<(), RebuildError> {
        let mut broken = BTreeMap::new();
        let (mut saved, mut used_up) = (BTreeSet::new(), BTreeSet::new());
        for (&owner, found) in templates {
            match self.saved(owner, found).await? {
                Ok(Some(record)) => {
                    saved.insert(owner);
                    used_up.extend(record.content.iter().map(|content| (owner.0, content.id)));
                    self.rebuilt.saved += 1;
                    self.put(&record).await?;
                }
                Ok(None) => {}
                Err(cause) => drop(broken.insert(owner, cause)),
            }
        }
        for (&owner, found) in templates {
            // What a saved one has as its content is no draft any more.
            if saved.contains(&owner) || used_up.contains(&owner) {
                continue;
            }
            match self.unfinished(owner, found).await? {
                Ok(Some(record)) => {
                    broken.remove(&owner);
                    self.rebuilt.unfinished += 1;
                    self.put(&record).await?;
                }
                Ok(None) => {}
                Err(cause) => drop(broken.entry(owner).or_insert(cause)),
            }
        }
        for ((account, template), cause) in broken {
            self.add(index::damaging(account, template)).await?;
            self.rebuilt.damaged.push(Damaged { account, template, cause });
        }
        self.flush().await
    }

    /// The record of a saved template: none when there is none, why where there are parts only.
    async fn saved(
        &self,
        (account, template): (AccountId, TemplateId),
        found: &Found,
    ) -> Result<Result<Option<TemplateRecord>, String>, RebuildError> {
        if found.infos.is_empty() {
            return Ok(Ok(None));
        }
        // The index, where it still tells, knows which of two states was answered.
        let known = self.index.read(account, template).await.ok().flatten();
        let known = known.filter(|known| found.has_all_of(known));
        if known.as_ref().is_some_and(|known| known.unfinished && known.content.is_some()) {
            return Ok(Ok(None));
        }
        let known = known.and_then(|known| known.info).map(|info| info.object);
        let mut cause = String::new();
        for &object in known.iter().chain(&found.infos) {
            let key = StorageKey::Template(account, template, object, TemplatePart::Info);
            match InfoObject::read(&self.store.get(&key, u64::MAX).await?) {
                Ok(InfoObject { record, .. }) if is_of(&record, &key) => {
                    if found.has_all_of(&record) {
                        return Ok(Ok(Some(record)));
                    }
                    let missing = record.objects().into_iter().find(|key| !found.objects.contains(key));
                    let missing = missing.map(|key| key.to_string()).unwrap_or_default();
                    cause = format!("{key} names {missing}, which is not there");
                }
                Ok(_) => cause = format!("{key} tells of another template"),
                Err(problem) => cause = format!("{key} cannot be read: {}", cause_of(&problem)),
            }
        }
        Ok(Err(cause))
    }

    /// The record of a template that is not saved, likewise.
    async fn unfinished(
        &self,
        (account, template): (AccountId, TemplateId),
        found: &Found,
    ) -> Result<Result<Option<TemplateRecord>, String>, RebuildError> {
        let known = self.index.read(account, template).await.ok().flatten();
        let known = known.filter(|known| known.unfinished && found.has_all_of(known));
        let known = known.and_then(|known| known.content).map(|content| content.object);
        let mut cause = String::new();
        for &object in known.iter().chain(&found.packages) {
            let key = StorageKey::UnfinishedPackage(account, template, object);
            let bytes = self.store.get(&key, u64::MAX).await?;
            match spawn_blocking(move || Package::reopen(&bytes)).await {
                Ok(Ok(Package { entry, kind, .. })) => {
                    let content = Content { id: template, object, entry, kind };
                    return Ok(Ok(Some(TemplateRecord::unfinished(account, template, Some(content)))));
                }
                Ok(Err(fault)) => cause = format!("{key} cannot be read: {fault}"),
                Err(error) => cause = format!("{key} cannot be read: {error}"),
            }
        }
        if found.has_upload {
            return Ok(Ok(Some(TemplateRecord::unfinished(account, template, None))));
        }
        Ok(if cause.is_empty() { Ok(None) } else { Err(cause) })
    }

    async fn put(&mut self, record: &TemplateRecord) -> Result<(), RebuildError> {
        *self.rebuilt.owners.entry(record.account).or_default() += 1;
        self.add(index::writing(record)?).await
    }

    async fn add(&mut self, change: Change) -> Result<(), RebuildError> {
        self.kept.extend(change.puts().map(str::to_owned));
        self.change = std::mem::take(&mut self.change).and(change);
        self.gathered += 1;
        if self.gathered < PORTION {
            return Ok(());
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), RebuildError> {
        self.gathered = 0;
        Ok(self.index.commit(std::mem::take(&mut self.change)).await?)
    }
}

/// Whether the info object at `key` tells of its own template, and of itself.
fn is_of(record: &TemplateRecord, key: &StorageKey) -> bool {
    let own = record.info.as_ref().map(|info| record.key(info.object, TemplatePart::Info));
    !record.unfinished && own.as_ref() == Some(key)
}

fn cause_of(problem: &Problem) -> &str {
    problem.cause.as_deref().unwrap_or(&problem.detail)
}
