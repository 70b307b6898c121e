//! Kills and starves a process that writes, then looks at what it had acknowledged.
//!
//! Each test runs twice: as itself, and (with a variable in its environment) in a child process as the writer.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use platen::config::{Config, StorageConfig};
use platen::domain::ids::{AccountId, JobId};
use platen::storage::disk::DiskStore;
use platen::storage::index::{Index, SledIndex, WriteBatch};
use platen::storage::{ObjectStore, StorageKey, StoreError};

const FOLDER: &str = "PLATEN_TEST_WRITER_FOLDER";
const WRITERS: usize = 8;

/// The folder to write in, when this process is the child.
fn written_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// This test again, as the writer; `limit_blocks` bounds the size of its files (512 bytes each).
fn start_writer(test: &str, folder: &Path, limit_blocks: Option<u32>) -> Child {
    let limit = limit_blocks.map_or_else(String::new, |blocks| format!("ulimit -f {blocks};"));
    Command::new("/bin/sh")
        .args(["-c", &format!("trap '' XFSZ; {limit} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn config() -> StorageConfig {
    Config::default().storage
}

/// Says on stdout, past the test harness, that something is done.
fn acknowledge(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ack {line}").and_then(|()| out.flush()).unwrap();
}

/// The child: commits records of all sizes with a counter beside them, from several tasks at once.
async fn write_until_killed(folder: PathBuf) {
    let index: Arc<dyn Index> = Arc::new(SledIndex::open(&folder, &config()).await.unwrap());
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let first = index.counter(&format!("count/{writer}")).await.unwrap();
        let index = Arc::clone(&index);
        writers.push(tokio::spawn(async move {
            for number in first.. {
                let value = vec![b'x'; usize::try_from(number % 7).unwrap() * 1_500];
                let change = WriteBatch::new()
                    .put(format!("record/{writer}/{number:09}"), value)
                    .put(format!("latest/{writer}"), number.to_string())
                    .add(format!("count/{writer}"), 1);
                match index.commit(change).await {
                    Ok(()) => acknowledge(&format!("{writer} {number}")),
                    Err(error) => return acknowledge(&format!("error {error}")),
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Reads acknowledgements until there are `enough` or the child ends; the last number of each writer.
fn acknowledged(child: &mut Child, enough: usize) -> (HashMap<usize, i64>, Vec<String>) {
    let (mut last, mut errors) = (HashMap::new(), Vec::new());
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    for line in lines.filter_map(|line| line.split_once("ack ").map(|(_, ack)| ack.to_owned())).take(enough) {
        if let Some(error) = line.strip_prefix("error ") {
            errors.push(error.to_owned());
        } else {
            let (writer, number) = line.split_once(' ').unwrap();
            last.insert(writer.parse().unwrap(), number.parse().unwrap());
        }
    }
    (last, errors)
}

/// Everything acknowledged is there, and nothing is there by half.
async fn assert_whole(folder: &Path, last: &HashMap<usize, i64>) {
    let index = SledIndex::open(folder, &config()).await.unwrap();
    for writer in 0..WRITERS {
        let count = index.counter(&format!("count/{writer}")).await.unwrap();
        let acknowledged = last.get(&writer).map_or(0, |number| number + 1);
        assert!(count >= acknowledged, "writer {writer}: {acknowledged} acknowledged, {count} there");
        let records = index.scan(&format!("record/{writer}/"), None, usize::MAX).await.unwrap();
        assert_eq!(records.len(), usize::try_from(count).unwrap(), "writer {writer}: records and counter");
        for (number, record) in records.iter().enumerate() {
            assert_eq!(record.key, format!("record/{writer}/{number:09}"));
            assert_eq!(record.value.len(), number % 7 * 1_500, "{}", record.key);
        }
        let latest = index.get(&format!("latest/{writer}")).await.unwrap();
        let latest = latest.map(|text| String::from_utf8(text).unwrap());
        assert_eq!(latest, (count > 0).then(|| (count - 1).to_string()), "writer {writer}");
    }
    index.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_loses_no_acknowledged_commit_and_leaves_no_half() {
    if let Some(folder) = written_folder() {
        return write_until_killed(folder).await;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("index");
    for round in 1..=5 {
        let test = "crash::kill_9_loses_no_acknowledged_commit_and_leaves_no_half";
        let mut child = start_writer(test, &folder, None);
        let (last, errors) = acknowledged(&mut child, round * 157);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(last.len(), WRITERS, "round {round}: every writer got an acknowledgement");
        assert_whole(&folder, &last).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_cannot_grow_is_an_error_and_loses_nothing() {
    if let Some(folder) = written_folder() {
        return write_until_killed(folder).await;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("index");
    SledIndex::open(&folder, &config()).await.unwrap().close().await;
    let test = "crash::a_log_that_cannot_grow_is_an_error_and_loses_nothing";
    let mut child = start_writer(test, &folder, Some(8_192));
    let (last, errors) = acknowledged(&mut child, usize::MAX);
    let _ended_as_it_may = child.wait().unwrap();
    assert_eq!(errors.len(), WRITERS, "every writer got an answer: {errors:?}");
    for error in errors {
        assert!(error.contains("the index failed: "), "{error}");
    }
    assert_whole(&folder, &last).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_does_not_fit_the_disk_is_an_error_and_leaves_nothing() {
    if let Some(folder) = written_folder() {
        return write_beyond_the_file_limit(&folder).await;
    }
    let root = tempfile::tempdir().unwrap();
    let test = "crash::an_object_that_does_not_fit_the_disk_is_an_error_and_leaves_nothing";
    let child = start_writer(test, root.path(), Some(8_192)).wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{message}");
    assert!(message.contains("ack refused"), "{message}");
}

/// The child, whose files may have 4 MiB.
async fn write_beyond_the_file_limit(folder: &Path) {
    let store = DiskStore::open(folder.to_owned()).await.unwrap();
    let key = StorageKey::JobData(AccountId::generate(), JobId::generate());
    store.put(&key, Bytes::from_static(b"old")).await.unwrap();
    let refused = store.put(&key, Bytes::from(vec![1; 5 << 20])).await.unwrap_err();
    assert!(matches!(refused, StoreError::Failed(_)), "{refused}");
    assert!(refused.to_string().contains("there is no space left: free some"), "{refused}");
    let mut staged = store.stage(1 << 30).await.unwrap();
    let mut outcome = Ok(());
    while outcome.is_ok() {
        outcome = staged.write(Bytes::from(vec![2; 100_000])).await;
    }
    assert!(matches!(outcome, Err(StoreError::Failed(_))));
    drop(staged);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::fs::read_dir(folder.join(".staging")).unwrap().count() > 0 {
        assert!(std::time::Instant::now() < deadline, "the half objects are still there");
        tokio::time::sleep(std::time::Duration::from_millis(2)).await; // poll
    }
    assert_eq!(store.get(&key, 10).await.unwrap().as_ref(), b"old");
    acknowledge("refused");
}
