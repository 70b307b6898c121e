//! Jobs that are never started: how many there may be, and how many bytes they may hold.

use bytes::Bytes;
use platen::domain::ids::{AccountId, JobId};
use platen::jobs::messages::{CloseUpload, InputPart, OpenUpload};
use platen::jobs::registry::requests::ResumeJobs;
use platen::jobs::store::stored_inputs as stored;
use platen::problem::{Code, Problem};
use platen::storage::index::WriteBatch;
use platen::storage::{CountedUpload, UploadStaging};

use crate::house::{House, View};
use crate::retention::DAY_MS;

/// Whose the jobs are.
const ONE: &str = "one";

impl House {
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
    let house = House::build(0, &[("accounts.stored_bytes_limit", "100")]).await;
    if house.store.upload_staging() == UploadStaging::Staged {
        return uploads_to_a_bucket_count_from_the_start(&house).await;
    }
    let first = house.init(ONE, "", false).await.unwrap();
    let second = house.init(ONE, "", false).await.unwrap();
    house.upload(&first, InputPart::Template, 60).await.unwrap();
    assert_eq!(house.stored_bytes(), 60);
    let refused = house.upload(&second, InputPart::Data, 41).await.unwrap_err();
    assert_eq!(refused.code, Code::StorageExceeded);
    assert!(refused.detail.contains("60 of its 100 bytes (accounts.stored_bytes_limit)"), "{refused}");
    assert!(refused.detail.contains("--stored-bytes-limit"), "{refused}");
    assert_eq!(house.stored_bytes(), 60, "nothing of it counts");
    house.upload(&second, InputPart::Data, 40).await.unwrap();
    house.upload(&first, InputPart::Template, 55).await.unwrap();
    assert_eq!(house.stored_bytes(), 95, "what is replaced counts no more");
    let other = house.init("two", "", false).await.unwrap();
    house.upload(&other, InputPart::Data, 100).await.unwrap();

    house.start(&first).await.unwrap();
    assert_eq!(house.stored_bytes(), 95, "it waits for its turn with its inputs");
    house.delete(&first).await.unwrap();
    assert_eq!(house.stored_bytes(), 40);
    house.pass(2 * DAY_MS);
    assert_eq!(house.sweep().await.expired, 2);
    assert_eq!((house.stored_bytes(), house.stored.used(house.accounts["two"])), (0, 0));
}

/// The store takes them itself, and tells nobody.
async fn uploads_to_a_bucket_count_from_the_start(house: &House) {
    let key = |view: &View| {
        let (account, job) = of(view);
        house.store.upload_staging().of(&platen::storage::StorageKey::JobTemplate(account, job))
    };
    let first = house.init(ONE, "", false).await.unwrap();
    house.store.put(&key(&first), Bytes::from(vec![b' '; 60])).await.unwrap();
    let second = house.init(ONE, "", false).await.unwrap();
    house.store.put(&key(&second), Bytes::from(vec![b' '; 60])).await.unwrap();
    house.start(&first).await.unwrap();
    assert_eq!(house.stored_bytes(), 60);
    assert_eq!(house.start(&second).await.unwrap_err().code, Code::StorageExceeded);
    house.delete(&first).await.unwrap();
    house.start(&second).await.unwrap();
    assert_eq!(house.stored_bytes(), 60);
}

#[actix::test]
async fn what_comes_with_init_counts_while_it_waits_and_what_is_started_at_once_does_not() {
    let house = House::build(0, &[("accounts.stored_bytes_limit", "100")]).await;
    let page = "x".repeat(70);
    let waiting = house.init(ONE, &page, false).await.unwrap();
    assert_eq!(house.stored_bytes(), 70);
    let refused = house.init(ONE, &page, false).await.unwrap_err();
    assert_eq!(refused.code, Code::StorageExceeded);
    assert_eq!(house.used().await, 1, "a job that is refused gives its document back");
    house.init(ONE, &page, true).await.unwrap();
    assert_eq!(house.stored_bytes(), 70, "the queue bounds what was started at once");
    house.delete(&waiting).await.unwrap();
    assert_eq!(house.stored_bytes(), 0);
}

#[actix::test]
async fn two_uploads_at_once_share_the_room_that_there_is() {
    let house = House::build(0, &[("accounts.stored_bytes_limit", "100")]).await;
    let first = house.init(ONE, "", false).await.unwrap();
    let second = house.init(ONE, "", false).await.unwrap();
    let mut one = house.open_upload(&first, InputPart::Data).await;
    let mut other = house.open_upload(&second, InputPart::Data).await;
    one.count(60).unwrap();
    assert_eq!(other.expect(41).unwrap_err().code, Code::StorageExceeded, "before a byte of it is sent");
    assert_eq!(other.count(60).unwrap_err().code, Code::StorageExceeded);
    // One that breaks off makes room.
    drop(one);
    other.count(60).unwrap();
    drop(other);
    assert_eq!(house.stored_bytes(), 0);
}

