//! Wrappers that keep one LibreOffice running for all documents: programs that convert when a line of JSON asks them to.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Converter;
use super::documents::Document;
use crate::common::usage::group_time;
use crate::peers;

/// Where LibreOffice's own programs are: one wrapper looks for `soffice.bin` among the programs.
const PROGRAMS: &str = "/usr/lib/libreoffice/program:/usr/bin:/bin";
/// The Python that LibreOffice's package for it belongs to.
const PYTHON: &str = "/usr/bin/python3";
const UNOSERVER: &str = "unoserver==3.7";

struct Wrapper {
    name: &'static str,
    child: Child,
    /// Taken out when it is to be ended.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    _folder: TempDir,
}

/// Starts the wrapper of that name.
pub fn start(name: &'static str) -> io::Result<Box<dyn Converter>> {
    let folder = tempfile::tempdir()?;
    let mut command = if name == "carbone" { carbone()? } else { unoserver()? };
    let node = peers::program_folder("node");
    let mut child = command
        .env("PATH", format!("{PROGRAMS}:{node}"))
        .env("HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| io::Error::other(format!("{name}: {error}")))?;
    let missing = || io::Error::other("a stream is missing");
    let answers = BufReader::new(child.stdout.take().ok_or_else(missing)?);
    let orders = child.stdin.take();
    Ok(Box::new(Wrapper { name, child, orders, answers, _folder: folder }))
}

fn carbone() -> io::Result<Command> {
    peers::install()?;
    let mut command = Command::new("node");
    command.arg(Path::new(peers::FOLDER).join("carbone.mjs"));
    Ok(command)
}

/// A Python of its own, which sees the system's `uno`.
fn unoserver() -> io::Result<Command> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/bench-unoserver"));
    if !folder.join("bin/unoserver").exists() {
        let make = [PYTHON, "-m", "venv", "--system-site-packages"];
        run(Command::new(make[0]).args(&make[1..]).arg(&folder))?;
        run(Command::new(folder.join("bin/pip")).args(["install", "--quiet", UNOSERVER]))?;
    }
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(Path::new(peers::FOLDER).join("unoserver-client.py"));
    Ok(command)
}

fn run(command: &mut Command) -> io::Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

impl Converter for Wrapper {
    fn name(&self) -> String {
        format!("{}, warm", self.name)
    }

    fn convert(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>> {
        let order =
            json!({ "file": STANDARD.encode(document.file), "kind": document.kind, "documents": times });
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(format!("{order}\n").as_bytes())?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        if let Some(error) = answer["error"].as_str() {
            return Err(io::Error::other(format!("{}: {error}", self.name)));
        }
        STANDARD.decode(answer["file"].as_str().unwrap_or_default()).map_err(io::Error::other)
    }

    fn used(&self) -> Duration {
        i32::try_from(self.child.id()).map(group_time).unwrap_or_default()
    }
}

impl Drop for Wrapper {
    fn drop(&mut self) {
        self.orders = None;
        // It ends its LibreOffice when it is no longer used; any process left is killed with its group.
        let _ = self.child.wait();
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
    }
}
