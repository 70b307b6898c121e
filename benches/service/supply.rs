//! Where a floor's client has its tabs from, and how many pages are made at once.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

use platen::config::Config;
use serde_json::{Value, json};

use crate::pipe::{Pipe, WAIT, lock};

/// How tabs come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each within the time of its document, disposed of before the next.
    Plain,
    /// Each while the document before it is made, disposed of in the background.
    Ahead,
}

/// A tab of its own context.
pub struct Tab {
    pub context: Value,
    pub target: Value,
    pub session: String,
    events: Receiver<String>,
}

/// The tabs of one client.
pub enum Supply {
    /// Made when it is wanted.
    Plain { pipe: Arc<Pipe>, port: u16 },
    /// One is always made or under way; each taken orders the next.
    Ahead { orders: Sender<()>, made: Receiver<io::Result<Tab>> },
}

/// So many pages at once.
pub struct Turns {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Leave to make a page, until it is dropped.
pub struct Turn<'a>(&'a Turns);

/// Makes a tab whose load event will be heard.
pub fn open_tab(pipe: &Pipe, port: u16) -> io::Result<Tab> {
    let proxy = json!({ "disposeOnDetach": true, "proxyServer": format!("http://127.0.0.1:{port}"),
        "proxyBypassList": "<-loopback>" });
    let context = pipe.call(None, "Target.createBrowserContext", &proxy)?["browserContextId"].take();
    let blank = json!({ "url": "about:blank", "browserContextId": context, "width": 794, "height": 1058 });
    let target = pipe.call(None, "Target.createTarget", &blank)?["targetId"].take();
    let attach = json!({ "targetId": target, "flatten": true });
    let session = pipe.call(None, "Target.attachToTarget", &attach)?["sessionId"].take();
    let session = session.as_str().unwrap_or_default().to_owned();
    let events = pipe.listen(&session);
    pipe.call(Some(&session), "Page.enable", &json!({}))?;
    Ok(Tab { context, target, session, events })
}

/// Makes a tab in which no script runs.
fn open_still_tab(pipe: &Pipe, port: u16) -> io::Result<Tab> {
    let tab = open_tab(pipe, port)?;
    pipe.call(Some(&tab.session), "Emulation.setScriptExecutionDisabled", &json!({ "value": true }))?;
    Ok(tab)
}

impl Tab {
    /// Waits for the load event.
    pub fn loads(&self) -> io::Result<()> {
        while self.events.recv_timeout(WAIT).map_err(io::Error::other)? != "Page.loadEventFired" {}
        Ok(())
    }

    /// Ends the tab and waits until it is gone.
    pub fn dispose(&self, pipe: &Pipe) -> io::Result<()> {
        pipe.call(None, "Target.disposeBrowserContext", &self.named()).map(drop)
    }

    fn named(&self) -> Value {
        json!({ "browserContextId": self.context })
    }
}

impl Supply {
    /// A supply of one client, its first tab ordered where it is made ahead.
    pub fn start(kind: Kind, pipe: &Arc<Pipe>, port: u16) -> io::Result<Self> {
        let pipe = Arc::clone(pipe);
        if kind == Kind::Plain {
            return Ok(Self::Plain { pipe, port });
        }
        let ((orders, ordered), (sender, made)) = (channel(), channel());
        std::thread::spawn(move || {
            for () in ordered {
                let _ = sender.send(open_still_tab(&pipe, port));
            }
        });
        orders.send(()).map_err(io::Error::other)?;
        Ok(Self::Ahead { orders, made })
    }

    /// A tab.
    pub fn tab(&self) -> io::Result<Tab> {
        match self {
            Self::Plain { pipe, port } => open_still_tab(pipe, *port),
            Self::Ahead { orders, made } => {
                let tab = made.recv_timeout(WAIT * 4).map_err(io::Error::other)?;
                orders.send(()).map_err(io::Error::other)?;
                tab
            }
        }
    }

    /// Has a tab disposed of.
    pub fn dispose(&self, pipe: &Pipe, tab: &Tab) -> io::Result<()> {
        match self {
            Self::Plain { .. } => tab.dispose(pipe),
            Self::Ahead { .. } => pipe.tell("Target.disposeBrowserContext", &tab.named()),
        }
    }

    /// Ends the tab that nobody took.
    pub fn finish(self, pipe: &Pipe) -> io::Result<()> {
        match self {
            Self::Plain { .. } => Ok(()),
            Self::Ahead { made, .. } => {
                let tab = made.recv_timeout(WAIT * 4).map_err(io::Error::other)??;
                pipe.forget(&tab.session);
                tab.dispose(pipe)
            }
        }
    }
}

impl Turns {
    /// `count` pages at once.
    pub fn of(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// As many as the service makes of pages without script.
    pub fn as_in_the_service() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match usize::try_from(Config::default().browser.static_pages) {
            Ok(0) | Err(_) => Self::of(cores + 1),
            Ok(pages) => Self::of(pages),
        }
    }

    /// Waits for a turn.
    pub fn take(&self) -> Turn<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
