//! The real program on a filled folder, asked over connections that are kept.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};

use crate::fill::Filled;

/// A running service.
pub struct Service {
    child: Child,
    base: String,
    token: String,
    client: Client,
    runtime: tokio::runtime::Runtime,
}

/// How long a start took, from when the program was called.
pub struct Started {
    /// Until it said that it lives.
    pub alive: Duration,
    /// Until it had answered for a template.
    pub answered: Duration,
}

/// Runs a command of the program on the folder below `root`; its stdout.
pub fn command(root: &Path, arguments: &[&str]) -> io::Result<String> {
    let output = program(root).args(arguments).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Service {
    /// Starts the program.
    pub fn start(root: &Path, filled: &Filled) -> io::Result<(Self, Started)> {
        let begun = Instant::now();
        let mut child = program(root).arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").ok_or_else(|| io::Error::other(line.clone()))?;
        let client = Client::builder().no_proxy().build().map_err(io::Error::other)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (base, token) = (base.to_owned(), filled.token.clone());
        let service = Self { child, base, token, client, runtime };
        service.runtime.block_on(service.get("/health/live"))?;
        let alive = begun.elapsed();
        service.runtime.block_on(service.get(&format!("/v1/templates/{}", filled.template(1))))?;
        Ok((service, Started { alive, answered: begun.elapsed() }))
    }

    /// GETs `count` paths, `clients` at once: each latency, and how long all of it took.
    pub fn ask_all(
        &self,
        clients: usize,
        count: usize,
        path: impl Fn(usize) -> String,
    ) -> io::Result<(Vec<Duration>, Duration)> {
        self.measure(clients, count, async |number| self.get(&path(number)).await.map(drop))
    }

    /// Renders templates to html, likewise; a render is the request and the download.
    pub fn render_all(
        &self,
        clients: usize,
        count: usize,
        template: impl Fn(usize) -> String,
    ) -> io::Result<(Vec<Duration>, Duration)> {
        self.measure(clients, count, async |number| self.render(&template(number)).await)
    }

    /// Resident memory of the service's own process in MiB.
    pub fn resident_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1_024
    }

    /// The first requests warm up and are not counted.
    fn measure(
        &self,
        clients: usize,
        count: usize,
        request: impl AsyncFn(usize) -> io::Result<()>,
    ) -> io::Result<(Vec<Duration>, Duration)> {
        let mut measured = (Vec::new(), Duration::ZERO);
        for count in [clients * 4, count] {
            let next = AtomicUsize::new(0);
            let client = async || -> io::Result<Vec<Duration>> {
                let mut latencies = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok(latencies);
                    }
                    let begun = Instant::now();
                    request(number).await?;
                    latencies.push(begun.elapsed());
                }
            };
            let begun = Instant::now();
            let all = futures_util::future::try_join_all((0..clients).map(|_| client()));
            let latencies = self.runtime.block_on(all)?.concat();
            measured = (latencies, begun.elapsed());
        }
        Ok(measured)
    }

    async fn get(&self, path: &str) -> io::Result<String> {
        let request = self.client.get(format!("{}{path}", self.base)).bearer_auth(&self.token);
        let answer = request.send().await.map_err(io::Error::other)?;
        let (status, text) = (answer.status(), answer.text().await.map_err(io::Error::other)?);
        if status == 200 { Ok(text) } else { Err(io::Error::other(text)) }
    }

    async fn render(&self, template: &str) -> io::Result<()> {
        let body = json!({"type": "html", "target": "html", "templateId": template, "data": {"name": "Bob"}});
        let url = format!("{}/v1/documents/immediate-render", self.base);
        let request = self.client.post(url).bearer_auth(&self.token).body(body.to_string());
        let answer = request.send().await.map_err(io::Error::other)?.text().await;
        let answer: Value = serde_json::from_str(&answer.map_err(io::Error::other)?)?;
        let url = answer["url"].as_str().ok_or_else(|| io::Error::other(answer.to_string()))?;
        let file = self.client.get(url).send().await.map_err(io::Error::other)?;
        let page = file.text().await.map_err(io::Error::other)?;
        if page.contains("Invoice for Bob") { Ok(()) } else { Err(io::Error::other(page)) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

fn program(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command
        .env("PLATEN__HTTP__BIND", "127.0.0.1:0")
        .env("PLATEN__STORAGE__DATA_DIR", root.join("data"))
        .env("PLATEN__HTTP__RATE_LIMIT_PER_S", "1000000")
        .env("PLATEN__HTTP__RATE_BURST_LIMIT", "10000000")
        .env("PLATEN__LOG__FILTER", "warn");
    command
}
