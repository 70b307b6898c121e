//! `platen-script`: template code in its cage. The one program of ours that is linked with `JavaScriptCore`, so that the
//! service starts where the library is not installed; the service starts it, not you.

mod ejs;
mod error;
mod file;
mod lint;
mod machine;
mod office;
mod serve;
mod speech;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use platen::workers::{assemble, child};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    dispatch(&arguments).unwrap_or_else(|| {
        let _ = writeln!(std::io::stderr(), "platen-script is a part of platen, which starts it");
        ExitCode::FAILURE
    })
}

fn dispatch(arguments: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = arguments.split_first()?;
    match command.to_str()? {
        child::EXEC_COMMAND => Some(child::run_exec(rest, dispatch)),
        assemble::COMMAND => Some(serve::run(rest)),
        _ => None,
    }
}
