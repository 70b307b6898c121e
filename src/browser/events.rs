//! What a page tells while it is driven: loads, crashes, dialogs, exceptions, reduced to what is needed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use headless_chrome::protocol::cdp::{Network, Page, Runtime};
use serde::Deserialize;
use tokio::sync::watch;

use super::cdp::{Connection, Event, EventSink};
use super::excess::Excess;
use super::kills::Kills;
use super::page_workers::PageWorkers;
use super::rest::{BINDING, Rest};
use super::wire::LongEvent;
use crate::domain::fault::Warnings;

/// After so many exceptions and console lines a page is not listened to any more.
const HEARD_LIMIT: u32 = 500;
/// `SIGILL`, `SIGTRAP`, `SIGABRT`: a renderer ends itself by these, when its heap is full (tried: 5) or it finds itself
/// broken.
const OWN_SIGNALS: [i32; 3] = [4, 5, 6];

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
    /// What its author wants to know.
    pub warnings: Warnings,
    /// Whether it is at rest.
    pub rest: Rest,
    heard: u32,
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
}

/// Hears one page.
pub(super) struct PageEvents {
    /// For those who hear its workers.
    pub(super) this: Weak<Self>,
    pub(super) connection: Connection,
    pub(super) session: Arc<str>,
    pub(super) workers: PageWorkers,
    frame: String,
    kills: Arc<Kills>,
    pub(super) state: watch::Sender<PageState>,
    deaf: AtomicBool,
    flooded: AtomicBool,
    told_bytes: AtomicU64,
    frame_address_bytes: AtomicU64,
    limits: TellingLimits,
}

/// How much a page may tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct TellingLimits {
    /// In all.
    pub all_bytes: u64,
    /// Of addresses that its frames go to.
    pub frame_address_bytes: u64,
}

