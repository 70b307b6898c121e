//! Events of a page while it is driven: loads, crashes, dialogs, what fails in it, reduced to [`PageState`].

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use headless_chrome::protocol::cdp::{Log, Page, Runtime};
use serde::Deserialize;

use super::console::{self, ConsoleEntry};
use super::excess::Excess;
use super::idle_scripts::IdleScripts;
use super::monitor::{EventLimits, PageMonitor, add_binding};
use super::page_state::{PageEnd, PageState};
use super::request_headers;
use super::workers::{self, WorkerWatch};
use crate::browser::cdp::connection::Connection;
use crate::browser::cdp::event::{Event, EventSink};
use crate::browser::cdp::wire::LongEvent;
use crate::browser::chromium::kills::{BrowserEnd, Kills};
use crate::domain::fault::WarningKind;
use crate::domain::format_opts::Requests;

/// Most exceptions, errors and warnings of the console that are heard of one page.
const HEARD_LIMIT: u32 = 500;
/// Most history entries of all pages of a tab; behind that no other page follows in it.
const ENTRIES_LIMIT: u32 = 20;
/// Most other lines of the console: they become no warning, but each has to be read.
const CHATTER_LIMIT: u32 = 10_000;
/// `SIGHUP`, `SIGINT`, `SIGKILL`, `SIGTERM`: no renderer ends itself by these. A full heap is 5, a fault in it 11 (tried).
const SIGNALS_FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];

/// Hears one page.
pub(in crate::browser) struct PageEvents {
    pub(in crate::browser) monitor: Arc<PageMonitor>,
    workers: Option<WorkerWatch>,
    /// The main frame.
    frame: String,
    kills: Arc<Kills>,
    /// Headers and cookies that its requests carry. No other page follows one that has any, so they are set once.
    pub(in crate::browser) carried: OnceLock<Requests>,
    /// The page's console was switched off.
    is_deaf: AtomicBool,
    /// Entries that all pages of the tab so far have made in its history by script, or replaced.
    entries: AtomicU32,
    /// The process that shows its pages, once a request of theirs was heard.
    pub(in crate::browser) renderer: OnceLock<i32>,
}

impl PageEvents {
    /// Begins to hear `session`, whose main frame is `frame`, and ends it when it has sent more than `limits` say; its
    /// workers are watched by `scripts`.
    pub(in crate::browser) fn listen(
        connection: &Connection,
        (session, frame): (&Arc<str>, &str),
        kills: &Arc<Kills>,
        limits: EventLimits,
        scripts: Option<&IdleScripts>,
    ) -> Arc<Self> {
        let monitor = Arc::new(PageMonitor::new(connection.clone(), Arc::clone(session), limits));
        let events = Arc::new(Self {
            workers: scripts.map(|scripts| WorkerWatch::new(&monitor, scripts.clone())),
            monitor,
            frame: frame.to_owned(),
            kills: Arc::clone(kills),
            carried: OnceLock::new(),
            is_deaf: AtomicBool::default(),
            entries: AtomicU32::default(),
            renderer: OnceLock::new(),
        });
        let sink: Arc<dyn EventSink> = Arc::<Self>::clone(&events);
        connection.listen(Arc::clone(session), &sink);
        events
    }

    /// Forgets what was heard; a page that ended stays ended.
    pub(in crate::browser) fn renew(&self) {
        self.is_deaf.store(false, Ordering::Relaxed);
        self.monitor.renew();
    }

    /// Whether Chromium takes the history entries of a further page: of one frame it takes 200 in ten seconds, whichever page
    /// they are of, and drops the others without a word.
    pub(in crate::browser) fn may_make_entries(&self) -> bool {
        self.entries.load(Ordering::Relaxed) < ENTRIES_LIMIT
    }

    /// Whether the page's console was switched off.
    pub(in crate::browser) fn has_lost_console(&self) -> bool {
        self.is_deaf.load(Ordering::Relaxed)
    }

