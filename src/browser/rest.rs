//! Whether a page is at rest: what its watch tells, and what it requests.
//!
//! The watch (`assets/rest.js`) runs in every frame in the page's own world, before the page's scripts, and
//! tells by a binding what is pending of timers, frames, requests and changes. The browser's events add what
//! it cannot see: requests of style sheets and imports, frames that load. What a page does to the watch, it
//! does to itself: the longest that it can be waited for is `browser.rest_cap_ms`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use super::cdp::Event;

/// The binding by which the watch tells; it takes it from the page's world before the page can see it.
pub(super) const BINDING: &str = "platenTellsRest";
/// Most frames and requests that are told apart; a page may make any number.
const KNOWN_LIMIT: usize = 1_000;
/// Requests that the watch sees better (they end for the browser only when somebody reads what came), that
/// stay open by their nature, and that nobody waits for.
const OTHER_REQUESTS: [&str; 8] =
    ["Fetch", "XHR", "EventSource", "WebSocket", "Media", "Ping", "Prefetch", "CSPViolationReport"];
/// After so many requests and tellings a page is not heard any more: it ends at the cap.
const HEARD_LIMIT: u32 = 5_000;
const NAMED_CHARS: usize = 100;
/// A frame that is there tells again every second.
const SILENCE: Duration = Duration::from_millis(2_500);

/// What is known of a page's rest.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// What the watch of each frame told last, by its script context.
    frames: HashMap<i64, Told>,
    top: Option<i64>,
    /// Requests without an end yet, with their addresses.
    requests: HashMap<String, String>,
    /// Frames that load a document.
    loading: HashSet<String>,
    /// When the last request or load ended, that of the page itself apart.
    ended: Option<Instant>,
    /// When the page itself had loaded.
    loaded: Option<Instant>,
    heard: u32,
    /// Whether nobody tells any more which script contexts have gone.
    is_deaf: bool,
    /// Contexts that may have gone with a frame, unless they tell again, and since when.
    doubted: HashSet<i64>,
    doubted_at: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Busy(String),
    Quiet,
    Rest,
    Done,
}

/// Whether a page is at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something is pending.
    Pending,
    /// Nothing has changed for the quiet window, but the page ticks.
    Quiet,
    /// Nothing is pending that can be seen.
    Rest,
    /// Nothing is pending, and nothing could be that is not seen.
    Done,
}

impl Rest {
    /// Takes what `event` says of the rest of the page whose main frame is `main`; false when it is about
    /// something else.
    pub(super) fn hear(&mut self, event: Event<'_>, main: &str) -> bool {
        match event.method {
            "Runtime.bindingCalled" => self.told(event),
            "Runtime.executionContextDestroyed" => self.left(event),
            "Runtime.executionContextsCleared" => self.forget_frames(),
            "Network.requestWillBeSent" => self.requested(event),
            "Network.loadingFinished" | "Network.loadingFailed" => self.answered(event),
            "Page.frameStartedLoading" => self.load_began(event),
            "Page.frameStoppedLoading" => self.load_ended(event, main),
            "Page.frameDetached" => {
                self.load_ended(event, main);
                self.doubt_frames();
            }
            _ => return false,
        }
        true
    }

    /// Whether the page has told and requested so much that nothing of it should be heard any more.
    pub(super) fn is_flooded(&self) -> bool {
        self.heard > HEARD_LIMIT
    }

    /// From now on contexts go without a word.
    pub(super) fn lose_contexts(&mut self) {
        self.is_deaf = true;
    }

    /// The main frame shows another document: the contexts of the last one have gone.
    pub(super) fn document_changed(&mut self) {
        if self.is_deaf {
            self.forget_frames();
        }
    }

    /// A frame left, or shows another document: which contexts have gone with it, their silence tells.
    pub(super) fn doubt_frames(&mut self) {
        if self.is_deaf {
            let top = self.top;
            self.doubted.extend(self.frames.keys().copied().filter(|id| Some(*id) != top));
            self.doubted_at = Some(Instant::now());
        }
    }

    /// What is pending, in a few words; empty when nothing is known to be.
    pub(super) fn pending(&self) -> String {
        let told = self.frames.values().filter_map(|told| match told {
            Told::Busy(why) => Some(why.clone()),
            Told::Quiet | Told::Rest | Told::Done => None,
        });
        let requests = self.requests.values().map(|url| format!("a request to {url}"));
        let mut pending: Vec<String> = told.chain(requests).collect();
        pending.sort();
        pending.dedup();
        pending.truncate(3);
        pending.join(", ")
    }

    pub(super) fn verdict(&self) -> Verdict {
        // What it said last may be long ago.
        if self.is_flooded() {
            return Verdict::Pending;
        }
        let known = self.top.is_some() && self.loading.is_empty() && self.requests.is_empty();
        if !known || self.frames.values().any(|told| matches!(told, Told::Busy(_))) {
            return Verdict::Pending;
        }
        let any = |wanted| self.frames.values().any(|told| *told == wanted);
        match (any(Told::Quiet), any(Told::Rest)) {
            (true, _) => Verdict::Quiet,
            (false, true) => Verdict::Rest,
            (false, false) => Verdict::Done,
        }
    }

