//! Documents of LaTeX, made by TeX in caged child processes.

use std::path::PathBuf;

use serde::Deserialize;

use super::SettingErrors;
use super::program::ProgramLimits;

/// Section `[tex]`.
#[derive(Clone, Debug, Deserialize)]
pub struct TexConfig {
    /// Time, memory and disk space of a document.
    #[serde(flatten)]
    pub limits: ProgramLimits,
    /// Most runs for one document: they end when one changes neither contents nor references any more.
    pub runs_limit: u64,
    /// Disk space for precompiled formats of preambles that come again; 0: every document reads its preamble.
    pub formats_limit_mb: u64,
    /// Folder of lualatex's font cache, which nobody else may write; empty: in `storage.data_dir`, for
    /// `platen render` in `~/.cache/platen`.
    pub cache_dir: String,
    /// The user's own cache folder (XDG), for files that are the same for every data folder of a machine; `None` where the
    /// environment names none.
    #[serde(skip)]
    pub user_caches: Option<PathBuf>,
}

impl TexConfig {
    /// `cache_dir`, or `default` where it is empty.
    pub fn cache_dir_or(&self, default: Option<PathBuf>) -> Option<PathBuf> {
        if self.cache_dir.is_empty() { default } else { Some(self.cache_dir.as_str().into()) }
    }

    /// Reads `user_caches` from the environment (XDG Base Directory Specification).
    pub(super) fn take_environment(&mut self, environment: &[(String, String)]) {
        let named = |name: &str| {
            let found = environment.iter().find(|(known, _)| known == name);
            found.map(|(_, path)| PathBuf::from(path)).filter(|path| path.is_absolute())
        };
        let folder = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
        self.user_caches = folder.map(|folder| folder.join("platen"));
    }

    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        self.limits.validate("tex", 64, errors);
        errors.within("tex.runs_limit", self.runs_limit, 1, 20);
        errors.within("tex.formats_limit_mb", self.formats_limit_mb, 0, 1 << 20);
    }
}