#[actix::test]
async fn so_many_jobs_may_wait_for_their_start() {
    let house = House::build(0, &[("accounts.open_jobs_limit", "2")]).await;
    let first = house.init(ONE, "", false).await.unwrap();
    house.init(ONE, "", false).await.unwrap();
    let refused = house.init(ONE, "", false).await.unwrap_err();
    assert_eq!((refused.code, refused.retry_after_s), (Code::RateLimited, Some(2)));
    assert!(refused.detail.contains("accounts.open_jobs_limit"), "{refused}");
    assert_eq!(house.used().await, 2, "a job that is refused gives its document back");
    assert!(house.init("two", "", false).await.is_ok(), "another account has its own");
    assert!(house.init(ONE, "<p>1</p>", true).await.is_ok(), "what is started at once waits for no start");

    house.start(&first).await.unwrap();
    let third = house.init(ONE, "", false).await.unwrap();
    house.delete(&third).await.unwrap();
    house.init(ONE, "", false).await.unwrap();
    assert!(house.init(ONE, "", false).await.is_err());
    house.pass(2 * DAY_MS);
    house.sweep().await;
    assert_eq!(house.open_jobs.count(house.accounts[ONE]), 0, "two have expired");
    house.init(ONE, "", false).await.unwrap();
}

#[actix::test]
async fn a_new_life_counts_what_the_last_one_left() {
    let folder = tempfile::tempdir().unwrap();
    let (account, store) = {
        let mut house = House::open(folder.path(), 0, &[], None).await;
        house.account(ONE, None).await;
        let open = house.init(ONE, "", false).await.unwrap();
        house.upload(&open, InputPart::Template, 60).await.unwrap();
        house.upload(&open, InputPart::Data, 5).await.unwrap();
        let given = house.init(ONE, "given", false).await.unwrap();
        house.upload(&given, InputPart::Data, 7).await.unwrap();
        let started = house.init(ONE, "", false).await.unwrap();
        house.upload(&started, InputPart::Template, 300).await.unwrap();
        house.start(&started).await.unwrap();
        let gone = house.init(ONE, "", false).await.unwrap();
        house.upload(&gone, InputPart::Template, 500).await.unwrap();
        house.delete(&gone).await.unwrap();
        assert_eq!(house.stored_bytes(), 377);
        house.index.close().await;
        (house.accounts[ONE], house.store.clone())
    };
    let mut house = House::open(folder.path(), 0, &[], None).await;
    if store.upload_staging() == UploadStaging::Staged {
        // Another bucket: nothing is found there, and uploads count from the start on.
        return;
    }
    house.accounts.insert(ONE, account);
    let unfinished = house.journal.unfinished().await.unwrap();
    assert_eq!(house.stored_bytes(), 0);
    stored::restore(&house.deps, &unfinished).await.unwrap();
    assert_eq!((house.stored_bytes(), house.open_jobs.count(account)), (377, 2));
    house.registry.send(ResumeJobs(unfinished)).await.unwrap();
    house.pass(2 * DAY_MS);
    house.sweep().await;
    assert_eq!((house.stored_bytes(), house.open_jobs.count(account)), (300, 0), "one waits for its turn");
}

#[actix::test]
async fn open_jobs_that_are_gone_or_cannot_be_read_take_no_place_in_a_new_life() {
    let folder = tempfile::tempdir().unwrap();
    let (account, gone, unreadable) = {
        let mut house = House::open(folder.path(), 0, &[], None).await;
        house.account(ONE, None).await;
        house.init(ONE, "", false).await.unwrap();
        let gone = of(&house.init(ONE, "", false).await.unwrap());
        let unreadable = of(&house.init(ONE, "", false).await.unwrap());
        let record = |(account, job): (AccountId, JobId)| format!("job/{account}/{job}");
        let damage = WriteBatch::new().delete(record(gone)).put(record(unreadable), "nonsense");
        house.index.commit(damage).await.unwrap();
        house.index.close().await;
        (house.accounts[ONE], gone, unreadable)
    };
    let house = House::open(folder.path(), 0, &[], None).await;
    assert_eq!(house.open_jobs.count(account), 3);
    stored::restore(&house.deps, &[]).await.unwrap();
    assert_eq!(house.open_jobs.count(account), 1, "places that nobody could give back");
    let is_marked = async |(account, job): (AccountId, JobId)| {
        house.index.get(&format!("open/{account}/{job}")).await.unwrap().is_some()
    };
    assert!(!is_marked(gone).await, "what stands for nothing goes");
    assert!(is_marked(unreadable).await, "a version that reads it finds it");
}
