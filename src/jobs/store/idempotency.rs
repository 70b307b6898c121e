//! Idempotency keys: the job that a caller's key stands for, in the index beside the job itself.
//!
//! `idempotency/<account>/<key>/<job>` holds the request that made the job; the newest one counts.
//! `idempotency-due/<time>/<job>` names that entry, in the order in which they expire, so that a sweep
//! reads what is due and nothing else. Both are written in the batch of the job's record. No entry is ever
//! replaced: a sweep cannot remove what was written after it looked.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use actix::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::messages::{FindRepeat, Idempotency, InitJob};
use crate::jobs::registry::{Found, JobRegistry, ViewReply};
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::storage::index::{Change, IndexError};
use crate::storage::record;

const RECORD_VERSION: u8 = 1;
const DUE_PREFIX: &str = "idempotency-due/";
/// Entries removed at a time.
const PAGE: usize = 500;

/// A key of an account, as the registry holds it while a request with it is being answered.
pub(in crate::jobs) type HeldKey = (AccountId, [u8; 32]);

/// Requests that wait until an earlier one with the same key is answered.
pub(in crate::jobs) type KeyLine = VecDeque<oneshot::Sender<()>>;

#[derive(Serialize, Deserialize)]
struct KeyRecord {
    request: [u8; 32],
    expires_at: Timestamp,
}

/// The job that a key stands for, and the request that made it.
struct Earlier {
    job: JobId,
    request: [u8; 32],
}

/// Removes the keys that have expired at `now`; answers how many those were.
///
/// # Errors
/// When the index fails; what was removed before stays removed.
pub async fn sweep(journal: &Journal, now: Timestamp) -> Result<usize, IndexError> {
    let mut removed = 0;
    loop {
        let page = journal.scan(DUE_PREFIX, PAGE).await?;
        let due = page.iter().take_while(|entry| is_due(&entry.key, now));
        let (mut change, mut count) = (Change::new(), 0);
        for entry in due {
            change = change.delete(entry.key.clone()).delete(String::from_utf8_lossy(&entry.value));
            count += 1;
        }
        // What a crash brings back has expired all the same.
        journal.change_unsynced(change).await?;
        removed += count;
        if count < PAGE {
            return Ok(removed);
        }
    }
}

impl JobRegistry {
    /// What goes into the batch of a new job's record, so that the caller's key stands for it.
    pub(in crate::jobs) fn key_entries(
        &self,
        job: &JobRecord,
        idempotency: Option<Idempotency>,
    ) -> Result<Change, IndexError> {
        let window_ms = self.context.limits.idempotency_window_s.saturating_mul(1_000);
        let expires_at = job.created_at.plus_ms(window_ms);
        idempotency.map_or_else(|| Ok(Change::new()), |it| entries(job.account, job.id, it, expires_at))
    }

    /// The job that the message's key stands for; made when it stands for none. Requests with one key are
    /// answered one after the other, so that of two at the same moment only one makes a job.
    pub(in crate::jobs) fn once(
        &mut self,
        idempotency: Idempotency,
        message: InitJob,
    ) -> ResponseActFuture<Self, ViewReply> {
        let key = (message.account, idempotency.key);
        let turn = match self.keys.entry(key) {
            Entry::Vacant(free) => {
                free.insert(KeyLine::new());
                None
            }
            Entry::Occupied(mut line) => {
                let (call, called) = oneshot::channel();
                line.get_mut().push_back(call);
                Some(called)
            }
        };
        let called = async move {
            if let Some(called) = turn {
                // The sender goes with the registry only, and then nobody is here to be called.
                let _ = called.await;
            }
        };
        let reply =
            called.into_actor(self).then(move |(), registry, _| registry.look_up(idempotency, message));
        Box::pin(reply.map(move |reply, registry, _| {
            registry.call_next(key);
            reply
        }))
    }

    fn look_up(&mut self, idempotency: Idempotency, message: InitJob) -> ResponseActFuture<Self, ViewReply> {
        let found = self.find_repeat(message.account, idempotency);
        Box::pin(found.then(move |found, registry, _| match found {
            Ok(None) => registry.make(message),
            Ok(Some(view)) => Box::pin(fut::ready(Ok(view))),
            Err(problem) => Box::pin(fut::ready(Err(problem))),
        }))
    }

    /// The job that the key stands for, if it stands for one.
    fn find_repeat(
        &self,
        account: AccountId,
        idempotency: Idempotency,
    ) -> ResponseActFuture<Self, Result<Option<watch::Receiver<JobView>>, Problem>> {
        let (journal, now) = (self.context.journal.clone(), self.context.clock.now());
        let earlier = async move { find(&journal, account, &idempotency.key, now).await };
        Box::pin(earlier.into_actor(self).then(move |earlier, registry, _| match earlier {
            Ok(None) => Box::pin(fut::ready(Ok(None))) as ResponseActFuture<_, _>,
            Ok(Some(earlier)) if earlier.request == idempotency.request => {
                Box::pin(registry.repeat(account, earlier.job).map(|view, _, _| view.map(Some)))
            }
            Ok(Some(_)) => Box::pin(fut::ready(Err(registry.mismatch()))),
            Err(error) => Box::pin(fut::ready(Err(error.into()))),
        }))
    }

    fn repeat(&self, account: AccountId, job: JobId) -> ResponseActFuture<Self, ViewReply> {
        Box::pin(self.find(account, job).map(move |found, _, _| {
            found
                .map(Found::view)
                .map_err(|problem| if problem.code == Code::JobNotFound { erased(job) } else { problem })
        }))
    }

