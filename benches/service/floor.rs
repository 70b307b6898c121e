//! The floors: the same bytes through a bare connection to the same Chromium, with the same switches,
//! a fresh context a document, the same readiness and print options; no pool, no service.
//!
//! The *plain* floor makes a document's tab when the document is asked for, a call after the other, and has
//! disposed of it before the next document; all clients render at once. That is what a program without any
//! preparation pays. The floor *made ahead* does what the service does: while a document is made, the next
//! tab of its client is, with all that can be said to it before the page is known; contexts are disposed of
//! in the background; and no more pages are made at once than the service makes (`browser.static_pages`).
//! Where the service is better than the plain floor, it is by these three; what it costs by itself is its
//! distance from the floor made ahead.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use platen::browser::Process;
use platen::config::Config;
use platen::workers::Starter;
use serde_json::{Value, json};

use crate::figures::{Figures, group_time, own_time};
use crate::invoice;
use crate::pipe::{Pipe, lock};
use crate::supply::{Kind, Supply, Tab, Turns, open_tab};

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

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Put => "put",
            Self::Served => "served",
        })
    }
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
    pipe: Arc<Pipe>,
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
        let pipe = Arc::new(Pipe::open(File::from(ends.reader), File::from(ends.writer)));
        let served = Arc::new(Served {
            page: Mutex::new(invoice::page().to_owned()),
            last: Mutex::new(Instant::now()),
        });
        let port = serve(&served)?;
        Ok(Self { _starter: starter, runtime, browser: Some(browser), pipe, port, served })
    }

    /// Renders `documents` documents, `clients` at once.
    pub fn measure(&self, kind: Kind, way: Way, clients: usize, documents: usize) -> io::Result<Figures> {
        let (group, pipe) = (self.browser.as_ref().map_or(0, Process::id), &*self.pipe);
        let turns = match kind {
            Kind::Plain => Turns::of(clients),
            Kind::Ahead => Turns::as_in_the_service(),
        };
        let supply = |_| Supply::start(kind, &self.pipe, self.port);
        let mut supplies: Vec<_> = (0..clients).map(supply).collect::<io::Result<_>>()?;
        render_all(pipe, way, &mut supplies, (&turns, clients * 4))?;
        let (chromium, own, begun) = (group_time(group), own_time(), Instant::now());
        let latencies = render_all(pipe, way, &mut supplies, (&turns, documents))?;
        let wall = begun.elapsed();
        supplies.into_iter().try_for_each(|supply| supply.finish(pipe))?;
        Ok(Figures {
            latencies,
            wall,
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
        pipe.call(Some(session), "Page.navigate", &json!({ "url": "http://invoice.localhost/" }))?;
        tab.loads()?;
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
        tab.dispose(pipe)?;
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
    supplies: &mut [Supply],
    (turns, documents): (&Turns, usize),
) -> io::Result<Vec<Duration>> {
    let next = AtomicUsize::new(0);
    let client = |supply: &mut Supply| -> io::Result<Vec<Duration>> {
        let mut latencies = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < documents {
            let begun = Instant::now();
            let turn = turns.take();
            let tab = supply.tab()?;
            render(pipe, way, &tab)?;
            drop(turn);
            latencies.push(begun.elapsed());
            supply.dispose(pipe, &tab)?;
        }
        Ok(latencies)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = supplies.iter_mut().map(|supply| scope.spawn(|| client(supply))).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| io::Error::other("a client panicked"))??);
        }
        Ok(all)
    })
}

/// One document in a tab in which no script runs.
fn render(pipe: &Pipe, way: Way, tab: &Tab) -> io::Result<()> {
    let session = tab.session.as_str();
    match way {
        Way::Put => {
            let page = json!({ "frameId": tab.target, "html": invoice::page() });
            pipe.call(Some(session), "Page.setDocumentContent", &page)?;
        }
        Way::Served => {
            let page = json!({ "url": "http://invoice.localhost/" });
            pipe.call(Some(session), "Page.navigate", &page)?;
        }
    }
    tab.loads()?;
    let fonts = json!({ "expression": "document.fonts.ready.then(() => 1)", "awaitPromise": true });
    pipe.call(Some(session), "Runtime.evaluate", &fonts)?;
    print(pipe, session).map(drop)
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
