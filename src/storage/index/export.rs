//! Exports the whole index as it is at one moment, while others write.
//!
//! Hazard: sled has no snapshots. A scan beside a writer sees some keys before a batch and some after it, so batches would be
//! torn. So the keys written during the scan (the dirty keys) are remembered and read again after it; those written meanwhile
//! once more; and the last few while the writer waits between two groups. A reader that applies all entries in order has the
//! state of that moment, and the writer has waited for a few hundred reads only.

use std::collections::HashSet;
use std::ops::Bound;

use tokio::sync::mpsc;

use super::database::Database;
use super::value::{self, Exported};
use super::{IndexError, SledIndex};

/// Keys of one page.
const PAGE: usize = 256;
/// Most rounds over the keys written meanwhile, if they do not become fewer.
const ROUNDS: usize = 16;

/// Some keys with their contents.
pub type ExportedPage = Vec<(String, Exported)>;

impl SledIndex {
    /// Sends the index to `pages`, as it was at one moment during the call. Only one export may run at a time.
    ///
    /// # Errors
    /// `Closed` also when the receiver of the pages is dropped; `Failed` when an earlier write failed.
    pub async fn export(&self, pages: mpsc::Sender<ExportedPage>) -> Result<(), IndexError> {
        let _tracking = DirtyKeyTracking::begin(self)?;
        let mut after: Option<String> = None;
        loop {
            let from = after.clone();
            let page = self.read(move |database| database.page(from.as_deref())).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            send(&pages, page).await?;
        }
        for _ in 0..ROUNDS {
            let written = self.database()?.take_dirty_keys();
            let are_few = written.len() < PAGE;
            let mut written: Vec<String> = written.into_iter().collect();
            while !written.is_empty() {
                let some = written.split_off(written.len().saturating_sub(PAGE));
                send(&pages, self.read(move |database| database.exported(some)).await?).await?;
            }
            if are_few {
                break;
            }
        }
        let last = self.read(Database::end_tracking).await?;
        send(&pages, last).await
    }
}

async fn send(pages: &mpsc::Sender<ExportedPage>, page: ExportedPage) -> Result<(), IndexError> {
    pages.send(page).await.map_err(|_| IndexError::Closed)
}

/// The database remembers the keys that are written while this lives.
struct DirtyKeyTracking(std::sync::Arc<Database>);

impl DirtyKeyTracking {
    fn begin(index: &SledIndex) -> Result<Self, IndexError> {
        let database = index.database()?;
        *database.dirty_keys() = Some(HashSet::new());
        Ok(Self(database))
    }
}

impl Drop for DirtyKeyTracking {
    fn drop(&mut self) {
        *self.0.dirty_keys() = None;
    }
}

impl Database {
    /// The next keys behind `after`.
    fn page(&self, after: Option<&str>) -> Result<ExportedPage, IndexError> {
        let first = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.as_bytes().to_vec()));
        let mut keys = Vec::with_capacity(PAGE);
        for pair in self.db.range::<Vec<u8>, _>((first, Bound::Unbounded)) {
            let (key, _) = pair.map_err(value::failed)?;
            // Keys of the index itself, such as pieces of split values, sort behind all keys of callers.
            if key.first() == Some(&b'~') || keys.len() == PAGE {
                break;
            }
            keys.push(String::from_utf8_lossy(&key).into_owned());
        }
        self.exported(keys)
    }

    /// The current contents of these keys.
    fn exported(&self, keys: Vec<String>) -> Result<ExportedPage, IndexError> {
        let with_value = |key: String| value::exported(&self.db, &key).map(|found| (key, found));
        keys.into_iter().map(with_value).collect()
    }

    /// The keys written since the last call.
    fn take_dirty_keys(&self) -> HashSet<String> {
        self.dirty_keys().as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The contents of the keys written last, read while the writer waits; then written keys are no longer remembered.
    fn end_tracking(&self) -> Result<ExportedPage, IndexError> {
        let mut dirty_keys = self.dirty_keys();
        let written = dirty_keys.take().unwrap_or_default();
        self.check_whole()?;
        self.exported(written.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::config::Config;
    use crate::storage::index::Index;
    use crate::storage::index::WriteBatch;

    /// Everything in an index, counters by their number.
    async fn all(index: &SledIndex) -> BTreeMap<String, Exported> {
        let (sender, mut pages) = mpsc::channel(1);
        let reading = async {
            let mut all = BTreeMap::new();
            while let Some(page) = pages.recv().await {
                for (key, found) in page {
                    match found {
                        Exported::Deleted => drop(all.remove(&key)),
                        found @ (Exported::Value(_) | Exported::Counter(_)) => drop(all.insert(key, found)),
                    }
                }
            }
            all
        };
        let (exported, all) = tokio::join!(index.export(sender), reading);
        exported.unwrap();
        all
    }

    /// Each batch moves one unit between two of many counters and renames a value that holds the number of the round, so that
    /// any torn state has another sum, or not exactly one such value.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_export_under_load_is_the_state_of_one_moment() {
        const COUNTERS: u64 = 3_000;
        let folder = tempfile::tempdir().unwrap();
        let index = Arc::new(SledIndex::open(folder.path(), &Config::default().storage).await.unwrap());
        let full = (0..COUNTERS).fold(WriteBatch::new(), |batch, at| batch.add(format!("c/{at:05}"), 5));
        let large = |round: u64| vec![u8::try_from(round % 251).unwrap(); 5_000];
        index.commit(full.put("moved/0", large(0))).await.unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (writing, stopped) = (Arc::clone(&index), Arc::clone(&stop));
        let writer = tokio::spawn(async move {
            let mut round: u64 = 0;
            while !stopped.load(Ordering::Relaxed) {
                let (from, to) = (round * 7_919 % COUNTERS, (round * 104_729 + 1) % COUNTERS);
                let batch = WriteBatch::new().add(format!("c/{from:05}"), -1).add(format!("c/{to:05}"), 1);
                let next = round + 1;
                let batch = batch.delete(format!("moved/{round}")).put(format!("moved/{next}"), large(next));
                writing.write_unsynced(batch).await.unwrap();
                round = next;
            }
            round
        });
        let mut rounds = Vec::new();
        for _ in 0..5 {
            let all = all(&index).await;
            let sum: i64 =
                all.values().map(|found| if let Exported::Counter(n) = found { *n } else { 0 }).sum();
            assert_eq!(sum, i64::try_from(COUNTERS * 5).unwrap());
            let moved: Vec<_> = all.iter().filter(|(key, _)| key.starts_with("moved/")).collect();
            let [(key, found)] = moved[..] else { panic!("{} values", moved.len()) };
            let round: u64 = key["moved/".len()..].parse().unwrap();
            assert_eq!(*found, Exported::Value(large(round)));
            rounds.push(round);
        }
        stop.store(true, Ordering::Relaxed);
        assert!(
            writer.await.unwrap() > rounds[0] && rounds[4] > rounds[0],
            "it was written meanwhile: {rounds:?}"
        );
        index.close().await;
    }
}
