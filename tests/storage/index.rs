//! What the index promises: changes whole or not at all, order, counters, large values, clear refusals.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use platen::config::{Config, StorageConfig};
use platen::storage::index::{Entry, Index, IndexError, SledIndex, WriteBatch};

fn config() -> StorageConfig {
    Config::default().storage
}

pub(crate) async fn open(path: &Path) -> Arc<dyn Index> {
    Arc::new(SledIndex::open(path, &config()).await.unwrap())
}

fn keys(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.key.as_str()).collect()
}

#[tokio::test]
async fn commits_are_there_after_reopening() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    index.commit(WriteBatch::new().put("job/1", "one").put("job/2", "two").add("usage/a", 2)).await.unwrap();
    index
        .write_unsynced(WriteBatch::new().put("job/1", "uno").delete("job/2").add("usage/a", -5))
        .await
        .unwrap();
    assert_eq!(index.get("job/1").await.unwrap().unwrap(), b"uno");
    index.close().await;
    assert!(matches!(index.get("job/1").await, Err(IndexError::Closed)));
    assert!(matches!(index.commit(WriteBatch::new().put("a", "b")).await, Err(IndexError::Closed)));

    let index = open(root.path()).await;
    assert_eq!(index.get("job/1").await.unwrap().unwrap(), b"uno");
    assert_eq!(index.get("job/2").await.unwrap(), None);
    assert_eq!(index.counter("usage/a").await.unwrap(), -3);
    assert_eq!(index.counter("usage/b").await.unwrap(), 0);
}

