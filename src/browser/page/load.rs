//! Loads a page: everything that must hold before its first script, then the page, then its load event.

use std::time::Duration;

use headless_chrome::protocol::cdp::Page;

use super::emulate;
use super::error::StepError;
use super::follow;
use super::scripts;
use super::task::PageTask;
use crate::browser::cdp::commands;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::proxy::page_session::PageSession;
use crate::browser::tab::reset;
use crate::browser::tab::tab::Tab;
use crate::browser::tab::traces::Traces;
use crate::domain::encoding;
use crate::domain::error::ErrorCode;
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;
use crate::thread;

/// Chromium's name for a proxy that it does not reach.
const NO_PROXY: &str = "net::ERR_PROXY_CONNECTION_FAILED";

/// How a page comes into its tab.
#[derive(Clone, Copy)]
pub(super) enum LoadMethod<'a> {
    /// Written into the tab by one message.
    Put,
    /// From the address of its session.
    Served(&'a PageSession),
    /// The same, while the tab still shows the previous page: what that one left, and how long replacing it may take.
    Following(&'a PageSession, &'a Traces, Duration),
}

/// Loads the page of `task`. Returns after its load event, with Chromium's identifiers of the scripts that were added: any
/// later document of the tab would run them too.
pub(super) async fn load(
    tab: &Tab,
    task: &PageTask,
    method: LoadMethod<'_>,
    limit: Duration,
) -> Result<Vec<String>, StepError> {
    let (mut calls, mut added) = (PendingCalls::default(), Vec::new());
    if let LoadMethod::Following(_, traces, _) = method {
        reset::forget_settings(tab, traces, limit, &mut calls)
            .map_err(|error| StepError::Unready(error.to_string()))?;
    }
    if let Some(source) = data_script(task, method)? {
        let bytes = source.len();
        added.push(tab.send_sized(commands::script_of_new_documents(source), bytes).await?);
    }
    let requests = &task.options.requests;
    if !requests.is_empty() && task.reach == Reach::AllowedHosts {
        calls.push(tab.carry(requests)?, limit);
    }
    emulate::send(tab, task, limit, &mut calls)?;
    let mut state = tab.state();
    match method {
        LoadMethod::Put => put(tab, task, limit).await?,
        LoadMethod::Served(session) => navigate(tab, session, limit).await?,
        LoadMethod::Following(session, traces, limit) => {
            follow::follow(tab, task, (session, traces), limit).await?;
        }
    }
    // An error means that no event follows: `OpenPage::within` ends the step.
    let _ = state.wait_for(|state| state.parsed + state.loads > 0).await;
    // Not earlier: the event of a request for a `data:` address would bring that whole address here.
    if task.lane == Lane::Scripted {
        calls.push(tab.send(&commands::report_requests())?, limit);
    }
    let _ = state.wait_for(|state| state.loads > 0).await;
    calls.finish().await.map_err(emulate::explain)?;
    let mut names = Vec::new();
    for script in added {
        names.push(script.answer(limit).await?.identifier);
    }
    Ok(names)
}

/// The script that puts the data on the page's window; `None` for a page without script.
fn data_script(task: &PageTask, method: LoadMethod<'_>) -> Result<Option<String>, StepError> {
    let (Lane::Scripted, LoadMethod::Served(session) | LoadMethod::Following(session, ..)) =
        (task.lane, method)
    else {
        return Ok(None);
    };
    if scripts::is_large(&task.data) {
        return Ok(Some(scripts::data_fetched(session.host(), &session.data_path())));
    }
    let text = std::str::from_utf8(&task.data)
        .map_err(|error| StepError::job(ErrorCode::DataInvalid, error.to_string()))?;
    Ok(Some(scripts::data_inline(session.host(), text)))
}

async fn navigate(tab: &Tab, session: &PageSession, limit: Duration) -> Result<(), StepError> {
    session.open();
    let answer = tab.call_within(commands::navigate(session.address()), limit).await?;
    match answer.error_text {
        None => Ok(()),
        // The proxy is our own: the network service is being replaced.
        Some(error) if error == NO_PROXY => Err(StepError::NetworkLost),
        Some(error) => {
            Err(StepError::job(ErrorCode::PageFailed, format!("the page could not be opened: {error}")))
        }
    }
}

async fn put(tab: &Tab, task: &PageTask, limit: Duration) -> Result<(), StepError> {
    // A byte order mark would be text before the doctype here.
    let page = task.inlined.as_ref().or_else(|| task.site.page());
    let page = page.cloned().map(encoding::without_bom).unwrap_or_default();
    let html = thread::by_size(page.len(), move || String::from_utf8_lossy(&page).into_owned()).await?;
    let put = Page::SetDocumentContent { frame_id: tab.frame.clone(), html };
    tab.send_large(put).await?.answer(limit).await?;
    Ok(())
}
