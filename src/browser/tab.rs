//! One fresh tab: a browser context of its own, with the slot's proxy as its only way out.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;
use headless_chrome::protocol::cdp::{Browser, Inspector, Page, Target};
use serde::Serialize;
use tokio::sync::watch;

use super::cdp::{CallError, Connection, Sent};
use super::events::{Kills, PageEvents, PageState};
use super::flags::{VIEWPORT_HEIGHT, VIEWPORT_WIDTH};
use super::fonts::Fonts;
use super::origin::Origin;

/// A tab that shows nothing yet.
pub struct Tab {
    connection: Connection,
    context: String,
    session: Arc<str>,
    frame: String,
    origin: Arc<Origin>,
    state: watch::Receiver<PageState>,
    fonts: Arc<Fonts>,
    call_limit: Duration,
}

/// What a tab needs of its browser.
#[derive(Clone)]
pub(super) struct Maker {
    pub connection: Connection,
    pub kills: Arc<Kills>,
    pub fonts: Arc<Fonts>,
    pub call_limit: Duration,
}

impl Maker {
    /// Makes a tab whose context knows no proxy but `origin`'s.
    pub(super) async fn make(self, origin: Arc<Origin>) -> Result<Tab, CallError> {
        let limit = self.call_limit;
        let connection = self.connection;
        let create = Target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            proxy_server: Some(origin.proxy_address()),
            proxy_bypass_list: Some("<-loopback>".to_owned()),
            origins_with_universal_network_access: None,
        };
        let context = connection.call(None, create, limit).await?.browser_context_id;
        let target = connection.call(None, blank_page(&context), limit).await?.target_id;
        let attach = Target::AttachToTarget { target_id: target.clone(), flatten: Some(true) };
        let session: Arc<str> = connection.call(None, attach, limit).await?.session_id.into();
        let state = PageEvents::listen(&connection, &session, &target, &self.kills);
        let (call_limit, fonts) = (limit, self.fonts);
        // The identifier of a page is also that of its main frame.
        let tab = Tab { connection, context, session, frame: target, origin, state, fonts, call_limit };
        let page = tab.send(&Page::Enable { enable_file_chooser_opened_event: None })?;
        let inspector = tab.send(&Inspector::Enable(None))?;
        page.answer(limit).await?;
        inspector.answer(limit).await?;
        Ok(tab)
    }
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

    /// Has downloads refused: only a page that runs script can start one.
    pub(super) fn deny_downloads(&self) -> Result<Sent<Browser::SetDownloadBehavior>, CallError> {
        let deny = Browser::SetDownloadBehavior {
            behavior: Browser::SetDownloadBehaviorBehaviorOption::Deny,
            browser_context_id: Some(self.context.clone()),
            download_path: None,
            events_enabled: None,
        };
        self.connection.send(None, &deny)
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
        self.state.clone()
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

    /// Whether a page can still be shown in it.
    pub(super) fn is_alive(&self) -> bool {
        self.state.borrow().end.is_none() && !self.connection.is_closed()
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
        let dispose = Target::DisposeBrowserContext { browser_context_id: self.context };
        self.connection.call(None, dispose, self.call_limit).await.map(drop)
    }
}

fn blank_page(context: &str) -> Target::CreateTarget {
    Target::CreateTarget {
        url: "about:blank".to_owned(),
        left: None,
        top: None,
        width: Some(VIEWPORT_WIDTH),
        height: Some(VIEWPORT_HEIGHT),
        window_state: None,
        browser_context_id: Some(context.to_owned()),
        enable_begin_frame_control: None,
        new_window: None,
        background: None,
        for_tab: None,
        hidden: None,
    }
}
