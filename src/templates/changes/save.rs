//! Save and update: files, previews and info are copied to the keys of a saved template, and one commit names them and
//! removes the unfinished tag.

use actix::prelude::*;

use super::commit::PendingChange;
use crate::domain::ids::{JobId, ObjectId, TemplateId};
use crate::domain::kinds::Target;
use crate::problem::{Code, FieldError, Problem};
use crate::storage::{StorageKey, StoreError, TemplatePart};
use crate::templates::cache::source::load;
use crate::templates::registry::context::TemplateContext;
use crate::templates::registry::info_object::{FileEntry, InfoObject, files};
use crate::templates::registry::locks::TemplateLock;
use crate::templates::registry::messages::{
    PreviewJob, PreviewJobs, PreviewSource, SaveTemplate, TemplateInfo, UpdateTemplate,
};
use crate::templates::registry::record::{Content, Info, Preview, Previews, TemplateRecord};
use crate::templates::registry::variables::KnownVariables;
use crate::templates::registry::writer::TemplateWriter;
use crate::templates::registry::{TemplateRegistry, problems};

impl Handler<SaveTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: SaveTemplate, ctx: &mut Self::Context) -> Self::Result {
        self.change(ctx, ("save", message.of.account), move |writer| async move {
            let (lock, former) = writer.lock_own(message.of).await?;
            Saving::new(former, None, message.info)?.write(&writer, lock, message.previews).await
        })
    }
}

impl Handler<UpdateTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: UpdateTemplate, ctx: &mut Self::Context) -> Self::Result {
        self.change(ctx, ("update", message.of.account), move |writer| async move {
            let (of, content) = (message.of, message.content);
            let former = problems::saved(Some(writer.context.editable(of).await?), of.template)?;
            let is_new = !has_content(&former, content);
            if is_new {
                // Any id may be named, even another account's. So it is checked before its lock is asked for: a caller
                // waits for unfinished templates of their own only.
                draft(&writer.context, &former, content).await?;
            }
            let (lock, former) = writer.lock_own_with(of, is_new.then_some(content)).await?;
            let former = problems::saved(Some(former), of.template)?;
            let is_new = !has_content(&former, content);
            let draft = if is_new { Some(draft(&writer.context, &former, content).await?) } else { None };
            Saving::new(former, draft, message.info)?.write(&writer, lock, message.previews).await
        })
    }
}

fn has_content(record: &TemplateRecord, content: TemplateId) -> bool {
    record.content.as_ref().is_some_and(|present| present.id == content)
}

/// The unfinished template whose content a saved one shall have.
async fn draft(
    templates: &TemplateContext,
    of: &TemplateRecord,
    content: TemplateId,
) -> Result<TemplateRecord, Problem> {
    let draft = templates.index.read(of.account, content).await?;
    let draft = draft.ok_or_else(|| {
        let detail = format!(
            "The contentId '{content}' names no unfinished template of yours; use the templateId of a GET \
             /templates/init under which the new content was uploaded."
        );
        Problem::new(Code::TemplateNotFound, detail)
    })?;
    if draft.unfinished {
        return Ok(draft);
    }
    let detail = format!(
        "'{content}' is a saved template and keeps its content; upload the new content under an id of GET \
         /templates/init"
    );
    Err(Problem::validation(vec![FieldError::new("/contentId", detail)]))
}

/// A save or an update under way.
struct Saving {
    /// The record before this change.
    former: TemplateRecord,
    /// The unfinished template whose content it gets, if it gets new content. The commit removes it.
    draft: Option<TemplateRecord>,
    /// The content that it gets, where it is stored now.
    content: Content,
    info: TemplateInfo,
}

impl Saving {
    fn new(
        former: TemplateRecord,
        draft: Option<TemplateRecord>,
        info: TemplateInfo,
    ) -> Result<Self, Problem> {
        let source = draft.as_ref().unwrap_or(&former);
        let content = source.content.clone().ok_or_else(|| problems::empty(source.id))?;
        if !info.kind.fits(content.kind) {
            let (declared, found, entry) = (info.kind.name(), content.kind.name(), &content.entry);
            let detail = format!("is {declared}, and the template's entry '{entry}' is {found}");
            return Err(Problem::validation(vec![FieldError::new("/templateInfo/type", detail)]));
        }
        Ok(Self { former, draft, content, info })
    }

