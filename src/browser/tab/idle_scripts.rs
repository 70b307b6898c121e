//! The scripts that run before those of a page, as the configuration makes them: they watch whether it is idle, and keep it
//! from leaving cookies to others.

use std::sync::Arc;

use serde_json::json;

use super::idle::BINDING;
use crate::config::BrowserConfig;

const BOUNDS: &str = include_str!("../../../assets/bounds.js");
const HOST_COOKIES: &str = include_str!("../../../assets/host_cookies.js");
const PAGE_WATCH: &str = include_str!("../../../assets/rest.js");
const WORKER_WATCH: &str = include_str!("../../../assets/rest_worker.js");
const WATCH_BOOK: &str = include_str!("../../../assets/rest_book.js");
const WATCH_BEGUN: &str = include_str!("../../../assets/rest_begun.js");
const WATCH_DOORS: &str = include_str!("../../../assets/rest_doors.js");

/// The scripts that report what is pending, each behind the one that counts what is made in Chromium's own process.
#[derive(Clone, Debug)]
pub(in crate::browser) struct IdleScripts {
    /// For each frame of a page.
    pub page: Arc<str>,
    /// For each of its workers.
    pub worker: Arc<str>,
    /// How many workers of a page are watched at once.
    pub workers_limit: usize,
}

impl IdleScripts {
    pub(in crate::browser) fn new(config: &BrowserConfig) -> Self {
        let (binding, blobs, locks) = (json!(BINDING), config.blob_limit_mb << 20, config.lock_limit);
        let bounds = format!("{BOUNDS}({binding},{{__proto__:null,blobs:{blobs},locks:{locks}}})");
        let limits = json!({
            "quiet": config.quiet_window_ms,
            "bound": config.timer_limit_ms,
            "links": config.timer_chain_limit,
            "patience": config.chain_limit_ms,
            // What comes later no waitForExpression can wait for.
            "far": config.readiness_timeout_ms,
            "asked": config.rest_cap_ms,
        });
        let watch =
            |script: &str| format!("{script}({binding},{limits},{WATCH_BOOK},{WATCH_BEGUN},{WATCH_DOORS})");
        let bounded = |script: &str| format!("{bounds};{}", watch(script));
        let workers_limit = usize::try_from(config.watched_workers_limit).unwrap_or(usize::MAX);
        let page = format!("{HOST_COOKIES};{}", bounded(PAGE_WATCH)).into();
        Self { page, worker: bounded(WORKER_WATCH).into(), workers_limit }
    }
}
