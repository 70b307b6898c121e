//! One sheet as high as its page (`height: "auto"`): receipts, labels, endless lists.
//!
//! Chromium prints on sheets of a given height only. So the page is measured with its print medium, and printed on a sheet of
//! that height. A script may lay it out anew for the width that it was measured at, which shows in a second sheet: then it is
//! measured and printed once more.
//!
//! Hazard: the page's own rules of `@page` win over the options. A margin that was not counted makes a second sheet, a size
//! shrinks or turns the page. So its margins are counted, its rules of size and margin are removed, and a style sheet of ours
//! after the page's own sets the margins again.

use serde_json::json;

use super::measure::{PIXELS_PER_INCH, measure};
use super::page_rules::PageRules;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::scripts;
use crate::domain::format_opts::{
    PageOptions, Paper, SHEET_LEAST_IN, SHEET_LIMIT_IN, Viewport, whole_pixels,
};

const MEASURE: &str = include_str!("../../../assets/page_height.js");
const REPLACE: &str = include_str!("../../../assets/one-sheet-rules.js");
/// Points in an inch: Chromium rounds sheets to them.
const POINTS_PER_INCH: f64 = 72.0;
/// A point more than the page is high, or rounding would begin a second sheet.
const SLACK_POINTS: f64 = 1.0;

/// The page's rules as they hold on one sheet, and warnings of those that are ignored.
pub(super) async fn rules_for_one_sheet(
    page: &OpenPage,
    rules: PageRules,
    options: &PageOptions,
) -> Result<(PageRules, Vec<String>), StepError> {
    if rules.is_empty() {
        return Ok((rules, Vec::new()));
    }
    let (rules, warnings, sheet) = rules.for_one_sheet(options);
    let question = scripts::guarded(&format!("({REPLACE})({})", json!(sheet)));
    page.ask(question, page.limits.call).await?;
    Ok((rules, warnings))
}

/// The options with the height that the page has now. Its width decides its height, so a landscape sheet is turned before.
pub(super) async fn with_page_height(
    page: &OpenPage,
    rules: &PageRules,
    options: &PageOptions,
) -> Result<PageOptions, StepError> {
    let layout = rules.layout(options);
    let width = layout.width_px(options);
    let viewport = Viewport { width_px: whole_pixels(width.floor()), height_px: 1, device_scale: 1.0 };
    let height_px = measure(page, &options.emulation, viewport, MEASURE).await?.unwrap_or_default();
    let content_in = height_px * options.scale / PIXELS_PER_INCH;
    let points = (content_in + layout.margin.top_in + layout.margin.bottom_in) * POINTS_PER_INCH;
    let height_in = (points.ceil() + SLACK_POINTS) / POINTS_PER_INCH;
    let height_in = height_in.clamp(SHEET_LEAST_IN, SHEET_LIMIT_IN);
    let paper = Paper { width_in: options.sheet().width_in, height_in };
    Ok(PageOptions { paper, landscape: false, prefer_css_page_size: false, ..options.clone() })
}

/// The warning of a page that fills more sheets than one all the same.
pub(super) fn warning(options: &PageOptions, pages: u32) -> String {
    let height = options.paper.height_in * 25.4;
    let why = if options.paper.height_in >= SHEET_LIMIT_IN {
        "no sheet of a PDF is higher"
    } else {
        "it breaks into pages by itself (break-before, break-after), or a style sheet of another host sizes them (@page)"
    };
    format!("height auto: the page fills {pages} sheets of {height:.0} mm, for {why}")
}
