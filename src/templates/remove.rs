//! Delete: record, files and previews. What renders began with, they finish with.

use actix::prelude::*;

use super::change::Changing;
use super::deps::Deps;
use super::messages::DeleteTemplate;
use super::record::TemplateRecord;
use super::registry::TemplateRegistry;
use crate::problem::Problem;
use crate::storage::StorageKey;

impl Handler<DeleteTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: DeleteTemplate, _: &mut Self::Context) -> Self::Result {
        self.change(("delete", message.0.account), move |deps| async move {
            let (_turn, record) = deps.own_in_turn(message.0).await?;
            remove(&deps, &record).await
        })
    }
}

/// Removes a template whose turn the caller has.
pub(super) async fn remove(deps: &Deps, record: &TemplateRecord) -> Result<(), Problem> {
    // The info object is the first to go: without it nothing can be made of the others.
    let mut gone = record.objects();
    if record.unfinished {
        gone.push(deps.store.landing().of(&StorageKey::TemplateUpload(record.account, record.id)));
    }
    Changing::begin(deps, record.account, &[record]).remove(record, gone).await
}
