//! Clone: a copy of a saved template, under a new id, for the caller's account.

use actix::prelude::*;

use super::commit::PendingChange;
use crate::domain::ids::{ObjectId, TemplateId};
use crate::problem::Problem;
use crate::storage::{StoreError, TemplatePart};
use crate::templates::cache::source::{LoadError, retry_when_replaced};
use crate::templates::registry::info_object::InfoObject;
use crate::templates::registry::messages::{CloneTemplate, TemplateRef};
use crate::templates::registry::record::{Content, Info, Permissions, Preview, Previews, TemplateRecord};
use crate::templates::registry::writer::TemplateWriter;
use crate::templates::registry::{TemplateRegistry, problems};
use crate::thread;

impl Handler<CloneTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateId, Problem>>;

    fn handle(&mut self, message: CloneTemplate, ctx: &mut Self::Context) -> Self::Result {
        let clone = move |writer| async move { copy(&writer, message.0).await };
        self.change(ctx, ("clone", message.0.account), clone)
    }
}

async fn copy(writer: &TemplateWriter, of: TemplateRef) -> Result<TemplateId, Problem> {
    retry_when_replaced(|| async move {
        let record = writer.context.index.usable(of.account, of.template).await.map_err(Problem::from)?;
        let original = problems::saved(record, of.template)?;
        // Without the original's lock: a crowd that clones a public template must not keep its owner waiting.
        copy_record(writer, of, &original).await
    })
    .await
}

/// Copies the template as its record says.
async fn copy_record(
    writer: &TemplateWriter,
    of: TemplateRef,
    original: &TemplateRecord,
) -> Result<TemplateId, LoadError> {
    let mut record = TemplateRecord { unfinished: false, ..TemplateRecord::begun(of.account) };
    // The new id is locked, for no record names the copied objects yet: the garbage collector deletes such objects, but only
    // under the lock of their template.
    let lock = writer.lock([record.id]).await?;
    let mut change = PendingChange::begin(writer, lock, of.account, &[]);
    let (Some(content), Some(previews), Some(info)) = (&original.content, original.previews, &original.info)
    else {
        return Err(Problem::internal("a saved template without its parts").into());
    };
    let (object, copy_of) = (ObjectId::generate(), Some(content.version()));
    let copied = Content { id: record.id, object, copy_of, ..content.clone() };
    change.copy(&original.package(content), record.package(&copied)).await?;
    record.content = Some(copied);
    record.previews = Some(copy_previews(&mut change, original, &record, previews).await?);

    let former = original.key(info.object, TemplatePart::Info);
    let bytes = writer.context.store.get(&former, u64::MAX).await?;
    let read =
        thread::by_size(bytes.len(), move || InfoObject::read(&bytes)).await.map_err(Problem::from)??;
    let variables = read.variables();
    let InfoObject { sample_data, files, .. } = read;
    let permissions = Permissions::Private;
    record.info = Some(Info { object: ObjectId::generate(), permissions, ..info.clone() });
    change.fill_in_sizes(&[], &mut record);
    let (key, bytes) = InfoObject::new(&record, &sample_data, (files, variables)).encode().await?;
    change.put(key, bytes).await?;
    let id = record.id;
    change.commit(&[], record, Vec::new()).await?;
    Ok(id)
}

async fn copy_previews(
    change: &mut PendingChange<'_>,
    original: &TemplateRecord,
    record: &TemplateRecord,
    Previews { png, pdf }: Previews,
) -> Result<Previews, StoreError> {
    // The ids of another account's jobs are not passed on.
    let is_own = original.account == record.account;
    let copy = |preview: Preview| Preview {
        object: ObjectId::generate(),
        job: preview.job.filter(|_| is_own),
        ..preview
    };
    let copies = Previews { png: copy(png), pdf: copy(pdf) };
    for (from, to, part) in
        [(png, copies.png, TemplatePart::PngPreview), (pdf, copies.pdf, TemplatePart::PdfPreview)]
    {
        change.copy(&original.key(from.object, part), record.key(to.object, part)).await?;
    }
    Ok(copies)
}
