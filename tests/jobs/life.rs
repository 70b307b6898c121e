//! Cancel, delete, expiry and sweeps, with a clock that the test moves.

use std::time::Duration;

use bytes::Bytes;
use platen::domain::error::ErrorCode;
use platen::domain::ids::{AccountId, JobId};
use platen::domain::job::JobState;
use platen::domain::kinds::FileKind;
use platen::jobs::cleanup::sweeper::Swept;
use platen::jobs::registry::delete::{DeleteJob, DeleteOutcome};
use platen::jobs::view::JobView;
use platen::problem::Code;
use platen::storage::StorageKey;
use platen::storage::index::WriteBatch;

use crate::service::TestService;

use crate::retention::DAY_MS;
const LARGE: usize = 100_000;

#[actix::test]
async fn a_job_is_cancelled_in_any_state_and_its_document_is_not_counted() {
    let service = TestService::build(0, &[("accounts.token_limit", "10")]).await;
    let large = format!("<p>{}", "x".repeat(LARGE));
    for start in [false, true] {
        let view = service.init("one", &large, start).await.unwrap();
        assert_eq!((service.objects().await, service.used().await), (1, 1), "the template is in the store");
        let Ok(DeleteOutcome::Ended(ended)) = service.delete(&view).await else {
            panic!("it was not cancelled")
        };
        assert!(ended.is_done() && ended.output.is_none());
        assert_eq!(ended.error.as_ref().unwrap().code, ErrorCode::Cancelled);
        assert_eq!(service.used().await, 0);
        service.until_objects(0).await;
        let again = service.delete(&view).await;
        assert!(matches!(again, Ok(DeleteOutcome::Ended(_))), "sent again it means the same: {again:?}");
        service.pass(61_000);
        assert!(matches!(service.delete(&view).await, Ok(DeleteOutcome::Deleted)));
        assert_eq!(service.delete(&view).await.unwrap_err(), Code::JobNotFound);
    }
}

#[actix::test]
async fn a_template_that_never_ends_is_stopped_by_a_cancel() {
    // One template at a time, and no deadline that could stop it within the test's patience.
    let settings =
        [("assemble.processes", "1"), ("assemble.timeout_ms", "100000"), ("jobs.run_timeout_s", "100")];
    let service = TestService::build_on_threads(1, &settings).await;
    for ms in [0, 5, 10, 20, 40, 80, 160] {
        let mut endless = service.init("one", "<% for (;;) {} %>", true).await.unwrap();
        let end = tokio::time::timeout(Duration::from_millis(ms), endless.wait_for(JobView::is_done));
        assert!(end.await.is_err(), "it does not end by itself");
        let Ok(DeleteOutcome::Ended(ended)) = service.delete(&endless).await else {
            panic!("it was not cancelled")
        };
        assert_eq!(ended.error.unwrap().code, ErrorCode::Cancelled);
    }
    let next = service.init("one", "<p>1</p>", true).await.unwrap();
    assert!(service.ended(&next).await.output.is_some(), "its process and its slot are free again");
}

#[actix::test]
async fn deleting_an_ended_job_removes_record_and_document() {
    let service = TestService::build(2, &[]).await;
    let view = service.init("one", "<p>1</p>", true).await.unwrap();
    assert!(service.ended(&view).await.output.is_some());
    assert_eq!(service.objects().await, 1);
    assert!(matches!(service.delete(&view).await, Ok(DeleteOutcome::Deleted)));
    assert_eq!(service.objects().await, 0);
    assert_eq!(service.delete(&view).await.unwrap_err(), Code::JobNotFound);
    assert_eq!(service.used().await, 1, "the document was made");
    service.pass(60 * DAY_MS);
    assert_eq!(service.sweep().await, Swept::default(), "nothing of it is due any more");
}

