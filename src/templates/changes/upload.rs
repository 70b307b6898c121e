//! Init, which begins a template with a new id; and the end of an upload, which makes it the file that unzip reads.

use actix::prelude::*;

use super::commit::PendingChange;
use crate::domain::ids::TemplateId;
use crate::problem::Problem;
use crate::storage::{StorageKey, size_of};
use crate::templates::registry::locks::TemplateLock;
use crate::templates::registry::messages::{CloseTemplateUpload, InitTemplate};
use crate::templates::registry::record::TemplateRecord;
use crate::templates::registry::writer::TemplateWriter;
use crate::templates::registry::{TemplateRegistry, problems};

impl Handler<InitTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateId, Problem>>;

    fn handle(&mut self, message: InitTemplate, ctx: &mut Self::Context) -> Self::Result {
        self.change(ctx, ("init", message.account), move |writer| async move {
            let record = TemplateRecord::begun(message.account);
            let id = record.id;
            let lock = writer.lock([id]).await?;
            PendingChange::begin(&writer, lock, message.account, &[]).commit(&[], record, Vec::new()).await?;
            Ok(id)
        })
    }
}

impl Handler<CloseTemplateUpload> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CloseTemplateUpload, ctx: &mut Self::Context) -> Self::Result {
        self.change(
            ctx,
            ("upload", message.account),
            move |writer| async move { close(&writer, message).await },
        )
    }
}

async fn close(writer: &TemplateWriter, message: CloseTemplateUpload) -> Result<(), Problem> {
    let CloseTemplateUpload { account, template, upload } = message;
    let context = &writer.context;
    let lock = writer.lock([template]).await?;
    let former = problems::takes_uploads(context.index.read(account, template).await?, template)?;
    let key = context.store.upload_staging().of(&StorageKey::TemplateUpload(account, template));
    let (staged, reservation) = upload.into_parts();
    let bytes = reservation.bytes();
    // The record is written first: where the index fails (a full disk), the earlier upload, which was acknowledged, must
    // still be there. Until the new one has replaced it the larger of both counts.
    let larger = bytes.max(former.upload_bytes);
    let begun = TemplateRecord { upload_bytes: larger, counted: true, ..former.clone() };
    let change = PendingChange::continue_with(writer, lock.clone(), reservation);
    change.commit(&[&former], begun.clone(), Vec::new()).await?;
    let placed = staged.commit(&key).await;
    let there = match &placed {
        Ok(_) => bytes,
        // A store may fail behind a write that it has done. Where it does not tell which one is there, the larger counts.
        Err(_) => match size_of(context.store.as_ref(), &key).await {
            Ok(there) if there == Some(bytes) => bytes,
            Ok(_) => former.upload_bytes,
            Err(_) => larger,
        },
    };
    if there < larger {
        count_less(writer, lock, &begun, there).await;
    }
    placed.map(drop).map_err(Problem::from)
}

/// Corrects the record of an upload that is smaller than the one it replaced, or that failed. Where that cannot be written,
/// the upload counts for too much until the template's next change; nothing else is wrong.
async fn count_less(writer: &TemplateWriter, lock: TemplateLock, begun: &TemplateRecord, bytes: u64) {
    let record = TemplateRecord { upload_bytes: bytes, ..begun.clone() };
    let change = PendingChange::begin(writer, lock, begun.account, &[begun]);
    if let Err(problem) = change.commit(&[begun], record, Vec::new()).await {
        tracing::warn!(template.id = %begun.id, error = %problem, "an upload counts for more than it has");
    }
}
