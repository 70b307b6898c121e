//! The store in a bucket: against our strict server, through a failing proxy, and against Swift.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use platen::config::{Config, S3Config};
use platen::storage::index::Index;
use platen::storage::s3::S3Store;
use platen::storage::{Folder, ObjectStore, StagedObject, StoreError};

use crate::contract::{LIMIT, assert_store_contract, collect, data_key, pattern};
use crate::index;
use crate::objects::proxy::{Mode, Proxy};
use crate::objects::swift::{self, SwiftServer};
use crate::objects::{ACCESS_KEY, BUCKET, ObjectServer, SECRET_KEY};

/// The settings of a bucket at `endpoint`, with timeouts short enough for tests.
pub(crate) fn settings(endpoint: &str, changes: &[(&str, &str)]) -> S3Config {
    let fixed = [
        ("endpoint", endpoint),
        ("bucket", BUCKET),
        ("access_key", ACCESS_KEY),
        ("secret_key", SECRET_KEY),
        ("path_style", "true"),
        ("retry_pause_ms", "20"),
        ("stall_timeout_ms", "1000"),
    ];
    let variable =
        |&(key, value): &(&str, &str)| (format!("PLATEN__S3__{}", key.to_uppercase()), value.to_owned());
    Config::load(None, fixed.iter().chain(changes).map(variable)).unwrap().s3
}

