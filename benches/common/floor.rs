//! The floors: the same bytes through a bare connection to the same Chromium, with the same switches, the same
//! readiness and print options; no pool, no service. They differ in where a document's tab comes from.
//!
//! - *Fresh*: a document's tab is made when the document is asked for, in a context of its own, a call after the
//!   other, and is gone before the next document; all clients render at once. That is what a program without
//!   any preparation pays.
//! - *Ahead*: while a document is made, the next tab of its client is, with all that can be said to it before
//!   the page is known; contexts are disposed of in the background; and no more pages are made at once than
//!   the service makes (`browser.static_pages`).
//! - *Kept*: each client has one tab, and every document takes the place of the one before; as many pages at
//!   once as ahead. What a document costs in this Chromium when its tab costs nothing.
//! - *Kept with address*: the same, but every document comes from an address, as one with script does in the service.
//! - *Cleaned*: as kept, but the tab shows an empty page after each document, before the next is begun.
//!
//! A kept tab does not separate its documents: it is a floor, not a way to serve several customers.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use base64::Engine;
use platen::browser::{Graphics, Process};
use platen::config::Config;
use platen::workers::Starter;
use serde_json::{Value, json};

use crate::common::document::Document;
use crate::common::figures::{Figures, Used, warm_up};
use crate::common::origin::Origin;
use crate::common::pipe::Pipe;
use crate::common::supply::{Kind, PageSlots, Supply, Tab, TabFactory};
use crate::common::usage::{group_time, own_time};

/// How much of a file is read at a time, as the service does.
static CHUNK_BYTES: LazyLock<u64> = LazyLock::new(|| Config::default().browser.output_chunk_bytes);

/// What is waited for after the load event.
const FONTS: &str = "document.fonts.ready.then(() => 1)";
/// The same of a front-end build, and for what its script may draw in the next frame.
const FONTS_AND_FRAMES: &str = "document.fonts.ready.then(() => new Promise(done => \
    requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))";

/// A bare browser, kept for all measurements as the service keeps its own: one that has made a thousand
/// documents is a little slower than a fresh one.
pub struct Floor {
    /// The browser lives no longer than it.
    _starter: Starter,
    runtime: tokio::runtime::Runtime,
    browser: Option<Process>,
    pub pipe: Arc<Pipe>,
    pub origin: Origin,
}

impl Floor {
    /// Starts the browser.
    pub fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Runtime::new()?;
        let starter = Starter::new(env!("CARGO_BIN_EXE_platen").into())?;
        let launched =
            runtime.block_on(Process::start(&starter, &Config::default().browser, Graphics::Without));
        let (browser, ends) = launched.map_err(io::Error::other)?;
        let pipe = Arc::new(Pipe::open(File::from(ends.reader), File::from(ends.writer)));
        Ok(Self { _starter: starter, runtime, browser: Some(browser), pipe, origin: Origin::start()? })
    }

    /// Renders `documents` times, `clients` at once.
    pub fn measure(
        &self,
        kind: Kind,
        document: &Document,
        clients: usize,
        documents: usize,
    ) -> io::Result<Figures> {
        let (group, pipe) = (self.browser.as_ref().map_or(0, Process::id), &*self.pipe);
        let slots = if kind == Kind::Fresh { PageSlots::of(clients) } else { PageSlots::as_in_the_service() };
        self.origin.show(document);
        let served = document.served || kind == Kind::KeptWithAddress;
        let document = &Document { served, ..document.clone() };
        let factory = self.factory(document.scripted);
        let mut supplies: Vec<_> =
            (0..clients).map(|_| Supply::start(kind, &factory)).collect::<io::Result<_>>()?;
        render_all(pipe, document, &mut supplies, (&slots, warm_up(clients)))?;
        let used = || Used { chromium: group_time(group), own: own_time(), ..Used::default() };
        let figures =
            Figures::measure(used, || render_all(pipe, document, &mut supplies, (&slots, documents)))?;
        supplies.into_iter().try_for_each(Supply::finish)?;
        Ok(figures)
    }

    /// Makes tabs whose contexts reach nothing but the origin.
    pub fn factory(&self, scripted: bool) -> TabFactory {
        TabFactory { pipe: Arc::clone(&self.pipe), port: self.origin.port, scripted }
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
    document: &Document,
    supplies: &mut [Supply],
    (slots, documents): (&PageSlots, usize),
) -> io::Result<Vec<Duration>> {
    let next = AtomicUsize::new(0);
    let client = |supply: &mut Supply| -> io::Result<Vec<Duration>> {
        let mut latencies = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < documents {
            let begun = Instant::now();
            let slot = slots.take();
            let tab = supply.take()?;
            document.check(&render(pipe, document, &tab)?)?;
            drop(slot);
            latencies.push(begun.elapsed());
            supply.give_back(tab)?;
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

/// One document.
fn render(pipe: &Pipe, document: &Document, tab: &Tab) -> io::Result<Vec<u8>> {
    show(pipe, document, tab)?;
    let expression = if document.build { FONTS_AND_FRAMES } else { FONTS };
    let ready = json!({ "expression": expression, "awaitPromise": true });
    pipe.call(Some(&tab.session), "Runtime.evaluate", &ready)?;
    print(pipe, tab)
}

/// Shows a document and waits for its load event.
pub fn show(pipe: &Pipe, document: &Document, tab: &Tab) -> io::Result<()> {
    let (method, page) = if document.served {
        ("Page.navigate", json!({ "url": "http://document.localhost/" }))
    } else {
        ("Page.setDocumentContent", json!({ "frameId": tab.target, "html": document.page }))
    };
    pipe.call(Some(&tab.session), method, &page)?;
    tab.loads()
}

/// The file of a page that is ready.
pub fn print(pipe: &Pipe, tab: &Tab) -> io::Result<Vec<u8>> {
    let session = Some(tab.session.as_str());
    let mut printed = pipe.call(session, "Page.printToPDF", &print_options())?;
    let stream = json!({ "handle": printed["stream"].take(), "size": *CHUNK_BYTES });
    let mut file = Vec::new();
    loop {
        let piece = pipe.call(session, "IO.read", &stream)?;
        let text = piece["data"].as_str().unwrap_or_default();
        file.extend(base64::engine::general_purpose::STANDARD.decode(text).map_err(io::Error::other)?);
        if piece["eof"] != false {
            pipe.tell(session, "IO.close", &json!({ "handle": stream["handle"] }))?;
            return Ok(file);
        }
    }
}

fn print_options() -> Value {
    json!({ "printBackground": true, "paperWidth": 210.0 / 25.4, "paperHeight": 297.0 / 25.4,
        "marginTop": 0, "marginRight": 0, "marginBottom": 0, "marginLeft": 0,
        "preferCSSPageSize": false, "generateTaggedPDF": true, "transferMode": "ReturnAsStream" })
}
