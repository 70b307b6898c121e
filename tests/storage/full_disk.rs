//! The index on a disk that is full: it says so, keeps what it acknowledged, and goes on when there is space again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use platen::config::{Config, StorageConfig};
use platen::storage::index::{Index, IndexError, SledIndex, WriteBatch};

use crate::small_disk::{SmallDisk, rerun_in_mount_namespace};

/// Longer than any answer takes.
const SOON: Duration = Duration::from_secs(20);

fn config(free_limit_bytes: u64) -> StorageConfig {
    StorageConfig { free_limit_bytes, ..Config::default().storage }
}

async fn open(path: &Path, free_limit_bytes: u64) -> Result<Arc<dyn Index>, IndexError> {
    let index = SledIndex::open(path, &config(free_limit_bytes)).await?;
    Ok(Arc::new(index))
}

async fn commit(index: &dyn Index, change: WriteBatch) -> Result<(), IndexError> {
    tokio::time::timeout(SOON, index.commit(change)).await.expect("an answer comes soon")
}

fn assert_full(refused: &IndexError, path: &Path) {
    assert!(matches!(refused, IndexError::Full { .. }), "{refused:?}");
    let text = refused.to_string();
    assert!(text.contains(path.to_str().unwrap()) && text.contains("free some space"), "{text}");
    assert!(!text.contains("rebuild") && !text.contains("backup"), "{text}");
}

