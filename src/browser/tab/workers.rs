//! The workers of a page: watched from before their first statement, and asked whether they compute.
//!
//! What a worker does no script of its page's can see, and while it computes it tells nothing. So Chromium halts each
//! before its script runs; the watch is put in there, and it goes on. A question to a worker is answered when it has
//! nothing else to do. Session and watch are for waiting alone: a worker that breaks them delays or spoils its own page.
//! The halt is the debugger's, for only at the script's first statement a worker has all that the watch stands before
//! (tried: `setTimeout` is not there earlier). From then on the debugger is off.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use headless_chrome::protocol::cdp::{Debugger, Inspector, Runtime, Target};
use serde::Deserialize;

use super::events::{PageEnd, PageEvents, rest_binding};
use super::excess::Excess;
use crate::browser::cdp::connection::{Event, EventSink};
use crate::browser::cdp::wire::LongEvent;
use crate::browser::page::load;
use crate::browser::page::scripts::IdleScripts;

/// The sessions of a page's workers.
#[derive(Default)]
pub(in crate::browser) struct PageWorkers {
    watches: OnceLock<IdleScripts>,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    /// No worker is listened to any more.
    is_closed: bool,
    /// Workers so far, which numbers them.
    count: i64,
    living: HashMap<Arc<str>, i64>,
}

/// Hears one worker.
struct WorkerEvents {
    page: std::sync::Weak<PageEvents>,
    session: Arc<str>,
    id: i64,
}

impl PageWorkers {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageEvents {
    /// From now on workers are watched as `watches` say.
    pub(in crate::browser) fn watch_workers(&self, watches: &IdleScripts) {
        let _ = self.workers.watches.set(watches.clone());
    }

    /// The sessions of those that are there.
    pub(in crate::browser) fn worker_sessions(&self) -> Vec<Arc<str>> {
        self.workers.sessions().living.keys().cloned().collect()
    }

    /// Listens to no worker any more, now and later; those that are halted go on.
    pub(in crate::browser) fn release_workers(&self) {
        for session in self.forget_workers() {
            drop(self.connection.send(Some(&session), &attach_all(false)));
            drop(self.connection.send(Some(&session), &Debugger::Disable(None)));
            drop(self.connection.send(Some(&session), &Runtime::RunIfWaitingForDebugger(None)));
        }
        drop(self.connection.send(Some(&self.session), &attach_all(false)));
    }

    /// Listens to no worker any more, now and later; answers the sessions of those that are there.
    pub(in crate::browser) fn forget_workers(&self) -> Vec<Arc<str>> {
        let living = {
            let mut sessions = self.workers.sessions();
            sessions.is_closed = true;
            std::mem::take(&mut sessions.living)
        };
        for session in living.keys() {
            self.connection.forget(session);
        }
        living.into_keys().collect()
    }

    /// A worker of `parent`, the page or one of its workers, is there, halted.
    pub(in crate::browser) fn worker_attached(&self, event: Event<'_>, parent: &Arc<str>) {
        self.attach_worker(subject_of(event).as_deref(), parent);
    }

    /// The same by the worker's session.
    pub(in crate::browser) fn attach_worker(&self, session: Option<&str>, parent: &Arc<str>) {
        let (Some(session), Some(watches)) = (session, self.workers.watches.get()) else { return };
        let session: Arc<str> = session.into();
        let Some(id) = self.enter(&session, watches.workers_limit) else {
            // It goes on as soon as nobody is attached to it.
            let detach = Target::DetachFromTarget { session_id: Some(session.to_string()), target_id: None };
            drop(self.connection.send(Some(parent), &detach));
            return self.update_idle(|rest| {
                rest.has_unwatched_worker();
                true
            });
        };
        self.update_idle(|rest| {
            rest.worker_began(id);
            true
        });
        let events = WorkerEvents { page: self.this.clone(), session: Arc::clone(&session), id };
        let sink: Arc<dyn EventSink> = Arc::new(events);
        self.connection.listen(Arc::clone(&session), &sink);
        self.halt_at_script(&session);
    }

