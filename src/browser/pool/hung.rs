//! Looks for processes of browsers that hang, and ends them: `chromium/hung.rs` says by which signs.
//!
//! While a page waits there are several looks within `browser.hung_ms`; otherwise one at each ping.

use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::prelude::*;
use headless_chrome::protocol::cdp::Browser::GetVersion;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::actor::BrowserPool;
use super::browsers::BrowserLoss;
use crate::browser::chromium::hung::{self, Hung, Look, ProcessKind};
use crate::browser::chromium::kills::RendererEnd;
use crate::browser::tab::lease::BrowserId;

impl BrowserPool {
    pub(super) fn watch_for_hung(&self, ctx: &mut Context<Self>) {
        if self.config.hung_ms > 0 {
            ctx.run_interval(hung::pause(self.hung_limit()), |pool, ctx| {
                if pool.leased + pool.beside > 0 || !pool.waiters.is_empty() {
                    pool.look_for_hung(ctx);
                }
            });
        }
    }

    fn hung_limit(&self) -> Duration {
        Duration::from_millis(self.config.hung_ms)
    }

    pub(super) fn look_for_hung(&mut self, ctx: &mut Context<Self>) {
        if self.config.hung_ms == 0 {
            return;
        }
        let all: Vec<_> = self.all().map(|it| (it.id, it.chromium.id())).collect();
        for (browser, process) in all {
            let Some(running) = self.find(browser) else { continue };
            // A look that takes so long is itself late, and the next one counts as late too.
            if std::mem::replace(&mut running.hung_watch.is_looking, true) {
                continue;
            }
            let began_at = Instant::now();
            let look = tokio::task::spawn_blocking(move || hung::look(process));
            ctx.spawn(wrap_future::<_, Self>(look).map(move |look, pool, ctx| {
                pool.looked(browser, look.unwrap_or_default(), began_at, ctx);
            }));
        }
    }

    fn looked(&mut self, browser: BrowserId, look: Look, began_at: Instant, ctx: &mut Context<Self>) {
        let limit = self.hung_limit();
        let Some(running) = self.find(browser) else { return };
        running.hung_watch.is_looking = false;
        let found = running.hung_watch.judge(look, began_at, limit);
        if running.hung_watch.wants_answer() {
            self.ask(browser, ctx);
        }
        for hung in found {
            self.end_hung(browser, hung, ctx);
        }
    }

    /// Asks the browser process for what it needs nobody else. One that does not answer is lost.
    pub(super) fn ask(&mut self, browser: BrowserId, ctx: &mut Context<Self>) {
        let limit = Duration::from_millis(self.config.call_timeout_ms);
        let Some(running) = self.find(browser) else { return };
        running.hung_watch.asked_at.get_or_insert_with(Instant::now);
        let connection = running.chromium.connection.clone();
        let answered = async move { connection.call(None, GetVersion(None), limit).await };
        ctx.spawn(wrap_future::<_, Self>(answered).map(move |answered, pool, ctx| match answered {
            Ok(_) => pool.find(browser).into_iter().for_each(|running| running.hung_watch.answered()),
            Err(error) => pool.lose(browser, &BrowserLoss::Silent(error.to_string()), ctx),
        }));
    }

    /// Ends a renderer alone, for another process the whole browser.
    fn end_hung(&mut self, browser: BrowserId, hung: Hung, ctx: &mut Context<Self>) {
        let Some(running) = self.find(browser) else { return };
        let is_renderer = hung.kind == ProcessKind::Renderer;
        if is_renderer && !running.kills.announce(hung.process, RendererEnd::Hung) {
            return;
        }
        tracing::warn!(
            browser.pid = running.chromium.id(),
            process.kind = hung.kind.name(),
            process.pid = hung.process,
            "a process of Chromium {} and is ended",
            hung.sign()
        );
        self.metrics.hung.of([hung.kind.name()]).inc();
        if is_renderer {
            let _ = kill(Pid::from_raw(hung.process), Signal::SIGKILL);
        } else {
            self.lose(browser, &BrowserLoss::Hung(hung), ctx);
        }
    }
}
