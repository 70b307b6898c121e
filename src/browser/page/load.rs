//! Loads a page: everything that must hold before its first script, then the page, then its load event.

use std::time::Duration;

use headless_chrome::protocol::cdp::{Network, Page};

use super::emulate;
use super::error::StepError;
use super::scripts;
use super::task::{PageOutput, PageTask};
use crate::browser::cdp::commands;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::proxy::session::PageSession;
use crate::browser::tab::tab::Tab;
use crate::domain::encoding;
use crate::domain::fault::FaultCode;
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;

/// Shows the page of `task`, served by `session` or, without one, put into the tab; returns after the load event, with the
/// names of our scripts that any further document in the tab would run.
pub(super) async fn load(
    tab: &Tab,
    task: &PageTask,
    session: Option<&PageSession>,
    limit: Duration,
) -> Result<Vec<String>, StepError> {
    let (mut calls, mut added) = (PendingCalls::default(), Vec::new());
    if let Some(source) = data_script(task, session)? {
        added.push(tab.send(&commands::script_of_new_documents(source))?);
    }
    // What WebGL draws is kept where a document is written of the page.
    if task.lane == Lane::Scripted && task.output == PageOutput::Html {
        let script = commands::script_of_new_documents(scripts::CANVASES.to_owned());
        added.push(tab.send(&script)?);
    }
    let requests = &task.options.requests;
    if !requests.is_empty() && task.reach == Reach::AllowedHosts {
        calls.push(tab.carry(requests)?, limit);
    }
    emulate::send(tab, task, limit, &mut calls)?;
    let mut state = tab.state();
    match session {
        Some(session) => navigate(tab, session, limit).await?,
        None => put(tab, task, limit).await?,
    }
    // An error means that its events have ended: the step is ended from outside.
    let _ = state.wait_for(|state| state.parsed + state.loads > 0).await;
    // Not before: a picture written into the page itself would come back here, all of it.
    if task.lane == Lane::Scripted {
        calls.push(tab.send(&report_requests())?, limit);
    }
    let _ = state.wait_for(|state| state.loads > 0).await;
    calls.finish().await.map_err(emulate::explain)?;
    let mut names = Vec::new();
    for script in added {
        names.push(script.answer(limit).await?.identifier);
    }
    Ok(names)
}

/// Puts the data of a page on its window.
fn data_script(task: &PageTask, session: Option<&PageSession>) -> Result<Option<String>, StepError> {
    let (Lane::Scripted, Some(session)) = (task.lane, session) else { return Ok(None) };
    if scripts::is_large(&task.data) {
        return Ok(Some(scripts::data_fetched(session.host(), &session.data_path())));
    }
    let text = std::str::from_utf8(&task.data)
        .map_err(|error| StepError::fault(FaultCode::DataInvalid, error.to_string()))?;
    Ok(Some(scripts::data_inline(session.host(), text)))
}

/// Has the page's requests reported, without keeping what is answered.
fn report_requests() -> Network::Enable {
    Network::Enable {
        max_total_buffer_size: Some(0),
        max_resource_buffer_size: Some(0),
        max_post_data_size: None,
        report_direct_socket_traffic: None,
        enable_durable_messages: None,
    }
}

async fn navigate(tab: &Tab, session: &PageSession, limit: Duration) -> Result<(), StepError> {
    let answer = tab.call_within(commands::navigate(session.address()), limit).await?;
    match answer.error_text {
        None => Ok(()),
        Some(error) => {
            Err(StepError::fault(FaultCode::PageFailed, format!("the page could not be opened: {error}")))
        }
    }
}

async fn put(tab: &Tab, task: &PageTask, limit: Duration) -> Result<(), StepError> {
    // A byte order mark would be a letter of the text here, and content before the doctype.
    let page = task.inlined.as_ref().or_else(|| task.site.page());
    let page = page.cloned().map(encoding::unmarked).unwrap_or_default();
    let html = String::from_utf8_lossy(&page).into_owned();
    let put = Page::SetDocumentContent { frame_id: tab.frame.clone(), html };
    tab.send_large(put).await?.answer(limit).await?;
    Ok(())
}
