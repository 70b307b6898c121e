//! Resets a used tab for the next page of its account.
//!
//! What a document holds goes with it. The rest is undone here (medium, viewport, history; after script also what `clean.rs`
//! has), or makes the tab not reusable: anything that an allowed host sent (cookies, cache, HSTS), a time zone or locale,
//! which hold for the whole renderer, the memory of a heavy page, and a log that was switched off.
//!
//! To show an empty document takes a fifth of a small page's processor time. So a page with script that has nothing but its
//! one document stays in the tab, with script off: the next page takes its place (`page/follow.rs`) and cleans the tab while
//! its own document is still empty. Where none comes soon, the tab is reset again, to an empty document.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headless_chrome::protocol::cdp::{Emulation, Network, Page, Target};

use super::clean;
use super::page_state::PageState;
use super::plain::Plain;
use super::tab::Tab;
use super::traces::{ResetError, Traces};
use crate::browser::cdp::commands;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::chromium::memory::RendererUse;
use crate::domain::lane::Lane;

/// A tab that is ready for the next page of its account.
#[derive(Debug, Default)]
pub(in crate::browser) struct ReadyTab {
    /// Memory and processor time of its renderer, where script has run.
    pub renderer: Option<RendererUse>,
    /// What is left in the tab.
    pub traces: Traces,
}

/// Makes the tab ready and forgets the page. It takes 4 ms; a job that waits is better served by a new tab than after
/// `limit`.
pub(in crate::browser) async fn reset(
    tab: &Tab,
    traces: &Traces,
    limit: Duration,
) -> Result<ReadyTab, ResetError> {
    tab.server.clear();
    let reset = tokio::time::timeout(limit, clear(tab, traces, limit));
    reset.await.unwrap_or(Err(ResetError::Late))
}

async fn clear(tab: &Tab, traces: &Traces, limit: Duration) -> Result<ReadyTab, ResetError> {
    if tab.lane == Lane::Scripted
        && let Some(renderer) = end_scripts(tab, traces, limit).await?
    {
        look_for_lasting(tab, traces)?;
        tab.events.reset_at_next_document();
        let traces = Traces { unreplaced_since: Some(Instant::now()), ..traces.clone() };
        return Ok(ReadyTab { renderer: Some(renderer), traces });
    }
    let blank = show_nothing(tab, limit).await?;
    let mut calls = PendingCalls::default();
    if tab.lane == Lane::Scripted {
        calls.push(tab.send(&commands::evaluate(clean::FORGET_NAME.to_owned()))?, limit);
    }
    forget_settings(tab, traces, limit, &mut calls)?;
    let renderer = forget_page(tab, traces, limit).await?;
    calls.finish().await?;
    if tab.state().borrow().document != blank {
        return Err(ResetError::Unclean("the page before went on to another document"));
    }
    tab.events.reset();
    Ok(ReadyTab { renderer, traces: Traces::default() })
}

/// Takes back what was set for the page: its medium, its viewport, and our scripts, one of which has its data.
pub(in crate::browser) fn forget_settings(
    tab: &Tab,
    traces: &Traces,
    limit: Duration,
    calls: &mut PendingCalls,
) -> Result<(), ResetError> {
    for script in &traces.scripts {
        let remove = Page::RemoveScriptToEvaluateOnNewDocument { identifier: script.clone() };
        calls.push(tab.send(&remove)?, limit);
    }
    if traces.is_emulated {
        let plain = Plain::of(tab.lane);
        calls.push(tab.send(&plain.media())?, limit);
        match tab.lane {
            Lane::Static => calls.push(tab.send(&Emulation::ClearDeviceMetricsOverride(None))?, limit),
            Lane::Scripted => {
                calls.push(tab.send(&commands::device_metrics(plain.viewport, false))?, limit);
                let background = Emulation::SetDefaultBackgroundColorOverride { color: None };
                calls.push(tab.send(&background)?, limit);
            }
        }
    }
    Ok(())
}

/// Undoes what a page leaves beside its document, which has gone. Returns the use of its renderer, where script has run.
pub(in crate::browser) async fn forget_page(
    tab: &Tab,
    traces: &Traces,
    limit: Duration,
) -> Result<Option<RendererUse>, ResetError> {
    let mut calls = PendingCalls::default();
    if traces.session.is_some() {
        calls.push(tab.send(&Page::ResetNavigationHistory(None))?, limit);
    }
    let renderer = match tab.lane {
        Lane::Static => None,
        Lane::Scripted => Some(clean::clean(tab, traces, limit).await?),
    };
    calls.finish().await?;
    look_for_lasting(tab, traces)?;
    Ok(renderer)
}

