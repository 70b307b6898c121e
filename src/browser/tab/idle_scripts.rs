//! The scripts that run before those of a page, filled in from the configuration: they watch whether it is idle, count what
//! it makes in Chromium's own process, report canvases without WebGL, and keep its cookies to its own host.

use std::sync::Arc;

use serde_json::json;

use super::idle::BINDING;
use crate::config::{BrowserConfig, as_count};

const BOUNDS: &str = include_str!("../../../assets/bounds.js");
const CANVASES: &str = include_str!("../../../assets/canvas.js");
const HOST_COOKIES: &str = include_str!("../../../assets/host_cookies.js");
const PAGE_WATCH: &str = include_str!("../../../assets/idle_page.js");
const WORKER_WATCH: &str = include_str!("../../../assets/idle_worker.js");
const PENDING_LIST: &str = include_str!("../../../assets/idle_pending.js");
const HOOKS: &str = include_str!("../../../assets/idle_hooks.js");
const CLOCK: &str = include_str!("../../../assets/idle_clock.js");
const SEEN: &str = include_str!("../../../assets/idle_seen.js");
const STORES: &str = include_str!("../../../assets/idle_stores.js");
const UNSEEN_HOOKS: &str = include_str!("../../../assets/idle_unseen.js");

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
            // A timer beyond this is not waited for: readiness would end first.
            "far": config.readiness_timeout_ms,
            "asked": config.rest_cap_ms,
            "clock": config.clock_limit_ms,
            "steps": config.seen_steps_limit,
        });
        let bounds = format!("{bounds};{CANVASES}({binding})");
        let shared = format!("{binding},{limits},{PENDING_LIST},{HOOKS},{UNSEEN_HOOKS},{STORES}");
        let page = format!("{HOST_COOKIES};{bounds};{PAGE_WATCH}({shared},{CLOCK},{SEEN})");
        let worker = format!("{bounds};{WORKER_WATCH}({shared})");
        let workers_limit = as_count(config.watched_workers_limit);
        Self { page: page.into(), worker: worker.into(), workers_limit }
    }
}
