//! Sweeps over many jobs: what they read, what they keep, what a changed retention does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use platen::clock::Timestamp;
use platen::domain::format_opts::Secrets;
use platen::domain::ids::{AccountId, JobId, TemplateId};
use platen::domain::job::JobState;
use platen::jobs::cleanup::sweeper::{Sweeper, Swept};
use platen::jobs::context::JobContext;
use platen::jobs::store::journal::Journal;
use platen::jobs::store::record::JobRecord;
use platen::jobs::store::stored_inputs::StoredInputs;
use platen::jobs::view::Output;
use platen::storage::index::{Entry, Index, IndexError, WriteBatch};
use platen::storage::{StorageKey, Upload};

use crate::service::{TestService, html_spec};

pub const DAY_MS: u64 = 86_400_000;

/// Writes a job that ended at `at`, with its document.
pub async fn keep(service: &TestService, account: AccountId, at: Timestamp) -> JobRecord {
    let record = ended(account, at);
    service.store.put(&output(&record), Bytes::from_static(b"<p>1</p>")).await.unwrap();
    service.journal.commit(&record, WriteBatch::new()).await.unwrap();
    record
}

fn ended(account: AccountId, at: Timestamp) -> JobRecord {
    let spec = html_spec(Secrets::default());
    let mut record = JobRecord::new(account, spec, at);
    record.state = JobState::Done;
    record.started_at = Some(at);
    record.finished_at = Some(at);
    record.output =
        Some(Output { file: None, bytes: 8, render_ms: 1, queue_ms: 1, pages: None, content: None });
    record
}

pub fn output(record: &JobRecord) -> StorageKey {
    StorageKey::JobOutput(record.account, record.id, record.target.file())
}

/// The real index, which counts the entries that are read.
struct Counting {
    index: Arc<dyn Index>,
    read: AtomicU64,
}

impl Counting {
    fn count(&self, entries: usize) {
        self.read.fetch_add(entries as u64, Ordering::SeqCst);
    }
}

#[async_trait]
impl Index for Counting {
    async fn commit(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.index.commit(change).await
    }

    async fn write_unsynced(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.index.write_unsynced(change).await
    }

    async fn sync(&self) -> Result<(), IndexError> {
        self.index.sync().await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        self.count(1);
        self.index.get(key).await
    }

    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        let entries = self.index.scan(prefix, after, limit).await?;
        self.count(entries.len());
        Ok(entries)
    }

    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        let entries = self.index.scan_back(prefix, before, limit).await?;
        self.count(entries.len());
        Ok(entries)
    }

    async fn counter(&self, key: &str) -> Result<i64, IndexError> {
        self.index.counter(key).await
    }

    async fn close(&self) {
        self.index.close().await;
    }
}

/// A sweeper of the service's jobs, and the index it reads from.
fn counted(service: &TestService) -> (Sweeper, Arc<Counting>) {
    let counting = Arc::new(Counting { index: service.index.clone(), read: AtomicU64::new(0) });
    let context = JobContext {
        clock: service.context.clock.clone(),
        journal: Journal::new(counting.clone(), &service.context.limits),
        pipeline: service.context.pipeline.clone(),
        limits: service.context.limits.clone(),
        reserve: service.context.reserve.clone(),
        document_returns: service.context.document_returns.clone(),
        open_jobs: service.context.open_jobs.clone(),
        stored: StoredInputs::new(service.stored.clone()),
    };
    (Sweeper::new(Arc::new(context), service.registry.clone()), counting)
}

#[actix::test]
async fn a_sweep_reads_little_more_than_expired_entries() {
    let service = TestService::build(1, &[]).await;
    let (account, now) = (service.accounts["one"], service.context.clock.now());
    let records: Vec<_> = (0..3_000).map(|number| ended(account, now.plus_ms(number * 1_000))).collect();
    let commits = records.iter().map(|record| service.journal.commit(record, WriteBatch::new()));
    futures_util::future::try_join_all(commits).await.unwrap();
    let (mut sweeper, counting) = counted(&service);
    assert_eq!(sweeper.sweep().await.unwrap(), Swept::default());
    let read = counting.read.swap(0, Ordering::SeqCst);
    assert!(read <= 300, "nothing was due, and {read} entries of 6,000 were read");
    service.pass(7 * DAY_MS + 49_000);
    let swept = sweeper.sweep().await.unwrap().outputs;
    assert!((50..3_000).contains(&swept), "{swept}");
    let read = counting.read.load(Ordering::SeqCst);
    assert!(read <= 2 * swept + 300, "{swept} were due, and {read} entries were read");
}

