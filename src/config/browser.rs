//! Chromium: processes, tabs, deadlines, limits.

use serde::Deserialize;

use super::Faults;

/// Section `[browser]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserConfig {
    /// Chromium to start; empty: the first known one that is installed.
    pub executable: String,
    /// Chromium processes for pages with script.
    pub processes: u64,
    /// Chromium processes for pages without script, in which no script ever runs; 0: they use the others.
    pub static_processes: u64,
    /// Chromium processes for the pages of accounts that are in quarantine, started when they are needed: one account
    /// at a time in each.
    pub quarantine_processes: u64,
    /// How long an account stays in quarantine after a Chromium died with pages of it, or a page of it made too much there.
    pub quarantine_s: u64,
    /// Pages rendered at once, over all processes; 0: by cores and memory.
    pub tabs: u64,
    /// Pages without script rendered at once; 0: one a core and one more.
    pub static_pages: u64,
    /// Fresh tabs made ahead while there is nothing else to do.
    pub spare_tabs: u64,
    /// Started as this user when the service runs as root; made by scripts/setup.
    pub user: String,
    /// Public keys that certificates of pages' hosts may have, or may be signed by, without being known to
    /// Chromium: base64 of the SHA-256 of each.
    pub trusted_keys: Vec<String>,
    /// The family of text that asks for none, and of `serif` and `sans-serif`; empty: Chromium's own.
    pub default_font: String,
    /// What `serif` means; empty: `default_font`.
    pub serif_font: String,
    /// What `sans-serif` means; empty: `default_font`.
    pub sans_serif_font: String,
    /// What `monospace` means; empty: Chromium's own.
    pub monospace_font: String,
    /// Chromium's own sandbox; switching it off is logged at every start.
    pub sandbox: bool,
    /// Until a started Chromium answers.
    pub launch_timeout_ms: u64,
    /// Until Chromium answers a call that should be quick.
    pub call_timeout_ms: u64,
    /// Until the page's load event.
    pub load_timeout_ms: u64,
    /// Until fonts and waitForSelector are there.
    pub readiness_timeout_ms: u64,
    /// Until the file is made.
    pub print_timeout_ms: u64,
    /// A page that only ticks or polls is printed after so long without request or change.
    pub quiet_window_ms: u64,
    /// A timer of the page that is longer is not waited for.
    pub timer_limit_ms: u64,
    /// A chain of timers, each set by the one before, is waited for up to so many without a change of the document.
    pub timer_chain_limit: u64,
    /// A chain of timers or animation frames is waited for so long without a change of the document.
    pub chain_limit_ms: u64,
    /// Workers of a page at once whose rest is waited for; a page with more is waited for until the cap.
    pub watched_workers_limit: u64,
    /// A page that never rests is printed after so long, with a warning.
    pub rest_cap_ms: u64,
    /// A page's JavaScript heap.
    pub heap_limit_mb: u64,
    /// A page's whole renderer process, more ends its job; 0: a quarter of the memory, 1 to 4 GB.
    pub renderer_memory_limit_mb: u64,
    /// What a page may tell by console, dialogs and the addresses it asks for; more ends its job.
    pub told_limit_mb: u64,
    /// Blobs that one frame or worker of a page makes; more ends its job.
    pub blob_limit_mb: u64,
    /// Locks (`navigator.locks`) that one frame or worker of a page asks for; more ends its job.
    pub lock_limit: u64,
    /// Addresses that a page's frames go to, by their length; more ends its job.
    pub frame_address_limit_mb: u64,
    /// Chromium's own process; more ends it, and its pages are rendered again.
    pub own_memory_limit_mb: u64,
    /// Processor time after which a page with script yields to everybody else; not where `static_processes` is 0.
    pub yield_after_ms: u64,
    /// How often the memory of Chromium is looked at while pages are shown.
    pub memory_watch_ms: u64,
    /// How often an idle Chromium is asked whether it still answers.
    pub ping_interval_ms: u64,
    /// Until a tab is free.
    pub lease_timeout_ms: u64,
    /// A Chromium is replaced after so many documents; 0: never.
    pub recycle_documents: u64,
    /// A Chromium is replaced after so long; 0: never.
    pub recycle_age_s: u64,
    /// A Chromium is replaced when it holds so much with all its processes; 0: never.
    pub recycle_memory_mb: u64,
    /// A Chromium younger than this is not replaced by plan.
    pub recycle_pause_s: u64,
    /// How long a replaced Chromium may take for its last pages; then they are rendered again.
    pub recycle_drain_s: u64,
    /// Which pages with script may follow one another in a tab of their account.
    pub scripted_reuse: ScriptedReuse,
    /// Documents that a tab makes, all of one account; 0 or 1: one.
    pub reuse_documents: u64,
    /// A tab is kept no longer than so long.
    pub reuse_age_s: u64,
    /// A tab of pages with script is kept while its renderer process holds no more.
    pub reuse_memory_mb: u64,
    /// Until a tab that is kept shows nothing again; one that takes longer is not kept.
    pub reset_timeout_ms: u64,
    /// Files that are put into a page without script, in bytes of their `data:` addresses; 0: none, it is served.
    pub inlined_limit_bytes: u64,
    /// Memory for the `data:` addresses of templates' files, each made once.
    pub inlined_cache_bytes: u64,
    /// How much of a PDF is read from Chromium at a time.
    pub output_chunk_bytes: u64,
    /// Widest and highest viewport of formatOpts.
    pub viewport_side_limit_px: u64,
    /// Most pixels of an image.
    pub picture_limit_pixels: u64,
    /// Longest waitForTimeout of formatOpts.
    pub wait_limit_ms: u64,
    /// A PDF of more pages is not tagged, unless it shall be.
    pub tagged_pages_limit: u64,
}

