//! Idempotency keys: which job a caller's key has, in the index beside the job itself.
//!
//! `idempotency/<account>/<key>/<job>` holds the request that made the job; the newest one counts.
//! `idempotency-due/<time>/<job>` names that entry, sorted by the time of its expiry, so that a sweep reads what is due and
//! nothing else. Both are written in the batch of the job's record. No entry is ever replaced, or a sweep could delete one
//! that was written after it looked.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::messages::Idempotency;
use crate::storage::index::{Index, IndexError, WriteBatch};
use crate::storage::record;

const RECORD_VERSION: u8 = 1;
const DUE_PREFIX: &str = "idempotency-due/";
/// Entries removed at a time.
const PAGE: usize = 500;

#[derive(Serialize, Deserialize)]
struct KeyRecord {
    request: [u8; 32],
    expires_at: Timestamp,
}

/// The job of a key, and the request that made it.
pub(in crate::jobs) struct EarlierRequest {
    pub job: JobId,
    pub request: [u8; 32],
}

/// Deletes the keys that have expired at `now`; answers how many those were.
///
/// # Errors
/// When the index fails; what was deleted before stays deleted.
pub async fn sweep(index: &dyn Index, now: Timestamp) -> Result<usize, IndexError> {
    let mut removed = 0;
    loop {
        let page = index.scan(DUE_PREFIX, None, PAGE).await?;
        let due = page.iter().take_while(|entry| is_due(&entry.key, now));
        let (mut batch, mut count) = (WriteBatch::new(), 0);
        for entry in due {
            batch = batch.delete(entry.key.clone()).delete(String::from_utf8_lossy(&entry.value));
            count += 1;
        }
        // Unsynced: a crash may bring entries back, which have expired all the same.
        index.write_unsynced(batch).await?;
        removed += count;
        if count < PAGE {
            return Ok(removed);
        }
    }
}

/// The part of a new job's batch that gives it the key until `expires_at`.
pub(in crate::jobs) fn entries(
    account: AccountId,
    job: JobId,
    idempotency: Idempotency,
    expires_at: Timestamp,
) -> Result<WriteBatch, IndexError> {
    let Idempotency { key, request } = idempotency;
    let entry = format!("{}{job}", prefix(account, &key));
    let value = record::encode(RECORD_VERSION, &KeyRecord { request, expires_at })?;
    let due = format!("{DUE_PREFIX}{}/{job}", expires_at.sortable());
    Ok(WriteBatch::new().put(due, entry.clone()).put(entry, value))
}

/// The newest entry of the key, unless it has expired.
pub(in crate::jobs) async fn find(
    index: &dyn Index,
    account: AccountId,
    key: &[u8; 32],
    now: Timestamp,
) -> Result<Option<EarlierRequest>, IndexError> {
    let newest = index.scan_back(&prefix(account, key), None, 1).await?.pop();
    let Some(entry) = newest else { return Ok(None) };
    let stored: KeyRecord = record::decode(RECORD_VERSION, &entry.key, &entry.value)?;
    let job = entry.key.rsplit('/').next().and_then(|id| id.parse().ok());
    Ok(job.filter(|_| stored.expires_at > now).map(|job| EarlierRequest { job, request: stored.request }))
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
    let time = key.strip_prefix(DUE_PREFIX).and_then(|entry| entry.split('/').next());
    time.and_then(Timestamp::parse).is_some_and(|expires_at| expires_at <= now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::storage::index::SledIndex;

    async fn open(folder: &tempfile::TempDir) -> SledIndex {
        SledIndex::open(folder.path(), &Config::default().storage).await.unwrap()
    }

    /// Writes a key of a new job, and gives the job.
    async fn write(index: &SledIndex, account: AccountId, key: [u8; 32], expires_at: Timestamp) -> JobId {
        let job = JobId::generate();
        let batch = entries(account, job, Idempotency { key, request: [1; 32] }, expires_at).unwrap();
        index.write_unsynced(batch).await.unwrap();
        job
    }

    async fn found(index: &SledIndex, account: AccountId, key: [u8; 32], now: u64) -> Option<JobId> {
        find(index, account, &key, Timestamp(now)).await.unwrap().map(|earlier| earlier.job)
    }

    #[tokio::test]
    async fn the_newest_job_of_a_key_counts_until_it_expires() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(&folder).await;
        let (one, two) = (AccountId::generate(), AccountId::generate());
        let (key, other) = ([255; 32], [0; 32]);
        assert_eq!(found(&index, one, key, 0).await, None);
        write(&index, one, key, Timestamp(100)).await;
        let second = write(&index, one, key, Timestamp(200)).await;
        assert_eq!(found(&index, one, key, 199).await, Some(second));
        assert_eq!(found(&index, one, key, 200).await, None);
        assert_eq!(found(&index, one, other, 0).await, None);
        assert_eq!(found(&index, two, key, 0).await, None, "a key counts only in its own account");
    }

    #[tokio::test]
    async fn a_sweep_removes_what_has_expired_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(&folder).await;
        let account = AccountId::generate();
        for number in 0..1_200_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            write(&index, account, key, Timestamp(5_000 - number)).await;
        }
        // The same key again, while its first entry is due.
        let renewed = write(&index, account, [0; 32], Timestamp(10_000)).await;
        assert_eq!(sweep(&index, Timestamp(3_800)).await.unwrap(), 0);
        assert_eq!(sweep(&index, Timestamp(3_801)).await.unwrap(), 1);
        assert_eq!(sweep(&index, Timestamp(5_000)).await.unwrap(), 1_199);
        assert_eq!(sweep(&index, Timestamp(9_999)).await.unwrap(), 0);
        assert_eq!(found(&index, account, [0; 32], 9_999).await, Some(renewed));
        assert_eq!(index.scan("idempotency", None, 10).await.unwrap().len(), 2);
        assert_eq!(sweep(&index, Timestamp(10_000)).await.unwrap(), 1);
        assert!(index.scan("idempotency", None, 10).await.unwrap().is_empty());
    }
}
