//! How many documents each account has used. The numbers in memory decide; the index keeps them for the next start.
//!
//! The ledger belongs to the actor [`Accounts`](super::Accounts) alone. What is given back by others (a reservation
//! that is dropped, a job that ends without output) comes over an unbounded channel, because a document that a full
//! mailbox refused would be lost to its account. The channel is emptied before a number is read, so a document that was
//! given back before a request counts for it. It stays short: each entry was a reservation before.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::domain::ids::AccountId;
use crate::domain::subscription::{Account, Period};
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

    /// What a final job without output adds to the batch of its last record; [`Returns::give_back`] follows when that
    /// is durable.
    pub fn give_back(&self) -> WriteBatch {
        WriteBatch::new().add(self.counter(), -1)
    }

    /// The key of the counter.
    pub fn counter(&self) -> String {
        format!("usage/{}/{}", self.account, self.period)
    }

    /// What the index says; for a period that is not in memory it is the number.
    pub(super) async fn read(&self, index: &dyn Index) -> Result<u64, IndexError> {
        Ok(u64::try_from(index.counter(&self.counter()).await?).unwrap_or(0))
    }

    fn take(&self) -> WriteBatch {
        WriteBatch::new().add(self.counter(), 1)
    }
}

/// Gives documents back to the ledger; never waits and never refuses.
#[derive(Clone, Debug)]
pub struct Returns(UnboundedSender<UsageKey>);

impl Returns {
    /// The account may have one more document. Where a batch with [`UsageKey::give_back`] was written, it is durable.
    pub fn give_back(&self, usage: UsageKey) {
        // Without a receiver the service stops, and the next start reads the index.
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
    returns: Returns,
}

/// What an account has used in a period.
#[derive(Debug)]
struct Used {
    period: String,
    documents: u64,
}

impl Ledger {
    pub fn new() -> Self {
        let (returns, returned) = unbounded_channel();
        Self { used: HashMap::new(), returned, returns: Returns(returns) }
    }

    pub fn returns(&self) -> Returns {
        self.returns.clone()
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
        Ok(Reservation { returns: self.returns(), usage: Some(key) })
    }

    /// A reservation that counts nothing.
    pub fn uncounted(&self) -> Reservation {
        Reservation { returns: self.returns(), usage: None }
    }

    fn entry(&mut self, key: &UsageKey, stored: u64) -> &mut Used {
        while let Ok(returned) = self.returned.try_recv() {
            let held = self.used.get_mut(&returned.account);
            // What is not in memory is read from the index, which knows already.
            if let Some(used) =
                held.and_then(|held| held.iter_mut().find(|used| used.period == returned.period))
            {
                used.documents = used.documents.saturating_sub(1);
            }
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
}

/// A document counted for an account. Dropping it gives the document back, unless [`keep`](Self::keep) was called.
#[derive(Debug)]
pub struct Reservation {
    returns: Returns,
    usage: Option<UsageKey>,
}

impl Reservation {
    /// What goes into the same batch as the job's record.
    pub fn change(&self) -> WriteBatch {
        self.usage.as_ref().map(UsageKey::take).unwrap_or_default()
    }

    /// What the job's record remembers for giving back; nothing when nothing was counted.
    pub fn usage(&self) -> Option<&UsageKey> {
        self.usage.as_ref()
    }

    /// The batch is durable: the document is counted for good.
    pub fn keep(mut self) {
        self.usage = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(usage) = self.usage.take() {
            self.returns.give_back(usage);
        }
    }
}
