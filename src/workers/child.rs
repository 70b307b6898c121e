//! What a program of ours needs that is itself a child: its start, what is said over its standard streams, its cage.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use nix::sys::prctl;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame;

pub use super::cage::compute_only;
pub use super::exec::{Dispatch, run_exec};
pub use super::frame::{FrameError, Given, Saying, read, write};
pub use super::memory::Memory;
pub use super::spec::EXEC_COMMAND;

/// Runs the child `name` with its order, which is its one argument in JSON; why it cannot go on is said on standard error.
pub fn run<O: DeserializeOwned>(
    name: &str,
    arguments: &[OsString],
    serve: impl FnOnce(O) -> Result<(), String>,
) -> ExitCode {
    let [order] = arguments else { return failed(name, "wants one argument; the service calls it, not you") };
    let order = serde_json::from_slice(order.as_encoded_bytes());
    match order.map_err(|error| format!("its argument is no order: {error}")).and_then(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => failed(name, &cause),
    }
}

fn failed(name: &str, cause: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{name}: {cause}");
    ExitCode::FAILURE
}

/// From now on no process of the same user may trace this one or look into its memory.
///
/// # Errors
/// A sentence, when the system refuses.
pub fn hide() -> Result<(), String> {
    prctl::set_dumpable(false).map_err(|errno| format!("cannot hide its memory: {errno}"))
}

/// Says something to the service.
///
/// # Errors
/// When the pipe breaks.
pub fn say<R: Serialize>(saying: &Saying<R>, body: &[u8]) -> Result<(), String> {
    write(io::stdout().lock(), saying, body).map_err(|error| format!("cannot speak: {error}"))
}

/// The next job and its body; `None` when nobody wants anything any more.
///
/// # Errors
/// When it is no job.
pub fn next<J: DeserializeOwned>() -> Result<Option<(J, Vec<u8>)>, String> {
    say(&Saying::<()>::Ready, b"")?;
    match frame::read(io::stdin().lock()) {
        Ok(job) => Ok(Some(job)),
        Err(FrameError::Broken(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Asks the service for the file `name`.
///
/// # Errors
/// When the pipe breaks.
pub fn ask(name: &str) -> Result<(Given, Vec<u8>), String> {
    say(&Saying::<()>::Want(name.to_owned()), b"")?;
    read(io::stdin().lock()).map_err(|error| error.to_string())
}
