//! The commands of the program, one file each. Only `main` (of `src/main.rs`) enters here; commands call the service's modules
//! and none of these calls a command.

pub mod account;
pub mod backup;
pub mod doctor;
mod file_or_stdio;
mod folder;
pub mod index;
pub mod lint;
pub mod operator;
mod owner;
pub mod render;
pub mod serve;
pub mod token;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{self, Config};
use crate::http;
use crate::storage::data_dir::DataDir;
use crate::version;

/// A self-hosted document rendering service: template and data in, PDF, image or HTML out.
#[derive(Debug, Parser)]
#[command(name = "platen", version = version::with_commit())]
struct Arguments {
    /// A configuration file over the defaults (also `PLATEN_CONFIG`; else `/etc/platen/platen.toml`, if it is there).
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the service.
    Serve(serve::ServeArguments),
    /// Render one document without a server.
    Render(render::RenderArguments),
    /// Say what a template has in it: its tags, the data that it reads, its faults.
    Lint(lint::LintArguments),
    /// Accounts: create, list, set, delete.
    Account(account::AccountArgs),
    /// Tokens: create, list, revoke.
    Token(token::TokenArgs),
    /// Copy the data folder, beside the running service or without one.
    Backup(backup::BackupArguments),
    /// Copy a backup into the empty data folder.
    Restore(backup::RestoreArguments),
    /// The index: make it anew from the store.
    Index(index::IndexArguments),
    /// Say what is installed, what a missing part disables, and what installs it.
    Doctor(doctor::DoctorArguments),
    /// Print the OpenAPI document.
    Openapi,
}

/// The configuration that the Debian package installs.
const CONFIG_OF_MACHINE: &str = "/etc/platen/platen.toml";

impl Command {
    /// Whether it works on the data folder, or looks at the machine as the service would.
    fn is_of_service_user(&self) -> bool {
        match self {
            Self::Account(_)
            | Self::Token(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Index(_)
            | Self::Doctor(_) => true,
            Self::Serve(_) | Self::Render(_) | Self::Lint(_) | Self::Openapi => false,
        }
    }
}

/// Why a command failed: a sentence for the operator.
pub type CommandError = Box<dyn std::error::Error + Send + Sync>;

/// Reads the arguments and runs the command; errors go to stderr in a sentence.
pub fn main(
    arguments: impl IntoIterator<Item = OsString>,
    environment: Vec<(OsString, OsString)>,
) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors: clap knows the stream and the code.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match readable(environment).and_then(|environment| run(arguments, environment)) {
        Ok(code) => code,
        Err(error) => {
            print_to_stderr(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// The variables that are UTF-8. One named `PLATEN…` that is not is an error, which otherwise would silently not apply.
fn readable(environment: Vec<(OsString, OsString)>) -> Result<Vec<(String, String)>, CommandError> {
    let mut readable = Vec::new();
    for (name, value) in environment {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => readable.push((name, value)),
            (Ok(name), Err(_)) if name.starts_with("PLATEN") => {
                return Err(format!("the variable {name} is not UTF-8; write its value anew").into());
            }
            (Ok(_) | Err(_), _) => {}
        }
    }
    Ok(readable)
}

fn run(arguments: Arguments, environment: Vec<(String, String)>) -> Result<ExitCode, CommandError> {
    let of_service = arguments.command.is_of_service_user() || matches!(arguments.command, Command::Serve(_));
    let file = file(arguments.config, &environment, Path::new(CONFIG_OF_MACHINE), of_service);
    if matches!(&arguments.command, Command::Serve(serve) if serve.print_config) {
        let (shown, errors) = config::effective(file.as_deref(), &environment);
        print_to_stdout(shown.trim_end())?;
        return if errors.0.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(errors.into()) };
    }
    let config = Config::load(file.as_deref(), environment)?;
    if arguments.command.is_of_service_user() {
        owner::become_owner(Path::new(&config.storage.data_dir))?;
    }
    match arguments.command {
        Command::Serve(_) => serve::run(config),
        Command::Render(command) => render::run(config, &command),
        Command::Lint(command) => lint::run(&config, &command),
        Command::Account(command) => {
            account::run(command, &config, &mut std::io::stdout().lock())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Token(command) => {
            token::run(command, &config, &mut std::io::stdout().lock())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Backup(command) => backup::backup(&config, &command),
        Command::Restore(command) => backup::restore(&config, &command),
        Command::Index(command) => index::run(&config, &command),
        Command::Doctor(command) => doctor::run(&config, &command),
        Command::Openapi => {
            // An empty URL: the document then names the host that serves it.
            let document = http::openapi(&config, config.http.public_url.trim_end_matches('/'))?;
            print_to_stdout(&serde_json::to_string_pretty(&document)?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The configuration file: that of `--config`, else that of `PLATEN_CONFIG` (none, if that is empty), else the machine's, if it
/// has one. `of_service`: the command is the service's or its operator's. Other commands are everybody's, and do without a file
/// that its owner keeps from them.
fn file(
    named: Option<PathBuf>,
    environment: &[(String, String)],
    of_machine: &Path,
    of_service: bool,
) -> Option<PathBuf> {
    let variable = environment.iter().find(|(name, _)| name == "PLATEN_CONFIG");
    let of_machine = || {
        let is_used = if of_service { of_machine.exists() } else { std::fs::File::open(of_machine).is_ok() };
        is_used.then(|| of_machine.to_owned())
    };
    match (named, variable) {
        (Some(named), _) => Some(named),
        (None, Some((_, value))) => Some(value.into()).filter(|_| !value.is_empty()),
        (None, None) => of_machine(),
    }
}

/// The data folder that `config` names, which must be one.
fn data_folder(config: &Config) -> Result<DataDir, CommandError> {
    let path = Path::new(&config.storage.data_dir);
    if DataDir::find(path)?.is_none() {
        return Err(format!("{} is no data folder; set storage.data_dir to it", path.display()).into());
    }
    Ok(DataDir::open(path)?)
}

/// A runtime on this thread, for commands that use the index and no network.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_time().build()
}

pub(crate) fn print_to_stdout(line: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Writes a line to stderr. A failure is ignored: there is nowhere left to report it.
pub(crate) fn print_to_stderr(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr().lock(), "platen: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_configuration_is_read_where_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let of_machine = folder.path().join("platen.toml");
        let chosen = |argument: Option<&str>, variable: Option<&str>| {
            let environment: Vec<_> =
                variable.map(|value| ("PLATEN_CONFIG".to_owned(), value.to_owned())).into_iter().collect();
            file(argument.map(PathBuf::from), &environment, &of_machine, true)
        };
        assert_eq!(chosen(None, None), None, "it is not there");
        std::fs::write(&of_machine, "").unwrap();
        assert_eq!(chosen(None, None), Some(of_machine.clone()));
        assert_eq!(chosen(None, Some("a")), Some("a".into()));
        assert_eq!(chosen(None, Some("")), None, "an empty variable: the defaults");
        assert_eq!(chosen(Some("b"), Some("a")), Some("b".into()));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_missed_by_the_service_alone() {
        let folder = tempfile::tempdir().unwrap();
        // Also for root, which may read any file.
        let unreadable = folder.path().join("platen.toml");
        std::os::unix::fs::symlink("platen.toml", &unreadable).unwrap();
        assert_eq!(file(None, &[], &unreadable, false), None);
        let kept = folder.path().join("kept.toml");
        std::fs::write(&kept, "").unwrap();
        assert_eq!(file(None, &[], &kept, false), Some(kept.clone()));
        assert_eq!(file(None, &[], &kept, true), Some(kept));
    }
}
