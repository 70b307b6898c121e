//! One tab: a browser context of its own, with a [`PageServer`] as its only way out.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;
use headless_chrome::protocol::cdp::{Browser, Fetch, Target};
use serde::Serialize;
use tokio::sync::{OnceCell, watch};

use super::events::PageEvents;
use super::page_state::PageState;
use super::request_headers;
use crate::browser::cdp::connection::{Connection, Sent};
use crate::browser::cdp::error::CallError;
use crate::browser::chromium::font_families::Families;
use crate::browser::chromium::known_fonts::KnownFonts;
use crate::browser::chromium::network::NetworkService;
use crate::browser::proxy::server::PageServer;
use crate::domain::format_opts::Requests;
use crate::domain::lane::Lane;

/// Calls with longer texts are serialized on a thread for work that blocks.
pub(in crate::browser) const LARGE_CALL_BYTES: usize = 256 << 10;

/// A tab of one lane.
pub struct Tab {
    pub(in crate::browser) lane: Lane,
    pub(in crate::browser) network: Arc<NetworkService>,
    pub(in crate::browser) connection: Connection,
    pub(in crate::browser) context: String,
    pub(in crate::browser) session: Arc<str>,
    pub(in crate::browser) frame: String,
    pub(in crate::browser) server: Arc<PageServer>,
    pub(in crate::browser) events: Arc<PageEvents>,
    pub(in crate::browser) fonts: Arc<KnownFonts>,
    pub(in crate::browser) families: Arc<Families>,
    pub(in crate::browser) call_limit: Duration,
    /// Its window, once a page with script was shown.
    pub(in crate::browser) window: OnceCell<Browser::WindowID>,
}

impl Tab {
    /// Calls within the tab and waits for the answer.
    pub(in crate::browser) async fn call_within<M>(
        &self,
        method: M,
        limit: Duration,
    ) -> Result<M::ReturnObject, CallError>
    where
        M: Method + Serialize,
        M::ReturnObject: Send + 'static,
    {
        self.connection.call(Some(&self.session), method, limit).await
    }

    /// Sends a call to the tab.
    pub(in crate::browser) fn send<M: Method + Serialize>(&self, method: &M) -> Result<Sent<M>, CallError> {
        self.connection.send(Some(&self.session), method)
    }

    /// Sends a call with a large text to the tab.
    pub(in crate::browser) async fn send_large<M>(&self, method: M) -> Result<Sent<M>, CallError>
    where
        M: Method + Serialize + Send + 'static,
    {
        self.connection.send_large(Some(&self.session), method).await
    }

    /// Sends a call whose texts are `bytes` long: at once, or as a large one.
    pub(in crate::browser) async fn send_sized<M>(
        &self,
        method: M,
        bytes: usize,
    ) -> Result<Sent<M>, CallError>
    where
        M: Method + Serialize + Send + 'static,
    {
        if bytes > LARGE_CALL_BYTES { self.send_large(method).await } else { self.send(&method) }
    }

    /// What is known of the page.
    pub(in crate::browser) fn state(&self) -> watch::Receiver<PageState> {
        self.events.monitor.state.subscribe()
    }

    /// Has the page's requests carry the headers of `requests`.
    pub(in crate::browser) fn carry(&self, requests: &Requests) -> Result<Sent<Fetch::Enable>, CallError> {
        let _ = self.events.carried.set(requests.clone());
        self.send(&request_headers::halt(requests))
    }

    /// A name that no other tab has; the hosts of its pages are below it. To Chromium they are one site, so that it starts no
    /// new renderer for the next page.
    pub(in crate::browser) fn site(&self) -> String {
        self.frame.to_ascii_lowercase()
    }

    /// Whether a page can still be shown in it.
    pub(in crate::browser) fn is_alive(&self) -> bool {
        self.events.monitor.state.borrow().end.is_none() && !self.connection.is_closed()
    }

    /// Ends the page with everything it kept; its server serves nothing from now on.
    pub(in crate::browser) async fn dispose(self) -> Result<(), CallError> {
        self.server.clear();
        self.connection.forget(&self.session);
        self.events.monitor.forget_workers();
        end_context(&self.connection, self.context, self.call_limit).await
    }
}

/// Disposes of a browser context. Until that is done its page may send requests to its proxy, so the page server must not be
/// another tab's before.
pub(in crate::browser) async fn end_context(
    connection: &Connection,
    context: String,
    limit: Duration,
) -> Result<(), CallError> {
    let dispose = Target::DisposeBrowserContext { browser_context_id: context };
    connection.call(None, dispose, limit).await.map(drop)
}
