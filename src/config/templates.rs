//! Templates: limits of archives and records, the cache, and when unfinished templates are deleted.

use serde::Deserialize;

use super::SettingErrors;

/// Section `[templates]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplatesConfig {
    /// Files and folders in a template's archive.
    pub archive_entries_limit: u64,
    /// Size of a template's archive when unpacked.
    pub archive_bytes_limit: u64,
    /// How many times its packed size an archive, or one file of it, may unpack to.
    pub archive_ratio_limit: u64,
    /// Nesting of folders in an archive.
    pub archive_depth_limit: u64,
    /// Longest path of a file in an archive.
    pub archive_path_limit_bytes: u64,
    /// Archives unpacked in memory at once: so many each for changes, for renders, for jobs that bring their own; of
    /// these an account has one, one, and its share (`jobs.running_account_limit`).
    pub unpacking_limit: u64,
    /// Longest wait of a change for one of these slots.
    pub unpacking_timeout_ms: u64,
    /// Changes of templates under way of one account; one more is refused with 429.
    pub changes_account_limit: u64,
    /// Memory for unpacked templates and their generated EJS; a template that is larger is not cached.
    pub cache_bytes: u64,
    /// A template that was begun and not saved is deleted after so long.
    pub unfinished_retention_s: u64,
    /// Time between two sweeps for what has expired.
    pub sweep_interval_s: u64,
    /// Stored objects of templates that one sweep examines.
    pub sweep_objects_limit: u64,
    /// An object that no template names is deleted at this age; before, the change that names it may be on its way.
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
    /// Variables of a saved template that are listed; further ones are only counted.
    pub variables_limit: u64,
    /// Longest wait of a save for a free engine process, and then again for that to find the template's variables.
    pub variables_timeout_ms: u64,
    /// Templates that one page of a filtered list examines.
    pub list_scan_limit: u64,
}

impl TemplatesConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("templates.archive_entries_limit", self.archive_entries_limit, 1, 65_535);
        errors.within("templates.archive_bytes_limit", self.archive_bytes_limit, 1_024, 4 << 30);
        errors.within("templates.archive_ratio_limit", self.archive_ratio_limit, 2, 1_100);
        errors.within("templates.archive_depth_limit", self.archive_depth_limit, 1, 128);
        errors.within("templates.archive_path_limit_bytes", self.archive_path_limit_bytes, 16, 4_096);
        errors.within("templates.unpacking_limit", self.unpacking_limit, 1, 64);
        errors.within("templates.unpacking_timeout_ms", self.unpacking_timeout_ms, 100, 600_000);
        errors.within("templates.changes_account_limit", self.changes_account_limit, 1, 10_000);
        errors.within("templates.cache_bytes", self.cache_bytes, 0, 1 << 40);
        errors.within("templates.unfinished_retention_s", self.unfinished_retention_s, 60, 31_536_000);
        errors.within("templates.sweep_interval_s", self.sweep_interval_s, 1, 86_400);
        errors.within("templates.orphan_age_s", self.orphan_age_s, 60, 31_536_000);
        errors.within("templates.sweep_objects_limit", self.sweep_objects_limit, 1, 10_000_000);
        errors.within("templates.title_limit_chars", self.title_limit_chars, 1, 1_000);
        errors.within("templates.description_limit_chars", self.description_limit_chars, 1, 10_000);
        errors.within("templates.categories_limit", self.categories_limit, 1, 100);
        errors.within("templates.category_limit_chars", self.category_limit_chars, 1, 200);
        errors.within("templates.link_limit_chars", self.link_limit_chars, 1, 4_000);
        errors.within("templates.variables_limit", self.variables_limit, 1, 1_000);
        errors.within("templates.variables_timeout_ms", self.variables_timeout_ms, 10, 60_000);
        errors.within("templates.list_scan_limit", self.list_scan_limit, 1, 100_000);
    }
}
