//! EJS: renders a template of HTML or LaTeX with its data into a page or a LaTeX source.
//!
//! Of what is re-exported here, `plain` and `lint` use the functions on entries and tags, `doctor` and tests the assembler.

mod assembler;
mod precompile;
mod recent;

use async_trait::async_trait;

pub use assembler::Assembler;
pub(super) use assembler::{entry_text, has_tags, listing, object, on_site};

use super::Engine;
use super::document::{Document, DocumentKind, Page, Source};
use super::plan::{Ability, Plan};
use super::runner::{StepContext, StepResult, StepRunner};
use super::script::JAVASCRIPT_CORE;
use super::step::{Step, StepKind};
use crate::domain::format_opts::{Key, KeySet, PageOptions};
use crate::domain::kinds::{FileKind, TemplateKind};
use crate::workers::assemble::{Language, Reader};

/// The engine. Without the library, `plain` makes the pages that have no tag.
pub const ENGINE: Engine = Engine {
    name: "ejs",
    abilities: &[
        ability(TemplateKind::Framework, DocumentKind::Page),
        ability(TemplateKind::Html, DocumentKind::Page),
        ability(TemplateKind::Ejs, DocumentKind::Page),
        ability(TemplateKind::Latex, DocumentKind::Source),
    ],
    requires: &[JAVASCRIPT_CORE],
    reads_files: false,
    slots: None,
    start: |context| {
        let children = context.metrics.children.clone();
        Box::new(Assembler::on(context.script.clone(), &context.config.assemble, children))
    },
};

/// The keys of `formatOpts` that have an effect on template code.
const FORMATS: KeySet = KeySet::of(&[Key::Timezone, Key::Locale]);

/// The options whose text is a template like the page: header and footer.
pub(super) const HEADER_AND_FOOTER: [Key; 2] = [Key::HeaderTemplate, Key::FooterTemplate];

const fn ability(kind: TemplateKind, to: DocumentKind) -> Ability {
    Ability::new(StepKind::Assemble, (DocumentKind::Template(kind), to), 1, FORMATS)
}

/// What reads the LaTeX source of a plan: TeX makes PDFs and nothing else.
fn reader(plan: &Plan) -> Reader {
    let read = plan.steps().iter().find(|step| step.from == DocumentKind::Source);
    let is_tex = read.is_none_or(|step| step.to == DocumentKind::File(FileKind::Pdf));
    if is_tex { Reader::Tex } else { Reader::Pandoc }
}

#[async_trait(?Send)]
impl StepRunner for Assembler {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let site = input.into_template()?;
        let PageOptions { extras, emulation, .. } = job.options;
        let mut assembler = self.localized(emulation.locale.as_deref(), emulation.timezone.as_deref());
        if step.to == DocumentKind::Source {
            assembler.language = Language::Latex(reader(job.plan));
            let (source, source_map) =
                assembler.assemble_with_source_map(job.meter, &site, job.data, job.warnings).await?;
            return Ok(Document::source(Source { site: site.with_page(source), source_map }));
        }
        let page = assembler.assemble(job.meter, &site, job.data, job.warnings).await?;
        let mut made = [None, None];
        let given = HEADER_AND_FOOTER.into_iter().zip([&extras.header, &extras.footer]);
        // Rendered only where a later step shows them.
        for ((key, template), made) in given.zip(&mut made).filter(|((key, _), _)| job.plan.heeds(*key)) {
            if let Some(template) = template {
                *made = Some(
                    assembler.assemble_header(job.meter, &site, (key.name(), template), job.data).await?,
                );
            }
        }
        let [header, footer] = made;
        Ok(Document::page(Page { site: site.with_page(page), header, footer }))
    }
}
