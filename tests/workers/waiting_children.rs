//! Children that wait for a file of another host: jobs of others go on.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use platen::domain::ids::AccountId;
use platen::telemetry::metrics::Metrics;
use platen::workers::{FileSource, Job, Pool, PoolSettings, SuppliedFile, WorkerError};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::pool::{ANSWER, LISTEN, READY, settings};
use crate::processes::{starter, until};

/// Asks for the file `x`, and waits until something of it comes.
const ASK: &str = r#"printf '\x0c\0\0\0\0\0\0\0\0\0\0\0{"want":"x"}'; head -c 1 > /dev/null; "#;

/// A file on a host that answers when the test permits.
struct RemoteFile(Semaphore);

#[async_trait]
impl FileSource for RemoteFile {
    async fn file(&self, _name: &str) -> Result<SuppliedFile, String> {
        drop(self.0.acquire().await);
        Ok(file())
    }

    fn is_remote(&self, _name: &str) -> bool {
        true
    }
}

fn file() -> SuppliedFile {
    SuppliedFile { content: Bytes::from_static(b"x"), made: None }
}

async fn run(pool: &Pool, account: AccountId, files: &dyn FileSource) -> Result<(u32, Bytes), WorkerError> {
    let body = [Bytes::from_static(b"some bytes that make the frame long enough")];
    let header = json!({"what": "a job"});
    pool.run(account, Job { header: &header, body: &body, files, environment: &[] }).await
}

#[tokio::test]
async fn children_waiting_for_a_host_block_no_other_job() {
    let metrics = Metrics::new().children;
    let script = format!("{READY}{LISTEN}{ASK}{ANSWER} sleep 60");
    let alone = PoolSettings { processes: 1, waiting: 1, ..settings(&script, 0) };
    let pool = Pool::new(starter(), alone, metrics.clone());
    let level = |state| metrics.children.of(["test", state]).get();
    let ends = |end| metrics.jobs.of(["test", end]).get();
    let (far, slow) = (Arc::new(RemoteFile(Semaphore::new(0))), AccountId::generate());
    let waiting = |account| {
        let (pool, far) = (pool.clone(), Arc::clone(&far));
        tokio::spawn(async move { run(&pool, account, &*far).await })
    };
    let near = async || run(&pool, AccountId::generate(), &|_: &str| Some(file())).await.unwrap();

    let first = waiting(slow);
    until("it waits", || level("waiting") == 1).await;
    near().await;
    // One job more than the account may have waiting: it gets no child before another one ends.
    let second = waiting(slow);
    until("it is put off", || ends("put_off") == 1).await;
    let others = waiting(AccountId::generate());
    until("another account's waits as well", || level("waiting") == 2).await;
    near().await;
    assert_eq!((level("waiting"), level("working"), ends("put_off")), (2, 0, 1));

    // A cancelled job passes its permit to wait on to the next job of its account.
    first.abort();
    until("the second waits in its place", || ends("abandoned") == 1 && level("waiting") == 2).await;
    near().await;
    far.0.add_permits(1);
    for job in [second, others] {
        assert_eq!(job.await.unwrap().unwrap().0, 1);
    }
    until("all are gone", || level("waiting") == 0 && level("working") == 0).await;
    assert_eq!((ends("answered"), ends("abandoned"), ends("put_off")), (5, 1, 1));
}
