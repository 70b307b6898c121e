//! The service: the real program over HTTP, asked by clients that keep their connections. A document is an
//! immediate render (data in the body, and the template too unless files lie beside it, which saves it first;
//! EJS assembled) and the download of its PDF.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::common::document::Document;
use crate::common::figures::{
    Figures, children_time, group_time, memory_mb, process_time, program_name, warm_up,
};
use crate::common::saved::text;

/// How often a measurement in which Chromium ended is taken.
const ATTEMPTS: usize = 3;

/// A running service with a token.
pub struct Service {
    child: Child,
    _folder: tempfile::TempDir,
    base: String,
    token: String,
    pub client: reqwest::Client,
    pub runtime: tokio::runtime::Runtime,
    /// What is asked for a document, by its name.
    bodies: RefCell<HashMap<String, String>>,
}

impl Service {
    /// Starts the program with further settings on a free port and waits until it is ready.
    pub fn start(settings: &[(&str, &str)]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child =
            program(&folder).envs(settings.iter().copied()).arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").ok_or_else(|| io::Error::other(line.clone()))?;
        let base = base.to_owned();
        command(&folder, &["account", "create", "bench"])?;
        let token = command(&folder, &["token", "create", "--account", "bench"])?;
        let client = reqwest::Client::builder()
            .no_proxy()
            // The service closes a connection that rests for longer than http.keep_alive_s.
            .pool_idle_timeout(std::time::Duration::from_secs(30))
            .build()
            .map_err(io::Error::other)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let bodies = RefCell::default();
        let service = Self { child, _folder: folder, base, token, client, runtime, bodies };
        service.runtime.block_on(service.until_ready());
        Ok(service)
    }

    /// Renders `documents` times, `clients` at once.
    ///
    /// What a Chromium that ended used cannot be told from what engines that ended used: a measurement in
    /// which one ended is taken again.
    pub fn measure(&self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
        self.render_all(document, clients, warm_up(clients))?;
        for _ in 0..ATTEMPTS {
            let browsers = chromium_groups(self.id());
            let figures = self.measure_warm(document, clients, documents)?;
            if browsers == chromium_groups(self.id()) {
                return Ok(figures);
            }
        }
        Err(io::Error::other(format!("Chromium ended in each of {ATTEMPTS} measurements")))
    }

    fn measure_warm(&self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
        let id = self.id();
        let chromium_time = || chromium_groups(id).into_iter().map(group_time).sum::<Duration>();
        let engine_time = || children_time(id, || engines(id));
        let (chromium, own, children) = (chromium_time(), process_time(id), engine_time());
        let begun = Instant::now();
        let latencies = self.render_all(document, clients, documents)?;
        let wall = begun.elapsed();
        Ok(Figures {
            latencies,
            wall,
            chromium: chromium_time().saturating_sub(chromium),
            own: process_time(id).saturating_sub(own),
            children: engine_time().saturating_sub(children),
        })
    }

    /// Memory of the service's own process in MiB, see `figures`.
    pub fn memory_mb(&self, which: &str) -> u64 {
        memory_mb(&self.id().to_string(), which)
    }

    /// The id of its own process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Renders `documents` times, `clients` at once; gives each latency.
    pub fn render_all(
        &self,
        document: &Document,
        clients: usize,
        documents: usize,
    ) -> io::Result<Vec<Duration>> {
        self.runtime.block_on(self.render_at_once(document, (clients, documents)))
    }

    async fn render_at_once(
        &self,
        document: &Document,
        (clients, documents): (usize, usize),
    ) -> io::Result<Vec<Duration>> {
        let body = self.body_of(document).await?;
        let next = AtomicUsize::new(0);
        let client = async || -> io::Result<Vec<Duration>> {
            let mut latencies = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < documents {
                let begun = Instant::now();
                document.check(&self.render(&body).await?)?;
                latencies.push(begun.elapsed());
            }
            Ok(latencies)
        };
        let all = futures_util::future::try_join_all((0..clients).map(|_| client())).await?;
        Ok(all.concat())
    }

    async fn render(&self, body: &str) -> io::Result<Vec<u8>> {
        let request = self.request(Method::POST, "/v1/documents/immediate-render").body(body.to_owned());
        let answer = read(request).await?;
        let file = self.client.get(text(&answer, "/url")?).send().await.map_err(io::Error::other)?;
        Ok(file.bytes().await.map_err(io::Error::other)?.into())
    }

    async fn body_of(&self, document: &Document) -> io::Result<String> {
        if let Some(body) = self.bodies.borrow().get(&document.name) {
            return Ok(body.clone());
        }
        let (member, template) = if document.files.is_empty() {
            ("template", document.template.clone())
        } else {
            ("templateId", self.save(document).await?)
        };
        let (template, data) = (Value::from(template), &document.data);
        let body = format!(r#"{{"type": "ejs", "target": "pdf", "{member}": {template}, "data": {data}}}"#);
        self.bodies.borrow_mut().insert(document.name.clone(), body.clone());
        Ok(body)
    }

    /// Asks the service; null is no body.
    pub async fn ask(&self, method: Method, path: &str, body: &Value) -> io::Result<Value> {
        let request = self.request(method, path);
        read(if body.is_null() { request } else { request.json(body) }).await
    }

    /// PUTs a body to a presigned address.
    pub async fn upload(&self, url: &str, body: Vec<u8>) -> io::Result<()> {
        read(self.client.put(url).body(body)).await.map(drop)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
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
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// What is answered; an error unless it is a success.
async fn read(request: RequestBuilder) -> io::Result<Value> {
    let answer = request.send().await.map_err(io::Error::other)?;
    let (good, text) = (answer.status().is_success(), answer.text().await.map_err(io::Error::other)?);
    match good {
        true if text.is_empty() => Ok(Value::Null),
        true => Ok(serde_json::from_str(&text)?),
        false => Err(io::Error::other(text)),
    }
}

/// The process groups of the service's browsers: a browser leads a group of its own.
pub fn chromium_groups(service: u32) -> Vec<i32> {
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
        .env("PLATEN__HTTP__RATE_LIMIT_PER_S", "1000000")
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
