//! Idle detection: whether anything of a page is pending, by what its watch reports and what it requests.
//!
//! The watch (`assets/idle_page.js`) runs in every frame in the page's own world, before the page's scripts, and reports by a
//! binding what is pending of timers, frames, requests and changes. The browser's events add what it cannot see: requests
//! of style sheets and imports, frames that load. Hazard: the page can break the watch. It delays only itself by that, by
//! `browser.rest_cap_ms` at most. Its workers report in the same way (`workers.rs`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use super::loads::PendingLoads;
use crate::browser::cdp::event::Event;

/// The binding by which the watch reports; it takes it from the page's world before the page can see it.
pub(in crate::browser) const BINDING: &str = "platenReportIdle";
/// What the watch reports of a page that heeds scrolling.
const SCROLLS: &str = "scrolls";
/// Most frames that are known one by one; a page may make any number.
const KNOWN_LIMIT: usize = 1_000;
/// Most requests and reports of a page; then its events are switched off, and it counts as busy until the cap.
const REPORTS_LIMIT: u32 = 5_000;
const NAMED_CHARS: usize = 200;
/// Most pending things that a message names.
const NAMED: usize = 3;
/// A frame that is silent for longer is gone: those that are there report every second.
const SILENCE: Duration = Duration::from_millis(2_500);

/// What is pending in a page.
#[derive(Clone, Debug, Default)]
pub struct IdleState {
    /// The last report of each frame, by its script context; those of workers are negative.
    frames: HashMap<i64, Frame>,
    top: Option<i64>,
    loads: PendingLoads,
    /// When a watch last reported that something is pending.
    pub(in crate::browser) last_busy: Option<Instant>,
    /// When a worker last reported.
    worker_reported: Option<Instant>,
    /// Workers whose script has not run yet.
    starting: HashSet<i64>,
    /// Workers that we are attached to, and whose frame or parent is still there.
    attached: u32,
    /// Workers that ended before their script ran, since a watch last reported how many it began.
    taken_back: u32,
    /// Workers whose frame or parent has gone, and whose own end was not reported yet.
    orphaned: u32,
    /// There are more workers than are watched.
    has_unwatched: bool,
    /// Script of the main frame is told when the page is scrolled.
    pub(in crate::browser) heeds_scrolling: bool,
    /// Reports, requests and workers so far.
    pub(in crate::browser) event_count: u32,
    /// Whether the events of script contexts are switched off: contexts go unnoticed.
    contexts_are_off: bool,
    /// Contexts that may have gone with a frame, unless they report again, and since when.
    doubted: HashSet<i64>,
    doubted_at: Option<Instant>,
}

/// The last report of a frame or worker.
#[derive(Clone, Debug)]
struct Frame {
    status: Status,
    /// What it has pending, in a few words.
    pending: String,
    /// Workers that it began.
    workers: u32,
}

/// A call of a binding.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BindingCalled<'a> {
    pub name: &'a str,
    #[serde(borrow)]
    pub payload: Cow<'a, str>,
    execution_context_id: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Busy,
    Quiet,
    Idle,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum IdleVerdict {
    Pending,
    /// Nothing has changed for the quiet window, but the page ticks.
    Quiet,
    /// Nothing is pending that can be seen.
    Idle,
    /// Nothing is pending, and nothing could be that is not seen.
    Done,
}

impl IdleState {
    /// Takes what `event` says of the page whose main frame is `main`; false when it is about something else.
    pub(in crate::browser) fn handle_event(&mut self, event: Event<'_>, main: &str) -> bool {
        match event.method {
            "Runtime.bindingCalled" => self.report(event, None),
            "Runtime.executionContextDestroyed" => self.context_destroyed(event),
            "Runtime.executionContextsCleared" => self.forget_frames(),
            "Network.requestWillBeSent" => {
                self.event_count += 1;
                self.loads.requested(event);
            }
            "Network.loadingFinished" => self.loads.answered(event, true),
            "Network.loadingFailed" => self.loads.answered(event, false),
            "Page.frameStartedLoading" => self.loads.began(event),
            "Page.frameStoppedLoading" => self.loads.ended(event, main),
            "Page.frameDetached" => {
                self.loads.gone(event);
                self.doubt_frames();
            }
            _ => return false,
        }
        true
    }

    /// A worker was attached to, and is known by `id` from now on.
    pub(in crate::browser) fn worker_began(&mut self, id: i64) {
        self.event_count += 1;
        self.attached += 1;
        self.starting.insert(id);
    }

    /// There is one worker more than are watched.
    pub(in crate::browser) fn note_unwatched_worker(&mut self) {
        self.event_count += 1;
        self.has_unwatched = true;
    }

    /// Takes what the session of a worker reports; false when it is about something else.
    pub(in crate::browser) fn handle_worker_event(&mut self, event: Event<'_>, id: i64) -> bool {
        match event.method {
            "Runtime.bindingCalled" => self.report(event, Some(id)),
            "Inspector.workerScriptLoaded" => {
                self.starting.remove(&id);
            }
            _ => return false,
        }
        true
    }

    /// A worker has ended. One that ended before its script ran is no longer in its frame's count; those of a frame that has
    /// gone were subtracted with it.
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

