//! What a page with script leaves in its tab, undone for the next page of the same account and template.
//!
//! Hazard: such a page can put something away wherever Chromium keeps anything, also in what it has for its end. So nothing is
//! taken on trust of what it did. Its document is gone when this begins, with its globals, timers, frames, connections and
//! dedicated workers. What outlives a document is emptied for the whole browser context, whether the page used it or not;
//! what cannot be emptied by a call (workers of other kinds, further windows) makes the tab one that is not reused. What
//! belongs to an origin no later page reaches: each has an origin of its own, with a random name, and the proxy answers for
//! no other one.

use std::time::Duration;

use headless_chrome::protocol::cdp::{Browser, Log, Network, Page, Runtime, Storage, Target};

use super::tab::Tab;
use super::traces::{ResetError, Traces};
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::chromium::flags::TINY_WINDOW;
use crate::browser::chromium::memory::RendererUse;

/// The name of a window stays when its document goes.
const FORGET_NAME: &str = "name = ''";
/// The same, and requests nothing: Chromium names each request after the process that makes it.
const REQUEST: &str = "name = '', fetch('data:,').then(() => '', () => '')";

/// What pages store in Chromium. None meets what another one has stored, for it has another origin: it would fill memory.
const STORED: &str = "local_storage,indexeddb,cache_storage,file_systems,service_workers";

/// Undoes what the page before may have left, once its document has gone.
pub(super) async fn clean(tab: &Tab, traces: &Traces, limit: Duration) -> Result<RendererUse, ResetError> {
    if tab.events.monitor.has_had_workers() {
        return Err(ResetError::Unclean("the page before had workers"));
    }
    if !tab.events.may_make_entries() {
        return Err(ResetError::Unclean("pages before have made too many entries in the history"));
    }
    let is_known = tab.events.renderer.get().is_some();
    let script = if is_known { FORGET_NAME } else { REQUEST };
    let mut calls = PendingCalls::default();
    calls.push(tab.send(&commands::evaluate(script.to_owned(), None))?, limit);
    for script in &traces.scripts {
        let remove = Page::RemoveScriptToEvaluateOnNewDocument { identifier: script.clone() };
        calls.push(tab.send(&remove)?, limit);
    }
    calls.push(tab.connection.send(None, &plain_window(tab, limit).await?)?, limit);
    calls.push(tab.send(&Runtime::DiscardConsoleEntries(None))?, limit);
    calls.push(tab.send(&Log::Clear(None))?, limit);
    if let Some(session) = &traces.session {
        let origin = format!("http://{}", session.host());
        let empty = Storage::ClearDataForOrigin { origin, storage_Types: STORED.to_owned() };
        calls.push(tab.send(&empty)?, limit);
    }
    let cookies = Storage::ClearCookies { browser_context_id: Some(tab.context.clone()) };
    calls.push(tab.connection.send(None, &cookies)?, limit);
    let targets = tab.connection.send(None, &Target::GetTargets { filter: None })?;
    calls.finish().await?;
    let targets = targets.answer(limit).await?.target_infos;
    let is_other = |it: &Target::TargetInfo| {
        it.browser_context_id.as_ref() == Some(&tab.context) && it.target_id != tab.frame
    };
    if targets.iter().any(is_other) {
        return Err(ResetError::Unclean("something of the page before goes on without it"));
    }
    // Behind the request that names the process.
    tab.call_within(Network::Disable(None), limit).await?;
    let process = tab.events.renderer.get().copied();
    let renderer = process.and_then(RendererUse::of);
    renderer.ok_or(ResetError::Unclean("it is not known which process shows it"))
}

/// Puts the tab's window where it was made, and as large: script may move it and change its size.
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
