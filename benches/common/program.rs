//! The real program on a folder, asked over HTTP by clients that keep their connections.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// The program of this version.
pub const OWN: &str = env!("CARGO_BIN_EXE_platen");
/// LibreOffice is started with the service, as it is where nobody sets anything.
pub const WITH_OFFICE: (&str, &str) = ("PLATEN__OFFICE__START", "eager");
/// Until a started service is ready.
const START_TIMEOUT: Duration = Duration::from_mins(2);
/// Between two questions whether it is.
const PAUSE: Duration = Duration::from_millis(50);

/// The running program, until it is dropped.
pub struct Program {
    child: Child,
    base: String,
    /// Of the account whose requests are made without naming one.
    pub token: String,
    pub client: Client,
    pub runtime: Runtime,
}

impl Program {
    /// Starts it with further settings on a free port; its clients use this token.
    pub fn start(root: &Path, token: String, settings: &[(&str, &str)]) -> io::Result<Self> {
        Self::of(OWN, root, token, settings)
    }

    /// Another program that serves as it does.
    pub fn of(executable: &str, root: &Path, token: String, settings: &[(&str, &str)]) -> io::Result<Self> {
        let mut command = program(executable, root);
        let mut child = command.envs(settings.iter().copied()).arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").ok_or_else(|| io::Error::other(line.clone()))?;
        let base = base.to_owned();
        // The service closes a connection that rests for longer than http.keep_alive_s.
        let client = Client::builder().no_proxy().pool_idle_timeout(Duration::from_secs(30)).build();
        let client = client.map_err(io::Error::other)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { child, base, token, client, runtime })
    }

    /// Waits until it is ready.
    pub async fn ready(&self) -> io::Result<()> {
        let ready = async {
            while self.get("/health/ready").await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let waited = tokio::time::timeout(START_TIMEOUT, ready).await;
        waited.map_err(|_| io::Error::other("the service did not get ready"))
    }

    /// The id of its own process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Memory of its own process, see `memory_mb`.
    pub fn memory_mb(&self, which: &str) -> u64 {
        memory_mb(self.id(), which)
    }

    /// A request of the account's.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_as(&self.token, method, path)
    }

    /// A request of whose token this is.
    pub fn request_as(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(token)
    }

    /// What a path answers, unread.
    pub async fn get(&self, path: &str) -> io::Result<String> {
        succeed(self.request(Method::GET, path)).await
    }

    /// All jobs that are listed to whose token this is.
    pub async fn jobs(&self, token: &str) -> io::Result<Vec<Value>> {
        let (mut jobs, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/jobs?limit=100{cursor}");
            let mut page = read(self.request_as(token, Method::GET, &path)).await?;
            if let Some(items) = page["items"].as_array_mut() {
                jobs.append(items);
            }
            let Some(next) = page["nextCursor"].as_str() else { return Ok(jobs) };
            cursor = format!("&cursor={next}");
        }
    }

    /// An immediate render with this body, and the download of its file.
    pub async fn render(&self, body: String) -> io::Result<Vec<u8>> {
        self.render_as(&self.token, body).await
    }

    /// The same for whose token this is.
    pub async fn render_as(&self, token: &str, body: String) -> io::Result<Vec<u8>> {
        let request = self.request_as(token, Method::POST, "/v1/documents/immediate-render");
        let answer = read(request.body(body)).await?;
        let file = self.client.get(text(&answer, "/url")?).send().await.map_err(io::Error::other)?;
        Ok(file.bytes().await.map_err(io::Error::other)?.into())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// Makes an account of that name on the folder below `root`; its token.
pub fn make_account(root: &Path, name: &str) -> io::Result<String> {
    command(root, &["account", "create", name])?;
    command(root, &["token", "create", "--account", name])
}

/// Runs a command of the program on the folder below `root`; its stdout.
pub fn command(root: &Path, arguments: &[&str]) -> io::Result<String> {
    let output = program(OWN, root).args(arguments).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The JSON that is answered, null for nothing; an error unless it is a success.
pub async fn read(request: RequestBuilder) -> io::Result<Value> {
    let text = succeed(request).await?;
    if text.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&text)?) }
}

async fn succeed(request: RequestBuilder) -> io::Result<String> {
    let answer = request.send().await.map_err(io::Error::other)?;
    let (good, text) = (answer.status().is_success(), answer.text().await.map_err(io::Error::other)?);
    if good { Ok(text) } else { Err(io::Error::other(text)) }
}

/// A text of an answer.
pub fn text<'a>(answer: &'a Value, pointer: &str) -> io::Result<&'a str> {
    answer.pointer(pointer).and_then(Value::as_str).ok_or_else(|| io::Error::other(answer.to_string()))
}

/// A number of `/proc/*/status` that counts memory (`VmRSS:`: resident, `VmHWM:`: the most so far), in MiB.
pub fn memory_mb(process: u32, which: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

fn program(executable: &str, root: &Path) -> Command {
    let mut command = Command::new(executable);
    command
        .env("PLATEN__HTTP__BIND", "127.0.0.1:0")
        .env("PLATEN__STORAGE__DATA_DIR", root.join("data"))
        .env("PLATEN__HTTP__RATE_LIMIT_PER_S", "1000000")
        .env("PLATEN__HTTP__RATE_BURST_LIMIT", "10000000")
        // Only benches that convert Office files need LibreOffice; they switch it on.
        .env("PLATEN__OFFICE__START", "lazy")
        .env("PLATEN__LOG__FILTER", "warn");
    command
}
