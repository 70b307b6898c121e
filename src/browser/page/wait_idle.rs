//! Waits until a page is idle: what is pending comes from `tab/idle.rs`; whether the page or a worker computes is asked here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use headless_chrome::protocol::cdp::Performance;
use tokio::time::Instant;

use super::error::StepError;
use super::open_page::OpenPage;
use crate::browser::cdp::commands;
use crate::browser::tab::idle::IdleVerdict;

/// After a response the page may need a moment to go on with it.
const GRACE: Duration = Duration::from_millis(20);
/// The same after a script that came late, unless something was reported since (`import()` cannot be watched from inside).
const SCRIPT_GRACE: Duration = Duration::from_millis(300);
/// How long a page is measured that may be computing.
const COMPUTING_WINDOW: Duration = Duration::from_millis(100);
/// A page that spends more of its time in tasks computes something (tried: one that polls spends 1 %, one
/// that computes in slices of 15 ms 79 %).
const COMPUTING_SHARE: f64 = 0.3;

/// Whether the page is done in a moment: then its fonts are loaded, and it need not be asked whether it is ready.
pub(super) async fn is_soon_idle(page: &OpenPage) -> bool {
    let mut state = page.state.clone();
    let reported = state.wait_for(|state| state.verdict() != IdleVerdict::Pending);
    let _ = tokio::time::timeout(GRACE, reported).await;
    verdict(page) == IdleVerdict::Done
}

/// Waits until the page is idle; where the cap comes first, answers how many of its workers answered nothing.
pub(super) async fn until_idle(page: &OpenPage, cap: Duration) -> Result<Option<usize>, StepError> {
    let computing = AtomicUsize::new(0);
    if let Ok(idle) = tokio::time::timeout(cap, become_idle(page, &computing)).await {
        return idle.map(|()| None);
    }
    // A page that answers no call is not busy, it is stuck.
    answers(page).await?;
    Ok(Some(computing.into_inner()))
}

async fn become_idle(page: &OpenPage, computing: &AtomicUsize) -> Result<(), StepError> {
    let mut state = page.state.clone();
    loop {
        if state.wait_for(|state| state.verdict() != IdleVerdict::Pending).await.is_err() {
            // Its events have ended: `within` ends the step.
            std::future::pending::<()>().await;
        }
        wait_for_grace(page).await;
        let event_count = page.state.borrow().idle.event_count;
        // Messages keep their order: what the page has begun meanwhile is reported before this answer.
        if !answers(page).await? {
            let _ = state.changed().await;
            continue;
        }
        if !workers_are_idle(page, event_count, computing).await? {
            continue;
        }
        match verdict(page) {
            IdleVerdict::Idle | IdleVerdict::Done => return Ok(()),
            IdleVerdict::Quiet if !computes(page).await? && verdict(page) != IdleVerdict::Pending => {
                return Ok(());
            }
            IdleVerdict::Quiet | IdleVerdict::Pending => {}
        }
    }
}

/// Waits until every worker has answered; false where one, or then the page, has reported something since `event_count` was
/// read.
async fn workers_are_idle(
    page: &OpenPage,
    event_count: u32,
    computing: &AtomicUsize,
) -> Result<bool, StepError> {
    let tab = page.tab()?;
    let workers = tab.events.monitor.worker_sessions();
    if workers.is_empty() {
        return Ok(true);
    }
    // The first answer may come before a message that is waiting there, the second comes after it.
    for _ in 0..2 {
        // A worker answers this when it has nothing else to do.
        let nothing = commands::evaluate("0".to_owned());
        let asked = workers.iter().filter_map(|worker| tab.connection.send(Some(worker), &nothing).ok());
        let asked: Vec<_> = asked.collect();
        computing.store(asked.len(), Ordering::Relaxed);
        for answer in asked {
            // The answer itself does not matter: the call also fails when the worker has ended, and then it computes nothing.
            let _ = answer.answer(page.limits.rest_cap).await;
            computing.fetch_sub(1, Ordering::Relaxed);
        }
    }
    // What they have sent arrives in a task of the page's: one more lets it run.
    let task = "new Promise(done => setTimeout(done, 0, ''))".to_owned();
    page.ask(task, page.limits.call).await?;
    let state = page.state.borrow();
    if state.idle.event_count != event_count {
        return Ok(false);
    }
    // What ticks in a worker may change the document by a message now and then, and in between the page is quiet. So the page
    // is idle only when no watch has reported anything pending for the whole quiet window.
    let busy = state.idle.last_busy.map_or(Duration::MAX, |at| at.elapsed());
    let left = page.limits.quiet.saturating_sub(busy);
    drop(state);
    if verdict(page) == IdleVerdict::Quiet && !left.is_zero() {
        tokio::time::sleep(left).await;
        return Ok(false);
    }
    Ok(true)
}

fn verdict(page: &OpenPage) -> IdleVerdict {
    page.state.borrow().verdict()
}

/// Waits until the last response is [`GRACE`] ago, and the last script [`SCRIPT_GRACE`]. The page's own load counts as a
/// response, unless it is [`IdleVerdict::Done`].
async fn wait_for_grace(page: &OpenPage) {
    loop {
        let left = |came: Option<Instant>, grace: Duration| {
            came.map(|came| grace.saturating_sub(came.elapsed())).unwrap_or_default()
        };
        let served = page.session.as_ref().and_then(|session| session.quiet_for());
        let served = served.map(|quiet_for| GRACE.saturating_sub(quiet_for)).unwrap_or_default();
        let left = {
            let state = page.state.borrow();
            let idle = &state.idle;
            left(idle.last_end(), GRACE).max(left(idle.script_came(), SCRIPT_GRACE)).max(served)
        };
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

/// Has the page answer; false when its document went away under the question. What is asked for is needed anyway, to look at
/// the page.
async fn answers(page: &OpenPage) -> Result<bool, StepError> {
    Ok(page.make_world(page.limits.call).await?.is_some())
}

/// Whether the page, which reports nothing, computes something: then there is more to come.
async fn computes(page: &OpenPage) -> Result<bool, StepError> {
    page.tab()?.call_within(Performance::Enable { time_domain: None }, page.limits.call).await?;
    let (before, begun) = (seconds_in_tasks(page).await?, Instant::now());
    tokio::time::sleep(COMPUTING_WINDOW).await;
    let worked = seconds_in_tasks(page).await? - before;
    Ok(worked > begun.elapsed().as_secs_f64() * COMPUTING_SHARE)
}

/// Seconds that the page has spent in tasks.
async fn seconds_in_tasks(page: &OpenPage) -> Result<f64, StepError> {
    let answer = page.tab()?.call_within(Performance::GetMetrics(None), page.limits.call).await?;
    Ok(answer.metrics.iter().find(|metric| metric.name == "TaskDuration").map_or(0.0, |it| it.value))
}
