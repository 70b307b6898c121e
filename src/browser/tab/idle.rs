//! Idle detection: whether anything of a page is pending, by what its watch reports and what it requests.
//!
//! The watch (`assets/rest.js`) runs in every frame in the page's own world, before the page's scripts, and
//! tells by a binding what is pending of timers, frames, requests and changes. The browser's events add what
//! it cannot see: requests of style sheets and imports, frames that load. What a page does to the watch, it
//! does to itself: the longest that it can be waited for is `browser.rest_cap_ms`. Its workers tell in the same way
//! (`page_workers.rs`).

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use super::loads::PendingLoads;
use crate::browser::cdp::connection::Event;

/// The binding by which the watch tells; it takes it from the page's world before the page can see it.
pub(in crate::browser) const BINDING: &str = "platenTellsRest";
/// Most frames that are told apart; a page may make any number.
const KNOWN_LIMIT: usize = 1_000;
/// After so many requests and tellings a page is not heard any more: it ends at the cap.
const HEARD_LIMIT: u32 = 5_000;
const NAMED_CHARS: usize = 200;
/// Things that are named of those that are pending.
const NAMED: usize = 3;
/// A frame that is there tells again every second.
const SILENCE: Duration = Duration::from_millis(2_500);

/// What is known of a page's rest.
#[derive(Clone, Debug, Default)]
pub struct IdleState {
    /// What the watch of each frame told last, by its script context; those of workers are negative.
    frames: HashMap<i64, Frame>,
    top: Option<i64>,
    loads: PendingLoads,
    /// When a watch last told that something goes on.
    stirred: Option<Instant>,
    /// When a worker's last told.
    worker_told: Option<Instant>,
    /// Workers whose script has not run yet.
    starting: HashSet<i64>,
    /// Workers that were attached to, of frames and workers that are still there.
    attached: u32,
    /// Workers that were taken back since a watch last told how many it began.
    taken_back: u32,
    /// Workers whose beginner has gone, and which may have ended or not.
    orphaned: u32,
    /// There are more workers than are watched.
    has_unwatched: bool,
    heard: u32,
    /// Whether nobody tells any more which script contexts have gone.
    is_deaf: bool,
    /// Contexts that may have gone with a frame, unless they tell again, and since when.
    doubted: HashSet<i64>,
    doubted_at: Option<Instant>,
}

/// What a watch told.
#[derive(Clone, Debug)]
struct Frame {
    told: Told,
    /// What it has pending, in a few words.
    pending: String,
    /// Workers that it began.
    workers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Busy,
    Quiet,
    Rest,
    Done,
}

/// Whether a page is at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum Verdict {
    /// Something is pending.
    Pending,
    /// Nothing has changed for the quiet window, but the page ticks.
    Quiet,
    /// Nothing is pending that can be seen.
    Rest,
    /// Nothing is pending, and nothing could be that is not seen.
    Done,
}

impl IdleState {
    /// Takes what `event` says of the rest of the page whose main frame is `main`; false when it is about
    /// something else.
    pub(in crate::browser) fn hear(&mut self, event: Event<'_>, main: &str) -> bool {
        match event.method {
            "Runtime.bindingCalled" => self.told(event, None),
            "Runtime.executionContextDestroyed" => self.left(event),
            "Runtime.executionContextsCleared" => self.forget_frames(),
            "Network.requestWillBeSent" => {
                self.heard += 1;
                self.loads.requested(event);
            }
            "Network.loadingFinished" | "Network.loadingFailed" => self.loads.answered(event),
            "Page.frameStartedLoading" => self.loads.began(event),
            "Page.frameStoppedLoading" => self.loads.ended(event, main),
            "Page.frameDetached" => {
                self.loads.ended(event, main);
                self.doubt_frames();
            }
            _ => return false,
        }
        true
    }

    /// A worker was attached to, and is known by `id` from now on.
    pub(in crate::browser) fn worker_began(&mut self, id: i64) {
        self.heard += 1;
        self.attached += 1;
        self.starting.insert(id);
    }

    /// There is one worker more than are watched.
    pub(in crate::browser) fn has_unwatched_worker(&mut self) {
        self.heard += 1;
        self.has_unwatched = true;
    }

    /// Takes what the session of a worker tells of its rest; false when it tells something else.
    pub(in crate::browser) fn hear_worker(&mut self, event: Event<'_>, id: i64) -> bool {
        match event.method {
            "Runtime.bindingCalled" => self.told(event, Some(id)),
            "Inspector.workerScriptLoaded" => {
                self.starting.remove(&id);
            }
            _ => return false,
        }
        true
    }

    /// A worker has ended. Whoever ends one before its script ran counts it no more; who has gone is not counted with
    /// its workers already.
    pub(in crate::browser) fn worker_ended(&mut self, id: i64) {
        let was_starting = self.starting.remove(&id);
        if self.orphaned > 0 {
            self.orphaned -= 1;
        } else if was_starting {
            self.attached = self.attached.saturating_sub(1);
            self.taken_back += 1;
        }
        self.forget_frame(id);
    }

    /// How often something was told so far.
    pub(in crate::browser) fn heard(&self) -> u32 {
        self.heard
    }

    /// When a watch last told that something goes on.
    pub(in crate::browser) fn stirred(&self) -> Option<Instant> {
        self.stirred
    }

    /// Whether the page has told and requested so much that nothing of it should be heard any more.
    pub(in crate::browser) fn is_flooded(&self) -> bool {
        self.heard > HEARD_LIMIT
    }

    /// From now on contexts go without a word.
    pub(in crate::browser) fn lose_contexts(&mut self) {
        self.is_deaf = true;
    }

