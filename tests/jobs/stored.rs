//! Limits of jobs that are not started: how many there may be, and the bytes of their inputs.

use bytes::Bytes;
use platen::domain::ids::{AccountId, JobId};
use platen::jobs::messages::{CloseUpload, InputPart, OpenUpload};
use platen::jobs::registry::requests::ResumeJobs;
use platen::problem::{Code, Problem};
use platen::storage::index::WriteBatch;
use platen::storage::{CountedUpload, UploadStaging};

use crate::retention::DAY_MS;
use crate::service::{TestService, View};

/// The account of most jobs.
const ONE: &str = "one";

impl TestService {
    fn stored_bytes(&self) -> u64 {
        self.stored.used(self.accounts[ONE])
    }

    async fn open_upload(&self, view: &View, part: InputPart) -> CountedUpload {
        let (account, job) = of(view);
        let opened = self.registry.send(OpenUpload { account, job, part, limit_bytes: 1_000 }).await;
        opened.unwrap().unwrap()
    }

    /// An upload as the handler does it.
    async fn upload(&self, view: &View, part: InputPart, bytes: usize) -> Result<(), Problem> {
        let (account, job) = of(view);
        let mut upload = self.open_upload(view, part).await;
        upload.count(bytes)?;
        upload.write(Bytes::from(vec![b' '; bytes])).await.unwrap();
        self.registry.send(CloseUpload { account, job, part, upload }).await.unwrap()
    }
}

fn of(view: &View) -> (AccountId, JobId) {
    let view = view.borrow();
    (view.account, view.id)
}

#[actix::test]
async fn uploads_count_from_their_first_byte_to_the_end_of_their_job() {
    let service = TestService::build(0, &[("accounts.stored_bytes_limit", "100")]).await;
    if service.store.upload_staging() == UploadStaging::Staged {
        return uploads_to_a_bucket_count_from_the_start(&service).await;
    }
    let first = service.init(ONE, "", false).await.unwrap();
    let second = service.init(ONE, "", false).await.unwrap();
    service.upload(&first, InputPart::Template, 60).await.unwrap();
    assert_eq!(service.stored_bytes(), 60);
    let refused = service.upload(&second, InputPart::Data, 41).await.unwrap_err();
    assert_eq!(refused.code, Code::StorageExceeded);
    assert!(refused.detail.contains("60 of its 100 bytes (accounts.stored_bytes_limit)"), "{refused}");
    assert!(refused.detail.contains("--stored-bytes-limit"), "{refused}");
    assert_eq!(service.stored_bytes(), 60, "nothing of it counts");
    service.upload(&second, InputPart::Data, 40).await.unwrap();
    service.upload(&first, InputPart::Template, 55).await.unwrap();
    assert_eq!(service.stored_bytes(), 95, "what is replaced counts no more");
    let other = service.init("two", "", false).await.unwrap();
    service.upload(&other, InputPart::Data, 100).await.unwrap();

    service.start(&first).await.unwrap();
    assert_eq!(service.stored_bytes(), 95, "it waits for its turn with its inputs");
    service.delete(&first).await.unwrap();
    assert_eq!(service.stored_bytes(), 40);
    service.pass(2 * DAY_MS);
    assert_eq!(service.sweep().await.expired, 2);
    assert_eq!((service.stored_bytes(), service.stored.used(service.accounts["two"])), (0, 0));
}

/// A bucket takes uploads without the service.
async fn uploads_to_a_bucket_count_from_the_start(service: &TestService) {
    let key = |view: &View| {
        let (account, job) = of(view);
        service.store.upload_staging().of(&platen::storage::StorageKey::JobTemplate(account, job))
    };
    let first = service.init(ONE, "", false).await.unwrap();
    service.store.put(&key(&first), Bytes::from(vec![b' '; 60])).await.unwrap();
    let second = service.init(ONE, "", false).await.unwrap();
    service.store.put(&key(&second), Bytes::from(vec![b' '; 60])).await.unwrap();
    service.start(&first).await.unwrap();
    assert_eq!(service.stored_bytes(), 60);
    assert_eq!(service.start(&second).await.unwrap_err().code, Code::StorageExceeded);
    service.delete(&first).await.unwrap();
    service.start(&second).await.unwrap();
    assert_eq!(service.stored_bytes(), 60);
}

#[actix::test]
async fn inline_inputs_count_until_the_start_and_not_at_all_when_started_at_once() {
    let service = TestService::build(0, &[("accounts.stored_bytes_limit", "100")]).await;
    let page = "x".repeat(70);
    let waiting = service.init(ONE, &page, false).await.unwrap();
    assert_eq!(service.stored_bytes(), 70);
    let refused = service.init(ONE, &page, false).await.unwrap_err();
    assert_eq!(refused.code, Code::StorageExceeded);
    assert_eq!(service.used().await, 1, "a job that is refused gives its document back");
    service.init(ONE, &page, true).await.unwrap();
    assert_eq!(service.stored_bytes(), 70, "the queue bounds what was started at once");
    service.delete(&waiting).await.unwrap();
    assert_eq!(service.stored_bytes(), 0);
}

