//! Every object we may store is a variant that knows its path.

use std::fmt;

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::Target;

/// The name of an object. Its path consists of our own ids and words only (`[A-Za-z0-9/_.-]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageKey {
    /// The JSON data of a job; deleted when the job ends.
    JobData(AccountId, JobId),
    /// The template uploaded to a job; deleted when the job ends.
    JobTemplate(AccountId, JobId),
    /// The document a job made; kept for the output retention.
    JobOutput(AccountId, JobId, Target),
    /// What a probe of the store writes.
    Probe(AccountId),
}

/// A kind of objects, which lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Folder {
    /// Inputs of jobs.
    Jobs,
    /// Documents.
    Outputs,
    /// What probes wrote.
    Probes,
}

impl Folder {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jobs, Self::Outputs, Self::Probes];

    /// What the paths of its objects begin with.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Outputs => "outputs",
            Self::Probes => "probes",
        }
    }
}

impl fmt::Display for StorageKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JobData(account, job) => write!(formatter, "jobs/{account}/{job}/data.json"),
            Self::JobTemplate(account, job) => write!(formatter, "jobs/{account}/{job}/template"),
            Self::JobOutput(account, job, target) => {
                write!(formatter, "outputs/{account}/{job}/document.{}", target.name())
            }
            Self::Probe(id) => write!(formatter, "probes/{id}"),
        }
    }
}

impl StorageKey {
    /// The key whose path `text` is; only the one spelling that is written by it.
    #[must_use]
    pub fn from_path(text: &str) -> Option<Self> {
        let key = Self::read(text)?;
        (key.to_string() == text).then_some(key)
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> Folder {
        match self {
            Self::JobData(..) | Self::JobTemplate(..) => Folder::Jobs,
            Self::JobOutput(..) => Folder::Outputs,
            Self::Probe(_) => Folder::Probes,
        }
    }

    /// When what it belongs to was made; the object is no older.
    #[must_use]
    pub fn made_at(&self) -> Timestamp {
        match self {
            Self::JobData(_, job) | Self::JobTemplate(_, job) | Self::JobOutput(_, job, _) => job.made_at(),
            Self::Probe(id) => id.made_at(),
        }
    }

    /// The name under which a caller saves the object.
    #[must_use]
    pub fn file_name(&self) -> String {
        match self {
            Self::JobData(..) => "data.json".to_owned(),
            Self::JobTemplate(..) => "template".to_owned(),
            Self::JobOutput(_, _, target) => format!("document.{}", target.name()),
            Self::Probe(id) => id.to_string(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let mut next = || parts.next();
        let (kind, owner) = (next()?, next()?.parse::<AccountId>().ok()?);
        if kind == "probes" {
            return Some(Self::Probe(owner));
        }
        let (job, name) = (next()?.parse::<JobId>().ok()?, next()?);
        match (kind, name) {
            ("jobs", "data.json") => Some(Self::JobData(owner, job)),
            ("jobs", "template") => Some(Self::JobTemplate(owner, job)),
            ("outputs", name) => {
                let target = Target::from_name(name.strip_prefix("document.")?)?;
                Some(Self::JobOutput(owner, job, target))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_back_to_its_key_and_no_other_spelling_does() {
        let (account, job) = (AccountId::generate(), JobId::generate());
        let mut keys = vec![
            StorageKey::JobData(account, job),
            StorageKey::JobTemplate(account, job),
            StorageKey::Probe(account),
        ];
        keys.extend(Target::ALL.map(|target| StorageKey::JobOutput(account, job, target)));
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