    /// The main frame shows another document: the contexts of the last one have gone.
    pub(in crate::browser) fn document_changed(&mut self) {
        if self.is_deaf {
            self.forget_frames();
        }
    }

    /// A frame left, or shows another document: which contexts have gone with it, their silence tells.
    pub(in crate::browser) fn doubt_frames(&mut self) {
        if self.is_deaf {
            let top = self.top;
            self.doubted.extend(self.frames.keys().copied().filter(|id| *id >= 0 && Some(*id) != top));
            self.doubted_at = Some(Instant::now());
        }
    }

    /// What is waited for, in a few words; empty when nothing is known to be.
    pub(in crate::browser) fn pending(&self) -> String {
        let told = self.frames.values().filter(|frame| frame.told == Told::Busy);
        let told = told.map(|frame| frame.pending.clone());
        let requests = self.loads.addresses().map(|url| format!("a request to {url}"));
        // From its first statement on a worker tells by itself.
        let is_silent = self.starting.iter().any(|id| !self.frames.contains_key(id));
        let starting = (is_silent || self.lacks_workers()).then(|| "the script of a worker".to_owned());
        let unwatched = self
            .has_unwatched
            .then(|| "more workers than are watched (browser.watched_workers_limit)".to_owned());
        first_of(told.chain(requests).chain(starting).chain(unwatched))
    }

    /// What goes on though it is not waited for, in a few words.
    pub(in crate::browser) fn left_over(&self) -> String {
        first_of(self.frames.values().map(|frame| frame.pending.clone()))
    }

    pub(in crate::browser) fn verdict(&self) -> Verdict {
        // What it said last may be long ago.
        if self.is_flooded() {
            return Verdict::Pending;
        }
        let known = self.top.is_some() && self.loads.is_over();
        let awaits_workers = !self.starting.is_empty() || self.lacks_workers() || self.has_unwatched;
        let any = |wanted| self.frames.values().any(|frame| frame.told == wanted);
        if !known || awaits_workers || any(Told::Busy) {
            return Verdict::Pending;
        }
        match (any(Told::Quiet), any(Told::Rest)) {
            (true, _) => Verdict::Quiet,
            (false, true) => Verdict::Rest,
            (false, false) => Verdict::Done,
        }
    }

    /// When something of the page's last came to an end, that of the page itself left out when it is done.
    pub(in crate::browser) fn last_end(&self) -> Option<Instant> {
        self.loads.last_end(self.verdict() != Verdict::Done).max(self.worker_told)
    }

    fn told(&mut self, event: Event<'_>, worker: Option<i64>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Called {
            name: String,
            payload: String,
            execution_context_id: i64,
        }
        self.heard += 1;
        let Some(called) = event.parse::<Called>().filter(|called| called.name == BINDING) else { return };
        // Those of workers have numbers of their own.
        let id = worker.unwrap_or(called.execution_context_id);
        let mut parts = called.payload.splitn(4, ':');
        let (place, status) = (parts.next(), parts.next());
        let workers = parts.next().and_then(|count| count.parse().ok()).unwrap_or_default();
        let told = match status {
            Some("rest") => Told::Rest,
            Some("done") => Told::Done,
            Some("quiet") => Told::Quiet,
            _ => Told::Busy,
        };
        let now = Some(Instant::now());
        if told == Told::Busy {
            self.stirred = now;
        }
        if worker.is_some() {
            self.worker_told = now;
        } else if place == Some("top") {
            self.top = Some(id);
        }
        self.taken_back = 0;
        self.doubted.remove(&id);
        self.forget_silent();
        if self.frames.len() < KNOWN_LIMIT || self.frames.contains_key(&id) {
            let pending = parts.next().unwrap_or_default().chars().take(NAMED_CHARS).collect();
            self.frames.insert(id, Frame { told, pending, workers });
        }
    }

    /// Whether a worker was begun that was not heard of yet.
    fn lacks_workers(&self) -> bool {
        self.frames.values().map(|frame| frame.workers).fold(0, u32::saturating_add) > self.attached
    }

    fn forget_silent(&mut self) {
        if self.doubted_at.is_some_and(|at| at.elapsed() >= SILENCE) {
            for id in std::mem::take(&mut self.doubted) {
                self.forget_frame(id);
            }
            self.doubted_at = None;
        }
    }

    fn forget_frames(&mut self) {
        self.frames.clear();
        self.starting.clear();
        (self.attached, self.taken_back, self.orphaned) = (0, 0, 0);
        self.has_unwatched = false;
        self.doubted.clear();
        self.loads.forget_requests();
        self.top = None;
    }

    /// With who began them those workers are no longer counted that were attached to.
    fn forget_frame(&mut self, id: i64) {
        if let Some(frame) = self.frames.remove(&id) {
            let gone = frame.workers.saturating_sub(std::mem::take(&mut self.taken_back));
            self.attached = self.attached.saturating_sub(gone);
            self.orphaned += gone;
        }
    }

    fn left(&mut self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Destroyed {
            execution_context_id: i64,
        }
        let Some(Destroyed { execution_context_id: id }) = event.parse() else { return };
        self.forget_frame(id);
        self.top = self.top.filter(|top| *top != id);
    }
}

/// The first few of these, each once.
fn first_of(pending: impl Iterator<Item = String>) -> String {
    let mut pending: Vec<String> = pending.filter(|it| !it.is_empty()).collect();
    pending.sort();
    pending.dedup();
    pending.truncate(NAMED);
    pending.join(", ")
}

#[cfg(test)]
mod tests;
