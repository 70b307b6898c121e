//! The keys of objects: one variant for each kind of object that may be stored, with its path.

use std::fmt;

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use crate::domain::kinds::FileKind;

/// The name of a job's secret object; a backup skips it.
pub(super) const SECRET: &str = "secret";

/// The name of an object. Its path consists of our own ids and words only (`[A-Za-z0-9/_.-]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageKey {
    /// The JSON data of a job; deleted when the job ends.
    JobData(AccountId, JobId),
    /// The template uploaded to a job; deleted when the job ends.
    JobTemplate(AccountId, JobId),
    /// One half of a job's secrets, random bytes by itself (the record has the other half); deleted when the job ends.
    JobSecret(AccountId, JobId),
    /// The document a job made; kept for the output retention.
    JobOutput(AccountId, JobId, FileKind),
    /// An upload for a template that is not saved; kept until it is unpacked or the template is deleted.
    TemplateUpload(AccountId, TemplateId),
    /// The files of a template that is not saved; kept until it is.
    UnfinishedPackage(AccountId, TemplateId, ObjectId),
    /// A part of a saved template; kept until a change or the template's end replaces it.
    Template(AccountId, TemplateId, ObjectId, TemplatePart),
    /// An upload to a presigned URL of a bucket; kept until its job or template is deleted.
    Upload(AccountId, Upload),
    /// The object of a probe of the store.
    Probe(AccountId),
}

/// What an upload is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Upload {
    /// The JSON data of a job.
    Data(JobId),
    /// The template of a job.
    Template(JobId),
    /// The content of a template.
    Content(TemplateId),
}

/// The parts of a saved template. Such an object is never replaced: a change makes new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TemplatePart {
    /// Its files, packed.
    Package,
    /// Its record as JSON, for a rebuild of the index.
    Info,
    /// Its preview as a picture.
    PngPreview,
    /// Its preview as a document.
    PdfPreview,
}

impl TemplatePart {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Package, Self::Info, Self::PngPreview, Self::PdfPreview];

    /// The extension of its name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Package => FileKind::Zip.name(),
            Self::Info => "json",
            Self::PngPreview => FileKind::Png.name(),
            Self::PdfPreview => FileKind::Pdf.name(),
        }
    }
}

/// A folder of the store, one for each kind of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Folder {
    /// Inputs of jobs.
    Jobs,
    /// Documents.
    Outputs,
    /// Templates that are not saved. All of it may be deleted by age, so a bucket's lifecycle rule can do it.
    Unfinished,
    /// Saved templates.
    Templates,
    /// Uploads to presigned URLs of a bucket. All of it may be deleted by age.
    Uploads,
    /// Objects of probes.
    Probes,
}

impl Folder {
    /// The first part of the paths of its objects.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for StorageKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder().name();
        match self {
            Self::JobData(account, job) | Self::Upload(account, Upload::Data(job)) => {
                write!(formatter, "{folder}/{account}/{job}/data.json")
            }
            Self::JobTemplate(account, job) | Self::Upload(account, Upload::Template(job)) => {
                write!(formatter, "{folder}/{account}/{job}/template")
            }
            Self::JobSecret(account, job) => write!(formatter, "{folder}/{account}/{job}/{SECRET}"),
            Self::JobOutput(account, job, kind) => {
                write!(formatter, "{folder}/{account}/{job}/document.{}", kind.name())
            }
            Self::TemplateUpload(account, template) | Self::Upload(account, Upload::Content(template)) => {
                write!(formatter, "{folder}/{account}/{template}/upload")
            }
            Self::UnfinishedPackage(account, template, object) => {
                write!(formatter, "{folder}/{account}/{template}/{object}.zip")
            }
            Self::Template(account, template, object, part) => {
                write!(formatter, "{folder}/{account}/{template}/{object}.{}", part.extension())
            }
            Self::Probe(id) => write!(formatter, "{folder}/{id}"),
        }
    }
}

impl StorageKey {
    /// The key with this path; `None` for any other spelling of a path, so that no object has two.
    pub fn from_path(text: &str) -> Option<Self> {
        let key = Self::read(text)?;
        (key.to_string() == text).then_some(key)
    }

    /// Whose object it is.
    pub fn account(&self) -> AccountId {
        match self {
            Self::JobData(account, _)
            | Self::JobTemplate(account, _)
            | Self::JobSecret(account, _)
            | Self::JobOutput(account, ..)
            | Self::TemplateUpload(account, _)
            | Self::UnfinishedPackage(account, ..)
            | Self::Template(account, ..)
            | Self::Upload(account, _)
            | Self::Probe(account) => *account,
        }
    }

    /// Its folder.
    pub fn folder(&self) -> Folder {
        match self {
            Self::JobData(..) | Self::JobTemplate(..) | Self::JobSecret(..) => Folder::Jobs,
            Self::JobOutput(..) => Folder::Outputs,
            Self::TemplateUpload(..) | Self::UnfinishedPackage(..) => Folder::Unfinished,
            Self::Template(..) => Folder::Templates,
            Self::Upload(..) => Folder::Uploads,
            Self::Probe(_) => Folder::Probes,
        }
    }