#[actix::test]
async fn a_sweep_is_bounded_and_the_next_one_continues() {
    let service = TestService::build(1, &[("jobs.sweep_limit", "10")]).await;
    let (account, now) = (service.accounts["one"], service.context.clock.now());
    for number in 0..25 {
        keep(&service, account, now.plus_ms(number)).await;
    }
    service.pass(7 * DAY_MS + 1_000);
    for outputs in [10, 10, 5, 0] {
        assert_eq!(service.sweep().await, Swept { outputs, ..Swept::default() });
    }
    assert_eq!(service.objects().await, 0);
}

#[actix::test]
async fn an_unreadable_record_does_not_block_the_expiry_of_others() {
    let service = TestService::build(1, &[("jobs.sweep_limit", "10")]).await;
    let (account, now) = (service.accounts["one"], service.context.clock.now());
    let mut broken = Vec::new();
    for number in 0..12 {
        let record = keep(&service, account, now.plus_ms(number)).await;
        let key = format!("job/{account}/{}", record.id);
        service.index.commit(WriteBatch::new().put(key, "nonsense")).await.unwrap();
        broken.push(record);
    }
    let good = keep(&service, account, now.plus_ms(100)).await;
    service.pass(7 * DAY_MS + 1_000);
    let swept = service.sweep().await.outputs + service.sweep().await.outputs;
    assert_eq!(swept, 1, "the good one's document goes");
    assert!(service.store.head(&output(&good)).await.is_err());
    for record in &broken {
        assert!(service.store.head(&output(record)).await.is_ok(), "a job that cannot be read is kept");
    }
    // Repaired, it is swept like any other.
    for record in &broken {
        service.journal.commit(record, WriteBatch::new()).await.unwrap();
    }
    service.pass(DAY_MS);
    assert_eq!(service.sweep().await.outputs + service.sweep().await.outputs, 12);
}

#[actix::test]
async fn presigned_uploads_are_swept_once_no_job_needs_them() {
    let service = TestService::build(1, &[]).await;
    let account = service.accounts["one"];
    let waiting = service.init("one", "<p>1", false).await.unwrap().borrow().id;
    let ended = keep(&service, account, service.context.clock.now()).await.id;
    let upload = |upload| StorageKey::Upload(account, upload);
    let (kept, gone) = (
        upload(Upload::Data(waiting)),
        [upload(Upload::Template(ended)), upload(Upload::Data(JobId::generate()))],
    );
    // The garbage collector of templates decides about these.
    let templates = upload(Upload::Content(TemplateId::generate()));
    for key in gone.iter().chain([&kept, &templates]) {
        service.store.put(key, "x".into()).await.unwrap();
    }
    assert_eq!(service.sweep().await.orphans, 0, "an upload may be younger than its job's record");
    service.pass(2 * 3_600_000);
    assert_eq!(service.sweep().await.orphans, 2);
    for key in &gone {
        assert!(service.store.head(key).await.is_err(), "{key}");
    }
    for key in [kept, templates] {
        assert!(service.store.head(&key).await.is_ok(), "{key}");
    }
}

#[actix::test]
async fn a_changed_retention_holds_for_jobs_that_ended_before() {
    let folder = tempfile::tempdir().unwrap();
    let month = ("jobs.output_retention_s", "2592000");
    let service = TestService::open(folder.path(), 1, &[month], None).await;
    let now = service.context.clock.now();
    keep(&service, AccountId::generate(), now).await;
    service.index.close().await;
    drop(service);
    // Document and record expire at the same time, under the same entry.
    let service = TestService::open(folder.path(), 1, &[], None).await;
    service.pass(30 * DAY_MS + 1_000);
    assert_eq!(service.sweep().await, Swept { outputs: 1, ..Swept::default() });
    assert_eq!(service.sweep().await, Swept { records: 1, ..Swept::default() });
    assert_eq!((service.objects().await, service.keys().await), (0, Vec::new()));
    keep(&service, AccountId::generate(), now.plus_ms(30 * DAY_MS)).await;
    service.index.close().await;
    drop(service);
    // A longer retention than when the job ended: nothing is deleted early, and the entry is renamed.
    let service = TestService::open(folder.path(), 1, &[month], None).await;
    service.pass(38 * DAY_MS);
    assert_eq!(service.sweep().await, Swept::default());
    service.pass(23 * DAY_MS);
    service.sweep().await;
    assert_eq!((service.objects().await, service.keys().await), (0, Vec::new()));
}
