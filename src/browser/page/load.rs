//! The calls that load a page, sent together: each waits for its answer only when all are on their way.

use std::time::Duration;

use headless_chrome::protocol::cdp::{Network, Page, Runtime};

use super::emulate::EmulationCalls;
use super::error::StepError;
use super::open::{PageOutput, PageTask};
use super::request_headers;
use super::scripts;
use crate::browser::cdp::connection::{CallError, Sent};
use crate::browser::proxy::server::PageSession;
use crate::browser::tab::tab::Tab;
use crate::domain::encoding;
use crate::domain::fault::FaultCode;
use crate::domain::lane::Lane;

/// The world that our scripts run in.
const WORLD: &str = "platen";
/// A script longer than this is made into a message on a thread that may take its time.
const LARGE_BYTES: usize = 256 << 10;

/// Shows the page of `task`, from its origin or, without one, as it is; returns after the load event.
pub(in crate::browser) async fn load(
    tab: &Tab,
    task: &PageTask,
    visit: Option<&PageSession>,
    limit: Duration,
) -> Result<(), StepError> {
    let data = send_data(tab, task, visit)?;
    let canvases = send_canvases(tab, task)?;
    let carried = request_headers::begin(tab, task)?;
    let surroundings = EmulationCalls::send(tab, task, limit)?;
    let mut state = tab.state();
    match visit {
        Some(visit) => navigate(tab, visit, limit).await?,
        None => put(tab, task, limit).await?,
    }
    // An error means that nobody hears the page any more: the step is ended from outside.
    let _ = state.wait_for(|state| state.parsed + state.loads > 0).await;
    // Not before: a picture written into the page itself would come back here, all of it.
    let requests = match task.lane {
        Lane::Static => None,
        Lane::Scripted => Some(tab.send(&hear_requests())?),
    };
    let _ = state.wait_for(|state| state.loads > 0).await;
    settle(data, limit).await?;
    settle(canvases, limit).await?;
    settle(carried, limit).await?;
    settle(requests, limit).await?;
    surroundings.settle().await
}

/// Runs a script of ours, made of what the options say, and gives the text that it answers; `None` when the
/// document went away under it.
pub(in crate::browser) async fn ask(
    tab: &Tab,
    lane: Lane,
    expression: String,
    limit: Duration,
) -> Result<Option<String>, StepError> {
    let answer = run(tab, lane, expression, limit).await?;
    answer.map(|answer| answer.map_err(|thrown| script_error("formatOpts", thrown))).transpose()
}

