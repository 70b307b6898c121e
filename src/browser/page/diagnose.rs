//! Diagnosis of a page that failed or never became idle: which deadline, its configuration key, what was pending.

use std::fmt::Write;
use std::time::Duration;

use headless_chrome::protocol::cdp::Browser;

use super::error::{PageError, Retry, StepError, ended};
use super::open_page::OpenPage;
use super::scripts;
use super::task::PageStep;
use crate::browser::tab::failed_requests;
use crate::browser::tab::lease::LeaseEnd;
use crate::browser::tab::own_host;
use crate::browser::tab::page_state::{PageEnd, PageState};
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::format_opts::PageOptions;

/// Ends each warning that names what was pending.
const REMEDY: &str = "; where the document waits for that, say by waitForExpression when it is complete";
/// How long a page is given to name what it waits for; a busy one does not answer at all.
const PENDING_LIMIT: Duration = Duration::from_millis(300);
/// How long to wait for the event that explains a refused call. A renderer's death is reported within 15 ms, its signal soon
/// after (tried); a loaded machine takes longer.
const END_LIMIT: Duration = Duration::from_secs(1);
/// How long the browser may take for a call that takes it a millisecond. A page is late by its own fault only where the
/// browser itself answers in time; otherwise the browser has stalled, and is ended.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Most documents of one page (it may choose a language, or sign in); more are a loop.
const DOCUMENT_LIMIT: u32 = 10;

/// The error of a page that answers no call: a script that never pauses, or a browser that stalled.
pub(super) async fn stuck_error(page: &mut OpenPage) -> StepError {
    if is_browser_stalled(page).await {
        return StepError::Ended(PageEnd::BrowserLost);
    }
    let (cap_ms, call_ms) = (page.limits.rest_cap.as_millis(), page.limits.call.as_millis());
    StepError::job(
        ErrorCode::ReadinessTimeout,
        format!(
            "the page did not come to rest within {cap_ms} ms (browser.rest_cap_ms), and a script \
             keeps it so busy that it answered nothing for {call_ms} ms (browser.call_timeout_ms)"
        ),
    )
}

/// A page that is busy at the cap is printed as it is, with a warning. One that keeps navigating is an error: there is no
/// document to print.
pub(super) fn accept_busy(
    page: &mut OpenPage,
    computing: usize,
    options: &PageOptions,
) -> Result<(), StepError> {
    let cap_ms = page.limits.rest_cap.as_millis();
    let documents = page.state.borrow().documents;
    if documents > DOCUMENT_LIMIT {
        return Err(StepError::job(
            ErrorCode::ReadinessTimeout,
            format!(
                "the page keeps navigating: {documents} documents within {cap_ms} ms \
                 (browser.rest_cap_ms)"
            ),
        ));
    }
    let mut pending = page.state.borrow().idle.pending();
    if computing > 0 {
        let separator = if pending.is_empty() { "" } else { ", " };
        let _ = write!(pending, "{separator}a worker that computes ({computing} of them)");
    }
    let mut text = format!("the page never came to rest; printed after {cap_ms} ms (browser.rest_cap_ms)");
    if !pending.is_empty() {
        let _ = write!(text, "; pending: {}", own_host::without_own_host(&pending));
    }
    if options.wait_for_expression.is_none() {
        text.push_str(REMEDY);
    }
    page.warnings.push(&text);
    Ok(())
}

/// Warns of activity that is not waited for, unless the caller says by `waitForExpression` when the page is ready.
pub(super) fn warn_of_pending(page: &mut OpenPage, options: &PageOptions) {
    let pending = own_host::without_own_host(&page.state.borrow().idle.ongoing());
    if pending.is_empty() || options.wait_for_expression.is_some() {
        return;
    }
    page.warnings.push(&format!("the page was printed while it had something pending: {pending}{REMEDY}"));
}

/// Warns of the lazy loads that the last of `scans` scans of the page began. They are not waited for: a frame that is loaded
/// may hold further lazy frames, without an end, so the number of scans is limited.
pub(super) fn warn_of_lazy_loads(page: &mut OpenPage, scans: usize) {
    page.warnings.push(&format!(
        "the page was printed while pictures or frames of it were loading: each of {scans} looks found more that \
         waits until somebody scrolls to it (loading=lazy); have less of it in frames within frames"
    ));
}

/// Fails where files of a page may have been lost with the network service.
pub(super) fn check_network(page: &OpenPage) -> Result<(), StepError> {
    if page.has_lost_network() { Err(StepError::NetworkLost) } else { Ok(()) }
}

