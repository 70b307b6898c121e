//! The service in this process with the fake engine beside ours, and its program, which is there or not.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use platen::app::{App, AppError};
use platen::config::Config;
use platen::engines::Engine;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

use crate::fake;

const PLATEN: &str = env!("CARGO_BIN_EXE_platen");
/// Longer than anything takes on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program has one path for all tests: one test at a time.
static MACHINE: Mutex<()> = Mutex::const_new(());

/// Exclusive use of the fake engine's program, which has one path on the machine.
pub struct Machine {
    press: &'static Path,
    _guard: MutexGuard<'static, ()>,
}

impl Machine {
    pub async fn with_press() -> Self {
        let machine = Self::alone().await;
        machine.install(fake::PRESS);
        machine
    }

    pub async fn without_press() -> Self {
        let machine = Self::alone().await;
        machine.remove();
        machine
    }

    async fn alone() -> Self {
        Self { press: Path::new(*fake::PROGRAM), _guard: MACHINE.lock().await }
    }

    #[expect(clippy::unused_self, reason = "who writes the one press has the machine")]
    pub fn install(&self, program: &str) {
        fake::install(program);
    }

    pub fn remove(&self) {
        match std::fs::remove_file(self.press) {
            Err(error) if error.kind() != ErrorKind::NotFound => panic!("{error}"),
            Ok(()) | Err(_) => {}
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        fake::uninstall();
    }
}

/// Ours, and one line.
pub fn engines() -> Vec<Engine> {
    let mut engines = fake::others();
    engines.push(fake::engine());
    engines
}

/// The service. `stop` it.
pub struct Service {
    pub base: String,
    app: JoinHandle<Result<(), AppError>>,
    server: platen::http::ServerHandle,
    client: reqwest::Client,
    token: String,
    folder: tempfile::TempDir,
}

/// A document as it is fetched.
pub struct Fetched {
    pub content_type: String,
    pub disposition: String,
    pub text: String,
}

impl Service {
    pub async fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_with(settings, engines()).await
    }

    pub async fn start_with(settings: &[(&str, &str)], engines: Vec<Engine>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").display().to_string();
        let own = [
            ("http.bind", "127.0.0.1:0"),
            ("storage.data_dir", data.as_str()),
            ("http.shutdown_grace_s", "0"),
            ("browser.tabs", "1"),
            ("office.start", "lazy"),
        ];
        let variable = |(key, value): &(&str, &str)| {
            (format!("PLATEN__{}", key.to_uppercase().replace('.', "__")), (*value).to_owned())
        };
        let variables: Vec<_> = own.iter().chain(settings).map(variable).collect();
        let config = Config::load(None, variables.clone()).unwrap();
        let app = App::build_with(config, PLATEN.into(), engines).await.unwrap();
        let (base, server) = (app.address().to_owned(), app.server().clone());
        let app = actix::spawn(app.run_until_stopped());
        let command = async |arguments: &[&str]| {
            let output = Command::new(PLATEN).args(arguments).envs(variables.clone()).output().await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        command(&["account", "create", "test"]).await;
        let token = command(&["token", "create", "--account", "test"]).await;
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { base, app, server, client, token, folder }
    }

    /// What is left of documents between two steps: deleted files that a process still has open, and names.
    pub fn work(&self) -> Vec<PathBuf> {
        let work = self.folder.path().join("data/work").canonicalize().unwrap();
        let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        // One that was closed since it was listed is nothing that is left.
        let open = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        let named = std::fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().path());
        open.filter(|path| path.starts_with(&work) && *path != work).chain(named).collect()
    }

    pub async fn call(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        let answer = request.body(body.to_string()).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    /// A job with its template uploaded, not started.
    pub async fn init(&self, job: &Value, template: &str) -> String {
        let (status, answer) = self.call(Method::POST, "/v1/documents/init", job).await;
        assert_eq!(status, 200, "{answer}");
        let url = answer["presignedTemplateUploadUrl"].as_str().unwrap();
        assert_eq!(self.client.put(url).body(template.to_owned()).send().await.unwrap().status(), 200);
        answer["jobId"].as_str().unwrap().to_owned()
    }

    /// Starts a job; its view when it is done.
    pub async fn finish(&self, job: &str) -> Value {
        self.call(Method::POST, &format!("/v1/documents/{job}/render"), &json!({})).await;
        let since = Instant::now();
        loop {
            let (_, view) = self.call(Method::GET, &format!("/v1/jobs/{job}?wait=20"), &Value::Null).await;
            if view["status"] == "done" {
                return view;
            }
            assert!(since.elapsed() < PATIENCE, "the job does not end: {view}");
        }
    }

    /// A document of a LaTeX template, by the fake engine.
    pub async fn latex(&self, target: &str, text: &str, options: Value) -> (Value, Fetched) {
        let job = json!({"type": "latex", "target": target, "data": {"name": "Zoe"}, "formatOpts": options});
        let id = self.init(&job, &format!("\\documentclass{{article}} {text}")).await;
        let view = self.finish(&id).await;
        let fetched = self.fetch(&view).await;
        (view, fetched)
    }

    pub async fn fetch(&self, view: &Value) -> Fetched {
        let url = view["output"]["data"]["url"].as_str().unwrap_or_else(|| panic!("no document: {view}"));
        let answer = self.client.get(url).send().await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        let (content_type, disposition) = (header("content-type"), header("content-disposition"));
        Fetched { content_type, disposition, text: answer.text().await.unwrap() }
    }

    /// The bytes of a document, and their media type.
    pub async fn bytes(&self, view: &Value) -> (Vec<u8>, String) {
        let answer = self.client.get(view["output"]["data"]["url"].as_str().unwrap()).send().await.unwrap();
        let content_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (answer.bytes().await.unwrap().to_vec(), content_type)
    }

    /// Waits until `/health/ready` answers with 200 and what `holds` wants.
    pub async fn ready(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let (status, body) = self.call(Method::GET, "/health/ready", &Value::Null).await;
            if status == 200 && holds(&body) {
                return body;
            }
            assert!(since.elapsed() < PATIENCE, "{status} {body}");
            tokio::time::sleep(Duration::from_millis(20)).await; // poll
        }
    }

    /// The line of `/metrics` that begins with `name`.
    pub async fn metric(&self, name: &str) -> String {
        let url = format!("{}/metrics", self.base);
        let page = self.client.get(url).send().await.unwrap().text().await.unwrap();
        page.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned()
    }

    /// Waits until the press is at work.
    pub async fn busy(&self) {
        let busy = "platen_engine_slots{engine=\"fake\",state=\"busy\"}";
        let since = Instant::now();
        while self.metric(busy).await != format!("{busy} 1") {
            assert!(since.elapsed() < PATIENCE, "the press is not used");
            tokio::time::sleep(Duration::from_millis(5)).await; // poll
        }
    }

    pub async fn stop(self) {
        let since = Instant::now();
        // A file is closed on a thread of its own.
        while !self.work().is_empty() {
            assert!(since.elapsed() < PATIENCE, "left between two steps: {:?}", self.work());
            tokio::time::sleep(Duration::from_millis(20)).await; // poll
        }
        self.server.stop(false).await;
        let ended = tokio::time::timeout(PATIENCE, self.app).await.expect("the service ends").unwrap();
        assert!(ended.is_err(), "it was ended from within");
    }
}