    /// When its job, template or object id was made; the object is not older.
    pub fn made_at(&self) -> Timestamp {
        match self {
            Self::JobData(_, job)
            | Self::JobTemplate(_, job)
            | Self::JobSecret(_, job)
            | Self::JobOutput(_, job, _)
            | Self::Upload(_, Upload::Data(job) | Upload::Template(job)) => job.made_at(),
            Self::TemplateUpload(_, template) | Self::Upload(_, Upload::Content(template)) => {
                template.made_at()
            }
            Self::UnfinishedPackage(_, _, object) | Self::Template(_, _, object, _) => object.made_at(),
            Self::Probe(id) => id.made_at(),
        }
    }

    /// The name under which a caller saves the object: the last part of its path, with a word in the place of an object's id.
    pub fn file_name(&self) -> String {
        let path = self.to_string();
        let name = path.rsplit('/').next().unwrap_or_default();
        match self {
            Self::UnfinishedPackage(_, _, object)
            | Self::Template(_, _, object, TemplatePart::Package | TemplatePart::Info) => {
                name.replace(&object.to_string(), "template")
            }
            Self::Template(_, _, object, TemplatePart::PngPreview | TemplatePart::PdfPreview) => {
                name.replace(&object.to_string(), "preview")
            }
            Self::JobData(..)
            | Self::JobTemplate(..)
            | Self::JobSecret(..)
            | Self::JobOutput(..)
            | Self::TemplateUpload(..)
            | Self::Upload(..)
            | Self::Probe(_) => name.to_owned(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let mut next = || parts.next();
        let (kind, owner) = (next()?, next()?.parse::<AccountId>().ok()?);
        if kind == "probes" {
            return Some(Self::Probe(owner));
        }
        let (id, name) = (next()?, next()?);
        match kind {
            "jobs" | "outputs" => Self::of_job(owner, id.parse().ok()?, name),
            "unfinished" if name == "upload" => Some(Self::TemplateUpload(owner, id.parse().ok()?)),
            "unfinished" => {
                let object = name.strip_suffix(".zip")?.parse().ok()?;
                Some(Self::UnfinishedPackage(owner, id.parse().ok()?, object))
            }
            "uploads" => match name {
                "data.json" => Some(Self::Upload(owner, Upload::Data(id.parse().ok()?))),
                "template" => Some(Self::Upload(owner, Upload::Template(id.parse().ok()?))),
                "upload" => Some(Self::Upload(owner, Upload::Content(id.parse().ok()?))),
                _ => None,
            },
            "templates" => {
                let (object, extension) = name.split_once('.')?;
                let part = TemplatePart::ALL.into_iter().find(|part| part.extension() == extension)?;
                Some(Self::Template(owner, id.parse().ok()?, object.parse().ok()?, part))
            }
            _ => None,
        }
    }

    fn of_job(owner: AccountId, job: JobId, name: &str) -> Option<Self> {
        match name {
            "data.json" => Some(Self::JobData(owner, job)),
            "template" => Some(Self::JobTemplate(owner, job)),
            SECRET => Some(Self::JobSecret(owner, job)),
            name => {
                let kind = FileKind::from_name(name.strip_prefix("document.")?)?;
                Some(Self::JobOutput(owner, job, kind))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn a_path_converts_back_to_its_key_and_no_other_spelling_does() {
        let (account, job) = (AccountId::generate(), JobId::generate());
        let mut keys = vec![
            StorageKey::JobData(account, job),
            StorageKey::JobTemplate(account, job),
            StorageKey::JobSecret(account, job),
            StorageKey::Probe(account),
        ];
        let (template, object) = (TemplateId::generate(), ObjectId::generate());
        keys.push(StorageKey::TemplateUpload(account, template));
        keys.push(StorageKey::UnfinishedPackage(account, template, object));
        for upload in [Upload::Data(job), Upload::Template(job), Upload::Content(template)] {
            keys.push(StorageKey::Upload(account, upload));
        }
        keys.extend(TemplatePart::ALL.map(|part| StorageKey::Template(account, template, object, part)));
        keys.extend(FileKind::VARIANTS.iter().map(|&kind| StorageKey::JobOutput(account, job, kind)));
        for key in keys {
            let path = key.to_string();
            assert!(path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_.-".contains(&byte)));
            assert_eq!(StorageKey::from_path(&path), Some(key));
            for wrong in [path.to_uppercase(), format!("{path}/"), format!("/{path}"), path.replace('-', "")]
            {
                assert_eq!(StorageKey::from_path(&wrong), None, "{wrong}");
            }
        }
        assert_eq!(StorageKey::from_path("jobs/../../etc/passwd"), None);
    }
}