    /// Chromium says a moment after a crash by which signal the renderer died. Our own kills apart, only a signal that no
    /// process raises itself shows that it was not the page.
    fn explain_crash(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Crashed<'a> {
            target_id: &'a str,
            error_code: i32,
        }
        let Some(crashed) = event.parse::<Crashed<'_>>().filter(|it| it.target_id == self.frame) else {
            return;
        };
        let from_outside = SIGNALS_FROM_OUTSIDE.contains(&crashed.error_code);
        self.monitor.state.send_modify(|state| {
            state.crash_is_known = true;
            if state.end == Some(PageEnd::Crashed) && from_outside {
                state.end = Some(PageEnd::Killed);
            }
        });
    }

    /// A dialog stops its page, so it is dismissed where it is heard; leaving a page is allowed.
    fn dismiss_dialog(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        struct Opening<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
        }
        self.close_dialog(event.parse::<Opening<'_>>().is_some_and(|it| it.kind == "beforeunload"));
    }

    fn close_dialog(&self, accept: bool) {
        self.monitor.send(&Page::HandleJavaScriptDialog { accept, prompt_text: None });
        self.monitor.state.send_modify(|state| state.dialogs += 1);
    }

    fn navigated(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        struct Navigated {
            frame: Frame,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Frame {
            id: String,
            loader_id: String,
            unreachable_url: Option<String>,
        }
        let Some(Navigated { frame }) = event.parse() else { return };
        self.monitor.state.send_modify(|state| {
            if frame.id != self.frame {
                return state.idle.doubt_frames();
            }
            state.documents += 1;
            state.is_loaded = false;
            state.unreachable = frame.unreachable_url;
            state.document = Some(frame.loader_id);
            state.idle.document_changed();
        });
    }

    /// An address too long to be kept is none that a page is printed from.
    fn navigated_far(&self, event: &LongEvent) {
        let of_page = format!(
            "{{\"method\":\"Page.frameNavigated\",\"params\":{{\"frame\":{{\"id\":\"{}\"",
            self.frame
        );
        if event.begins(&of_page) {
            self.monitor.state.send_modify(|state| {
                state.documents += 1;
                state.is_loaded = false;
                state.unreachable = Some(format!("an address of about {} bytes", event.bytes));
                state.document = None;
            });
        }
    }

    fn console(&self, read: impl FnOnce() -> Option<ConsoleEntry>) {
        // What was on its way when the console was switched off.
        if self.is_deaf.load(Ordering::Relaxed) {
            return;
        }
        let Some(ConsoleEntry { kind, text }) = read() else {
            if self.counts_beyond(|state| &mut state.chatter, CHATTER_LIMIT) {
                self.stop_listening(&console::too_much_chatter(CHATTER_LIMIT));
            }
            return;
        };
        self.monitor.state.send_modify(|state| match kind {
            Some(kind) => state.warnings.push_kind(kind, &text),
            None => state.warnings.push(&text),
        });
        if self.counts_beyond(|state| &mut state.heard, HEARD_LIMIT) {
            self.stop_listening(&console::too_much(HEARD_LIMIT));
        }
    }

    fn logged(&self, event: Event<'_>) {
        let mut too_much = false;
        self.monitor.state.send_if_modified(|state| {
            too_much = state.failures.hear(event);
            false
        });
        if too_much {
            self.monitor.send(&Log::Disable(None));
        }
    }

    /// A report of the watch, or of the script that counts before it.
    fn reported(&self, event: Event<'_>) {
        match Excess::reported(event) {
            Some(excess) => self.monitor.end(PageEnd::Exceeded(excess)),
            None => self.monitor.update_idle(|idle| idle.hear(event, &self.frame)),
        }
    }

    fn worker_attached(&self, session: Option<&str>) {
        if let Some(workers) = &self.workers {
            workers.attached(session, &self.monitor.session);
        }
    }

    /// Chromium names requests of pages after the process that makes them (`1234.5`), that of a document apart.
    fn requested(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Sent<'a> {
            request_id: &'a str,
        }
        if self.renderer.get().is_none()
            && let Some((process, _)) =
                event.parse::<Sent<'_>>().and_then(|sent| sent.request_id.split_once('.'))
            && let Ok(process) = process.parse()
        {
            let _ = self.renderer.set(process);
        }
    }

    fn counts_beyond(&self, counter: impl FnOnce(&mut PageState) -> &mut u32, limit: u32) -> bool {
        let mut too_much = false;
        self.monitor.state.send_if_modified(|state| {
            let count = counter(state);
            *count += 1;
            too_much = *count > limit;
            false
        });
        too_much
    }

    /// Switches off the console of a page that writes without end.
    fn stop_listening(&self, why: &str) {
        if self.is_deaf.swap(true, Ordering::Relaxed) {
            return;
        }
        self.monitor.send(&Runtime::Disable(None));
        // Which takes the binding of the page's watch away as well.
        self.monitor.send(&add_binding());
        self.monitor.state.send_modify(|state| {
            state.idle.lose_contexts();
            // A job that is to fail for what its page says must not succeed because it says too much.
            state.warnings.push_kinds(&[WarningKind::Console, WarningKind::Exception], why);
        });
    }
}

