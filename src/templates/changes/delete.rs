//! Delete: record, files and previews. What renders began with, they finish with.

use actix::prelude::*;

use super::commit::Changing;
use crate::domain::ids::AccountId;
use crate::problem::Problem;
use crate::storage::StorageKey;
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::context::Deps;
use crate::templates::registry::index;
use crate::templates::registry::messages::DeleteTemplate;
use crate::templates::registry::record::TemplateRecord;

/// Templates that are looked for at a time.
const PAGE: usize = 100;

impl Handler<DeleteTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: DeleteTemplate, _: &mut Self::Context) -> Self::Result {
        self.change(("delete", message.0.account), move |deps| async move {
            let (_turn, record) = deps.own_in_turn(message.0).await?;
            remove(&deps, &record).await
        })
    }
}

/// Removes all templates of an account that was deleted; answers how many.
///
/// # Errors
/// When index or store fail; a repetition goes on.
pub async fn remove_all(deps: &Deps, account: AccountId) -> Result<u64, Problem> {
    let (mut removed, mut before) = (0, None);
    loop {
        let page = deps.index.newest(account, before, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(removed) };
        before = Some(*last);
        for (id, _) in page {
            let _turn = deps.turns.of(id).await;
            match deps.index.readable(account, id).await? {
                Some(record) => remove(deps, &record).await?,
                // Its objects are nobody's then, and are swept.
                None => deps.index.commit(index::dropping(account, id)).await?,
            }
            removed += 1;
        }
    }
}

/// Removes a template whose turn the caller has.
pub(in crate::templates) async fn remove(deps: &Deps, record: &TemplateRecord) -> Result<(), Problem> {
    // The info object is the first to go: without it nothing can be made of the others.
    let mut gone = record.objects();
    if record.unfinished {
        gone.push(deps.store.upload_staging().of(&StorageKey::TemplateUpload(record.account, record.id)));
    }
    Changing::begin(deps, record.account, &[record]).remove(record, gone).await
}
