//! Cancelled, erased, kept for a time, swept: with a clock that the test moves.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use platen::accounts::admin::{Reply, Request};
use platen::domain::fault::FaultCode;
use platen::domain::ids::{AccountId, JobId};
use platen::domain::job::JobState;
use platen::domain::kinds::Target;
use platen::jobs::erase::{DeleteJob, Deleted};
use platen::jobs::sweep::{Sweeper, Swept};
use platen::problem::Code;
use platen::storage::index::Change;
use platen::storage::{Folder, StorageKey};

use crate::house::{House, PATIENCE, View};

const DAY_MS: u64 = 86_400_000;
const LARGE: usize = 100_000;

fn pass(house: &House, ms: u64) {
    house.passed_ms.fetch_add(ms, Ordering::SeqCst);
}

async fn sweep(house: &House) -> Swept {
    Sweeper::new(house.deps.clone(), house.registry.clone()).sweep().await.unwrap()
}

async fn delete(house: &House, view: &View) -> Result<Deleted, Code> {
    let (account, job) = (view.borrow().account, view.borrow().id);
    house.registry.send(DeleteJob { account, job }).await.unwrap().map_err(|problem| problem.code)
}

async fn objects(house: &House) -> usize {
    let mut count = 0;
    for folder in Folder::ALL {
        count += house.store.list(folder, None, 1_000).await.unwrap().len();
    }
    count
}

