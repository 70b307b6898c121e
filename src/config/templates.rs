//! Templates: what their archives may hold, how long what is unfinished is kept.

use serde::Deserialize;

use super::Faults;

/// Section `[templates]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplatesConfig {
    /// Files and folders in a template's archive.
    pub archive_entries_limit: u64,
    /// A template's archive unpacked.
    pub archive_bytes_limit: u64,
    /// How many times its own size an archive, or one file of it, may become.
    pub archive_ratio_limit: u64,
    /// Folders inside folders.
    pub archive_depth_limit: u64,
    /// Longest path of a file in an archive.
    pub archive_path_limit_bytes: u64,
    /// Archives unpacked at once by changes, and as many by renders.
    pub unpacking_limit: u64,
    /// Until a change has its turn to hold an archive.
    pub unpacking_timeout_ms: u64,
    /// Changes of templates under way of one account.
    pub changes_account_limit: u64,
    /// Unpacked templates kept in memory.
    pub cache_bytes: u64,
    /// A template that was begun and not saved goes after so long.
    pub unfinished_retention_s: u64,
    /// Between two sweeps of what is over.
    pub sweep_interval_s: u64,
    /// Objects whose templates one sweep looks for.
    pub sweep_objects_limit: u64,
    /// An object that no template names goes when it is so old.
    pub orphan_age_s: u64,
    /// Longest title.
    pub title_limit_chars: u64,
    /// Longest description.
    pub description_limit_chars: u64,
    /// Categories of one template.
    pub categories_limit: u64,
    /// Longest category.
    pub category_limit_chars: u64,
    /// Longest `sourceCode` link.
    pub link_limit_chars: u64,
    /// Variables that are kept of a template.
    pub variables_limit: u64,
    /// Until a saved template's variables are told.
    pub variables_timeout_ms: u64,
    /// Templates that one page of a filtered list looks at.
    pub list_scan_limit: u64,
}

impl TemplatesConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("templates.archive_entries_limit", self.archive_entries_limit, 1, 65_535);
        faults.within("templates.archive_bytes_limit", self.archive_bytes_limit, 1_024, 4 << 30);
        faults.within("templates.archive_ratio_limit", self.archive_ratio_limit, 2, 1_100);
        faults.within("templates.archive_depth_limit", self.archive_depth_limit, 1, 128);
        faults.within("templates.archive_path_limit_bytes", self.archive_path_limit_bytes, 16, 4_096);
        faults.within("templates.unpacking_limit", self.unpacking_limit, 1, 64);
        faults.within("templates.unpacking_timeout_ms", self.unpacking_timeout_ms, 100, 600_000);
        faults.within("templates.changes_account_limit", self.changes_account_limit, 1, 10_000);
        faults.within("templates.cache_bytes", self.cache_bytes, 0, 1 << 40);
        faults.within("templates.unfinished_retention_s", self.unfinished_retention_s, 60, 31_536_000);
        faults.within("templates.sweep_interval_s", self.sweep_interval_s, 1, 86_400);
        faults.within("templates.orphan_age_s", self.orphan_age_s, 60, 31_536_000);
        faults.within("templates.sweep_objects_limit", self.sweep_objects_limit, 1, 10_000_000);
        faults.within("templates.title_limit_chars", self.title_limit_chars, 1, 1_000);
        faults.within("templates.description_limit_chars", self.description_limit_chars, 1, 10_000);
        faults.within("templates.categories_limit", self.categories_limit, 1, 100);
        faults.within("templates.category_limit_chars", self.category_limit_chars, 1, 200);
        faults.within("templates.link_limit_chars", self.link_limit_chars, 1, 4_000);
        faults.within("templates.variables_limit", self.variables_limit, 1, 1_000);
        faults.within("templates.variables_timeout_ms", self.variables_timeout_ms, 10, 60_000);
        faults.within("templates.list_scan_limit", self.list_scan_limit, 1, 100_000);
    }
}
