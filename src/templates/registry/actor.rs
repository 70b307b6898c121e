//! The template registry: the one actor that changes what the index says of templates.
//!
//! A change is a future of its own, so that unpacking one archive keeps nobody waiting; changes of one template come
//! one after the other (`turns`).

use std::sync::Arc;

use actix::prelude::*;
use tracing::Instrument as _;

use super::context::Deps;
use crate::domain::ids::AccountId;
use crate::problem::Problem;

/// The template registry.
pub struct TemplateRegistry {
    pub(in crate::templates) deps: Arc<Deps>,
    mailbox_limit: usize,
}

impl TemplateRegistry {
    /// A registry over what `deps` hold, before which at most `mailbox_limit` messages wait.
    #[must_use]
    pub fn new(deps: Arc<Deps>, mailbox_limit: u64) -> Self {
        Self { deps, mailbox_limit: usize::try_from(mailbox_limit).unwrap_or(usize::MAX) }
    }

    /// A change for `account`, counted under its name, in a span of its own.
    pub(in crate::templates) fn change<T, F>(
        &self,
        (name, account): (&'static str, AccountId),
        change: impl FnOnce(Arc<Deps>) -> F,
    ) -> ResponseFuture<Result<T, Problem>>
    where
        T: 'static,
        F: Future<Output = Result<T, Problem>> + 'static,
    {
        let metrics = self.deps.metrics.clone();
        let work = self.deps.room.enter(account).map(|entered| (entered, change(Arc::clone(&self.deps))));
        let counted = async move {
            let done = match work {
                Ok((_entered, work)) => work.await,
                Err(problem) => Err(problem),
            };
            let outcome = done.as_ref().map_or_else(|problem| problem.code.name(), |_| "done");
            metrics.changes.of([name, outcome]).inc();
            tracing::debug!(template.outcome = outcome, "template change");
            done
        };
        Box::pin(counted.instrument(tracing::info_span!("template", template.change = name)))
    }
}

impl Actor for TemplateRegistry {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.mailbox_limit);
    }
}
