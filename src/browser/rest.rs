//! Whether a page is at rest: what its watch tells, what it requests, and the waiting for it.
//!
//! The watch (`assets/rest.js`) runs in every frame in the page's own world, before the page's scripts, and
//! tells by a binding what is pending of timers, frames, requests and changes. The browser's events add what
//! it cannot see: requests of style sheets and imports, frames that load. What a page does to the watch, it
//! does to itself: the longest that it can be waited for is `browser.rest_cap_ms`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use headless_chrome::protocol::cdp::Performance;
use serde::Deserialize;
use tokio::time::Instant;

use super::cdp::{CallError, Event};
use super::events::PageState;
use super::fault::Trouble;
use super::load;
use super::page::OpenPage;

/// The binding by which the watch tells; it takes it from the page's world before the page can see it.
pub(super) const BINDING: &str = "platenTellsRest";
/// After an answer the page may need a moment to go on with it.
const GRACE: Duration = Duration::from_millis(20);
/// For how long a page is looked at that may be computing.
const COMPUTING_WINDOW: Duration = Duration::from_millis(100);
/// A page that spends more of its time in tasks computes something (tried: one that polls spends 1 %, one
/// that computes in slices of 15 ms 79 %).
const COMPUTING_SHARE: f64 = 0.3;
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
enum Verdict {
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

    fn verdict(&self) -> Verdict {
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

impl PageState {
    fn verdict(&self) -> Verdict {
        // What is shown instead of an address that cannot be reached has nothing pending.
        if self.unreachable.is_some() { Verdict::Rest } else { self.rest.verdict() }
    }
}

impl OpenPage {
    /// Returns when the page is at rest; false when it is not before the cap.
    pub(super) async fn come_to_rest(&self) -> Result<bool, Trouble> {
        if let Ok(rested) = tokio::time::timeout(self.limits.rest_cap, self.rest()).await {
            return rested.map(|()| true);
        }
        // A page that answers nothing any more is not restless, it is stuck.
        self.answers().await?;
        Ok(false)
    }

    async fn rest(&self) -> Result<(), Trouble> {
        let mut state = self.state.clone();
        loop {
            let is_ready = |state: &PageState| state.verdict() != Verdict::Pending;
            if state.wait_for(is_ready).await.is_err() {
                // Nobody hears the page any more: `within` ends the step.
                std::future::pending::<()>().await;
            }
            self.grace().await;
            // What the page has begun meanwhile is told before this is answered.
            if !self.answers().await? {
                let _ = state.changed().await;
                continue;
            }
            match self.verdict() {
                Verdict::Rest | Verdict::Done => return Ok(()),
                Verdict::Quiet if !self.computes().await? && self.verdict() != Verdict::Pending => {
                    return Ok(());
                }
                Verdict::Quiet | Verdict::Pending => {}
            }
        }
    }

    fn verdict(&self) -> Verdict {
        self.state.borrow().verdict()
    }

    /// Waits until the last answer is long enough ago; the page itself is one too, unless all of it is seen.
    async fn grace(&self) {
        loop {
            let (ended, loaded) = {
                let state = self.state.borrow();
                (state.rest.ended, state.rest.loaded.filter(|_| state.verdict() != Verdict::Done))
            };
            let served = self.visit.as_ref().and_then(|visit| visit.quiet_for());
            let ended = ended.into_iter().chain(loaded).map(|ended| ended.elapsed());
            let since = ended.chain(served).min().unwrap_or(GRACE);
            if since >= GRACE {
                return;
            }
            tokio::time::sleep(GRACE.saturating_sub(since)).await;
        }
    }

    /// Has the page answer; false when its document went away under the question.
    async fn answers(&self) -> Result<bool, Trouble> {
        let nothing = load::evaluate("0".to_owned(), None);
        match self.tab()?.call_within(nothing, self.limits.call).await {
            Ok(_) => Ok(true),
            Err(CallError::Refused { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the page, of which nothing is seen, computes something: then there is more to come.
    async fn computes(&self) -> Result<bool, Trouble> {
        let tab = self.tab()?;
        tab.call_within(Performance::Enable { time_domain: None }, self.limits.call).await?;
        let (before, begun) = (self.time_in_tasks().await?, Instant::now());
        tokio::time::sleep(COMPUTING_WINDOW).await;
        let worked = self.time_in_tasks().await? - before;
        Ok(worked > begun.elapsed().as_secs_f64() * COMPUTING_SHARE)
    }

    /// Seconds that the page has spent in tasks.
    async fn time_in_tasks(&self) -> Result<f64, Trouble> {
        let answer = self.tab()?.call_within(Performance::GetMetrics(None), self.limits.call).await?;
        Ok(answer.metrics.iter().find(|metric| metric.name == "TaskDuration").map_or(0.0, |it| it.value))
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
