//! What becomes of a page's tab when its file is made.

use super::emulate;
use super::open_page::OpenPage;
use super::task::PageOutput;
use crate::browser::tab::traces::Traces;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;

/// What a page of so many sheets took its renderer keeps for the most part (200 sheets: 220 MB, tried).
const PAGES_LIMIT: u32 = 20;
/// The same of a page that is so long.
const LENGTH_LIMIT_BYTES: usize = 1 << 20;

/// Gives the tab back, for reuse by its account unless something of the page would stay in it.
pub(in crate::browser) fn give_back(
    mut page: OpenPage,
    options: &PageOptions,
    output: PageOutput,
    pages: Option<u32>,
) {
    // Of a range it is not known how many sheets there were.
    let is_whole = options.from_page.is_none() && options.to_page.is_none();
    // A picture is one page; a PDF that does not say how many it has may have any number.
    let uncounted = if output == PageOutput::Pdf { u32::MAX } else { 1 };
    let is_short = is_whole && pages.unwrap_or(uncounted) <= PAGES_LIMIT;
    let is_light = is_short && page.length_bytes <= LENGTH_LIMIT_BYTES;
    let lane = page.lane;
    let has_window = lane == Lane::Scripted && output.is_picture();
    let is_emulated = page.is_measured || has_window || emulate::differs(options, output);
    let in_place = page.in_place && output == PageOutput::Pdf && !is_emulated && options.selector.is_none();
    let scripts = std::mem::take(&mut page.scripts);
    let traces = Traces { session: page.session.clone(), is_emulated, in_place, scripts };
    let is_clean = !traces.are_foreign() && emulate::can_be_undone(options);
    // Of the next page no failed request would be heard, and it would seem to have all its files.
    let is_heard = !page.state.borrow().failures.is_muted();
    let stays_within = match lane {
        Lane::Static => is_light,
        // What its process holds is looked at when it is reset.
        Lane::Scripted => page.kept_to_itself(options) && !traces.have_service_worker(),
    };
    if stays_within && is_clean && is_heard {
        page.lease.report_reusable(traces);
    } else {
        page.lease.report_not_reusable();
    }
}
