//! One behaviour suite for every object store; a store joins by one test like that of the disk store.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use platen::domain::ids::{AccountId, JobId};
use platen::domain::kinds::FileKind;
use platen::storage::disk::DiskStore;
use platen::storage::{ByteRange, Folder, ObjectReader, ObjectStore, StorageKey, StoreError};
use strum::VariantArray as _;

pub(crate) const LIMIT: u64 = 64 << 20;

pub(crate) type Store = Arc<dyn ObjectStore>;

pub(crate) fn data_key() -> StorageKey {
    StorageKey::JobData(AccountId::generate(), JobId::generate())
}

/// Bytes that differ at every place, so that a chunk put wrong is seen.
pub(crate) fn pattern(length: usize) -> Bytes {
    (0..length).map(|at| u8::try_from((at * 31 + at / 251) % 256).unwrap()).collect()
}

pub(crate) async fn collect(mut reader: ObjectReader) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(chunk) = reader.chunks.next().await {
        bytes.extend_from_slice(&chunk.unwrap());
    }
    bytes
}

pub(crate) async fn assert_store_contract(store: Store) {
    puts_and_gets(&store).await;
    reads_ranges(&store).await;
    stages_and_commits(&store).await;
    keeps_the_limit(&store).await;
    replaces_at_once(&store).await;
    copies(&store).await;
    deletes_repeatably(&store).await;
    survives_writers_of_one_key(&store).await;
    survives_writers_beside_deleters(&store).await;
    lists_in_order(&store).await;
    deletes_many(&store).await;
    store.probe().await.unwrap();
}

async fn puts_and_gets(store: &Store) {
    for length in [0, 1, 65_536, 300_000] {
        let (key, bytes) = (data_key(), pattern(length));
        assert!(matches!(store.head(&key).await, Err(StoreError::NotFound(_))));
        let put = store.put(&key, bytes.clone()).await.unwrap();
        assert_eq!(put.bytes, length as u64);
        assert_eq!(store.head(&key).await.unwrap(), put);
        assert_eq!(store.get(&key, LIMIT).await.unwrap(), bytes);
        assert_eq!(store.get(&key, length as u64).await.unwrap(), bytes);
        let whole = store.open(&key, None).await.unwrap();
        assert_eq!((whole.start, whole.length, &whole.meta), (0, length as u64, &put));
        assert_eq!(collect(whole).await, bytes);
    }
    let key = data_key();
    assert!(matches!(store.get(&key, LIMIT).await, Err(StoreError::NotFound(_))));
    assert!(matches!(store.open(&key, None).await, Err(StoreError::NotFound(_))));
    store.put(&key, pattern(10)).await.unwrap();
    assert!(matches!(store.get(&key, 9).await, Err(StoreError::TooLarge { limit_bytes: 9 })));
}

async fn reads_ranges(store: &Store) {
    let (key, bytes) = (data_key(), pattern(1_000_000));
    store.put(&key, bytes.clone()).await.unwrap();
    let inside = [
        (ByteRange::From(0, Some(0)), 0..1),
        (ByteRange::From(999_999, None), 999_999..1_000_000),
        (ByteRange::From(10, Some(700_000)), 10..700_001),
        (ByteRange::From(400_000, None), 400_000..1_000_000),
        (ByteRange::From(5, Some(u64::MAX)), 5..1_000_000),
        (ByteRange::Last(1), 999_999..1_000_000),
        (ByteRange::Last(2_000_000), 0..1_000_000),
    ];
    for (range, expected) in inside {
        let reader = store.open(&key, Some(range)).await.unwrap();
        assert_eq!(reader.start, expected.start as u64, "{range:?}");
        assert_eq!(reader.length, expected.len() as u64, "{range:?}");
        assert_eq!(reader.meta.bytes, 1_000_000);
        assert_eq!(collect(reader).await, bytes[expected], "{range:?}");
    }
    let outside = [
        ByteRange::From(1_000_000, None),
        ByteRange::From(u64::MAX, None),
        ByteRange::From(5, Some(4)),
        ByteRange::Last(0),
    ];
    for range in outside {
        let refused = store.open(&key, Some(range)).await.err();
        assert!(matches!(refused, Some(StoreError::Range { bytes: 1_000_000 })), "{range:?}: {refused:?}");
    }
    let empty = data_key();
    store.put(&empty, Bytes::new()).await.unwrap();
    let refused = store.open(&empty, Some(ByteRange::From(0, None))).await.err();
    assert!(matches!(refused, Some(StoreError::Range { bytes: 0 })));
}

async fn stages_and_commits(store: &Store) {
    let (key, bytes) = (data_key(), pattern(700_001));
    let mut staged = store.stage(LIMIT).await.unwrap();
    for chunk in bytes.chunks(10_007) {
        staged.write(Bytes::copy_from_slice(chunk)).await.unwrap();
        assert!(matches!(store.head(&key).await, Err(StoreError::NotFound(_))));
    }
    let meta = staged.commit(&key).await.unwrap();
    assert_eq!(meta.bytes, bytes.len() as u64);
    assert_eq!(store.get(&key, LIMIT).await.unwrap(), bytes);

    let empty = data_key();
    assert_eq!(store.stage(LIMIT).await.unwrap().commit(&empty).await.unwrap().bytes, 0);
    assert_eq!(store.get(&empty, LIMIT).await.unwrap(), Bytes::new());
}

