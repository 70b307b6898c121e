//! How a page fails: the job's error, and whether another tab or browser may do better.

use headless_chrome::protocol::cdp::Runtime;
use tokio::task::JoinError;

use super::limits::PageLimits;
use crate::browser::cdp::error::CallError;
use crate::browser::tab::excess::PageExcess;
use crate::browser::tab::own_host;
use crate::browser::tab::page_state::PageEnd;
use crate::domain::error::{ErrorCode, JobError, Warnings};

/// Why a page did not become a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct PageError {
    /// The job's error.
    pub error: JobError,
    /// Whether the same page may well succeed elsewhere.
    pub retry: Retry,
    /// What happened before.
    pub warnings: Warnings,
}

/// Where a page that failed may be rendered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Nowhere: the page itself is the reason.
    No,
    /// In another tab: its own was used before, or its renderer was killed from outside.
    OtherTab,
    /// In a browser without other pages: its own died, maybe because of this page.
    Alone,
    /// In a browser that has WebGL.
    WithGraphics,
    /// In whatever tab there is: its own hung and was ended, with which no page has to do.
    Anywhere,
}

/// Why a step ended, before it is diagnosed.
#[derive(Debug)]
pub(in crate::browser) enum StepError {
    Ended(PageEnd),
    /// The step's deadline.
    Late,
    Refused(CallError),
    /// The browser's network service died, and files of the page may be missing.
    NetworkLost,
    /// The previous page of a reused tab could not be replaced.
    Unready(String),
    /// Diagnosed already.
    Job(JobError),
}

impl StepError {
    pub(in crate::browser) fn job(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Job(JobError::new(code, message))
    }
}

impl PageError {
    /// The browser is gone.
    pub(in crate::browser) fn lost() -> Self {
        Self { error: browser_lost(), retry: Retry::Alone, warnings: Warnings::default() }
    }
}

impl From<JoinError> for StepError {
    fn from(error: JoinError) -> Self {
        Self::Job(error.into())
    }
}

impl From<CallError> for StepError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Closed { .. } => Self::Ended(PageEnd::BrowserLost),
            CallError::PageGone { .. } => Self::Ended(PageEnd::Closed),
            CallError::Timeout { .. } => Self::Late,
            CallError::Refused { .. } | CallError::TooLong { .. } | CallError::Unreadable { .. } => {
                Self::Refused(error)
            }
        }
    }
}

/// The error of a page that ended, which names the limit it met.
pub(in crate::browser) fn ended(end: PageEnd, limits: &PageLimits) -> JobError {
    let PageLimits { heap_mb, renderer_mb, own_mb, events_mb, .. } = limits;
    let (code, message) = match end {
        PageEnd::Crashed => (
            ErrorCode::PageCrashed,
            format!(
                "the page crashed: most often its script took more than {heap_mb} MB (browser.heap_limit_mb)"
            ),
        ),
        PageEnd::Killed => (
            ErrorCode::PageCrashed,
            "a process of the page's browser was killed from outside: send the job again".to_owned(),
        ),
        PageEnd::BrowserFilled => (
            ErrorCode::PageMemory,
            format!(
                "the page filled the browser's own process with more than {own_mb} MB (browser.own_memory_limit_mb): \
                 let it make fewer blobs, locks and frames with long data: addresses, and keep less in WebGL"
            ),
        ),
        PageEnd::NeedsGraphics => (
            ErrorCode::PageFailed,
            "the page asked for WebGL in a browser that has none: send the job again".to_owned(),
        ),
        PageEnd::Exceeded(excess) => (ErrorCode::PageMemory, excess_sentence(excess, limits)),
        PageEnd::TookMemory => (
            ErrorCode::PageMemory,
            format!("the page took more than {renderer_mb} MB (browser.renderer_memory_limit_mb)"),
        ),
        PageEnd::TooManyEvents => (
            ErrorCode::PageFailed,
            format!(
                "the page told too much (more than {events_mb} MB on the console, in dialogs or in the \
                 addresses it asked for; browser.told_limit_mb): let its scripts say less"
            ),
        ),
        PageEnd::Closed => (ErrorCode::PageFailed, "the page closed itself".to_owned()),
        PageEnd::BrowserLost | PageEnd::BrowserReplaced => return browser_lost(),
        PageEnd::Hung => (
            ErrorCode::BrowserLost,
            "the browser hung and was ended (browser.hung_ms, browser.hung_retry_limit); send the job again, and tell the \
             operator, whose log names the process"
                .to_owned(),
        ),
    };
    JobError::new(code, message)
}

fn excess_sentence(excess: PageExcess, limits: &PageLimits) -> String {
    let PageLimits { blob_mb, locks, frame_address_mb, .. } = limits;
    match excess {
        PageExcess::Blobs => format!(
            "the page made more than {blob_mb} MB of blobs (browser.blob_limit_mb): let it make fewer, or load \
             files instead"
        ),
        PageExcess::Locks => format!(
            "the page asked for more than {locks} locks (browser.lock_limit): let it hold fewer of them"
        ),
        PageExcess::FrameAddresses => format!(
            "the page's frames went to more than {frame_address_mb} MB of addresses \
             (browser.frame_address_limit_mb): give their documents as files or by srcdoc, not as data: addresses"
        ),
    }
}

/// The error of an option whose script threw.
pub(in crate::browser) fn script_error(option: &str, thrown: Runtime::ExceptionDetails) -> StepError {
    StepError::job(ErrorCode::OptionsInvalid, format!("{option}: {}", thrown_line(thrown)))
}

/// The first line of what a script threw, without the name of the page's own host.
pub(in crate::browser) fn thrown_line(thrown: Runtime::ExceptionDetails) -> String {
    let description = thrown.exception.and_then(|it| it.description).unwrap_or(thrown.text);
    own_host::without_own_host(description.lines().next().unwrap_or_default())
}

fn browser_lost() -> JobError {
    JobError::new(ErrorCode::BrowserLost, "the browser died")
}