/// Fails where something is left that no call can undo.
fn look_for_lasting(tab: &Tab, traces: &Traces) -> Result<(), ResetError> {
    let is_scripted = tab.lane == Lane::Scripted;
    let lasting = [
        // A request may have been let through after the file was made.
        (traces.are_foreign(), "an allowed host answered the page before"),
        (is_scripted && traces.have_service_worker(), "the page before has a service worker"),
        (tab.events.has_late_frames.load(Ordering::Relaxed), "the page before made frames when it had ended"),
        (tab.events.monitor.has_had_workers(), "the page before had workers"),
        (!tab.events.may_make_entries(), "pages before have made too many entries in the history"),
        // The log stays off in this tab: failed requests of the next page would go unreported.
        (tab.state().borrow().failures.is_muted(), "too many requests of the page before failed"),
        // The console stays off as well: its exceptions and errors would go unreported.
        (tab.events.has_lost_console(), "the console of the page before was switched off"),
        (tab.state().borrow().idle.is_flooded(), "the page before has reported too much"),
    ];
    let found = lasting.into_iter().find(|(is_there, _)| *is_there);
    found.map_or(Ok(()), |(_, what)| Err(ResetError::Unclean(what)))
}

/// Switches script off, so that no handler of the page's end (`pagehide`) runs, which could take as long as it likes. Two
/// exceptions: handlers in frames that have a process of their own, and what follows an `await` that Chromium answers.
///
/// Returns the use of the page's renderer where its document may stay until the next page takes its place; otherwise `None`:
/// - with frames, which may run in processes of their own, where script is not off;
/// - while it loads, for the navigation may replace it by another document;
/// - where its process is not known, by which its use is read.
///
/// What the page begins after this check is found when the tab is cleaned (`clean.rs`).
async fn end_scripts(tab: &Tab, traces: &Traces, limit: Duration) -> Result<Option<RendererUse>, ResetError> {
    let script_off = Emulation::SetScriptExecutionDisabled { value: true };
    let process = tab.events.renderer.get().copied();
    let (None, Some(_), Some(process)) = (traces.unreplaced_since, &traces.session, process) else {
        tab.call_within(script_off, limit).await?;
        return Ok(None);
    };
    // Waited for: the renderer switches script off, and Chromium's own process would answer the next calls before that.
    tab.call_within(script_off, limit).await?;
    let mut calls = PendingCalls::default();
    // A navigation that has begun would hold back the next call.
    calls.push(tab.send(&Page::StopLoading(None))?, limit);
    // The renderer answers this behind what it has reported of frames until now.
    calls.push(tab.send(&Network::Disable(None))?, limit);
    let targets = tab.connection.send(None, &Target::GetTargets { filter: None })?;
    let has_others = clean::has_others(tab, &targets.answer(limit).await?.target_infos);
    calls.finish().await?;
    let has_loaded = {
        let state = tab.state();
        let state = state.borrow();
        state.is_loaded && state.documents == 1
    };
    let stays = has_loaded && tab.events.frames.load(Ordering::Relaxed) == 0 && !has_others;
    Ok(if stays { RendererUse::of(process) } else { None })
}

/// Shows an empty document, and returns its loader.
async fn show_nothing(tab: &Tab, limit: Duration) -> Result<Option<String>, ResetError> {
    let mut state = tab.state();
    let blank = commands::navigate("about:blank".to_owned());
    let shown = tab.call_within(blank, limit).await?;
    if let Some(error) = shown.error_text {
        return Err(ResetError::NotBlank(error));
    }
    // A navigation that the page has begun may come first.
    let is_shown = |it: &PageState| it.is_loaded && it.document == shown.loader_id;
    let is_blank = state.wait_for(|it| it.end.is_some() || is_shown(it));
    if let Some(end) = is_blank.await.ok().and_then(|state| state.end) {
        return Err(ResetError::Ended(end));
    }
    if tab.lane == Lane::Scripted {
        tab.call_within(Emulation::SetScriptExecutionDisabled { value: false }, limit).await?;
    }
    Ok(shown.loader_id)
}
