//! Office templates: files of Word, Excel and `PowerPoint` are filled with the data, in the same kind of child as pages;
//! other formats are passed on unfilled. `lint` uses `limits` and `files::beside`; all else is used here only.

pub(super) mod files;
mod unfilled;

use std::borrow::Cow;

use async_trait::async_trait;
use bytes::Bytes;

use self::files::TemplateFiles;
use self::unfilled::unfilled;
use super::Engine;
use super::document::{Document, DocumentKind};
use super::error::EngineError;
use super::plan::Ability;
use super::runner::{StepContext, StepResult, StepRunner};
use super::script::{JAVASCRIPT_CORE, TemplateCodePool};
use super::step::{Step, StepKind};
use crate::config::{Config, OfficeConfig};
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::format_opts::{Delimiters, Key, KeySet};
use crate::domain::kinds::{FileKind, TemplateKind};
use crate::domain::office_format::OfficeFormat;
use crate::domain::site::Site;
use crate::outbound::Outbound;
use crate::telemetry::Counters;
use crate::workers::assemble::{FillJob, FillLimits, Filled, ScriptRequest};

/// The keys of `formatOpts` that have an effect on filling.
const FILLED: KeySet = KeySet::of(&[Key::Strict, Key::Delimiters, Key::Locale, Key::Timezone]);

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "office",
    abilities: &[
        ability(TemplateKind::Docx, FileKind::Docx, FILLED),
        ability(TemplateKind::Xlsx, FileKind::Xlsx, FILLED),
        ability(TemplateKind::Pptx, FileKind::Pptx, FILLED),
    ],
    requires: &[JAVASCRIPT_CORE],
    reads_files: false,
    slots: None,
    start: |context| {
        Box::new(Office {
            script: context.script.clone(),
            outbound: context.outbound.clone(),
            metrics: context.metrics.office_pictures.clone(),
            config: context.config.office.clone(),
            limits: limits(context.config),
        })
    },
};

const fn ability(kind: TemplateKind, file: FileKind, heeds: KeySet) -> Ability {
    Ability::new(StepKind::Assemble, (DocumentKind::Template(kind), DocumentKind::File(file)), 1, heeds)
}

struct Office {
    script: TemplateCodePool,
    outbound: Outbound,
    metrics: Counters<1>,
    config: OfficeConfig,
    limits: FillLimits,
}

#[async_trait(?Send)]
impl StepRunner for Office {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let (kind, template) = (step.file()?, input.kind);
        let site = input.into_template()?;
        let Some(file) = site.page() else {
            let sentence = format!("the template has no file '{}'", site.entry());
            return Err(JobError::new(ErrorCode::TemplateInvalid, sentence).into());
        };
        let file = match format_of(template, file) {
            Some(OfficeFormat::Docx | OfficeFormat::Xlsx | OfficeFormat::Pptx) => {
                self.fill(job, (&site, file)).await?
            }
            Some(format) => unfilled((&self.script, self.limits), step, job, (format, file)).await?,
            None => return Err(EngineError::internal("an Office file of a type that is none")),
        };
        let mut sink = job.outlet.open().await?;
        sink.write(file).await?;
        sink.finish(kind, None).await
    }
}

impl Office {
    async fn fill(
        &self,
        job: &mut StepContext<'_>,
        (site, file): (&Site, &Bytes),
    ) -> Result<Bytes, EngineError> {
        self.script.check_size(file.len() + job.data.len())?;
        let (office, emulation) = (&job.options.office, &job.options.emulation);
        let script = self.script.localized(emulation.locale.as_deref(), emulation.timezone.as_deref());
        let pair = |given: &Delimiters| (Cow::Owned(given.start.clone()), Cow::Owned(given.end.clone()));
        let request = ScriptRequest::Fill(FillJob {
            file_bytes: file.len(),
            delimiters: office.delimiters.as_ref().map(pair),
            strict: office.strict,
            locale: Cow::Borrowed(&script.locale),
            timezone: Cow::Borrowed(&script.timezone),
            limits: self.limits,
        });
        let body = [file.clone(), job.data.clone()];
        let files = TemplateFiles::new(site, job.reach, (&self.outbound, &self.config, &self.metrics));
        let (filled, file): (Filled, _) = script.run(job.meter, (&request, &body), &files).await?;
        job.warnings.push_all(filled.map_err(|error| script.refused(error))?);
        Ok(file)
    }
}

/// The format of a template's file.
fn format_of(template: DocumentKind, file: &[u8]) -> Option<OfficeFormat> {
    match template {
        DocumentKind::Template(kind) => OfficeFormat::of_start(kind, file),
        DocumentKind::Page | DocumentKind::Source | DocumentKind::File(_) => None,
    }
}

/// The limits of an Office file.
pub(super) fn limits(config: &Config) -> FillLimits {
    let (templates, office) = (&config.templates, &config.office);
    FillLimits {
        entries: templates.archive_entries_limit,
        unpacked_bytes: templates.archive_bytes_limit,
        ratio: templates.archive_ratio_limit,
        depth: office.depth_limit,
        elements: office.elements_limit,
        attributes: office.attributes_limit,
        tags: office.tags_limit,
        items: office.items_limit,
        slides: office.slides_limit,
        own_parts: office.parts_limit,
        output_bytes: config.assemble.output_limit_bytes,
    }
}
