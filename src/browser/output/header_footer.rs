//! Header and footer of a PDF's sheets, as Chromium takes them.
//!
//! Chromium shows them in a document of their own, made for each sheet: no script runs in it, and it loads nothing (both
//! tried, `tests/browser/header_footer.rs`). So files that they name are put into them first, and their fonts are loaded in
//! the page: that document finds a font that its renderer has loaded from the same `data:` address.
//! Hazard: a style sheet or font that it would have to load ends the renderer.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use page_inliner::BaseUrl;
use serde::Deserialize;
use serde_json::json;

use crate::browser::page::error::{PageError, StepError, script_error};
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::scripts::RULES_OF;
use crate::browser::proxy::mime;
use crate::browser::tab::failed_requests;
use crate::domain::error::{ErrorCode, JobError, WarningKind};
use crate::domain::format_opts::{Extras, Layout, PageOptions};
use crate::domain::site::Site;

/// Without a template Chromium shows its own: date, title, address.
const NOTHING: &str = "<span></span>";
const SCRIPT: &str = include_str!("../../../assets/header_footer.js");
/// With a narrower margin the content covers a line of Chromium's own size (seen).
const LEAST_IN: f64 = 9.0 / 25.4;

/// Both templates with everything in them that they show.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeaderFooter {
    header_template: String,
    footer_template: String,
    /// What they are written in: the family of the page's body.
    family: String,
    /// Addresses that were taken out, each behind its option; behind an empty one where a font of the page's names it.
    named: Vec<(String, String)>,
    /// Families that cannot be shown.
    unloaded: Vec<String>,
}

/// `data:` addresses of files by the addresses that name them.
type Addresses = BTreeMap<String, String>;

impl HeaderFooter {
    /// Both templates, filled in by the page, with warnings of what they cannot show; `None` when there is neither. The page's
    /// browser does it, which knows all languages, in a world where none of the page's script runs.
    pub(super) async fn of(
        page: &mut OpenPage,
        options: &PageOptions,
        site: &Site,
    ) -> Result<Option<Self>, StepError> {
        let Extras { header, footer, .. } = &options.extras;
        if !options.extras.has_header_or_footer() {
            return Ok(None);
        }
        if [header, footer].into_iter().flatten().all(String::is_empty) {
            return Ok(Some(Self::default()));
        }
        let mut made = Self::filled(page, options, &Addresses::new()).await?;
        let limit = page.limits.header_files_bytes;
        let (files, is_whole) = files(site, &made.named, limit);
        if !files.is_empty() {
            made = Self::filled(page, options, &files).await?;
        }
        for (option, address) in made.named.iter().filter(|(option, _)| !option.is_empty()) {
            let address = failed_requests::redacted_url(address);
            page.warnings.push_kind(WarningKind::Missing, &format!(
                "not loaded: {address} ({option} shows only pictures and fonts, from its template's files or as data: \
                 addresses; write styles into it)"
            ));
        }
        if !is_whole {
            page.warnings.push(&format!(
                "headerTemplate and footerTemplate would show more than {limit} bytes of files \
                 (browser.header_files_limit_bytes)"
            ));
        }
        for family in &made.unloaded {
            page.warnings.push(&format!(
                "font not available in headerTemplate and footerTemplate: '{family}' (it did not load, or is too \
                 large for so many sheets: browser.header_files_limit_bytes)"
            ));
        }
        Ok(Some(made))
    }

    async fn filled(page: &OpenPage, options: &PageOptions, files: &Addresses) -> Result<Self, StepError> {
        let Extras { header, footer, .. } = &options.extras;
        let mut asked = json!({
            "templates": {
                "headerTemplate": header.as_deref().unwrap_or_default(),
                "footerTemplate": footer.as_deref().unwrap_or_default(),
            },
            "files": files,
            "limit": page.limits.header_files_bytes,
            "generic": page.tab()?.families.generic,
        });
        // Without a zone or a language of the caller's it is written as in the page's scripts.
        let emulation = &options.emulation;
        for (name, given) in [("locale", &emulation.locale), ("timeZone", &emulation.timezone)] {
            if let Some(given) = given {
                asked[name] = json!(given);
            }
        }
        let limit = page.limits.call;
        let answer = page.within(limit, page.run(format!("({SCRIPT})({RULES_OF},{asked})"), limit)).await?;
        let answer =
            answer.transpose().map_err(|thrown| script_error("headerTemplate or footerTemplate", thrown))?;
        let filled = answer.as_deref().and_then(|answer| serde_json::from_str(answer).ok());
        let left = "the page left while its headerTemplate and footerTemplate were filled in";
        filled.ok_or_else(|| StepError::job(ErrorCode::PageFailed, left))
    }

    /// Header and footer for the printer.
    pub(super) fn templates(&self, options: &PageOptions, layout: &Layout) -> [String; 2] {
        [&self.header_template, &self.footer_template].map(|template| {
            if template.is_empty() {
                NOTHING.to_owned()
            } else {
                styled(template, options.print_background, layout, &self.family)
            }
        })
    }
}

/// Pictures and fonts that are files of the template, up to `limit` bytes of addresses; and whether these are all.
fn files(site: &Site, named: &[(String, String)], limit: usize) -> (Addresses, bool) {
    let folder = site.folder();
    let base = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let Some(base) = BaseUrl::of(&base) else { return (Addresses::new(), true) };
    let (mut files, mut left, mut is_whole) = (Addresses::new(), limit, true);
    for (_, address) in named {
        let path = base.path(address);
        let Some((path, content)) = path.and_then(|path| site.get(&path).map(|content| (path, content)))
        else {
            continue;
        };
        let essence = mime::essence(&path);
        if !essence.starts_with("image/") && !essence.starts_with("font/") {
            continue;
        }
        if content.len().div_ceil(3) * 4 > left {
            is_whole = false;
            continue;
        }
        let data = format!("data:{essence};base64,{}", STANDARD.encode(content));
        left = left.saturating_sub(data.len());
        files.insert(address.clone(), data);
    }
    (files, is_whole)
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

/// The likely reason when a renderer dies, or fails, while it prints with header or footer.
pub(super) fn explain(mut failed: PageError, options: &PageOptions) -> PageError {
    let died = matches!(failed.error.code, ErrorCode::PageCrashed | ErrorCode::PageFailed);
    if died && options.extras.has_header_or_footer() {
        let sentence = "the page could not be printed with headerTemplate or footerTemplate: what they name and \
                        cannot load ends the print; write styles into them, and pictures and fonts as data: addresses";
        failed.error = JobError::new(ErrorCode::OptionsInvalid, sentence);
    }
    failed
}

/// Chromium gives them no size and no family of the page's, and lays out their content as a flex row, which takes the blanks
/// out of a line of text: so they get a block of their own, between the content's margins.
fn styled(html: &str, print_background: bool, layout: &Layout, family: &str) -> String {
    let adjust = if print_background { "exact" } else { "economy" };
    let [_, right_in, _, left_in] = layout.white_in();
    let family = family.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<div style=\"box-sizing:border-box;width:100%;padding:0 {right_in:.4}in 0 {left_in:.4}in;font:8pt \
         {family};print-color-adjust:{adjust}\">{html}</div>"
    )
}