#[actix::test]
async fn two_uploads_at_once_share_the_accounts_storage_limit() {
    let service = TestService::build(0, &[("accounts.stored_bytes_limit", "100")]).await;
    let first = service.init(ONE, "", false).await.unwrap();
    let second = service.init(ONE, "", false).await.unwrap();
    let mut one = service.open_upload(&first, InputPart::Data).await;
    let mut other = service.open_upload(&second, InputPart::Data).await;
    one.count(60).unwrap();
    assert_eq!(other.check_fits(41).unwrap_err().code, Code::StorageExceeded, "before a byte of it is sent");
    assert_eq!(other.count(60).unwrap_err().code, Code::StorageExceeded);
    // An aborted upload frees its bytes.
    drop(one);
    other.count(60).unwrap();
    drop(other);
    assert_eq!(service.stored_bytes(), 0);
}

#[actix::test]
async fn an_account_may_have_a_limited_number_of_jobs_that_are_not_started() {
    let service = TestService::build(0, &[("accounts.open_jobs_limit", "2")]).await;
    let first = service.init(ONE, "", false).await.unwrap();
    service.init(ONE, "", false).await.unwrap();
    let refused = service.init(ONE, "", false).await.unwrap_err();
    assert_eq!((refused.code, refused.retry_after_s), (Code::RateLimited, Some(3_600)));
    for part in
        ["accounts.open_jobs_limit", "Start some", "delete those", "The earliest of them expires in 86400 s."]
    {
        assert!(refused.detail.contains(part), "{part}: {refused}");
    }
    assert_eq!(service.used().await, 2, "a job that is refused gives its document back");
    assert!(service.init("two", "", false).await.is_ok(), "another account has its own");
    assert!(service.init(ONE, "<p>1</p>", true).await.is_ok(), "what is started at once waits for no start");

    service.start(&first).await.unwrap();
    let third = service.init(ONE, "", false).await.unwrap();
    service.delete(&third).await.unwrap();
    service.init(ONE, "", false).await.unwrap();
    assert!(service.init(ONE, "", false).await.is_err());
    service.pass(2 * DAY_MS);
    service.sweep().await;
    assert_eq!(service.open_jobs.count(service.accounts[ONE]), 0, "two have expired");
    service.init(ONE, "", false).await.unwrap();
}

#[actix::test]
async fn inputs_count_after_a_restart_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let (account, store) = {
        let mut service = TestService::open(folder.path(), 0, &[], None).await;
        service.account(ONE, None).await;
        let open = service.init(ONE, "", false).await.unwrap();
        service.upload(&open, InputPart::Template, 60).await.unwrap();
        service.upload(&open, InputPart::Data, 5).await.unwrap();
        let given = service.init(ONE, "given", false).await.unwrap();
        service.upload(&given, InputPart::Data, 7).await.unwrap();
        let started = service.init(ONE, "", false).await.unwrap();
        service.upload(&started, InputPart::Template, 300).await.unwrap();
        service.start(&started).await.unwrap();
        let gone = service.init(ONE, "", false).await.unwrap();
        service.upload(&gone, InputPart::Template, 500).await.unwrap();
        service.delete(&gone).await.unwrap();
        assert_eq!(service.stored_bytes(), 377);
        service.index.close().await;
        (service.accounts[ONE], service.store.clone())
    };
    let mut service = TestService::open(folder.path(), 0, &[], None).await;
    if store.upload_staging() == UploadStaging::Staged {
        // Another bucket: nothing is found there, and uploads count from the start on.
        return;
    }
    service.accounts.insert(ONE, account);
    let unfinished = service.journal.unfinished().await.unwrap();
    assert_eq!(service.stored_bytes(), 0);
    service.context.restore_stored_inputs(&unfinished).await;
    assert_eq!((service.stored_bytes(), service.open_jobs.count(account)), (377, 2));
    service.registry.send(ResumeJobs(unfinished)).await.unwrap();
    service.pass(2 * DAY_MS);
    service.sweep().await;
    assert_eq!(
        (service.stored_bytes(), service.open_jobs.count(account)),
        (300, 0),
        "one waits for its turn"
    );
}

#[actix::test]
async fn after_a_restart_open_job_marks_without_a_readable_job_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (account, gone, unreadable) = {
        let mut service = TestService::open(folder.path(), 0, &[], None).await;
        service.account(ONE, None).await;
        service.init(ONE, "", false).await.unwrap();
        let gone = of(&service.init(ONE, "", false).await.unwrap());
        let unreadable = of(&service.init(ONE, "", false).await.unwrap());
        let record = |(account, job): (AccountId, JobId)| format!("job/{account}/{job}");
        let damage = WriteBatch::new().delete(record(gone)).put(record(unreadable), "nonsense");
        service.index.commit(damage).await.unwrap();
        service.index.close().await;
        (service.accounts[ONE], gone, unreadable)
    };
    let service = TestService::open(folder.path(), 0, &[], None).await;
    assert_eq!(service.open_jobs.count(account), 3);
    service.context.restore_stored_inputs(&[]).await;
    assert_eq!(service.open_jobs.count(account), 1, "places that nobody could give back");
    let is_marked = async |(account, job): (AccountId, JobId)| {
        service.index.get(&format!("open/{account}/{job}")).await.unwrap().is_some()
    };
    assert!(!is_marked(gone).await, "what stands for nothing goes");
    assert!(is_marked(unreadable).await, "a version that reads it finds it");
}
