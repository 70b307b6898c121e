//! Measured: what the processes of each browser hold of memory and take of the processor; who yields the processor by that.
//!
//! Hazard: all processes of a browser are of one session, and the processor is shared by sessions first. Beside a long page
//! programs of other accounts would get a small part of a processor. So the session of a browser with a long page gets little
//! while another job runs: a program, or a page in another browser. But then a short page of another account in that browser would
//! get next to nothing. So the session gets twice as much as a program while the browser shows a page of an account that had no
//! long page lately. Within the session long pages yield to short ones by their niceness. Where no other job runs, the session
//! keeps its whole share: what else is on the machine would leave a long page almost nothing, and the page would end at its time
//! limit.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;
use tokio::task::spawn_blocking;

use super::actor::BrowserPool;
use super::browsers::{BrowserLoss, Leased, RunningBrowser};
use crate::browser::chromium::capacity;
use crate::browser::chromium::memory::{self, MemoryReading, PageProcess, Reading, Yields};
use crate::browser::tab::lease::{BrowserId, HeldTab};
use crate::browser::tab::tab::Tab;
use crate::domain::ids::AccountId;
use crate::workers::{LOWEST_AFTER, SessionShare, processor_time};

/// A page is long once it took this part of `browser.yield_after_ms`: what a session gets can be changed again.
const LONG_PART: u32 = 4;
/// A session goes on with its share for so long after the last page or program for which it has it. The kernel takes a change of a
/// session in 0.1 s, of all unprivileged users together, so there are to be few.
const HELD_FOR: Duration = Duration::from_secs(2);
/// How long an account is remembered for a long page.
const REMEMBERED_FOR: Duration = Duration::from_secs(10);
/// The kernel did not take a change: it is tried again after this.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// The processor time of a renderer of which no tab is known counts anew after this: one of an idle tab takes a little all the time.
const STRANGER_FOR: Duration = Duration::from_secs(4);

impl BrowserPool {
    /// Measures every browser.
    pub(super) fn measure(&mut self, ctx: &mut Context<Self>) {
        let all: Vec<_> = self.all().map(|running| running.id).collect();
        for browser in all {
            self.measure_browser(browser, ctx);
        }
    }

    /// Whether the session of a browser is to get more again.
    pub(super) fn is_a_share_reduced(&self) -> bool {
        self.all().any(|running| running.share != SessionShare::Whole)
    }

    /// Notes the renderer of a new tab: until the tab has a page, what it takes counts for nobody.
    pub(super) fn note_tab(&mut self, browser: BrowserId, tab: &Tab) {
        if let (Some(renderer), Some(running)) = (tab.events.renderer.get(), self.find(browser)) {
            running.renderers.insert(*renderer, Duration::ZERO);
        }
    }

    /// Notes what the renderer of a tab has taken before its first page.
    pub(super) fn note_first_page(&mut self, held: &HeldTab) {
        if let Some(renderer) = held.tab.events.renderer.get()
            && let Some(used) = processor_time(*renderer)
            && let Some(running) = self.find(held.browser)
        {
            running.renderers.insert(*renderer, used);
        }
    }

    /// Notes that the browser shows a page of `account`.
    pub(super) fn note_page(&mut self, browser: BrowserId, account: AccountId) {
        if self.had_long_page(account) {
            return;
        }
        if let Some(running) = self.find(browser) {
            running.short_until = Some(Instant::now() + HELD_FOR);
        }
    }

    /// Has sessions get more at once where a short page has begun beside long ones.
    pub(super) fn raise_shares(&mut self, ctx: &mut Context<Self>) {
        let is_poor = |running: &&RunningBrowser| {
            running.share == SessionShare::Little && self.share_when_long(running) != SessionShare::Little
        };
        let poor: Vec<_> = self.all().filter(is_poor).map(|running| running.id).collect();
        for browser in poor {
            self.measure_browser(browser, ctx);
        }
    }

    /// Processor time after which a page's renderer yields, and its tab is not reused.
    pub(super) fn undisturbed(&self) -> Duration {
        Duration::from_millis(self.config.yield_after_ms)
    }

    fn had_long_page(&self, account: AccountId) -> bool {
        self.long_page_accounts.get(&account).is_some_and(|until| Instant::now() < *until)
    }

