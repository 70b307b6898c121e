//! The programs alone, each document in a folder of its own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Way;
use crate::common::usage::Stat;
use crate::documents::Document;

/// As most documents need at most.
const RUNS: usize = 4;
const ARGUMENTS: [&str; 3] = ["-interaction=batchmode", "-halt-on-error", "-no-shell-escape"];

/// pdflatex.
pub struct Pdflatex {
    name: &'static str,
    runs: usize,
}

/// latexmk, which runs pdflatex.
pub struct Latexmk;

impl Pdflatex {
    /// One run, whatever is missing after it.
    pub fn once() -> io::Result<Self> {
        found("pdflatex")?;
        Ok(Self { name: "pdflatex, one run", runs: 1 })
    }

    /// Until nothing changes any more.
    pub fn settled() -> io::Result<Self> {
        found("pdflatex")?;
        Ok(Self { name: "pdflatex, as many runs as needed", runs: RUNS })
    }
}

impl Latexmk {
    /// Where it is installed.
    pub fn find() -> io::Result<Self> {
        found("latexmk").map(|()| Self)
    }
}

impl Way for Pdflatex {
    fn name(&self) -> &'static str {
        self.name
    }

    fn make(&mut self, document: &Document) -> io::Result<Vec<u8>> {
        let folder = folder_of(document)?;
        let mut before = Vec::new();
        for _ in 0..self.runs {
            run(Command::new("pdflatex").args(ARGUMENTS).arg("document.tex"), folder.path())?;
            let log = fs::read(folder.path().join("document.log"))?;
            let log = String::from_utf8_lossy(&log);
            let asks = ["Rerun LaTeX", "Rerun to"].iter().any(|words| log.contains(words));
            let now = fs::read(folder.path().join("document.aux"))?;
            // Of a first run TeX says itself whether another is needed.
            if !asks && (before.is_empty() || now == before) {
                break;
            }
            before = now;
        }
        fs::read(folder.path().join("document.pdf"))
    }

    fn used(&self) -> [Duration; 2] {
        ended()
    }
}

impl Way for Latexmk {
    fn name(&self) -> &'static str {
        "latexmk"
    }

    fn make(&mut self, document: &Document) -> io::Result<Vec<u8>> {
        let folder = folder_of(document)?;
        run(
            Command::new("latexmk").args(["-norc", "-pdf"]).args(ARGUMENTS).arg("document.tex"),
            folder.path(),
        )?;
        fs::read(folder.path().join("document.pdf"))
    }

    fn used(&self) -> [Duration; 2] {
        ended()
    }
}

fn folder_of(document: &Document) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("document.tex"), &document.filled)?;
    Ok(folder)
}

fn run(command: &mut Command, folder: &Path) -> io::Result<()> {
    let silent = command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = silent.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

fn found(program: &str) -> io::Result<()> {
    let silent = Command::new(program).arg("--version").stdout(Stdio::null()).status()?;
    if silent.success() { Ok(()) } else { Err(io::Error::other(format!("{program}: {silent}"))) }
}

/// What the programs have used that have ended.
fn ended() -> [Duration; 2] {
    let ended = Stat::of(std::process::id()).map(|stat| stat.ended_time());
    [ended.unwrap_or_default(), Duration::ZERO]
}
