//! The record of a template, as the index keeps it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use crate::domain::kinds::TemplateKind;
use crate::storage::{ObjectStore, StorageKey, StoreError, TemplatePart, size_of};

/// Everything of a template that is small. Its files, previews and sample data are objects of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateRecord {
    /// Which template.
    pub id: TemplateId,
    /// Whose.
    pub account: AccountId,
    /// The unfinished tag: it was begun and not saved yet.
    pub unfinished: bool,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Its files, once there are some.
    pub content: Option<Content>,
    /// What its owner said of it when it was saved (`templateInfo`).
    pub info: Option<Info>,
    /// Its previews, from when it was saved.
    pub previews: Option<Previews>,
    /// The sizes in bytes of the objects that it names.
    #[serde(default)]
    pub sizes: BTreeMap<ObjectId, u64>,
    /// The size in bytes of what is uploaded and not unpacked.
    #[serde(default)]
    pub upload_bytes: u64,
    /// Whether its bytes are in the account's counter. A record of an earlier platen, which had no counters, is not.
    #[serde(default)]
    pub counted: bool,
}

/// What a template counts beside its objects, in bytes: about the size of its record.
pub const RECORD_BYTES: u64 = 1_024;

/// The stored files of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The id under which they were uploaded.
    pub id: TemplateId,
    /// The archive that holds them.
    pub object: ObjectId,
    /// The path of the entry.
    pub entry: String,
    /// What the entry is.
    pub kind: TemplateKind,
    /// The archive that held these files first, where this one is a copy of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<ObjectId>,
}

impl Content {
    /// An id that stays the same as long as the files do, through every copy of them.
    pub fn version(&self) -> ObjectId {
        self.copy_of.unwrap_or(self.object)
    }
}

/// What its owner says of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The object that holds all of it, the sample data and the list of files included.
    pub object: ObjectId,
    /// Its title.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// What it is rendered as.
    pub kind: TemplateKind,
    /// Words to find it by.
    pub categories: Vec<String>,
    /// Who else may use it.
    pub permissions: Permissions,
    /// Where its source code is kept.
    pub link: Option<String>,
}

/// Who may read, render and clone a template beside its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Permissions {
    /// Nobody.
    #[default]
    Private,
    /// Every account.
    Public,
}

impl Permissions {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The previews of a saved template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previews {
    /// As a picture.
    pub png: Preview,
    /// As a document.
    pub pdf: Preview,
}

/// One preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The object.
    pub object: ObjectId,
    /// The job that made it, where it was one of the owner's.
    pub job: Option<JobId>,
    /// The version of the content that it shows; `None` for a preview that was saved by an earlier platen, which did not
    /// record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<ObjectId>,
}

impl TemplateRecord {
    /// A template that is begun now.
    pub fn begun(account: AccountId) -> Self {
        Self::unfinished(account, TemplateId::generate(), None)
    }

    /// One that was begun and is not saved. Its times are those of its ids, so that a rebuild finds all of it in the store.
    pub fn unfinished(account: AccountId, id: TemplateId, content: Option<Content>) -> Self {
        Self {
            id,
            account,
            unfinished: true,
            created_at: id.made_at(),
            updated_at: content.as_ref().map_or(id.made_at(), |content| content.object.made_at()),
            content,
            info: None,
            previews: None,
            sizes: BTreeMap::new(),
            upload_bytes: 0,
            counted: true,
        }
    }

    /// Notes the time of a change. Where the clock was put back, the time of the last one stays.
    pub fn changed(&mut self, now: Timestamp) {
        self.updated_at = self.updated_at.max(now);
    }

    /// Whether others than its owner may use it.
    pub fn is_public(&self) -> bool {
        !self.unfinished && self.info.as_ref().is_some_and(|info| info.permissions == Permissions::Public)
    }

    /// The key of a part of it.
    pub fn key(&self, object: ObjectId, part: TemplatePart) -> StorageKey {
        StorageKey::Template(self.account, self.id, object, part)
    }

    /// The key of its archive.
    pub fn package(&self, content: &Content) -> StorageKey {
        if self.unfinished {
            StorageKey::UnfinishedPackage(self.account, self.id, content.object)
        } else {
            self.key(content.object, TemplatePart::Package)
        }
    }

    /// What it counts in its account's storage, in bytes.
    pub fn stored_bytes(&self) -> u64 {
        if !self.counted {
            return 0;
        }
        RECORD_BYTES + self.upload_bytes + self.sizes.values().sum::<u64>()
    }

    /// The objects that it names, first the info object, from which a rebuild knows all others. An upload is not among them.
    pub fn objects(&self) -> Vec<StorageKey> {
        self.object_keys().map(|(_, key)| key).collect()
    }

    /// The ids of these objects, each with its key.
    pub(in crate::templates) fn object_keys(&self) -> impl Iterator<Item = (ObjectId, StorageKey)> {
        let of = |object, part| (object, self.key(object, part));
        let info = self.info.iter().map(move |info| of(info.object, TemplatePart::Info));
        let content = self.content.iter().map(|content| (content.object, self.package(content)));
        let previews = self.previews.iter().flat_map(move |Previews { png, pdf }| {
            [of(png.object, TemplatePart::PngPreview), of(pdf.object, TemplatePart::PdfPreview)]
        });
        info.chain(content).chain(previews)
    }

    /// Asks the store for the sizes that the record lacks: an earlier platen did not record them.
    ///
    /// # Errors
    /// When the store fails; an object that is not there has no size.
    pub async fn look_up_sizes(&mut self, store: &dyn ObjectStore) -> Result<(), StoreError> {
        let unknown = self.object_keys().filter(|(object, _)| !self.sizes.contains_key(object));
        for (object, key) in unknown.collect::<Vec<_>>() {
            self.sizes.extend(size_of(store, &key).await?.map(|bytes| (object, bytes)));
        }
        Ok(())
    }
}
