//! What must be so after a fault: of jobs, their objects, and what their account counts.

use std::collections::BTreeMap;

use platen::domain::error::ErrorCode;
use platen::domain::job::JobState;
use platen::jobs::cleanup::sweeper::Swept;
use platen::jobs::store::record::{JobRecord, SecretHalf};
use platen::storage::StorageKey;
use platen::storage::index::WriteBatch;

use crate::fault_file::until;
use crate::faults::operation::{Case, Operation};
use crate::retention::DAY_MS;
use crate::service::TestService;

impl TestService {
    pub async fn records(&self) -> Vec<JobRecord> {
        let mut records = Vec::new();
        for entry in self.index.scan("job/", None, usize::MAX).await.unwrap() {
            let mut ids = entry.key.split('/').skip(1);
            let (account, job) = (ids.next().unwrap().parse().unwrap(), ids.next().unwrap().parse().unwrap());
            records.extend(self.journal.read(account, job).await.unwrap());
        }
        records
    }

    /// Every object that a record names is there, at any moment.
    pub async fn assert_named_are_there(&self, when: &str) {
        for record in self.records().await {
            for key in named(&record) {
                if self.store.head(&key).await.is_ok() {
                    continue;
                }
                // It may have ended between the look at its record and that at its object.
                let now = self.journal.read(record.account, record.id).await.unwrap();
                let is_named = now.is_some_and(|now| named(&now).contains(&key));
                assert!(!is_named, "{when}: {key} is named and gone: {record:?}");
            }
        }
    }

    /// The marks of the index are those of the records that are there, and the counts in memory agree with them.
    pub async fn assert_counted(&self, when: &str) {
        let (account, records) = (self.accounts["one"], self.records().await);
        let started = |record: &JobRecord| matches!(record.state, JobState::Queued | JobState::Running);
        if records.iter().any(started) {
            // It goes on meanwhile.
            return;
        }
        let open = records.iter().filter(|record| record.state == JobState::Initialized);
        assert_eq!(self.open_jobs.count(account), open.clone().count() as u64, "{when}: open jobs");
        let marks = async |prefix: &str| self.index.scan(prefix, None, usize::MAX).await.unwrap().len();
        assert_eq!(marks("open/").await, open.clone().count(), "{when}: marks of open jobs");
        assert_eq!(marks("live/").await, 0, "{when}: marks of started jobs");
        assert_eq!(marks("due/").await, records.len(), "{when}: entries of what is due");
        let mut stored = 0;
        for record in open {
            for key in [StorageKey::JobTemplate(account, record.id), StorageKey::JobData(account, record.id)]
            {
                stored += self.store.head(&key).await.map_or(0, |meta| meta.bytes);
            }
            for entry in self.index.scan(&format!("input/{}/", record.id), None, 2).await.unwrap() {
                stored += entry.value.len() as u64;
            }
        }
        assert_eq!(self.stored.used(account), stored, "{when}: stored bytes");
    }

    /// Documents that the account has used, as the index counts them; the present period's number in memory is the same.
    pub async fn documents(&self, when: &str) -> usize {
        let prefix = format!("usage/{}/", self.accounts["one"]);
        let entries = self.index.scan(&prefix, None, usize::MAX).await.unwrap();
        let counted =
            entries.iter().map(|entry| i64::from_le_bytes(entry.value.as_slice().try_into().unwrap()));
        let counted: Vec<_> = counted.map(|count| usize::try_from(count).unwrap()).collect();
        assert_eq!(self.used().await, counted.last().copied().unwrap_or(0), "{when}: documents in memory");
        counted.iter().sum()
    }

    /// Waits until what was left to the background is done: objects that nobody names are deleted, and their entries.
    pub async fn background(&self) {
        until(async || self.index.scan("gone/", None, 1).await.unwrap().is_empty()).await;
        // The last step is seen a moment before it ends. It ends before a sync that comes behind it.
        drop(self.index.sync().await);
    }

    /// Whether the index takes no more writes until the next start.
    pub async fn is_index_broken(&self) -> bool {
        self.index.commit(WriteBatch::new().delete("nothing")).await.is_err()
    }

    /// A template that was uploaded is there whole, and counts.
    pub async fn assert_template_is_whole(&self, case: &Case, when: &str) {
        for record in self.records().await {
            let key = StorageKey::JobTemplate(record.account, record.id);
            let Ok(there) = self.store.get(&key, 1 << 20).await else { continue };
            let is_whole = case.templates.iter().any(|template| there == template.as_bytes());
            assert!(is_whole, "{when}: {there:?}");
            let used = self.stored.used(record.account);
            assert!(
                record.state.is_final() || record.started_at.is_some() || used >= there.len() as u64,
                "{when}: {used}"
            );
        }
    }

