//! `TestApp`: the program as a user runs it. Its drop fails the test when anything is left behind.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::objects::proxy::Proxy;
use crate::objects::{self, ObjectServer};
use crate::small_disk::SmallDisk;

/// How long anything may take on a loaded machine before a test gives up.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// What lualatex has read of fonts, once for all tests.
pub const CACHES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/caches");

/// The exit status of `timeout` for a program that was late.
pub const LATE: i32 = 124;

/// A running service with an account and a token.
pub struct TestApp {
    child: Option<Child>,
    /// The server that keeps the objects, when the disk does not.
    pub objects: Option<ObjectServer>,
    /// The disk of its own, if it has one.
    pub disk: Option<SmallDisk>,
    folder: tempfile::TempDir,
    settings: Vec<(String, String)>,
    /// The base of the service, without a trailing slash.
    pub base: String,
    /// Where metrics are read, if at an address of their own.
    pub metrics_url: Option<String>,
    /// Where the log goes, if not to that of the tests; from the next start on.
    pub log: Option<PathBuf>,
    /// A token of the account `test`.
    pub token: String,
    /// The client that the tests use.
    pub client: reqwest::Client,
}

/// A job as init answered it.
pub struct NewJob {
    pub id: String,
    pub data_url: Option<String>,
    pub template_url: Option<String>,
}

impl TestApp {
    /// The number of a series of metrics.
    pub async fn metric_of(&self, series: &str) -> u64 {
        let answer = self.client.get(format!("{}/metrics", self.base)).send().await.unwrap();
        let text = answer.text().await.unwrap();
        let line =
            text.lines().find_map(|line| line.strip_prefix(series)).unwrap_or_else(|| panic!("{text}"));
        line.trim().parse().unwrap()
    }

