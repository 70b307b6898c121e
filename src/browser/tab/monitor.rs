//! Counts the events of a page and its workers: a page that sends too much is ended, or its idle detection is switched off.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use headless_chrome::protocol::cdp::types::Method;
use headless_chrome::protocol::cdp::{Debugger, Network, Runtime, Target};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

use super::canvas::{CanvasReport, PageGraphics};
use super::excess::PageExcess;
use super::idle::{BINDING, IdleState};
use super::page_state::{PageEnd, PageState};
use crate::browser::cdp::connection::Connection;
use crate::browser::cdp::event::Event;

/// The record of one page, shared by the sinks of the page and its workers.
pub(in crate::browser) struct PageMonitor {
    pub connection: Connection,
    pub session: Arc<str>,
    pub state: watch::Sender<PageState>,
    workers: Mutex<WorkerSessions>,
    /// Set when the page has reported and requested so much that its idle detection is off.
    flooded: AtomicBool,
    event_bytes: AtomicU64,
    frame_address_bytes: AtomicU64,
    limits: EventLimits,
    /// Whether its page gets WebGL.
    graphics: Mutex<PageGraphics>,
}

/// Largest sums of bytes of one page's events.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct EventLimits {
    /// Of all events.
    pub all_bytes: u64,
    /// Of addresses that its frames go to.
    pub frame_address_bytes: u64,
}

#[derive(Default)]
struct WorkerSessions {
    /// No further worker is listened to.
    is_closed: bool,
    /// Workers so far, which numbers them.
    count: i64,
    living: HashMap<Arc<str>, i64>,
}

impl PageMonitor {
    pub(in crate::browser) fn new(connection: Connection, session: Arc<str>, limits: EventLimits) -> Self {
        Self {
            connection,
            session,
            state: watch::Sender::default(),
            workers: Mutex::default(),
            flooded: AtomicBool::default(),
            event_bytes: AtomicU64::default(),
            frame_address_bytes: AtomicU64::default(),
            limits,
            graphics: Mutex::default(),
        }
    }

    /// Sets whether the page that comes gets WebGL.
    pub(super) fn set_graphics(&self, graphics: PageGraphics) {
        *self.graphics.lock() = graphics;
    }

    /// Handles what a script of ours reports by a call of the binding, but for what is pending; false where it is that.
    pub(super) fn handle_report(&self, event: Event<'_>) -> bool {
        if let Some(excess) = PageExcess::reported(event) {
            self.end(PageEnd::Exceeded(excess));
        } else if let Some(report) = CanvasReport::of(event) {
            match report.warning(*self.graphics.lock()) {
                Some(warning) => self.state.send_modify(|state| state.warnings.push(&warning)),
                None => self.end(PageEnd::NeedsGraphics),
            }
        } else {
            return false;
        }
        true
    }

    /// Forgets what the page has reported, for the next one in the tab; that a page has ended is kept, for the tab with it.
    pub(in crate::browser) fn reset(&self) {
        self.reset_counts();
        self.state.send_modify(|state| *state = PageState { end: state.end, ..PageState::default() });
    }

    /// Sets the counts of its events back to zero.
    pub(super) fn reset_counts(&self) {
        self.event_bytes.store(0, Ordering::Relaxed);
        self.frame_address_bytes.store(0, Ordering::Relaxed);
        self.flooded.store(false, Ordering::Relaxed);
    }

    /// The first end counts.
    pub(super) fn end(&self, end: PageEnd) {
        self.state.send_if_modified(|state| {
            let first = state.end.is_none();
            state.end.get_or_insert(end);
            first
        });
    }

    /// Sends a call to `session` without waiting for its answer; where it cannot be sent the page is gone.
    pub(super) fn send_to<M: Method + Serialize>(&self, session: &Arc<str>, method: &M) {
        drop(self.connection.send(Some(session), method));
    }

    /// The same to the page.
    pub(super) fn send<M: Method + Serialize>(&self, method: &M) {
        self.send_to(&self.session, method);
    }

    /// Hazard: events of a page whose script never pauses cannot be switched off, and reading them takes time from all
    /// pages. So the page is ended at a limit.
    pub(super) fn count_event_bytes(&self, bytes: u64) {
        if self.event_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limits.all_bytes {
            self.end(PageEnd::TooManyEvents);
        }
    }

    pub(super) fn count_frame_address(&self, bytes: u64) {
        if self.frame_address_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes
            > self.limits.frame_address_bytes
        {
            self.end(PageEnd::Exceeded(PageExcess::FrameAddresses));
        }
    }

    /// Changes what is known to be pending; `update` answers whether it did.
    pub(super) fn update_idle(&self, update: impl FnOnce(&mut IdleState) -> bool) {
        let mut flooded = false;
        self.state.send_if_modified(|state| {
            let changed = update(&mut state.idle);
            flooded = changed && state.idle.is_flooded();
            changed
        });
        if flooded && !self.flooded.swap(true, Ordering::Relaxed) {
            self.stop_idle_detection();
        }
    }

    fn stop_idle_detection(&self) {
        self.send(&Network::Disable(None));
        self.send(&Runtime::RemoveBinding { name: BINDING.to_owned() });
        // Workers that are halted go on.
        for session in self.forget_workers() {
            self.send_to(&session, &attach_to_workers(false));
            self.send_to(&session, &Debugger::Disable(None));
            self.send_to(&session, &Runtime::RunIfWaitingForDebugger(None));
        }
        self.send(&attach_to_workers(false));
    }

    /// The sessions of the page's workers.
    pub(in crate::browser) fn worker_sessions(&self) -> Vec<Arc<str>> {
        self.workers.lock().living.keys().cloned().collect()
    }

    /// Listens to no worker, now and later; answers the sessions of those that are there.
    pub(in crate::browser) fn forget_workers(&self) -> Vec<Arc<str>> {
        let living = {
            let mut workers = self.workers.lock();
            workers.is_closed = true;
            std::mem::take(&mut workers.living)
        };
        for session in living.keys() {
            self.connection.forget(session);
        }
        living.into_keys().collect()
    }

    /// Whether the page has had any worker, or may have had.
    pub(in crate::browser) fn has_had_workers(&self) -> bool {
        let workers = self.workers.lock();
        workers.count > 0 || workers.is_closed
    }

    /// The number of a worker that is to be watched; `None` beyond `limit`. Negative, unlike the script contexts of frames.
    pub(super) fn add_worker(&self, session: &Arc<str>, limit: usize) -> Option<i64> {
        let mut workers = self.workers.lock();
        workers.count += 1;
        if workers.is_closed || workers.living.len() >= limit {
            return None;
        }
        let id = -workers.count;
        workers.living.insert(Arc::clone(session), id);
        Some(id)
    }

    /// The number of a worker that has ended.
    pub(super) fn remove_worker(&self, session: &str) -> Option<i64> {
        self.workers.lock().living.remove(session)
    }
}

/// The binding by which the watch of a page or worker reports.
pub(super) fn add_binding() -> Runtime::AddBinding {
    Runtime::AddBinding { name: BINDING.to_owned(), execution_context_id: None, execution_context_name: None }
}

/// Has Chromium attach to workers when they begin, and halt them; or no more.
pub(super) fn attach_to_workers(is_wanted: bool) -> Target::SetAutoAttach {
    let workers = Target::FilterEntry { exclude: None, Type: Some("worker".to_owned()) };
    Target::SetAutoAttach {
        auto_attach: is_wanted,
        wait_for_debugger_on_start: is_wanted,
        flatten: Some(true),
        filter: is_wanted.then(|| vec![workers]),
    }
}
