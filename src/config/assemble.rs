//! The template engine: EJS in a caged child process.

use std::path::Path;

use serde::Deserialize;

use super::Faults;
use crate::domain::format_opts::{locale_of, timezone_of};

/// Section `[assemble]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssembleConfig {
    /// The program that runs template code; empty: `platen-script`, beside the service's own.
    pub program: String,
    /// Default locale of template code.
    pub locale: String,
    /// Time zone of template code.
    pub timezone: String,
    /// Until a template and its data have become a page.
    pub timeout_ms: u64,
    /// Processor time after which a template goes on when nobody else has use for the processor.
    pub yield_after_ms: u64,
    /// Until a started engine process is ready for its job.
    pub start_timeout_ms: u64,
    /// Until the EJS of a saved template is generated for further jobs; longer, and each job generates it.
    pub ahead_timeout_ms: u64,
    /// Memory for the scripts of templates that an account sends again and again.
    pub recent_scripts_mb: u64,
    /// Memory of the template engine.
    pub memory_limit_mb: u64,
    /// Largest page a template may make (100 MiB).
    pub output_limit_bytes: u64,
    /// Largest header or footer that a template of `formatOpts` may make; it is laid out on every sheet.
    pub banner_limit_bytes: u64,
    /// Includes inside includes.
    pub include_depth_limit: u64,
    /// Engine processes started ahead.
    pub spares: u64,
    /// Engine processes that wait for a further job of the account they worked for.
    pub kept: u64,
    /// Jobs that one engine process does.
    pub child_jobs: u64,
    /// Engine processes at once; 0: one a core.
    pub processes: u64,
    /// Engine processes of one account that wait for pictures, beside these; 0: two a core.
    pub waiting_limit: u64,
}

impl AssembleConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        if !self.program.is_empty() && !Path::new(&self.program).is_absolute() {
            faults.add(
                "assemble.program",
                "it is not absolute; give the whole path of platen-script, or nothing",
            );
        }
        if locale_of(&self.locale).is_none_or(|tag| tag != self.locale) {
            faults.add(
                "assemble.locale",
                format!(
                    "'{}' is no language tag (BCP 47); write one such as de, de-CH or zh-Hant-TW",
                    self.locale
                ),
            );
        }
        if timezone_of(&self.timezone).is_none_or(|name| name != self.timezone) {
            faults.add(
                "assemble.timezone",
                format!(
                    "'{}' is no time zone of the IANA database; write a name such as Europe/Berlin",
                    self.timezone
                ),
            );
        }
        faults.within("assemble.timeout_ms", self.timeout_ms, 10, 600_000);
        faults.within("assemble.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        faults.within("assemble.start_timeout_ms", self.start_timeout_ms, 100, 600_000);
        faults.within("assemble.ahead_timeout_ms", self.ahead_timeout_ms, 10, 60_000);
        faults.within("assemble.recent_scripts_mb", self.recent_scripts_mb, 1, 4_096);
        faults.within("assemble.memory_limit_mb", self.memory_limit_mb, 32, 16_384);
        faults.within("assemble.output_limit_bytes", self.output_limit_bytes, 1_024, 1 << 30);
        // Both go to the browser in one call.
        faults.within("assemble.banner_limit_bytes", self.banner_limit_bytes, 1_024, 4 << 20);
        faults.within("assemble.include_depth_limit", self.include_depth_limit, 1, 256);
        faults.within("assemble.spares", self.spares, 0, 64);
        faults.within("assemble.kept", self.kept, 0, 256);
        faults.within("assemble.child_jobs", self.child_jobs, 1, 10_000);
        faults.within("assemble.processes", self.processes, 0, 256);
        faults.within("assemble.waiting_limit", self.waiting_limit, 0, 256);
    }
}