    /// Whether the browser shows a page of an account that had no long page lately, or did a moment ago.
    fn has_short_page(&self, running: &RunningBrowser) -> bool {
        let had_one = running.short_until.is_some_and(|until| Instant::now() < until);
        had_one || running.leases.iter().any(|lease| !self.had_long_page(lease.request.account))
    }

    fn share_when_long(&self, running: &RunningBrowser) -> SessionShare {
        let runs_program = self.program_seen.is_some_and(|seen| seen.elapsed() < HELD_FOR);
        let mut others = self.all().filter(|other| other.id != running.id);
        if !runs_program && !others.any(|other| self.has_short_page(other)) {
            SessionShare::Whole
        } else if self.has_short_page(running) {
            SessionShare::Large
        } else {
            SessionShare::Little
        }
    }

    fn measure_browser(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        if self.engines.is_used() {
            self.program_seen = Some(Instant::now());
        }
        let limit_bytes = capacity::renderer_limit_mb(self.config.renderer_memory_limit_mb) << 20;
        let Some(running) = self.find(browser).filter(|running| !running.is_measured) else { return };
        running.is_measured = true;
        let (process, kills) = (running.chromium.id(), running.kills.clone());
        let reading = spawn_blocking(move || memory::read(process, limit_bytes, &kills));
        ctx.spawn(wrap_future::<_, Self>(reading).map(move |reading, pool, ctx| match reading {
            Ok(reading) => pool.measured(browser, &reading, ctx),
            Err(_) => pool.end_measure(browser),
        }));
    }

    fn measured(&mut self, browser: BrowserId, reading: &Reading, ctx: &mut Context<Self>) {
        let (now, undisturbed) = (Instant::now(), self.undisturbed());
        let Some(running) = self.find(browser) else { return };
        let (process, memory) = (running.chromium.id(), reading.memory);
        running.memory = memory;
        let used = running.used(&reading.pages, now);
        let of_renderers: Vec<_> =
            used.iter().filter(|(page, _)| !page.draws).map(|(page, used)| (page.process, *used)).collect();
        let is_long = |(_, used): &(i32, Duration)| *used > undisturbed / LONG_PART;
        let long: Vec<_> = of_renderers.iter().copied().filter(is_long).collect();
        if !long.is_empty() {
            running.long_until = Some(now + HELD_FOR);
        }
        let has_long = running.long_until.is_some_and(|until| now < until);
        let accounts = accounts_of(&long, &running.leases);
        self.long_page_accounts.retain(|_, until| now < *until);
        self.long_page_accounts.extend(accounts.into_iter().map(|account| (account, now + REMEMBERED_FOR)));
        let Some(running) = self.all().find(|running| running.id == browser) else { return };
        let share = if has_long { self.share_when_long(running) } else { SessionShare::Whole };
        let lowest = undisturbed.saturating_mul(LOWEST_AFTER);
        let yields = Yields {
            low: used.iter().filter(|(_, used)| *used > undisturbed).map(|(page, _)| page.process).collect(),
            lowest: of_renderers
                .iter()
                .filter(|(_, used)| *used > lowest)
                .map(|(process, _)| *process)
                .collect(),
            share,
        };
        let applied = spawn_blocking(move || yields.apply(process));
        ctx.spawn(wrap_future::<_, Self>(applied).map(move |is_done, pool, ctx| {
            if is_done.unwrap_or(true) {
                pool.set_share(browser, share, ctx);
            } else {
                ctx.run_later(RETRY_PAUSE, move |pool, ctx| {
                    pool.end_measure(browser);
                    pool.measure_browser(browser, ctx);
                });
            }
        }));
        self.memory_measured(browser, memory, ctx);
    }

