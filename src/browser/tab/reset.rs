//! A tab in which a page without script was shown, made ready for the next one of its account.
//!
//! What a document holds goes with it. What remains is either undone here (medium, viewport, history), or makes the
//! tab one that is not reused: whatever an allowed host sent (cookies, what it had cached, how it wants to be reached),
//! a time zone or a language, which are the whole renderer's, the memory that a heavy page leaves behind, and a log
//! that was switched off.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::{Emulation, Page};

use super::page_state::PageEnd;
use super::tab::Tab;
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::proxy::session::PageSession;

/// What a page has left in its tab that does not go with its document.
#[derive(Clone, Debug, Default)]
pub(in crate::browser) struct Traces {
    /// It was served, so its address is in the history, and answers to its requests may still come.
    pub session: Option<Arc<PageSession>>,
    /// Its medium or viewport was not that of a plain tab.
    pub is_emulated: bool,
    /// Its elements are still there, and nothing else: the next page may take their place without a reset.
    pub in_place: bool,
}

/// Why a tab is not ready for another page.
#[derive(Debug, thiserror::Error)]
pub(in crate::browser) enum ResetError {
    /// Chromium does not do its part.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The page, or the browser, ended.
    #[error("the page ended: {0:?}")]
    Ended(PageEnd),
    /// It took so long that a fresh tab is there sooner.
    #[error("it takes too long")]
    Late,
    /// The empty document could not be shown.
    #[error("{0}")]
    NotBlank(String),
    /// Something of the page stays.
    #[error("{0}")]
    Unclean(&'static str),
}

impl Traces {
    /// Whether anything came from an allowed host.
    pub(in crate::browser) fn are_foreign(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.has_reached_hosts())
    }
}

/// Shows nothing again, in a new document, and forgets the page. It takes 4 ms: a job that waits is better served by
/// another tab than by one that takes as long as `limit`.
pub(in crate::browser) async fn reset(tab: &Tab, traces: &Traces, limit: Duration) -> Result<(), ResetError> {
    tab.server.clear();
    let reset = tokio::time::timeout(limit, clear(tab, traces, limit));
    reset.await.unwrap_or(Err(ResetError::Late))
}

async fn clear(tab: &Tab, traces: &Traces, limit: Duration) -> Result<(), ResetError> {
    let mut state = tab.state();
    let (loads, documents) = {
        let seen = state.borrow();
        (seen.loads, seen.documents)
    };
    let blank = commands::navigate("about:blank".to_owned());
    if let Some(error) = tab.call_within(blank, limit).await?.error_text {
        return Err(ResetError::NotBlank(error));
    }
    let is_blank = state.wait_for(|it| it.end.is_some() || it.documents > documents && it.loads > loads);
    if let Some(end) = is_blank.await.ok().and_then(|state| state.end) {
        return Err(ResetError::Ended(end));
    }
    let mut calls = PendingCalls::default();
    if traces.is_emulated {
        let media = Emulation::SetEmulatedMedia { media: Some(String::new()), features: None };
        calls.push(tab.send(&media)?, limit);
        calls.push(tab.send(&Emulation::ClearDeviceMetricsOverride(None))?, limit);
    }
    if traces.session.is_some() {
        calls.push(tab.send(&Page::ResetNavigationHistory(None))?, limit);
    }
    calls.finish().await?;
    // A request may have been let through after the file was made.
    if traces.are_foreign() {
        return Err(ResetError::Unclean("an allowed host answered the page before"));
    }
    // Of the next page no failed request would be heard.
    if state.borrow().failures.is_muted() {
        return Err(ResetError::Unclean("too many requests of the page before failed"));
    }
    tab.events.renew();
    Ok(())
}
