//! The actor that every request asks: whose token this is, and whether the account may make one more document.
//!
//! It owns the [`AccountStore`] and decides one message after the other. The operator's orders are carried out one at a
//! time from a queue of their own, so that none changes what another has checked and not yet written. Hazard: on a disk
//! that syncs slowly every request would wait behind such a write, so tokens are checked meanwhile. A counter that is
//! not in memory is read under an `AtomicResponse`: no other message is handled until it is known.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{self, Poll};

use actix::fut::ActorFuture;
use actix::{
    Actor, ActorFutureExt as _, AsyncContext as _, AtomicResponse, Context, Handler, Message, ResponseFuture,
    WrapFuture as _,
};
use tokio::sync::oneshot;

use super::admin::{AdminError, AdminReply, AdminRequest};
use super::decision::read_counter;
use super::ledger::Reservation;
use super::store::AccountStore;
use crate::config::as_count;
use crate::domain::ids::AccountId;
use crate::problem::Problem;

/// Answers for accounts and tokens while the service runs.
#[derive(Debug)]
pub struct Accounts {
    store: AccountStore,
    /// Orders that wait for the one that is being written, in the order of their arrival.
    orders: VecDeque<Order>,
    is_writing: bool,
    mailbox_limit: usize,
}

type Order = (AdminRequest, oneshot::Sender<Result<AdminReply, AdminError>>);

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
#[rtype(result = "Result<AdminReply, AdminError>")]
pub struct Administer(pub AdminRequest);

impl Accounts {
    /// An actor that owns `store` and has at most `mailbox_limit` waiting messages.
    pub fn new(store: AccountStore, mailbox_limit: u64) -> Self {
        Self { store, orders: VecDeque::new(), is_writing: false, mailbox_limit: as_count(mailbox_limit) }
    }

    /// Carries out the next order, unless one is being written.
    fn next_order(&mut self, context: &mut Context<Self>) {
        if self.is_writing {
            return;
        }
        let Some((request, reply)) = self.orders.pop_front() else { return };
        self.is_writing = true;
        let (decided, index) = (self.store.decide(request), self.store.index());
        let written = async move { decided?.write(index).await };
        context.spawn(written.into_actor(self).map(|written, actor, context| {
            actor.is_writing = false;
            // What is durable is applied, even when the command that sent the order has gone.
            let _ = reply.send(written.map(|written| actor.store.apply(written)));
            actor.next_order(context);
        }));
    }
}

impl Actor for Accounts {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.set_mailbox_capacity(self.mailbox_limit);
        context.spawn(UncountReturned);
    }
}

/// Uncounts the documents that are given back, as long as the actor lives. Otherwise they would pile up in their channel
/// until the next request.
struct UncountReturned;

impl ActorFuture<Accounts> for UncountReturned {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        accounts: &mut Accounts,
        _: &mut Context<Accounts>,
        task: &mut task::Context<'_>,
    ) -> Poll<()> {
        accounts.store.poll_returned(task)
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
    type Result = ResponseFuture<Result<AdminReply, AdminError>>;

    fn handle(&mut self, Administer(request): Administer, context: &mut Self::Context) -> Self::Result {
        let (reply, answer) = oneshot::channel();
        self.orders.push_back((request, reply));
        self.next_order(context);
        Box::pin(async move {
            let stopping = "the service is stopping; run the command again when it has stopped or is back";
            answer.await.map_err(|_| AdminError(stopping.to_owned()))?
        })
    }
}