    async fn write(
        self,
        writer: &TemplateWriter,
        lock: TemplateLock,
        previews: PreviewJobs,
    ) -> Result<(), Problem> {
        let templates = &writer.context;
        // Everything that may be refused comes before the first object.
        let [png, pdf] = [self.choose(previews.png, Target::Png)?, self.choose(previews.pdf, Target::Pdf)?];
        let known = self.files_and_variables(templates).await?;
        let Self { former, draft, content, info } = self;
        let source = draft.as_ref().unwrap_or(&former);

        let mut record = former.clone();
        record.unfinished = false;
        record.upload_bytes = 0;
        record.changed(templates.clock.now());
        let replaced: Vec<_> = [&former].into_iter().chain(&draft).collect();
        let mut change = PendingChange::begin(writer, lock, former.account, &replaced);
        record.content = Some(copy_content(&mut change, source, &record, content).await?);
        take_preview(&mut change, &record, png, Target::Png).await?;
        take_preview(&mut change, &record, pdf, Target::Pdf).await?;
        record.previews = Some(Previews { png, pdf });
        let sample_data = info.sample_data.clone();
        record.info = Some(info_of(&former, info));
        change.fill_in_sizes(&replaced, &mut record);
        let (key, bytes) = InfoObject::new(&record, &sample_data, known).encode().await?;
        change.put(key, bytes).await?;

        if let (Some(source), Some(saved)) = (&source.content, &record.content) {
            templates.cache.share(source.object, saved.object);
        }
        let named = record.objects();
        let all = former.objects().into_iter().chain(draft.iter().flat_map(TemplateRecord::objects));
        let mut obsolete_keys: Vec<_> = all.filter(|key| !named.contains(key)).collect();
        let begun = replaced.iter().filter(|record| record.unfinished);
        let staging = templates.store.upload_staging();
        let uploads = begun.map(|record| staging.of(&StorageKey::TemplateUpload(record.account, record.id)));
        obsolete_keys.extend(uploads);
        change.commit(&replaced, record, obsolete_keys).await
    }

    /// The preview that the template has already, if its content stays; or a new one, which the document of the job becomes.
    fn choose(&self, PreviewJob { job, source }: PreviewJob, target: Target) -> Result<Preview, Problem> {
        let previews = self.former.previews.filter(|_| self.draft.is_none());
        let present =
            previews.map(|previews| if target == Target::Png { previews.png } else { previews.pdf });
        if let Some(present) = present.filter(|present| present.job == Some(job)) {
            self.check_version(job, present.version)?;
            return Ok(present);
        }
        let PreviewSource { template: shown, version } = source?;
        // A document of other content does not show this template.
        let is_of_this = match &self.draft {
            Some(draft) => shown == draft.id,
            None => shown == self.former.id || shown == self.content.id,
        };
        if is_of_this {
            self.check_version(job, version)?;
            return Ok(Preview { object: ObjectId::generate(), job: Some(job), version });
        }
        Err(self.unusable(job, &format!("belongs to another template, '{shown}'")))
    }

    /// Hazard: between a preview and the save the text of the entry may be replaced, and the preview would show the
    /// former text. A preview without a version was made by an earlier platen, and is accepted.
    fn check_version(&self, job: JobId, shown: Option<ObjectId>) -> Result<(), Problem> {
        if shown.is_none_or(|shown| shown == self.content.version()) {
            return Ok(());
        }
        Err(self.unusable(job, "was made before the template's content changed, and shows what it was"))
    }

    fn unusable(&self, job: JobId, why: &str) -> Problem {
        let wanted = self.content.id;
        let detail = format!(
            "The preview '{job}' {why}; render previews of '{wanted}' by POST /templates/{wanted}/render-previews and \
             use their jobIds."
        );
        Problem::new(Code::PreviewNotUsable, detail)
    }

    async fn files_and_variables(
        &self,
        templates: &TemplateContext,
    ) -> Result<(Vec<FileEntry>, KnownVariables), Problem> {
        let source = self.draft.as_ref().unwrap_or(&self.former);
        let (account, key) = (source.account, source.package(&self.content));
        let loaded = load(templates, account, (&self.content, key)).await.map_err(Problem::from)?;
        let variables = templates.variables(source.account, (self.content.kind, &loaded.site)).await;
        Ok((files(&loaded.site), variables))
    }
}

/// Copies the files to the key of a saved template's, unless they are there.
async fn copy_content(
    change: &mut PendingChange<'_>,
    source: &TemplateRecord,
    record: &TemplateRecord,
    content: Content,
) -> Result<Content, Problem> {
    let from = source.package(&content);
    if from == record.package(&content) {
        return Ok(content);
    }
    let copied = Content { object: ObjectId::generate(), copy_of: Some(content.version()), ..content };
    change.copy(&from, record.package(&copied)).await.map_err(problems::lost)?;
    Ok(copied)
}

/// Copies the document of a new preview to the key of a template's; does nothing for one that the template has already.
async fn take_preview(
    change: &mut PendingChange<'_>,
    record: &TemplateRecord,
    preview: Preview,
    target: Target,
) -> Result<(), Problem> {
    let former = record.previews.map(|previews| [previews.png, previews.pdf]);
    let Some(job) = preview.job.filter(|_| !former.is_some_and(|former| former.contains(&preview))) else {
        return Ok(());
    };
    let part = if target == Target::Png { TemplatePart::PngPreview } else { TemplatePart::PdfPreview };
    let document = StorageKey::JobOutput(record.account, job, target.file());
    match change.copy(&document, record.key(preview.object, part)).await {
        Err(StoreError::NotFound(_)) => {
            let detail = format!(
                "The document of the preview '{job}' is not kept any more; render the previews again."
            );
            Err(Problem::new(Code::PreviewNotUsable, detail))
        }
        copied => copied.map_err(Problem::from),
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