    /// When something of the page's last came to an end, that of the page itself left out when it is done.
    pub(super) fn last_end(&self) -> Option<Instant> {
        let loaded = self.loaded.filter(|_| self.verdict() != Verdict::Done);
        self.ended.into_iter().chain(loaded).max()
    }

    fn told(&mut self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Called {
            name: String,
            payload: String,
            execution_context_id: i64,
        }
        self.heard += 1;
        let Some(called) = event.parse::<Called>().filter(|called| called.name == BINDING) else { return };
        let mut parts = called.payload.splitn(3, ':');
        let (place, status, why) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        let told = match status {
            Some("rest") => Told::Rest,
            Some("done") => Told::Done,
            Some("quiet") => Told::Quiet,
            _ => Told::Busy(why.chars().take(NAMED_CHARS).collect()),
        };
        if place == Some("top") {
            self.top = Some(called.execution_context_id);
        }
        self.doubted.remove(&called.execution_context_id);
        self.forget_silent();
        if self.frames.len() < KNOWN_LIMIT || self.frames.contains_key(&called.execution_context_id) {
            self.frames.insert(called.execution_context_id, told);
        }
    }

    fn forget_silent(&mut self) {
        if self.doubted_at.is_some_and(|at| at.elapsed() >= SILENCE) {
            for id in self.doubted.drain() {
                self.frames.remove(&id);
            }
            self.doubted_at = None;
        }
    }

    fn forget_frames(&mut self) {
        self.frames.clear();
        self.doubted.clear();
        self.requests.clear();
        self.top = None;
    }

    fn left(&mut self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Destroyed {
            execution_context_id: i64,
        }
        let Some(Destroyed { execution_context_id: id }) = event.parse() else { return };
        self.frames.remove(&id);
        self.top = self.top.filter(|top| *top != id);
    }

    fn requested(&mut self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Sent<'a> {
            request_id: String,
            loader_id: String,
            #[serde(rename = "type")]
            kind: Option<String>,
            #[serde(borrow)]
            request: Request<'a>,
        }
        // An address may be a whole picture.
        #[derive(Deserialize)]
        struct Request<'a> {
            #[serde(borrow)]
            url: Cow<'a, str>,
        }
        self.heard += 1;
        let Some(sent) = event.parse::<Sent<'_>>() else { return };
        // The end of a worker's own script, which no document loads, is told to nobody here.
        let is_other = sent.loader_id.is_empty()
            || sent.kind.is_some_and(|kind| OTHER_REQUESTS.contains(&kind.as_str()));
        if !is_other && self.requests.len() < KNOWN_LIMIT {
            self.requests.insert(sent.request_id, sent.request.url.chars().take(NAMED_CHARS).collect());
        }
    }

    fn answered(&mut self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Ended {
            request_id: String,
        }
        if let Some(Ended { request_id }) = event.parse() {
            self.requests.remove(&request_id);
            self.ended = Some(Instant::now());
        }
    }

    fn load_began(&mut self, event: Event<'_>) {
        if self.loading.len() < KNOWN_LIMIT {
            self.loading.extend(frame_of(event));
        }
    }

    fn load_ended(&mut self, event: Event<'_>, main: &str) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(rest: &mut Rest, method: &str, params: &str) {
        let params = serde_json::value::RawValue::from_string(params.to_owned()).unwrap();
        assert!(rest.hear(Event::of(method, &params), "MAIN"));
    }

    fn tell(rest: &mut Rest, context: i64, payload: &str) {
        let params = serde_json::json!({"name": BINDING, "payload": payload, "executionContextId": context});
        hear(rest, "Runtime.bindingCalled", &params.to_string());
    }

    #[test]
    fn a_page_that_is_not_heard_any_more_is_not_at_rest() {
        let mut rest = Rest::default();
        for _ in 0..HEARD_LIMIT {
            tell(&mut rest, 1, "top:rest:");
        }
        assert_eq!(rest.verdict(), Verdict::Rest);
        tell(&mut rest, 1, "top:rest:");
        assert!(rest.is_flooded());
        assert_eq!(rest.verdict(), Verdict::Pending);
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_that_left_unheard_is_forgotten_when_it_is_silent() {
        let mut rest = Rest::default();
        rest.lose_contexts();
        for (context, told) in [(1, "top:rest:"), (2, "frame:busy:a timer"), (3, "frame:busy:a fetch")] {
            tell(&mut rest, context, told);
        }
        hear(&mut rest, "Page.frameDetached", r#"{"frameId":"F"}"#);
        tell(&mut rest, 3, "frame:rest:");
        tell(&mut rest, 1, "top:rest:");
        assert_eq!(rest.verdict(), Verdict::Pending);
        tokio::time::advance(SILENCE).await;
        tell(&mut rest, 1, "top:rest:");
        assert_eq!(rest.verdict(), Verdict::Rest);
        assert!(rest.frames.contains_key(&3));
        rest.document_changed();
        assert_eq!(rest.verdict(), Verdict::Pending);
    }
}
