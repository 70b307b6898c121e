//! Taking tabs back: a tab whose lease has ended is disposed of, or reset and kept for its account.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;

use super::messages::LeaseTab;
use super::state::BrowserPool;
use super::supervisor::BrowserLoss;
use crate::browser::page::error::StepError;
use crate::browser::tab::events::PageEnd;
use crate::browser::tab::lease::{BrowserId, HeldTab, LeaseEnd, TabReturned};
use crate::browser::tab::reset::Traces;
use crate::domain::lane::Lane;

/// Why a tab without script is not kept any more, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum DisposeReason {
    /// It had enough documents.
    Documents,
    /// It is old.
    Age,
    /// Somebody else needs its place.
    Room,
    /// Its page failed, or left more than can be taken away.
    Page,
    /// It could not be reset, or died.
    Broken,
}

impl DisposeReason {
    fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Age => "age",
            Self::Room => "room",
            Self::Page => "page",
            Self::Broken => "broken",
        }
    }
}

/// Takes tabs back for as long as the pool lives.
pub(in crate::browser) struct ReturnedTabs;

impl ActorFuture<BrowserPool> for ReturnedTabs {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        pool: &mut BrowserPool,
        ctx: &mut Context<BrowserPool>,
        task: &mut task::Context<'_>,
    ) -> Poll<()> {
        while let Poll::Ready(Some(returned)) = pool.returned.poll_recv(task) {
            pool.take_back(returned, ctx);
            pool.serve_waiters(ctx);
        }
        Poll::Pending
    }
}

impl BrowserPool {
    pub(in crate::browser) fn take_back(&mut self, returned: TabReturned, ctx: &mut Context<Self>) {
        let TabReturned { mut held, asked, end } = returned;
        let (account, lane) = (asked.account, held.tab.lane());
        self.leased -= 1;
        self.metrics.leased.of([lane.name()]).dec();
        if matches!(end, LeaseEnd::Stalled) {
            let loss = BrowserLoss::Silent("it did not answer when its page was late".to_owned());
            self.lose(held.browser, &loss, ctx);
        }
        // After its loss, in which this page may have had a part.
        self.forget_lease(&held, asked);
        if matches!(held.tab.state().borrow().end, Some(PageEnd::Exceeded(_))) {
            // It kept the browser busy for all others until it was stopped, and the account's next page may do so again.
            self.admit_to_quarantine(asked);
        }
        match (lane, end) {
            (Lane::Scripted, _) => Self::dispose(held, ctx),
            (Lane::Static, LeaseEnd::GivenUp | LeaseEnd::Stalled) => {
                self.dispose_reusable(held, DisposeReason::Page, ctx);
                // If it was the tab and not the page, the next try must not get another one like it.
                for held in self.kept.extract_of(account) {
                    self.dispose_reusable(held, DisposeReason::Page, ctx);
                }
            }
            (Lane::Static, LeaseEnd::Reusable(traces)) => match self.worn_out_by(&held) {
                Some(gone) => self.dispose_reusable(held, gone, ctx),
                None if !self.may_keep(held.browser) => Self::dispose(held, ctx),
                None => {
                    let is_ready = traces.passing;
                    if is_ready {
                        held.tab.renew_state();
                    }
                    held.traces = traces;
                    self.kept.put(account, held, is_ready);
                }
            },
        }
    }

    /// One whose browser died is not forgotten before that is heard of: whose page it was is suspect then.
    fn forget_lease(&mut self, held: &HeldTab, asked: LeaseTab) {
        if let Some(count) = self.leased_by.get_mut(&asked.account) {
            *count -= 1;
            if *count == 0 {
                self.leased_by.remove(&asked.account);
            }
        }
        if !held.tab.has_browser() {
            return;
        }
        if let Some(running) = self.find(held.browser)
            && let Some(at) = running.leases.iter().position(|lease| *lease == asked)
        {
            running.leases.swap_remove(at);
        }
    }

