//! Every object we may store is a variant that knows its path.

use std::fmt;

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
