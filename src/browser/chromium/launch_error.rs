//! Why Chromium could not be started.

use std::io;

/// Why Chromium could not be started, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No Chromium where we look.
    #[error("no Chromium found: install it (scripts/setup) or name it by browser.executable")]
    NotInstalled,
    /// The user to start it as does not exist.
    #[error(
        "the user '{0}' (browser.user) that Chromium is started as does not exist: make it with scripts/setup"
    )]
    NoUser(String),
    /// The system gives this user no user namespace, which its sandbox is made of.
    #[error(
        "Chromium's sandbox does not work here: no user namespace is to be had; `platen doctor` says why"
    )]
    NoSandbox,
    /// It draws no WebGL, or not in its sandbox.
    #[error("Chromium has no WebGL here: {0}")]
    NoGraphics(String),
    /// The system refused.
    #[error("Chromium cannot be started: {0}")]
    System(#[from] io::Error),
    /// It ran, and ended or said nothing.
    #[error("Chromium '{executable}' did not start ({reason}); it printed: {printed}")]
    Silent {
        /// What was started.
        executable: String,
        /// How the attempt ended.
        reason: String,
        /// The last lines of its standard error.
        printed: String,
        /// It ended by a fault of its own: by a signal that nobody sent.
        has_crashed: bool,
    },
}
