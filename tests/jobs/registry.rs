//! The registry and its actors: starts, queue limits, idempotency, eviction, panics.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use platen::clock::{Clock, SystemClock};
use platen::domain::error::ErrorCode;
use platen::domain::ids::{AccountId, JobId};
use platen::domain::job::JobState;
use platen::jobs::messages::{CloseUpload, Idempotency, InputPart, OpenUpload, WatchJob};
use platen::jobs::registry::delete::DeleteJob;
use platen::jobs::registry::requests::ResumeJobs;
use platen::jobs::store::idempotency;
use platen::jobs::store::record::JobRecord;
use platen::problem::{Code, Problem};
use platen::storage::index::WriteBatch;
use platen::storage::{CountedUpload, StorageKey, StoreError};

use crate::service::{PATIENCE, TestService, View};

#[actix::test]
async fn a_job_that_is_started_makes_its_document() {
    let service = TestService::build(2, &[]).await;
    let view = service.ended(&service.init("one", "<p>1</p>", true).await.unwrap()).await;
    assert!(view.error.is_none() && view.output.unwrap().bytes == 8);
}

#[actix::test]
async fn an_actor_that_dies_is_replaced_and_its_job_ends() {
    let service = TestService::build(2, &[]).await;
    let view = service.init("one", "<p>1</p>", false).await.unwrap();
    service.panics.store(true, Ordering::SeqCst);
    // The actor panics when it asks the time, before it writes anything: the job is as it was, and the next start gets a
    // new actor.
    assert!(service.start(&view).await.is_err_and(|problem| problem.code == Code::Internal));
    assert_eq!(service.record(&view).await.state, JobState::Initialized);
    let started = service.start(&view).await.unwrap();
    assert!(service.ended(&started).await.output.is_some());
}

#[actix::test]
async fn an_actor_that_dies_in_the_queue_comes_back_into_the_queue() {
    let service = TestService::build(1, &[]).await;
    let view = service.init("one", "<p>1</p>", true).await.unwrap();
    // The next step that asks the time panics: the assignment, or the end.
    service.panics.store(true, Ordering::SeqCst);
    let end = service.ended(&view).await;
    assert!(end.output.is_some(), "{end:?}");
    assert!(!service.panics.load(Ordering::SeqCst), "no actor has panicked");
}

#[actix::test]
async fn a_job_whose_runs_crashed_the_service_too_often_fails() {
    let service = TestService::build(1, &[("jobs.attempt_limit", "2")]).await;
    let mut records = Vec::new();
    for attempts in [1, 2] {
        let view = service.init("one", "<p>1</p>", false).await.unwrap();
        let mut record = service.record(&view).await;
        record.id = platen::domain::ids::JobId::generate();
        record.state = JobState::Running;
        record.attempts = attempts;
        record.given.template = false;
        service.journal.commit(&record, WriteBatch::new()).await.unwrap();
        records.push(record);
    }
    let unfinished = service.journal.unfinished().await.unwrap();
    assert_eq!(unfinished.len(), 2);
    assert_eq!(service.registry.send(ResumeJobs(unfinished)).await.unwrap(), 2);
    let mut codes = Vec::new();
    for record in records {
        let watch = WatchJob { account: record.account, job: record.id };
        let view = service.registry.send(watch).await.unwrap().unwrap();
        codes.push(service.ended(&view).await.error.unwrap().code);
    }
    // The first gets one more run and fails for want of a template; the second gets none.
    assert_eq!(codes, [ErrorCode::TemplateMissing, ErrorCode::AttemptsExhausted]);
    assert!(service.journal.unfinished().await.unwrap().is_empty());
}

#[actix::test]
async fn a_job_that_is_queued_for_too_long_fails_and_names_the_limit() {
    let service = TestService::build(0, &[("jobs.queue_timeout_s", "1")]).await;
    let view = service.ended(&service.init("one", "<p>1</p>", true).await.unwrap()).await;
    let error = view.error.unwrap();
    assert_eq!(error.code, ErrorCode::QueueTimeout);
    assert!(error.message.contains("jobs.queue_timeout_s"), "{}", error.message);
}

