//! How a page fails: what its author is told, and whether another browser may do better.

use super::cdp::CallError;
use super::events::PageEnd;
use crate::domain::fault::{FaultCode, JobFault, Warnings};

/// Why a page did not become a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct PageFault {
    /// What the job's owner is told.
    pub fault: JobFault,
    /// The browser died, not the page: the same page may well succeed in another browser.
    pub retryable: bool,
    /// What happened before.
    pub warnings: Warnings,
}

/// Why a step did not get on, before it is known what to say of it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The page is gone.
    Ended(PageEnd),
    /// The step's deadline.
    Late,
    /// Chromium says no to a call.
    Refused(CallError),
    /// Known already.
    Fault(JobFault),
}

impl Trouble {
    pub(super) fn fault(code: FaultCode, message: impl Into<String>) -> Self {
        Self::Fault(JobFault::new(code, message))
    }
}

impl PageFault {
    /// The browser is gone.
    pub(super) fn lost() -> Self {
        let fault = ended(PageEnd::BrowserLost, 0, 0);
        Self { fault, retryable: true, warnings: Warnings::default() }
    }
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Closed { .. } => Self::Ended(PageEnd::BrowserLost),
            CallError::PageGone { .. } => Self::Ended(PageEnd::Closed),
            CallError::Timeout { .. } => Self::Late,
            CallError::Refused { .. } | CallError::Unreadable { .. } => Self::Refused(error),
        }
    }
}

/// The fault of a page that ended; `limits` are the memory limits in megabytes (heap, renderer).
pub(super) fn ended(end: PageEnd, heap_limit_mb: u64, renderer_limit_mb: u64) -> JobFault {
    match end {
        PageEnd::Crashed => JobFault::new(
            FaultCode::PageCrashed,
            format!(
                "the page crashed: most often its script took more than {heap_limit_mb} MB \
                 (browser.heap_limit_mb)"
            ),
        ),
        PageEnd::TookMemory => JobFault::new(
            FaultCode::PageMemory,
            format!("the page took more than {renderer_limit_mb} MB (browser.renderer_memory_limit_mb)"),
        ),
        PageEnd::ToldTooMuch => JobFault::new(
            FaultCode::PageFailed,
            "the page told too much (more than 256 MiB on the console, in dialogs or in the addresses it \
             asked for): let its scripts say less",
        ),
        PageEnd::Closed => JobFault::new(FaultCode::PageFailed, "the page closed itself"),
        PageEnd::BrowserLost => JobFault::new(FaultCode::BrowserLost, "the browser died"),
    }
}