/// Fails where the tab shows an error page instead of the document.
pub(super) fn check_reached(page: &OpenPage) -> Result<(), StepError> {
    check_status(page)?;
    let unreachable = page.state.borrow().unreachable.clone();
    let Some(address) = unreachable else { return Ok(()) };
    let shown = own_host::without_own_host(&address);
    Err(StepError::job(
        ErrorCode::PageFailed,
        format!("the page went to {shown}, which it cannot reach (a page reaches its own files only)"),
    ))
}

/// Hazard: a host answers a page that it does not have with a page that says so. Printed, it would pass for the document.
fn check_status(page: &OpenPage) -> Result<(), StepError> {
    let state = page.state.borrow();
    let answered = state.document.as_deref().and_then(|document| state.failures.status_of(document));
    let Some((status, address)) = answered else { return Ok(()) };
    let shown = failed_requests::redacted_url(address);
    Err(StepError::job(
        ErrorCode::PageFailed,
        format!("the page went to {shown}, which was answered with {status}: there is nothing to print"),
    ))
}

pub(super) fn never_matches(selector: Option<&str>) -> StepError {
    StepError::job(
        ErrorCode::ReadinessTimeout,
        format!(
            "nothing matches the selector '{}' (waitForSelector), and a page without script does not change",
            selector.unwrap_or_default()
        ),
    )
}

/// The page's error for that of a step, after asking how page and browser ended. The page is dropped, which returns its tab.
pub(in crate::browser) async fn into_page_error(
    mut page: OpenPage,
    step: PageStep,
    error: StepError,
    options: &PageOptions,
) -> PageError {
    let known = known_end(&page, &error).await;
    let of_browser = known.is_some_and(PageEnd::is_of_browser);
    // Before its session is open nothing of this page has run: what fails is the previous page's, which the tab still shows.
    let is_previous_page_shown = page.session.as_ref().is_some_and(|session| !session.is_open())
        && page.lease.traces().is_some_and(|traces| traces.unreplaced_since.is_some());
    let is_of_call = matches!(error, StepError::Late | StepError::Refused(_) | StepError::Ended(_));
    let error = if is_previous_page_shown && is_of_call {
        StepError::Unready("the page before does not go".to_owned())
    } else {
        error
    };
    let error = if is_of_network(&page, &error) { StepError::NetworkLost } else { error };
    let (error, retry) = match (known, error) {
        (_, StepError::Unready(why)) if !of_browser && !is_browser_stalled(&mut page).await => {
            let sentence = format!("the tab was not ready for the page: {why}; send the job again");
            (JobError::new(ErrorCode::BrowserUnavailable, sentence), Retry::OtherTab)
        }
        (None, StepError::Unready(_)) => {
            (ended(PageEnd::BrowserLost, &page.limits), retry(&page, PageEnd::BrowserLost))
        }
        (Some(end), _) | (None, StepError::Ended(end)) => (ended(end, &page.limits), retry(&page, end)),
        (None, StepError::Late) if is_browser_stalled(&mut page).await => {
            (ended(PageEnd::BrowserLost, &page.limits), retry(&page, PageEnd::BrowserLost))
        }
        (None, StepError::Late) => (deadline_error(&page, step, options).await, Retry::No),
        (None, StepError::Refused(refusal)) => {
            let error = JobError::new(ErrorCode::PageFailed, format!("the page failed: {refusal}"));
            (error, Retry::No)
        }
        (None, StepError::Job(error)) => (error, Retry::No),
        (None, StepError::NetworkLost) => {
            let sentence = "the browser's network service ended while the page loaded: send the job again";
            (JobError::new(ErrorCode::PageCrashed, sentence), Retry::OtherTab)
        }
    };
    let error = JobError { message: own_host::without_own_host(&error.message), ..error };
    // Up to then the warnings are those of the previous page, which may be another job's.
    let warnings = if is_previous_page_shown { Warnings::default() } else { page.all_warnings() };
    PageError { error, retry, warnings }
}

/// Whether a step ended so because the network service died.
fn is_of_network(page: &OpenPage, error: &StepError) -> bool {
    match error {
        StepError::NetworkLost => true,
        StepError::Late | StepError::Refused(_) => page.has_lost_network(),
        StepError::Job(error) => error.code == ErrorCode::PageFailed && page.has_lost_network(),
        StepError::Ended(_) | StepError::Unready(_) => false,
    }
}