#[actix::test]
async fn a_full_queue_refuses_and_one_account_cannot_fill_it() {
    let service =
        TestService::build(0, &[("jobs.queue_limit", "3"), ("jobs.queue_account_limit", "2")]).await;
    let template = "<p>1</p>";
    let mut kept = Vec::new();
    for _ in 0..2 {
        kept.push(service.init("one", template, true).await.unwrap());
    }
    let refused = service.init("one", template, true).await.unwrap_err();
    assert_eq!((refused.code, refused.retry_after_s.is_some()), (Code::RateLimited, true));
    assert!(refused.detail.contains("jobs.queue_account_limit"), "{}", refused.detail);
    kept.push(service.init("two", template, true).await.unwrap());
    let initialized = service.init("two", template, false).await.unwrap();
    let refused = service.start(&initialized).await.unwrap_err();
    assert_eq!((refused.code, refused.retry_after_s.is_some()), (Code::Overloaded, true));
    // The refused job is unchanged; the queued ones are in the journal.
    assert_eq!(service.record(&initialized).await.state, JobState::Initialized);
    assert_eq!(service.journal.unfinished().await.unwrap().len(), 3);
}

#[actix::test]
async fn an_idempotency_key_of_a_deleted_job_is_refused_until_it_expires() {
    let service = TestService::build(1, &[]).await;
    let key = Some(Idempotency { key: [1; 32], request: [2; 32] });
    let first = service.init_with("one", "<p>1</p>", true, key).await.unwrap();
    service.ended(&first).await;
    let again = service.init_with("one", "<p>1</p>", true, key).await.unwrap();
    assert_eq!(again.borrow().id, first.borrow().id);
    let mut left = again.clone();
    tokio::time::timeout(PATIENCE, async { while left.changed().await.is_ok() {} }).await.unwrap();
    let (record, other) = (service.record(&first).await, service.init("two", "", false).await.unwrap());
    let erased = WriteBatch::new().delete(format!("job/{}/{}", record.account, record.id));
    service.journal.commit(&service.record(&other).await, erased).await.unwrap();
    let refused = service.init_with("one", "<p>1</p>", true, key).await.unwrap_err();
    assert_eq!(refused.code, Code::JobNotFound);
    assert!(refused.detail.contains("erased"), "{}", refused.detail);
    let tomorrow = SystemClock.now().plus_ms(86_400_000);
    assert_eq!(idempotency::sweep(service.index.as_ref(), tomorrow).await.unwrap(), 1);
    let next = service.init_with("one", "<p>1</p>", true, key).await.unwrap();
    assert_ne!(next.borrow().id, first.borrow().id);
}

/// Changes the job's record behind the registry's back, and waits until it is read again: then the job was evicted.
async fn altered_on_disk(service: &TestService, view: View, alter: impl FnOnce(&mut JobRecord)) -> View {
    let mut record = service.record(&view).await;
    alter(&mut record);
    service.journal.commit(&record, WriteBatch::new()).await.unwrap();
    // A view that is held keeps the job in memory.
    drop(view);
    let (account, job) = (record.account, record.id);
    let read = async {
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await; // poll
            let view = service.registry.send(WatchJob { account, job }).await.unwrap().unwrap();
            if view.borrow().created_at == record.created_at {
                return view;
            }
        }
    };
    tokio::time::timeout(PATIENCE, read).await.expect("the job is evicted")
}

#[actix::test]
async fn an_idle_job_is_evicted_and_loaded_when_it_is_started() {
    let service = TestService::build(1, &[("jobs.initialized_idle_s", "1")]).await;
    let view = service.init("one", "<p>1</p>", false).await.unwrap();
    let view = altered_on_disk(&service, view, |record| record.created_at.0 -= 1).await;
    let started = service.start(&view).await.unwrap();
    assert!(service.ended(&started).await.output.is_some());
}

