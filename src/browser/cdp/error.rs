//! Why a call of Chromium has no answer, and whether the browser is the reason.

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::browser) enum CallError {
    /// The connection ended: Chromium died or was ended.
    #[error("{method}: the browser is gone")]
    Closed { method: &'static str },
    /// The page's renderer died, or the page was closed.
    #[error("{method}: the page is gone")]
    PageGone { method: &'static str },
    /// No answer within the deadline.
    #[error("{method}: no answer within {limit_ms} ms")]
    Timeout { method: &'static str, limit_ms: u128 },
    /// Chromium refused.
    #[error("{method}: {message}")]
    Refused { method: &'static str, message: String },
    /// It was not sent: so long a message would end the connection, for all pages.
    #[error("{method}: the browser takes no message of {bytes} bytes, more than {limit_bytes}")]
    TooLong { method: &'static str, bytes: usize, limit_bytes: usize },
    /// The answer is not what the protocol says, or too long.
    #[error("{method}: the answer cannot be read: {detail}")]
    Unreadable { method: &'static str, detail: String },
}

impl CallError {
    /// Whether the browser is the reason: it is gone, or does not answer in time.
    pub(in crate::browser) fn is_of_browser(&self) -> bool {
        match self {
            Self::Closed { .. } | Self::Timeout { .. } => true,
            Self::PageGone { .. } | Self::Refused { .. } | Self::TooLong { .. } | Self::Unreadable { .. } => {
                false
            }
        }
    }
}