    /// Starts the service with the defaults, small enough for many at once.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts the service with further settings (`http.wait_default_s`, value).
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let is_s3 = std::env::var_os("PLATEN_TEST_STORE").is_some_and(|store| store == "s3");
        if is_s3 { Self::with_bucket(settings).await } else { Self::on_disk(settings).await }
    }

    /// The same with the objects in a bucket, whatever the other tests use.
    pub async fn with_bucket(settings: &[(&str, &str)]) -> Self {
        let (folder, objects) = bucket();
        let endpoint = objects.endpoint();
        let settings = [&objects::settings(&endpoint), settings].concat();
        Self::launched(folder, Some(objects), None, &settings).await
    }

    /// The same with a proxy before the bucket.
    pub async fn behind_a_proxy(settings: &[(&str, &str)]) -> (Self, Proxy) {
        let (folder, objects) = bucket();
        let proxy = Proxy::before(objects.address);
        let endpoint = proxy.endpoint();
        let settings = [&objects::settings(&endpoint), settings].concat();
        (Self::launched(folder, Some(objects), None, &settings).await, proxy)
    }

    /// The same with the objects on the disk, whatever the other tests use.
    pub async fn on_disk(settings: &[(&str, &str)]) -> Self {
        Self::launched(tempfile::tempdir().expect("a temporary folder"), None, None, settings).await
    }

    /// The same on a disk of its own of so many MiB.
    pub async fn on_small_disk(mib: u64, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = SmallDisk::over(folder.path(), mib);
        Self::launched(folder, None, Some(disk), settings).await
    }

    async fn launched(
        folder: tempfile::TempDir,
        objects: Option<ObjectServer>,
        disk: Option<SmallDisk>,
        settings: &[(&str, &str)],
    ) -> Self {
        let mut all = vec![
            variable("http.bind", "127.0.0.1:0"),
            variable("storage.data_dir", &folder.path().join("data").display().to_string()),
            variable("log.filter", "warn"),
            variable("browser.tabs", "2"),
            variable("office.start", "lazy"),
            variable("browser.start", "lazy"),
            // Most tests have template code once or not at all; processes of it started ahead would be a quarter of their work.
            variable("assemble.spares", "0"),
            variable("tex.cache_dir", CACHES),
            // TeX yields to other programs, and other tests are such.
            variable("tex.timeout_ms", "60000"),
        ];
        all.extend(settings.iter().map(|(key, value)| variable(key, value)));
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client");
        let (base, token) = (String::new(), String::new());
        let mut app = Self {
            child: None,
            objects,
            disk,
            folder,
            settings: all,
            base,
            metrics_url: None,
            log: None,
            token,
            client,
        };
        app.launch();
        app.command(&["account", "create", "test"]);
        app.token = app.command(&["token", "create", "--account", "test"]);
        app.until_ready().await;
        app
    }

    /// Starts the program (again) on the same data folder.
    pub fn launch(&mut self) {
        let mut program = self.set(Command::new(env!("CARGO_BIN_EXE_platen")));
        if let Some(log) = &self.log {
            program.stderr(std::fs::File::options().create(true).append(true).open(log).expect("a log"));
        }
        let mut child = program.arg("serve").stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut stdout = BufReader::new(stdout);
        stdout.read_line(&mut line).expect("the program speaks");
        let base = line.trim().strip_prefix("listening on ");
        base.unwrap_or_else(|| panic!("the program said '{line}'")).clone_into(&mut self.base);
        if self.settings.iter().any(|(name, _)| name == "PLATEN__METRICS__BIND") {
            line.clear();
            stdout.read_line(&mut line).expect("the program speaks on");
            self.metrics_url = line.trim().strip_prefix("metrics on ").map(str::to_owned);
        }
        self.child = Some(child);
    }

    /// Waits until the service says that it is ready.
    pub async fn until_ready(&self) {
        let url = format!("{}/health/ready", self.base);
        self.until("the service is ready", async || {
            self.client.get(&url).send().await.is_ok_and(|answer| answer.status() == 200)
        })
        .await;
    }

    /// Runs a command of the program and gives its stdout.
    pub fn command(&self, arguments: &[&str]) -> String {
        let output = self.set(bounded()).args(arguments).output().expect("the program runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs a command of the program that must fail, and gives its stderr.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.set(bounded()).args(arguments).output().expect("the program runs");
        assert!(!matches!(output.status.code(), Some(0 | LATE)), "{arguments:?} was not refused");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Waits for a condition, and fails with its name when it does not come.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let started = Instant::now();
        while !holds().await {
            assert!(started.elapsed() < PATIENCE, "in vain: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await; // poll
        }
    }

    /// The service's process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("the service runs").id()
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The base of the presigned URLs.
    pub fn addresses(&self) -> String {
        self.objects
            .as_ref()
            .map_or_else(|| self.base.clone(), |server| format!("{}/{}/", server.endpoint(), objects::BUCKET))
    }

    /// A folder for files of the test.
    pub fn scratch(&self) -> &Path {
        self.folder.path()
    }

    /// Kills the service as a power cut would, and waits until its children are gone as well.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("the service runs");
        let family = descendants(child.id());
        child.kill().expect("it can be killed");
        child.wait().expect("it can be waited for");
        until_gone(&family);
    }

    /// Ends the service in order; fails when it does not end by itself or leaves a process behind.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let family = descendants(child.id());
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it can be told to stop");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("it can be waited for") {
                break status;
            }
            assert!(started.elapsed() < PATIENCE, "the service does not stop");
            std::thread::sleep(Duration::from_millis(10)); // poll
        };
        assert!(status.success(), "the service ended with {status}");
        until_gone(&family);
    }

    /// A request with the token.
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// POSTs JSON; gives status and body.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.request(reqwest::Method::POST, path).body(body.to_string()).send().await;
        read(answer.expect("an answer")).await
    }

    /// GETs JSON; gives status and body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        read(self.request(reqwest::Method::GET, path).send().await.expect("an answer")).await
    }

    /// Initializes a job.
    pub async fn init(&self, body: Value) -> NewJob {
        let (status, answer) = self.post("/v1/documents/init", &body).await;
        assert_eq!(status, 200, "{answer}");
        let text = |member: &str| answer[member].as_str().map(str::to_owned);
        NewJob {
            id: text("jobId").expect("a jobId"),
            data_url: text("presignedDataUploadUrl"),
            template_url: text("presignedTemplateUploadUrl"),
        }
    }

    /// PUTs to a presigned address as clients do: no token.
    pub async fn put(&self, url: &str, body: impl Into<reqwest::Body>) -> u16 {
        self.client.put(url).body(body).send().await.expect("an answer").status().as_u16()
    }

    /// A job for `target` with its template uploaded and `data` in init, not started.
    pub async fn prepared(&self, target: &str, template: &str, data: Value) -> String {
        let job = self.init(json!({"type": "html", "target": target, "data": data})).await;
        let url = job.template_url.expect("an address for the template");
        assert_eq!(self.put(&url, template.to_owned()).await, 200);
        job.id
    }

    /// Starts a job and waits for its end, however long the service lets a caller wait.
    pub async fn finish(&self, job: &str) -> Value {
        let (status, answer) = self.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
        assert!(matches!(status, 200 | 202), "{status} {answer}");
        self.ended(job).await
    }

    /// Waits for the end of a job that was started.
    pub async fn ended(&self, job: &str) -> Value {
        let started = Instant::now();
        loop {
            let (status, view) = self.get(&format!("/v1/jobs/{job}?wait=20")).await;
            assert_eq!(status, 200, "{view}");
            if view["status"] == "done" {
                return view;
            }
            assert!(started.elapsed() < PATIENCE * 2, "the job does not end: {view}");
        }
    }

    /// Renders `template` with `data` and gives the job's view and the file.
    pub async fn render(&self, target: &str, template: &str, data: Value) -> (Value, Vec<u8>) {
        let job = self.prepared(target, template, data).await;
        let view = self.finish(&job).await;
        let Some(url) = view["output"]["data"]["url"].as_str() else { return (view, Vec::new()) };
        let answer = self.client.get(url).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        (view, answer.bytes().await.expect("the file").to_vec())
    }

    /// The text of a PDF.
    pub fn text_of(&self, pdf: &[u8]) -> String {
        let file = tempfile::NamedTempFile::new_in(self.scratch()).expect("a file");
        std::fs::write(file.path(), pdf).expect("the file is written");
        let output = Command::new("pdftotext").arg("-layout").arg(file.path()).arg("-").output();
        let output = output.expect("pdftotext is installed by scripts/setup");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The command with the settings of this service.
    pub fn set(&self, mut command: Command) -> Command {
        command.env("PLATEN_CONFIG", "").envs(self.settings.iter().cloned()).current_dir(self.folder.path());
        command
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Some(mut child) = self.child.take() {
                let _ = child.kill();
                let _ = child.wait();
            }
            return;
        }
        self.stop();
        let staging = self.data_dir().join("objects/.staging");
        let left: Vec<_> = std::fs::read_dir(&staging).expect("the store's folder").flatten().collect();
        assert!(left.is_empty(), "left in {}: {left:?}", staging.display());
    }
}

