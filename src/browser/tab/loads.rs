//! Requests and loads of a page by the browser's events: what the watch in the page cannot see.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use tokio::time::Instant;

use crate::browser::cdp::event::Event;

/// Requests that are not counted: the watch sees them better (for the browser they end only when a script has read what
/// came), they stay open by their nature, or no document waits for them.
const OTHER_REQUESTS: [&str; 8] =
    ["Fetch", "XHR", "EventSource", "WebSocket", "Media", "Ping", "Prefetch", "CSPViolationReport"];
/// Most requests and frames that are known one by one; a page may make any number.
const KNOWN_LIMIT: usize = 1_000;
const NAMED_CHARS: usize = 100;

/// A request that was not answered yet.
#[derive(Clone, Debug)]
pub(super) struct Requested {
    address: String,
    frame: Option<String>,
    is_script: bool,
}

/// Requests and frames without an end yet, and when the last one ended.
#[derive(Clone, Debug, Default)]
pub(in crate::browser) struct PendingLoads {
    pub(super) requests: HashMap<String, Requested>,
    /// Frames that load a document.
    loading: HashSet<String>,
    /// When the last request or load ended, that of the page itself apart.
    ended: Option<Instant>,
    /// When the page itself had loaded.
    loaded: Option<Instant>,
    /// When the last script that was requested after the page's own load came.
    script_came: Option<Instant>,
}

impl PendingLoads {
    /// Whether nothing is requested or loads.
    pub(in crate::browser) fn is_over(&self) -> bool {
        self.requests.is_empty() && self.loading.is_empty()
    }

    /// What is requested.
    pub(in crate::browser) fn addresses(&self) -> impl Iterator<Item = &String> {
        self.requests.values().map(|request| &request.address)
    }

    /// When the last of them ended; the load of the page itself counts where `counts_page`.
    pub(in crate::browser) fn last_end(&self, counts_page: bool) -> Option<Instant> {
        self.ended.max(self.loaded.filter(|_| counts_page))
    }

    /// When the last script came that the page's own load did not wait for. It may not have run yet.
    pub(in crate::browser) fn script_came(&self) -> Option<Instant> {
        self.script_came
    }

    pub(in crate::browser) fn requested(&mut self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Sent<'a> {
            request_id: String,
            loader_id: String,
            #[serde(rename = "type")]
            kind: Option<String>,
            #[serde(borrow)]
            request: Request<'a>,
            frame_id: Option<String>,
        }
        // An address may be a whole picture.
        #[derive(Deserialize)]
        struct Request<'a> {
            #[serde(borrow)]
            url: Cow<'a, str>,
        }
        let Some(sent) = event.parse::<Sent<'_>>() else { return };
        // The request of a worker's own script has no loader, and its end is not among these events.
        let kind = sent.kind.as_deref().unwrap_or_default();
        let is_script = kind == "Script";
        let is_other = sent.loader_id.is_empty() || OTHER_REQUESTS.contains(&kind);
        if !is_other && self.requests.len() < KNOWN_LIMIT {
            let address = sent.request.url.chars().take(NAMED_CHARS).collect();
            self.requests.insert(sent.request_id, Requested { address, frame: sent.frame_id, is_script });
        }
    }

    /// `did_come`: it did not fail.
    pub(in crate::browser) fn answered(&mut self, event: Event<'_>, did_come: bool) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Ended {
            request_id: String,
        }
        if let Some(Ended { request_id }) = event.parse() {
            let request = self.requests.remove(&request_id);
            self.ended = Some(Instant::now());
            if did_come && self.loaded.is_some() && request.is_some_and(|request| request.is_script) {
                self.script_came = self.ended;
            }
        }
    }

    /// The page shows another document.
    pub(super) fn forget_requests(&mut self) {
        self.requests.clear();
        self.script_came = None;
    }

    pub(in crate::browser) fn began(&mut self, event: Event<'_>) {
        if self.loading.len() < KNOWN_LIMIT {
            self.loading.extend(frame_of(event));
        }
    }

    /// A frame is gone. Hazard: the end of a request that it had under way is not always reported (tried), and the page would
    /// be waited for until the cap.
    pub(in crate::browser) fn gone(&mut self, event: Event<'_>) {
        if let Some(frame) = frame_of(event) {
            self.loading.remove(&frame);
            self.requests.retain(|_, request| request.frame.as_ref() != Some(&frame));
            self.ended = Some(Instant::now());
        }
    }

    pub(in crate::browser) fn ended(&mut self, event: Event<'_>, main: &str) {
        if let Some(frame) = frame_of(event) {
            self.loading.remove(&frame);
            let ended = if frame == main { &mut self.loaded } else { &mut self.ended };
            *ended = Some(Instant::now());
        }
    }
}

fn frame_of(event: Event<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Loading {
        frame_id: String,
    }
    event.parse::<Loading>().map(|loading| loading.frame_id)
}
