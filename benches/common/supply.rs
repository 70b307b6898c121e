//! How a floor's client gets its tabs, and how many pages are made at once.

use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

use platen::browser::static_pages;
use platen::config::Config;
use serde_json::{Value, json};

use crate::common::pipe::{Pipe, WAIT, lock};

/// How tabs come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each within the time of its document, disposed of before the next.
    Fresh,
    /// Each while the document before it is made, disposed of in the background.
    Ahead,
    /// One tab for all documents; each document replaces the one before.
    Kept,
    /// The same, and every document is loaded from an address, also one that could be written into the tab.
    KeptWithAddress,
    /// One tab for all documents, shown an empty page after each.
    Cleaned,
}

/// All kinds.
pub const KINDS: [Kind; 5] = [Kind::Fresh, Kind::Ahead, Kind::Kept, Kind::KeptWithAddress, Kind::Cleaned];

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Fresh => "fresh",
            Self::Ahead => "ahead",
            Self::Kept => "kept",
            Self::KeptWithAddress => "kept with address",
            Self::Cleaned => "cleaned",
        })
    }
}

/// A tab of its own context.
pub struct Tab {
    pub target: Value,
    pub session: String,
    context: Value,
    events: Receiver<String>,
}

/// How tabs of one kind of page are made.
#[derive(Clone)]
pub struct TabFactory {
    pub pipe: Arc<Pipe>,
    /// Where each context's proxy listens.
    pub port: u16,
    /// Whether script may run in them.
    pub scripted: bool,
}

/// The tabs of one client.
pub enum Supply {
    /// Made when it is wanted.
    Fresh(TabFactory),
    /// One is always made or under way; each taken orders the next.
    Ahead { orders: Sender<()>, made: Receiver<io::Result<Tab>>, pipe: Arc<Pipe> },
    /// Given back to be taken again.
    Kept { tab: Option<Tab>, cleaned: bool, pipe: Arc<Pipe> },
}

/// Limits how many pages are made at once.
pub struct PageSlots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A page slot, held until it is dropped.
pub struct PageSlot<'a>(&'a PageSlots);

impl TabFactory {
    /// Makes a tab and subscribes to its load event.
    pub fn open(&self) -> io::Result<Tab> {
        let pipe = &self.pipe;
        let proxy = json!({ "disposeOnDetach": true, "proxyServer": format!("http://127.0.0.1:{}", self.port),
            "proxyBypassList": "<-loopback>" });
        let context = pipe.call(None, "Target.createBrowserContext", &proxy)?["browserContextId"].take();
        let blank =
            json!({ "url": "about:blank", "browserContextId": context, "width": 794, "height": 1058 });
        let target = pipe.call(None, "Target.createTarget", &blank)?["targetId"].take();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = pipe.call(None, "Target.attachToTarget", &attach)?["sessionId"].take();
        let session = session.as_str().unwrap_or_default().to_owned();
        let events = pipe.listen(&session);
        pipe.call(Some(&session), "Page.enable", &json!({}))?;
        if !self.scripted {
            pipe.call(Some(&session), "Emulation.setScriptExecutionDisabled", &json!({ "value": true }))?;
        }
        Ok(Tab { target, session, context, events })
    }
}

impl Tab {
    /// Waits for the load event.
    pub fn loads(&self) -> io::Result<()> {
        while self.events.recv_timeout(WAIT).map_err(io::Error::other)? != "Page.loadEventFired" {}
        Ok(())
    }

    /// Ends the tab and waits until it is gone.
    pub fn dispose(self, pipe: &Pipe) -> io::Result<()> {
        pipe.call(None, "Target.disposeBrowserContext", &self.ended(pipe)).map(drop)
    }

    /// Orders the tab's end without waiting for it.
    fn leave(self, pipe: &Pipe) -> io::Result<()> {
        pipe.tell(None, "Target.disposeBrowserContext", &self.ended(pipe))
    }

    /// Shows an empty page.
    fn clean(&self, pipe: &Pipe) -> io::Result<()> {
        pipe.call(Some(&self.session), "Page.navigate", &json!({ "url": "about:blank" }))?;
        self.loads()
    }

    fn ended(self, pipe: &Pipe) -> Value {
        pipe.forget(&self.session);
        json!({ "browserContextId": self.context })
    }
}

impl Supply {
    /// A supply of one client, its first tab made or ordered unless each is made when it is wanted.
    pub fn start(kind: Kind, factory: &TabFactory) -> io::Result<Self> {
        let (factory, pipe) = (factory.clone(), Arc::clone(&factory.pipe));
        Ok(match kind {
            Kind::Fresh => Self::Fresh(factory),
            Kind::Ahead => {
                let (orders, made) = make_ahead(factory);
                orders.send(()).map_err(io::Error::other)?;
                Self::Ahead { orders, made, pipe }
            }
            Kind::Kept | Kind::KeptWithAddress | Kind::Cleaned => {
                Self::Kept { tab: Some(factory.open()?), cleaned: kind == Kind::Cleaned, pipe }
            }
        })
    }

    /// A tab.
    pub fn take(&mut self) -> io::Result<Tab> {
        match self {
            Self::Fresh(factory) => factory.open(),
            Self::Ahead { orders, made, .. } => {
                let tab = made.recv_timeout(WAIT * 4).map_err(io::Error::other)?;
                orders.send(()).map_err(io::Error::other)?;
                tab
            }
            Self::Kept { tab, .. } => {
                tab.take().ok_or_else(|| io::Error::other("the tab was not given back"))
            }
        }
    }

    /// Takes back a tab that is no longer needed.
    pub fn give_back(&mut self, used: Tab) -> io::Result<()> {
        match self {
            Self::Fresh(factory) => used.dispose(&factory.pipe),
            Self::Ahead { pipe, .. } => used.leave(pipe),
            Self::Kept { tab, cleaned, pipe } => {
                if *cleaned {
                    used.clean(pipe)?;
                }
                *tab = Some(used);
                Ok(())
            }
        }
    }

    /// Ends the tab that was made ahead and not used.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Fresh(_) => Ok(()),
            Self::Ahead { made, pipe, .. } => {
                made.recv_timeout(WAIT * 4).map_err(io::Error::other)??.dispose(&pipe)
            }
            Self::Kept { tab, pipe, .. } => tab.map_or(Ok(()), |tab| tab.dispose(&pipe)),
        }
    }
}

fn make_ahead(factory: TabFactory) -> (Sender<()>, Receiver<io::Result<Tab>>) {
    let ((orders, ordered), (sender, made)) = (channel(), channel());
    std::thread::spawn(move || {
        for () in ordered {
            let _ = sender.send(factory.open());
        }
    });
    (orders, made)
}

impl PageSlots {
    /// `count` pages at once.
    pub fn of(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// As many as the service makes of pages without script.
    pub fn as_in_the_service() -> Self {
        Self::of(static_pages(Config::default().browser.static_pages))
    }

    /// Waits for a free slot.
    pub fn take(&self) -> PageSlot<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *free -= 1;
        PageSlot(self)
    }
}

impl Drop for PageSlot<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
