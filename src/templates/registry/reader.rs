//! Reads of templates: on the caller's thread, beside the registry and never through its mailbox.
//!
//! Hazard: a change may replace an object between the read of the record and the read of the object. The record is then
//! read again: it names an object that is there. What has been read stays whole, for objects are never replaced.

use std::sync::Arc;

use super::context::TemplateContext;
use super::info_object::InfoObject;
use super::list::{TemplateFilter, TemplatePage, TemplateQuery};
use super::messages::TemplateRef;
use super::problems;
use super::variables::{KnownVariables, Variables};
use super::view::{TemplateSummary, TemplateView};
use crate::domain::ids::AccountId;
use crate::problem::Problem;
use crate::storage::index::paging::Search;
use crate::storage::{CountedUpload, StorageKey, TemplatePart};
use crate::templates::cache::source::{self, LoadedTemplate, TemplateUse};

/// Reads templates; cheap to clone. Dropping one of its futures ends what it does.
#[derive(Clone)]
pub struct TemplateReader {
    context: Arc<TemplateContext>,
}

impl TemplateReader {
    /// A reader of the templates of `context`.
    pub fn new(context: Arc<TemplateContext>) -> Self {
        Self { context }
    }

    /// A saved template, whole.
    ///
    /// # Errors
    /// `template_not_found`, `template_unfinished`.
    pub async fn get(&self, of: TemplateRef) -> Result<TemplateView, Problem> {
        let mut summary = self.summary(of).await?;
        let object = loop {
            let key = summary.key(TemplatePart::Info);
            match InfoObject::fetch(self.context.store.as_ref(), &key).await {
                Ok(object) => break object,
                Err(problem) => {
                    summary = self.summary(of).await?;
                    if summary.key(TemplatePart::Info) == key {
                        return Err(problem);
                    }
                }
            }
        };
        let variables = match object.variables() {
            KnownVariables::Found(variables) => Some(variables),
            KnownVariables::Unreadable => None,
            KnownVariables::NotYet => self.variables(of.account, &summary).await,
        };
        let InfoObject { sample_data, files, .. } = object;
        Ok(TemplateView { summary, sample_data, files, variables })
    }

    /// A page of an account's saved templates, newest first. It may hold fewer than its limit: of records that the filter
    /// leaves out only `templates.list_scan_limit` are looked at for a page.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn list(&self, query: TemplateQuery) -> Result<TemplatePage, Problem> {
        let filtered = query.filter != TemplateFilter::default();
        let mut search =
            Search::new(query.before, query.limit, filtered, self.context.limits.list_scan_limit);
        loop {
            let wanted = search.portion();
            let portion = self.context.index.newest(query.account, search.before(), wanted).await?;
            let portion =
                portion.into_iter().map(|(id, record)| (id, record.and_then(TemplateSummary::of))).collect();
            if let Some(page) = search.take(portion, wanted, |template| query.filter.shows(template)) {
                return Ok(page);
            }
        }
    }

    /// The key of the archive: of one's own template as soon as it has files, of a public one as it is saved.
    ///
    /// # Errors
    /// `template_not_found`, `template_archive_invalid` when it has no files.
    pub async fn archive(&self, of: TemplateRef) -> Result<StorageKey, Problem> {
        let record = self.context.index.usable(of.account, of.template).await.map_err(Problem::internal)?;
        let record = record.ok_or_else(|| problems::not_found(of.template))?;
        let content = record.content.as_ref().ok_or_else(|| problems::empty(of.template))?;
        Ok(record.package(content))
    }

    /// Whether a template may be rendered now.
    ///
    /// # Errors
    /// `template_not_found`, `template_unfinished`, `template_archive_invalid` when it has no files.
    pub async fn check(&self, wanted: TemplateUse) -> Result<(), Problem> {
        source::usable(&self.context, wanted).await.map(drop)
    }

    /// The files of a template, as they are now.
    ///
    /// # Errors
    /// As for `check`.
    pub async fn load(&self, wanted: TemplateUse) -> Result<LoadedTemplate, Problem> {
        source::load_current(&self.context, wanted).await.map(|(_, loaded)| loaded)
    }

    /// Stages an upload of at most `limit_bytes` for a template that is not saved. Nothing of the template changes until
    /// the registry closes the upload, and then it is checked again.
    ///
    /// # Errors
    /// `upload_closed`.
    pub async fn stage_upload(&self, of: TemplateRef, limit_bytes: u64) -> Result<CountedUpload, Problem> {
        let record = self.context.index.read(of.account, of.template).await?;
        let record = problems::takes_uploads(record, of.template)?;
        let staged = self.context.store.stage(limit_bytes).await?;
        let stored = self.context.quota.begin(of.account).replacing(record.upload_bytes);
        Ok(CountedUpload::new(staged, stored))
    }

    /// The variables of a template that were not found when it was saved.
    async fn variables(&self, account: AccountId, summary: &TemplateSummary) -> Option<Variables> {
        let content = &summary.content;
        self.context.variable_reader.get()?;
        let key = summary.key(TemplatePart::Package);
        let loaded = source::load(&self.context, summary.account, (content, key)).await.ok()?;
        match self.context.variables(account, (content.kind, &loaded.site)).await {
            KnownVariables::Found(variables) => Some(variables),
            KnownVariables::Unreadable | KnownVariables::NotYet => None,
        }
    }

    async fn summary(
        &self,
        TemplateRef { account, template }: TemplateRef,
    ) -> Result<TemplateSummary, Problem> {
        let record = self.context.index.usable(account, template).await?;
        let record = problems::saved(record, template)?;
        TemplateSummary::of(record).ok_or_else(|| Problem::internal("a saved template without its parts"))
    }
}
