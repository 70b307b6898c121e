//! Save and update: the template's info is written beside its files, its previews are kept, the index names all of
//! it, and the unfinished tag goes.

use actix::prelude::*;

use super::change::Changing;
use super::deps::{Deps, lost};
use super::index;
use super::info::InfoObject;
use super::messages::{PreviewJob, PreviewJobs, SaveTemplate, TemplateInfo, TemplateRef, UpdateTemplate};
use super::record::{Content, Info, Preview, Previews, TemplateRecord};
use super::refusal;
use super::registry::TemplateRegistry;
use super::source::load;
use crate::domain::ids::{JobId, ObjectId, TemplateId};
use crate::domain::kinds::Target;
use crate::problem::{Code, Fault, Problem};
use crate::storage::{StorageKey, StoreError, TemplatePart};

impl Handler<SaveTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: SaveTemplate, _: &mut Self::Context) -> Self::Result {
        self.change("save", move |deps| async move {
            let TemplateRef { account, template } = message.of;
            let _turn = deps.turns.of(template).await;
            let record = deps.index.usable(account, template).await.map_err(Problem::internal)?;
            let former = refusal::own(record, account, template)?;
            let saving = Saving { former, draft: None, info: message.info, previews: message.previews };
            saving.write(&deps).await
        })
    }
}

impl Handler<UpdateTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: UpdateTemplate, _: &mut Self::Context) -> Self::Result {
        self.change("update", move |deps| async move {
            let TemplateRef { account, template } = message.of;
            let _turns = deps.turns.both(template, message.content).await;
            let record = deps.index.usable(account, template).await.map_err(Problem::internal)?;
            let record = refusal::own(record, account, template)?;
            let former = refusal::saved(Some(record), template)?;
            let is_present = former.content.as_ref().is_some_and(|content| content.id == message.content);
            let draft = if is_present { None } else { Some(draft(&deps, &former, message.content).await?) };
            let saving = Saving { former, draft, info: message.info, previews: message.previews };
            saving.write(&deps).await
        })
    }
}

/// The unfinished template whose content a saved one shall have.
async fn draft(deps: &Deps, of: &TemplateRecord, content: TemplateId) -> Result<TemplateRecord, Problem> {
    let draft = deps.index.read(of.account, content).await.map_err(Problem::internal)?;
    let draft = draft.ok_or_else(|| refusal::not_found(content))?;
    if draft.unfinished {
        return Ok(draft);
    }
    let detail = format!(
        "'{content}' is a saved template and keeps its content; upload the new content under an id of GET /templates/init"
    );
    Err(Problem::validation(vec![Fault::new("/contentId", detail)]))
}

/// A template on its way to a new state.
struct Saving {
    /// As it is.
    former: TemplateRecord,
    /// Where its content is to come from, if it gets another one; it is used up.
    draft: Option<TemplateRecord>,
    info: TemplateInfo,
    previews: PreviewJobs,
}

impl Saving {
    async fn write(self, deps: &Deps) -> Result<(), Problem> {
        let Self { former, draft, info, previews } = self;
        let source = draft.as_ref().unwrap_or(&former);
        let content = source.content.clone().ok_or_else(|| refusal::empty(source.id))?;
        let site = load(deps, source, &content).await.map_err(Problem::from)?.site;

        let mut record = former.clone();
        record.unfinished = false;
        record.updated_at = deps.clock.now();
        let mut changing = Changing::begin(deps);
        record.content = Some(keep_content(&mut changing, source, &record, content).await?);
        // What shows another content is no preview of this one.
        let kept = former.previews.filter(|_| draft.is_none());
        record.previews = Some(Previews {
            png: take_preview(&mut changing, &record, kept.map(|kept| kept.png), previews.png, Target::Png)
                .await?,
            pdf: take_preview(&mut changing, &record, kept.map(|kept| kept.pdf), previews.pdf, Target::Pdf)
                .await?,
        });
        let sample_data = info.sample_data.clone();
        record.info = Some(info_of(&former, info));
        InfoObject::new(&record, &sample_data, &site)?.write(&mut changing).await?;

        let mut change = index::writing(&record).map_err(Problem::internal)?;
        if let Some(draft) = &draft {
            change = change.and(index::removing(draft));
        }
        let named = record.objects();
        let mut gone: Vec<_> =
            former.objects().into_iter().chain(draft.iter().flat_map(TemplateRecord::objects)).collect();
        gone.retain(|key| !named.contains(key));
        let begun = [&former].into_iter().chain(&draft).filter(|record| record.unfinished);
        let landing = deps.store.landing();
        gone.extend(begun.map(|record| landing.of(&StorageKey::TemplateUpload(record.account, record.id))));
        changing.commit(change, gone).await
    }
}

/// Copies the files to where they last, unless they lie there.
async fn keep_content(
    changing: &mut Changing<'_>,
    source: &TemplateRecord,
    record: &TemplateRecord,
    content: Content,
) -> Result<Content, Problem> {
    let (from, to) = (source.package(&content), record.package(&content));
    if from != to {
        changing.copy(&from, to).await.map_err(lost)?;
    }
    Ok(content)
}

/// Copies a job's document to where it lasts; a preview that the template has already stays.
async fn take_preview(
    changing: &mut Changing<'_>,
    record: &TemplateRecord,
    kept: Option<Preview>,
    PreviewJob { job, usable }: PreviewJob,
    target: Target,
) -> Result<Preview, Problem> {
    if let Some(kept) = kept.filter(|kept| kept.job == Some(job)) {
        return Ok(kept);
    }
    usable?;
    let part = if target == Target::Png { TemplatePart::PngPreview } else { TemplatePart::PdfPreview };
    let preview = Preview { object: ObjectId::generate(), job: Some(job) };
    let document = StorageKey::JobOutput(record.account, job, target);
    match changing.copy(&document, record.key(preview.object, part)).await {
        Ok(()) => Ok(preview),
        Err(StoreError::NotFound(_)) => Err(document_gone(job)),
        Err(error) => Err(error.into()),
    }
}

fn info_of(former: &TemplateRecord, info: TemplateInfo) -> Info {
    let before = former.info.as_ref();
    Info {
        object: ObjectId::generate(),
        title: info.title,
        description: info.description,
        kind: info.kind,
        categories: info.categories,
        permissions: info.permissions.or(before.map(|info| info.permissions)).unwrap_or_default(),
        link: info.link,
    }
}

fn document_gone(job: JobId) -> Problem {
    let detail =
        format!("The document of the preview {job} is not kept any more; render the previews again.");
    Problem::new(Code::PreviewNotUsable, detail)
}
