//! Supervised child processes: how they are started, caged, watched and ended.
//!
//! *Cage* is the word for the sandbox of a child ([`Cage`], `cage.rs`): Landlock confines it to certain files, seccomp keeps it
//! from the network, from other processes and from rare system calls. What a program's cage lets it reach is its
//! [`SandboxProfile`].
//!
//! There are three kinds: children of ours that do jobs of one account ([`Pool`]); foreign programs for one run
//! ([`Programs`]); and servers, which fork a child for each document and so work for all accounts ([`Pool`] again).
//!
//! Every child is started by `platen exec` (our own binary): it takes a [`ChildSpec`], gives up the rights that the child must
//! not have, and becomes the program. Engines use what is exported here; the browser starts Chromium by [`Starter`].

pub mod assemble;
mod at_work;
mod cage;
pub mod child;
mod exec;
mod frame;
mod group;
mod hung;
mod job_slots;
pub mod libreoffice;
pub mod lint;
mod memory;
mod pool;
mod priority;
mod process_slots;
mod program;
pub mod raster;
mod scratch;
mod server;
mod spec;
mod starter;
mod usage;
mod work_clock;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

pub use cage::{Landlock, landlock};
pub use exec::EXEC_FAILED;
pub use hung::{Hung, KilledFromOutside, is_from_outside};
pub use pool::{Pool, PoolSettings};
pub use priority::{
    LOWEST_AFTER, SessionShare, processor_time, set_session_share, time_and_niceness, yield_in_session,
    yield_to_all_in_session,
};
pub use program::{
    Bounds, Excess, Finished, Input, ProgramError, ProgramRun, Programs, SandboxProfile, SharedFile,
};
pub use scratch::{Output, OutputError};
pub use server::ServerSettings;
pub use spec::{Cage, ChildSpec, ResourceLimits, Signals, Starts, User};
pub use starter::{Starter, Streams, end, kill_group};
pub use worker::{FileSource, Job, PartRefused, SuppliedFile, WorkerError};

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
