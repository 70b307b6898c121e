//! The queue shares by what jobs cost, as it is measured in their runs: one job at a time, two accounts.

use std::time::Duration;

use platen::jobs::registry::delete::Deleted;
use platen::jobs::view::JobView;

use crate::house::{House, View};

const SLOW: &str = "<% const end = Date.now() + 400; while (Date.now() < end); %>slow";
const QUICK: &str = "<p>quick</p>";

async fn start_all(house: &House, account: &str, template: &str, count: usize) -> Vec<View> {
    let mut views = Vec::new();
    for _ in 0..count {
        views.push(house.init(account, template, true).await.unwrap());
    }
    views
}

/// When the first of these jobs ran, and the last.
async fn ran(house: &House, views: &[View]) -> (u64, u64) {
    let mut times = Vec::new();
    for view in views {
        assert!(house.ended(view).await.output.is_some());
        times.extend(house.record(view).await.run_at.map(|at| at.0));
    }
    (*times.iter().min().unwrap(), *times.iter().max().unwrap())
}

#[actix::test]
async fn who_had_a_slow_job_waits_until_others_have_had_as_much() {
    let house = House::build(1, &[]).await;
    let slow = start_all(&house, "one", SLOW, 3).await;
    let quick = start_all(&house, "two", QUICK, 6).await;
    let (first, last) = ran(&house, &quick).await;
    let (begun, _) = ran(&house, &slow[..1]).await;
    let (next, _) = ran(&house, &slow[1..]).await;
    assert!(begun <= first && last <= next, "{begun} <= {first}..{last} <= {next}");
}

#[actix::test]
async fn a_job_that_is_cancelled_has_cost_what_it_held() {
    let settings = [("assemble.timeout_ms", "100000"), ("jobs.run_timeout_s", "100")];
    let house = House::build(1, &settings).await;
    let mut endless = house.init("one", "<% for (;;) {} %>", true).await.unwrap();
    let others = start_all(&house, "one", QUICK, 2).await;
    let quick = start_all(&house, "two", QUICK, 6).await;
    let end = tokio::time::timeout(Duration::from_millis(400), endless.wait_for(JobView::is_done));
    assert!(end.await.is_err(), "it does not end by itself");
    assert!(matches!(house.delete(&endless).await, Ok(Deleted::Ended(_))));
    let (last, next) = (ran(&house, &quick).await.1, ran(&house, &others).await.0);
    assert!(last <= next, "{last} <= {next}");
}
