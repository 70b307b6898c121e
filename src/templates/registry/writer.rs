//! What a change works with: everything that readers have, and the registry's two answers, a lock and a commit.

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

/// The context with the registry's locks and commits, for changes and the garbage collector.
#[derive(Clone)]
pub(in crate::templates) struct TemplateWriter {
    pub context: Arc<TemplateContext>,
    locks: Recipient<LockTemplate>,
    commits: Recipient<CommitChange>,
}

impl TemplateWriter {
    /// One that asks these for locks and commits.
    pub fn new(
        context: Arc<TemplateContext>,
        locks: Recipient<LockTemplate>,
        commits: Recipient<CommitChange>,
    ) -> Self {
        Self { context, locks, commits }
    }

    /// The lock of all these templates.
    ///
    /// Hazard: two changes that each hold what the other waits for would wait for ever. So locks are always asked for
    /// in the order of the ids.
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

    /// The same, where the lock is that of the `others` as well, which the caller has found to be the account's own.
    ///
    /// Hazard: strangers could keep an owner waiting by asking for changes that they may not make. So the right is
    /// checked before the lock is asked for, and once more under it, when the template may be gone.
    ///
    /// # Errors
    /// As for `lock_own`.
    pub async fn lock_own_with(
        &self,
        of: TemplateRef,
        others: impl IntoIterator<Item = TemplateId>,
    ) -> Result<(TemplateLock, TemplateRecord), Problem> {
        self.context.own(of).await?;
        let lock = self.lock(others.into_iter().chain([of.template])).await?;
        Ok((lock, self.context.own(of).await?))
    }

    /// Commits a change: it is durable when this answers.
    pub async fn commit(&self, change: CommitChange) -> Result<(), Problem> {
        self.commits.send(change).await.map_err(Problem::internal)?
    }

    /// Commits entries that change nothing of what counts as stored, and no objects.
    pub async fn commit_entries(
        &self,
        account: AccountId,
        lock: TemplateLock,
        batch: WriteBatch,
    ) -> Result<(), Problem> {
        let reserved = self.context.quota.begin(account);
        self.commit(CommitChange { account, lock, batch, stored: (0, 0), reserved, gone: Vec::new() }).await
    }
}
