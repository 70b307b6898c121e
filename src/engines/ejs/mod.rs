//! EJS: a template of HTML or LaTeX and its data become a page, or the source of a document.

mod ahead;
mod assembler;
mod recent;

use async_trait::async_trait;

pub use assembler::Assembler;
pub(super) use assembler::{entry_text, has_tags, object};

use super::Engine;
use super::document::{Document, DocumentKind, Page};
use super::plan::Ability;
use super::runner::{StepContext, StepRunner};
use super::script::JAVASCRIPT_CORE;
use super::step::{Step, StepKind};
use super::step_error::StepError;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Site;
use crate::workers::language::Language;

/// The engine. Without the library, `plain` makes the pages that have no tag.
pub const ENGINE: Engine = Engine {
    name: "ejs",
    abilities: &[
        of(TemplateKind::Framework, DocumentKind::Page),
        of(TemplateKind::Html, DocumentKind::Page),
        of(TemplateKind::Ejs, DocumentKind::Page),
        of(TemplateKind::Latex, DocumentKind::Source),
    ],
    requires: &[JAVASCRIPT_CORE],
    fenced: false,
    slots: None,
    start: |basis| {
        let children = basis.metrics.children.clone();
        Box::new(Assembler::on(basis.script.clone(), &basis.config.assemble, children))
    },
};

/// What has an effect on template code.
const FORMATS: &[&str] = &["timezone", "locale"];

/// The options whose text is a template like the page: header and footer.
pub(super) const BANNERS: [&str; 2] = ["headerTemplate", "footerTemplate"];

const fn of(kind: TemplateKind, to: DocumentKind) -> Ability {
    Ability {
        step: StepKind::Assemble,
        from: DocumentKind::Template(kind),
        to,
        cost: 1,
        heeds: &[FORMATS],
        asked_by: None,
    }
}

#[async_trait(?Send)]
impl StepRunner for Assembler {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, StepError> {
        let site = input.into_template()?;
        let PageOptions { extras, scene, .. } = job.options;
        let [header, footer] = BANNERS;
        let assembler = self.localized(scene.locale.as_deref(), scene.timezone.as_deref());
        if step.to == DocumentKind::Source {
            let (source, notes) =
                assembler.of(Language::Latex).noted(job.meter, &site, job.data, job.warnings).await?;
            return Ok(Document::source(site.with_page(source).with_notes(notes)));
        }
        let page = assembler.assemble(job.meter, &site, job.data, job.warnings).await?;
        let header = assembler.banner(job, &site, (header, extras.header.as_deref())).await?;
        let footer = assembler.banner(job, &site, (footer, extras.footer.as_deref())).await?;
        Ok(Document::page(Page { site: site.with_page(page), header, footer }))
    }
}

impl Assembler {
    /// Header and footer are templates like the page, of the same data; made where a later step shows them.
    async fn banner(
        &self,
        job: &StepContext<'_>,
        site: &Site,
        (name, template): (&str, Option<&str>),
    ) -> Result<Option<String>, StepError> {
        let Some(template) = template.filter(|_| job.plan.heeds(name)) else { return Ok(None) };
        Ok(Some(self.assemble_banner(job.meter, site, (name, template), job.data).await?))
    }
}