    /// Starts what is not started, waits for all ends, and compares the documents. Answers how many documents were made.
    pub async fn finish(&self, (operation, case): (Operation, &Case), may_fail: bool, when: &str) -> usize {
        let mut made = 0;
        for record in self.records().await {
            let view = self.find(&record).await;
            if record.state == JobState::Initialized {
                self.start(&view).await.unwrap_or_else(|problem| panic!("{when}: {problem:?}"));
            }
            let ended = self.ended(&view).await;
            let record = self.record(&view).await;
            let times = [Some(record.created_at), record.started_at, record.run_at, record.finished_at];
            assert!(times.into_iter().flatten().is_sorted(), "{when}: {times:?}");
            match record.state {
                JobState::Done if operation == Operation::SweepDocument => assert!(record.output.is_none()),
                JobState::Done => {
                    let output = ended.output.as_ref().unwrap();
                    let document = self.store.get(&record.output_key(), 1 << 20).await.unwrap();
                    assert_eq!(document.len() as u64, output.bytes, "{when}");
                    let document = String::from_utf8(document.to_vec()).unwrap();
                    assert!(case.templates.contains(&document), "{when}: {document}");
                    made += 1;
                }
                JobState::Failed => {
                    let error = record.error.as_ref().unwrap();
                    let is_of_store =
                        error.code == ErrorCode::Internal && error.message.contains("could not");
                    assert!(may_fail && is_of_store, "{when}: {error:?}");
                    assert!(record.output.is_none(), "{when}: {record:?}");
                }
                JobState::Initialized
                | JobState::Queued
                | JobState::Running
                | JobState::Cancelled
                | JobState::Expired => {
                    assert!(record.output.is_none(), "{when}: ended with a document: {record:?}");
                }
            }
        }
        made
    }

    /// The state that an operation leads to, once nothing keeps it from that.
    pub async fn assert_done(&self, operation: Operation, case: &Case, when: &str) {
        let record = match case.job {
            Some(job) => self.journal.read(self.accounts["one"], job).await.unwrap(),
            None => self.records().await.pop(),
        };
        let state = record.as_ref().map(|record| record.state);
        match operation {
            Operation::Init | Operation::InitLarge | Operation::InitWithKey => {
                assert_eq!(self.records().await.len(), 1, "{when}: one job");
                assert_eq!(state, Some(JobState::Initialized), "{when}");
            }
            Operation::Immediate | Operation::Run => {
                assert!(state.is_some_and(|state| state != JobState::Initialized), "{when}: {state:?}");
            }
            Operation::Upload | Operation::UploadAgain => {
                assert_eq!(state, Some(JobState::Initialized), "{when}");
                let key = StorageKey::JobTemplate(record.as_ref().unwrap().account, record.unwrap().id);
                let there = self.store.get(&key, 1 << 20).await.unwrap();
                assert_eq!(there, case.templates.last().unwrap(), "{when}");
            }
            Operation::CancelOpen | Operation::CancelRunning => {
                assert_eq!(state, Some(JobState::Cancelled), "{when}");
            }
            Operation::Delete | Operation::SweepRecord => assert_eq!(state, None, "{when}"),
            Operation::Expire => assert_eq!(state, Some(JobState::Expired), "{when}"),
            Operation::SweepDocument => assert!(record.unwrap().output.is_none(), "{when}"),
        }
    }

    /// Sweeps until nothing is due any more.
    pub async fn sweep_all(&self) {
        let mut sweeper = self.sweeper();
        while sweeper.sweep().await.unwrap() != Swept::default() {}
    }

    /// Lets everything expire: then nothing is left.
    pub async fn assert_nothing_stays(&self, when: &str) {
        self.pass(70 * DAY_MS);
        self.sweep_all().await;
        let mut left = BTreeMap::new();
        for &folder in <platen::storage::Folder as strum::VariantArray>::VARIANTS {
            for key in self.store.list(folder, None, usize::MAX).await.unwrap() {
                left.insert(key.to_string(), folder.name());
            }
        }
        assert!(left.is_empty(), "{when}: {left:?}");
        assert_eq!(self.keys().await, Vec::<String>::new(), "{when}");
        assert_eq!(self.stored.used(self.accounts["one"]), 0, "{when}");
        self.passed_ms.store(0, std::sync::atomic::Ordering::SeqCst);
    }

    async fn find(&self, record: &JobRecord) -> crate::service::View {
        let (account, job) = (record.account, record.id);
        self.registry.send(platen::jobs::messages::WatchJob { account, job }).await.unwrap().unwrap()
    }
}

/// The objects that the job cannot do without.
fn named(record: &JobRecord) -> Vec<StorageKey> {
    let (account, job) = (record.account, record.id);
    if record.state.is_final() {
        return record.output.iter().map(|_| record.output_key()).collect();
    }
    let mut keys = Vec::new();
    keys.extend((record.given.data && !record.journaled.data).then_some(StorageKey::JobData(account, job)));
    let is_object = record.given.template && !record.journaled.template;
    keys.extend(is_object.then_some(StorageKey::JobTemplate(account, job)));
    let has_secret = matches!(record.secret, SecretHalf::Half(_));
    keys.extend(has_secret.then_some(StorageKey::JobSecret(account, job)));
    keys
}
