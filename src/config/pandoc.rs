//! HTML and Word of LaTeX, made by pandoc in caged child processes.

use serde::Deserialize;

use super::SettingErrors;
use super::program::ProgramLimits;

/// Section `[pandoc]`.
#[derive(Clone, Debug, Deserialize)]
pub struct PandocConfig {
    /// Time, memory and disk space of a document.
    #[serde(flatten)]
    pub limits: ProgramLimits,
}

impl PandocConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        self.limits.validate("pandoc", 256, errors);
    }
}
