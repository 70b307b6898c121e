//! Pages without a tag where nothing runs template code: each is its own page.
//!
//! A front-end build or a page of plain HTML needs no template engine, so a machine without one still renders them. What
//! has a tag is refused here: printed as it is it would show its code.

use async_trait::async_trait;

use super::Engine;
use super::document::{Document, DocumentKind, Page};
use super::ejs::{HEADER_AND_FOOTER, entry_text, has_tags, object};
use super::plan::Ability;
use super::requirement::Lack;
use super::runner::{StepContext, StepResult, StepRunner};
use super::script::JAVASCRIPT_CORE;
use super::step::{Step, StepKind};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::kinds::TemplateKind;
use crate::workers::assemble::Language;

/// The engine. It stands behind `ejs`, which costs less, so it is taken only where that one is missing.
pub const ENGINE: Engine = Engine {
    name: "plain",
    abilities: &[
        of(TemplateKind::Framework, DocumentKind::Page),
        of(TemplateKind::Html, DocumentKind::Page),
        of(TemplateKind::Latex, DocumentKind::Source),
    ],
    requires: &[],
    reads_files: false,
    slots: None,
    start: |_| Box::new(Plain),
};

const fn of(kind: TemplateKind, to: DocumentKind) -> Ability {
    Ability::new(StepKind::Assemble, (DocumentKind::Template(kind), to), 2, &[])
}

struct Plain;

#[async_trait(?Send)]
impl StepRunner for Plain {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let site = input.into_template()?;
        object(job.data)?;
        if step.to == DocumentKind::Source {
            let source = site.page().cloned().unwrap_or_default();
            refuse_tags(Language::Latex, (site.entry(), &source))?;
            return Ok(Document::source(site));
        }
        let page = entry_text(&site, job.warnings).await?;
        refuse_tags(Language::Html, (site.entry(), &page))?;
        let extras = &job.options.extras;
        let mut given = [extras.header.clone(), extras.footer.clone()];
        for (name, text) in HEADER_AND_FOOTER.into_iter().zip(&mut given) {
            // Like the page, it counts only where a later step shows it.
            *text = text.take().filter(|_| job.plan.heeds(name));
            refuse_tags(Language::Html, (name, text.as_deref().unwrap_or_default().as_bytes()))?;
        }
        let [header, footer] = given;
        Ok(Document::page(Page { site: site.with_page(page), header, footer }))
    }
}

fn refuse_tags(language: Language, (name, text): (&str, &[u8])) -> Result<(), JobFault> {
    if !has_tags(language, text) {
        return Ok(());
    }
    let lack = Lack::Missing(&JAVASCRIPT_CORE);
    let sentence = format!("{name} has tags of template code, and nothing here can run them: {lack}");
    Err(JobFault::new(FaultCode::EngineUnavailable, sentence))
}