/// Where to try again. In a used tab earlier pages may have taken the memory; a browser that died may have been ended by
/// another page in it, unless this one was alone.
fn retry(page: &OpenPage, end: PageEnd) -> Retry {
    match end {
        PageEnd::BrowserLost | PageEnd::BrowserFilled if !page.lease.is_alone() => Retry::Alone,
        PageEnd::NeedsGraphics => Retry::WithGraphics,
        PageEnd::Killed | PageEnd::BrowserReplaced => Retry::OtherTab,
        PageEnd::Hung => Retry::Anywhere,
        PageEnd::Crashed | PageEnd::TookMemory if page.lease.was_used() => Retry::OtherTab,
        PageEnd::BrowserLost
        | PageEnd::BrowserFilled
        | PageEnd::Crashed
        | PageEnd::TookMemory
        | PageEnd::TooManyEvents
        | PageEnd::Exceeded(_)
        | PageEnd::Closed => Retry::No,
    }
}

/// How the page ended, if it did. Its calls can fail before the event that says why arrives, and the signal that a renderer
/// died of is reported a moment after its death: so both are waited for, briefly.
async fn known_end(page: &OpenPage, error: &StepError) -> Option<PageEnd> {
    let mut state = page.state.clone();
    let may_have_ended = matches!(error, StepError::Refused(_) | StepError::Ended(_));
    let is_known = |state: &PageState| match state.end {
        None => !may_have_ended,
        Some(PageEnd::Crashed) => state.crash_is_known,
        Some(_) => true,
    };
    let _ = tokio::time::timeout(END_LIMIT, state.wait_for(is_known)).await;
    state.borrow().end
}

/// Hazard: a browser that is stopped closes no connection, and its pages' deadlines come before the pool's next ping: a page
/// would be blamed. So the browser is asked here, and the lease reports a stall to the pool.
async fn is_browser_stalled(page: &mut OpenPage) -> bool {
    let Some(tab) = page.lease.tab() else { return false };
    let answer = tab.connection.call(None, Browser::GetVersion(None), ANSWER_LIMIT).await;
    let stalled = answer.is_err_and(|error| error.is_of_browser());
    if stalled {
        page.lease.end = LeaseEnd::Stalled;
    }
    stalled
}

async fn deadline_error(page: &OpenPage, step: PageStep, options: &PageOptions) -> JobError {
    let limits = &page.limits;
    let (code, what, key, limit) = match step {
        PageStep::Load => (ErrorCode::LoadTimeout, "the page's load event did not come", "load", limits.load),
        PageStep::Readiness => {
            (ErrorCode::ReadinessTimeout, "the page was not ready", "readiness", limits.readiness)
        }
        PageStep::Print => (ErrorCode::PrintTimeout, "the file was not made", "print", limits.print),
    };
    let pending = ask_pending(page, options).await;
    let (limit_ms, for_length) = (limit.as_millis(), limits.for_length.as_millis());
    let longer = if for_length == 0 {
        String::new()
    } else {
        format!(", {for_length} of them for its length: browser.long_page_ms_per_mb")
    };
    let memory = if step == PageStep::Print {
        let (heap_mb, renderer_mb) = (limits.heap_mb, limits.renderer_mb);
        format!(
            "; a document near {heap_mb} MB of elements (browser.heap_limit_mb) or {renderer_mb} MB in all \
             (browser.renderer_memory_limit_mb) is slow: make several documents of it, or raise these"
        )
    } else {
        String::new()
    };
    let limit = format!("{limit_ms} ms (browser.{key}_timeout_ms{longer})");
    JobError::new(code, format!("{what} within {limit}; pending: {pending}{memory}"))
}

/// What the page waits for, asked of the page; one that does not answer is busy.
async fn ask_pending(page: &OpenPage, options: &PageOptions) -> String {
    let expression = scripts::pending(options.wait_for_selector.as_deref());
    let asking = page.ask(expression, PENDING_LIMIT);
    let mut pending = match tokio::time::timeout(PENDING_LIMIT, asking).await {
        Ok(Ok(Some(text))) if !text.is_empty() => text,
        Ok(Ok(Some(_))) if options.wait_for_expression.is_some() => "waitForExpression".to_owned(),
        Ok(Ok(Some(_))) => "nothing that the page would name".to_owned(),
        Ok(Ok(None)) => "a navigation".to_owned(),
        Ok(Err(_)) | Err(_) => "a script or the layout keeps the page busy".to_owned(),
    };
    let (dialogs, documents) = {
        let state = page.state.borrow();
        (state.dialogs, state.documents)
    };
    if dialogs > 0 {
        let _ = write!(pending, "; {dialogs} dialog(s) were dismissed");
    }
    if documents > 1 {
        let _ = write!(pending, "; the page navigated {} time(s)", documents - 1);
    }
    pending
}
