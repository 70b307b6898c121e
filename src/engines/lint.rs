//! Lints a template: its tags, the data that it reads, its errors. Its code is parsed, never run, in the same kind of child that
//! would run it.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::ejs::{entry_text, listing, on_site};
use super::office::{self, files::beside};
use super::script::TemplateCodePool;
use crate::config::Config;
use crate::domain::error::{JobError, Warnings};
use crate::domain::format_opts::Delimiters;
use crate::domain::ids::AccountId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Site;
use crate::templates::registry::variables::{KnownVariables, VariableReader};
use crate::thread;
use crate::workers::assemble::{FillLimits, Language, LintJob, Linted, Reader, ScriptError, ScriptRequest};
use crate::workers::lint::LintReport;
use crate::workers::{FileSource, SuppliedFile, WorkerError};

/// Looks through templates. Cloning shares its processes.
#[derive(Clone)]
pub struct Linter {
    script: TemplateCodePool,
    limits: FillLimits,
}

impl Linter {
    /// One that uses `script`.
    pub fn new(script: TemplateCodePool, config: &Config) -> Self {
        Self { script, limits: office::limits(config) }
    }

    /// The report of a template.
    ///
    /// # Errors
    /// A sentence for the author where the template cannot be read at all, or its child cannot be run.
    pub async fn lint(
        &self,
        account: AccountId,
        (kind, site): (TemplateKind, &Site),
        delimiters: Option<&Delimiters>,
    ) -> Result<LintReport, JobError> {
        let mut warnings = Warnings::default();
        let Some((job, body)) = self.job((kind, site), delimiters, &mut warnings).await? else {
            return Ok(nothing());
        };
        let (request, body) = (ScriptRequest::Lint(job), [body]);
        let (linted, report) =
            self.script.run(&account.into(), (&request, &body), &IncludedFiles { kind, site }).await?;
        let mut report = self.report(linted, report).await?;
        report.warnings.extend(warnings.lines().iter().cloned());
        Ok(report)
    }

    async fn lint_in_background(
        &self,
        account: AccountId,
        template: (TemplateKind, &Site),
        limit: Duration,
    ) -> Result<Option<LintReport>, String> {
        let message = |error: JobError| error.message;
        let Some((job, body)) = self.job(template, None, &mut Warnings::default()).await.map_err(message)?
        else {
            return Ok(Some(nothing()));
        };
        let (request, body) = (ScriptRequest::Lint(job), [body]);
        let files = IncludedFiles { kind: template.0, site: template.1 };
        let done = self.script.run_in_background(account, (&request, &body), &files, limit).await;
        let (linted, report) = match done {
            Ok(Some(done)) => done,
            Ok(None) | Err(WorkerError::Deadline | WorkerError::NotStarted(_)) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        self.report(linted, report).await.map(Some).map_err(message)
    }

    /// The request and its body; `None` for a page without a tag.
    async fn job<'a>(
        &self,
        (kind, site): (TemplateKind, &'a Site),
        delimiters: Option<&'a Delimiters>,
        warnings: &mut Warnings,
    ) -> Result<Option<(LintJob<'a>, Bytes)>, JobError> {
        let found = match kind {
            TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Framework => {
                page(Language::Html, site, warnings).await?
            }
            TemplateKind::Latex => page(Language::Latex(Reader::default()), site, warnings).await?,
            TemplateKind::Docx | TemplateKind::Xlsx | TemplateKind::Pptx => {
                let body = site.page().cloned().unwrap_or_default();
                let pair = |given: &'a Delimiters| {
                    (Cow::Borrowed(given.start.as_str()), Cow::Borrowed(given.end.as_str()))
                };
                let job = LintJob::Office { delimiters: delimiters.map(pair), limits: self.limits };
                Some((job, body))
            }
        };
        self.script.check_size(found.as_ref().map_or(0, |(_, body)| body.len()))?;
        Ok(found)
    }

    async fn report(&self, linted: Linted, report: Bytes) -> Result<LintReport, JobError> {
        linted.map_err(|error| self.script.refused(error))?;
        let read = thread::by_size(report.len(), move || serde_json::from_slice(&report)).await?;
        read.map_err(|error| self.script.refused(ScriptError::Broken(error.to_string())))
    }
}

#[async_trait(?Send)]
impl VariableReader for Linter {
    async fn variables(
        &self,
        account: AccountId,
        template: (TemplateKind, &Site),
        limit: Duration,
    ) -> KnownVariables<Vec<String>> {
        match self.lint_in_background(account, template, limit).await {
            // With unreadable tags the list of an Office file would be incomplete.
            Ok(Some(report)) if !template.0.is_office() || report.errors.is_empty() => {
                report.variables.map_or(KnownVariables::Unreadable, KnownVariables::Found)
            }
            Ok(Some(_)) => KnownVariables::Unreadable,
            Ok(None) => KnownVariables::NotYet,
            Err(why) => {
                tracing::debug!(error = why, "a template's variables are not told");
                KnownVariables::Unreadable
            }
        }
    }
}

/// The request to look through a page, and its body; `None` for one without a tag.
async fn page<'a>(
    language: Language,
    site: &'a Site,
    warnings: &mut Warnings,
) -> Result<Option<(LintJob<'a>, Bytes)>, JobError> {
    let (body, has_tags) = entry_text(site, language, warnings).await?;
    let files = Cow::Borrowed(listing(site).await?);
    let job = LintJob::Page { language, entry: Cow::Borrowed(site.entry()), files };
    Ok(has_tags.then_some((job, body)))
}

/// What is in a page without a tag.
fn nothing() -> LintReport {
    LintReport { variables: Some(Vec::new()), ..LintReport::default() }
}

/// The files that a template includes, without cached scripts: those are of no use for parsing.
struct IncludedFiles<'a> {
    kind: TemplateKind,
    site: &'a Site,
}

#[async_trait]
impl FileSource for IncludedFiles<'_> {
    async fn file(&self, name: &str) -> Result<SuppliedFile, String> {
        let text = |site: &Site, name: &str| {
            site.text(name).map(|text| text.content).or_else(|| site.get(name).cloned())
        };
        let content = if self.kind.is_office() {
            beside(self.site, name)?
        } else {
            on_site(self.site, name, text).await?
        };
        Ok(SuppliedFile { content, made: None })
    }
}
