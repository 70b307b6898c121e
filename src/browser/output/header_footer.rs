//! Header and footer of a PDF's sheets, as Chromium takes them.
//!
//! Chromium shows them in a document of their own, made for the print: no script runs in it, and it loads nothing (both
//! tried, `tests/browser/header_footer.rs`). Hazard: a style sheet or font that it would have to load ends the renderer.

use serde_json::json;

use crate::browser::page::error::{PageError, StepError, script_error};
use crate::browser::page::open_page::OpenPage;
use crate::browser::tab::failed_requests;
use crate::domain::error::{ErrorCode, JobError, WarningKind};
use crate::domain::format_opts::{EmulationOptions, Extras, Layout, PageOptions};

/// Without a template Chromium shows its own: date, title, address.
const NOTHING: &str = "<span></span>";
const FILES: &str = include_str!("../../../assets/template_files.js");
/// A template that names a file has one of these words, in small letters.
const NAMING: [&str; 6] = ["src", "url(", "href", "poster", "background", "data="];
const FILL: &str = include_str!("../../../assets/header_footer.js");
/// Classes that Chromium would fill in wrongly: the date in its own language, the address with the page's random host.
const FILLED: [&str; 2] = ["date", "url"];
/// With a narrower margin the content covers a line of Chromium's own size (seen).
const LEAST_IN: f64 = 9.0 / 25.4;

/// Both templates for the printer; `None` when there is neither.
pub(super) async fn templates(
    page: &OpenPage,
    options: &PageOptions,
    layout: &Layout,
) -> Result<Option<[String; 2]>, StepError> {
    let Extras { header, footer, .. } = &options.extras;
    if !options.extras.has_header_or_footer() {
        return Ok(None);
    }
    let given = [header, footer].map(|template| template.as_deref().unwrap_or_default());
    let is_filled = given.iter().any(|template| FILLED.iter().any(|class| template.contains(class)));
    let [header, footer] =
        if is_filled { fill(page, &options.emulation, given).await? } else { given.map(str::to_owned) };
    let family = &page.tab()?.families.header_footer;
    let styled = |template: String| {
        if template.is_empty() {
            NOTHING.to_owned()
        } else {
            styled(&template, options.print_background, layout, family)
        }
    };
    Ok(Some([styled(header), styled(footer)]))
}

/// Warns of a header or footer that the content covers.
pub(super) fn warnings(options: &PageOptions, layout: &Layout) -> Vec<String> {
    let Extras { header, footer, .. } = &options.extras;
    let [above_in, _, below_in, _] = layout.white_in();
    let [is_own_above, _, is_own_below, _] = layout.own_margin;
    let both = [
        ("headerTemplate", "top", header.is_some() && above_in < LEAST_IN, is_own_above),
        ("footerTemplate", "bottom", footer.is_some() && below_in < LEAST_IN, is_own_below),
    ];
    let covered = both.into_iter().filter(|&(_, _, is_covered, _)| is_covered);
    covered
        .map(|(key, side, _, is_own)| {
            let margin = if is_own { format!("the @page margin-{side}") } else { format!("margin.{side}") };
            format!("formatOpts.{key} lies in the margin: with {margin} below 9mm the page covers it")
        })
        .collect()
}

/// Warns of the files that header and footer name: Chromium shows both in a document that loads nothing, and reports
/// nothing of it.
pub(super) async fn warn_of_files(page: &mut OpenPage, options: &PageOptions) -> Result<(), StepError> {
    let Extras { header, footer, .. } = &options.extras;
    if !header.iter().chain(footer).any(|html| may_name_file(html)) {
        return Ok(());
    }
    let templates = json!({
        "headerTemplate": header.as_deref().unwrap_or_default(),
        "footerTemplate": footer.as_deref().unwrap_or_default(),
    });
    let answer = page.ask_for_warning(format!("({FILES})({templates})")).await?;
    let named = answer.and_then(|answer| serde_json::from_str::<Vec<(String, String)>>(&answer).ok());
    for (option, address) in named.unwrap_or_default() {
        let shown = failed_requests::redacted_url(&address);
        let text = format!(
            "not loaded: {shown} ({option} reaches no file: write pictures into it as data: addresses)"
        );
        page.warnings.push_kind(WarningKind::Missing, &text);
    }
    Ok(())
}

fn may_name_file(html: &str) -> bool {
    let html = html.to_ascii_lowercase();
    NAMING.iter().any(|word| html.contains(word))
}

/// The likely reason when a renderer dies, or fails, while it prints with header or footer.
pub(super) fn explain(mut failed: PageError, options: &PageOptions) -> PageError {
    let died = matches!(failed.error.code, ErrorCode::PageCrashed | ErrorCode::PageFailed);
    if died && options.extras.has_header_or_footer() {
        let sentence = "the page could not be printed with headerTemplate or footerTemplate: they reach no \
                        file, and a <link>, @import, @font-face or url(…#…) that names one ends the print; write \
                        styles into them, and pictures and fonts as data: addresses";
        failed.error = JobError::new(ErrorCode::OptionsInvalid, sentence);
    }
    failed
}

/// Fills in the date of the page's zone and language, and nothing for its address. The page's browser does it, which
/// knows all languages, in a world where none of the page's script runs.
async fn fill(
    page: &OpenPage,
    emulation: &EmulationOptions,
    templates: [&str; 2],
) -> Result<[String; 2], StepError> {
    // Without a zone or a language of the caller's it is written as in the page's scripts.
    let or_own = |name: &Option<String>| {
        name.as_deref().map_or_else(|| "undefined".to_owned(), |it| json!(it).to_string())
    };
    let (locale, zone) = (or_own(&emulation.locale), or_own(&emulation.timezone));
    let expression = format!("({FILL})({},{locale},{zone})", json!(templates));
    let answer = page.run(expression, page.limits.call).await?;
    let answer =
        answer.transpose().map_err(|thrown| script_error("headerTemplate or footerTemplate", thrown))?;
    let filled = answer.as_deref().and_then(|answer| serde_json::from_str(answer).ok());
    let left = "the page left while its headerTemplate and footerTemplate were filled in";
    filled.ok_or_else(|| StepError::job(ErrorCode::PageFailed, left))
}

/// Chromium gives them no size and no family, and lays out their content as a flex row, which takes the blanks out of a
/// line of text: so they get a block of their own, between the content's margins.
fn styled(html: &str, print_background: bool, layout: &Layout, family: &str) -> String {
    let adjust = if print_background { "exact" } else { "economy" };
    let [_, right_in, _, left_in] = layout.white_in();
    format!(
        "<div style=\"box-sizing:border-box;width:100%;padding:0 {right_in:.4}in 0 {left_in:.4}in;font:8pt \
         {family};print-color-adjust:{adjust}\">{html}</div>"
    )
}
