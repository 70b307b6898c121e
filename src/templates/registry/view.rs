//! A template as its readers see it.

use std::sync::Arc;

use actix::prelude::*;
use serde_json::value::RawValue;

use super::actor::TemplateRegistry;
use super::context::Deps;
pub use super::info_object::FileEntry;
use super::info_object::InfoObject;
use super::messages::{GetTemplate, LocateArchive, TemplateRef};
use super::record::{Content, Info, Previews, TemplateRecord};
use super::refusal;
use super::variables::{Told, Variables};
use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::Problem;
use crate::storage::{StorageKey, TemplatePart};
use crate::templates::cache::source::load_package;

/// A saved template, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSummary {
    /// Which template.
    pub id: TemplateId,
    /// Whose.
    pub account: AccountId,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Its files.
    pub content: Content,
    /// What its owner says of it.
    pub info: Info,
    /// Its previews.
    pub previews: Previews,
}

/// A saved template, whole.
#[derive(Clone, Debug)]
pub struct TemplateView {
    /// What a list shows.
    pub summary: TemplateSummary,
    /// The data to try it with: a JSON object.
    pub sample_data: Box<RawValue>,
    /// Its files.
    pub files: Vec<FileEntry>,
    /// What it reads of its data, where that could be told.
    pub variables: Option<Variables>,
}

impl TemplateSummary {
    /// What is shown of a record; nothing of one that is not saved.
    #[must_use]
    pub fn of(record: TemplateRecord) -> Option<Self> {
        let TemplateRecord {
            id, account, unfinished, created_at, updated_at, content, info, previews, ..
        } = record;
        if unfinished {
            return None;
        }
        let (content, info, previews) = (content?, info?, previews?);
        Some(Self { id, account, created_at, updated_at, content, info, previews })
    }

    /// Where a part of it lies.
    #[must_use]
    pub fn key(&self, part: TemplatePart) -> StorageKey {
        let object = match part {
            TemplatePart::Package => self.content.object,
            TemplatePart::Info => self.info.object,
            TemplatePart::PngPreview => self.previews.png.object,
            TemplatePart::PdfPreview => self.previews.pdf.object,
        };
        StorageKey::Template(self.account, self.id, object, part)
    }
}

impl Handler<GetTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateView, Problem>>;

    fn handle(&mut self, message: GetTemplate, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move {
            let mut summary = saved(&deps, message.0).await?;
            let object = loop {
                let key = summary.key(TemplatePart::Info);
                match InfoObject::fetch(&deps, &key).await {
                    Ok(object) => break object,
                    Err(problem) => {
                        // A change may have replaced it since; the record names another one then.
                        summary = saved(&deps, message.0).await?;
                        if summary.key(TemplatePart::Info) == key {
                            return Err(problem);
                        }
                    }
                }
            };
            let variables = match object.told() {
                Told::Variables(variables) => Some(variables),
                Told::Untellable => None,
                Told::NotYet => read(&deps, message.0.account, &summary).await,
            };
            let InfoObject { sample_data, files, .. } = object;
            Ok(TemplateView { summary, sample_data, files, variables })
        })
    }
}

impl Handler<LocateArchive> for TemplateRegistry {
    type Result = ResponseFuture<Result<StorageKey, Problem>>;

    fn handle(&mut self, message: LocateArchive, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move { archive(&deps, message.0).await })
    }
}

/// The variables of a template that was saved when nobody had the time to tell them.
async fn read(deps: &Deps, account: AccountId, summary: &TemplateSummary) -> Option<Variables> {
    let content = &summary.content;
    if !deps.has_reader() {
        return None;
    }
    let key = summary.key(TemplatePart::Package);
    let loaded = load_package(deps, summary.account, (content, key)).await.ok()?;
    match deps.variables(account, (content.kind, &loaded.site)).await {
        Told::Variables(variables) => Some(variables),
        Told::Untellable | Told::NotYet => None,
    }
}

/// Where the files lie: of one's own template as soon as it has some, of a public one as it is saved.
async fn archive(deps: &Deps, of: TemplateRef) -> Result<StorageKey, Problem> {
    let record = deps.index.usable(of.account, of.template).await.map_err(Problem::internal)?;
    let record = record.ok_or_else(|| refusal::not_found(of.template))?;
    let content = record.content.as_ref().ok_or_else(|| refusal::empty(of.template))?;
    Ok(record.package(content))
}

async fn saved(
    deps: &Deps,
    TemplateRef { account, template }: TemplateRef,
) -> Result<TemplateSummary, Problem> {
    let record = deps.index.usable(account, template).await?;
    let record = refusal::saved(record, template)?;
    TemplateSummary::of(record).ok_or_else(|| Problem::internal("a saved template without its parts"))
}
