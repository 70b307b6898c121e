//! Swift with its S3 interface: a server program that is none of ours, installed by `scripts/setup --test`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::tools::tool;
use super::{BUCKET, SECRET_KEY};

/// Its keys have this form: account and user.
pub const ACCESS_KEY: &str = "test:platen";

/// A running server.
pub struct SwiftServer {
    /// The endpoint as the settings take it.
    pub endpoint: String,
    program: Child,
    /// It serves until this closes, so that it outlives no test, however that ends.
    open: Option<ChildStdin>,
}

impl SwiftServer {
    /// Starts it on a free port; it keeps its objects in `folder`.
    pub fn start(folder: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/objects/swift_server.py");
        let mut program = Command::new(tool("swift/bin/python"))
            .arg(script)
            .arg(folder)
            .args([BUCKET, ACCESS_KEY, SECRET_KEY])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        let open = program.stdin.take();
        let stdout = program.stdout.take().expect("its output is ours");
        let mut endpoint = String::new();
        BufReader::new(stdout).read_line(&mut endpoint).expect("an address");
        assert!(endpoint.starts_with("http://"), "Swift did not start; what it says stands above");
        Self { endpoint: endpoint.trim_end().to_owned(), program, open }
    }
}

impl Drop for SwiftServer {
    fn drop(&mut self) {
        self.open.take();
        let _ = self.program.wait();
    }
}
