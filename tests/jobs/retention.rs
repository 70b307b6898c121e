//! Sweeps over many jobs: what they read, what they leave alone, what a crash in one leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use platen::clock::Timestamp;
use platen::domain::format_opts::Secrets;
use platen::domain::ids::{AccountId, JobId, TemplateId};
use platen::domain::job::JobState;
use platen::domain::kinds::{Target, TemplateKind};
use platen::jobs::cleanup::sweeper::{Sweeper, Swept};
use platen::jobs::context::Deps;
use platen::jobs::messages::JobSpec;
use platen::jobs::store::journal::Journal;
use platen::jobs::store::record::JobRecord;
use platen::jobs::store::stored_inputs::StoredInputs;
use platen::jobs::view::Output;
use platen::storage::index::{Entry, Index, IndexError, WriteBatch};
use platen::storage::{StorageKey, Upload};

use crate::house::House;

pub const DAY_MS: u64 = 86_400_000;

/// A job that has ended at `at` with a document that is in the store.
pub async fn keep(house: &House, account: AccountId, at: Timestamp) -> JobRecord {
    let record = ended(account, at);
    house.store.put(&output(&record), Bytes::from_static(b"<p>1</p>")).await.unwrap();
    house.journal.commit(&record, WriteBatch::new()).await.unwrap();
    record
}

