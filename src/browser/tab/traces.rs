//! What a page leaves in its tab, and why a tab is not ready for another page.

use std::sync::Arc;
use std::time::Instant;

use super::page_state::PageEnd;
use crate::browser::cdp::error::CallError;
use crate::browser::proxy::page_session::PageSession;

/// What a page has left in its tab that does not go with its document.
#[derive(Clone, Debug, Default)]
pub(in crate::browser) struct Traces {
    /// It was served, so its address is in the history, and answers to its requests may still come.
    pub session: Option<Arc<PageSession>>,
    /// Its medium or viewport was not that of a plain tab.
    pub is_emulated: bool,
    /// Nothing of it is left but its elements: the next page is written over them without a reset (`Page.setDocumentContent`).
    pub in_place: bool,
    /// Since when the tab shows its document with script off, for the next page to replace; `None` where it shows an empty
    /// document, or the page has only just ended. The next page replaces it and cleans the tab (`page/follow.rs`); where none
    /// comes soon, a reset shows an empty document.
    pub unreplaced_since: Option<Instant>,
    /// Our scripts for its documents, by Chromium's names; one of them has its data.
    pub scripts: Vec<String>,
}

/// Why a tab is not ready for another page.
#[derive(Debug, thiserror::Error)]
pub(in crate::browser) enum ResetError {
    /// A call failed.
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
    /// Whether the page asked for a service worker, which may go on for as long as its browser context.
    pub(in crate::browser) fn have_service_worker(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.has_service_worker())
    }

    /// Whether anything came from an allowed host.
    pub(in crate::browser) fn are_foreign(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.has_reached_hosts())
    }
}
