//! The template registry: the one actor that changes the templates' part of the index.
//!
//! It alone decides who may change what when ([`ChangeLocks`]), and it alone writes the index (`changes::commit`). A
//! change is a future of its own on the registry's thread: unpacking one archive holds up no other message. Reads do not
//! come here: see `reader`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use actix::fut::ActorFuture;
use actix::prelude::*;
use tracing::Instrument as _;

use super::context::TemplateContext;
use super::locks::{ChangeLocks, Guard};
use super::messages::LockTemplate;
use super::writer::TemplateWriter;
use crate::config::as_count;
use crate::domain::ids::AccountId;
use crate::problem::Problem;
use crate::storage::index::Index;

/// The template registry.
pub struct TemplateRegistry {
    pub(in crate::templates) context: Arc<TemplateContext>,
    /// The index to write; readers have theirs in the context.
    pub(in crate::templates) index: Arc<dyn Index>,
    pub(in crate::templates) locks: ChangeLocks,
    mailbox_limit: usize,
}

impl TemplateRegistry {
    /// The registry of `context`, which writes `index`, and has at most `mailbox_limit` waiting messages.
    pub fn new(context: Arc<TemplateContext>, index: Arc<dyn Index>, mailbox_limit: u64) -> Self {
        let locks = ChangeLocks::new(context.limits.changes_account_limit);
        let mailbox_limit = as_count(mailbox_limit);
        Self { context, index, locks, mailbox_limit }
    }

    /// What changes work with.
    pub(in crate::templates) fn writer(&self, ctx: &Context<Self>) -> TemplateWriter {
        let address = ctx.address();
        TemplateWriter::new(Arc::clone(&self.context), address.clone().recipient(), address.recipient())
    }

    /// A change for `account`, counted under its name, in a span of its own. It goes on when its caller has gone.
    pub(in crate::templates) fn change<T, F>(
        &mut self,
        ctx: &Context<Self>,
        (name, account): (&'static str, AccountId),
        change: impl FnOnce(TemplateWriter) -> F,
    ) -> ResponseFuture<Result<T, Problem>>
    where
        T: 'static,
        F: Future<Output = Result<T, Problem>> + 'static,
    {
        let metrics = self.context.metrics.clone();
        let work = self.locks.admit(account).map(|admitted| (admitted, change(self.writer(ctx))));
        let counted = async move {
            let done = match work {
                Ok((_admitted, work)) => work.await,
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
        ctx.spawn(ReleaseDropped);
    }
}

/// Releases what dropped guards held, for as long as the registry runs.
struct ReleaseDropped;

impl ActorFuture<TemplateRegistry> for ReleaseDropped {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        registry: &mut TemplateRegistry,
        _: &mut Context<TemplateRegistry>,
        task: &mut task::Context<'_>,
    ) -> Poll<()> {
        registry.locks.poll_released(task)
    }
}

impl Handler<LockTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<Guard, Problem>>;

    fn handle(&mut self, message: LockTemplate, _: &mut Self::Context) -> Self::Result {
        let granted = self.locks.lock(message.0);
        Box::pin(async move { granted.await.map_err(Problem::internal) })
    }
}
