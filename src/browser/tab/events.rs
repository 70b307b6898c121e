//! Events of a page while it is driven: loads, crashes, dialogs, what fails in it, reduced to [`PageState`].

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use headless_chrome::protocol::cdp::{Log, Page, Runtime};
use serde::Deserialize;

use super::console::{self, ConsoleEntry};
use super::idle_scripts::IdleScripts;
use super::monitor::{EventLimits, PageMonitor, add_binding};
use super::own_world;
use super::page_state::{PageEnd, PageState};
use super::request_headers;
use super::workers::{self, WorkerWatch};
use crate::browser::cdp::connection::Connection;
use crate::browser::cdp::event::{Event, EventSink};
use crate::browser::cdp::wire::LongEvent;
use crate::browser::chromium::kills::{BrowserEnd, Kills, RendererEnd};
use crate::domain::error::WarningKind;
use crate::domain::format_opts::Requests;
use crate::workers::is_from_outside;

/// Most exceptions, errors and warnings of a page's console; then the console is switched off.
const CONSOLE_LIMIT: u32 = 500;
/// Most history entries that scripts of all pages of a tab may make; with more it is not reused.
const ENTRIES_LIMIT: u32 = 20;
/// Most other lines of the console: they become no warning, but each has to be read.
const OTHER_LINES_LIMIT: u32 = 10_000;

/// Receives the events of one page.
pub(in crate::browser) struct PageEvents {
    pub(in crate::browser) monitor: Arc<PageMonitor>,
    workers: Option<WorkerWatch>,
    /// The main frame.
    frame: String,
    kills: Arc<Kills>,
    /// Headers and cookies that its requests carry, set once: a tab with any is not reused.
    pub(in crate::browser) carried: OnceLock<Requests>,
    /// The page's console was switched off.
    console_is_off: AtomicBool,
    /// The tab still shows the previous page: events before the next document are of that one.
    shows_previous_page: AtomicBool,
    /// Number of the page's frames, or more: one whose removal was not reported still counts, and one that came back from
    /// another process counts twice.
    pub(super) frames: AtomicU32,
    /// A frame came while the tab still showed the previous page.
    pub(super) has_late_frames: AtomicBool,
    /// A line of the console was reported since the console was emptied last.
    pub(super) has_lines: AtomicBool,
    /// History entries that scripts of all pages of the tab have made or replaced so far.
    entries: AtomicU32,
    /// The process of its renderer, known from the first request on (`requested`): a static tab makes one before its first page.
    pub(in crate::browser) renderer: Arc<OnceLock<i32>>,
}

