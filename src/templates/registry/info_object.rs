//! The info object: everything that is known of a saved template, beside the files it describes.
//!
//! It holds the record itself, so that the index can be made anew from it, and what is too large for a record.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::context::{Deps, by_size, lost};
use super::record::TemplateRecord;
use super::variables::{Told, Variables};
use crate::domain::site::Site;
use crate::problem::Problem;
use crate::storage::{StorageKey, TemplatePart};
use crate::templates::changes::commit::Changing;

/// The form of the object that this version reads and writes.
const VERSION: u8 = 1;
/// About what a file takes in the list.
const FILE_BYTES: usize = 64;

/// One file of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What the object holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::templates) struct InfoObject {
    version: u8,
    /// The record as the index has it.
    pub record: TemplateRecord,
    /// The data to try the template with: a JSON object, as it was sent.
    pub sample_data: Box<RawValue>,
    /// The template's files.
    pub files: Vec<FileEntry>,
    /// What it reads of its data, where that could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variables: Option<Variables>,
    /// That could not be told, whenever it is asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    untellable: bool,
}

impl InfoObject {
    /// The object for a record with these files, which read these variables.
    #[must_use]
    pub fn new(
        record: &TemplateRecord,
        sample_data: &RawValue,
        (files, told): (Vec<FileEntry>, Told),
    ) -> Self {
        let untellable = told == Told::Untellable;
        let variables = match told {
            Told::Variables(variables) => Some(variables),
            Told::Untellable | Told::NotYet => None,
        };
        Self {
            version: VERSION,
            record: record.clone(),
            sample_data: sample_data.to_owned(),
            files,
            variables,
            untellable,
        }
    }

    /// What is known of what the template reads.
    pub fn told(&self) -> Told {
        match &self.variables {
            Some(variables) => Told::Variables(variables.clone()),
            None if self.untellable => Told::Untellable,
            None => Told::NotYet,
        }
    }

    /// The object under `key`, which a record names.
    ///
    /// # Errors
    /// When it is lost or cannot be read, or another version wrote it.
    pub async fn fetch(deps: &Deps, key: &StorageKey) -> Result<Self, Problem> {
        let bytes = deps.store.get(key, u64::MAX).await.map_err(lost)?;
        by_size(bytes.len(), move || Self::read(&bytes)).await
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it cannot be read, or another version wrote it.
    pub fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let object: Self = serde_json::from_slice(bytes).map_err(Problem::internal)?;
        if object.version == VERSION {
            return Ok(object);
        }
        let (written, own) = (object.version, VERSION);
        Err(Problem::internal(format!("the info has version {written}, this platen reads version {own}")))
    }

    /// Writes it under the id that its record names.
    ///
    /// # Errors
    /// When the record names none, or the store fails.
    pub async fn write(self, changing: &mut Changing<'_>) -> Result<(), Problem> {
        let info = self.record.info.as_ref().ok_or_else(|| Problem::internal("a record without info"))?;
        let key = self.record.key(info.object, TemplatePart::Info);
        let length = self.sample_data.get().len() + self.files.len() * FILE_BYTES;
        let bytes = by_size(length, move || serde_json::to_vec(&self).map_err(Problem::internal)).await?;
        changing.put(key, bytes.into()).await
    }
}

/// The list of a template's files.
pub(in crate::templates) fn files(site: &Site) -> Vec<FileEntry> {
    let entry = |path: &str| FileEntry {
        path: path.to_owned(),
        bytes: site.get(path).map_or(0, |file| file.len() as u64),
    };
    site.paths().map(entry).collect()
}
