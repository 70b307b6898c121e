//! The workers of a page: watched from before their first statement, and asked whether they compute.
//!
//! Hazard: no script of its page sees what a worker does, and while it computes it reports nothing; the page would be printed
//! too early. So Chromium halts each before its script runs, the watch is put in, and it goes on. A question to a worker is
//! answered when it has nothing else to do. A worker that breaks session or watch delays or spoils its own page only. The
//! halt is a breakpoint of the debugger: only at the first statement of its script a worker has all functions that the watch
//! wraps (tried: `setTimeout` is missing earlier). Then the debugger is switched off.

use std::sync::{Arc, Weak};

use headless_chrome::protocol::cdp::{Debugger, Inspector, Runtime, Target};

use super::idle_scripts::IdleScripts;
use super::monitor::{PageMonitor, add_binding, attach_to_workers};
use super::page_state::PageEnd;
use crate::browser::cdp::commands;
use crate::browser::cdp::event::{Event, EventSink};
use crate::browser::cdp::wire::LongEvent;

/// Watches the workers of one page.
#[derive(Clone)]
pub(super) struct WorkerWatch {
    /// Weak: the connection holds the sinks of workers, and a strong one would keep page and connection alive in a circle.
    monitor: Weak<PageMonitor>,
    scripts: IdleScripts,
}

/// Receives the events of one worker.
struct WorkerEvents {
    watch: WorkerWatch,
    session: Arc<str>,
    id: i64,
}

impl WorkerWatch {
    pub(super) fn new(monitor: &Arc<PageMonitor>, scripts: IdleScripts) -> Self {
        Self { monitor: Arc::downgrade(monitor), scripts }
    }

    /// A worker of `parent`, the page or one of its workers, is there, halted; `session` is its own.
    pub(super) fn attached(&self, session: Option<&str>, parent: &Arc<str>) {
        let (Some(session), Some(monitor)) = (session, self.monitor.upgrade()) else { return };
        let session: Arc<str> = session.into();
        let Some(id) = monitor.add_worker(&session, self.scripts.workers_limit) else {
            // Detached, it goes on unwatched.
            let detach = Target::DetachFromTarget { session_id: Some(session.to_string()), target_id: None };
            monitor.send_to(parent, &detach);
            return monitor.update_idle(|idle| {
                idle.note_unwatched_worker();
                true
            });
        };
        monitor.update_idle(|idle| {
            idle.worker_began(id);
            true
        });
        let events = WorkerEvents { watch: self.clone(), session: Arc::clone(&session), id };
        let sink: Arc<dyn EventSink> = Arc::new(events);
        monitor.connection.listen(Arc::clone(&session), &sink);
        halt_at_script(&monitor, &session);
    }
}

impl EventSink for WorkerEvents {
    fn event(&self, event: Event<'_>) {
        let Some(monitor) = self.watch.monitor.upgrade() else { return };
        monitor.count_event_bytes(event.length() as u64);
        match event.method {
            "Debugger.paused" => self.insert_watch(&monitor),
            "Target.attachedToTarget" => self.watch.attached(event.subject().as_deref(), &self.session),
            "Target.detachedFromTarget" => detached(&monitor, event),
            _ if monitor.handle_report(event) => {}
            _ => monitor.update_idle(|idle| idle.handle_worker_event(event, self.id)),
        }
    }

    fn long_event(&self, event: &LongEvent) {
        let Some(monitor) = self.watch.monitor.upgrade() else { return };
        monitor.count_event_bytes(event.bytes);
        // Both have the address of the script, which may be the whole script (`data:`).
        match event.method() {
            Some("Debugger.paused") => self.insert_watch(&monitor),
            Some("Target.attachedToTarget") => self.watch.attached(event.subject(), &self.session),
            Some(_) | None => {}
        }
    }

    fn closed(&self) {}
}

impl WorkerEvents {
    /// Puts the watch in front of a script that is about to begin, and lets it.
    fn insert_watch(&self, monitor: &PageMonitor) {
        let watch = commands::evaluate(self.watch.scripts.worker.to_string());
        monitor.send_to(&self.session, &watch);
        monitor.send_to(&self.session, &Debugger::Disable(None));
    }
}

/// Lets a worker go on until its script begins.
fn halt_at_script(monitor: &PageMonitor, session: &Arc<str>) {
    let at_script = Debugger::SetInstrumentationBreakpoint {
        instrumentation: Debugger::SetInstrumentationBreakpointInstrumentationOption::BeforeScriptExecution,
    };
    monitor.send_to(session, &Inspector::Enable(None));
    monitor.send_to(session, &add_binding());
    monitor.send_to(session, &Debugger::Enable { max_scripts_cache_size: Some(0.0) });
    monitor.send_to(session, &at_script);
    monitor.send_to(session, &attach_to_workers(true));
    monitor.send_to(session, &Runtime::RunIfWaitingForDebugger(None));
}

/// A session has ended: a worker's, or the page's own.
pub(super) fn detached(monitor: &PageMonitor, event: Event<'_>) {
    let Some(session) = event.subject() else { return };
    if *session == *monitor.session {
        return monitor.end(PageEnd::Closed);
    }
    if let Some(id) = monitor.remove_worker(&session) {
        monitor.update_idle(|idle| {
            idle.worker_ended(id);
            true
        });
    }
}
