//! A template is begun: a new id with the unfinished tag, and a place for its upload.

use std::sync::Arc;

use actix::prelude::*;

use super::commit::Changing;
use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::{Code, Problem};
use crate::storage::{CountedUpload, StorageKey};
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::context::Deps;
use crate::templates::registry::messages::{CloseTemplateUpload, InitTemplate, OpenTemplateUpload};
use crate::templates::registry::record::TemplateRecord;

impl Handler<InitTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateId, Problem>>;

    fn handle(&mut self, message: InitTemplate, _: &mut Self::Context) -> Self::Result {
        self.change(("init", message.account), move |deps| async move {
            let record = TemplateRecord::begun(message.account);
            let id = record.id;
            Changing::begin(&deps, message.account, &[]).commit(&[], record, Vec::new()).await?;
            Ok(id)
        })
    }
}

impl Handler<OpenTemplateUpload> for TemplateRegistry {
    type Result = ResponseFuture<Result<CountedUpload, Problem>>;

    fn handle(&mut self, message: OpenTemplateUpload, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move {
            let OpenTemplateUpload { account, template, limit_bytes } = message;
            let record = takes_uploads(&deps, account, template).await?;
            let staged = deps.store.stage(limit_bytes).await?;
            let stored = deps.quota.begin(account).replacing(record.upload_bytes);
            Ok(CountedUpload::new(staged, stored))
        })
    }
}

impl Handler<CloseTemplateUpload> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CloseTemplateUpload, _: &mut Self::Context) -> Self::Result {
        self.change(("upload", message.account), move |deps| async move {
            let CloseTemplateUpload { account, template, upload } = message;
            let _turn = deps.turns.of(template).await;
            let former = takes_uploads(&deps, account, template).await?;
            let key = deps.store.upload_staging().of(&StorageKey::TemplateUpload(account, template));
            let (staged, stored) = upload.into_parts();
            let bytes = stored.bytes();
            // The record goes first: an index that refuses (a full disk) would otherwise do so when the upload that was
            // acknowledged before is replaced already. Until the new one is there the larger of both counts.
            let larger = bytes.max(former.upload_bytes);
            let begun = TemplateRecord { upload_bytes: larger, counted: true, ..former.clone() };
            Changing::with(&deps, stored).commit(&[&former], begun.clone(), Vec::new()).await?;
            let placed = staged.commit(&key).await;
            let there = if placed.is_ok() { bytes } else { former.upload_bytes };
            if there < larger {
                count_less(&deps, &begun, there).await;
            }
            placed.map(drop).map_err(Problem::from)
        })
    }
}

/// An upload is smaller than what was counted: than the one it replaced, or it did not come about. Where that cannot be
/// written, it counts for too much until the template's next change, and nothing else is wrong.
async fn count_less(deps: &Deps, begun: &TemplateRecord, bytes: u64) {
    let record = TemplateRecord { upload_bytes: bytes, ..begun.clone() };
    let change = Changing::begin(deps, begun.account, &[begun]);
    if let Err(problem) = change.commit(&[begun], record, Vec::new()).await {
        tracing::warn!(template.id = %begun.id, error = %problem, "an upload counts for more than it has");
    }
}

async fn takes_uploads(
    deps: &Deps,
    account: AccountId,
    template: TemplateId,
) -> Result<TemplateRecord, Problem> {
    let record = deps.index.read(account, template).await?;
    let is_saved = record.is_some();
    if let Some(record) = record.filter(|record| record.unfinished) {
        return Ok(record);
    }
    let detail = if is_saved {
        format!(
            "Template '{template}' is saved and takes no uploads. Get a new id by GET /templates/init, upload to that \
             one, and name it as contentId in PUT /templates/{template}."
        )
    } else {
        format!("Template '{template}' is not there any more. Begin a new one by GET /templates/init.")
    };
    Err(Problem::new(Code::UploadClosed, detail))
}
