//! A template is begun: a new id with the unfinished tag, and a place for its upload.

use std::sync::Arc;

use actix::prelude::*;

use super::change::Changing;
use super::deps::Deps;
use super::index;
use super::messages::{CloseTemplateUpload, InitTemplate, OpenTemplateUpload};
use super::record::TemplateRecord;
use super::registry::TemplateRegistry;
use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::{Code, Problem};
use crate::storage::{StagedObject, StorageKey};

impl Handler<InitTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplateId, Problem>>;

    fn handle(&mut self, message: InitTemplate, _: &mut Self::Context) -> Self::Result {
        self.change(("init", message.account), move |deps| async move {
            let record = TemplateRecord::begun(message.account);
            let change = index::writing(&record).map_err(Problem::internal)?;
            Changing::begin(&deps).commit(change, Vec::new()).await?;
            Ok(record.id)
        })
    }
}

impl Handler<OpenTemplateUpload> for TemplateRegistry {
    type Result = ResponseFuture<Result<Box<dyn StagedObject>, Problem>>;

    fn handle(&mut self, message: OpenTemplateUpload, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move {
            let OpenTemplateUpload { account, template, limit_bytes } = message;
            takes_uploads(&deps, account, template).await?;
            deps.store.stage(limit_bytes).await.map_err(Problem::from)
        })
    }
}

impl Handler<CloseTemplateUpload> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CloseTemplateUpload, _: &mut Self::Context) -> Self::Result {
        self.change(("upload", message.account), move |deps| async move {
            let CloseTemplateUpload { account, template, staged } = message;
            let _turn = deps.turns.of(template).await;
            takes_uploads(&deps, account, template).await?;
            let key = deps.store.landing().of(&StorageKey::TemplateUpload(account, template));
            staged.commit(&key).await.map(drop).map_err(Problem::from)
        })
    }
}

async fn takes_uploads(deps: &Deps, account: AccountId, template: TemplateId) -> Result<(), Problem> {
    let record = deps.index.read(account, template).await.map_err(Problem::internal)?;
    if record.as_ref().is_some_and(|record| record.unfinished) {
        return Ok(());
    }
    let detail = if record.is_some() {
        format!(
            "Template '{template}' is saved and takes no uploads. Get a new id by GET /templates/init, upload to that \
             one, and name it as contentId in PUT /templates/{template}."
        )
    } else {
        format!("Template '{template}' is not there any more. Begin a new one by GET /templates/init.")
    };
    Err(Problem::new(Code::UploadClosed, detail))
}
