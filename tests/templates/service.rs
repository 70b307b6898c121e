//! The real program on a data folder that earlier services have used; it is killed, never asked to stop.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::Value;

/// Longer than anything takes on a loaded machine.
pub const PATIENCE: Duration = Duration::from_mins(1);
const SIGKILL: i32 = 9;

/// A running service; killed when it is dropped.
pub struct Service {
    child: Child,
    pub base: String,
    pub token: String,
    pub client: Client,
}

/// The program with its settings, for the folder `data`.
pub fn program(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    let folder = data.parent().unwrap();
    command
        .env("PLATEN_CONFIG", "")
        .env("PLATEN__STORAGE__DATA_DIR", data)
        .env("PLATEN__HTTP__BIND", "127.0.0.1:0");
    command
        .env("PLATEN__LOG__FILTER", "error")
        .env("PLATEN__BROWSER__TABS", "2")
        .env("PLATEN__OFFICE__START", "lazy")
        .current_dir(folder);
    command
}

/// Runs a command of the program; its stdout, or its stderr when it failed.
pub fn command(data: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = program(data).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

fn program_without_browser(data: &Path) -> Command {
    let mut command = program(data);
    command.env("PLATEN__BROWSER__EXECUTABLE", "/nonexistent");
    // Nor does it make engines of template code ahead, which hardly any operation needs.
    command.env("PLATEN__ASSEMBLE__SPARES", "0");
    // It logs repeatedly that it has no browser.
    command.env("PLATEN__LOG__FILTER", "error,platen::browser=off");
    command
}

/// Why the service does not start on the folder; none when it does. It does not run on.
pub fn refusal(data: &Path) -> Option<String> {
    let mut command = program_without_browser(data);
    let mut child = command.arg("serve").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let line = first_line(&mut child);
    if line.starts_with("listening on ") {
        child.kill().unwrap();
        child.wait().unwrap();
        return None;
    }
    assert!(!ended(&mut child).success());
    Some(std::io::read_to_string(child.stderr.take().unwrap()).unwrap())
}

/// The first line that the program says; an empty one when it ends without.
fn first_line(child: &mut Child) -> String {
    let (tell, message) = mpsc::channel();
    let stdout = child.stdout.take().unwrap();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        drop(tell.send(read.map(|_| line)));
    });
    if let Ok(line) = message.recv_timeout(PATIENCE) {
        return line.unwrap();
    }
    end(child);
    panic!("the program says nothing")
}

/// Waits until the program has ended.
fn ended(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(5)); // poll
    }
    end(child);
    panic!("the program does not end")
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

impl Service {
    /// Starts the service of `command`, which is a [`program`].
    pub fn launch(mut command: Command, token: &str) -> Self {
        let mut child = command.arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let line = first_line(&mut child);
        let base = line.trim().strip_prefix("listening on ");
        let base = base.unwrap_or_else(|| panic!("the program said '{line}'")).to_owned();
        let client = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { child, base, token: token.to_owned(), client }
    }

    /// The service without a browser: it starts at once, and makes html only.
    pub fn without_browser(data: &Path, token: &str, fault_file: Option<&PathBuf>) -> Self {
        let mut command = program_without_browser(data);
        command.envs(fault_file.map(|file| (platen::failpoint::FAULT_FILE, file)));
        Self::launch(command, token)
    }

    /// A request with the token; status and JSON of the answer, if there is one.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<(u16, Value)> {
        let request = self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        let request = match body {
            Some(body) => request.body(body.to_string()),
            None => request,
        };
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let text = answer.text().await?;
        Ok((status, if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }))
    }

    /// As `try_send`, of a service that lives.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.try_send(method, path, body).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(Method::POST, path, Some(body)).await
    }

    /// PUTs bytes to a presigned URL, perhaps of an earlier run of the service.
    pub async fn upload(&self, url: &str, bytes: Vec<u8>) -> reqwest::Result<u16> {
        let path = &url[url.find("/v1/").unwrap()..];
        let answer = self.client.put(format!("{}{path}", self.base)).body(bytes).send().await?;
        Ok(answer.status().as_u16())
    }

    /// The bytes at an address, which must be there.
    pub async fn fetch(&self, url: &Value) -> Vec<u8> {
        let answer = self.client.get(url.as_str().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{url}");
        answer.bytes().await.unwrap().to_vec()
    }

    pub async fn until_ready(&self) {
        let (url, started) = (format!("{}/health/ready", self.base), Instant::now());
        while !self.client.get(&url).send().await.is_ok_and(|answer| answer.status() == 200) {
            assert!(started.elapsed() < PATIENCE, "the service is not ready");
            tokio::time::sleep(Duration::from_millis(20)).await; // poll
        }
    }

    /// Waits until the service has killed itself.
    pub fn until_killed(mut self) {
        let status = ended(&mut self.child);
        assert_eq!(status.signal(), Some(SIGKILL), "the service ended with {status}");
    }

    /// Kills the service as a power cut would.
    pub fn kill(mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "the service ended by itself");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the service in order.
    pub fn stop(mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert!(ended(&mut self.child).success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