async fn until_objects(house: &House, wanted: usize) {
    let wait = async {
        while objects(house).await != wanted {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("objects come and go");
}

async fn used(house: &House) -> u64 {
    let Ok(Reply::Accounts(views)) = house.book.administer(Request::ListAccounts { after: None }).await
    else {
        panic!("no list")
    };
    views.iter().find(|view| view.account.name == "one").unwrap().used
}

#[actix::test]
async fn a_job_is_cancelled_wherever_it_stands_and_gives_its_document_back() {
    let house = House::build(0, &[("accounts.token_limit", "10")]).await;
    let large = format!("<p>{}", "x".repeat(LARGE));
    for start in [false, true] {
        let view = house.init("one", &large, start).await.unwrap();
        assert_eq!((objects(&house).await, used(&house).await), (1, 1), "the template is in the store");
        let Ok(Deleted::Ended(ended)) = delete(&house, &view).await else { panic!("it was not cancelled") };
        assert!(ended.is_done() && ended.output.is_none());
        assert_eq!(ended.fault.as_ref().unwrap().code, FaultCode::Cancelled);
        assert_eq!(used(&house).await, 0);
        until_objects(&house, 0).await;
        let again = delete(&house, &view).await;
        assert!(matches!(again, Ok(Deleted::Ended(_))), "sent again it means the same: {again:?}");
        pass(&house, 61_000);
        assert!(matches!(delete(&house, &view).await, Ok(Deleted::Erased)));
        assert_eq!(delete(&house, &view).await.unwrap_err(), Code::JobNotFound);
    }
}

#[actix::test]
async fn a_job_that_has_ended_is_erased_whole() {
    let house = House::build(2, &[]).await;
    let view = house.init("one", "<p>1</p>", true).await.unwrap();
    assert!(house.ended(&view).await.output.is_some());
    assert_eq!(objects(&house).await, 1);
    assert!(matches!(delete(&house, &view).await, Ok(Deleted::Erased)));
    assert_eq!(objects(&house).await, 0);
    assert_eq!(delete(&house, &view).await.unwrap_err(), Code::JobNotFound);
    assert_eq!(used(&house).await, 1, "the document was made");
    pass(&house, 60 * DAY_MS);
    assert_eq!(sweep(&house).await, Swept::default(), "nothing of it is due any more");
}

#[actix::test]
async fn another_accounts_job_is_neither_cancelled_nor_erased() {
    let house = House::build(2, &[]).await;
    let view = house.init("one", "<p>1</p>", false).await.unwrap();
    let (account, job) = (house.accounts["two"], view.borrow().id);
    let refused = house.registry.send(DeleteJob { account, job }).await.unwrap().unwrap_err();
    assert_eq!(refused.code, Code::JobNotFound);
    house.start(&view).await.unwrap();
    assert!(house.ended(&view).await.output.is_some());
    let refused = house.registry.send(DeleteJob { account, job }).await.unwrap().unwrap_err();
    assert_eq!(refused.code, Code::JobNotFound);
}

#[actix::test]
async fn what_was_never_started_expires_without_anybody_asking() {
    let house = House::build(1, &[("jobs.start_window_s", "3600")]).await;
    let view = house.init("one", &"x".repeat(LARGE), false).await.unwrap();
    assert_eq!(sweep(&house).await.expired, 0);
    pass(&house, 3_600_000);
    assert_eq!(sweep(&house).await.expired, 1);
    let ended = house.ended(&view).await;
    assert_eq!(ended.fault.unwrap().code, FaultCode::Expired);
    assert_eq!(used(&house).await, 0);
    until_objects(&house, 0).await;
    assert_eq!(sweep(&house).await, Swept::default());
}

#[actix::test]
async fn documents_go_before_records_and_both_in_their_time() {
    let house = House::build(2, &[]).await;
    let mut views = Vec::new();
    for _ in 0..3 {
        let view = house.init("one", "<p>1</p>", true).await.unwrap();
        house.ended(&view).await;
        views.push(view);
    }
    let failed = house.init("one", "<%= nobody %>", true).await.unwrap();
    house.ended(&failed).await;
    pass(&house, 7 * DAY_MS - 60_000);
    assert_eq!(sweep(&house).await, Swept::default());
    pass(&house, 60_000);
    assert_eq!(sweep(&house).await, Swept { outputs: 3, ..Swept::default() });
    assert_eq!(objects(&house).await, 0);
    let record = house.record(&views[0]).await;
    assert!(record.output.is_none() && record.fault.is_none() && record.state == JobState::Done);
    assert!(record.warnings.lines()[0].contains("jobs.output_retention_s"), "{:?}", record.warnings);
    pass(&house, 23 * DAY_MS);
    assert_eq!(sweep(&house).await, Swept { records: 4, ..Swept::default() });
    assert_eq!(delete(&house, &views[0]).await.unwrap_err(), Code::JobNotFound);
    assert_eq!(sweep(&house).await, Swept::default());
}

#[actix::test]
async fn what_a_crash_left_is_found_and_what_is_needed_is_not_touched() {
    let house = House::build(2, &[]).await;
    let kept = house.init("one", "<p>1</p>", true).await.unwrap();
    house.ended(&kept).await;
    let waiting = house.init("one", &"x".repeat(LARGE), false).await.unwrap();
    let (account, record) = (house.accounts["one"], house.record(&kept).await);
    // Between record and deletion: the mark is there, and the object.
    let (marked, forgotten) = (JobId::generate(), JobId::generate());
    let left = StorageKey::JobOutput(account, marked, Target::Pdf);
    let orphan = StorageKey::JobOutput(account, forgotten, Target::Pdf);
    let other = StorageKey::JobTemplate(AccountId::generate(), forgotten);
    for key in [left, orphan, other] {
        house.store.put(&key, Bytes::from_static(b"left")).await.unwrap();
    }
    let mark = Change::new().put(format!("gone/{marked}"), left.to_string());
    house.journal.commit(&record, mark).await.unwrap();
    assert_eq!(objects(&house).await, 5);
    assert_eq!(sweep(&house).await.orphans, 0, "they may be of jobs that are being written");
    assert_eq!(objects(&house).await, 4);
    pass(&house, 3_601_000);
    assert_eq!(sweep(&house).await.orphans, 2);
    assert_eq!(objects(&house).await, 2);
    house.start(&waiting).await.unwrap();
    assert!(house.ended(&waiting).await.output.is_some());
}
