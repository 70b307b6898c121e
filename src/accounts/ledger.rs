//! How many documents each account has used: the numbers in memory decide, the index keeps them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::domain::ids::AccountId;
use crate::domain::subscription::{Account, Period};
use crate::problem::Problem;
use crate::storage::index::{Change, Index, IndexError};

/// The documents of one account in one period. A job's record remembers it, for giving back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UsageKey {
    account: AccountId,
    period: String,
}

impl UsageKey {
    /// The account's documents in the period.
    #[must_use]
    pub fn new(account: AccountId, period: Period) -> Self {
        Self { account, period: period.name() }
    }

    /// What a final job without output adds to the batch of its last record; when that is durable,
    /// the `GiveBack` message follows.
    pub fn give_back(&self) -> Change {
        Change::new().add(self.counter(), -1)
    }

    /// The key of the counter.
    #[must_use]
    pub fn counter(&self) -> String {
        format!("usage/{}/{}", self.account, self.period)
    }

    fn take(&self) -> Change {
        Change::new().add(self.counter(), 1)
    }
}

/// Periods of an account whose numbers are held: at a turn, some callers are still in the last one.
const PERIODS_HELD: usize = 2;

/// The numbers of the periods that are current.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    used: Mutex<HashMap<AccountId, VecDeque<Used>>>,
}

/// What an account has used in a period.
#[derive(Debug)]
struct Used {
    period: String,
    documents: u64,
}

impl Ledger {
    /// What the account has used in the period; read from the index when it is not known yet.
    pub(super) async fn used(&self, key: &UsageKey, index: &dyn Index) -> Result<u64, IndexError> {
        if let Some(documents) = self.with(key, |known| known.documents) {
            return Ok(documents);
        }
        let stored = u64::try_from(index.counter(&key.counter()).await?).unwrap_or(0);
        Ok(self.hold(key, stored))
    }

    /// Counts one more document, if the account may have it: in one step, so that of two at the same
    /// moment only one gets the last. `None` when the period is not held (any more).
    fn take(&self, account: &Account, period: Period, key: &UsageKey) -> Option<Result<(), Problem>> {
        self.with(key, |known| {
            let checked = account.check_quota(known.documents, period);
            known.documents += u64::from(checked.is_ok());
            checked
        })
    }

    /// Counts one document less, if the period is still held; else the index alone knows.
    pub(super) fn lower(&self, key: &UsageKey) {
        self.with(key, |known| known.documents = known.documents.saturating_sub(1));
    }

    /// Holds what was read from the index, unless another caller did so first and has counted since.
    fn hold(&self, key: &UsageKey, documents: u64) -> u64 {
        let mut used = self.lock();
        let periods = used.entry(key.account).or_default();
        if let Some(known) = periods.iter().find(|known| known.period == key.period) {
            return known.documents;
        }
        if periods.len() == PERIODS_HELD {
            periods.pop_front();
        }
        periods.push_back(Used { period: key.period.clone(), documents });
        documents
    }

    fn with<T>(&self, key: &UsageKey, work: impl FnOnce(&mut Used) -> T) -> Option<T> {
        let mut used = self.lock();
        used.get_mut(&key.account)?.iter_mut().find(|known| known.period == key.period).map(work)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, VecDeque<Used>>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A document that an account may make. Dropped before it is kept, the account has it back.
#[derive(Debug)]
pub struct Reservation {
    ledger: Arc<Ledger>,
    usage: Option<UsageKey>,
}

impl Reservation {
    /// One that counts nothing.
    pub(super) fn uncounted(ledger: Arc<Ledger>) -> Self {
        Self { ledger, usage: None }
    }

    /// One more document of the account in the period, if it may have it.
    pub(super) async fn take(
        ledger: &Arc<Ledger>,
        account: &Account,
        period: Period,
        index: &dyn Index,
    ) -> Result<Self, Problem> {
        let key = UsageKey::new(account.id, period);
        loop {
            ledger.used(&key, index).await?;
            // Once more when, in between, callers in other periods pushed this one out.
            if let Some(taken) = ledger.take(account, period, &key) {
                return taken.map(|()| Self { ledger: Arc::clone(ledger), usage: Some(key) });
            }
        }
    }

    /// What goes into the same batch as the job's record.
    pub fn change(&self) -> Change {
        self.usage.as_ref().map(UsageKey::take).unwrap_or_default()
    }

    /// What the job's record remembers for giving back; nothing when nothing was counted.
    #[must_use]
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
        if let Some(usage) = &self.usage {
            self.ledger.lower(usage);
        }
    }
}
