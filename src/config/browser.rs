//! Chromium: processes, tabs, deadlines, limits.

use serde::Deserialize;

use super::{SettingErrors, Start};

/// Section `[browser]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserConfig {
    /// Chromium to start; empty: the first known one that is installed.
    pub executable: String,
    /// When the processes for pages are started; those of quarantine are always started when needed.
    pub start: Start,
    /// Chromium processes for pages with script.
    pub processes: u64,
    /// Chromium processes for pages without script, in which no script ever runs; 0: such pages share the others.
    pub static_processes: u64,
    /// Chromium processes, started when needed, for accounts in quarantine: one account at a time in each.
    pub quarantine_processes: u64,
    /// How long an account stays in quarantine after a Chromium died with pages of it, or a page of it exceeded a
    /// limit there.
    pub quarantine_s: u64,
    /// Chromium processes, started when needed, for pages that draw with WebGL: one page at a time in each, and no two
    /// accounts in one; 0: no WebGL.
    pub graphics_processes: u64,
    /// How long a Chromium for WebGL waits for a further page of its account.
    pub graphics_idle_s: u64,
    /// Pages rendered at once, over all processes; 0: by cores and memory.
    pub tabs: u64,
    /// Pages without script rendered at once; 0: one a core and two more.
    pub static_pages: u64,
    /// Fresh tabs of each lane made ahead in idle time.
    pub spare_tabs: u64,
    /// Started as this user when the service runs as root; made by scripts/setup.
    pub user: String,
    /// Public keys that certificates of pages' hosts may have, or be signed by, besides those Chromium trusts: base64
    /// of the SHA-256 of each.
    pub trusted_keys: Vec<String>,
    /// Font family of text that names none, and of `serif` and `sans-serif`; empty: Chromium's own.
    pub default_font: String,
    /// What `serif` means; empty: `default_font`.
    pub serif_font: String,
    /// What `sans-serif` means; empty: `default_font`.
    pub sans_serif_font: String,
    /// What `monospace` means; empty: Chromium's own.
    pub monospace_font: String,
    /// Chromium's own sandbox; switching it off is logged at every start.
    pub sandbox: bool,
    /// Longest time for a started Chromium to answer.
    pub launch_timeout_ms: u64,
    /// Longest time for Chromium to answer a call that should be quick.
    pub call_timeout_ms: u64,
    /// Longest time to the page's load event.
    pub load_timeout_ms: u64,
    /// Longest wait for fonts and `waitForSelector`.
    pub readiness_timeout_ms: u64,
    /// Longest time to make the file of a loaded page.
    pub print_timeout_ms: u64,
    /// How much longer load, readiness and print may take for each MB (2^20 bytes) of a page and its data, within
    /// `jobs.run_timeout_s`.
    pub long_page_ms_per_mb: u64,
    /// A page with only repeating timers or polling is printed after so long without a request or a change.
    pub quiet_window_ms: u64,
    /// Timers of a page that are longer than this are not waited for.
    pub timer_limit_ms: u64,
    /// A chain of timers (each sets the next) is waited for up to so many without a change of the document.
    pub timer_chain_limit: u64,
    /// A chain of timers or animation frames is waited for up to so long without a change of the document.
    pub chain_limit_ms: u64,
    /// The same few words that timers put anew again and again, a clock, are no longer waited for after so long.
    pub clock_limit_ms: u64,
    /// Most steps in which a page is scrolled to its end, and most times that a list of it grows because its end is seen;
    /// 0: off.
    pub seen_steps_limit: u64,
    /// Workers of a page at once that are watched until idle; a page with more is waited for until `rest_cap_ms`.
    pub watched_workers_limit: u64,
    /// A page that never becomes idle is printed after so long, with a warning.
    pub rest_cap_ms: u64,
    /// A page's JavaScript heap, against which the elements of its document count as well.
    pub heap_limit_mb: u64,
    /// A page's whole renderer process, more ends its job; 0: a quarter of the memory, 1 to 4 GB.
    pub renderer_memory_limit_mb: u64,
    /// What a page sends in console messages, dialogs and the addresses it asks for; more ends its job.
    pub told_limit_mb: u64,
    /// Blobs that one frame or worker of a page makes in all, held by Chromium's browser process; more ends its job.
    pub blob_limit_mb: u64,
    /// Locks (`navigator.locks`) that one frame or worker of a page requests in all; more ends its job.
    pub lock_limit: u64,
    /// Total length of the addresses (`data:`) that a page's frames navigate to; more ends its job.
    pub frame_address_limit_mb: u64,
    /// Memory of Chromium's browser process; more ends it, and its pages are rendered again.
    pub own_memory_limit_mb: u64,
    /// Processor time after which a page has low priority among the pages, and after ten times that the lowest. After a quarter
    /// of it the page counts as long, and its Chromium has low priority while other jobs run.
    pub yield_after_ms: u64,
    /// How often Chromium's memory is measured while pages are open.
    pub memory_watch_ms: u64,
    /// How often a Chromium is asked whether it still answers.
    pub ping_interval_ms: u64,
    /// A Chromium that answers nothing and does nothing for so long is ended, a stopped one sooner, and its pages are rendered
    /// again; 0: never.
    pub hung_ms: u64,
    /// How often a page is rendered again because a process of its Chromium was stopped.
    pub hung_retry_limit: u64,
    /// Longest wait for a free tab.
    pub lease_timeout_ms: u64,
    /// A Chromium is replaced after so many documents; 0: never.
    pub recycle_documents: u64,
    /// A Chromium is replaced at this age; 0: never.
    pub recycle_age_s: u64,
    /// A Chromium whose processes hold so much memory together is replaced; 0: never.
    pub recycle_memory_mb: u64,
    /// A Chromium younger than this is not replaced for its documents, age or memory.
    pub recycle_pause_s: u64,
    /// How long a replaced Chromium may take to finish its pages; then they are rendered again in another one.
    pub recycle_drain_s: u64,
    /// Which pages with script of an account may follow one another in a tab, cleaned in between.
    pub scripted_reuse: ScriptedReuse,
    /// Documents that one tab makes, all of one account; 0 or 1: a new tab for each.
    pub reuse_documents: u64,
    /// An idle tab older than this is not reused.
    pub reuse_age_s: u64,
    /// A tab whose renderer process holds more memory than this is not reused after a page with script.
    pub reuse_memory_mb: u64,
    /// Longest time to empty a tab for reuse; a tab that takes longer is closed.
    pub reset_timeout_ms: u64,
    /// A page without script gets its files (styles, pictures, fonts) as `data:` addresses where these are no longer
    /// than this in all; 0: never.
    pub inlined_limit_bytes: u64,
    /// Memory for the `data:` addresses of templates' files, each made once.
    pub inlined_cache_bytes: u64,
    /// Longest files (pictures, fonts) of a template that header and footer of formatOpts show, in all, as `data:` addresses.
    pub header_files_limit_bytes: u64,
    /// A PDF is read from Chromium in pieces of this size.
    pub output_chunk_bytes: u64,
    /// Widest and highest viewport of formatOpts.
    pub viewport_side_limit_px: u64,
    /// Most pixels of an image.
    pub picture_limit_pixels: u64,
    /// Longest waitForTimeout of formatOpts.
    pub wait_limit_ms: u64,
    /// A PDF of more pages is not tagged, unless `tagged: true` asks for it: tags double its time.
    pub tagged_pages_limit: u64,
}