impl PageEvents {
    /// Receives the events of `session`, whose main frame is `frame`. A page that sends more than `limits` say is ended;
    /// `scripts` watch its workers.
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
            console_is_off: AtomicBool::default(),
            shows_previous_page: AtomicBool::default(),
            frames: AtomicU32::default(),
            has_late_frames: AtomicBool::default(),
            has_lines: AtomicBool::default(),
            entries: AtomicU32::default(),
            renderer: Arc::default(),
        });
        let sink: Arc<dyn EventSink> = Arc::<Self>::clone(&events);
        connection.listen(Arc::clone(session), &sink);
        events
    }

    /// Forgets what the page has reported, for the next one in the tab; that a page has ended is kept, for the tab with it.
    pub(in crate::browser) fn reset(&self) {
        self.console_is_off.store(false, Ordering::Relaxed);
        self.shows_previous_page.store(false, Ordering::Relaxed);
        self.frames.store(0, Ordering::Relaxed);
        self.has_late_frames.store(false, Ordering::Relaxed);
        self.monitor.reset();
    }

    /// The same while the page is still shown: what it reports from now on is dropped when the next document begins.
    pub(in crate::browser) fn reset_at_next_document(&self) {
        self.console_is_off.store(false, Ordering::Relaxed);
        self.shows_previous_page.store(true, Ordering::Relaxed);
        self.has_late_frames.store(false, Ordering::Relaxed);
        self.monitor.reset();
    }

    /// Whether a further page can make history entries. Of one frame Chromium takes 200 in ten seconds, over all its pages,
    /// and drops the others silently.
    pub(in crate::browser) fn may_make_entries(&self) -> bool {
        self.entries.load(Ordering::Relaxed) < ENTRIES_LIMIT
    }

    /// Whether the page's console was switched off.
    pub(in crate::browser) fn has_lost_console(&self) -> bool {
        self.console_is_off.load(Ordering::Relaxed)
    }

    /// Notes whether the renderer died of a signal from outside, as Chromium reports it a moment after the crash. Only such a
    /// signal shows that the page was not the reason; our own kills are known (`Kills`).
    fn explain_crash(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Crashed<'a> {
            target_id: &'a str,
            error_code: i32,
        }
        let crashed = event.parse::<Crashed<'_>>().filter(|it| it.target_id == self.frame);
        let Some(Crashed { error_code, .. }) = crashed else { return };
        self.monitor.state.send_modify(|state| {
            state.crash_is_known = true;
            if state.end == Some(PageEnd::Crashed) && is_from_outside(error_code) {
                state.end = Some(PageEnd::Killed);
            }
        });
    }

    /// Hazard: an open dialog halts its page. So each is dismissed at once; only `beforeunload` is accepted.
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
            self.note_document(state, Some(frame.loader_id), frame.unreachable_url);
            state.idle.document_changed();
        });
    }

    /// The main frame shows another document.
    fn note_document(&self, state: &mut PageState, document: Option<String>, unreachable: Option<String>) {
        if self.shows_previous_page.swap(false, Ordering::Relaxed) {
            self.begin(state);
        }
        state.documents += 1;
        state.is_loaded = false;
        state.document = document;
        state.unreachable = unreachable;
    }

    /// Drops what the previous page reported while it was still shown. Idle state stays: it is kept by request and script
    /// context, which each document has of its own.
    fn begin(&self, state: &mut PageState) {
        if state.failures.is_muted() {
            self.console_is_off.store(true, Ordering::Relaxed);
        }
        self.frames.store(0, Ordering::Relaxed);
        self.monitor.reset_counts();
        *state = PageState { end: state.end, idle: std::mem::take(&mut state.idle), ..PageState::default() };
    }

    /// A main frame at an address that is too long to be read counts as unreachable: no page is printed from there.
    fn navigated_to_long_address(&self, event: &LongEvent) {
        let of_page = format!(
            "{{\"method\":\"Page.frameNavigated\",\"params\":{{\"frame\":{{\"id\":\"{}\"",
            self.frame
        );
        if event.begins(&of_page) {
            let address = format!("an address of about {} bytes", event.bytes);
            self.monitor.state.send_modify(|state| self.note_document(state, None, Some(address)));
        }
    }

    fn console(&self, read: impl FnOnce() -> Option<ConsoleEntry>) {
        self.has_lines.store(true, Ordering::Relaxed);
        // What was on its way when the console was switched off.
        if self.console_is_off.load(Ordering::Relaxed) {
            return;
        }
        let Some(ConsoleEntry { kind, text }) = read() else {
            if self.counts_beyond(|state| &mut state.other_console_lines, OTHER_LINES_LIMIT) {
                self.stop_listening(&console::too_many_other_lines(OTHER_LINES_LIMIT));
            }
            return;
        };
        self.monitor.state.send_modify(|state| match kind {
            Some(kind) => state.warnings.push_kind(kind, &text),
            None => state.warnings.push(&text),
        });
        if self.counts_beyond(|state| &mut state.console_entries, CONSOLE_LIMIT) {
            self.stop_listening(&console::too_much(CONSOLE_LIMIT));
        }
    }

    fn logged(&self, event: Event<'_>) {
        self.has_lines.store(true, Ordering::Relaxed);
        let mut too_much = false;
        self.monitor.state.send_if_modified(|state| {
            too_much = state.failures.record_log_entry(event);
            false
        });
        if too_much {
            self.monitor.send(&Log::Disable(None));
        }
    }

    /// A report of the idle watch, or of another script of ours.
    fn reported(&self, event: Event<'_>) {
        if !self.monitor.handle_report(event) {
            self.monitor.update_idle(|idle| idle.handle_event(event, &self.frame));
        }
    }

    fn frame_attached(&self) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        if self.shows_previous_page.load(Ordering::Relaxed) {
            self.has_late_frames.store(true, Ordering::Relaxed);
        }
    }

    /// A frame that another process takes over is detached as well, and still there.
    fn frame_detached(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        struct Detached<'a> {
            reason: &'a str,
        }
        if event.parse::<Detached<'_>>().is_some_and(|it| it.reason == "remove") {
            let _ =
                self.frames.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
        }
    }

    fn worker_attached(&self, session: Option<&str>) {
        if let Some(workers) = &self.workers {
            workers.attached(session, &self.monitor.session);
        }
    }

    /// Reads the process of the renderer from the identifier of a request (`1234.5`); that of a document has another form.
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
        if self.console_is_off.swap(true, Ordering::Relaxed) {
            return;
        }
        self.monitor.send(&Runtime::Disable(None));
        // That removes the binding of the watch as well.
        self.monitor.send(&add_binding());
        self.monitor.state.send_modify(|state| {
            state.idle.lose_contexts();
            state.world = None;
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
            "Inspector.targetCrashed" => monitor.end(match self.kills.claim() {
                None => PageEnd::Crashed,
                Some(RendererEnd::Filled) => PageEnd::TookMemory,
                Some(RendererEnd::Hung) => PageEnd::Hung,
            }),
            "Target.targetCrashed" => self.explain_crash(event),
            "Target.attachedToTarget" => self.worker_attached(event.subject().as_deref()),
            "Target.detachedFromTarget" => workers::detached(monitor, event),
            "Page.frameStartedNavigating" => monitor.count_frame_address(event.length() as u64),
            "Runtime.bindingCalled" => self.reported(event),
            "Fetch.requestPaused" => request_headers::resume(monitor, self.carried.get(), event),
            method => {
                match method {
                    "Network.requestWillBeSent" => self.requested(event),
                    "Page.frameAttached" => self.frame_attached(),
                    "Page.frameDetached" => self.frame_detached(event),
                    // One that was on its way when these events were switched off would never be replaced.
                    "Runtime.executionContextCreated" if !self.has_lost_console() => {
                        own_world::note(&self.monitor, event, &self.frame);
                    }
                    _ => {}
                }
                monitor.update_idle(|idle| idle.handle_event(event, &self.frame));
            }
        }
    }

    fn long_event(&self, event: &LongEvent) {
        self.monitor.count_event_bytes(event.bytes);
        match event.method() {
            // `beforeunload` has no text of the page's, so a long one is another dialog.
            Some("Page.javascriptDialogOpening") => self.close_dialog(false),
            Some("Page.frameNavigated") => self.navigated_to_long_address(event),
            Some("Page.navigatedWithinDocument") => {
                self.entries.fetch_add(1, Ordering::Relaxed);
            }
            Some("Page.frameStartedNavigating") => self.monitor.count_frame_address(event.bytes),
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown") => {
                self.console(|| console::of_long_event(event));
            }
            Some("Target.attachedToTarget") => self.worker_attached(event.subject()),
            Some("Page.frameAttached") => self.frame_attached(),
            Some("Log.entryAdded") => self.has_lines.store(true, Ordering::Relaxed),
            Some(_) | None => {}
        }
    }

    fn closed(&self) {
        self.monitor.end(match self.kills.end_of_browser.get() {
            None => PageEnd::BrowserLost,
            Some(BrowserEnd::Filled) => PageEnd::BrowserFilled,
            Some(BrowserEnd::Replaced) => PageEnd::BrowserReplaced,
            Some(BrowserEnd::Hung) => PageEnd::Hung,
        });
    }
}
