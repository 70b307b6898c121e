//! The actor that every request passes: whose token, and may the account have one more document.

use std::sync::Arc;

use actix::{Actor, Context, Handler, Message, ResponseFuture};

use super::admin::{AdminError, Reply, Request};
use super::book::Book;
use super::ledger::{Reservation, UsageKey};
use crate::domain::ids::AccountId;
use crate::problem::Problem;

/// Answers for accounts and tokens while the service runs.
#[derive(Debug)]
pub struct Accounts {
    book: Arc<Book>,
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

/// A job ended without output, and the batch with [`UsageKey::give_back`] is durable.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct GiveBack {
    /// What the job's record remembers.
    pub usage: UsageKey,
}

/// A question or an order of the operator.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<Reply, AdminError>")]
pub struct Administer(pub Request);

impl Accounts {
    /// An actor over `book` that holds at most `mailbox_limit` waiting messages.
    #[must_use]
    pub fn new(book: Arc<Book>, mailbox_limit: u64) -> Self {
        Self { book, mailbox_limit: usize::try_from(mailbox_limit).unwrap_or(usize::MAX) }
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

    fn handle(&mut self, message: Authenticate, _context: &mut Self::Context) -> Self::Result {
        let (account, used) = self.book.authenticate(&message.token)?;
        if !used.is_empty() {
            let index = Arc::clone(&self.book.index);
            actix::spawn(async move {
                if let Err(error) = index.write_unsynced(used).await {
                    tracing::warn!(error = %error, "that a token was used is not in the index");
                }
            });
        }
        Ok(account)
    }
}

impl Handler<ReserveDocument> for Accounts {
    type Result = ResponseFuture<Result<Reservation, Problem>>;

    fn handle(&mut self, message: ReserveDocument, _context: &mut Self::Context) -> Self::Result {
        let book = Arc::clone(&self.book);
        Box::pin(async move { book.reserve(message.account, message.counts).await })
    }
}

impl Handler<GiveBack> for Accounts {
    type Result = ();

    fn handle(&mut self, message: GiveBack, _context: &mut Self::Context) {
        self.book.give_back(&message.usage);
    }
}

impl Handler<Administer> for Accounts {
    type Result = ResponseFuture<Result<Reply, AdminError>>;

    fn handle(&mut self, message: Administer, _context: &mut Self::Context) -> Self::Result {
        let book = Arc::clone(&self.book);
        Box::pin(async move { book.administer(message.0).await })
    }
}