#[tokio::test]
async fn scans_go_both_ways_and_stay_inside_the_prefix() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let change =
        ["a/9", "b/1", "b/2", "b/3", "b/4", "c/1"].iter().fold(WriteBatch::new(), |c, k| c.put(*k, *k));
    index.commit(change).await.unwrap();
    let forth = |after, limit| index.scan("b/", after, limit);
    let back = |before, limit| index.scan_back("b/", before, limit);
    assert_eq!(keys(&forth(None, 10).await.unwrap()), ["b/1", "b/2", "b/3", "b/4"]);
    assert_eq!(keys(&forth(Some("b/2"), 1).await.unwrap()), ["b/3"]);
    assert_eq!(keys(&forth(Some("a"), 1).await.unwrap()), ["b/1"]);
    assert!(forth(Some("b/4"), 10).await.unwrap().is_empty());
    assert!(forth(Some("z"), 10).await.unwrap().is_empty());
    assert_eq!(keys(&back(None, 3).await.unwrap()), ["b/4", "b/3", "b/2"]);
    assert_eq!(keys(&back(Some("b/3"), 10).await.unwrap()), ["b/2", "b/1"]);
    assert_eq!(keys(&back(Some("z"), 1).await.unwrap()), ["b/4"]);
    assert!(back(Some("b/1"), 10).await.unwrap().is_empty());
    assert!(back(Some("a"), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn large_values_come_back_whole_and_leave_nothing_when_they_go() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let large =
        |seed: u8, length: usize| (0..=u8::MAX).cycle().skip(seed.into()).take(length).collect::<Vec<_>>();
    for length in [2_048, 2_049, 100_000, 1_000_000] {
        index.commit(WriteBatch::new().put("record", large(1, length))).await.unwrap();
        assert_eq!(index.get("record").await.unwrap().unwrap(), large(1, length));
        index.commit(WriteBatch::new().put("record", large(2, length))).await.unwrap();
        index.commit(WriteBatch::new().put("record", large(2, length))).await.unwrap();
        let found = index.scan("", None, 10).await.unwrap();
        assert_eq!(found, [Entry { key: "record".to_owned(), value: large(2, length) }]);
    }
    index.commit(WriteBatch::new().put("record", "small")).await.unwrap();
    index.commit(WriteBatch::new().delete("record")).await.unwrap();
    index.close().await;
    let deadline = Instant::now() + Duration::from_secs(10);
    let database = loop {
        // A child process that another test is starting may hold the lock for a moment more.
        match sled::open(root.path()) {
            Ok(database) => break database,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(database.len(), 1, "the mark of the index and no piece");
}

/// sled puts pages that are too large into files of their own that are never synced: none may appear.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_value_makes_sled_write_a_file_apart() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let key = |number: usize| format!("{:0>160}", number * 7_919 % 1_000);
    for number in 0..600 {
        let length = if number % 3 == 0 { 2_048 } else { 60_000 };
        index.write_unsynced(WriteBatch::new().put(key(number), vec![7; length + number])).await.unwrap();
    }
    for number in (0..600).filter(|number| number % 5 != 0) {
        index.write_unsynced(WriteBatch::new().delete(key(number))).await.unwrap();
    }
    for number in 0..600 {
        index.write_unsynced(WriteBatch::new().put(key(number), vec![8; 2_048])).await.unwrap();
    }
    index.commit(WriteBatch::new().put("last", "one")).await.unwrap();
    let apart = std::fs::read_dir(root.path().join("blobs")).unwrap().count();
    assert_eq!(apart, 0, "files in blobs/ are not synced");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn additions_from_many_at_once_are_all_counted() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let adders = (0..32_i64).map(|number| {
        let index = Arc::clone(&index);
        tokio::spawn(async move {
            for _ in 0..20 {
                index
                    .commit(WriteBatch::new().add("usage/a", 1).put(format!("job/{number}"), "x"))
                    .await
                    .unwrap();
            }
        })
    });
    for adder in adders.collect::<Vec<_>>() {
        adder.await.unwrap();
    }
    assert_eq!(index.counter("usage/a").await.unwrap(), 640);
}

#[tokio::test]
async fn steps_of_a_batch_apply_in_order() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let large = vec![7; 100_000];
    index.commit(WriteBatch::new().add("n", 3).put("v", large)).await.unwrap();
    // Sent at once, so that the writer takes them together.
    let deleted = index.commit(WriteBatch::new().delete("n").delete("v"));
    let counted = index.commit(WriteBatch::new().add("n", 5).add("v", 1));
    let (deleted, counted) = tokio::join!(deleted, counted);
    deleted.and(counted).unwrap();
    assert_eq!(index.counter("n").await.unwrap(), 5, "it begins anew");
    assert_eq!(index.counter("v").await.unwrap(), 1);
    let put = index.commit(WriteBatch::new().put("v", "value"));
    let wrong = index.commit(WriteBatch::new().add("v", 1).put("beside", "1"));
    let (put, wrong) = tokio::join!(put, wrong);
    put.unwrap();
    assert!(wrong.unwrap_err().to_string().contains("'v' is not a counter"));
    assert_eq!(index.get("v").await.unwrap().unwrap(), b"value", "an addition takes no value away");
    assert_eq!(index.get("beside").await.unwrap(), None);
    let both = index.commit(WriteBatch::new().put("v", "other").add("v", 1)).await;
    assert!(both.unwrap_err().to_string().contains("'v' is not a counter"));
    assert_eq!(index.get("v").await.unwrap().unwrap(), b"value");
    assert_eq!(index.scan("", None, 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn keys_and_values_it_cannot_take_are_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let long = "k".repeat(161);
    for key in ["", "~own", "white space", "umläut", long.as_str()] {
        let refused = index.commit(WriteBatch::new().put("good", "1").put(key, "2")).await;
        assert!(matches!(refused, Err(IndexError::Refused { .. })), "{key}: {refused:?}");
    }
    let refused = index.commit(WriteBatch::new().put("large", vec![0; (4 << 20) + 1])).await.unwrap_err();
    assert!(refused.to_string().contains("'large'"), "{refused}");
    assert_eq!(index.get("good").await.unwrap(), None, "a refused change is refused whole");
}

#[tokio::test]
async fn opening_an_index_twice_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    let refused = SledIndex::open(root.path(), &config()).await.err().unwrap();
    assert!(matches!(refused, IndexError::InUse(_)), "{refused}");
    assert!(refused.to_string().contains("the data folder is in use by another platen"), "{refused}");
    index.close().await;
    SledIndex::open(root.path(), &config()).await.unwrap();
}

#[tokio::test]
async fn files_that_cannot_be_read_are_named_and_never_taken_for_an_empty_index() {
    for (file, content) in [("conf", "x".repeat(100)), ("db", "y".repeat(2_000_000))] {
        let root = tempfile::tempdir().unwrap();
        open(root.path()).await.close().await;
        std::fs::write(root.path().join(file), &content).unwrap();
        for _ in 0..2 {
            let refused = SledIndex::open(root.path(), &config()).await.err().unwrap();
            assert!(matches!(refused, IndexError::Damaged { .. }), "{refused}");
            assert!(refused.to_string().contains(root.path().to_str().unwrap()), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_snapshot_half_written_by_a_killed_start_is_no_damage() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    index.commit(WriteBatch::new().put("job/1", "one")).await.unwrap();
    let torn = root.path().join("snap.00000000FFFFFFFF.generating");
    std::fs::write(&torn, "half").unwrap();
    let refused = SledIndex::open(root.path(), &config()).await.err().unwrap();
    assert!(
        matches!(refused, IndexError::InUse(_)) && torn.exists(),
        "who has it may be writing it: {refused}"
    );
    index.close().await;
    assert_eq!(open(root.path()).await.get("job/1").await.unwrap().unwrap(), b"one");
    assert!(!torn.exists());
}

#[tokio::test]
async fn a_half_written_snapshot_is_removed_once_another_process_has_released_the_lock() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    index.commit(WriteBatch::new().put("job/1", "one")).await.unwrap();
    index.close().await;
    drop(index);
    let torn = root.path().join("snap.00000000FFFFFFFF.generating");
    std::fs::write(&torn, "half").unwrap();
    let other = std::fs::File::open(root.path().join("db")).unwrap();
    other.lock().unwrap();
    let folder = root.path().to_owned();
    let opening = tokio::spawn(async move { SledIndex::open(&folder, &config()).await });
    for _ in 0..15 {
        assert!(!opening.is_finished(), "it waits for the lock");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await; // poll
    }
    drop(other);
    let index = opening.await.unwrap().unwrap();
    assert_eq!(index.get("job/1").await.unwrap().unwrap(), b"one");
    assert!(!torn.exists());
}

#[tokio::test]
async fn a_disk_with_too_little_space_refuses_writes_and_still_reads() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    index.commit(WriteBatch::new().put("job/1", "one")).await.unwrap();
    index.close().await;
    let greedy = StorageConfig { free_limit_bytes: 1 << 50, ..config() };
    let index = SledIndex::open(root.path(), &greedy).await.unwrap();
    let refused = index.commit(WriteBatch::new().put("job/2", "two")).await.unwrap_err();
    assert!(matches!(refused, IndexError::Full { .. }), "{refused}");
    assert_eq!(index.get("job/1").await.unwrap().unwrap(), b"one");
    assert_eq!(index.get("job/2").await.unwrap(), None);
}

#[tokio::test]
async fn a_batch_that_fails_does_not_fail_those_written_with_it() {
    let root = tempfile::tempdir().unwrap();
    let index = open(root.path()).await;
    index.commit(WriteBatch::new().put("text", "no number")).await.unwrap();
    let wrong = index.commit(WriteBatch::new().add("text", 1).put("beside", "1"));
    let good = (0..20).map(|number| index.commit(WriteBatch::new().put(format!("good/{number:02}"), "1")));
    let (wrong, good) = tokio::join!(wrong, futures_util::future::join_all(good));
    assert!(wrong.unwrap_err().to_string().contains("'text' is not a counter"));
    assert!(good.iter().all(Result::is_ok), "{good:?}");
    assert_eq!(index.scan("good/", None, 100).await.unwrap().len(), 20);
    assert_eq!(index.get("beside").await.unwrap(), None);
}
