//! Release: a tab whose lease has ended is disposed of, or reset for reuse by its account.
//!
//! Which tabs are reused, and for whom: `reuse.rs`. What a reset does: `tab/reset.rs`, and `tab/clean.rs` for pages with
//! script.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;

use super::actor::BrowserPool;
use super::browsers::{BrowserLoss, Purpose};
use super::reuse::ReuseKey;
use crate::browser::chromium::memory::RendererTime;
use crate::browser::tab::lease::{BrowserId, HeldTab, LeaseEnd, LeaseTab, TabReturned};
use crate::browser::tab::page_state::PageEnd;
use crate::browser::tab::reset::{self, ReadyTab};
use crate::browser::tab::traces::ResetError;
use crate::config::ScriptedReuse;
use crate::domain::lane::Lane;
use crate::domain::site::ContentHash;

/// How long a scripted page stays in its tab for the next one to replace. Then the tab is reset to an empty document, which
/// costs processor time: under load the next page comes sooner, and the reset is saved.
const UNREPLACED_LIMIT: Duration = Duration::from_millis(100);

/// Why a tab that came back is disposed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisposeReason {
    /// It had enough documents.
    Documents,
    Age,
    NeededByWaiter,
    /// Its page failed, or has left more than a reset takes away.
    Page,
    /// Its renderer process holds too much, or yields to all others.
    Worn,
    /// It could not be reset, or died.
    Broken,
}

impl DisposeReason {
    fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Age => "age",
            Self::NeededByWaiter => "room",
            Self::Page => "page",
            Self::Worn => "worn",
            Self::Broken => "broken",
        }
    }
}

impl BrowserPool {
    /// Takes a tab back: it is stored among the reusable ones, which [`Self::reset_used`] resets, or disposed of.
    pub(super) fn release(&mut self, returned: TabReturned, ctx: &mut Context<Self>) {
        let TabReturned { mut held, request, end, was_beside } = returned;
        let lane = held.tab.lane;
        if was_beside {
            self.beside -= 1;
        } else {
            self.leased -= 1;
        }
        self.metrics.leased.of([lane.name()]).dec();
        if matches!(end, LeaseEnd::Stalled) {
            let loss = BrowserLoss::Silent("it did not answer when its page was late".to_owned());
            self.lose(held.browser, &loss, ctx);
        }
        // After the loss: this page may be its reason, and its lease makes the account a suspect.
        let is_worn = self.is_static_renderer_worn(&held);
        self.forget_lease(&held, request);
        let page_end = held.tab.state().borrow().end;
        if matches!(page_end, Some(PageEnd::Exceeded(_))) {
            // It slowed the browser for all pages until it was stopped, and the account's next page may do so again.
            self.admit_to_quarantine(request);
        }
        if page_end == Some(PageEnd::NeedsGraphics) {
            self.note_drawing(request);
        }
        if matches!(self.purpose(held.browser), Purpose::Graphics(_)) && matches!(end, LeaseEnd::Failed) {
            // Hazard: a shader of it may run for ever, and nothing else would stop that.
            let loss = BrowserLoss::Unusable("a page that draws failed in it");
            self.lose(held.browser, &loss, ctx);
        }
        let Some(key) = self.reuse_key(request) else { return Self::dispose(held, ctx) };
        match end {
            LeaseEnd::NotReusable => self.dispose_and_count(held, DisposeReason::Page, ctx),
            LeaseEnd::Reusable(_) if was_beside || is_worn => {
                self.dispose_and_count(held, DisposeReason::Worn, ctx);
            }
            LeaseEnd::Failed | LeaseEnd::Stalled => {
                self.dispose_and_count(held, DisposeReason::Page, ctx);
                // If the tab was the reason, the next try must not get another one like it. With script it was most likely
                // the page, and each tab is a process of its own.
                if lane == Lane::Static {
                    for held in self.reusable.extract_of(key) {
                        self.dispose_and_count(held, DisposeReason::Page, ctx);
                    }
                }
            }
            // A template that is new and that no waiter asks for: to clean its tab would take processor time from other
            // pages.
            LeaseEnd::Reusable(_) if !self.note_and_expect_again(key) => Self::dispose(held, ctx),
            LeaseEnd::Reusable(traces) => match self.retire_reason(&held) {
                Some(reason) => self.dispose_and_count(held, reason, ctx),
                None if !self.may_reuse(held.browser) => Self::dispose(held, ctx),
                None => {
                    let is_ready = traces.in_place;
                    if is_ready {
                        held.tab.events.reset();
                    }
                    held.traces = traces;
                    self.reusable.put(key, held, is_ready);
                }
            },
        }
    }