/// A folder for a service, and a server that keeps its objects there.
fn bucket() -> (tempfile::TempDir, ObjectServer) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let objects = ObjectServer::start(&folder.path().join("bucket"));
    (folder, objects)
}

/// The program, ended with the status `LATE` when it does not end by itself.
pub fn bounded() -> Command {
    let mut command = Command::new("timeout");
    command.arg(PATIENCE.as_secs().to_string()).arg(env!("CARGO_BIN_EXE_platen")).env("PLATEN_CONFIG", "");
    command
}

/// The variable that sets `section.key`.
fn variable(key: &str, value: &str) -> (String, String) {
    (format!("PLATEN__{}", key.to_uppercase().replace('.', "__")), value.to_owned())
}

pub async fn read(answer: reqwest::Response) -> (u16, Value) {
    let status = answer.status().as_u16();
    let text = answer.text().await.expect("a body");
    let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") };
    (status, body)
}

/// Every process below `root`, with its start time, so that a pid that is used again is not mistaken.
pub fn descendants(root: u32) -> BTreeSet<(u32, u64)> {
    let processes: Vec<_> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| stat(pid).map(|(parent, start)| (pid, parent, start)))
        .collect();
    let mut family = BTreeSet::new();
    let mut roots = vec![root];
    while let Some(parent) = roots.pop() {
        for (pid, _, start) in processes.iter().filter(|(_, its_parent, _)| *its_parent == parent) {
            if family.insert((*pid, *start)) {
                roots.push(*pid);
            }
        }
    }
    family
}

/// Parent and start time of a process that is not a zombie.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = text.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

fn until_gone(family: &BTreeSet<(u32, u64)>) {
    let started = Instant::now();
    loop {
        let left: Vec<_> =
            family.iter().filter(|(pid, start)| stat(*pid).is_some_and(|(_, now)| now == *start)).collect();
        if left.is_empty() {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "processes stay behind: {left:?}");
        std::thread::sleep(Duration::from_millis(10)); // poll
    }
}