impl EventSink for PageEvents {
    fn event(&self, event: Event<'_>) {
        let monitor = &self.monitor;
        monitor.count_event_bytes(event.length() as u64);
        match event.method {
            "Page.domContentEventFired" => monitor.state.send_modify(|state| state.parsed += 1),
            "Page.loadEventFired" => monitor.state.send_modify(|state| {
                state.loads += 1;
                state.is_loaded = true;
            }),
            "Page.navigatedWithinDocument" => {
                self.entries.fetch_add(1, Ordering::Relaxed);
            }
            "Page.frameNavigated" => self.navigated(event),
            "Page.javascriptDialogOpening" => self.dismiss_dialog(event),
            "Runtime.exceptionThrown" => self.console(|| console::thrown(event)),
            "Runtime.consoleAPICalled" => self.console(|| console::on_console(event)),
            "Log.entryAdded" => self.logged(event),
            "Inspector.targetCrashed" if self.kills.claim() => monitor.end(PageEnd::TookMemory),
            "Inspector.targetCrashed" => monitor.end(PageEnd::Crashed),
            "Target.targetCrashed" => self.explain_crash(event),
            "Target.attachedToTarget" => self.worker_attached(workers::subject_of(event).as_deref()),
            "Target.detachedFromTarget" => workers::detached(monitor, event),
            "Page.frameStartedNavigating" => monitor.count_frame_address(event.length() as u64),
            "Runtime.bindingCalled" => self.reported(event),
            "Fetch.requestPaused" => request_headers::resume(monitor, self.carried.get(), event),
            method => {
                if method == "Network.requestWillBeSent" {
                    self.requested(event);
                }
                monitor.update_idle(|idle| idle.hear(event, &self.frame));
            }
        }
    }

    fn long_event(&self, event: &LongEvent) {
        self.monitor.count_event_bytes(event.bytes);
        match event.method() {
            // A question whether the page may be left has no text of the page's: this is another dialog.
            Some("Page.javascriptDialogOpening") => self.close_dialog(false),
            Some("Page.frameNavigated") => self.navigated_far(event),
            Some("Page.navigatedWithinDocument") => {
                self.entries.fetch_add(1, Ordering::Relaxed);
            }
            Some("Page.frameStartedNavigating") => self.monitor.count_frame_address(event.bytes),
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown") => {
                self.console(|| console::at_length(event));
            }
            Some("Target.attachedToTarget") => self.worker_attached(event.subject()),
            Some(_) | None => {}
        }
    }

    fn closed(&self) {
        self.monitor.end(match self.kills.end_of_browser() {
            None => PageEnd::BrowserLost,
            Some(BrowserEnd::Filled) => PageEnd::BrowserFilled,
            Some(BrowserEnd::Replaced) => PageEnd::BrowserReplaced,
        });
    }
}