/// Which pages with script may follow one another in a tab; always those of one account alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptedReuse {
    /// Those of the same template's content.
    Template,
    /// All.
    Account,
    /// None: each has a tab of its own.
    Never,
}

impl BrowserConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("browser.processes", self.processes, 1, 64);
        faults.within("browser.static_processes", self.static_processes, 0, 64);
        faults.within("browser.quarantine_processes", self.quarantine_processes, 1, 64);
        faults.within("browser.quarantine_s", self.quarantine_s, 1, 86_400);
        faults.within("browser.tabs", self.tabs, 0, 256);
        for key in self.trusted_keys.iter().filter(|key| !is_key(key)) {
            let detail = format!("'{key}' is no SHA-256 of a public key in base64 (44 characters)");
            faults.add("browser.trusted_keys", detail);
        }
        for (key, family) in [
            ("browser.default_font", &self.default_font),
            ("browser.serif_font", &self.serif_font),
            ("browser.sans_serif_font", &self.sans_serif_font),
            ("browser.monospace_font", &self.monospace_font),
        ] {
            if !is_family(family) {
                let detail = format!(
                    "'{family}' is no family of fonts; give one name as `fc-list : family` prints it, e.g. \"Open Sans\""
                );
                faults.add(key, detail);
            }
        }
        faults.within("browser.static_pages", self.static_pages, 0, 256);
        faults.within("browser.spare_tabs", self.spare_tabs, 0, 64);
        for (key, value) in [
            ("browser.launch_timeout_ms", self.launch_timeout_ms),
            ("browser.call_timeout_ms", self.call_timeout_ms),
            ("browser.load_timeout_ms", self.load_timeout_ms),
            ("browser.readiness_timeout_ms", self.readiness_timeout_ms),
            ("browser.print_timeout_ms", self.print_timeout_ms),
            ("browser.ping_interval_ms", self.ping_interval_ms),
            ("browser.lease_timeout_ms", self.lease_timeout_ms),
            ("browser.reset_timeout_ms", self.reset_timeout_ms),
        ] {
            faults.within(key, value, 100, 3_600_000);
        }
        faults.within("browser.quiet_window_ms", self.quiet_window_ms, 10, 60_000);
        faults.within("browser.timer_limit_ms", self.timer_limit_ms, 0, 600_000);
        faults.within("browser.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        faults.within("browser.timer_chain_limit", self.timer_chain_limit, 0, 10_000);
        faults.within("browser.chain_limit_ms", self.chain_limit_ms, 0, 600_000);
        faults.within("browser.watched_workers_limit", self.watched_workers_limit, 0, 1_000);
        faults.within("browser.memory_watch_ms", self.memory_watch_ms, 50, 60_000);
        faults.within("browser.rest_cap_ms", self.rest_cap_ms, self.quiet_window_ms, 600_000);
        faults.within("browser.heap_limit_mb", self.heap_limit_mb, 32, 16_384);
        let renderer = self.renderer_memory_limit_mb;
        if renderer > 0 {
            faults.within("browser.renderer_memory_limit_mb", renderer, 128, 65_536);
        }
        faults.within("browser.told_limit_mb", self.told_limit_mb, 1, 65_536);
        faults.within("browser.blob_limit_mb", self.blob_limit_mb, 1, 65_536);
        faults.within("browser.lock_limit", self.lock_limit, 1, 10_000_000);
        faults.within("browser.frame_address_limit_mb", self.frame_address_limit_mb, 1, 65_536);
        faults.within("browser.own_memory_limit_mb", self.own_memory_limit_mb, 256, 65_536);
        faults.within("browser.recycle_documents", self.recycle_documents, 0, 1_000_000_000);
        faults.within("browser.recycle_age_s", self.recycle_age_s, 0, 31_536_000);
        if self.recycle_memory_mb > 0 {
            faults.within("browser.recycle_memory_mb", self.recycle_memory_mb, 512, 1 << 20);
        }
        faults.within("browser.recycle_pause_s", self.recycle_pause_s, 0, 86_400);
        faults.within("browser.recycle_drain_s", self.recycle_drain_s, 1, 86_400);
        self.validate_reuse(faults);
        faults.within("browser.output_chunk_bytes", self.output_chunk_bytes, 4_096, 1 << 26);
        faults.within("browser.viewport_side_limit_px", self.viewport_side_limit_px, 1_058, 10_000_000);
        faults.within("browser.picture_limit_pixels", self.picture_limit_pixels, 840_052, 1 << 30);
        faults.within("browser.wait_limit_ms", self.wait_limit_ms, 0, 600_000);
        faults.within("browser.tagged_pages_limit", self.tagged_pages_limit, 0, 1_000_000);
    }

    fn validate_reuse(&self, faults: &mut Faults) {
        faults.within("browser.reuse_documents", self.reuse_documents, 0, 1_000_000);
        faults.within("browser.reuse_age_s", self.reuse_age_s, 0, 86_400);
        faults.within("browser.reuse_memory_mb", self.reuse_memory_mb, 64, 65_536);
        faults.within("browser.inlined_limit_bytes", self.inlined_limit_bytes, 0, 2 << 20);
        faults.within("browser.inlined_cache_bytes", self.inlined_cache_bytes, 0, 1 << 36);
    }
}

