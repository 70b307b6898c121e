//! The service side: the real program, asked over HTTP by clients that keep their connections.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A running service with a token.
pub struct Service {
    child: Child,
    _folder: tempfile::TempDir,
    base: String,
    token: String,
    client: reqwest::Client,
    body: String,
}

impl Service {
    /// Starts the program on a free port and waits until it is ready.
    pub async fn start(template: &str, data: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut child = program(&folder).arg("serve").stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it speaks");
        let base = line.trim().strip_prefix("listening on ").expect("it listens").to_owned();
        command(&folder, &["account", "create", "bench"]);
        let token = command(&folder, &["token", "create", "--account", "bench"]);
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let template = Value::from(template);
        let body = format!(r#"{{"type": "ejs", "target": "pdf", "template": {template}, "data": {data}}}"#);
        let service = Self { child, _folder: folder, base, token, client, body };
        while !service.client.get(service.url("/health/ready")).send().await.is_ok_and(|a| a.status() == 200) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        service
    }

    /// The process id of the service.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One document: an immediate render, and its bytes.
    pub async fn document(&self) -> usize {
        let url = self.url("/v1/documents/immediate-render");
        let answer = self.client.post(url).bearer_auth(&self.token).body(self.body.clone()).send().await;
        let answer: Value = answer.expect("an answer").json().await.expect("JSON");
        let url = answer["url"].as_str().unwrap_or_else(|| panic!("no document: {answer}"));
        let file = self.client.get(url).send().await.expect("an answer").bytes().await.expect("the file");
        assert!(file.starts_with(b"%PDF-"), "not a PDF");
        file.len()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

fn program(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command
        .env("PLATEN__HTTP__BIND", "127.0.0.1:0")
        .env("PLATEN__STORAGE__DATA_DIR", folder.path().join("data"))
        .env("PLATEN__LOG__FILTER", "warn");
    command
}

fn command(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let output = program(folder).args(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
