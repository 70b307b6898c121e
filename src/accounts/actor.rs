//! The actor that every request passes: whose token, and may the account have one more document.
//!
//! It owns the [`AccountStore`] and decides one message after the other. A message that waits for the index (an order of
//! the operator, the first document of a period) holds up the next ones until it is answered (`AtomicResponse`): between
//! its check and its write no other message changes what it checked.

use actix::{
    Actor, ActorFutureExt as _, AsyncContext as _, AtomicResponse, Context, Handler, Message, WrapFuture as _,
};

use super::admin::{AdminError, Reply, Request};
use super::decision::read_counter;
use super::ledger::Reservation;
use super::store::AccountStore;
use crate::domain::ids::AccountId;
use crate::problem::Problem;

/// Answers for accounts and tokens while the service runs.
#[derive(Debug)]
pub struct Accounts {
    store: AccountStore,
    mailbox_limit: usize,
}

/// Whose token is this?
#[derive(Message)]
#[rtype(result = "Result<AccountId, Problem>")]
pub struct Authenticate {
    /// The token as it was sent.
    pub token: String,
}

impl std::fmt::Debug for Authenticate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Authenticate")
    }
}

/// The subscription check: may the account make one more document?
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<Reservation, Problem>")]
pub struct ReserveDocument {
    /// Which account.
    pub account: AccountId,
    /// Whether the document counts; previews do not.
    pub counts: bool,
}

/// A question or an order of the operator.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<Reply, AdminError>")]
pub struct Administer(pub Request);

impl Accounts {
    /// An actor that owns `store` and has at most `mailbox_limit` waiting messages.
    #[must_use]
    pub fn new(store: AccountStore, mailbox_limit: u64) -> Self {
        Self { store, mailbox_limit: usize::try_from(mailbox_limit).unwrap_or(usize::MAX) }
    }
}

impl Actor for Accounts {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.set_mailbox_capacity(self.mailbox_limit);
    }
}

impl Handler<Authenticate> for Accounts {
    type Result = Result<AccountId, Problem>;

    fn handle(&mut self, message: Authenticate, context: &mut Self::Context) -> Self::Result {
        let (account, used) = self.store.authenticate(&message.token)?;
        if !used.is_empty() {
            let index = self.store.index();
            let written = async move { index.write_unsynced(used).await };
            context.spawn(written.into_actor(self).map(|written, _, _| {
                if let Err(error) = written {
                    tracing::warn!(error = %error, "that a token was used is not in the index");
                }
            }));
        }
        Ok(account)
    }
}

impl Handler<ReserveDocument> for Accounts {
    type Result = AtomicResponse<Self, Result<Reservation, Problem>>;

    fn handle(&mut self, message: ReserveDocument, _context: &mut Self::Context) -> Self::Result {
        let ReserveDocument { account, counts } = message;
        let (now, index) = (self.store.now(), self.store.index());
        let counter = self.store.unread_counter(account, now);
        let read = async move { read_counter(&*index, counter.as_ref()).await };
        AtomicResponse::new(Box::pin(read.into_actor(self).map(move |stored, actor, _| {
            actor.store.reserve(account, counts, (now, stored.map_err(Problem::from)?))
        })))
    }
}

impl Handler<Administer> for Accounts {
    type Result = AtomicResponse<Self, Result<Reply, AdminError>>;

    fn handle(&mut self, Administer(request): Administer, _context: &mut Self::Context) -> Self::Result {
        let (decided, index) = (self.store.decide(request), self.store.index());
        let written = async move { decided?.write(index).await };
        let written = written.into_actor(self);
        AtomicResponse::new(Box::pin(written.map(|written, actor, _| Ok(actor.store.apply(written?)))))
    }
}
