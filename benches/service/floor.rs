//! The floor: the same bytes through a bare connection to the same Chromium, with the same switches,
//! a fresh context a document, the same readiness and print options; no pool, no service.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use platen::browser::Process;
use platen::config::Config;
use platen::workers::Starter;
use serde_json::{Value, json};

use crate::figures::{Figures, group_time, own_time};
use crate::invoice;

/// What the network must be idle for before a page is printed, where that is what is waited for.
const IDLE: Duration = Duration::from_millis(500);

/// How the page gets into its tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Put there in a message.
    Put,
    /// Fetched from an origin, through the context's proxy.
    Served,
}

/// Both ways.
pub const WAYS: [Way; 2] = [Way::Put, Way::Served];

const WAIT: Duration = Duration::from_secs(30);

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Put => "put",
            Self::Served => "served",
        })
    }
}

/// The waiting ends of calls (by id) and of sessions (by session).
#[derive(Default)]
struct Routes {
    calls: HashMap<u64, Sender<Value>>,
    sessions: HashMap<String, Sender<String>>,
}

/// A connection, as bare as one can be that several threads share.
struct Pipe {
    writer: Mutex<File>,
    routes: Arc<Mutex<Routes>>,
    next_id: AtomicU64,
}

/// What the server serves at any address, and when it was last asked.
struct Served {
    page: Mutex<String>,
    last: Mutex<Instant>,
}

/// A bare browser, kept for all measurements as the service keeps its own: one that has made a thousand
/// documents is a little slower than a fresh one.
pub struct Floor {
    /// The browser lives no longer than it.
    _starter: Starter,
    runtime: tokio::runtime::Runtime,
    browser: Option<Process>,
    pipe: Pipe,
    port: u16,
    served: Arc<Served>,
}

impl Floor {
    /// Starts the browser.
    pub fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Runtime::new()?;
        let starter = Starter::new(env!("CARGO_BIN_EXE_platen").into())?;
        let launched = runtime.block_on(Process::start(&starter, &Config::default().browser));
        let (browser, ends) = launched.map_err(io::Error::other)?;
        let pipe = Pipe::open(File::from(ends.reader), File::from(ends.writer));
        let served = Arc::new(Served {
            page: Mutex::new(invoice::page().to_owned()),
            last: Mutex::new(Instant::now()),
        });
        let port = serve(&served)?;
        Ok(Self { _starter: starter, runtime, browser: Some(browser), pipe, port, served })
    }

    /// Renders `documents` documents, `clients` at once.
    pub fn measure(&self, way: Way, clients: usize, documents: usize) -> io::Result<Figures> {
        let group = self.browser.as_ref().map_or(0, Process::id);
        render_all(&self.pipe, way, self.port, clients, clients * 4)?;
        let (chromium, own, begun) = (group_time(group), own_time(), Instant::now());
        let latencies = render_all(&self.pipe, way, self.port, clients, documents)?;
        Ok(Figures {
            latencies,
            wall: begun.elapsed(),
            chromium: group_time(group).saturating_sub(chromium),
            own: own_time().saturating_sub(own),
            children: Duration::ZERO,
        })
    }
}

impl Floor {
    /// Prints `page` when it has made no request for 500 ms; gives the time from the load event until then,
    /// and the file.
    pub fn print_when_idle(&self, page: &str) -> io::Result<(Duration, Vec<u8>)> {
        page.clone_into(&mut lock(&self.served.page));
        let pipe = &self.pipe;
        let tab = open_tab(pipe, self.port)?;
        let session = tab.session.as_str();
        let events = pipe.listen(session);
        pipe.call(Some(session), "Page.enable", &json!({}))?;
        pipe.call(Some(session), "Page.navigate", &json!({ "url": "http://invoice.localhost/" }))?;
        while events.recv_timeout(WAIT).map_err(io::Error::other)? != "Page.loadEventFired" {}
        let loaded = Instant::now();
        loop {
            let idle_since = loaded.max(*lock(&self.served.last));
            match IDLE.checked_sub(idle_since.elapsed()) {
                None => break,
                Some(left) => std::thread::sleep(left),
            }
        }
        let wait = loaded.elapsed();
        let file = print(pipe, session)?;
        pipe.call(None, "Target.disposeBrowserContext", &json!({ "browserContextId": tab.context }))?;
        Ok((wait, file))
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        if let Some(browser) = self.browser.take() {
            self.runtime.block_on(browser.end());
        }
    }
}

fn render_all(
    pipe: &Pipe,
    way: Way,
    port: u16,
    clients: usize,
    documents: usize,
) -> io::Result<Vec<Duration>> {
    let next = AtomicUsize::new(0);
    let client = || -> io::Result<Vec<Duration>> {
        let mut latencies = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < documents {
            let begun = Instant::now();
            let context = render(pipe, way, port)?;
            latencies.push(begun.elapsed());
            pipe.call(None, "Target.disposeBrowserContext", &json!({ "browserContextId": context }))?;
        }
        Ok(latencies)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| io::Error::other("a client panicked"))??);
        }
        Ok(all)
    })
}

