//! The service: the real program over HTTP, asked by clients that keep their connections. A document is an
//! immediate render (template and data in the body, EJS assembled) and the download of its PDF.

use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::figures::{Figures, children_time, group_time, process_time, program_name};
use crate::invoice;

/// How often a measurement in which Chromium ended is taken.
const ATTEMPTS: usize = 3;

/// A running service with a token.
pub struct Service {
    child: Child,
    _folder: tempfile::TempDir,
    base: String,
    token: String,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    body: String,
}

impl Service {
    /// Starts the program on a free port and waits until it is ready.
    pub fn start() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = program(&folder).arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").ok_or_else(|| io::Error::other(line.clone()))?;
        let base = base.to_owned();
        command(&folder, &["account", "create", "bench"])?;
        let token = command(&folder, &["token", "create", "--account", "bench"])?;
        let client = reqwest::Client::builder().no_proxy().build().map_err(io::Error::other)?;
        let (template, data) = (Value::from(invoice::template()?), invoice::data()?);
        let body = format!(r#"{{"type": "ejs", "target": "pdf", "template": {template}, "data": {data}}}"#);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let service = Self { child, _folder: folder, base, token, client, runtime, body };
        service.runtime.block_on(service.until_ready());
        Ok(service)
    }

    /// Renders `documents` documents, `clients` at once.
    ///
    /// What a Chromium that ended used cannot be told from what engines that ended used: a measurement in
    /// which one ended is taken again.
    pub fn measure(&self, clients: usize, documents: usize) -> io::Result<Figures> {
        self.runtime.block_on(self.render_all(clients, clients * 4))?;
        for _ in 0..ATTEMPTS {
            let browsers = chromium_groups(self.child.id());
            let figures = self.measure_warm(clients, documents)?;
            if browsers == chromium_groups(self.child.id()) {
                return Ok(figures);
            }
        }
        Err(io::Error::other(format!("Chromium ended in each of {ATTEMPTS} measurements")))
    }

    fn measure_warm(&self, clients: usize, documents: usize) -> io::Result<Figures> {
        let id = self.child.id();
        let chromium_time = || chromium_groups(id).into_iter().map(group_time).sum::<Duration>();
        let engine_time = || children_time(id, || engines(id));
        let (chromium, own, children) = (chromium_time(), process_time(id), engine_time());
        let begun = Instant::now();
        let latencies = self.runtime.block_on(self.render_all(clients, documents))?;
        Ok(Figures {
            latencies,
            wall: begun.elapsed(),
            chromium: chromium_time().saturating_sub(chromium),
            own: process_time(id).saturating_sub(own),
            children: engine_time().saturating_sub(children),
        })
    }

    /// Resident memory of the service's own process in MiB.
    pub fn resident_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1_024
    }

    async fn render_all(&self, clients: usize, documents: usize) -> io::Result<Vec<Duration>> {
        let next = AtomicUsize::new(0);
        let client = async || -> io::Result<Vec<Duration>> {
            let mut latencies = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < documents {
                let begun = Instant::now();
                self.document().await?;
                latencies.push(begun.elapsed());
            }
            Ok(latencies)
        };
        let all = futures_util::future::try_join_all((0..clients).map(|_| client())).await?;
        Ok(all.concat())
    }

    async fn document(&self) -> io::Result<()> {
        let url = format!("{}/v1/documents/immediate-render", self.base);
        let request = self.client.post(url).bearer_auth(&self.token).body(self.body.clone());
        let answer =
            request.send().await.map_err(io::Error::other)?.text().await.map_err(io::Error::other)?;
        let answer: Value = serde_json::from_str(&answer)?;
        let url = answer["url"].as_str().ok_or_else(|| io::Error::other(answer.to_string()))?;
        let file = self.client.get(url).send().await.map_err(io::Error::other)?;
        let file = file.bytes().await.map_err(io::Error::other)?;
        if file.starts_with(b"%PDF-") { Ok(()) } else { Err(io::Error::other("no PDF came")) }
    }

    async fn until_ready(&self) {
        let url = format!("{}/health/ready", self.base);
        while !self.client.get(&url).send().await.is_ok_and(|answer| answer.status() == 200) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// The process groups of the service's browsers: a browser leads a group of its own.
fn chromium_groups(service: u32) -> Vec<i32> {
    let is_chromium = |id: &u32| {
        let program = std::fs::read_link(format!("/proc/{id}/exe"));
        program.is_ok_and(|program| program.to_string_lossy().contains("chrom"))
    };
    let mut groups: Vec<_> =
        children(service).into_iter().filter(is_chromium).filter_map(|id| i32::try_from(id).ok()).collect();
    groups.sort_unstable();
    groups
}

/// The service's template engines. One that has ended has no arguments any more, but still its name.
fn engines(service: u32) -> Vec<u32> {
    let own_name = program_name(service);
    let is_engine = |id: &u32| {
        let arguments = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        arguments.split('\0').any(|argument| argument == "assemble-child")
            || (arguments.is_empty() && program_name(*id) == own_name)
    };
    children(service).into_iter().filter(is_engine).collect()
}

fn children(service: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{service}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: String = children.collect::<Vec<_>>().join(" ");
    children.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn program(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command
        .env("PLATEN__HTTP__BIND", "127.0.0.1:0")
        .env("PLATEN__STORAGE__DATA_DIR", folder.path().join("data"))
        .env("PLATEN__HTTP__RATE_BURST_LIMIT", "10000000")
        .env("PLATEN__LOG__FILTER", "warn");
    command
}

fn command(folder: &tempfile::TempDir, arguments: &[&str]) -> io::Result<String> {
    let output = program(folder).args(arguments).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
