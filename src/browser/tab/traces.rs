//! What a page leaves in its tab, and why a tab is not ready for another page.

use std::sync::Arc;
use std::time::Instant;

use super::page_state::PageEnd;
use crate::browser::cdp::error::CallError;
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
    /// Since when its document is left in the tab with script off. The next page takes its place and cleans the tab
    /// (`page/follow.rs`), or a reset shows an empty document instead.
    pub left: Option<Instant>,
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
