//! Whether a page's tab may be reused once its file is made.

use super::emulate;
use super::open_page::OpenPage;
use super::task::PageOutput;
use crate::browser::tab::lease::LeaseEnd;
use crate::browser::tab::traces::Traces;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;

/// Most sheets of a page whose static tab is reused: a renderer keeps most of the memory that printing took (200 sheets: 220
/// MB, tried).
const PAGES_LIMIT: u32 = 20;
/// Longest page whose static tab is reused, for the same reason.
const LENGTH_LIMIT_BYTES: usize = 1 << 20;

/// Gives the tab back, for reuse by its account unless something of the page would stay in it.
pub(in crate::browser) fn release_tab(
    mut page: OpenPage,
    options: &PageOptions,
    output: PageOutput,
    pages: Option<u32>,
) {
    // A page range does not show how many sheets the page fills.
    let is_whole = options.from_page.is_none() && options.to_page.is_none();
    // A picture is one page; a PDF that does not say how many it has may have any number.
    let uncounted = if output == PageOutput::Pdf { u32::MAX } else { 1 };
    let is_short = is_whole && pages.unwrap_or(uncounted) <= PAGES_LIMIT;
    let is_light = is_short && page.length_bytes <= LENGTH_LIMIT_BYTES;
    let lane = page.lane;
    let has_window = lane == Lane::Scripted && output.is_picture();
    let is_emulated = page.is_measured || page.is_emulated || has_window;
    let in_place = page.in_place && output == PageOutput::Pdf && !is_emulated && options.selector.is_none();
    let scripts = std::mem::take(&mut page.scripts);
    let session = page.session.clone();
    let traces = Traces { session, is_emulated, in_place, unreplaced_since: None, scripts };
    let is_clean = !traces.are_foreign() && emulate::can_be_undone(options);
    // A log that was switched off stays off: failed requests of the next page would go unreported.
    let logs_requests = !page.state.borrow().failures.is_muted();
    let may_be_reused = match lane {
        Lane::Static => is_light && options.requests.is_empty(),
        // The memory of its process is checked at the reset.
        Lane::Scripted => page.can_be_reset(options) && !traces.have_service_worker(),
    };
    let is_reusable = may_be_reused && is_clean && logs_requests;
    page.lease.end = if is_reusable { LeaseEnd::Reusable(traces) } else { LeaseEnd::NotReusable };
}