    /// Which pages may get the tab of `request` after its page; `None` where none may.
    pub(super) fn reuse_key(&self, request: LeaseTab) -> Option<ReuseKey> {
        let content = match (request.lane, self.config.scripted_reuse) {
            (Lane::Static, _) => None,
            (Lane::Scripted, ScriptedReuse::Never) => return None,
            (Lane::Scripted, ScriptedReuse::Template) => Some(request.content?),
            (Lane::Scripted, ScriptedReuse::Account) => {
                request.content?;
                Some(ContentHash::default())
            }
        };
        Some(ReuseKey { account: request.account, content })
    }

    /// Notes a page of `key`, and says whether another one is likely: without script always, with script where one was rendered
    /// lately or waits now.
    fn note_and_expect_again(&mut self, key: ReuseKey) -> bool {
        let is_awaited = |pool: &Self| pool.waiters.iter().any(|it| pool.reuse_key(it.request) == Some(key));
        key.content.is_none() || self.recent.note(key) || is_awaited(self)
    }

    /// Forgets the lease, except in a browser that died: until the pool has handled that loss its accounts are suspects.
    fn forget_lease(&mut self, held: &HeldTab, request: LeaseTab) {
        if let Some(count) = self.leased_by.get_mut(&request.account) {
            *count -= 1;
            if *count == 0 {
                self.leased_by.remove(&request.account);
            }
        }
        if held.tab.connection.is_closed() {
            return;
        }
        if let Some(running) = self.find(held.browser) {
            running.leases.retain(|lease| !Arc::ptr_eq(&lease.renderer, &held.tab.events.renderer));
        }
    }

    /// Whether the renderer of a static tab may show no other page. With script it is judged when the tab is reset, which takes
    /// processor time as well.
    fn is_static_renderer_worn(&mut self, held: &HeldTab) -> bool {
        let renderer = held.tab.events.renderer.get().filter(|_| held.tab.lane == Lane::Static).copied();
        let time = renderer.and_then(RendererTime::of);
        time.is_some_and(|time| !self.is_renderer_reusable(held.browser, time))
    }

    /// Resets used tabs. Those whose places waiters need were evicted before.
    pub(super) fn reset_used(&mut self, ctx: &mut Context<Self>) {
        let limit = Duration::from_millis(self.config.reset_timeout_ms);
        while let Some((ticket, held)) = self.reusable.next_to_reset() {
            let reset = async move {
                let done = reset::reset(&held.tab, &held.traces, limit).await;
                (held, done)
            };
            ctx.spawn(
                wrap_future::<_, Self>(reset)
                    .map(move |(held, done), pool, ctx| pool.reset_ended(ticket, held, done, ctx)),
            );
        }
    }

    fn reset_ended(
        &mut self,
        ticket: u64,
        mut held: HeldTab,
        done: Result<ReadyTab, ResetError>,
        ctx: &mut Context<Self>,
    ) {
        let ready = match done {
            Err(error) => {
                tracing::debug!(%error, "a tab is not kept");
                Err(DisposeReason::Broken)
            }
            Ok(_) if !self.may_reuse(held.browser) => Err(DisposeReason::Broken),
            Ok(ReadyTab { renderer: Some(it), .. }) if !self.is_renderer_reusable(held.browser, it.time) => {
                Err(DisposeReason::Worn)
            }
            Ok(ReadyTab { renderer: Some(it), traces })
                if it.resident_bytes > self.config.reuse_memory_mb << 20 =>
            {
                // This counts the memory of the old document too: the tab is reset to an empty one, and measured again.
                if traces.unreplaced_since.is_some() {
                    held.traces = traces;
                    self.reusable.reset_again(ticket, held);
                    return self.serve_waiters(ctx);
                }
                Err(DisposeReason::Worn)
            }
            Ok(ready) => Ok(ready.traces),
        };
        match ready {
            Err(reason) => {
                self.reusable.reset_done(ticket, None);
                self.dispose_and_count(held, reason, ctx);
            }
            Ok(traces) => {
                if traces.unreplaced_since.is_some() {
                    ctx.run_later(UNREPLACED_LIMIT, Self::reset_unreplaced);
                }
                held.traces = traces;
                self.reusable.reset_done(ticket, Some(held));
            }
        }
        self.serve_waiters(ctx);
    }

