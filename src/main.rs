//! The program: dispatches to a command.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(code) = platen::workers::dispatch(&arguments) {
        return code;
    }
    ExitCode::from(2)
}
