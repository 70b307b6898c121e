//! One sheet as high as its page (`height: "auto"`): receipts, labels, endless lists.
//!
//! Chromium prints on sheets of a given height only. So the page is measured with its print medium, and printed on a sheet of
//! that height. Where it fills a second sheet, it breaks by itself, its heights depend on the sheet's (`100vh`, `100%`), or a
//! script laid it out anew when it was measured. Then breaks and such heights are taken out of it (`one-sheet-fit.js`), and it
//! is measured and printed once more; at last on a sheet as high as those that it filled together.
//!
//! Hazard: the page's own rules of `@page` win over the options. A margin that was not counted makes a second sheet, a size
//! shrinks or turns the page. So its margins are counted, its rules of size and margin are removed, and a style sheet of ours
//! after the page's own sets the margins again.

use serde_json::json;

use super::measure::{PIXELS_PER_INCH, measure};
use super::page_rules::PageRules;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::scripts::{self, RULES_OF};
use crate::domain::format_opts::{PageOptions, Viewport, whole_pixels};
use crate::domain::paper::{Paper, SHEET_LEAST_IN, SHEET_LIMIT_IN};

const MEASURE: &str = include_str!("../../../assets/page_height.js");
const FIT: &str = include_str!("../../../assets/one-sheet-fit.js");
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
    let question = scripts::guarded(&format!("({REPLACE})({RULES_OF},{})", json!(sheet)));
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

/// Takes out of the page what keeps it from being one sheet; answers the warning of breaks that are not heeded.
pub(super) async fn fit(page: &OpenPage, options: &PageOptions) -> Result<Option<String>, StepError> {
    let height_px = options.emulation.viewport.height_px;
    let answer =
        page.ask(scripts::guarded(&format!("({FIT})({RULES_OF},{height_px})")), page.limits.call).await?;
    let had_breaks = answer.is_some_and(|answer| answer == "true");
    let sentence = "height auto: the page forces breaks (break-before, break-after), which are left out of its one sheet";
    Ok(had_breaks.then(|| sentence.to_owned()))
}

/// The options with a sheet as high as `pages` of the one that they have.
pub(super) fn with_all_sheets(sheet: &PageOptions, pages: u32) -> PageOptions {
    let height_in = (sheet.paper.height_in * f64::from(pages)).min(SHEET_LIMIT_IN);
    PageOptions { paper: Paper { height_in, ..sheet.paper }, ..sheet.clone() }
}

/// The warning of a page that fills more sheets than one all the same.
pub(super) fn warning(options: &PageOptions, pages: u32) -> String {
    let height = options.paper.height_in * 25.4;
    let why = if options.paper.height_in >= SHEET_LIMIT_IN {
        "no sheet of a PDF is higher"
    } else {
        "it grows with its sheet, or a style sheet of another host breaks or sizes it (@page)"
    };
    format!("height auto: the page fills {pages} sheets of {height:.0} mm, for {why}")
}