fn ended(account: AccountId, at: Timestamp) -> JobRecord {
    let spec = JobSpec {
        kind: TemplateKind::Html,
        target: Target::Html,
        template: None,
        preview: false,
        format_opts: None,
        secrets: Secrets::default(),
    };
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

/// The real index, and how many entries were read from it.
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

/// A sweeper of the house's jobs, and the index it reads from.
fn counted(house: &House) -> (Sweeper, Arc<Counting>) {
    let counting = Arc::new(Counting { index: house.index.clone(), read: AtomicU64::new(0) });
    let deps = Deps {
        clock: house.deps.clock.clone(),
        journal: Journal::new(counting.clone(), &house.deps.limits),
        parts: house.deps.parts.clone(),
        limits: house.deps.limits.clone(),
        reserve: house.deps.reserve.clone(),
        returns: house.deps.returns.clone(),
        open: house.deps.open.clone(),
        stored: StoredInputs::new(house.stored.clone()),
    };
    (Sweeper::new(Arc::new(deps), house.registry.clone()), counting)
}

#[actix::test]
async fn a_sweep_reads_what_is_due_and_little_else() {
    let house = House::build(1, &[]).await;
    let (account, now) = (house.accounts["one"], house.deps.clock.now());
    let records: Vec<_> = (0..3_000).map(|number| ended(account, now.plus_ms(number * 1_000))).collect();
    let commits = records.iter().map(|record| house.journal.commit(record, WriteBatch::new()));
    futures_util::future::try_join_all(commits).await.unwrap();
    let (mut sweeper, counting) = counted(&house);
    assert_eq!(sweeper.sweep().await.unwrap(), Swept::default());
    let read = counting.read.swap(0, Ordering::SeqCst);
    assert!(read <= 300, "nothing was due, and {read} entries of 6,000 were read");
    house.pass(7 * DAY_MS + 49_000);
    let swept = sweeper.sweep().await.unwrap().outputs;
    assert!((50..3_000).contains(&swept), "{swept}");
    let read = counting.read.load(Ordering::SeqCst);
    assert!(read <= 2 * swept + 300, "{swept} were due, and {read} entries were read");
}

#[actix::test]
async fn a_sweep_has_its_bound_and_the_next_one_goes_on() {
    let house = House::build(1, &[("jobs.sweep_limit", "10")]).await;
    let (account, now) = (house.accounts["one"], house.deps.clock.now());
    for number in 0..25 {
        keep(&house, account, now.plus_ms(number)).await;
    }
    house.pass(7 * DAY_MS + 1_000);
    for outputs in [10, 10, 5, 0] {
        assert_eq!(house.sweep().await, Swept { outputs, ..Swept::default() });
    }
    assert_eq!(house.objects().await, 0);
}

#[actix::test]
async fn a_record_that_cannot_be_read_holds_up_no_other() {
    let house = House::build(1, &[("jobs.sweep_limit", "10")]).await;
    let (account, now) = (house.accounts["one"], house.deps.clock.now());
    let mut broken = Vec::new();
    for number in 0..12 {
        let record = keep(&house, account, now.plus_ms(number)).await;
        let key = format!("job/{account}/{}", record.id);
        house.index.commit(WriteBatch::new().put(key, "nonsense")).await.unwrap();
        broken.push(record);
    }
    let good = keep(&house, account, now.plus_ms(100)).await;
    house.pass(7 * DAY_MS + 1_000);
    let swept = house.sweep().await.outputs + house.sweep().await.outputs;
    assert_eq!(swept, 1, "the good one's document goes");
    assert!(house.store.head(&output(&good)).await.is_err());
    for record in &broken {
        assert!(house.store.head(&output(record)).await.is_ok(), "what nobody understands stays");
    }
    // Repaired, it is swept like any other.
    for record in &broken {
        house.journal.commit(record, WriteBatch::new()).await.unwrap();
    }
    house.pass(DAY_MS);
    assert_eq!(house.sweep().await.outputs + house.sweep().await.outputs, 12);
}

#[actix::test]
async fn uploads_that_lie_apart_go_when_their_job_needs_them_no_more() {
    let house = House::build(1, &[]).await;
    let account = house.accounts["one"];
    let waiting = house.init("one", "<p>1", false).await.unwrap().borrow().id;
    let ended = keep(&house, account, house.deps.clock.now()).await.id;
    let upload = |upload| StorageKey::Upload(account, upload);
    let (kept, gone) = (
        upload(Upload::Data(waiting)),
        [upload(Upload::Template(ended)), upload(Upload::Data(JobId::generate()))],
    );
    // Whether a template is saved the janitor knows.
    let templates = upload(Upload::Content(TemplateId::generate()));
    for key in gone.iter().chain([&kept, &templates]) {
        house.store.put(key, "x".into()).await.unwrap();
    }
    assert_eq!(house.sweep().await.orphans, 0, "an upload may be younger than its job's record");
    house.pass(2 * 3_600_000);
    assert_eq!(house.sweep().await.orphans, 2);
    for key in &gone {
        assert!(house.store.head(key).await.is_err(), "{key}");
    }
    for key in [kept, templates] {
        assert!(house.store.head(&key).await.is_ok(), "{key}");
    }
}

#[actix::test]
async fn another_retention_counts_for_what_is_kept_already() {
    let folder = tempfile::tempdir().unwrap();
    let month = ("jobs.output_retention_s", "2592000");
    let house = House::open(folder.path(), 1, &[month], None).await;
    let now = house.deps.clock.now();
    keep(&house, AccountId::generate(), now).await;
    house.index.close().await;
    drop(house);
    // The document's time is over now; so is the record's, whose entry has the name of the other's.
    let house = House::open(folder.path(), 1, &[], None).await;
    house.pass(30 * DAY_MS + 1_000);
    assert_eq!(house.sweep().await, Swept { outputs: 1, ..Swept::default() });
    assert_eq!(house.sweep().await, Swept { records: 1, ..Swept::default() });
    assert_eq!((house.objects().await, house.keys().await), (0, Vec::new()));
    keep(&house, AccountId::generate(), now.plus_ms(30 * DAY_MS)).await;
    house.index.close().await;
    drop(house);
    // Longer than when it ended: nothing goes early, and the entry moves.
    let house = House::open(folder.path(), 1, &[month], None).await;
    house.pass(38 * DAY_MS);
    assert_eq!(house.sweep().await, Swept::default());
    house.pass(23 * DAY_MS);
    house.sweep().await;
    assert_eq!((house.objects().await, house.keys().await), (0, Vec::new()));
}
