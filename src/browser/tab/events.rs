//! What a page tells while it is driven: loads, crashes, dialogs, what fails in it, reduced to what is needed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use headless_chrome::protocol::cdp::{Log, Network, Page, Runtime};
use serde::Deserialize;
use tokio::sync::watch;

use super::console::{self, ConsoleEntry};
use super::excess::Excess;
use super::failed_requests::FailedRequests;
use super::idle::{BINDING, IdleState};
use super::workers::PageWorkers;
use crate::browser::cdp::connection::{Connection, Event, EventSink};
use crate::browser::cdp::wire::LongEvent;
use crate::browser::chromium::kills::{BrowserEnd, Kills};
use crate::domain::fault::{WarningKind, Warnings};
use crate::domain::format_opts::Requests;

/// After so many exceptions, errors and warnings of the console a page is not listened to any more.
const HEARD_LIMIT: u32 = 500;
/// After so many other lines of the console neither: nobody is told of them, but each has to be read.
const CHATTER_LIMIT: u32 = 10_000;
/// `SIGHUP`, `SIGINT`, `SIGKILL`, `SIGTERM`: no renderer ends itself by these. A full heap is 5, a fault in it 11 (tried).
const SIGNALS_FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];

/// What is known of a page.
#[derive(Clone, Debug, Default)]
pub struct PageState {
    /// Load events of the main frame so far.
    pub loads: u32,
    /// Documents whose elements are all there, so far.
    pub parsed: u32,
    /// Documents of the main frame so far.
    pub documents: u32,
    /// The address that could not be reached, when the page shows that it could not.
    pub unreachable: Option<String>,
    /// How it ended, if it did.
    pub end: Option<PageEnd>,
    /// By what its renderer died is known, if it did.
    pub crash_is_known: bool,
    /// Dialogs dismissed so far.
    pub dialogs: u32,
    /// The document that the main frame shows, by the request that loaded it.
    pub document: Option<String>,
    /// What its author wants to know.
    pub warnings: Warnings,
    /// What it asked for in vain, as Chromium says.
    pub failures: FailedRequests,
    /// Whether it is at rest.
    pub idle: IdleState,
    heard: u32,
    chatter: u32,
}

/// How a page ended before it was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEnd {
    /// Its renderer died by itself.
    Crashed,
    /// Its renderer was killed, and not by us.
    Killed,
    /// We killed its renderer for the memory it took.
    TookMemory,
    /// It told more than anybody reads.
    ToldTooMuch,
    /// It made too much of what is everybody's.
    Exceeded(Excess),
    /// It was closed.
    Closed,
    /// The browser died.
    BrowserLost,
    /// We ended the browser for the memory that its own process took.
    BrowserFilled,
    /// We ended the browser, which was replaced and waited for its last pages for long enough.
    BrowserReplaced,
}

/// Hears one page.
pub(in crate::browser) struct PageEvents {
    /// For those who hear its workers.
    pub(in crate::browser) this: Weak<Self>,
    pub(in crate::browser) connection: Connection,
    pub(in crate::browser) session: Arc<str>,
    pub(in crate::browser) workers: PageWorkers,
    frame: String,
    kills: Arc<Kills>,
    pub(in crate::browser) state: watch::Sender<PageState>,
    /// What its requests carry. A tab for pages with script shows one page.
    pub(in crate::browser) carried: OnceLock<Requests>,
    deaf: AtomicBool,
    flooded: AtomicBool,
    told_bytes: AtomicU64,
    frame_address_bytes: AtomicU64,
    limits: EventLimits,
}

/// How much a page may tell.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct EventLimits {
    /// In all.
    pub all_bytes: u64,
    /// Of addresses that its frames go to.
    pub frame_address_bytes: u64,
}

