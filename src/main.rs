//! The program: dispatches to a child's role before any runtime starts, then to a command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = platen::workers::dispatch(arguments.get(1..).unwrap_or_default()) {
        return code;
    }
    platen::cli::main(arguments, std::env::vars_os().collect())
}
