//! Navigates to a page while its tab still shows the previous one (`tab/reset.rs`).
//!
//! Hazard: until the old document is gone its script can store what the new page would find, and a document that arrives
//! whole runs its scripts before the tab is clean. So the proxy first answers the new page's address with the head of the
//! response alone. Chromium then shows the new document, still empty, and the old one with its scripts is gone. Now script is
//! switched on, the tab is cleaned, and only then the body is sent (`PageSession::open`). What fails before that is not the
//! new page's fault.

use std::time::Duration;

use headless_chrome::protocol::cdp::Emulation;

use super::error::StepError;
use super::scripts;
use super::task::PageTask;
use crate::browser::cdp::commands;
use crate::browser::proxy::page_session::PageSession;
use crate::browser::tab::reset;
use crate::browser::tab::tab::Tab;
use crate::browser::tab::traces::{ResetError, Traces};

/// For a longer page an empty document in between costs little.
const LENGTH_LIMIT_BYTES: usize = 1 << 20;
/// `window.name` outlives the document. Returns how many entries the tab's history has.
const FORGET_NAME: &str = "name = '', history.length";
/// Entries of the tab's history once it is emptied: that of this page.
const ENTRIES_LIMIT: f64 = 1.0;

/// Whether the page of `task` looks the same where its document begins with script off. `<noscript>` is parsed as any other
/// element then: what is in it loads, and in the head of a page it ends the head.
pub(super) fn may_follow(task: &PageTask) -> bool {
    // Data that is fetched is waited for before the document is there.
    let is_light = task.length_bytes() <= LENGTH_LIMIT_BYTES && !scripts::is_large(&task.data);
    // UTF-16 would hide `<noscript>` from the search, and an empty response does not wait for the session.
    let text = task.site.page().filter(|_| is_light).and_then(|page| std::str::from_utf8(page).ok());
    text.is_some_and(|text| {
        !text.is_empty() && !text.contains('\0') && !text.to_ascii_lowercase().contains("<noscript")
    })
}

/// Shows the page of `session` in place of the previous one, which left `traces`. Returns when the new document is there, the
/// tab is clean and script may run.
pub(super) async fn follow(
    tab: &Tab,
    task: &PageTask,
    (session, traces): (&PageSession, &Traces),
    limit: Duration,
) -> Result<(), StepError> {
    let followed = tokio::time::timeout(limit, take_place(tab, task, (session, traces), limit)).await;
    followed.unwrap_or(Err(ResetError::Late)).map_err(|error| StepError::Unready(error.to_string()))
}

async fn take_place(
    tab: &Tab,
    task: &PageTask,
    (session, traces): (&PageSession, &Traces),
    limit: Duration,
) -> Result<(), ResetError> {
    let mut state = tab.state();
    let shown = tab.call_within(commands::navigate(session.address()), limit).await?;
    if let Some(error) = shown.error_text {
        return Err(ResetError::NotBlank(error));
    }
    let is_shown = state.wait_for(|it| it.end.is_some() || it.document == shown.loader_id);
    if let Some(end) = is_shown.await.ok().and_then(|state| state.end) {
        return Err(ResetError::Ended(end));
    }
    // Script is switched on at once: a timer of our own scripts that falls due while script is off never runs. The answer is
    // waited for, because the renderer sends it after the message that the new document is there. Until that message Chromium's
    // own process takes the previous document for the current one, and an emptied history would keep its address.
    let script_off = Emulation::SetScriptExecutionDisabled { value: !task.options.javascript };
    tab.call_within(script_off, limit).await?;
    reset::forget_page(tab, traces, limit).await?;
    // Last: it counts the history, which `forget_page` has emptied by then.
    let entries = tab.call_within(commands::evaluate(FORGET_NAME.to_owned()), limit).await?;
    let entries = entries.result.value.and_then(|value| value.as_f64());
    if entries.is_none_or(|entries| entries > ENTRIES_LIMIT) {
        return Err(ResetError::Unclean("the history of the page before is not empty"));
    }
    if tab.state().borrow().documents != 1 {
        return Err(ResetError::Unclean("the page before went on to another document"));
    }
    session.open();
    Ok(())
}
