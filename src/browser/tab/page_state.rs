//! What is known of the page in a tab, and how it may end.

use super::excess::PageExcess;
use super::failed_requests::FailedRequests;
use super::idle::{IdleState, IdleVerdict};
use crate::domain::error::Warnings;

/// What is known of a page.
#[derive(Clone, Debug, Default)]
pub struct PageState {
    /// Load events of the main frame so far.
    pub loads: u32,
    /// The document that the main frame shows has loaded.
    pub is_loaded: bool,
    /// Documents that were parsed to their end so far.
    pub parsed: u32,
    /// Documents of the main frame so far.
    pub documents: u32,
    /// The address that could not be reached, where the tab shows Chromium's error page for it.
    pub unreachable: Option<String>,
    /// How it ended, if it did.
    pub end: Option<PageEnd>,
    /// Whether Chromium has said by which signal its renderer died.
    pub crash_is_known: bool,
    /// Dialogs dismissed so far.
    pub dialogs: u32,
    /// The document that the main frame shows, by the request that loaded it.
    pub document: Option<String>,
    /// The script context of our own questions that was made last, by the name that no other context has. Unknown while the
    /// events of contexts are off.
    pub(in crate::browser) world: Option<String>,
    /// What its scripts said, for the author.
    pub warnings: Warnings,
    /// Requests that failed, by Chromium's log.
    pub failures: FailedRequests,
    /// What is pending.
    pub idle: IdleState,
    /// Exceptions, errors and warnings so far.
    pub(super) console_entries: u32,
    /// Other lines of the console so far.
    pub(super) other_console_lines: u32,
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
    /// It sent more events than are read.
    TooManyEvents,
    /// It asked for WebGL, which its browser does not have.
    NeedsGraphics,
    /// It made too much of what all pages share in Chromium's own process.
    Exceeded(PageExcess),
    /// It was closed.
    Closed,
    /// The browser died.
    BrowserLost,
    /// We ended the browser for the memory that its own process took.
    BrowserFilled,
    /// We ended the browser, which was replaced and waited for its last pages for long enough.
    BrowserReplaced,
    /// We ended its renderer or the whole browser, which hung.
    Hung,
}

impl PageEnd {
    /// Whether the browser ended, or what of it showed the page, and the page with it.
    pub(in crate::browser) fn is_of_browser(self) -> bool {
        matches!(self, Self::BrowserLost | Self::BrowserFilled | Self::BrowserReplaced | Self::Hung)
    }
}

impl PageState {
    /// Whether the page is idle; the error page that stands for an unreachable address has nothing pending.
    pub(in crate::browser) fn verdict(&self) -> IdleVerdict {
        if self.unreachable.is_some() { IdleVerdict::Idle } else { self.idle.verdict() }
    }
}