    fn call_next(&mut self, key: HeldKey) {
        let Entry::Occupied(mut line) = self.keys.entry(key) else { return };
        while let Some(call) = line.get_mut().pop_front() {
            if call.send(()).is_ok() {
                return;
            }
        }
        line.remove();
    }

    fn mismatch(&self) -> Problem {
        let window_s = self.context.limits.idempotency_window_s;
        let detail = format!(
            "The Idempotency-Key came with another request in the last {window_s} s (jobs.idempotency_window_s); \
             send the same endpoint and body with it, or a new key for a new job."
        );
        Problem::new(Code::IdempotencyMismatch, detail)
    }
}

impl Handler<FindRepeat> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<Option<watch::Receiver<JobView>>, Problem>>;

    fn handle(&mut self, message: FindRepeat, _: &mut Self::Context) -> Self::Result {
        self.find_repeat(message.account, message.idempotency)
    }
}

/// What makes the key stand for the job until `expires_at`.
fn entries(
    account: AccountId,
    job: JobId,
    idempotency: Idempotency,
    expires_at: Timestamp,
) -> Result<Change, IndexError> {
    let Idempotency { key, request } = idempotency;
    let entry = format!("{}{job}", prefix(account, &key));
    let value = record::encode(RECORD_VERSION, &KeyRecord { request, expires_at })?;
    let due = format!("{DUE_PREFIX}{}/{job}", expires_at.sortable());
    Ok(Change::new().put(due, entry.clone()).put(entry, value))
}

/// The newest entry of the key, unless it has expired.
async fn find(
    journal: &Journal,
    account: AccountId,
    key: &[u8; 32],
    now: Timestamp,
) -> Result<Option<Earlier>, IndexError> {
    let Some(entry) = journal.last(&prefix(account, key)).await? else { return Ok(None) };
    let stored: KeyRecord = record::decode(RECORD_VERSION, &entry.key, &entry.value)?;
    let job = entry.key.rsplit('/').next().and_then(|id| id.parse().ok());
    Ok(job.filter(|_| stored.expires_at > now).map(|job| Earlier { job, request: stored.request }))
}

fn prefix(account: AccountId, key: &[u8; 32]) -> String {
    let mut text = format!("idempotency/{account}/");
    for byte in key {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('/');
    text
}

fn is_due(key: &str, now: Timestamp) -> bool {
    let time = key.strip_prefix(DUE_PREFIX).and_then(|rest| rest.split('/').next());
    time.and_then(Timestamp::parse).is_some_and(|expires_at| expires_at <= now)
}

fn erased(job: JobId) -> Problem {
    let detail = format!("The job {job} of this Idempotency-Key was erased; send a new key for a new job.");
    Problem::new(Code::JobNotFound, detail)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Config;
    use crate::storage::index::{Index, SledIndex};

    async fn journal(folder: &tempfile::TempDir) -> Journal {
        let index = SledIndex::open(folder.path(), &Config::default().storage).await.unwrap();
        Journal::new(Arc::new(index) as Arc<dyn Index>, &Config::default().jobs)
    }

    /// Writes a key of a new job, and gives the job.
    async fn write(journal: &Journal, account: AccountId, key: [u8; 32], expires_at: Timestamp) -> JobId {
        let job = JobId::generate();
        let change = entries(account, job, Idempotency { key, request: [1; 32] }, expires_at).unwrap();
        journal.change_unsynced(change).await.unwrap();
        job
    }

    async fn found(journal: &Journal, account: AccountId, key: [u8; 32], now: u64) -> Option<JobId> {
        find(journal, account, &key, Timestamp(now)).await.unwrap().map(|earlier| earlier.job)
    }

    #[tokio::test]
    async fn the_newest_job_of_a_key_counts_until_it_expires() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder).await;
        let (one, two) = (AccountId::generate(), AccountId::generate());
        let (key, other) = ([255; 32], [0; 32]);
        assert_eq!(found(&journal, one, key, 0).await, None);
        write(&journal, one, key, Timestamp(100)).await;
        let second = write(&journal, one, key, Timestamp(200)).await;
        assert_eq!(found(&journal, one, key, 199).await, Some(second));
        assert_eq!(found(&journal, one, key, 200).await, None);
        assert_eq!(found(&journal, one, other, 0).await, None);
        assert_eq!(found(&journal, two, key, 0).await, None, "a key is its account's");
    }

    #[tokio::test]
    async fn a_sweep_removes_what_has_expired_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder).await;
        let account = AccountId::generate();
        for number in 0..1_200_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            write(&journal, account, key, Timestamp(5_000 - number)).await;
        }
        // The same key again, while its first entry is due.
        let kept = write(&journal, account, [0; 32], Timestamp(10_000)).await;
        assert_eq!(sweep(&journal, Timestamp(3_800)).await.unwrap(), 0);
        assert_eq!(sweep(&journal, Timestamp(3_801)).await.unwrap(), 1);
        assert_eq!(sweep(&journal, Timestamp(5_000)).await.unwrap(), 1_199);
        assert_eq!(sweep(&journal, Timestamp(9_999)).await.unwrap(), 0);
        assert_eq!(found(&journal, account, [0; 32], 9_999).await, Some(kept));
        assert_eq!(journal.scan("idempotency", 10).await.unwrap().len(), 2);
        assert_eq!(sweep(&journal, Timestamp(10_000)).await.unwrap(), 1);
        assert!(journal.scan("idempotency", 10).await.unwrap().is_empty());
    }
}
