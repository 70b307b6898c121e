//! One tab: a browser context of its own, with the slot's proxy as its only way out.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;
use headless_chrome::protocol::cdp::{Browser, Runtime, Target};
use serde::Serialize;
use tokio::sync::watch;

use super::events::{PageEvents, PageState};
use crate::browser::cdp::connection::{CallError, Connection, Sent};
use crate::browser::chromium::font_families::Families;
use crate::browser::page::fonts::Fonts;
use crate::browser::page::load;
use crate::browser::proxy::server::PageServer;
use crate::domain::format_opts::Requests;
use crate::domain::lane::Lane;

/// A tab of one lane.
pub struct Tab {
    pub(in crate::browser) lane: Lane,
    pub(in crate::browser) connection: Connection,
    pub(in crate::browser) context: String,
    pub(in crate::browser) session: Arc<str>,
    pub(in crate::browser) frame: String,
    pub(in crate::browser) origin: Arc<PageServer>,
    pub(in crate::browser) events: Arc<PageEvents>,
    pub(in crate::browser) fonts: Arc<Fonts>,
    pub(in crate::browser) families: Arc<Families>,
    pub(in crate::browser) call_limit: Duration,
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

    /// What is known of the page.
    pub(in crate::browser) fn state(&self) -> watch::Receiver<PageState> {
        self.events.state()
    }

    /// What its page's requests carry.
    pub(in crate::browser) fn carry(&self, requests: Requests) {
        let _ = self.events.carried.set(requests);
    }

    /// Forgets what its page told.
    pub(in crate::browser) fn renew_state(&self) {
        self.events.renew();
    }

    /// A name that no other tab has, under which the hosts of its pages are: to Chromium they are one site,
    /// for which it starts no other renderer.
    pub(in crate::browser) fn site(&self) -> String {
        self.frame.to_ascii_lowercase()
    }

    /// The page's main frame.
    pub(in crate::browser) fn frame(&self) -> &str {
        &self.frame
    }

    /// What is known of its browser's fonts.
    pub(in crate::browser) fn fonts(&self) -> &Arc<Fonts> {
        &self.fonts
    }

    /// The proxy of its slot.
    pub(in crate::browser) fn origin(&self) -> &Arc<PageServer> {
        &self.origin
    }

    /// Whether script may run in it.
    pub(in crate::browser) fn lane(&self) -> Lane {
        self.lane
    }

    /// Whether a page can still be shown in it.
    pub(in crate::browser) fn is_alive(&self) -> bool {
        self.events.state().borrow().end.is_none() && !self.connection.is_closed()
    }

    /// Whether the connection to its browser stands.
    pub(in crate::browser) fn has_browser(&self) -> bool {
        !self.connection.is_closed()
    }

    /// The sessions of its page's workers.
    pub(in crate::browser) fn workers(&self) -> Vec<Arc<str>> {
        self.events.worker_sessions()
    }

    /// Asks a worker for nothing, which it answers when it has nothing else to do.
    pub(in crate::browser) fn ask_worker(
        &self,
        worker: &Arc<str>,
    ) -> Result<Sent<Runtime::Evaluate>, CallError> {
        self.connection.send(Some(worker), &load::evaluate("0".to_owned(), None))
    }

    /// Whether the browser itself answers, whatever its pages do.
    pub(in crate::browser) async fn browser_answers(&self, limit: Duration) -> bool {
        let answer = self.connection.call(None, Browser::GetVersion(None), limit).await;
        !answer.is_err_and(|error| error.is_of_browser())
    }

    /// Ends the page with everything it kept; its slot serves nothing from now on.
    pub(in crate::browser) async fn dispose(self) -> Result<(), CallError> {
        self.origin.clear();
        self.connection.forget(&self.session);
        self.events.forget_workers();
        end_context(&self.connection, self.context, self.call_limit).await
    }
}

/// A context knows its slot's proxy as long as it is there: the slot must not serve anybody else before.
pub(in crate::browser) async fn end_context(
    connection: &Connection,
    context: String,
    limit: Duration,
) -> Result<(), CallError> {
    let dispose = Target::DisposeBrowserContext { browser_context_id: context };
    connection.call(None, dispose, limit).await.map(drop)
}