/// It becomes a part of a style sheet, in quotes; a list of families is none.
fn is_family(text: &str) -> bool {
    let letters = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '.' | '+');
    text.chars().count() <= 100 && text.trim() == text && text.chars().all(letters)
}

/// It becomes a part of Chromium's command line.
fn is_key(text: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
    text.len() == 44 && text.strip_suffix('=').is_some_and(|text| text.chars().all(letters))
}

#[cfg(test)]
mod tests {
    use super::super::Config;

    #[test]
    fn a_family_is_one_name() {
        let load =
            |name: &str| Config::load(None, [("PLATEN__BROWSER__SERIF_FONT".to_owned(), name.to_owned())]);
        for right in ["", "Open Sans", "Noto Serif CJK JP", "源ノ明朝"] {
            assert_eq!(load(right).unwrap().browser.serif_font, right);
        }
        for wrong in ["Arial, serif", "'Open Sans'", "a;b", " Arial", "<b>"] {
            let told = load(wrong).unwrap_err().to_string();
            assert!(told.contains(&format!("browser.serif_font: '{wrong}' is no family of fonts")), "{told}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_by_name() {
        let load =
            |keys: &str| Config::load(None, [("PLATEN__BROWSER__TRUSTED_KEYS".to_owned(), keys.to_owned())]);
        let key = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(load(&format!("[\"{key}\"]")).unwrap().browser.trusted_keys, [key]);
        for wrong in ["x", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF,=", "--no-sandbox"] {
            let told = load(&format!("[\"{wrong}\"]")).unwrap_err().to_string();
            assert!(told.contains(&format!("browser.trusted_keys: '{wrong}'")), "{told}");
        }
    }
}