async fn keeps_the_limit(store: &Store) {
    let key = data_key();
    let mut exact = store.stage(100).await.unwrap();
    exact.write(pattern(60)).await.unwrap();
    exact.write(pattern(40)).await.unwrap();
    assert_eq!(exact.commit(&key).await.unwrap().bytes, 100);

    let key = data_key();
    let mut more = store.stage(100).await.unwrap();
    more.write(pattern(100)).await.unwrap();
    let refused = more.write(pattern(1)).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { limit_bytes: 100 })));
    assert!(matches!(more.commit(&key).await, Err(StoreError::TooLarge { limit_bytes: 100 })));
    assert!(matches!(store.head(&key).await, Err(StoreError::NotFound(_))));
}

async fn replaces_at_once(store: &Store) {
    let (key, first, second) = (data_key(), pattern(2_000_000), Bytes::from(vec![9; 2_000_000]));
    let before = store.put(&key, first.clone()).await.unwrap();
    let reader = store.open(&key, None).await.unwrap();
    let after = store.put(&key, second.clone()).await.unwrap();
    assert_ne!(before.etag, after.etag);
    assert_eq!(collect(reader).await, first, "a reader in flight reads what it opened");
    assert_eq!(store.get(&key, LIMIT).await.unwrap(), second);

    let mut seen = std::collections::HashSet::new();
    for number in 0..200_u8 {
        let meta = store.put(&key, Bytes::from(vec![number])).await.unwrap();
        assert!(seen.insert(meta.etag), "the etag of write {number} was there before");
    }
}

async fn copies(store: &Store) {
    let (from, to) = (data_key(), data_key());
    assert!(
        matches!(store.copy(&from, &to).await, Err(StoreError::NotFound(path)) if path == from.to_string())
    );
    store.put(&from, pattern(300_000)).await.unwrap();
    store.put(&to, pattern(7)).await.unwrap();
    assert_eq!(store.copy(&from, &to).await.unwrap().bytes, 300_000);
    assert_eq!(store.get(&to, LIMIT).await.unwrap(), pattern(300_000));
    store.put(&from, pattern(9)).await.unwrap();
    assert_eq!(store.get(&to, LIMIT).await.unwrap(), pattern(300_000), "a copy is an object of its own");
    store.copy(&to, &to).await.unwrap();
    store.delete(&from).await.unwrap();
    assert_eq!(store.get(&to, LIMIT).await.unwrap(), pattern(300_000));
    store.delete(&to).await.unwrap();
}

async fn deletes_repeatably(store: &Store) {
    let key = data_key();
    store.delete(&key).await.unwrap();
    store.put(&key, pattern(10)).await.unwrap();
    store.delete(&key).await.unwrap();
    store.delete(&key).await.unwrap();
    assert!(matches!(store.head(&key).await, Err(StoreError::NotFound(_))));
    store.put(&key, pattern(11)).await.unwrap();
    assert_eq!(store.head(&key).await.unwrap().bytes, 11);
}

async fn deletes_many(store: &Store) {
    let keys: Vec<_> = (0..5).map(|_| data_key()).collect();
    for key in &keys[1..] {
        store.put(key, pattern(10)).await.unwrap();
    }
    store.delete_all(&keys).await.unwrap();
    for key in &keys {
        assert!(matches!(store.head(key).await, Err(StoreError::NotFound(_))));
    }
    store.delete_all(&keys).await.unwrap();
    store.delete_all(&[]).await.unwrap();
}

async fn survives_writers_of_one_key(store: &Store) {
    let key = data_key();
    let writers = (0..8_u8).map(|number| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for _ in 0..10 {
                store.put(&key, Bytes::from(vec![number; 100_000])).await.unwrap();
                let seen = store.get(&key, LIMIT).await.unwrap();
                assert_eq!(seen.len(), 100_000);
                assert!(seen.iter().all(|byte| *byte == seen[0]), "one writer's bytes only");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

async fn survives_writers_beside_deleters(store: &Store) {
    let (account, job) = (AccountId::generate(), JobId::generate());
    let turns = [StorageKey::JobData(account, job), StorageKey::JobTemplate(account, job)].map(|key| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for _ in 0..100 {
                store.put(&key, Bytes::from_static(b"x")).await.unwrap();
                store.delete(&key).await.unwrap();
            }
        })
    });
    for turn in turns {
        while !turn.is_finished() {
            store.list(Folder::Jobs, None, 100).await.unwrap();
        }
        turn.await.unwrap();
    }
}

