//! Clone: a saved template once more, under a new id and the caller's account.

use actix::prelude::*;
use bytes::Bytes;

use super::commit::Changing;
use crate::domain::ids::{ObjectId, TemplateId};
use crate::problem::Problem;
use crate::storage::{StoreError, TemplatePart};
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::context::{Deps, by_size, lost};
use crate::templates::registry::info_object::InfoObject;
use crate::templates::registry::messages::{CloneTemplate, TemplateRef};
use crate::templates::registry::record::{Content, Info, Permissions, Preview, Previews, TemplateRecord};
use crate::templates::registry::refusal;

impl Handler<CloneTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateId, Problem>>;

    fn handle(&mut self, message: CloneTemplate, _: &mut Self::Context) -> Self::Result {
        self.change(("clone", message.0.account), move |deps| async move { copy(&deps, message.0).await })
    }
}

/// How often a copy is begun anew because the original changed under it.
const ATTEMPTS: usize = 4;

async fn copy(deps: &Deps, of: TemplateRef) -> Result<TemplateId, Problem> {
    let mut attempts = 1;
    loop {
        let record = deps.index.usable(of.account, of.template).await?;
        let original = refusal::saved(record, of.template)?;
        // Not in the original's turn: a crowd that clones a public template must not keep its owner waiting.
        match copy_as_it_is(deps, of, &original).await {
            Err(StoreError::NotFound(_)) if attempts < ATTEMPTS => attempts += 1,
            copied => return copied.map_err(lost)?,
        }
    }
}

/// Copies the template as its record says; the outer error is the store's.
async fn copy_as_it_is(
    deps: &Deps,
    of: TemplateRef,
    original: &TemplateRecord,
) -> Result<Result<TemplateId, Problem>, StoreError> {
    let mut record = TemplateRecord { unfinished: false, ..TemplateRecord::begun(of.account) };
    // The janitor looks at what nobody changes.
    let _turn = deps.turns.of(record.id).await;
    let mut changing = Changing::begin(deps, of.account, &[]);
    let (Some(content), Some(previews), Some(info)) = (&original.content, original.previews, &original.info)
    else {
        return Ok(Err(Problem::internal("a saved template without its parts")));
    };
    let (object, copy_of) = (ObjectId::generate(), Some(content.version()));
    let copied = Content { id: record.id, object, copy_of, ..content.clone() };
    changing.copy(&original.package(content), record.package(&copied)).await?;
    record.content = Some(copied);
    record.previews = Some(copy_previews(&mut changing, original, &record, previews).await?);

    let former = original.key(info.object, TemplatePart::Info);
    let info_bytes = deps.store.get(&former, u64::MAX).await?;
    let permissions = Permissions::Private;
    record.info = Some(Info { object: ObjectId::generate(), permissions, ..info.clone() });
    Ok(finish(changing, record, info_bytes).await)
}

async fn copy_previews(
    changing: &mut Changing<'_>,
    original: &TemplateRecord,
    record: &TemplateRecord,
    Previews { png, pdf }: Previews,
) -> Result<Previews, StoreError> {
    // Jobs of another account are nobody's business here.
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
        changing.copy(&original.key(from.object, part), record.key(to.object, part)).await?;
    }
    Ok(copies)
}

async fn finish(
    mut changing: Changing<'_>,
    mut record: TemplateRecord,
    info: Bytes,
) -> Result<TemplateId, Problem> {
    let info = by_size(info.len(), move || InfoObject::read(&info)).await?;
    let told = info.told();
    let InfoObject { sample_data, files, .. } = info;
    changing.measure(&[], &mut record);
    InfoObject::new(&record, &sample_data, (files, told)).write(&mut changing).await?;
    let id = record.id;
    changing.commit(&[], record, Vec::new()).await?;
    Ok(id)
}