#[actix::test]
async fn another_accounts_job_is_neither_cancelled_nor_deleted() {
    let service = TestService::build(2, &[]).await;
    let view = service.init("one", "<p>1</p>", false).await.unwrap();
    let (account, job) = (service.accounts["two"], view.borrow().id);
    let refused = service.registry.send(DeleteJob { account, job }).await.unwrap().unwrap_err();
    assert_eq!(refused.code, Code::JobNotFound);
    service.start(&view).await.unwrap();
    assert!(service.ended(&view).await.output.is_some());
    let refused = service.registry.send(DeleteJob { account, job }).await.unwrap().unwrap_err();
    assert_eq!(refused.code, Code::JobNotFound);
}

#[actix::test]
async fn a_job_that_is_never_started_expires_in_a_sweep() {
    let service = TestService::build(1, &[("jobs.start_window_s", "3600")]).await;
    let view = service.init("one", &"x".repeat(LARGE), false).await.unwrap();
    assert_eq!(service.sweep().await.expired, 0);
    service.pass(3_600_000);
    assert_eq!(service.sweep().await.expired, 1);
    let ended = service.ended(&view).await;
    assert_eq!(ended.error.unwrap().code, ErrorCode::Expired);
    assert_eq!(service.used().await, 0);
    service.until_objects(0).await;
    assert_eq!(service.sweep().await, Swept::default());
}

#[actix::test]
async fn documents_expire_before_records() {
    let service = TestService::build(2, &[]).await;
    let mut views = Vec::new();
    for _ in 0..3 {
        let view = service.init("one", "<p>1</p>", true).await.unwrap();
        service.ended(&view).await;
        views.push(view);
    }
    let failed = service.init("one", "<%= nobody %>", true).await.unwrap();
    service.ended(&failed).await;
    service.pass(7 * DAY_MS - 60_000);
    assert_eq!(service.sweep().await, Swept::default());
    service.pass(60_000);
    assert_eq!(service.sweep().await, Swept { outputs: 3, ..Swept::default() });
    assert_eq!(service.objects().await, 0);
    let record = service.record(&views[0]).await;
    assert!(record.output.is_none() && record.error.is_none() && record.state == JobState::Done);
    assert!(record.warnings.lines()[0].contains("jobs.output_retention_s"), "{:?}", record.warnings);
    service.pass(23 * DAY_MS);
    assert_eq!(service.sweep().await, Swept { records: 4, ..Swept::default() });
    assert_eq!(service.delete(&views[0]).await.unwrap_err(), Code::JobNotFound);
    assert_eq!(service.sweep().await, Swept::default());
}

#[actix::test]
async fn a_sweep_deletes_orphans_of_a_crash_and_no_object_that_a_record_names() {
    let service = TestService::build(2, &[]).await;
    let kept = service.init("one", "<p>1</p>", true).await.unwrap();
    service.ended(&kept).await;
    let waiting = service.init("one", &"x".repeat(LARGE), false).await.unwrap();
    let (account, record) = (service.accounts["one"], service.record(&kept).await);
    // As a crash leaves it between the record's deletion and the object's: the entry of the deletion log is there, and
    // the object.
    let (logged, forgotten) = (JobId::generate(), JobId::generate());
    let left = StorageKey::JobOutput(account, logged, FileKind::Pdf);
    let orphan = StorageKey::JobOutput(account, forgotten, FileKind::Pdf);
    let other = StorageKey::JobTemplate(AccountId::generate(), forgotten);
    // Of an aborted run, which made another kind of file than the run that counts.
    let former = StorageKey::JobOutput(account, record.id, FileKind::Zip);
    for key in [left, orphan, other, former] {
        service.store.put(&key, Bytes::from_static(b"left")).await.unwrap();
    }
    let log_entry = WriteBatch::new().put(format!("gone/{logged}"), left.to_string());
    service.journal.commit(&record, log_entry).await.unwrap();
    assert_eq!(service.objects().await, 6);
    assert_eq!(service.sweep().await.orphans, 0, "they may be of jobs that are being written");
    assert_eq!(service.objects().await, 5);
    service.pass(3_601_000);
    assert_eq!(service.sweep().await.orphans, 3);
    assert_eq!(service.objects().await, 2);
    service.start(&waiting).await.unwrap();
    assert!(service.ended(&waiting).await.output.is_some());
}