    /// Reports the memory of all browsers, and ends this one where its own process holds too much.
    fn memory_measured(&mut self, browser: BrowserId, memory: MemoryReading, ctx: &mut Context<Self>) {
        let sum = self.all().fold(MemoryReading::default(), |sum, running| sum.and(running.memory));
        for (part, bytes) in [("own", sum.own), ("pages", sum.pages), ("other", sum.other)] {
            self.metrics.memory.of([part]).set(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
        if memory.own > self.config.own_memory_limit_mb << 20 {
            self.lose(browser, &BrowserLoss::Filled { own_mb: memory.own >> 20 }, ctx);
        }
    }

    fn set_share(&mut self, browser: BrowserId, share: SessionShare, ctx: &mut Context<Self>) {
        self.end_measure(browser);
        if let Some(running) = self.find(browser) {
            running.share = share;
        }
        // A page may have begun meanwhile.
        self.raise_shares(ctx);
    }

    fn end_measure(&mut self, browser: BrowserId) {
        if let Some(running) = self.find(browser) {
            running.is_measured = false;
        }
    }
}

impl RunningBrowser {
    /// The processes that compute for open pages, and the processor time that each took for its page. Idle tabs are none.
    fn used(&mut self, pages: &[PageProcess], now: Instant) -> Vec<(PageProcess, Duration)> {
        let is_leased = |process| self.leases.iter().any(|lease| lease.renderer.get() == Some(&process));
        let mut strangers = HashMap::new();
        let mut used = Vec::new();
        for page in pages {
            let before = match self.renderers.get(&page.process) {
                // What draws has no page of its own, with which its time would count anew.
                _ if page.draws => Duration::ZERO,
                Some(before) if is_leased(page.process) => *before,
                Some(_) => continue,
                // No page is open, so it is one of an idle tab; its time counts anew with the next page.
                None if self.leases.is_empty() => continue,
                None if is_leased(page.process) => {
                    // It became known by its first page. Where it was never measured before, it was started for that.
                    let before =
                        self.strangers.get(&page.process).map_or(Duration::ZERO, |(_, before)| *before);
                    self.renderers.insert(page.process, before);
                    before
                }
                None => {
                    let known = self.strangers.get(&page.process);
                    let known = known.filter(|(since, _)| now.duration_since(*since) < STRANGER_FOR);
                    let (since, before) = known.copied().unwrap_or((now, page.processor));
                    strangers.insert(page.process, (since, before));
                    before
                }
            };
            used.push((*page, page.processor.saturating_sub(before)));
        }
        self.strangers = strangers;
        used
    }
}

/// The accounts of long pages. Where nobody knows whose page a renderer shows, it is that of the oldest lease that is as old as the
/// page's processor time, first of those that tell no renderer.
fn accounts_of(long: &[(i32, Duration)], leases: &[Leased]) -> Vec<AccountId> {
    let tells = |lease: &&Leased| lease.renderer.get().is_some();
    let mut by_age: Vec<_> = leases.iter().collect();
    by_age.sort_by_key(|lease| (tells(lease), lease.since));
    let owner = |&(renderer, used): &(i32, Duration)| {
        if let Some(lease) = leases.iter().find(|lease| lease.renderer.get() == Some(&renderer)) {
            return Some(lease.request.account);
        }
        let at = by_age.iter().position(|lease| lease.since.elapsed() >= used)?;
        Some(by_age.remove(at).request.account)
    };
    long.iter().filter_map(owner).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::*;
    use crate::browser::tab::lease::LeaseTab;
    use crate::domain::lane::Lane;

    fn leased(account: AccountId, renderer: Option<i32>, age: Duration) -> Leased {
        let known = renderer.map_or_else(OnceLock::new, OnceLock::from);
        let since = Instant::now().checked_sub(age).unwrap();
        Leased { request: LeaseTab::new(account, Lane::Scripted), renderer: Arc::new(known), since }
    }

    #[test]
    fn a_long_page_is_of_the_account_whose_renderer_it_is_or_of_the_oldest_lease_that_may_be_it() {
        let [told, old, older, young] = [(); 4].map(|()| AccountId::generate());
        let second = Duration::from_secs(1);
        let leases = [
            leased(told, Some(1), second),
            leased(old, None, second * 2),
            leased(young, None, second / 10),
            leased(older, None, second * 3),
        ];
        assert_eq!(accounts_of(&[(1, second / 2)], &leases), [told]);
        assert_eq!(accounts_of(&[(9, second)], &leases), [older]);
        assert_eq!(accounts_of(&[(8, second), (9, second), (7, second)], &leases), [older, old, told]);
        assert_eq!(accounts_of(&[(9, second * 4)], &leases), [], "it is of a tab whose lease has ended");
    }
}
