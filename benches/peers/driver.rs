//! The peers: programs of Node.js that render when a line of JSON asks them to, see `protocol.mjs`.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::common::document::Document;
use crate::common::figures::{Figures, warm_up};
use crate::processes::used_below;
use crate::ways::Way;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers");
/// Name and program of each.
const PEERS: [(&str, &str); 2] = [("puppeteer-core", "puppeteer.mjs"), ("jsreport", "jsreport.mjs")];

/// A running peer.
pub struct Driver {
    name: &'static str,
    child: Child,
    /// Taken out when it is to be ended.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Of the origin where pages and the files beside them are fetched from.
    port: u16,
    _temporary: tempfile::TempDir,
}

/// Starts all peers, or says why there is none of a name.
pub fn start_all(port: u16) -> Vec<io::Result<Driver>> {
    if let Err(error) = install() {
        return vec![Err(error)];
    }
    let start = |(name, program)| {
        Driver::start(name, program, port).map_err(|error| io::Error::other(format!("{name}: {error}")))
    };
    PEERS.into_iter().map(start).collect()
}

/// Installs the packages of the lock file, unless they are there.
fn install() -> io::Result<()> {
    let folder = Path::new(FOLDER);
    let (lock, stamp) = (folder.join("package-lock.json"), folder.join("node_modules/.platen-lock"));
    if std::fs::read(&stamp).is_ok_and(|stamp| std::fs::read(&lock).is_ok_and(|lock| lock == stamp)) {
        return Ok(());
    }
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    let done = Command::new("npm").arg("ci").args(quiet).current_dir(folder).stdout(Stdio::null()).status();
    match done {
        Ok(status) if status.success() => std::fs::copy(lock, stamp).map(drop),
        Ok(status) => Err(io::Error::other(format!("npm ci: {status}"))),
        Err(error) => Err(io::Error::other(format!("npm: {error}"))),
    }
}

impl Driver {
    fn start(name: &'static str, program: &str, port: u16) -> io::Result<Self> {
        let executable = platen::browser::find_executable("").map_err(io::Error::other)?;
        let temporary = tempfile::tempdir()?;
        let mut child = Command::new("node")
            .arg(Path::new(FOLDER).join(program))
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a stream is missing");
        let answers = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let orders = child.stdin.take();
        let mut driver = Self { name, child, orders, answers, port, _temporary: temporary };
        driver.ask(&json!({ "executable": executable }))?;
        Ok(driver)
    }

    fn ask(&mut self, order: &Value) -> io::Result<Value> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(format!("{order}\n").as_bytes())?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        match answer["error"].as_str() {
            None => Ok(answer),
            Some(error) => Err(io::Error::other(error)),
        }
    }

    /// Renders; gives each latency. The last file is checked.
    fn render_all(
        &mut self,
        document: &Document,
        clients: usize,
        documents: usize,
    ) -> io::Result<Vec<Duration>> {
        let data: Value = serde_json::from_str(&document.data)?;
        let [template, page] = [&document.template, &document.page].map(|text| self.based(document, text));
        let url = document.build.then(|| self.url());
        let order = json!({ "template": template, "data": data, "page": page, "url": url, "clients": clients,
            "documents": documents });
        let answer = self.ask(&order)?;
        let file = STANDARD.decode(answer["file"].as_str().unwrap_or_default()).map_err(io::Error::other)?;
        document.check(&file)?;
        let latencies = answer["latencies_ms"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        Ok(latencies.map(|latency_ms| Duration::from_secs_f64(latency_ms / 1_000.0)).collect())
    }

    /// A page that is written into its tab needs the address of the files beside it.
    fn based(&self, document: &Document, text: &str) -> String {
        if document.files.is_empty() {
            return text.to_owned();
        }
        text.replacen("<head>", &format!("<head><base href=\"{}\">", self.url()), 1)
    }

    /// Where the page of the document and the files beside it are.
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

impl Way for Driver {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn measure(&mut self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
        self.render_all(document, clients, warm_up(clients))?;
        let id = self.child.id();
        Figures::measure(|| used_below(id), || self.render_all(document, clients, documents))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.child.wait();
    }
}
