//! Why a run of a foreign program failed.

use std::io;

use super::bounds::Excess;
use crate::workers::hung::{Hung, KilledFromOutside};

/// Why a run failed. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It could not be started: the installation is wrong.
    #[error("a program cannot start: {0}")]
    NotStarted(String),
    /// The kernel cannot confine it to its files.
    #[error(
        "this kernel has no Landlock, so files cannot be fenced from programs; boot it with landlock among lsm=, \
         or let programs read whatever their user can by workers.allow_unfenced_files"
    )]
    NotConfined,
    /// An input could not be read or written.
    #[error("an input of a program cannot be staged: {0}")]
    Input(io::Error),
    /// It took longer than its deadline and was killed.
    #[error("the program was killed at its deadline (workers.timeout_ms)")]
    Deadline,
    /// It exceeded a limit and was killed.
    #[error("the program was killed, for it took too much: {}", .0.description())]
    TooMuch(Excess),
    /// It hung and was killed.
    #[error("the program {0}")]
    Hung(Hung),
    /// Somebody else killed it.
    #[error("the program {0}")]
    KilledFromOutside(KilledFromOutside),
    /// The system failed.
    #[error("a program's folder cannot be used: {0}")]
    System(io::Error),
}

impl ProgramError {
    /// The error's name in metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotStarted(_) | Self::NotConfined => "not_started",
            Self::Input(_) | Self::System(_) => "not_staged",
            Self::Deadline => "deadline",
            Self::TooMuch(excess) => excess.name(),
            Self::Hung(_) => "hung",
            Self::KilledFromOutside(_) => "killed",
        }
    }
}