pub(crate) async fn open(config: &S3Config, folder: &Path) -> S3Store {
    S3Store::open(config, folder.join("spool"), 0).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_keeps_the_contract_of_stores() {
    let root = tempfile::tempdir().unwrap();
    let server = ObjectServer::start(&root.path().join("server"));
    assert_store_contract(Arc::new(open(&settings(&server.endpoint(), &[]), root.path()).await)).await;
    let spooling = settings(&server.endpoint(), &[("prefix", "below/here/"), ("spool_bytes", "65536")]);
    assert_store_contract(Arc::new(open(&spooling, root.path()).await)).await;
    assert!(!server.objects("below/here/jobs").is_empty(), "everything lies below the prefix");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_of_swift_keeps_the_contract_of_stores() {
    let root = tempfile::tempdir().unwrap();
    let server = SwiftServer::start(&root.path().join("server"));
    let keys = [("access_key", swift::ACCESS_KEY), ("stall_timeout_ms", "10000")];
    assert_store_contract(Arc::new(open(&settings(&server.endpoint, &keys), root.path()).await)).await;
}

/// A store behind a proxy, with its server and folder.
struct StoreBehindProxy {
    store: S3Store,
    proxy: Proxy,
    server: ObjectServer,
    root: tempfile::TempDir,
}

impl StoreBehindProxy {
    async fn with(changes: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let server = ObjectServer::start(&root.path().join("server"));
        let proxy = Proxy::before(server.address);
        let store = open(&settings(&proxy.endpoint(), changes), root.path()).await;
        Self { store, proxy, server, root }
    }

    fn spooled(&self) -> usize {
        std::fs::read_dir(self.root.path().join("spool/.staging")).unwrap().count()
    }

    async fn staged(&self, bytes: &Bytes) -> Box<dyn StagedObject> {
        let mut staged = self.store.stage(LIMIT).await.unwrap();
        for chunk in bytes.chunks(100_003) {
            staged.write(Bytes::copy_from_slice(chunk)).await.unwrap();
        }
        staged
    }
}

/// Sets a mode while `work` is under way, until it met something, and then lets everything pass.
async fn while_it<T>(proxy: &Proxy, mode: Mode, work: impl Future<Output = T>) -> T {
    proxy.set(mode);
    let before = proxy.met.load(Ordering::Relaxed);
    let heal = async {
        let deadline = Instant::now() + Duration::from_secs(20);
        while proxy.met.load(Ordering::Relaxed) == before {
            assert!(Instant::now() < deadline, "nothing came along");
            tokio::time::sleep(Duration::from_millis(1)).await; // poll
        }
        proxy.set(Mode::Pass);
    };
    tokio::join!(work, heal).0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_fails_for_a_moment_is_retried() {
    let fixture = StoreBehindProxy::with(&[("spool_bytes", "65536")]).await;
    let bytes = pattern(3_000_000);
    for mode in [Mode::Fail, Mode::Cut(500_000), Mode::Cut(0), Mode::Hang] {
        let (key, copy) = (data_key(), data_key());
        let staged = fixture.staged(&bytes).await;
        assert_eq!(fixture.spooled(), 1, "a large object waits in a file");
        while_it(&fixture.proxy, mode, staged.commit(&key)).await.unwrap();
        let read = while_it(&fixture.proxy, mode, fixture.store.get(&key, LIMIT)).await.unwrap();
        assert_eq!(read, bytes, "{mode:?}");
        let copied = fixture.store.copy(&key, &copy);
        // Small requests have no half a megabyte to be cut behind.
        let mode = if mode == Mode::Cut(500_000) { Mode::Cut(10) } else { mode };
        assert_eq!(while_it(&fixture.proxy, mode, copied).await.unwrap().bytes, 3_000_000);
        while_it(&fixture.proxy, mode, fixture.store.delete(&key)).await.unwrap();
        assert!(matches!(fixture.store.head(&key).await, Err(StoreError::NotFound(_))));
        while_it(&fixture.proxy, mode, fixture.store.list(Folder::Jobs, None, 10)).await.unwrap();
    }
    assert_eq!(fixture.spooled(), 0, "nothing stays behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_stays_away_is_reported_in_time_and_keeps_nothing() {
    let patience = [
        ("retries", "1"),
        ("stall_timeout_ms", "500"),
        ("answer_timeout_ms", "500"),
        ("spool_bytes", "65536"),
    ];
    let fixture = StoreBehindProxy::with(&patience).await;
    let (key, bytes) = (data_key(), pattern(1_000_000));
    let there = data_key();
    fixture.store.put(&there, pattern(9)).await.unwrap();
    for mode in [Mode::Fail, Mode::Cut(0), Mode::Hang] {
        let staged = fixture.staged(&bytes).await;
        fixture.proxy.set(mode);
        let began = Instant::now();
        let outcomes = [
            staged.commit(&key).await.map(drop),
            fixture.store.get(&there, LIMIT).await.map(drop),
            fixture.store.head(&there).await.map(drop),
            fixture.store.list(Folder::Jobs, None, 10).await.map(drop),
            fixture.store.copy(&there, &key).await.map(drop),
            fixture.store.delete(&there).await,
            fixture.store.probe().await,
        ];
        assert!(began.elapsed() < Duration::from_secs(20), "{mode:?}: {:?}", began.elapsed());
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(
                matches!(&error, StoreError::Failed(cause) if cause.kind() == ErrorKind::NetworkDown),
                "{error:?}"
            );
            let error = error.to_string();
            assert!(
                error.contains(&fixture.proxy.address.to_string()) && error.contains("'documents'"),
                "{error}"
            );
            assert!(!error.contains(SECRET_KEY) && !error.contains("Signature"), "{error}");
        }
        fixture.proxy.set(Mode::Pass);
        assert!(
            matches!(fixture.store.head(&key).await, Err(StoreError::NotFound(_))),
            "not there, not by half"
        );
        assert_eq!(fixture.store.get(&there, LIMIT).await.unwrap(), pattern(9), "it comes back by itself");
        assert_eq!(fixture.spooled(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_transfer_is_not_given_up_while_bytes_move() {
    let fixture = StoreBehindProxy::with(&[
        ("retries", "0"),
        ("stall_timeout_ms", "2000"),
        ("answer_timeout_ms", "4000"),
    ])
    .await;
    let (key, bytes) = (data_key(), pattern(12_000_000));
    fixture.proxy.set(Mode::Slow);
    let began = Instant::now();
    fixture.staged(&bytes).await.commit(&key).await.unwrap();
    assert_eq!(collect(fixture.store.open(&key, None).await.unwrap()).await, bytes);
    assert!(began.elapsed() > Duration::from_secs(6), "longer than any limit: {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_that_breaks_off_says_so() {
    let fixture = StoreBehindProxy::with(&[("retries", "0")]).await;
    let (key, bytes) = (data_key(), pattern(4_000_000));
    fixture.store.put(&key, bytes).await.unwrap();
    // Another client has a connection of its own, over which nothing has passed.
    let store = open(&settings(&fixture.proxy.endpoint(), &[("retries", "0")]), fixture.root.path()).await;
    fixture.proxy.set(Mode::Cut(1_000_000));
    let mut reader = store.open(&key, None).await.unwrap();
    let mut outcome = Ok(0);
    while let Some(chunk) = reader.chunks.next().await {
        outcome = chunk.map(|chunk| chunk.len());
    }
    assert!(matches!(outcome, Err(StoreError::Failed(_))), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_request_names_the_setting_and_is_not_taken_for_a_missing_object() {
    let fixture = StoreBehindProxy::with(&[]).await;
    let endpoint = fixture.server.endpoint();
    for (changes, words) in [
        ([("secret_key", "another")], "check s3.secret_key"),
        ([("access_key", "nobody")], "s3.access_key"),
        ([("bucket", "elsewhere")], "no bucket 'elsewhere'"),
    ] {
        let store = open(&settings(&endpoint, &changes), fixture.root.path()).await;
        let began = Instant::now();
        let mut outcomes = vec![store.list(Folder::Jobs, None, 1).await.map(drop)];
        // This server makes a bucket that it is asked to put something into.
        if changes[0].0 != "bucket" {
            outcomes.push(store.put(&data_key(), pattern(1)).await.map(drop));
            outcomes.push(store.get(&data_key(), LIMIT).await.map(drop));
            outcomes.push(store.copy(&data_key(), &data_key()).await.map(drop));
        }
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(matches!(&error, StoreError::Failed(_)) && error.to_string().contains(words), "{error}");
            assert!(!error.to_string().contains("another"), "{error}");
        }
        if changes[0].0 != "bucket" {
            let error = store.head(&data_key()).await.unwrap_err();
            assert!(matches!(&error, StoreError::Failed(_)), "403 is not 404: {error}");
        }
        assert!(began.elapsed() < Duration::from_secs(5), "what is refused is not repeated");
    }
    drop(fixture.server);
    let error = fixture.store.without_retries().head(&data_key()).await.unwrap_err().to_string();
    assert!(error.contains("s3.endpoint"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_objects_than_a_page_has_are_listed_and_deleted() {
    let fixture = StoreBehindProxy::with(&[]).await;
    let mut keys: Vec<_> = (0..1_105).map(|_| data_key()).collect();
    for some in keys.chunks(32) {
        let puts = some.iter().map(|key| fixture.store.put(key, Bytes::from_static(b"x")));
        futures_util::future::try_join_all(puts).await.unwrap();
    }
    keys.sort_by_key(ToString::to_string);
    assert_eq!(fixture.store.list(Folder::Jobs, None, usize::MAX).await.unwrap(), keys);
    assert_eq!(fixture.store.list(Folder::Jobs, Some(keys[49]), 1_020).await.unwrap(), keys[50..1_070]);
    fixture.store.delete_all(&keys).await.unwrap();
    assert_eq!(fixture.store.list(Folder::Jobs, None, 1).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_listed_in_the_bucket_of_another_index() {
    let fixture = StoreBehindProxy::with(&[("retries", "0")]).await;
    let [first, second] = ["first", "second"].map(|name| fixture.root.path().join(name));
    let indexes = [index::open(&first).await, index::open(&second).await];
    let of = async |index: &Arc<dyn Index>| fixture.store.clone().belonging_to(&**index).await.unwrap();
    let list =
        async |store: &S3Store| store.list(Folder::Jobs, None, 10).await.map_err(|error| error.to_string());
    let key = data_key();
    fixture.store.put(&key, pattern(9)).await.unwrap();
    let (first, second) = (of(&indexes[0]).await, of(&indexes[1]).await);
    // A store that is not there stops no start, and gets no name.
    fixture.proxy.set(Mode::Fail);
    second.check_at_start().await.unwrap();
    second.claim(&*indexes[1]).await.unwrap();
    fixture.proxy.set(Mode::Pass);
    assert!(list(&second).await.unwrap_err().contains("does not bear the name"));
    first.check_at_start().await.unwrap();
    first.claim(&*indexes[0]).await.unwrap();
    assert_eq!(list(&first).await.unwrap(), [key]);
    first.probe().await.unwrap();
    let another = "belongs to another index";
    assert!(second.check_at_start().await.unwrap_err().to_string().contains(another));
    assert!(second.claim(&*indexes[1]).await.unwrap_err().to_string().contains(another));
    for error in [list(&second).await.unwrap_err(), second.probe().await.unwrap_err().to_string()] {
        assert!(error.contains(another), "{error}");
    }
    // Taken over by the second index, then once more by it, as a copy of that index would: the former owner is refused.
    for round in 0..2 {
        let before = if round == 0 { of(&indexes[0]).await } else { of(&indexes[1]).await };
        let after = fixture.store.clone().taken_over(&*indexes[1]).await.unwrap();
        assert_eq!(list(&after).await.unwrap(), [key]);
        assert!(list(&before).await.unwrap_err().contains(another), "at once, without a restart");
    }
    let again = of(&indexes[1]).await;
    again.check_at_start().await.unwrap();
    assert_eq!(list(&again).await.unwrap(), [key], "the name lasts");
    // When the bucket's owner file is gone, neither index takes the bucket again by itself.
    std::fs::remove_file(fixture.root.path().join("server").join(BUCKET).join("owner/index")).unwrap();
    let stale = of(&indexes[0]).await;
    for store in [&stale, &again] {
        assert!(store.check_at_start().await.unwrap_err().to_string().contains("does not bear the name"));
        assert!(list(store).await.unwrap_err().contains("does not bear the name"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_404_of_a_proxy_is_not_taken_for_a_missing_object() {
    let fixture = StoreBehindProxy::with(&[("retries", "0")]).await;
    let key = data_key();
    fixture.store.put(&key, pattern(9)).await.unwrap();
    fixture.proxy.set(Mode::NotFound);
    let outcomes = [
        fixture.store.head(&key).await.map(drop),
        fixture.store.get(&key, LIMIT).await.map(drop),
        fixture.store.copy(&key, &data_key()).await.map(drop),
        fixture.store.delete(&key).await,
        fixture.store.delete_all(&[key, data_key(), data_key()]).await,
        fixture.store.list(Folder::Jobs, None, 10).await.map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    }
}
