//! Supervised child processes: how they are started, what they are kept from, how they end.
//!
//! There are three kinds: sub-commands of ours, kept or for one job ([`Pool`]); foreign programs for one run
//! ([`Programs`]); and servers that make a child for each document, which are anybody's ([`Pool`] again).
//!
//! `platen exec` (our own binary) is the one starter of children: it takes a [`ChildSpec`], gives up
//! what the child shall not have and becomes the program. Everything here is safe code.

pub mod assemble;
mod cage;
pub mod child;
mod exec;
mod frame;
mod group;
mod holdings;
mod housing;
pub mod libreoffice;
pub mod lint;
mod memory;
mod place;
mod pool;
mod priority;
mod program;
pub mod raster;
mod scratch;
mod seats;
mod spec;
mod starter;
mod waits;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

pub use cage::{Landlock, landlock};
pub use exec::EXEC_FAILED;
pub use housing::Housing;
pub use pool::{Pool, PoolSettings};
pub use priority::{processor_time, yield_processor};
pub use program::{Bounds, Excess, Finished, Input, Profile, ProgramError, ProgramRun, Programs, SharedFile};
pub use scratch::{Output, OutputError};
pub use spec::{Cage, ChildSpec, Limits, Signals, User};
pub use starter::{Starter, Streams, end, kill_group};
pub use worker::{Asked, FileSource, Job, Refused, WorkerFault};

/// Runs the sub-commands that must come before any runtime or thread; `None` for all others.
///
/// `main` calls it first, with the arguments after the program's own name.
pub fn dispatch(arguments: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = arguments.split_first()?;
    match command.to_str()? {
        spec::EXEC_COMMAND => Some(exec::run_exec(rest, dispatch)),
        libreoffice::COMMAND => Some(libreoffice::run(rest)),
        raster::COMMAND => Some(raster::run(rest)),
        _ => None,
    }
}