/// One document; gives the context it was rendered in.
fn render(pipe: &Pipe, way: Way, port: u16) -> io::Result<Value> {
    let Tab { context, target, session } = open_tab(pipe, port)?;
    let session = session.as_str();
    let events = pipe.listen(session);
    pipe.call(Some(session), "Page.enable", &json!({}))?;
    pipe.call(Some(session), "Emulation.setScriptExecutionDisabled", &json!({ "value": true }))?;
    match way {
        Way::Put => {
            let page = json!({ "frameId": target, "html": invoice::page() });
            pipe.call(Some(session), "Page.setDocumentContent", &page)?;
        }
        Way::Served => {
            let page = json!({ "url": "http://invoice.localhost/" });
            pipe.call(Some(session), "Page.navigate", &page)?;
        }
    }
    while events.recv_timeout(WAIT).map_err(io::Error::other)? != "Page.loadEventFired" {}
    let fonts = json!({ "expression": "document.fonts.ready.then(() => 1)", "awaitPromise": true });
    pipe.call(Some(session), "Runtime.evaluate", &fonts)?;
    print(pipe, session)?;
    Ok(context)
}

/// A tab of its own context.
struct Tab {
    context: Value,
    target: Value,
    session: String,
}

fn open_tab(pipe: &Pipe, port: u16) -> io::Result<Tab> {
    let proxy = json!({ "disposeOnDetach": true, "proxyServer": format!("http://127.0.0.1:{port}"),
        "proxyBypassList": "<-loopback>" });
    let context = pipe.call(None, "Target.createBrowserContext", &proxy)?["browserContextId"].take();
    let blank = json!({ "url": "about:blank", "browserContextId": context, "width": 794, "height": 1058 });
    let target = pipe.call(None, "Target.createTarget", &blank)?["targetId"].take();
    let attach = json!({ "targetId": target, "flatten": true });
    let session = pipe.call(None, "Target.attachToTarget", &attach)?["sessionId"].take();
    let session = session.as_str().unwrap_or_default().to_owned();
    Ok(Tab { context, target, session })
}

/// The file of a page that is ready.
fn print(pipe: &Pipe, session: &str) -> io::Result<Vec<u8>> {
    let mut printed = pipe.call(Some(session), "Page.printToPDF", &print_options())?;
    let piece = json!({ "handle": printed["stream"].take(), "size": 4_194_304 });
    let piece = pipe.call(Some(session), "IO.read", &piece)?;
    let text = piece["data"].as_str().unwrap_or_default();
    let file = base64::engine::general_purpose::STANDARD.decode(text).map_err(io::Error::other)?;
    pipe.forget(session);
    if !file.starts_with(b"%PDF") {
        return Err(io::Error::other("no PDF came"));
    }
    Ok(file)
}

fn print_options() -> Value {
    json!({ "printBackground": true, "paperWidth": 210.0 / 25.4, "paperHeight": 297.0 / 25.4,
        "marginTop": 0, "marginRight": 0, "marginBottom": 0, "marginLeft": 0,
        "preferCSSPageSize": false, "generateTaggedPDF": true, "transferMode": "ReturnAsStream" })
}

impl Pipe {
    fn open(reader: File, writer: File) -> Self {
        let routes = Arc::<Mutex<Routes>>::default();
        let shared = Arc::clone(&routes);
        std::thread::spawn(move || route(BufReader::with_capacity(1 << 18, reader), &shared));
        Self { writer: Mutex::new(writer), routes, next_id: AtomicU64::new(1) }
    }

    fn call(&self, session: Option<&str>, method: &str, params: &Value) -> io::Result<Value> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut call = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            call["sessionId"] = json!(session);
        }
        let (sender, answer) = channel();
        lock(&self.routes).calls.insert(id, sender);
        let mut text = serde_json::to_vec(&call)?;
        text.push(0);
        lock(&self.writer).write_all(&text)?;
        let mut answer = answer.recv_timeout(WAIT).map_err(io::Error::other)?;
        if answer["error"].is_object() {
            return Err(io::Error::other(format!("{method}: {}", answer["error"])));
        }
        Ok(answer["result"].take())
    }

    fn listen(&self, session: &str) -> Receiver<String> {
        let (sender, events) = channel();
        lock(&self.routes).sessions.insert(session.to_owned(), sender);
        events
    }

    fn forget(&self, session: &str) {
        lock(&self.routes).sessions.remove(session);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn route(mut reader: impl BufRead, routes: &Mutex<Routes>) {
    let mut text = Vec::new();
    while reader.read_until(0, &mut text).is_ok_and(|read| read > 0) {
        text.pop();
        if let Ok(message) = serde_json::from_slice::<Value>(&text) {
            if let Some(id) = message["id"].as_u64() {
                if let Some(sender) = lock(routes).calls.remove(&id) {
                    let _ = sender.send(message);
                }
            } else if let (Some(session), Some(method)) =
                (message["sessionId"].as_str(), message["method"].as_str())
                && let Some(sender) = lock(routes).sessions.get(session)
            {
                let _ = sender.send(method.to_owned());
            }
        }
        text.clear();
    }
}

/// Serves the page to whoever asks, on a port of its own.
fn serve(served: &Arc<Served>) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let served = Arc::clone(served);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let served = Arc::clone(&served);
            std::thread::spawn(move || answer_requests(&stream, &served));
        }
    });
    Ok(port)
}

fn answer_requests(stream: &TcpStream, served: &Served) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        if line == "\r\n" {
            let page = lock(&served.page).clone();
            *lock(&served.last) = Instant::now();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length";
            (&*stream).write_all(format!("{head}: {}\r\n\r\n{page}", page.len()).as_bytes())?;
        }
        line.clear();
    }
    Ok(())
}
