//! A template as its readers see it.

use serde_json::value::RawValue;

pub use super::info_object::FileEntry;
use super::record::{Content, Info, Previews, TemplateRecord};
use super::variables::Variables;
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TemplateId};
use crate::storage::{StorageKey, TemplatePart};

/// A saved template, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSummary {
    /// Which template.
    pub id: TemplateId,
    /// Whose.
    pub account: AccountId,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Its files.
    pub content: Content,
    /// What its owner says of it.
    pub info: Info,
    /// Its previews.
    pub previews: Previews,
}

/// A saved template, whole.
#[derive(Clone, Debug)]
pub struct TemplateView {
    /// What a list shows.
    pub summary: TemplateSummary,
    /// The data to try it with: a JSON object.
    pub sample_data: Box<RawValue>,
    /// Its files.
    pub files: Vec<FileEntry>,
    /// What it reads of its data, where that could be found.
    pub variables: Option<Variables>,
}

impl TemplateSummary {
    /// What is shown of a record; nothing of one that is not saved.
    pub fn of(record: TemplateRecord) -> Option<Self> {
        let TemplateRecord {
            id, account, unfinished, created_at, updated_at, content, info, previews, ..
        } = record;
        if unfinished {
            return None;
        }
        let (content, info, previews) = (content?, info?, previews?);
        Some(Self { id, account, created_at, updated_at, content, info, previews })
    }

    /// The key of a part of it.
    pub fn key(&self, part: TemplatePart) -> StorageKey {
        let object = match part {
            TemplatePart::Package => self.content.object,
            TemplatePart::Info => self.info.object,
            TemplatePart::PngPreview => self.previews.png.object,
            TemplatePart::PdfPreview => self.previews.pdf.object,
        };
        StorageKey::Template(self.account, self.id, object, part)
    }
}
