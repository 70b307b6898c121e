//! Why a call of Chromium has no answer, and whose fault that is.

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The connection ended: Chromium died or was ended.
    #[error("{method}: the browser is gone")]
    Closed {
        /// What was called.
        method: &'static str,
    },
    /// The page's renderer died, or the page was closed.
    #[error("{method}: the page is gone")]
    PageGone {
        /// What was called.
        method: &'static str,
    },
    /// No answer within the deadline.
    #[error("{method}: no answer within {limit_ms} ms")]
    Timeout {
        /// What was called.
        method: &'static str,
        /// The deadline.
        limit_ms: u128,
    },
    /// Chromium answered that it does not.
    #[error("{method}: {message}")]
    Refused {
        /// What was called.
        method: &'static str,
        /// What Chromium says.
        message: String,
    },
    /// It was not sent: so long a message would end the connection, for all pages.
    #[error("{method}: the browser takes no message of {bytes} bytes, more than {limit_bytes}")]
    TooLong {
        /// What was to be called.
        method: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit_bytes: usize,
    },
    /// The answer is not what the protocol says, or too long.
    #[error("{method}: the answer cannot be read: {detail}")]
    Unreadable {
        /// What was called.
        method: &'static str,
        /// What is wrong with it.
        detail: String,
    },
}

impl CallError {
    /// Whether the fault is the browser's: it is gone, or does not answer what is quick.
    #[must_use]
    pub fn is_of_browser(&self) -> bool {
        match self {
            Self::Closed { .. } | Self::Timeout { .. } => true,
            Self::PageGone { .. } | Self::Refused { .. } | Self::TooLong { .. } | Self::Unreadable { .. } => {
                false
            }
        }
    }
}