/// Whatever else the store holds: what is listed in pieces is what is listed at once.
async fn lists_in_order(store: &Store) {
    let mut keys = Vec::new();
    for _ in 0..3 {
        let account = AccountId::generate();
        for _ in 0..4 {
            let job = JobId::generate();
            keys.push(StorageKey::JobData(account, job));
            keys.push(StorageKey::JobTemplate(account, job));
            keys.push(StorageKey::JobOutput(account, job, FileKind::Html));
        }
    }
    for key in &keys {
        store.put(key, pattern(1)).await.unwrap();
    }
    for &folder in Folder::VARIANTS {
        let whole = store.list(folder, None, usize::MAX).await.unwrap();
        let mine = keys.iter().filter(|key| key.folder() == folder);
        assert!(mine.clone().all(|key| whole.contains(key)));
        assert!(
            whole.is_sorted_by_key(ToString::to_string) && whole.iter().all(|key| key.folder() == folder)
        );
        for limit in [1, 5] {
            let (mut pieces, mut after) = (Vec::new(), None);
            loop {
                let piece = store.list(folder, after, limit).await.unwrap();
                assert!(piece.len() <= limit);
                let Some(last) = piece.last() else { break };
                after = Some(*last);
                pieces.extend(piece);
            }
            assert_eq!(pieces, whole, "{limit} at a time");
        }
        // A position whose object is deleted is still a valid position.
        if let [first, second, ..] = whole.as_slice() {
            store.delete(first).await.unwrap();
            assert_eq!(store.list(folder, Some(*first), 1).await.unwrap(), [*second]);
        }
    }
}

/// Every file and folder below `root`, as paths from there.
fn tree(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(root).unwrap().display().to_string());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

async fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come about in ten seconds");
        tokio::time::sleep(Duration::from_millis(2)).await; // poll
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_disk_keeps_the_contract_of_stores() {
    let root = tempfile::tempdir().unwrap();
    assert_store_contract(Arc::new(DiskStore::open(root.path().join("objects")).await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_staging_leaves_nothing_on_the_disk() {
    let root = tempfile::tempdir().unwrap();
    let store = DiskStore::open(root.path().to_owned()).await.unwrap();
    let mut staged = store.stage(LIMIT).await.unwrap();
    staged.write(pattern(600_000)).await.unwrap();
    assert_eq!(tree(root.path()).len(), 2, "the staging folder and the staged file");
    drop(staged);
    until(|| tree(root.path()) == [".staging"]).await;
}

#[tokio::test]
async fn staged_files_of_a_killed_run_are_removed_at_the_next_start() {
    let root = tempfile::tempdir().unwrap();
    let store = DiskStore::open(root.path().to_owned()).await.unwrap();
    let key = data_key();
    store.put(&key, pattern(10)).await.unwrap();
    std::fs::write(root.path().join(".staging/half"), b"half").unwrap();
    let store = DiskStore::open(root.path().to_owned()).await.unwrap();
    assert!(!root.path().join(".staging/half").exists());
    assert_eq!(store.head(&key).await.unwrap().bytes, 10);
}

#[tokio::test]
async fn the_last_object_of_a_job_takes_the_jobs_folder_with_it() {
    let root = tempfile::tempdir().unwrap();
    let store = DiskStore::open(root.path().to_owned()).await.unwrap();
    let (account, job) = (AccountId::generate(), JobId::generate());
    let (data, template) = (StorageKey::JobData(account, job), StorageKey::JobTemplate(account, job));
    let output = StorageKey::JobOutput(account, job, FileKind::Pdf);
    for key in [data, template, output] {
        store.put(&key, pattern(10)).await.unwrap();
    }
    store.delete(&data).await.unwrap();
    assert!(root.path().join(format!("jobs/{account}/{job}")).exists());
    store.delete(&template).await.unwrap();
    assert!(!root.path().join(format!("jobs/{account}/{job}")).exists());
    store.delete(&output).await.unwrap();
    store.probe().await.unwrap();
    let left = [
        ".staging".to_owned(),
        "jobs".to_owned(),
        format!("jobs/{account}"),
        "outputs".to_owned(),
        format!("outputs/{account}"),
        "probes".to_owned(),
    ];
    assert_eq!(tree(root.path()), left);
}

#[tokio::test]
async fn empty_folders_are_removed_by_a_list_or_the_next_start() {
    let root = tempfile::tempdir().unwrap();
    let store = DiskStore::open(root.path().to_owned()).await.unwrap();
    let (key, gone) = (data_key(), data_key());
    for key in [key, gone] {
        store.put(&key, pattern(10)).await.unwrap();
    }
    let file = root.path().join(gone.to_string());
    // A crash between a deletion and that of the folder.
    std::fs::remove_file(&file).unwrap();
    let job = file.parent().unwrap();
    assert_eq!(store.list(Folder::Jobs, None, 100).await.unwrap(), [key]);
    assert!(!job.exists() && job.parent().unwrap().exists());
    store.put(&gone, pattern(10)).await.unwrap();
    store.delete(&gone).await.unwrap();
    let store = DiskStore::open(root.path().to_owned()).await.unwrap();
    assert!(!job.parent().unwrap().exists());
    assert_eq!(store.list(Folder::Jobs, None, 100).await.unwrap(), [key]);
}
