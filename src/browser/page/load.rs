//! The calls that load a page: all are sent before the first answer is waited for, so they cost one round trip.

use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;
use headless_chrome::protocol::cdp::{Fetch, Network, Page};

use super::emulate::EmulationCalls;
use super::error::StepError;
use super::scripts;
use super::task::{PageOutput, PageTask};
use crate::browser::cdp::commands;
use crate::browser::cdp::connection::Sent;
use crate::browser::cdp::error::CallError;
use crate::browser::proxy::session::PageSession;
use crate::browser::tab::tab::Tab;
use crate::domain::encoding;
use crate::domain::fault::FaultCode;
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;

/// Shows the page of `task`, served by `session` or, without one, put into the tab; returns after the load event.
pub(in crate::browser) async fn load(
    tab: &Tab,
    task: &PageTask,
    session: Option<&PageSession>,
    limit: Duration,
) -> Result<(), StepError> {
    let data = send_data(tab, task, session)?;
    let canvases = send_canvases(tab, task)?;
    let carried = send_request_headers(tab, task)?;
    let emulated = EmulationCalls::send(tab, task, limit)?;
    let mut state = tab.state();
    match session {
        Some(session) => navigate(tab, session, limit).await?,
        None => put(tab, task, limit).await?,
    }
    // An error means that its events have ended: the step is ended from outside.
    let _ = state.wait_for(|state| state.parsed + state.loads > 0).await;
    // Not before: a picture written into the page itself would come back here, all of it.
    let requests = match task.lane {
        Lane::Static => None,
        Lane::Scripted => Some(tab.send(&report_requests())?),
    };
    let _ = state.wait_for(|state| state.loads > 0).await;
    finish(data, limit).await?;
    finish(canvases, limit).await?;
    finish(carried, limit).await?;
    finish(requests, limit).await?;
    emulated.finish().await
}

type Script = Sent<Page::AddScriptToEvaluateOnNewDocument>;

fn send_data(tab: &Tab, task: &PageTask, session: Option<&PageSession>) -> Result<Option<Script>, StepError> {
    let (Lane::Scripted, Some(session)) = (task.lane, session) else { return Ok(None) };
    let large = scripts::is_large(&task.data);
    let source = if large {
        scripts::data_fetched(session.host(), &session.data_path())
    } else {
        let text = std::str::from_utf8(&task.data)
            .map_err(|error| StepError::fault(FaultCode::DataInvalid, error.to_string()))?;
        scripts::data_inline(session.host(), text)
    };
    Ok(Some(tab.send(&commands::script_of_new_documents(source))?))
}

/// Keeps what WebGL draws, where a document is written of the page.
fn send_canvases(tab: &Tab, task: &PageTask) -> Result<Option<Script>, CallError> {
    let is_written = task.lane == Lane::Scripted && task.output == PageOutput::Html;
    is_written.then(|| tab.send(&commands::script_of_new_documents(scripts::CANVASES.to_owned()))).transpose()
}

/// Has the page's requests carry the caller's headers, if it reaches hosts at all.
fn send_request_headers(tab: &Tab, task: &PageTask) -> Result<Option<Sent<Fetch::Enable>>, CallError> {
    let requests = &task.options.requests;
    let is_carried = !requests.is_empty() && task.reach == Reach::AllowedHosts;
    is_carried.then(|| tab.carry(requests)).transpose()
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
    let page = task.site.page().cloned().map(encoding::unmarked).unwrap_or_default();
    let html = String::from_utf8_lossy(&page).into_owned();
    let put = Page::SetDocumentContent { frame_id: tab.frame().to_owned(), html };
    tab.send_large(put).await?.answer(limit).await?;
    Ok(())
}

async fn finish<M>(sent: Option<Sent<M>>, limit: Duration) -> Result<(), StepError>
where
    M: Method,
    M::ReturnObject: Send + 'static,
{
    if let Some(sent) = sent {
        sent.answer(limit).await?;
    }
    Ok(())
}