    /// Resets the tabs whose last page was left in them for long enough.
    fn reset_unreplaced(&mut self, ctx: &mut Context<Self>) {
        let is_over = |since: Instant| since.elapsed() >= UNREPLACED_LIMIT;
        self.reusable.require_reset(|held| held.traces.unreplaced_since.is_some_and(is_over));
        self.reset_used(ctx);
    }

    /// Whether a renderer may show another page, and counts the processor time of that page from now on. Hazard: a renderer
    /// that was made to yield stays so (its niceness cannot be lowered again), and would show the next page slowly. So one that
    /// yields, or has used so much time that it is about to, is not reused.
    fn is_renderer_reusable(&mut self, browser: BrowserId, time: RendererTime) -> bool {
        let RendererTime { process, processor, yields } = time;
        let most = self.undisturbed();
        let Some(running) = self.find(browser) else { return false };
        let before = running.renderers.insert(process, processor).unwrap_or_default();
        processor.saturating_sub(before) < most && !yields
    }

    /// Disposes of a tab that came back, and counts why it is not reused.
    pub(super) fn dispose_and_count(&self, held: HeldTab, why: DisposeReason, ctx: &mut Context<Self>) {
        self.metrics.reusable_closed.of([why.name()]).inc();
        Self::dispose(held, ctx);
    }

    /// Hazard: until the page is gone it may send requests, and a server that serves another tab by then would give it that
    /// tab's files. So the server is free only after that.
    pub(super) fn dispose(held: HeldTab, ctx: &mut Context<Self>) {
        let HeldTab { tab, browser, .. } = held;
        let server = Arc::clone(&tab.server);
        let renderer = tab.events.renderer.get().copied();
        ctx.spawn(wrap_future::<_, Self>(tab.dispose()).map(move |disposed, pool, ctx| {
            pool.count_tab(browser, -1);
            if let (Some(renderer), Some(running)) = (renderer, pool.find(browser)) {
                running.renderers.remove(&renderer);
            }
            match disposed {
                Err(error) if error.is_of_browser() => {
                    pool.lose(browser, &BrowserLoss::Silent(error.to_string()), ctx);
                }
                // A refusal means that the context is gone already.
                Ok(()) | Err(_) => pool.free_servers.push(server),
            }
            // A browser of one account may have waited for the end of its page.
            pool.serve_waiters(ctx);
        }));
    }

    /// Disposes of reusable tabs that are old or dead, and has those reset that still hold a page.
    pub(super) fn sweep_reusable(&mut self, ctx: &mut Context<Self>) {
        for held in self.reusable.extract(|held| !held.tab.is_alive()) {
            self.dispose_and_count(held, DisposeReason::Broken, ctx);
        }
        let oldest = self.oldest_creation();
        for held in self.reusable.extract(|held| oldest.is_some_and(|oldest| held.created <= oldest)) {
            self.dispose_and_count(held, DisposeReason::Age, ctx);
        }
        self.reusable.require_reset(|held| held.traces.in_place);
        self.serve_waiters(ctx);
    }

    /// Why the tab may have no further page, if so.
    fn retire_reason(&self, held: &HeldTab) -> Option<DisposeReason> {
        if held.documents >= self.config.reuse_documents {
            Some(DisposeReason::Documents)
        } else if self.oldest_creation().is_some_and(|oldest| held.created <= oldest) {
            Some(DisposeReason::Age)
        } else {
            (!held.tab.is_alive()).then_some(DisposeReason::Broken)
        }
    }

    /// Tabs made before this are too old; `None` where none can be.
    fn oldest_creation(&self) -> Option<Instant> {
        Instant::now().checked_sub(Duration::from_secs(self.config.reuse_age_s))
    }

    /// Whether a tab of `browser` may be reused: it is not draining, and all accounts share it.
    fn may_reuse(&self, browser: BrowserId) -> bool {
        self.is_shared(browser) && self.placed().any(|running| running.id == browser)
    }
}
