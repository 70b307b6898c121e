//! Documents of LaTeX, made by TeX in caged child processes.

use std::path::PathBuf;

use serde::Deserialize;

use super::Faults;

/// Section `[tex]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TexConfig {
    /// Until TeX has made a document, all its runs together; then it is killed.
    pub timeout_ms: u64,
    /// Runs for one document.
    pub runs_limit: u64,
    /// Memory of a run.
    pub memory_limit_mb: u64,
    /// Processor time of a run.
    pub processor_limit_s: u64,
    /// What a document may have on the disk.
    pub files_limit_mb: u64,
    /// Files and folders of a document.
    pub files_limit: u64,
    /// What a run may print beside its log.
    pub printed_limit_bytes: u64,
    /// Formats of preambles that come again, all together; nought: none is made.
    pub formats_limit_mb: u64,
    /// Where what lualatex has read of fonts is kept; empty: in the data folder, or the user's folder of caches.
    pub cache_dir: String,
    /// The user's folder of what is made once a machine; nowhere, where the environment names none.
    #[serde(skip)]
    pub user_caches: Option<PathBuf>,
}

impl TexConfig {
    /// The folder of caches, or this one where none is set.
    pub fn cache_dir_or(&self, usual: Option<PathBuf>) -> Option<PathBuf> {
        if self.cache_dir.is_empty() { usual } else { Some(self.cache_dir.as_str().into()) }
    }

    /// Takes over where the user keeps caches (XDG Base Directory Specification).
    pub(super) fn take_environment(&mut self, environment: &[(String, String)]) {
        let named = |name: &str| {
            let found = environment.iter().find(|(known, _)| known == name);
            found.map(|(_, path)| PathBuf::from(path)).filter(|path| path.is_absolute())
        };
        let folder = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
        self.user_caches = folder.map(|folder| folder.join("platen"));
    }

    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("tex.timeout_ms", self.timeout_ms, 100, 3_600_000);
        faults.within("tex.runs_limit", self.runs_limit, 1, 20);
        faults.within("tex.memory_limit_mb", self.memory_limit_mb, 64, 1 << 20);
        faults.within("tex.processor_limit_s", self.processor_limit_s, 1, 3_600);
        faults.within("tex.files_limit_mb", self.files_limit_mb, 16, 1 << 20);
        faults.within("tex.files_limit", self.files_limit, 64, 1_000_000);
        faults.within("tex.printed_limit_bytes", self.printed_limit_bytes, 1_024, 1 << 30);
        faults.within("tex.formats_limit_mb", self.formats_limit_mb, 0, 1 << 20);
    }
}
