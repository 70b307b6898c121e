//! How a page fails: what its author is told, and whether another browser may do better.

use super::open::Limits;
use crate::browser::cdp::connection::CallError;
use crate::browser::tab::events::PageEnd;
use crate::domain::fault::{FaultCode, JobFault, Warnings};

/// Why a page did not become a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct PageError {
    /// What the job's owner is told.
    pub fault: JobFault,
    /// Whether the same page may well succeed elsewhere.
    pub retry: Retry,
    /// What happened before.
    pub warnings: Warnings,
}

/// Where a page that failed may be rendered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Nowhere: it was the page's fault.
    No,
    /// In another tab: its own was used before, or its renderer was killed from outside.
    OtherTab,
    /// In a browser where nobody else has a page: its browser died, maybe by its doing.
    Alone,
}

/// Why a step did not get on, before it is known what to say of it.
#[derive(Debug)]
pub(in crate::browser) enum StepError {
    /// The page is gone.
    Ended(PageEnd),
    /// The step's deadline.
    Late,
    /// Chromium says no to a call.
    Refused(CallError),
    /// Known already.
    Fault(JobFault),
}

impl StepError {
    pub(in crate::browser) fn fault(code: FaultCode, message: impl Into<String>) -> Self {
        Self::Fault(JobFault::new(code, message))
    }
}

impl PageError {
    /// Whether the same page may well succeed elsewhere.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retry != Retry::No
    }

    /// The browser is gone.
    pub(in crate::browser) fn lost() -> Self {
        Self { fault: browser_lost(), retry: Retry::Alone, warnings: Warnings::default() }
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

/// The fault of a page that ended, which names the limit it met.
pub(in crate::browser) fn ended(end: PageEnd, limits: &Limits) -> JobFault {
    let Limits { heap_mb, renderer_mb, own_mb, told_mb, .. } = limits;
    let (code, message) = match end {
        PageEnd::Crashed => (
            FaultCode::PageCrashed,
            format!(
                "the page crashed: most often its script took more than {heap_mb} MB (browser.heap_limit_mb)"
            ),
        ),
        PageEnd::Killed => (FaultCode::PageCrashed, "the page's process was killed from outside".to_owned()),
        PageEnd::BrowserFilled => (
            FaultCode::PageMemory,
            format!(
                "the page filled the browser's own process with more than {own_mb} MB (browser.own_memory_limit_mb): \
                 let it make fewer blobs, locks and frames with long data: addresses"
            ),
        ),
        PageEnd::Exceeded(excess) => (FaultCode::PageMemory, excess.sentence(limits)),
        PageEnd::TookMemory => (
            FaultCode::PageMemory,
            format!("the page took more than {renderer_mb} MB (browser.renderer_memory_limit_mb)"),
        ),
        PageEnd::ToldTooMuch => (
            FaultCode::PageFailed,
            format!(
                "the page told too much (more than {told_mb} MB on the console, in dialogs or in the \
                 addresses it asked for; browser.told_limit_mb): let its scripts say less"
            ),
        ),
        PageEnd::Closed => (FaultCode::PageFailed, "the page closed itself".to_owned()),
        PageEnd::BrowserLost | PageEnd::BrowserReplaced => return browser_lost(),
    };
    JobFault::new(code, message)
}

fn browser_lost() -> JobFault {
    JobFault::new(FaultCode::BrowserLost, "the browser died")
}
