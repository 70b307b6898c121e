//! The queue is fair by measured costs of real runs: one job at a time, two accounts.

use std::time::Duration;

use platen::jobs::registry::delete::DeleteOutcome;
use platen::jobs::view::JobView;

use crate::service::{TestService, View};

const SLOW: &str = "<% const end = Date.now() + 3000; while (Date.now() < end); %>slow";
const QUICK: &str = "<p>quick</p>";

async fn start_all(service: &TestService, account: &str, template: &str, count: usize) -> Vec<View> {
    let mut views = Vec::new();
    for _ in 0..count {
        views.push(service.init(account, template, true).await.unwrap());
    }
    views
}

/// When the first of these jobs ran, and the last.
async fn ran(service: &TestService, views: &[View]) -> (u64, u64) {
    let mut times = Vec::new();
    for view in views {
        assert!(service.ended(view).await.output.is_some());
        times.extend(service.record(view).await.run_at.map(|at| at.0));
    }
    (*times.iter().min().unwrap(), *times.iter().max().unwrap())
}

#[actix::test]
async fn an_account_with_a_slow_job_waits_until_others_have_used_as_much() {
    let service = TestService::build(1, &[]).await;
    let slow = start_all(&service, "one", SLOW, 1).await;
    let others = start_all(&service, "one", QUICK, 2).await;
    let quick = start_all(&service, "two", QUICK, 6).await;
    let (first, last) = ran(&service, &quick).await;
    let (begun, _) = ran(&service, &slow).await;
    let (next, _) = ran(&service, &others).await;
    assert!(begun <= first && last <= next, "{begun} <= {first}..{last} <= {next}");
}

/// An archive takes as much memory as it unpacks to, so there are few places for those that come with jobs.
#[actix::test]
async fn archives_of_one_account_leave_a_place_for_those_of_others() {
    let service = TestService::build(2, &[("templates.unpacking_limit", "2")]).await;
    let unpacking = &service.context.pipeline.unpacking;
    let held = unpacking.acquire(service.accounts["one"]).await;
    // Too long to be read at once, and so in one of the places.
    let template = "<p>archive</p>".repeat(10_000);
    let waiting = service.init("one", &template, true).await.unwrap();
    let other = service.init("two", &template, true).await.unwrap();
    assert!(service.ended(&other).await.output.is_some());
    assert!(!waiting.borrow().is_done(), "its account has one place of the two, and that is held");
    drop(held);
    assert!(service.ended(&waiting).await.output.is_some());
}

#[actix::test]
async fn a_cancelled_job_is_charged_for_the_time_it_ran() {
    let settings = [("assemble.timeout_ms", "100000"), ("jobs.run_timeout_s", "100")];
    let service = TestService::build(1, &settings).await;
    let mut endless = service.init("one", "<% for (;;) {} %>", true).await.unwrap();
    let others = start_all(&service, "one", QUICK, 2).await;
    let quick = start_all(&service, "two", QUICK, 6).await;
    let end = tokio::time::timeout(Duration::from_secs(3), endless.wait_for(JobView::is_done));
    assert!(end.await.is_err(), "it does not end by itself");
    assert!(matches!(service.delete(&endless).await, Ok(DeleteOutcome::Ended(_))));
    let (last, next) = (ran(&service, &quick).await.1, ran(&service, &others).await.0);
    assert!(last <= next, "{last} <= {next}");
}

/// Each account has one of the two turns, as long as it wants.
#[actix::test]
async fn two_accounts_with_endless_jobs_keep_no_third_one_waiting() {
    let settings = [
        ("assemble.timeout_ms", "100000"),
        ("jobs.run_timeout_s", "100"),
        ("engines.make_way_after_ms", "200"),
    ];
    let mut service = TestService::build(2, &settings).await;
    service.account("three", None).await;
    let endless = [
        start_all(&service, "one", "<% for (;;) {} %>", 2).await,
        start_all(&service, "two", "<% for (;;) {} %>", 2).await,
    ];
    for _ in 0..3 {
        let quick = start_all(&service, "three", QUICK, 2).await;
        for view in &quick {
            assert!(service.ended(view).await.output.is_some());
        }
    }
    assert!(endless.iter().flatten().all(|view| !view.borrow().is_done()), "they were waited for");
    assert!(service.context.pipeline.metrics.jobs.made_way.get() > 0);
    // Its turn is free, and the second job of an account waits all the same: the first one counts for the account.
    for waiting in endless.iter().map(|views| &views[1]) {
        assert!(service.record(waiting).await.run_at.is_none());
    }
    for view in endless.iter().flatten() {
        assert!(matches!(service.delete(view).await, Ok(DeleteOutcome::Ended(_))));
    }
}
