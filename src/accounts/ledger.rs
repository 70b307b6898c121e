//! How many documents each account has used. The numbers in memory decide; the index keeps them for the next start.
//!
//! The ledger belongs to the actor [`Accounts`](super::Accounts) alone. Others give documents back (a reservation that is
//! dropped, a job that ends without output).
//!
//! Hazard: a full mailbox refuses messages, and a document that it refused would be lost to its account. So documents come
//! back over an unbounded channel, which the actor polls: it stays short even while nobody asks for a number. It is also
//! emptied before a number is read, so that a document given back before a request counts for that request.

use std::collections::{HashMap, VecDeque};
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::accounts::subscription::{Account, Period};
use crate::domain::ids::AccountId;
use crate::problem::Problem;
use crate::storage::index::{Index, IndexError, WriteBatch};

/// The documents of one account in one period. A job's record remembers it, for giving back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UsageKey {
    account: AccountId,
    period: String,
}

impl UsageKey {
    /// The account's documents in the period.
    pub fn new(account: AccountId, period: Period) -> Self {
        Self { account, period: period.name() }
    }

    /// The batch that uncounts the document in the index. A job that ends without output writes it with its last record, and
    /// calls [`DocumentReturns::give_back`] once that is durable, for the number in memory.
    pub fn give_back(&self) -> WriteBatch {
        WriteBatch::new().add(self.counter(), -1)
    }

    /// The key of the counter.
    pub fn counter(&self) -> String {
        format!("usage/{}/{}", self.account, self.period)
    }

    /// The number in the index. It is current only for a period that is not in memory: otherwise documents may be reserved
    /// whose batch is not written yet.
    pub(super) async fn read(&self, index: &dyn Index) -> Result<u64, IndexError> {
        Ok(u64::try_from(index.counter(&self.counter()).await?).unwrap_or(0))
    }

    /// The batch that counts one document more.
    fn reserve(&self) -> WriteBatch {
        WriteBatch::new().add(self.counter(), 1)
    }
}

/// Gives documents back to the ledger; never waits and never refuses.
#[derive(Clone, Debug)]
pub struct DocumentReturns(UnboundedSender<UsageKey>);

impl DocumentReturns {
    /// Uncounts one document of the account in memory. A batch with [`UsageKey::give_back`], if there is one, must be durable
    /// before: memory must not allow a document that the index would count again after a crash.
    pub fn give_back(&self, usage: UsageKey) {
        // There is no receiver once the service stops; the next start reads the number from the index.
        let _ = self.0.send(usage);
    }
}

/// Periods of an account that are in memory: while a period ends, some requests still count in it and others in the
/// next.
const PERIODS_HELD: usize = 2;

/// The numbers of the periods that are current.
#[derive(Debug)]
pub(super) struct Ledger {
    used: HashMap<AccountId, VecDeque<Used>>,
    returned: UnboundedReceiver<UsageKey>,
    document_returns: DocumentReturns,
}

/// What an account has used in a period.
#[derive(Debug)]
struct Used {
    period: String,
    documents: u64,
}

impl Ledger {
    pub fn new() -> Self {
        let (document_returns, returned) = unbounded_channel();
        Self { used: HashMap::new(), returned, document_returns: DocumentReturns(document_returns) }
    }

    /// The handle through which others give documents back.
    pub fn document_returns(&self) -> DocumentReturns {
        self.document_returns.clone()
    }

    /// Uncounts the documents that were given back. Never ready, so that the actor polls it again for each later one.
    pub fn poll_returned(&mut self, task: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(Some(returned)) = self.returned.poll_recv(task) {
            self.uncount(&returned);
        }
        Poll::Pending
    }

    /// Whether the number of the period must be read from the index first.
    pub fn is_unknown(&self, key: &UsageKey) -> bool {
        self.used.get(&key.account).is_none_or(|held| held.iter().all(|used| used.period != key.period))
    }

    /// What the account has used in the period; `stored` where that is not in memory.
    pub fn used(&mut self, key: &UsageKey, stored: u64) -> u64 {
        self.entry(key, stored).documents
    }

    /// Counts one more document of the account, if it may have it.
    pub fn take(&mut self, account: &Account, period: Period, stored: u64) -> Result<Reservation, Problem> {
        let key = UsageKey::new(account.id, period);
        let used = self.entry(&key, stored);
        account.check_quota(used.documents, period)?;
        used.documents += 1;
        Ok(Reservation { document_returns: self.document_returns(), usage: Some(key) })
    }

    /// A reservation that counts nothing.
    pub fn uncounted(&self) -> Reservation {
        Reservation { document_returns: self.document_returns(), usage: None }
    }

    fn entry(&mut self, key: &UsageKey, stored: u64) -> &mut Used {
        while let Ok(returned) = self.returned.try_recv() {
            self.uncount(&returned);
        }
        let held = self.used.entry(key.account).or_default();
        let at = held.iter().position(|used| used.period == key.period).unwrap_or_else(|| {
            if held.len() == PERIODS_HELD {
                held.pop_front();
            }
            held.push_back(Used { period: key.period.clone(), documents: stored });
            held.len() - 1
        });
        &mut held[at]
    }

    /// Counts one document less. A period that is not in memory is left out: its number is read from the index when it is
    /// asked for, and the index has the document uncounted already.
    fn uncount(&mut self, returned: &UsageKey) {
        let held = self.used.get_mut(&returned.account);
        if let Some(used) = held.and_then(|held| held.iter_mut().find(|used| used.period == returned.period))
        {
            used.documents = used.documents.saturating_sub(1);
        }
    }
}

/// A document counted for an account. Dropping it gives the document back, unless it was confirmed
/// ([`confirm`](Self::confirm)).
#[derive(Debug)]
pub struct Reservation {
    document_returns: DocumentReturns,
    usage: Option<UsageKey>,
}

impl Reservation {
    /// The batch that counts the document in the index, to be written together with the job's record.
    pub fn batch(&self) -> WriteBatch {
        self.usage.as_ref().map(UsageKey::reserve).unwrap_or_default()
    }

    /// What the job's record remembers in order to give the document back; `None` when none was counted.
    pub fn usage(&self) -> Option<&UsageKey> {
        self.usage.as_ref()
    }

    /// To be called once the batch is durable: dropping the reservation no longer gives the document back.
    pub fn confirm(mut self) {
        self.usage = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(usage) = self.usage.take() {
            self.document_returns.give_back(usage);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Wake, Waker};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_document_given_back_is_uncounted_when_the_actor_polls_and_not_only_by_the_next_request() {
        let mut ledger = Ledger::new();
        let key = UsageKey { account: AccountId::generate(), period: "2026-01".to_owned() };
        assert_eq!(ledger.used(&key, 5), 5);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        assert!(ledger.poll_returned(&mut Context::from_waker(&waker)).is_pending());
        ledger.document_returns().give_back(key.clone());
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(ledger.poll_returned(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(ledger.used[&key.account][0].documents, 4);
        ledger.document_returns().give_back(key.clone());
        assert_eq!(ledger.used(&key, 5), 3, "a request does not wait for the actor to poll");
    }
}
