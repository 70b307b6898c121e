//! What a change works with: the context of the readers, and the two requests that the registry answers: for a template's lock,
//! and for a commit.

use std::collections::BTreeSet;
use std::sync::Arc;

use actix::Recipient;

use super::context::TemplateContext;
use super::locks::TemplateLock;
use super::messages::{CommitChange, LockTemplate, TemplateRef};
use super::record::TemplateRecord;
use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::Problem;
use crate::storage::index::WriteBatch;

/// What changes and the garbage collector hold: reads go to the context, locks and commits to the registry.
#[derive(Clone)]
pub(in crate::templates) struct TemplateWriter {
    pub context: Arc<TemplateContext>,
    locks: Recipient<LockTemplate>,
    commits: Recipient<CommitChange>,
}

impl TemplateWriter {
    /// One that sends its requests for locks and commits to these.
    pub fn new(
        context: Arc<TemplateContext>,
        locks: Recipient<LockTemplate>,
        commits: Recipient<CommitChange>,
    ) -> Self {
        Self { context, locks, commits }
    }

    /// The lock of all these templates.
    ///
    /// Hazard: two changes of the same two templates, each holding the lock that the other waits for, would wait for ever. So
    /// every change asks for its locks in the order of the ids.
    pub async fn lock(
        &self,
        templates: impl IntoIterator<Item = TemplateId>,
    ) -> Result<TemplateLock, Problem> {
        let templates = BTreeSet::from_iter(templates);
        let mut guards = Vec::with_capacity(templates.len());
        for template in templates {
            guards.push(self.locks.send(LockTemplate(template)).await.map_err(Problem::internal)??);
        }
        Ok(Arc::new(guards))
    }

    /// The lock of a template, and its record as it is under the lock.
    ///
    /// # Errors
    /// `template_not_found`, `not_owner`.
    pub async fn lock_own(&self, of: TemplateRef) -> Result<(TemplateLock, TemplateRecord), Problem> {
        self.lock_own_with(of, []).await
    }

    /// The same with the locks of `others`, which the caller has checked to be the account's own.
    ///
    /// Hazard: by asking for changes that they may not make, strangers would queue for the lock and keep its owner waiting. So
    /// the owner is checked before the lock is asked for, and once more under it: the template may have been deleted while
    /// this waited.
    pub async fn lock_own_with(
        &self,
        of: TemplateRef,
        others: impl IntoIterator<Item = TemplateId>,
    ) -> Result<(TemplateLock, TemplateRecord), Problem> {
        self.context.editable(of).await?;
        let lock = self.lock(others.into_iter().chain([of.template])).await?;
        Ok((lock, self.context.editable(of).await?))
    }

    /// Commits a change: it is durable when this answers.
    pub async fn commit(&self, change: CommitChange) -> Result<(), Problem> {
        self.commits.send(change).await.map_err(Problem::internal)?
    }

    /// Commits entries that change neither what counts as stored nor which objects are named.
    pub async fn commit_entries(
        &self,
        account: AccountId,
        lock: TemplateLock,
        batch: WriteBatch,
    ) -> Result<(), Problem> {
        let reservation = self.context.quota.begin(account);
        let (bytes_before_after, obsolete_keys) = ((0, 0), Vec::new());
        let change = CommitChange { account, lock, batch, bytes_before_after, reservation, obsolete_keys };
        self.commit(change).await
    }
}