impl PageEvents {
    /// Begins to hear `session`, whose main frame is `frame`, and ends it when it has told more than `limits` say.
    pub(super) fn listen(
        connection: &Connection,
        session: &Arc<str>,
        frame: &str,
        kills: &Arc<Kills>,
        limits: TellingLimits,
    ) -> Arc<Self> {
        let events = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            workers: PageWorkers::default(),
            connection: connection.clone(),
            session: Arc::clone(session),
            frame: frame.to_owned(),
            kills: Arc::clone(kills),
            state: watch::Sender::default(),
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
    pub(super) fn state(&self) -> watch::Receiver<PageState> {
        self.state.subscribe()
    }

    /// Forgets what was heard; a page that ended stays ended.
    pub(super) fn renew(&self) {
        self.told_bytes.store(0, Ordering::Relaxed);
        self.frame_address_bytes.store(0, Ordering::Relaxed);
        self.deaf.store(false, Ordering::Relaxed);
        self.flooded.store(false, Ordering::Relaxed);
        self.state.send_modify(|state| *state = PageState { end: state.end, ..PageState::default() });
    }

    pub(super) fn end(&self, end: PageEnd) {
        self.state.send_if_modified(|state| {
            let first = state.end.is_none();
            state.end.get_or_insert(end);
            first
        });
    }

    /// By what a renderer died, which is said a moment after it has: our own kills apart, only a signal that neither
    /// V8 nor Chromium raises itself shows that it was not the page.
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
        let by_itself = OWN_SIGNALS.contains(&crashed.error_code);
        self.state.send_modify(|state| {
            state.crash_is_known = true;
            if state.end == Some(PageEnd::Crashed) && !by_itself {
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
            unreachable_url: Option<String>,
        }
        let Some(Navigated { frame }) = event.parse() else { return };
        self.state.send_modify(|state| {
            if frame.id != self.frame {
                return state.rest.doubt_frames();
            }
            state.documents += 1;
            state.unreachable = frame.unreachable_url;
            state.rest.document_changed();
        });
    }

    fn thrown(&self, event: Event<'_>) {
        #[derive(Deserialize)]
        struct Thrown {
            #[serde(rename = "exceptionDetails")]
            details: Details,
        }
        if let Some(Thrown { details }) = event.parse() {
            let text = format!("uncaught exception: {}", details.sentence());
            self.state.send_modify(|state| state.warnings.push(&text));
        }
        self.heard();
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
            });
        }
    }

    pub(super) fn count_told(&self, bytes: u64) {
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
            None => self.hear_rest(|rest| rest.hear(event, &self.frame)),
        }
    }

    /// Tells the page's rest something, which answers whether it took it.
    pub(super) fn hear_rest(&self, tell: impl FnOnce(&mut Rest) -> bool) {
        let mut flooded = false;
        self.state.send_if_modified(|state| {
            let heard = tell(&mut state.rest);
            flooded = heard && state.rest.is_flooded();
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

    /// Ends listening to a page that talks without end.
    fn heard(&self) {
        let mut too_much = false;
        self.state.send_if_modified(|state| {
            state.heard += 1;
            too_much = state.heard > HEARD_LIMIT;
            false
        });
        if too_much && !self.deaf.swap(true, Ordering::Relaxed) {
            drop(self.connection.send(Some(&self.session), &Runtime::Disable(None)));
            // Which takes the binding of the page's watch away as well.
            drop(self.connection.send(Some(&self.session), &rest_binding()));
            self.state.send_modify(|state| state.rest.lose_contexts());
        }
    }
}

impl EventSink for PageEvents {
    fn event(&self, event: Event<'_>) {
        self.count_told(event.length() as u64);
        match event.method {
            "Page.domContentEventFired" => self.state.send_modify(|state| state.parsed += 1),
            "Page.loadEventFired" => self.state.send_modify(|state| state.loads += 1),
            "Page.frameNavigated" => self.navigated(event),
            "Page.javascriptDialogOpening" => self.dismiss(event),
            "Runtime.exceptionThrown" => self.thrown(event),
            "Runtime.consoleAPICalled" => self.heard(),
            "Inspector.targetCrashed" if self.kills.claim() => self.end(PageEnd::TookMemory),
            "Inspector.targetCrashed" => self.end(PageEnd::Crashed),
            "Target.targetCrashed" => self.explained(event),
            "Target.attachedToTarget" => self.worker_attached(event, &self.session),
            "Target.detachedFromTarget" => self.detached(event),
            "Page.frameStartedNavigating" => self.count_frame_address(event.length() as u64),
            "Runtime.bindingCalled" => self.told(event),
            _ => self.hear_rest(|rest| rest.hear(event, &self.frame)),
        }
    }

    fn long_event(&self, event: &LongEvent) {
        self.count_told(event.bytes);
        match event.method() {
            // Nobody asked whether it may be left: such a question has no text.
            Some("Page.javascriptDialogOpening") => self.close_dialog(false),
            Some("Page.frameNavigated") => self.navigated_far(event),
            Some("Page.frameStartedNavigating") => self.count_frame_address(event.bytes),
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown") => self.heard(),
            Some("Target.attachedToTarget") => self.attach_worker(event.subject(), &self.session),
            Some(_) | None => {}
        }
    }

    fn closed(&self) {
        self.end(if self.kills.browser_was_ended() { PageEnd::BrowserFilled } else { PageEnd::BrowserLost });
    }
}

/// The binding by which the page's watch tells.
pub(super) fn rest_binding() -> Runtime::AddBinding {
    Runtime::AddBinding { name: BINDING.to_owned(), execution_context_id: None, execution_context_name: None }
}

/// What Chromium says of an exception, as far as it is said again.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    text: String,
    line_number: u64,
    url: Option<String>,
    exception: Option<Thrown>,
}

#[derive(Deserialize)]
struct Thrown {
    description: Option<String>,
    value: Option<serde_json::Value>,
}

impl Details {
    /// `Error: no customer (/app.js:12)`.
    fn sentence(&self) -> String {
        let thrown = self.exception.as_ref().and_then(|thrown| match &thrown.description {
            Some(description) => description.lines().next().map(str::to_owned),
            None => thrown.value.as_ref().map(ToString::to_string),
        });
        let text = thrown.unwrap_or_else(|| self.text.clone());
        let path = self.url.as_deref().and_then(path_of);
        let line = self.line_number + 1;
        path.map_or_else(|| text.clone(), |path| format!("{text} ({path}:{line})"))
    }
}

/// The path of an address of ours; the host is a random name that says nothing.
fn path_of(url: &str) -> Option<&str> {
    let (_, rest) = url.strip_prefix("http://")?.split_once(".localhost/")?;
    Some(if rest.is_empty() { "/" } else { rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_said_with_its_place() {
        let details: Details = serde_json::from_str(
            r#"{"exceptionId":1,"text":"Uncaught","lineNumber":11,"columnNumber":4,
            "url":"http://0f.localhost/app.js",
            "exception":{"type":"object","description":"Error: no customer\n    at app.js"}}"#,
        )
        .unwrap();
        assert_eq!(details.sentence(), "Error: no customer (app.js:12)");
    }

    #[test]
    fn a_thrown_value_is_said_as_it_is() {
        let details: Details = serde_json::from_str(
            r#"{"text":"Uncaught (in promise)","lineNumber":0,"exception":{"type":"string","value":"stop"}}"#,
        )
        .unwrap();
        assert_eq!(details.sentence(), "\"stop\"");
    }
}