    /// Has those tabs reset that were used; whoever waits for their places has had them by now.
    pub(in crate::browser) fn reset_used(&mut self, ctx: &mut Context<Self>) {
        let limit = Duration::from_millis(self.config.reset_timeout_ms);
        while let Some((ticket, held)) = self.kept.next_to_reset() {
            let reset = async move {
                let done = held.tab.reset(&held.traces, limit).await;
                (held, done)
            };
            ctx.spawn(
                wrap_future::<_, Self>(reset)
                    .map(move |(held, done), pool, ctx| pool.reset_ended(ticket, held, &done, ctx)),
            );
        }
    }

    fn reset_ended(
        &mut self,
        ticket: u64,
        mut held: HeldTab,
        done: &Result<(), StepError>,
        ctx: &mut Context<Self>,
    ) {
        if done.is_ok() && self.may_keep(held.browser) {
            held.traces = Traces::default();
            self.kept.reset_done(ticket, Some(held));
        } else {
            self.kept.reset_done(ticket, None);
            tracing::debug!(?done, "a tab is not kept");
            self.dispose_reusable(held, DisposeReason::Broken, ctx);
        }
        self.serve_waiters(ctx);
    }

    /// Disposes of a tab in which no script ran.
    pub(in crate::browser) fn dispose_reusable(
        &self,
        held: HeldTab,
        why: DisposeReason,
        ctx: &mut Context<Self>,
    ) {
        self.metrics.kept_ended.of([why.name()]).inc();
        Self::dispose(held, ctx);
    }

    /// Until the page is gone it may ask its slot for more: the slot is free after that.
    pub(in crate::browser) fn dispose(held: HeldTab, ctx: &mut Context<Self>) {
        let HeldTab { tab, browser, .. } = held;
        let origin = Arc::clone(tab.origin());
        ctx.spawn(wrap_future::<_, Self>(tab.dispose()).map(move |disposed, pool, ctx| {
            pool.count_tab(browser, -1);
            match disposed {
                Err(error) if error.is_of_browser() => {
                    pool.lose(browser, &BrowserLoss::Silent(error.to_string()), ctx);
                }
                // What is refused is gone already.
                Ok(()) | Err(_) => pool.free_origins.push(origin),
            }
            pool.clear_leaving(ctx);
        }));
    }

    /// Disposes of kept tabs that are old or dead, and has those emptied that still hold a page.
    pub(in crate::browser) fn sweep_kept(&mut self, ctx: &mut Context<Self>) {
        for held in self.kept.extract(|held| !held.tab.is_alive()) {
            self.dispose_reusable(held, DisposeReason::Broken, ctx);
        }
        let born_before = self.oldest_birth();
        for held in self.kept.extract(|held| born_before.is_some_and(|birth| held.since <= birth)) {
            self.dispose_reusable(held, DisposeReason::Age, ctx);
        }
        self.kept.require_reset(|held| held.traces.passing);
        self.serve_waiters(ctx);
    }

    fn worn_out_by(&self, held: &HeldTab) -> Option<DisposeReason> {
        if held.documents >= self.config.reuse_documents {
            Some(DisposeReason::Documents)
        } else if self.oldest_birth().is_some_and(|birth| held.since <= birth) {
            Some(DisposeReason::Age)
        } else {
            (!held.tab.is_alive()).then_some(DisposeReason::Broken)
        }
    }

    /// What was made by then is too old; `None` where nothing can be.
    fn oldest_birth(&self) -> Option<Instant> {
        Instant::now().checked_sub(Duration::from_secs(self.config.reuse_age_s))
    }

    /// Whether a tab of `browser` may be kept: it does not leave, and its tabs are for anybody.
    fn may_keep(&self, browser: BrowserId) -> bool {
        self.is_common(browser) && self.placed().any(|running| running.id == browser)
    }
}