/// Which pages with script may follow one another in a tab; never those of different accounts.
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
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("browser.processes", self.processes, 1, 64);
        errors.within("browser.static_processes", self.static_processes, 0, 64);
        errors.within("browser.quarantine_processes", self.quarantine_processes, 1, 64);
        errors.within("browser.quarantine_s", self.quarantine_s, 1, 86_400);
        errors.within("browser.graphics_processes", self.graphics_processes, 0, 64);
        errors.within("browser.graphics_idle_s", self.graphics_idle_s, 1, 86_400);
        errors.within("browser.tabs", self.tabs, 0, 256);
        for key in self.trusted_keys.iter().filter(|key| !is_key(key)) {
            let detail = format!("'{key}' is no SHA-256 of a public key in base64 (44 characters)");
            errors.add("browser.trusted_keys", detail);
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
                errors.add(key, detail);
            }
        }
        errors.within("browser.static_pages", self.static_pages, 0, 256);
        errors.within("browser.spare_tabs", self.spare_tabs, 0, 64);
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
            errors.within(key, value, 100, 3_600_000);
        }
        self.validate_waits(errors);
        errors.within("browser.heap_limit_mb", self.heap_limit_mb, 32, 16_384);
        let renderer = self.renderer_memory_limit_mb;
        if renderer > 0 {
            errors.within("browser.renderer_memory_limit_mb", renderer, 128, 65_536);
        }
        errors.within("browser.told_limit_mb", self.told_limit_mb, 1, 65_536);
        errors.within("browser.blob_limit_mb", self.blob_limit_mb, 1, 65_536);
        errors.within("browser.lock_limit", self.lock_limit, 1, 10_000_000);
        errors.within("browser.frame_address_limit_mb", self.frame_address_limit_mb, 1, 65_536);
        errors.within("browser.own_memory_limit_mb", self.own_memory_limit_mb, 256, 65_536);
        errors.within("browser.recycle_documents", self.recycle_documents, 0, 1_000_000_000);
        errors.within("browser.recycle_age_s", self.recycle_age_s, 0, 31_536_000);
        if self.recycle_memory_mb > 0 {
            errors.within("browser.recycle_memory_mb", self.recycle_memory_mb, 512, 1 << 20);
        }
        errors.within("browser.recycle_pause_s", self.recycle_pause_s, 0, 86_400);
        errors.within("browser.recycle_drain_s", self.recycle_drain_s, 1, 86_400);
        self.validate_reuse(errors);
        errors.within("browser.output_chunk_bytes", self.output_chunk_bytes, 4_096, 1 << 26);
        errors.within("browser.viewport_side_limit_px", self.viewport_side_limit_px, 1_058, 10_000_000);
        errors.within("browser.picture_limit_pixels", self.picture_limit_pixels, 840_052, 1 << 30);
        errors.within("browser.wait_limit_ms", self.wait_limit_ms, 0, 600_000);
        errors.within("browser.tagged_pages_limit", self.tagged_pages_limit, 0, 1_000_000);
    }

    fn validate_waits(&self, errors: &mut SettingErrors) {
        errors.within("browser.quiet_window_ms", self.quiet_window_ms, 10, 60_000);
        errors.within("browser.timer_limit_ms", self.timer_limit_ms, 0, 600_000);
        errors.within("browser.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        errors.within("browser.timer_chain_limit", self.timer_chain_limit, 0, 10_000);
        errors.within("browser.long_page_ms_per_mb", self.long_page_ms_per_mb, 0, 600_000);
        errors.within("browser.chain_limit_ms", self.chain_limit_ms, 0, 600_000);
        errors.within("browser.clock_limit_ms", self.clock_limit_ms, 0, 600_000);
        errors.within("browser.seen_steps_limit", self.seen_steps_limit, 0, 10_000);
        errors.within("browser.watched_workers_limit", self.watched_workers_limit, 0, 1_000);
        if self.hung_ms > 0 {
            errors.within("browser.hung_ms", self.hung_ms, 500, 600_000);
        }
        errors.within("browser.hung_retry_limit", self.hung_retry_limit, 0, 100);
        errors.within("browser.memory_watch_ms", self.memory_watch_ms, 50, 60_000);
        errors.within("browser.rest_cap_ms", self.rest_cap_ms, self.quiet_window_ms, 600_000);
    }

    fn validate_reuse(&self, errors: &mut SettingErrors) {
        errors.within("browser.reuse_documents", self.reuse_documents, 0, 1_000_000);
        errors.within("browser.reuse_age_s", self.reuse_age_s, 0, 86_400);
        errors.within("browser.reuse_memory_mb", self.reuse_memory_mb, 64, 65_536);
        errors.within("browser.inlined_limit_bytes", self.inlined_limit_bytes, 0, 2 << 20);
        errors.within("browser.header_files_limit_bytes", self.header_files_limit_bytes, 0, 16 << 20);
        errors.within("browser.inlined_cache_bytes", self.inlined_cache_bytes, 0, 1 << 36);
    }
}

/// One font family. It is written into a style sheet in quotes, so quotes and separators would break out of it.
fn is_family(text: &str) -> bool {
    let letters = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '.' | '+');
    text.chars().count() <= 100 && text.trim() == text && text.chars().all(letters)
}

/// A SHA-256 in base64. It is written into Chromium's command line, so no other text may pass.
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
            let message = load(wrong).unwrap_err().to_string();
            let expected = format!("browser.serif_font: '{wrong}' is no family of fonts");
            assert!(message.contains(&expected), "{message}");
        }
    }

    #[test]
    fn a_trusted_key_is_a_base64_sha256() {
        let load =
            |keys: &str| Config::load(None, [("PLATEN__BROWSER__TRUSTED_KEYS".to_owned(), keys.to_owned())]);
        let key = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(load(&format!("[\"{key}\"]")).unwrap().browser.trusted_keys, [key]);
        for wrong in ["x", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF,=", "--no-sandbox"] {
            let message = load(&format!("[\"{wrong}\"]")).unwrap_err().to_string();
            assert!(message.contains(&format!("browser.trusted_keys: '{wrong}'")), "{message}");
        }
    }
}
