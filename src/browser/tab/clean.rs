//! Cleans a tab that has run script, for the next page of the same account and template.
//!
//! Hazard: such a page can store something wherever Chromium keeps state, even while its document is unloaded. So everything
//! is emptied, whether the page used it or not. When this begins its document is gone, with its globals, timers, frames,
//! connections and dedicated workers. What outlives a document is emptied for the whole browser context; what no call can
//! empty (workers of other kinds, further windows) makes the tab not reusable. A later page could not read what is stored for
//! the origin of this one: each page has an origin with a random name, and the proxy serves only that of the current page.

use std::sync::atomic::Ordering;
use std::time::Duration;

use headless_chrome::protocol::cdp::{Browser, Log, Network, Runtime, Storage, Target};

use super::tab::Tab;
use super::traces::{ResetError, Traces};
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::chromium::flags::TINY_WINDOW;
use crate::browser::chromium::memory::RendererUse;

/// `window.name` outlives the document.
pub(super) const FORGET_NAME: &str = "name = ''";
/// Storage of the page's origin. No other page can read it, for each has another origin, but it would fill memory.
const STORED: &str = "local_storage,indexeddb,cache_storage,file_systems,service_workers";

/// Undoes what the previous page may have left, once its document has gone. Not the name of its window: only a script can empty
/// it, so the caller runs [`FORGET_NAME`], or the script of `page/follow.rs`.
pub(super) async fn clean(tab: &Tab, traces: &Traces, limit: Duration) -> Result<RendererUse, ResetError> {
    let mut calls = PendingCalls::default();
    if tab.events.renderer.get().is_none() {
        calls.push(tab.send(&commands::request_nothing())?, limit);
    }
    calls.push(tab.connection.send(None, &plain_window(tab, limit).await?)?, limit);
    // Each call to a renderer wakes it up, which costs half a millisecond; most pages say nothing.
    if tab.events.has_lines.swap(false, Ordering::Relaxed) {
        calls.push(tab.send(&Runtime::DiscardConsoleEntries(None))?, limit);
        calls.push(tab.send(&Log::Clear(None))?, limit);
    }
    if let Some(session) = &traces.session {
        let origin = format!("http://{}", session.host());
        let empty = Storage::ClearDataForOrigin { origin, storage_Types: STORED.to_owned() };
        calls.push(tab.send(&empty)?, limit);
    }
    let cookies = Storage::ClearCookies { browser_context_id: Some(tab.context.clone()) };
    calls.push(tab.connection.send(None, &cookies)?, limit);
    let targets = tab.connection.send(None, &Target::GetTargets { filter: None })?;
    calls.finish().await?;
    if has_others(tab, &targets.answer(limit).await?.target_infos) {
        return Err(ResetError::Unclean("something of the page before goes on without it"));
    }
    // After the request that names the process. Where the page was left in the tab these events are off already.
    if traces.unreplaced_since.is_none() {
        tab.call_within(Network::Disable(None), limit).await?;
    }
    let process = tab.events.renderer.get().copied();
    let renderer = process.and_then(RendererUse::of);
    renderer.ok_or(ResetError::Unclean("it is not known which process shows it"))
}

/// Whether anything but the page goes on in the tab's context: workers, frames of their own process.
pub(super) fn has_others(tab: &Tab, targets: &[Target::TargetInfo]) -> bool {
    let is_in_context = |it: &&Target::TargetInfo| it.browser_context_id.as_ref() == Some(&tab.context);
    targets.iter().filter(is_in_context).any(|it| it.target_id != tab.frame)
}

/// Restores place and size of the tab's window, which script may have changed.
async fn plain_window(tab: &Tab, limit: Duration) -> Result<Browser::SetWindowBounds, CallError> {
    let ask = async || {
        let of_tab = Browser::GetWindowForTarget { target_id: Some(tab.frame.clone()) };
        Ok(tab.connection.call(None, of_tab, limit).await?.window_id)
    };
    let window_id = *tab.window.get_or_try_init(ask).await?;
    let (width, height) = TINY_WINDOW;
    let bounds = Browser::Bounds {
        left: Some(0),
        top: Some(0),
        width: Some(width),
        height: Some(height),
        window_state: None,
    };
    Ok(Browser::SetWindowBounds { window_id, bounds })
}
