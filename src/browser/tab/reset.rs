//! A tab in which a page without script was shown, made ready for the next one of its account.
//!
//! What a document holds goes with it. What remains is either undone here (medium, viewport, history), or makes the
//! tab one that is not kept: whatever an allowed host sent (cookies, what it had cached, how it wants to be reached),
//! a time zone or a language, which are the whole renderer's, the memory that a heavy page leaves behind, and a log
//! that was told to be silent.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::Page;

use super::tab::Tab;
use crate::browser::page::emulate::{self, EmulationCalls};
use crate::browser::page::error::StepError;
use crate::browser::page::open::{OpenPage, PageOutput};
use crate::browser::proxy::server::PageSession;
use crate::domain::fault::FaultCode;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;

/// What a page of so many sheets took its renderer keeps for the most part (200 sheets: 220 MB, tried).
const PAGES_LIMIT: u32 = 20;
/// The same of a page that is so long.
const LENGTH_LIMIT_BYTES: usize = 1 << 20;

/// What a page has left in its tab that does not go with its document.
#[derive(Clone, Debug, Default)]
pub(in crate::browser) struct Traces {
    /// It came from an origin, so its address is in the history, and what it asked for may still come.
    visit: Option<Arc<PageSession>>,
    /// It was not shown in the surroundings of a plain tab.
    surrounded: bool,
    /// Its elements are still there, and nothing else: the next page may take their place.
    pub(in crate::browser) passing: bool,
}

impl OpenPage {
    /// The file is made: the tab may be kept, unless something of the page would stay in it.
    pub(in crate::browser) fn offer_for_reuse(
        mut self,
        options: &PageOptions,
        output: PageOutput,
        pages: Option<u32>,
    ) {
        // Of a range nobody knows how many sheets there were.
        let is_whole = options.from_page.is_none() && options.to_page.is_none();
        // A picture is one page; a PDF that does not say how many it has may have any number.
        let uncounted = if output == PageOutput::Pdf { u32::MAX } else { 1 };
        let is_short = is_whole && pages.unwrap_or(uncounted) <= PAGES_LIMIT;
        let is_light = is_short && self.length_bytes <= LENGTH_LIMIT_BYTES;
        let surrounded = self.measured || emulate::differs(options, output);
        let passing = self.passing && output == PageOutput::Pdf && !surrounded && options.selector.is_none();
        let traces = Traces { visit: self.visit.clone(), surrounded, passing };
        let is_clean = !traces.hold_foreign() && emulate::can_be_undone(options);
        // Of the next page nothing would be heard, and it would seem to have all its files.
        let is_heard = !self.state.borrow().failures.is_muted();
        let is_static = self.lease.tab().is_some_and(|tab| tab.lane() == Lane::Static);
        if is_static && is_light && is_clean && is_heard {
            self.lease.report_reusable(traces);
        }
    }
}

impl Traces {
    /// Whether anything came from an allowed host.
    fn hold_foreign(&self) -> bool {
        self.visit.as_ref().is_some_and(|visit| visit.let_through())
    }
}

impl Tab {
    /// Shows nothing again, in a new document, and forgets its page. It takes 4 ms: who waits for the tab is better
    /// served by another one than by one that takes as long as `limit`.
    pub(in crate::browser) async fn reset(&self, traces: &Traces, limit: Duration) -> Result<(), StepError> {
        self.origin().clear();
        let reset = tokio::time::timeout(limit, self.leave_page(traces, limit));
        reset.await.unwrap_or(Err(StepError::Late))
    }

    async fn leave_page(&self, traces: &Traces, limit: Duration) -> Result<(), StepError> {
        let mut state = self.state();
        let (loads, documents) = {
            let seen = state.borrow();
            (seen.loads, seen.documents)
        };
        if let Some(error) = self.call_within(blank(), limit).await?.error_text {
            return Err(StepError::fault(FaultCode::Internal, error));
        }
        let is_blank = state.wait_for(|it| it.end.is_some() || it.documents > documents && it.loads > loads);
        if let Some(end) = is_blank.await.ok().and_then(|state| state.end) {
            return Err(StepError::Ended(end));
        }
        let surroundings = traces.surrounded.then(|| EmulationCalls::undo(self, limit)).transpose()?;
        if traces.visit.is_some() {
            self.call_within(Page::ResetNavigationHistory(None), limit).await?;
        }
        if let Some(surroundings) = surroundings {
            surroundings.settle().await?;
        }
        // A request may have been let through after the file was made.
        if traces.hold_foreign() {
            return Err(StepError::fault(
                FaultCode::PageFailed,
                "an allowed host answered the page that left",
            ));
        }
        if state.borrow().failures.is_muted() {
            return Err(StepError::fault(
                FaultCode::PageFailed,
                "the page that left asked for too much in vain",
            ));
        }
        self.renew_state();
        Ok(())
    }
}

fn blank() -> Page::Navigate {
    Page::Navigate {
        url: "about:blank".to_owned(),
        referrer: None,
        transition_Type: None,
        frame_id: None,
        referrer_policy: None,
    }
}
