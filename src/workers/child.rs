//! The child's side of the protocol, for programs of ours that are children: start, messages over standard streams, sandbox.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use nix::sys::prctl;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame;

pub use super::cage::compute_only;
pub use super::exec::{Dispatch, run_exec};
pub use super::frame::{ChildMessage, FileReply, FrameError, read, write};
pub use super::memory::Memory;
pub use super::spec::EXEC_COMMAND;

/// Runs the child `name`; `serve` gets the one argument, parsed from JSON. An error goes to standard error.
pub fn run<O: DeserializeOwned>(
    name: &str,
    arguments: &[OsString],
    serve: impl FnOnce(O) -> Result<(), String>,
) -> ExitCode {
    let [argument] = arguments else {
        return failed(name, "wants one argument; the service calls it, not you");
    };
    let options = serde_json::from_slice(argument.as_encoded_bytes());
    match options.map_err(|error| format!("its argument is no order: {error}")).and_then(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => failed(name, &cause),
    }
}

fn failed(name: &str, cause: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{name}: {cause}");
    ExitCode::FAILURE
}

/// Keeps other processes of the same user from tracing this one or reading its memory.
///
/// # Errors
/// A sentence, when the system refuses.
pub fn hide() -> Result<(), String> {
    prctl::set_dumpable(false).map_err(|errno| format!("cannot hide its memory: {errno}"))
}

/// Sends a message to the service.
///
/// # Errors
/// When the pipe breaks.
pub fn send<R: Serialize>(message: &ChildMessage<R>, body: &[u8]) -> Result<(), String> {
    write(io::stdout().lock(), message, body).map_err(|error| format!("cannot speak: {error}"))
}

/// The next job and its body; `None` when the service has closed the pipe.
///
/// # Errors
/// When the frame is no job.
pub fn next_job<J: DeserializeOwned>() -> Result<Option<(J, Vec<u8>)>, String> {
    send(&ChildMessage::<()>::Ready, b"")?;
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
pub fn request_file(name: &str) -> Result<(FileReply, Vec<u8>), String> {
    send(&ChildMessage::<()>::Want(name.to_owned()), b"")?;
    read(io::stdin().lock()).map_err(|error| error.to_string())
}
