//! A tab in which a page was shown, made ready for the next one of its account.
//!
//! What a document holds goes with it. What remains is either undone here (medium, viewport, history; for a page with script
//! what `clean.rs` has besides), or makes the tab one that is not reused: whatever an allowed host sent (cookies, what it
//! had cached, how it wants to be reached), a time zone or a language, which are the whole renderer's, the memory that a
//! heavy page leaves behind, and a log that was switched off.

use std::time::Duration;

use headless_chrome::protocol::cdp::{Emulation, Page};

use super::clean;
use super::page_state::PageState;
use super::tab::Tab;
use super::traces::{ResetError, Traces};
use crate::browser::cdp::commands;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::chromium::memory::RendererUse;
use crate::domain::format_opts::Viewport;
use crate::domain::lane::Lane;

/// Shows nothing again, in a new document, and forgets the page. It takes 4 ms: a job that waits is better served by
/// another tab than by one that takes as long as `limit`. Answers the use of a process that has run script.
pub(in crate::browser) async fn reset(
    tab: &Tab,
    traces: &Traces,
    limit: Duration,
) -> Result<Option<RendererUse>, ResetError> {
    tab.server.clear();
    let reset = tokio::time::timeout(limit, clear(tab, traces, limit));
    reset.await.unwrap_or(Err(ResetError::Late))
}

async fn clear(tab: &Tab, traces: &Traces, limit: Duration) -> Result<Option<RendererUse>, ResetError> {
    let blank = show_nothing(tab, limit).await?;
    let mut calls = PendingCalls::default();
    if traces.is_emulated {
        let media = Emulation::SetEmulatedMedia { media: Some(String::new()), features: None };
        calls.push(tab.send(&media)?, limit);
        match tab.lane {
            Lane::Static => calls.push(tab.send(&Emulation::ClearDeviceMetricsOverride(None))?, limit),
            Lane::Scripted => {
                calls.push(tab.send(&commands::device_metrics(Viewport::default(), false))?, limit);
                let background = Emulation::SetDefaultBackgroundColorOverride { color: None };
                calls.push(tab.send(&background)?, limit);
            }
        }
    }
    if traces.session.is_some() {
        calls.push(tab.send(&Page::ResetNavigationHistory(None))?, limit);
    }
    let renderer = match tab.lane {
        Lane::Static => None,
        Lane::Scripted => Some(clean::clean(tab, traces, limit).await?),
    };
    calls.finish().await?;
    // A request may have been let through after the file was made.
    if traces.are_foreign() {
        return Err(ResetError::Unclean("an allowed host answered the page before"));
    }
    if tab.lane == Lane::Scripted && traces.have_service_worker() {
        return Err(ResetError::Unclean("the page before has a service worker"));
    }
    let state = tab.state();
    // Of the next page no failed request would be heard.
    if state.borrow().failures.is_muted() {
        return Err(ResetError::Unclean("too many requests of the page before failed"));
    }
    // Nor what its scripts say.
    if tab.events.has_lost_console() {
        return Err(ResetError::Unclean("the console of the page before was switched off"));
    }
    if state.borrow().document != blank {
        return Err(ResetError::Unclean("the page before went on to another document"));
    }
    tab.events.renew();
    Ok(renderer)
}

/// Shows an empty document, and answers its name. What a page with script has for its end (`pagehide`) does not run: it could
/// take as long as it likes. In frames that have a process of their own it does.
async fn show_nothing(tab: &Tab, limit: Duration) -> Result<Option<String>, ResetError> {
    let mut state = tab.state();
    let mut calls = PendingCalls::default();
    if tab.lane == Lane::Scripted {
        calls.push(tab.send(&Emulation::SetScriptExecutionDisabled { value: true })?, limit);
    }
    let blank = commands::navigate("about:blank".to_owned());
    let shown = tab.call_within(blank, limit).await?;
    if let Some(error) = shown.error_text {
        return Err(ResetError::NotBlank(error));
    }
    // A page that was on its way to another document may come there first.
    let is_shown = |it: &PageState| it.is_loaded && it.document == shown.loader_id;
    let is_blank = state.wait_for(|it| it.end.is_some() || is_shown(it));
    if let Some(end) = is_blank.await.ok().and_then(|state| state.end) {
        return Err(ResetError::Ended(end));
    }
    if tab.lane == Lane::Scripted {
        calls.push(tab.send(&Emulation::SetScriptExecutionDisabled { value: false })?, limit);
    }
    calls.finish().await?;
    Ok(shown.loader_id)
}