/// Runs a script of ours in the page and gives the text that it answers, or what it throws; `None` when the
/// document went away under it.
pub(in crate::browser) async fn run(
    tab: &Tab,
    lane: Lane,
    expression: String,
    limit: Duration,
) -> Result<Option<Result<String, Runtime::ExceptionDetails>>, StepError> {
    // Where no script of the page's can run, its own world is as good, and 2 ms less.
    let context = match lane {
        Lane::Static => None,
        Lane::Scripted => match tab.call_within(isolated_world(tab), limit).await {
            Ok(world) => Some(world.execution_context_id),
            Err(CallError::Refused { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        },
    };
    let large = expression.len() > LARGE_BYTES;
    let call = evaluate(expression, context);
    let sent = if large { tab.send_large(call).await? } else { tab.send(&call)? };
    match sent.answer(limit).await {
        Ok(Runtime::EvaluateReturnObject { exception_details: Some(thrown), .. }) => Ok(Some(Err(thrown))),
        Ok(answer) => {
            let text = answer.result.value.and_then(|it| it.as_str().map(str::to_owned));
            Ok(Some(Ok(text.unwrap_or_default())))
        }
        // The context was destroyed: the page has left for another document.
        Err(CallError::Refused { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The first line of what a script threw.
pub(in crate::browser) fn thrown_line(thrown: Runtime::ExceptionDetails) -> String {
    let description = thrown.exception.and_then(|it| it.description).unwrap_or(thrown.text);
    description.lines().next().unwrap_or_default().to_owned()
}

/// Who wrote `option` is told what it threw.
pub(in crate::browser) fn script_error(option: &str, thrown: Runtime::ExceptionDetails) -> StepError {
    StepError::fault(FaultCode::OptionsInvalid, format!("{option}: {}", thrown_line(thrown)))
}

type Script = Sent<Page::AddScriptToEvaluateOnNewDocument>;

fn send_data(tab: &Tab, task: &PageTask, visit: Option<&PageSession>) -> Result<Option<Script>, StepError> {
    let (Lane::Scripted, Some(visit)) = (task.lane, visit) else { return Ok(None) };
    let large = scripts::is_large(&task.data);
    let source = if large {
        scripts::data_fetched(visit.host(), &visit.data_path())
    } else {
        let text = std::str::from_utf8(&task.data)
            .map_err(|error| StepError::fault(FaultCode::DataInvalid, error.to_string()))?;
        scripts::data_inline(visit.host(), text)
    };
    Ok(Some(tab.send(&new_document(source))?))
}

/// Keeps what WebGL draws, where a document is written of the page.
fn send_canvases(tab: &Tab, task: &PageTask) -> Result<Option<Script>, CallError> {
    let is_written = task.lane == Lane::Scripted && task.output == PageOutput::Html;
    is_written.then(|| tab.send(&new_document(scripts::CANVASES.to_owned()))).transpose()
}

/// A script that runs before those of each further document.
pub(in crate::browser) fn new_document(source: String) -> Page::AddScriptToEvaluateOnNewDocument {
    Page::AddScriptToEvaluateOnNewDocument {
        source,
        world_name: None,
        include_command_line_api: None,
        run_immediately: None,
    }
}

/// Has the page's requests told, without keeping what is answered.
fn hear_requests() -> Network::Enable {
    Network::Enable {
        max_total_buffer_size: Some(0),
        max_resource_buffer_size: Some(0),
        max_post_data_size: None,
        report_direct_socket_traffic: None,
        enable_durable_messages: None,
    }
}

async fn navigate(tab: &Tab, visit: &PageSession, limit: Duration) -> Result<(), StepError> {
    let navigate = Page::Navigate {
        url: visit.address(),
        referrer: None,
        transition_Type: None,
        frame_id: None,
        referrer_policy: None,
    };
    let answer = tab.call_within(navigate, limit).await?;
    match answer.error_text {
        None => Ok(()),
        Some(error) => {
            Err(StepError::fault(FaultCode::PageFailed, format!("the page could not be opened: {error}")))
        }
    }
}

async fn put(tab: &Tab, task: &PageTask, limit: Duration) -> Result<(), StepError> {
    // The mark of UTF-8 is for who reads bytes: in a text it is a letter, and before the doctype it would be content.
    let page = task.site.page().cloned().map(encoding::unmarked).unwrap_or_default();
    let html = String::from_utf8_lossy(&page).into_owned();
    let put = Page::SetDocumentContent { frame_id: tab.frame().to_owned(), html };
    tab.send_large(put).await?.answer(limit).await?;
    Ok(())
}

async fn settle<M>(sent: Option<Sent<M>>, limit: Duration) -> Result<(), StepError>
where
    M: headless_chrome::protocol::cdp::types::Method,
    M::ReturnObject: Send + 'static,
{
    if let Some(sent) = sent {
        sent.answer(limit).await?;
    }
    Ok(())
}

fn isolated_world(tab: &Tab) -> Page::CreateIsolatedWorld {
    Page::CreateIsolatedWorld {
        frame_id: tab.frame().to_owned(),
        world_name: Some(WORLD.to_owned()),
        grant_univeral_access: None,
    }
}

pub(in crate::browser) fn evaluate(
    expression: String,
    context: Option<Runtime::ExecutionContextId>,
) -> Runtime::Evaluate {
    Runtime::Evaluate {
        expression,
        object_group: None,
        include_command_line_api: None,
        silent: Some(true),
        context_id: context,
        return_by_value: Some(true),
        generate_preview: None,
        user_gesture: None,
        await_promise: Some(true),
        throw_on_side_effect: None,
        timeout: None,
        disable_breaks: None,
        repl_mode: None,
        allow_unsafe_eval_blocked_by_csp: None,
        unique_context_id: None,
        serialization_options: None,
    }
}