#[actix::test]
async fn a_job_with_a_waiting_request_stays_in_memory() {
    let service = TestService::build(1, &[("jobs.initialized_idle_s", "1")]).await;
    let mut waiter = service.init("one", "<p>1</p>", false).await.unwrap();
    waiter.mark_unchanged();
    let closed = tokio::time::timeout(Duration::from_millis(2_500), waiter.changed()).await;
    assert!(closed.is_err(), "its view goes on: {closed:?}");
    service.start(&waiter).await.unwrap();
    assert!(waiter.changed().await.is_ok());
}

#[actix::test]
async fn a_job_not_started_in_its_window_expires() {
    let service =
        TestService::build(1, &[("jobs.start_window_s", "60"), ("jobs.initialized_idle_s", "1")]).await;
    let view = service.init("one", "<p>1</p>", false).await.unwrap();
    let view = altered_on_disk(&service, view, |record| record.created_at.0 -= 61_000).await;
    let started = service.start(&view).await.unwrap();
    assert_eq!(service.ended(&started).await.error.unwrap().code, ErrorCode::Expired);
}

#[actix::test]
async fn two_inits_cannot_both_take_the_last_document_and_a_failed_job_gives_it_back() {
    let mut service = TestService::build(1, &[]).await;
    service.account("small", Some(1)).await;
    let (first, second) = tokio::join!(service.init("small", "", false), service.init("small", "", false));
    let (taken, refused) = if first.is_ok() { (first, second) } else { (second, first) };
    assert_eq!(refused.unwrap_err().code, Code::QuotaExceeded);
    let started = service.start(&taken.unwrap()).await.unwrap();
    assert_eq!(service.ended(&started).await.error.unwrap().code, ErrorCode::TemplateMissing);
    // The account gets the document back just after the job's end can be seen.
    let again = async {
        while service.init("small", "", false).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await; // poll
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("the document is there again");
    assert_eq!(service.init("small", "", false).await.unwrap_err().code, Code::QuotaExceeded);
}

async fn open_upload(
    service: &TestService,
    account: AccountId,
    job: JobId,
) -> Result<CountedUpload, Problem> {
    let part = InputPart::Template;
    service.registry.send(OpenUpload { account, job, part, limit_bytes: 100 }).await.unwrap()
}

#[actix::test]
async fn an_upload_still_open_at_the_start_is_refused_and_deleted() {
    let service = TestService::build(0, &[]).await;
    let view = service.init("one", "", false).await.unwrap();
    let (account, job) = (view.borrow().account, view.borrow().id);
    let mut upload = open_upload(&service, account, job).await.unwrap();
    let second = open_upload(&service, account, job).await.unwrap();
    upload.write(Bytes::from_static(b"<p>late")).await.unwrap();
    service.start(&view).await.unwrap();
    assert_eq!(open_upload(&service, account, job).await.unwrap_err().code, Code::UploadClosed);
    let part = InputPart::Template;
    let close = CloseUpload { account, job, part, upload };
    assert_eq!(service.registry.send(close).await.unwrap().unwrap_err().code, Code::UploadClosed);
    assert!(service.registry.send(DeleteJob { account, job }).await.unwrap().is_ok());
    let close = CloseUpload { account, job, part, upload: second };
    assert_eq!(
        service.registry.send(close).await.unwrap().unwrap_err().code,
        Code::UploadClosed,
        "after the end"
    );
    let key = StorageKey::JobTemplate(account, job);
    assert!(matches!(service.store.head(&key).await, Err(StoreError::NotFound(_))));
}

#[actix::test]
async fn concurrent_starts_enqueue_a_job_once() {
    let service = TestService::build(0, &[("jobs.queue_account_limit", "2")]).await;
    let view = service.init("one", "<p>1</p>", false).await.unwrap();
    let (first, second) = tokio::join!(service.start(&view), service.start(&view));
    assert!(first.is_ok() && second.is_ok());
    assert!(service.init("one", "<p>2</p>", true).await.is_ok(), "one place is left");
    let third = service.init("one", "<p>3</p>", true).await.unwrap_err();
    assert_eq!(third.code, Code::RateLimited);
}
