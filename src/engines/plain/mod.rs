//! Pages without a tag, where nothing can run template code: the entry is the page.
//!
//! Front-end builds and plain HTML need no template engine, so a machine without one can render them. A page with a tag is
//! refused: it would print its code. Only `ENGINE` is used outside.

use async_trait::async_trait;

use super::Engine;
use super::document::{Document, DocumentKind, Page, Source};
use super::ejs::{HEADER_AND_FOOTER, entry_text, has_tags, object};
use super::plan::Ability;
use super::requirement::UnmetRequirement;
use super::runner::{StepContext, StepResult, StepRunner};
use super::script::JAVASCRIPT_CORE;
use super::step::{Step, StepKind};
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::format_opts::KeySet;
use crate::domain::kinds::TemplateKind;
use crate::workers::assemble::{Language, Reader};

/// The engine. `ejs` costs less, so this one is chosen only where `ejs` is not available.
pub const ENGINE: Engine = Engine {
    name: "plain",
    abilities: &[
        ability(TemplateKind::Framework, DocumentKind::Page),
        ability(TemplateKind::Html, DocumentKind::Page),
        ability(TemplateKind::Latex, DocumentKind::Source),
    ],
    requires: &[],
    reads_files: false,
    slots: None,
    start: |_| Box::new(Plain),
};

const fn ability(kind: TemplateKind, to: DocumentKind) -> Ability {
    Ability::new(StepKind::Assemble, (DocumentKind::Template(kind), to), 2, KeySet::NONE)
}

struct Plain;

#[async_trait(?Send)]
impl StepRunner for Plain {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let site = input.into_template()?;
        object(job.data)?;
        if step.to == DocumentKind::Source {
            let language = Language::Latex(Reader::default());
            let (_, has_tags) = entry_text(&site, language, job.warnings).await?;
            refuse_tags(has_tags, site.entry())?;
            return Ok(Document::source(Source { site, source_map: None }));
        }
        let (page, has_page_tags) = entry_text(&site, Language::Html, job.warnings).await?;
        refuse_tags(has_page_tags, site.entry())?;
        let extras = &job.options.extras;
        let mut given = [extras.header.clone(), extras.footer.clone()];
        for (key, text) in HEADER_AND_FOOTER.into_iter().zip(&mut given) {
            // Dropped where no later step shows it.
            *text = text.take().filter(|_| job.plan.heeds(key));
            refuse_tags(
                has_tags(Language::Html, text.as_deref().unwrap_or_default().as_bytes()),
                key.name(),
            )?;
        }
        let [header, footer] = given;
        Ok(Document::page(Page { site: site.with_page(page), header, footer }))
    }
}

fn refuse_tags(has_tags: bool, name: &str) -> Result<(), JobError> {
    if !has_tags {
        return Ok(());
    }
    let unmet = UnmetRequirement::Missing(&JAVASCRIPT_CORE);
    let sentence = format!("{name} has tags of template code, and nothing here can run them: {unmet}");
    Err(JobError::new(ErrorCode::EngineUnavailable, sentence))
}
