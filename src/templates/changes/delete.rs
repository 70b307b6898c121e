//! Delete: the record with its files and previews. A render that has loaded the template finishes with what it has.

use actix::prelude::*;

use super::commit::PendingChange;
use crate::domain::ids::AccountId;
use crate::problem::Problem;
use crate::storage::StorageKey;
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::index;
use crate::templates::registry::locks::TemplateLock;
use crate::templates::registry::messages::{DeleteAccountTemplates, DeleteTemplate};
use crate::templates::registry::record::TemplateRecord;
use crate::templates::registry::writer::TemplateWriter;

/// Templates that are looked for at a time.
const PAGE: usize = 100;

impl Handler<DeleteTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: DeleteTemplate, ctx: &mut Self::Context) -> Self::Result {
        self.change(ctx, ("delete", message.0.account), move |writer| async move {
            let (lock, record) = writer.lock_own(message.0).await?;
            remove(&writer, lock, &record).await
        })
    }
}

impl Handler<DeleteAccountTemplates> for TemplateRegistry {
    type Result = ResponseFuture<Result<u64, Problem>>;

    fn handle(&mut self, message: DeleteAccountTemplates, ctx: &mut Self::Context) -> Self::Result {
        let writer = self.writer(ctx);
        Box::pin(async move { remove_all(&writer, message.0).await })
    }
}

async fn remove_all(writer: &TemplateWriter, account: AccountId) -> Result<u64, Problem> {
    let (mut removed, mut before) = (0, None);
    loop {
        let page = writer.context.index.newest(account, before, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(removed) };
        before = Some(*last);
        for (id, _) in page {
            let lock = writer.lock([id]).await?;
            match writer.context.index.read_if_readable(account, id).await? {
                Some(record) => remove(writer, lock, &record).await?,
                // Which objects it named is unknown; without a record the garbage collector deletes them.
                None => writer.commit_entries(account, lock, index::delete_unreadable(account, id)).await?,
            }
            removed += 1;
        }
    }
}

/// Removes a template under its lock.
pub(in crate::templates) async fn remove(
    writer: &TemplateWriter,
    lock: TemplateLock,
    record: &TemplateRecord,
) -> Result<(), Problem> {
    // The info object comes first: without it no rebuild of the index takes the others for a template.
    let mut obsolete_keys = record.objects();
    if record.unfinished {
        let upload = StorageKey::TemplateUpload(record.account, record.id);
        obsolete_keys.push(writer.context.store.upload_staging().of(&upload));
    }
    PendingChange::begin(writer, lock, record.account, &[record]).remove(record, obsolete_keys).await
}
