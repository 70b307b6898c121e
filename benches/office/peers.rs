//! The others: programs of Node.js that fill a template when a line of JSON asks them to, see `protocol.mjs`.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::Way;
use crate::common::usage::process_time;
use crate::documents::Document;

/// Where their programs are.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/office");
/// Name and program of each that fills Word templates.
pub const WORD: [(&str, &str); 2] =
    [("docxtemplater", "docxtemplater.mjs"), ("easy-template-x", "easy-template-x.mjs")];
/// Name and program of each that fills workbooks.
pub const EXCEL: [(&str, &str); 2] = [("ExcelJS", "exceljs.mjs"), ("xlsx-template", "xlsx-template.mjs")];

/// A running peer.
pub struct Peer {
    name: &'static str,
    child: Child,
    /// Taken out when it is to be ended.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// Starts all, or says why there is none of a name.
pub fn start_all(peers: [(&'static str, &str); 2]) -> Vec<io::Result<Peer>> {
    if let Err(error) = install() {
        return vec![Err(error)];
    }
    let start = |(name, program)| {
        Peer::start(name, program).map_err(|error| io::Error::other(format!("{name}: {error}")))
    };
    peers.into_iter().map(start).collect()
}

/// Installs the packages of the lock file, unless they are there.
pub fn install() -> io::Result<()> {
    let folder = Path::new(FOLDER);
    let (lock, stamp) = (folder.join("package-lock.json"), folder.join("node_modules/.platen-lock"));
    if std::fs::read(&stamp).is_ok_and(|stamp| std::fs::read(&lock).is_ok_and(|lock| lock == stamp)) {
        return Ok(());
    }
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    let done = Command::new("npm").arg("ci").args(quiet).current_dir(folder).stdout(Stdio::null()).status();
    match done {
        Ok(status) if status.success() => std::fs::copy(lock, stamp).map(drop),
        Ok(status) => Err(io::Error::other(format!("npm ci: {status}"))),
        Err(error) => Err(io::Error::other(format!("npm: {error}"))),
    }
}

/// The folder of a program that is found by `PATH`.
pub fn program_folder(name: &str) -> String {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).find(|folder| folder.join(name).exists());
    found.map_or_else(|| "/usr/bin".to_owned(), |folder| folder.display().to_string())
}

impl Peer {
    fn start(name: &'static str, program: &str) -> io::Result<Self> {
        let mut child = Command::new("node")
            .arg(Path::new(FOLDER).join(program))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a stream is missing");
        let answers = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let orders = child.stdin.take();
        Ok(Self { name, child, orders, answers })
    }
}

impl Way for Peer {
    fn name(&self) -> &str {
        self.name
    }

    fn fill(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>> {
        let file = if self.name == "xlsx-template" { &document.foreign } else { &document.file };
        let template = STANDARD.encode(file);
        let order = json!({ "template": template, "data": document.data, "documents": times });
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(format!("{order}\n").as_bytes())?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        if let Some(error) = answer["error"].as_str() {
            return Err(io::Error::other(error.to_owned()));
        }
        STANDARD.decode(answer["file"].as_str().unwrap_or_default()).map_err(io::Error::other)
    }

    fn used(&self) -> [Duration; 2] {
        [process_time(self.child.id()), Duration::ZERO]
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.child.id()]
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.child.wait();
    }
}