/// A folder, a disk mounted over it, and the path of an index on it.
fn disk(mib: u64) -> (tempfile::TempDir, SmallDisk, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::over(folder.path(), mib);
    let path = folder.path().join("index");
    (folder, disk, path)
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_space_again() {
    if rerun_in_mount_namespace("full_disk::a_full_disk_refuses_writes_until_there_is_space_again").is_some()
    {
        return;
    }
    let (_folder, disk, path) = disk(64);
    let index = open(&path, 4 << 20).await.unwrap();
    commit(&*index, WriteBatch::new().put("job/1", "one").add("used", 1)).await.unwrap();
    for left_bytes in [3 << 20, 0] {
        disk.fill(left_bytes);
        for _ in 0..3 {
            let refused =
                commit(&*index, WriteBatch::new().put("job/2", "two").add("used", 1)).await.unwrap_err();
            assert_full(&refused, &path);
        }
        assert_full(&index.write_unsynced(WriteBatch::new().delete("job/1")).await.unwrap_err(), &path);
        assert_full(&index.sync().await.unwrap_err(), &path);
        assert_eq!(index.get("job/1").await.unwrap().unwrap(), b"one");
        assert_eq!(index.scan("job/", None, 10).await.unwrap().len(), 1);
        assert_eq!(index.counter("used").await.unwrap(), 1);
        disk.clear();
        commit(&*index, WriteBatch::new().put("job/1", "one")).await.unwrap();
    }
    index.close().await;
}

#[tokio::test]
async fn a_change_that_is_too_large_is_refused_without_the_small_ones_beside_it() {
    if rerun_in_mount_namespace(
        "full_disk::a_change_that_is_too_large_is_refused_without_the_small_ones_beside_it",
    )
    .is_some()
    {
        return;
    }
    let (_folder, disk, path) = disk(64);
    let index = open(&path, 0).await.unwrap();
    commit(&*index, WriteBatch::new().put("job/1", "one")).await.unwrap();
    disk.fill(8 << 20);
    let large = (0..40).fold(WriteBatch::new(), |large, at| large.put(format!("large/{at}"), value(at)));
    let small = (0..20).map(|at| commit(&*index, WriteBatch::new().put(format!("small/{at:02}"), "1")));
    // They wait together and are written as one group.
    let (large, small) = tokio::join!(commit(&*index, large), futures_util::future::join_all(small));
    assert_full(&large.unwrap_err(), &path);
    assert!(small.iter().all(Result::is_ok), "{small:?}");
    assert_eq!(index.scan("small/", None, 100).await.unwrap().len(), 20);
    assert_eq!(index.scan("large/", None, 100).await.unwrap().len(), 0);
    index.close().await;
}

/// What was acknowledged last under each of some keys.
#[derive(Default)]
struct Acknowledged {
    last: BTreeMap<String, usize>,
    count: usize,
}

impl Acknowledged {
    /// Writes `number` under one of the keys; whether it was taken.
    async fn write(&mut self, index: &dyn Index, path: &Path, number: usize) -> bool {
        let key = format!("value/{:02}", number % 40);
        let change = WriteBatch::new().put(key.clone(), value(number)).add("count", 1);
        let outcome = commit(index, change).await;
        if let Err(refused) = &outcome {
            assert_full(refused, path);
            return false;
        }
        self.last.insert(key, number);
        self.count += 1;
        true
    }

    async fn assert_kept(&self, index: &dyn Index) {
        assert_eq!(index.counter("count").await.unwrap(), i64::try_from(self.count).unwrap());
        let found = index.scan("value/", None, 100).await.unwrap();
        assert_eq!(found.len(), self.last.len());
        for entry in found {
            assert!(entry.value == value(self.last[&entry.key]), "{} is another one", entry.key);
        }
    }
}

fn value(number: usize) -> Vec<u8> {
    number.to_le_bytes().repeat(12_500)
}

#[tokio::test]
async fn a_disk_that_others_fill_meanwhile_breaks_nothing() {
    if rerun_in_mount_namespace("full_disk::a_disk_that_others_fill_meanwhile_breaks_nothing").is_some() {
        return;
    }
    let (_folder, disk, path) = disk(96);
    // Nothing must stay free: what is written has its space beforehand, or is refused.
    let index = open(&path, 0).await.unwrap();
    let mut kept = Acknowledged::default();
    // Filled while changes are written, again and again: each time until one is refused, and cleared until one is not.
    let (tell, announced) = mpsc::channel();
    let filling = std::thread::spawn(move || {
        let wait_for = |taken: bool| announced.iter().any(|was_taken| was_taken == taken);
        loop {
            disk.fill(0);
            let is_over = !wait_for(false);
            disk.clear();
            if is_over || !wait_for(true) {
                return disk;
            }
        }
    });
    let (mut number, mut turns, mut last) = (0, 0, true);
    while turns < 12 {
        let was_taken = kept.write(&*index, &path, number).await;
        if was_taken != last {
            tell.send(was_taken).unwrap();
            turns += 1;
        }
        (number, last) = (number + 1, was_taken);
    }
    drop(tell);
    let _disk = filling.join().unwrap();
    println!("{} of {number} changes were taken", kept.count);
    kept.assert_kept(&*index).await;
    index.close().await;
    drop(index);
    kept.assert_kept(&*open(&path, 0).await.unwrap()).await;
}

#[tokio::test]
async fn a_full_disk_at_the_start_is_no_damage() {
    if rerun_in_mount_namespace("full_disk::a_full_disk_at_the_start_is_no_damage").is_some() {
        return;
    }
    let (folder, disk, path) = disk(32);
    let new = folder.path().join("new");
    let mut refused = 0;
    for (round, left_bytes) in [500_000, 12_288, 4_096, 0, 0].into_iter().enumerate() {
        let index = open(&path, 1 << 20).await.unwrap();
        let change = (0..400).fold(WriteBatch::new(), |change, number| {
            change.put(format!("job/{round}/{number}"), vec![7; 2_000 + number])
        });
        commit(&*index, change).await.unwrap();
        index.close().await;
        drop(index);
        disk.fill(left_bytes);
        for _ in 0..2 {
            match open(&path, 1 << 20).await {
                Ok(index) => index.close().await,
                Err(error) => {
                    assert_full(&error, &path);
                    refused += 1;
                }
            }
        }
        assert_full(&open(&new, 1 << 20).await.err().expect("there is no space"), &new);
        disk.clear();
    }
    assert!(refused > 0, "sled opens an index without writing now");
    let index = open(&path, 1 << 20).await.unwrap();
    assert_eq!(index.scan("job/", None, 5_000).await.unwrap().len(), 5 * 400);
    open(&new, 1 << 20).await.unwrap();
}
