//! `platen-script`: runs template code in a sandbox. Only this program is linked with `JavaScriptCore`, so that the service
//! starts, and says what is missing, where the library is not installed. The service starts it; it is no command for users.

mod ejs;
mod error;
mod expressions;
mod file;
mod latex;
mod lint;
mod locale;
mod machine;
mod office;
mod serve;

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
