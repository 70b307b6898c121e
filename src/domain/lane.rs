//! The two lanes of a page: whether script may run in it.

/// Which tab a page may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// No script can run (execution is disabled in the tab): it may have a tab that its account had before.
    Static,
    /// Script may run: a browser context of its own, disposed at the end of the job.
    Scripted,
}

impl Lane {
    /// The lane's name in logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Scripted => "scripted",
        }
    }
}
