//! The waiting until a page is at rest.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use headless_chrome::protocol::cdp::Performance;
use tokio::time::Instant;

use super::error::StepError;
use super::load;
use super::open::OpenPage;
use crate::browser::cdp::connection::CallError;
use crate::browser::tab::events::PageState;
use crate::browser::tab::idle::Verdict;

/// After an answer the page may need a moment to go on with it.
const GRACE: Duration = Duration::from_millis(20);
/// For how long a page is looked at that may be computing.
const COMPUTING_WINDOW: Duration = Duration::from_millis(100);
/// A page that spends more of its time in tasks computes something (tried: one that polls spends 1 %, one
/// that computes in slices of 15 ms 79 %).
const COMPUTING_SHARE: f64 = 0.3;

/// How a page came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum IdleOutcome {
    /// Nothing is waited for any more.
    InTime,
    /// The cap came first; so many of its workers answered nothing.
    NotBeforeCap { computing: usize },
}

impl PageState {
    fn verdict(&self) -> Verdict {
        // What is shown instead of an address that cannot be reached has nothing pending.
        if self.unreachable.is_some() { Verdict::Rest } else { self.idle.verdict() }
    }
}

impl OpenPage {
    /// Whether the page is done in a moment: then it has its fonts, and need not be asked.
    pub(in crate::browser) async fn is_soon_idle(&self) -> bool {
        let mut state = self.state.clone();
        let told = state.wait_for(|state| state.verdict() != Verdict::Pending);
        let _ = tokio::time::timeout(GRACE, told).await;
        self.verdict() == Verdict::Done
    }

    /// Returns when the page is at rest, or at the cap.
    pub(in crate::browser) async fn wait_until_idle(&self, cap: Duration) -> Result<IdleOutcome, StepError> {
        let computing = AtomicUsize::new(0);
        if let Ok(rested) = tokio::time::timeout(cap, self.rest(&computing)).await {
            return rested.map(|()| IdleOutcome::InTime);
        }
        // A page that answers nothing any more is not restless, it is stuck.
        self.answers().await?;
        Ok(IdleOutcome::NotBeforeCap { computing: computing.into_inner() })
    }

    async fn rest(&self, computing: &AtomicUsize) -> Result<(), StepError> {
        let mut state = self.state.clone();
        loop {
            let is_ready = |state: &PageState| state.verdict() != Verdict::Pending;
            if state.wait_for(is_ready).await.is_err() {
                // Nobody hears the page any more: `within` ends the step.
                std::future::pending::<()>().await;
            }
            self.grace().await;
            let heard = self.state.borrow().idle.heard();
            // What the page has begun meanwhile is told before this is answered.
            if !self.answers().await? {
                let _ = state.changed().await;
                continue;
            }
            if !self.workers_rest(heard, computing).await? {
                continue;
            }
            match self.verdict() {
                Verdict::Rest | Verdict::Done => return Ok(()),
                Verdict::Quiet if !self.computes().await? && self.verdict() != Verdict::Pending => {
                    return Ok(());
                }
                Verdict::Quiet | Verdict::Pending => {}
            }
        }
    }

    /// Has every worker answer; false when one, or then the page, had something to tell since `heard`.
    async fn workers_rest(&self, heard: u32, computing: &AtomicUsize) -> Result<bool, StepError> {
        let tab = self.tab()?;
        let workers = tab.workers();
        if workers.is_empty() {
            return Ok(true);
        }
        // The first answer may come before a message that is waiting there, the second comes after it.
        for _ in 0..2 {
            let ask = |worker| tab.ask_worker(worker);
            let asked: Vec<_> = workers.iter().filter_map(|worker| ask(worker).ok()).collect();
            computing.store(asked.len(), Ordering::Relaxed);
            for answer in asked {
                // One that has ended meanwhile answers as well as one that is idle.
                let _ = answer.answer(self.limits.rest_cap).await;
                computing.fetch_sub(1, Ordering::Relaxed);
            }
        }
        // What they have sent arrives in a task of the page's.
        self.turn().await?;
        let state = self.state.borrow();
        if state.idle.heard() != heard {
            return Ok(false);
        }
        // What ticks there may change the document now and then.
        let stirred = state.idle.stirred().map_or(Duration::MAX, |at| at.elapsed());
        let left = self.limits.quiet.saturating_sub(stirred);
        drop(state);
        if self.verdict() == Verdict::Quiet && !left.is_zero() {
            tokio::time::sleep(left).await;
            return Ok(false);
        }
        Ok(true)
    }

    /// Lets the page run what is waiting there.
    async fn turn(&self) -> Result<(), StepError> {
        let turned = "new Promise(done => setTimeout(done, 0, ''))".to_owned();
        load::ask(self.tab()?, self.lane, turned, self.limits.call).await.map(drop)
    }

    fn verdict(&self) -> Verdict {
        self.state.borrow().verdict()
    }

    /// Waits until the last answer is long enough ago; the page itself is one too, unless all of it is seen.
    async fn grace(&self) {
        loop {
            let ended = self.state.borrow().idle.last_end().map(|ended| ended.elapsed());
            let served = self.visit.as_ref().and_then(|visit| visit.quiet_for());
            let since = ended.into_iter().chain(served).min().unwrap_or(GRACE);
            if since >= GRACE {
                return;
            }
            tokio::time::sleep(GRACE.saturating_sub(since)).await;
        }
    }

    /// Has the page answer; false when its document went away under the question.
    async fn answers(&self) -> Result<bool, StepError> {
        let nothing = load::evaluate("0".to_owned(), None);
        match self.tab()?.call_within(nothing, self.limits.call).await {
            Ok(_) => Ok(true),
            Err(CallError::Refused { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the page, of which nothing is seen, computes something: then there is more to come.
    async fn computes(&self) -> Result<bool, StepError> {
        let tab = self.tab()?;
        tab.call_within(Performance::Enable { time_domain: None }, self.limits.call).await?;
        let (before, begun) = (self.time_in_tasks().await?, Instant::now());
        tokio::time::sleep(COMPUTING_WINDOW).await;
        let worked = self.time_in_tasks().await? - before;
        Ok(worked > begun.elapsed().as_secs_f64() * COMPUTING_SHARE)
    }

    /// Seconds that the page has spent in tasks.
    async fn time_in_tasks(&self) -> Result<f64, StepError> {
        let answer = self.tab()?.call_within(Performance::GetMetrics(None), self.limits.call).await?;
        Ok(answer.metrics.iter().find(|metric| metric.name == "TaskDuration").map_or(0.0, |it| it.value))
    }
}
