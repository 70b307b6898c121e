//! The template engine: EJS in a caged child process.

use std::path::Path;

use serde::Deserialize;

use super::SettingErrors;
use crate::domain::locale::{locale_of, timezone_of};

/// Section `[assemble]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssembleConfig {
    /// The program that runs template code; empty: `platen-script` in the folder of `platen` itself.
    pub program: String,
    /// Locale of numbers, dates and money in templates, and in pages of workbooks, without `formatOpts.locale`.
    pub locale: String,
    /// Time zone of dates in templates without `formatOpts.timezone`.
    pub timezone: String,
    /// Longest time to make a page of a template and its data.
    pub timeout_ms: u64,
    /// Processor time after which a template has low priority, and after ten times that the lowest while another program works.
    pub yield_after_ms: u64,
    /// Longest time for a started engine process to be ready.
    pub start_timeout_ms: u64,
    /// Longest time to generate the EJS of a saved template for all its jobs; beyond it, each job generates it.
    pub ahead_timeout_ms: u64,
    /// Memory for the generated EJS of templates that an account sends with its requests again and again.
    pub recent_scripts_mb: u64,
    /// Memory of an engine process.
    pub memory_limit_mb: u64,
    /// Largest page a template may make (100 MiB).
    pub output_limit_bytes: u64,
    /// Largest header or footer of `formatOpts` once assembled; it is laid out on every sheet.
    pub banner_limit_bytes: u64,
    /// Nesting of includes.
    pub include_depth_limit: u64,
    /// Idle engine processes started ahead.
    pub spares: u64,
    /// Idle engine processes kept for a further job of their account.
    pub kept: u64,
    /// Jobs that one engine process does, all of one account.
    pub child_jobs: u64,
    /// Engine processes at once; 0: one a core and one more.
    pub processes: u64,
    /// Engine processes of an account that wait for pictures, not counted in processes; of all accounts four times as
    /// many; 0: two a core.
    pub waiting_limit: u64,
}

impl AssembleConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        if !self.program.is_empty() && !Path::new(&self.program).is_absolute() {
            errors.add(
                "assemble.program",
                "it is not absolute; give the whole path of platen-script, or nothing",
            );
        }
        if locale_of(&self.locale).is_none_or(|tag| tag != self.locale) {
            errors.add(
                "assemble.locale",
                format!(
                    "'{}' is no language tag (BCP 47); write one such as de, de-CH or zh-Hant-TW",
                    self.locale
                ),
            );
        }
        if timezone_of(&self.timezone).is_none_or(|name| name != self.timezone) {
            errors.add(
                "assemble.timezone",
                format!(
                    "'{}' is no time zone of the IANA database; write a name such as Europe/Berlin",
                    self.timezone
                ),
            );
        }
        errors.within("assemble.timeout_ms", self.timeout_ms, 10, 600_000);
        errors.within("assemble.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        errors.within("assemble.start_timeout_ms", self.start_timeout_ms, 100, 600_000);
        errors.within("assemble.ahead_timeout_ms", self.ahead_timeout_ms, 10, 60_000);
        errors.within("assemble.recent_scripts_mb", self.recent_scripts_mb, 1, 4_096);
        errors.within("assemble.memory_limit_mb", self.memory_limit_mb, 32, 16_384);
        errors.within("assemble.output_limit_bytes", self.output_limit_bytes, 1_024, 1 << 30);
        // Both go to the browser in one call.
        errors.within("assemble.banner_limit_bytes", self.banner_limit_bytes, 1_024, 4 << 20);
        errors.within("assemble.include_depth_limit", self.include_depth_limit, 1, 256);
        errors.within("assemble.spares", self.spares, 0, 64);
        errors.within("assemble.kept", self.kept, 0, 256);
        errors.within("assemble.child_jobs", self.child_jobs, 1, 10_000);
        errors.within("assemble.processes", self.processes, 0, 256);
        errors.within("assemble.waiting_limit", self.waiting_limit, 0, 256);
    }
}
