//! The info object: everything that is known of a saved template, in the store beside its files.
//!
//! It holds the template's record, from which a lost index is rebuilt, and what is too large for a record.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::problems;
use super::record::TemplateRecord;
use super::variables::{KnownVariables, Variables};
use crate::domain::site::Site;
use crate::problem::Problem;
use crate::storage::{ObjectStore, StorageKey, TemplatePart};
use crate::thread;

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
    pub files: Vec<FileEntry>,
    /// Its variables, where they were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variables: Option<Variables>,
    /// Its variables cannot be found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    untellable: bool,
}

impl InfoObject {
    /// The object for a record with these files and variables.
    pub fn new(
        record: &TemplateRecord,
        sample_data: &RawValue,
        (files, variables): (Vec<FileEntry>, KnownVariables),
    ) -> Self {
        let untellable = variables == KnownVariables::Unreadable;
        let variables = match variables {
            KnownVariables::Found(variables) => Some(variables),
            KnownVariables::Unreadable | KnownVariables::NotYet => None,
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

    /// What was known of the template's variables when it was written.
    pub fn variables(&self) -> KnownVariables {
        match &self.variables {
            Some(variables) => KnownVariables::Found(variables.clone()),
            None if self.untellable => KnownVariables::Unreadable,
            None => KnownVariables::NotYet,
        }
    }

    /// The object under `key`, which a record names.
    ///
    /// # Errors
    /// When it is lost or cannot be read, or another version wrote it.
    pub async fn fetch(store: &dyn ObjectStore, key: &StorageKey) -> Result<Self, Problem> {
        let bytes = store.get(key, u64::MAX).await.map_err(problems::lost)?;
        thread::by_size(bytes.len(), move || Self::read(&bytes)).await?
    }

    /// Reads one; not what another version wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let object: Self = serde_json::from_slice(bytes).map_err(Problem::internal)?;
        if object.version == VERSION {
            return Ok(object);
        }
        let (written, own) = (object.version, VERSION);
        Err(Problem::internal(format!("the info has version {written}, this platen reads version {own}")))
    }

    /// Its bytes, and the key under which its record names it.
    ///
    /// # Errors
    /// When the record names none, or the bytes cannot be written.
    pub async fn encode(self) -> Result<(StorageKey, Bytes), Problem> {
        let info = self.record.info.as_ref().ok_or_else(|| Problem::internal("a record without info"))?;
        let key = self.record.key(info.object, TemplatePart::Info);
        let length = self.sample_data.get().len() + self.files.len() * FILE_BYTES;
        let encode = move || serde_json::to_vec(&self).map_err(Problem::internal);
        Ok((key, thread::by_size(length, encode).await??.into()))
    }
}

pub(in crate::templates) fn files(site: &Site) -> Vec<FileEntry> {
    let entry = |path: &str| FileEntry {
        path: path.to_owned(),
        bytes: site.get(path).map_or(0, |file| file.len() as u64),
    };
    site.paths().map(entry).collect()
}