impl PageEvents {
    /// Begins to hear `session`, whose main frame is `frame`, and ends it when it has told more than `limits` say.
    pub(in crate::browser) fn listen(
        connection: &Connection,
        session: &Arc<str>,
        frame: &str,
        kills: &Arc<Kills>,
        limits: EventLimits,
    ) -> Arc<Self> {
        let events = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            workers: PageWorkers::default(),
            connection: connection.clone(),
            session: Arc::clone(session),
            frame: frame.to_owned(),
            kills: Arc::clone(kills),
            state: watch::Sender::default(),
            carried: OnceLock::new(),
            deaf: AtomicBool::new(false),
            flooded: AtomicBool::new(false),
            told_bytes: AtomicU64::new(0),
            frame_address_bytes: AtomicU64::new(0),
            limits,
        });
        let sink: Arc<dyn EventSink> = Arc::<Self>::clone(&events);
        connection.listen(Arc::clone(session), &sink);
        events
    }

    /// What is known of the page, now and later.
    pub(in crate::browser) fn state(&self) -> watch::Receiver<PageState> {
        self.state.subscribe()
    }

    /// Forgets what was heard; a page that ended stays ended.
    pub(in crate::browser) fn renew(&self) {
        self.told_bytes.store(0, Ordering::Relaxed);
        self.frame_address_bytes.store(0, Ordering::Relaxed);
        self.deaf.store(false, Ordering::Relaxed);
        self.flooded.store(false, Ordering::Relaxed);
        self.state.send_modify(|state| *state = PageState { end: state.end, ..PageState::default() });
    }

    pub(in crate::browser) fn end(&self, end: PageEnd) {
        self.state.send_if_modified(|state| {
            let first = state.end.is_none();
            state.end.get_or_insert(end);
            first
        });
    }

    /// By what a renderer died, which is said a moment after it has: our own kills apart, only a signal that a process
    /// does not raise itself shows that it was not the page.
    fn explained(&self, event: Event<'_>) {
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
        self.state.send_modify(|state| {
            state.crash_is_known = true;
            if state.end == Some(PageEnd::Crashed) && from_outside {
                state.end = Some(PageEnd::Killed);
            }
        });
    }

    /// A dialog stops its page, so it is dismissed where it is heard; leaving a page is allowed.
    fn dismiss(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        struct Opening<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
        }
        self.close_dialog(event.parse::<Opening<'_>>().is_some_and(|it| it.kind == "beforeunload"));
    }

    fn close_dialog(&self, accept: bool) {
        drop(
            self.connection
                .send(Some(&self.session), &Page::HandleJavaScriptDialog { accept, prompt_text: None }),
        );
        self.state.send_modify(|state| state.dialogs += 1);
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
        self.state.send_modify(|state| {
            if frame.id != self.frame {
                return state.idle.doubt_frames();
            }
            state.documents += 1;
            state.unreachable = frame.unreachable_url;
            state.document = Some(frame.loader_id);
            state.idle.document_changed();
        });
    }

    fn said(&self, said: impl FnOnce() -> Option<ConsoleEntry>) {
        // What was on its way when it was told to be silent.
        if self.deaf.load(Ordering::Relaxed) {
            return;
        }
        let Some(ConsoleEntry { kind, text }) = said() else { return self.chattered() };
        self.state.send_modify(|state| match kind {
            Some(kind) => state.warnings.push_kind(kind, &text),
            None => state.warnings.push(&text),
        });
        self.heard();
    }

    fn logged(&self, event: Event<'_>) {
        let mut too_much = false;
        self.state.send_if_modified(|state| {
            too_much = state.failures.hear(event);
            false
        });
        if too_much {
            drop(self.connection.send(Some(&self.session), &Log::Disable(None)));
        }
    }

    /// An address too long to be kept is none that a page is printed from.
    fn navigated_far(&self, event: &LongEvent) {
        let of_page = format!(
            "{{\"method\":\"Page.frameNavigated\",\"params\":{{\"frame\":{{\"id\":\"{}\"",
            self.frame
        );
        if event.begins(&of_page) {
            self.state.send_modify(|state| {
                state.documents += 1;
                state.unreachable = Some(format!("an address of about {} bytes", event.bytes));
                state.document = None;
            });
        }
    }

    pub(in crate::browser) fn count_event_bytes(&self, bytes: u64) {
        let told = self.told_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // One whose script never pauses cannot be told to be silent, and what it tells is read for nothing.
        if told > self.limits.all_bytes {
            self.end(PageEnd::ToldTooMuch);
        }
    }

    fn count_frame_address(&self, bytes: u64) {
        let gone = self.frame_address_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if gone > self.limits.frame_address_bytes {
            self.end(PageEnd::Exceeded(Excess::FrameAddresses));
        }
    }

    /// What the watch tells, or the script that counts before it.
    fn told(&self, event: Event<'_>) {
        match Excess::told(event) {
            Some(excess) => self.end(PageEnd::Exceeded(excess)),
            None => self.update_idle(|rest| rest.hear(event, &self.frame)),
        }
    }

    /// Tells the page's rest something, which answers whether it took it.
    pub(in crate::browser) fn update_idle(&self, tell: impl FnOnce(&mut IdleState) -> bool) {
        let mut flooded = false;
        self.state.send_if_modified(|state| {
            let heard = tell(&mut state.idle);
            flooded = heard && state.idle.is_flooded();
            heard
        });
        if flooded && !self.flooded.swap(true, Ordering::Relaxed) {
            self.stop_hearing_rest();
        }
    }

    fn stop_hearing_rest(&self) {
        drop(self.connection.send(Some(&self.session), &Network::Disable(None)));
        let unbind = Runtime::RemoveBinding { name: BINDING.to_owned() };
        drop(self.connection.send(Some(&self.session), &unbind));
        self.release_workers();
    }

    fn heard(&self) {
        if self.counts_beyond(|state| &mut state.heard, HEARD_LIMIT) {
            self.stop_listening(&console::too_much(HEARD_LIMIT));
        }
    }

    fn chattered(&self) {
        if self.counts_beyond(|state| &mut state.chatter, CHATTER_LIMIT) {
            self.stop_listening(&console::too_much_chatter(CHATTER_LIMIT));
        }
    }

    fn counts_beyond(&self, counter: impl FnOnce(&mut PageState) -> &mut u32, limit: u32) -> bool {
        let mut too_much = false;
        self.state.send_if_modified(|state| {
            let count = counter(state);
            *count += 1;
            too_much = *count > limit;
            false
        });
        too_much
    }

    /// Ends listening to a page that talks without end.
    fn stop_listening(&self, why: &str) {
        if self.deaf.swap(true, Ordering::Relaxed) {
            return;
        }
        drop(self.connection.send(Some(&self.session), &Runtime::Disable(None)));
        // Which takes the binding of the page's watch away as well.
        drop(self.connection.send(Some(&self.session), &rest_binding()));
        self.state.send_modify(|state| {
            state.idle.lose_contexts();
            // Who wants to fail for what it says must not succeed because it says too much.
            state.warnings.push_kinds(&[WarningKind::Console, WarningKind::Exception], why);
        });
    }
}

