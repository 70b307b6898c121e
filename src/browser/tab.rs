//! One tab: a browser context of its own, with the slot's proxy as its only way out.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;
use headless_chrome::protocol::cdp::{Browser, Runtime, Target};
use serde::Serialize;
use tokio::sync::watch;

use super::cdp::{CallError, Connection, Sent};
use super::events::{PageEvents, PageState};
use super::families::Families;
use super::fonts::Fonts;
use super::load;
use super::origin::Origin;
use crate::domain::format_opts::Requests;
use crate::domain::lane::Lane;

/// A tab of one lane.
pub struct Tab {
    pub(super) lane: Lane,
    pub(super) connection: Connection,
    pub(super) context: String,
    pub(super) session: Arc<str>,
    pub(super) frame: String,
    pub(super) origin: Arc<Origin>,
    pub(super) events: Arc<PageEvents>,
    pub(super) fonts: Arc<Fonts>,
    pub(super) families: Arc<Families>,
    pub(super) call_limit: Duration,
}

impl Tab {
    /// Calls within the tab and waits for the answer.
    pub(super) async fn call_within<M>(
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
    pub(super) fn send<M: Method + Serialize>(&self, method: &M) -> Result<Sent<M>, CallError> {
        self.connection.send(Some(&self.session), method)
    }

    /// Sends a call with a large text to the tab.
    pub(super) async fn send_large<M>(&self, method: M) -> Result<Sent<M>, CallError>
    where
        M: Method + Serialize + Send + 'static,
    {
        self.connection.send_large(Some(&self.session), method).await
    }

    /// What is known of the page.
    pub(super) fn state(&self) -> watch::Receiver<PageState> {
        self.events.state()
    }

    /// What its page's requests carry.
    pub(super) fn carry(&self, requests: Requests) {
        let _ = self.events.carried.set(requests);
    }

    /// Forgets what its page told.
    pub(super) fn renew_state(&self) {
        self.events.renew();
    }

    /// A name that no other tab has, under which the hosts of its pages are: to Chromium they are one site,
    /// for which it starts no other renderer.
    pub(super) fn site(&self) -> String {
        self.frame.to_ascii_lowercase()
    }

    /// The page's main frame.
    pub(super) fn frame(&self) -> &str {
        &self.frame
    }

    /// What is known of its browser's fonts.
    pub(super) fn fonts(&self) -> &Arc<Fonts> {
        &self.fonts
    }

    /// The proxy of its slot.
    pub(super) fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// Whether script may run in it.
    pub(super) fn lane(&self) -> Lane {
        self.lane
    }

    /// Whether a page can still be shown in it.
    pub(super) fn is_alive(&self) -> bool {
        self.events.state().borrow().end.is_none() && !self.connection.is_closed()
    }

    /// Whether the connection to its browser stands.
    pub(super) fn has_browser(&self) -> bool {
        !self.connection.is_closed()
    }

    /// The sessions of its page's workers.
    pub(super) fn workers(&self) -> Vec<Arc<str>> {
        self.events.worker_sessions()
    }

    /// Asks a worker for nothing, which it answers when it has nothing else to do.
    pub(super) fn ask_worker(&self, worker: &Arc<str>) -> Result<Sent<Runtime::Evaluate>, CallError> {
        self.connection.send(Some(worker), &load::evaluate("0".to_owned(), None))
    }

    /// Whether the browser itself answers, whatever its pages do.
    pub(super) async fn browser_answers(&self, limit: Duration) -> bool {
        let answer = self.connection.call(None, Browser::GetVersion(None), limit).await;
        !answer.is_err_and(|error| error.is_of_browser())
    }

    /// Ends the page with everything it kept; its slot serves nothing from now on.
    pub(super) async fn dispose(self) -> Result<(), CallError> {
        self.origin.clear();
        self.connection.forget(&self.session);
        self.events.forget_workers();
        end_context(&self.connection, self.context, self.call_limit).await
    }
}

/// A context knows its slot's proxy as long as it is there: the slot must not serve anybody else before.
pub(super) async fn end_context(
    connection: &Connection,
    context: String,
    limit: Duration,
) -> Result<(), CallError> {
    let dispose = Target::DisposeBrowserContext { browser_context_id: context };
    connection.call(None, dispose, limit).await.map(drop)
}