    /// The number of a worker that is to be listened to.
    fn enter(&self, session: &Arc<str>, limit: usize) -> Option<i64> {
        let mut sessions = self.workers.sessions();
        if sessions.is_closed || sessions.living.len() >= limit {
            return None;
        }
        sessions.count += 1;
        let id = -sessions.count;
        sessions.living.insert(Arc::clone(session), id);
        Some(id)
    }

    /// Lets a worker go on until its script begins. A call that cannot be sent has no worker to go to.
    fn halt_at_script(&self, session: &Arc<str>) {
        let to = Some(session);
        let at_script = Debugger::SetInstrumentationBreakpoint {
            instrumentation:
                Debugger::SetInstrumentationBreakpointInstrumentationOption::BeforeScriptExecution,
        };
        drop(self.connection.send(to, &Inspector::Enable(None)));
        drop(self.connection.send(to, &rest_binding()));
        drop(self.connection.send(to, &Debugger::Enable { max_scripts_cache_size: Some(0.0) }));
        drop(self.connection.send(to, &at_script));
        drop(self.connection.send(to, &attach_all(true)));
        drop(self.connection.send(to, &Runtime::RunIfWaitingForDebugger(None)));
    }

    /// Puts the watch in front of a script that is about to begin, and lets it.
    fn watch_worker(&self, session: &Arc<str>) {
        let Some(watches) = self.workers.watches.get() else { return };
        drop(self.connection.send(Some(session), &load::evaluate(watches.worker.to_string(), None)));
        drop(self.connection.send(Some(session), &Debugger::Disable(None)));
    }

    /// A session has ended: a worker's, or the page's own.
    pub(in crate::browser) fn detached(&self, event: Event<'_>) {
        let Some(session) = subject_of(event) else { return };
        if *session == *self.session {
            return self.end(PageEnd::Closed);
        }
        let id = self.workers.sessions().living.remove(session.as_str());
        if let Some(id) = id {
            self.update_idle(|rest| {
                rest.worker_ended(id);
                true
            });
        }
    }
}

impl EventSink for WorkerEvents {
    fn event(&self, event: Event<'_>) {
        let Some(page) = self.page.upgrade() else { return };
        page.count_event_bytes(event.length() as u64);
        match event.method {
            "Debugger.paused" => page.watch_worker(&self.session),
            "Target.attachedToTarget" => page.worker_attached(event, &self.session),
            "Target.detachedFromTarget" => page.detached(event),
            _ => match Excess::told(event) {
                Some(excess) => page.end(PageEnd::Exceeded(excess)),
                None => page.update_idle(|rest| rest.hear_worker(event, self.id)),
            },
        }
    }

    fn long_event(&self, event: &LongEvent) {
        let Some(page) = self.page.upgrade() else { return };
        page.count_event_bytes(event.bytes);
        // Each says the address of the script, which may be all of it.
        match event.method() {
            Some("Debugger.paused") => page.watch_worker(&self.session),
            Some("Target.attachedToTarget") => page.attach_worker(event.subject(), &self.session),
            Some(_) | None => {}
        }
    }

    fn closed(&self) {}
}

/// Has Chromium attach to workers when they begin, and halt them; or no more.
pub(in crate::browser) fn attach_all(is_wanted: bool) -> Target::SetAutoAttach {
    let workers = Target::FilterEntry { exclude: None, Type: Some("worker".to_owned()) };
    Target::SetAutoAttach {
        auto_attach: is_wanted,
        wait_for_debugger_on_start: is_wanted,
        flatten: Some(true),
        filter: is_wanted.then(|| vec![workers]),
    }
}

fn subject_of(event: Event<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct About {
        #[serde(rename = "sessionId")]
        session: String,
    }
    event.parse::<About>().map(|about| about.session)
}
