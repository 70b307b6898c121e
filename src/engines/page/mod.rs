//! Chromium: a page becomes a PDF, a picture, or one HTML file.
//!
//! A page that opens by itself is a file already: no browser is asked for it. The browser pool looks for Chromium, restarts
//! it and has error codes of its own; so this engine requires nothing.
//!
//! The table of engines runs it by [`ENGINE`]; the commands ask a plan by [`needs_browser`]. `render` and `inlined`
//! alone call `browser`; the scans are pure.

mod attempts;
mod css_page;
pub mod document_state;
pub mod html;
pub mod inlined;
pub mod lane;
mod markup;
pub mod page_rules;
pub mod references;
mod render;
pub mod scripting_media;

use async_trait::async_trait;

pub use render::{PageEngine, PageRequest, RenderError};

use super::Engine;
use super::document::{Document, DocumentKind, Page};
use super::error::EngineError;
use super::plan::{Ability, Plan};
use super::runner::{StepContext, StepRunner};
use super::step::{Step, StepKind};
use crate::domain::error::JobError;
use crate::domain::format_opts::{Key, KeySet, PageOptions, Viewport};
use crate::domain::kinds::FileKind;
use crate::thread;

/// Its name in routes, metrics and errors.
const NAME: &str = "chromium";

/// The engine.
pub const ENGINE: Engine = Engine {
    name: NAME,
    abilities: &[
        ability(StepKind::Print, FileKind::Pdf, PAGE.and(SHOWN).and(PDF)),
        ability(StepKind::Picture, FileKind::Png, PAGE.and(SHOWN).and(IMAGE).and(PNG)),
        ability(StepKind::Picture, FileKind::Jpg, PAGE.and(SHOWN).and(IMAGE).and(JPG)),
        ability(StepKind::Snapshot, FileKind::Html, PAGE),
    ],
    requires: &[],
    reads_files: false,
    slots: None,
    start: |basis| {
        let (pool, browser) = (basis.pool.clone(), basis.config.browser.clone());
        let phases = basis.metrics.phases.clone();
        Box::new(PageEngine::new(pool, browser, basis.share, phases, basis.outbound))
    },
};

/// What has an effect on the page itself.
const PAGE: KeySet = KeySet::of(&[
    Key::Selector,
    Key::Viewport,
    Key::MediaFeatures,
    Key::Javascript,
    Key::Requests,
    Key::Timezone,
    Key::Locale,
    Key::WaitForSelector,
    Key::WaitForExpression,
    Key::WaitForTimeout,
    Key::FailOn,
]);
/// On how it is shown.
const SHOWN: KeySet = KeySet::of(&[Key::MediaType]);
/// On its sheets, and what a PDF has beside them.
const PDF: KeySet = KeySet::of(&[
    Key::Format,
    Key::Width,
    Key::Height,
    Key::Landscape,
    Key::Margin,
    Key::Scale,
    Key::PrintBackground,
    Key::PreferCssPageSize,
    Key::FromPage,
    Key::ToPage,
    Key::HeaderTemplate,
    Key::FooterTemplate,
    Key::Outline,
    Key::Tagged,
    Key::Metadata,
    Key::BaseUrl,
]);
/// On pictures.
const IMAGE: KeySet = KeySet::of(&[Key::FullPage]);
/// On pictures that can be transparent.
const PNG: KeySet = KeySet::of(&[Key::OmitBackground]);
/// On pictures that are made with loss.
const JPG: KeySet = KeySet::of(&[Key::Quality]);

const fn ability(step: StepKind, file: FileKind, heeds: KeySet) -> Ability {
    Ability::new(step, (DocumentKind::Page, DocumentKind::File(file)), 2, heeds)
}

/// Whether there is no such document without a browser. Target html takes one only where files lie beside the page.
pub fn needs_browser(plan: &Plan) -> bool {
    plan.steps().iter().any(|step| step.engine == NAME && step.kind != StepKind::Snapshot)
}

#[async_trait(?Send)]
impl StepRunner for PageEngine {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, EngineError> {
        let (page, file) = (input.into_page()?, step.file()?);
        if step.kind == StepKind::Snapshot
            && let Some(document) = as_it_is(job, &page).await?
        {
            return Ok(document);
        }
        let Page { site, header, footer } = page;
        let mut options = job.options.clone();
        (options.extras.header, options.extras.footer) = (header, footer);
        let request = PageRequest {
            meter: job.meter.clone(),
            site,
            data: job.data.clone(),
            file,
            limit_bytes: job.outlet.limit_bytes(),
            options,
            reach: job.reach,
            alone: false,
            fresh: false,
            with_graphics: false,
        };
        // It is much larger than all that goes on around it.
        Box::pin(attempts::render(self, &request, job)).await
    }
}

/// The page as the file, where it opens by itself. One that refers to files of its own would not: the browser puts them
/// in.
async fn as_it_is(job: &mut StepContext<'_>, page: &Page) -> Result<Option<Document>, JobError> {
    let Some(html) = page.site.page().cloned() else { return Ok(None) };
    let unshown = unshown_warnings(job.options);
    if page.site.has_assets() && !(unshown.is_empty() && html::opens_by_itself(&html).await?) {
        return Ok(None);
    }
    for warning in &unshown {
        job.warnings.push(warning);
    }
    let data = job.data.clone();
    let length = html.len() + data.len();
    let file = thread::by_size(length, move || html::with_data(&html, &data)).await?;
    Ok(Some(Document::held(FileKind::Html, file)))
}

/// Warnings about keys that have an effect on html only if the browser shows the page, for a page that it does not show.
fn unshown_warnings(options: &PageOptions) -> Vec<String> {
    let emulation = &options.emulation;
    let given = [
        (Key::Selector, options.selector.is_some()),
        (Key::MediaFeatures, !emulation.features.is_empty()),
        (Key::Viewport, emulation.viewport != Viewport::default()),
        (Key::Javascript, !options.javascript),
        (Key::Requests, !options.requests.is_empty()),
        (Key::WaitForSelector, options.wait_for_selector.is_some()),
        (Key::WaitForExpression, options.wait_for_expression.is_some()),
        (Key::WaitForTimeout, options.wait_ms > 0),
        (Key::FailOn, !options.fail_on.is_empty()),
    ];
    let unshown = given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key.name());
    unshown.map(unshown_warning).collect()
}

fn unshown_warning(name: &str) -> String {
    format!("formatOpts.{name} has no effect on html of a page without files beside it and was ignored")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::format_opts::{self, OptionLimits};

    #[test]
    fn every_key_of_a_shown_page_is_reported_where_none_is_shown() {
        let opts = r#"{"selector":"p","viewport":{"width":9},"waitForSelector":"p",
            "waitForExpression":"1","waitForTimeout":5,"failOn":["missing"],"mediaType":"screen","scale":1,
            "mediaFeatures":{"color-gamut":"p3"},"javascript":false,
            "requests":{"a.example":{"headers":{"X":"1"}}}}"#;
        let reading = format_opts::read(serde_json::from_str(opts).unwrap(), &OptionLimits::ADMITTED);
        // Template code heeds these two as well.
        let shown = PAGE.iter().filter(|key| ![Key::Timezone, Key::Locale].contains(key));
        let told: Vec<_> = shown.map(|key| unshown_warning(key.name())).collect();
        assert_eq!(unshown_warnings(&reading.options), told);
        assert_eq!(unshown_warnings(&PageOptions::default()), Vec::<String>::new());
    }
}