    /// Whether the page has reported and requested so much that its events are to be switched off.
    pub(in crate::browser) fn is_flooded(&self) -> bool {
        self.event_count > REPORTS_LIMIT
    }

    /// The events of script contexts are switched off.
    pub(in crate::browser) fn lose_contexts(&mut self) {
        self.contexts_are_off = true;
    }

    /// The main frame shows another document: the contexts of the last one have gone.
    pub(in crate::browser) fn document_changed(&mut self) {
        if self.contexts_are_off {
            self.forget_frames();
        }
    }

    /// A frame is gone, or shows another document. Which contexts went with it is not known here: those that stay silent are
    /// forgotten later.
    pub(in crate::browser) fn doubt_frames(&mut self) {
        if self.contexts_are_off {
            let top = self.top;
            self.doubted.extend(self.frames.keys().copied().filter(|id| *id >= 0 && Some(*id) != top));
            self.doubted_at = Some(Instant::now());
        }
    }

    /// What is waited for, in a few words; empty when nothing is known to be.
    pub(in crate::browser) fn pending(&self) -> String {
        let busy = self.frames.values().filter(|frame| frame.status == Status::Busy);
        let busy = busy.map(|frame| frame.pending.clone());
        let requests = self.loads.addresses().map(|url| format!("a request to {url}"));
        // From its first statement on a worker reports itself.
        let is_silent = self.starting.iter().any(|id| !self.frames.contains_key(id));
        let starting = (is_silent || self.lacks_workers()).then(|| "the script of a worker".to_owned());
        let unwatched = self
            .has_unwatched
            .then(|| "more workers than are watched (browser.watched_workers_limit)".to_owned());
        first_of(busy.chain(requests).chain(starting).chain(unwatched))
    }

    /// What goes on though it is not waited for, in a few words.
    pub(in crate::browser) fn ongoing(&self) -> String {
        first_of(self.frames.values().map(|frame| frame.pending.clone()))
    }

    pub(in crate::browser) fn verdict(&self) -> IdleVerdict {
        // Its last reports may be old.
        if self.is_flooded() {
            return IdleVerdict::Pending;
        }
        let known = self.top.is_some() && self.loads.is_over();
        let awaits_workers = !self.starting.is_empty() || self.lacks_workers() || self.has_unwatched;
        let any = |wanted| self.frames.values().any(|frame| frame.status == wanted);
        if !known || awaits_workers || any(Status::Busy) {
            return IdleVerdict::Pending;
        }
        match (any(Status::Quiet), any(Status::Idle)) {
            (true, _) => IdleVerdict::Quiet,
            (false, true) => IdleVerdict::Idle,
            (false, false) => IdleVerdict::Done,
        }
    }

    /// When the last request or load ended, or a worker last reported; the page's own load does not count once it is done.
    pub(in crate::browser) fn last_end(&self) -> Option<Instant> {
        self.loads.last_end(self.verdict() != IdleVerdict::Done).max(self.worker_reported)
    }

    /// When a script came about which no watch has reported anything since. Hazard: it is compiled beside the page before it runs,
    /// and on a loaded machine the page is at rest meanwhile (seen: printed 20 ms after the script had come).
    pub(in crate::browser) fn script_came(&self) -> Option<Instant> {
        self.loads.script_came().filter(|came| self.last_busy < Some(*came))
    }

    fn report(&mut self, event: Event<'_>, worker: Option<i64>) {
        self.event_count += 1;
        let called = event.parse::<BindingCalled<'_>>().filter(|called| called.name == BINDING);
        let Some(called) = called else { return };
        if called.payload == SCROLLS {
            self.heeds_scrolling = true;
            return;
        }
        // Script contexts of workers and frames share numbers, so workers have ours.
        let id = worker.unwrap_or(called.execution_context_id);
        let mut parts = called.payload.splitn(4, ':');
        let (place, status) = (parts.next(), parts.next());
        let workers = parts.next().and_then(|count| count.parse().ok()).unwrap_or_default();
        let status = match status {
            Some("idle") => Status::Idle,
            Some("done") => Status::Done,
            Some("quiet") => Status::Quiet,
            _ => Status::Busy,
        };
        let now = Some(Instant::now());
        if status == Status::Busy {
            self.last_busy = now;
        }
        if worker.is_some() {
            self.worker_reported = now;
        } else if place == Some("top") {
            self.top = Some(id);
        }
        self.taken_back = 0;
        self.doubted.remove(&id);
        self.forget_silent();
        if self.frames.len() < KNOWN_LIMIT || self.frames.contains_key(&id) {
            let pending = parts.next().unwrap_or_default().chars().take(NAMED_CHARS).collect();
            self.frames.insert(id, Frame { status, pending, workers });
        }
    }

    /// Whether frames and workers report more workers than we are attached to.
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
        (self.has_unwatched, self.heeds_scrolling) = (false, false);
        self.doubted.clear();
        self.loads.forget_requests();
        self.top = None;
    }

    /// Forgets a frame or worker, and the workers that it began.
    fn forget_frame(&mut self, id: i64) {
        if let Some(frame) = self.frames.remove(&id) {
            let gone = frame.workers.saturating_sub(std::mem::take(&mut self.taken_back));
            self.attached = self.attached.saturating_sub(gone);
            self.orphaned += gone;
        }
    }

    fn context_destroyed(&mut self, event: Event<'_>) {
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