impl EventSink for PageEvents {
    fn event(&self, event: Event<'_>) {
        self.count_event_bytes(event.length() as u64);
        match event.method {
            "Page.domContentEventFired" => self.state.send_modify(|state| state.parsed += 1),
            "Page.loadEventFired" => self.state.send_modify(|state| state.loads += 1),
            "Page.frameNavigated" => self.navigated(event),
            "Page.javascriptDialogOpening" => self.dismiss(event),
            "Runtime.exceptionThrown" => self.said(|| console::thrown(event)),
            "Runtime.consoleAPICalled" => self.said(|| console::on_console(event)),
            "Log.entryAdded" => self.logged(event),
            "Inspector.targetCrashed" if self.kills.claim() => self.end(PageEnd::TookMemory),
            "Inspector.targetCrashed" => self.end(PageEnd::Crashed),
            "Target.targetCrashed" => self.explained(event),
            "Target.attachedToTarget" => self.worker_attached(event, &self.session),
            "Target.detachedFromTarget" => self.detached(event),
            "Page.frameStartedNavigating" => self.count_frame_address(event.length() as u64),
            "Runtime.bindingCalled" => self.told(event),
            "Fetch.requestPaused" => self.request_paused(event),
            _ => self.update_idle(|rest| rest.hear(event, &self.frame)),
        }
    }

    fn long_event(&self, event: &LongEvent) {
        self.count_event_bytes(event.bytes);
        match event.method() {
            // Nobody asked whether it may be left: such a question has no text.
            Some("Page.javascriptDialogOpening") => self.close_dialog(false),
            Some("Page.frameNavigated") => self.navigated_far(event),
            Some("Page.frameStartedNavigating") => self.count_frame_address(event.bytes),
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown") => {
                self.said(|| console::at_length(event));
            }
            Some("Target.attachedToTarget") => self.attach_worker(event.subject(), &self.session),
            Some(_) | None => {}
        }
    }

    fn closed(&self) {
        self.end(match self.kills.end_of_browser() {
            None => PageEnd::BrowserLost,
            Some(BrowserEnd::Filled) => PageEnd::BrowserFilled,
            Some(BrowserEnd::Replaced) => PageEnd::BrowserReplaced,
        });
    }
}

/// The binding by which the page's watch tells.
pub(in crate::browser) fn rest_binding() -> Runtime::AddBinding {
    Runtime::AddBinding { name: BINDING.to_owned(), execution_context_id: None, execution_context_name: None }
}
