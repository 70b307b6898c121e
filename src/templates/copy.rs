//! Clone: a saved template once more, under a new id and the caller's account.

use actix::prelude::*;

use super::change::{Changing, named};
use super::deps::{Deps, lost};
use super::index;
use super::info::InfoObject;
use super::messages::{CloneTemplate, TemplateRef};
use super::record::{Permissions, Preview, Previews, TemplateRecord};
use super::refusal;
use super::registry::TemplateRegistry;
use crate::domain::ids::{ObjectId, TemplateId};
use crate::problem::Problem;
use crate::storage::TemplatePart;

impl Handler<CloneTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateId, Problem>>;

    fn handle(&mut self, message: CloneTemplate, _: &mut Self::Context) -> Self::Result {
        self.change("clone", move |deps| async move { copy(&deps, message.0).await })
    }
}

async fn copy(deps: &Deps, TemplateRef { account, template }: TemplateRef) -> Result<TemplateId, Problem> {
    // What is copied must not change under the copying.
    let _turn = deps.turns.of(template).await;
    let record = deps.index.usable(account, template).await.map_err(Problem::internal)?;
    let original = refusal::saved(record, template)?;
    let mut record = TemplateRecord { unfinished: false, ..TemplateRecord::begun(account) };
    let mut changing = Changing::begin(deps);

    let content = original.content.clone().ok_or_else(|| refusal::empty(template))?;
    let from = original.package(&content);
    let content = super::record::Content { id: record.id, object: ObjectId::generate(), ..content };
    changing.copy(&from, record.package(&content)).await.map_err(lost)?;
    record.content = Some(content);

    if let Some(Previews { png, pdf }) = original.previews {
        let is_own = original.account == account;
        let copy =
            |preview: Preview| Preview { object: ObjectId::generate(), job: preview.job.filter(|_| is_own) };
        let copies = Previews { png: copy(png), pdf: copy(pdf) };
        for (from, to, part) in
            [(png, copies.png, TemplatePart::PngPreview), (pdf, copies.pdf, TemplatePart::PdfPreview)]
        {
            let (from, to) = (original.key(from.object, part), record.key(to.object, part));
            changing.copy(&from, to).await.map_err(lost)?;
        }
        record.previews = Some(copies);
    }

    let mut info = original.info.clone().ok_or_else(|| Problem::internal("a saved template without info"))?;
    let mut object = InfoObject::read(&named(deps, &original.key(info.object, TemplatePart::Info)).await?)?;
    info.object = ObjectId::generate();
    info.permissions = Permissions::Private;
    record.info = Some(info);
    object.record = record.clone();
    object.write(&mut changing).await?;

    changing.commit(index::writing(&record).map_err(Problem::internal)?, Vec::new()).await?;
    Ok(record.id)
}
