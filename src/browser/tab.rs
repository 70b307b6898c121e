//! One tab: a browser context of its own, with the slot's proxy as its only way out.

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
    events: Arc<PageEvents>,
    fonts: Arc<Fonts>,
    call_limit: Duration,
}

/// What a tab needs of its browser.
#[derive(Clone)]
pub(super) struct Maker {
    pub connection: Connection,
    pub kills: Arc<Kills>,
    pub told_limit_bytes: u64,
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
        let (target, session) = match attach(&connection, &context, limit).await {
            Ok(attached) => attached,
            Err(error) => return Err(worse(error, end_context(&connection, context, limit).await)),
        };
        let told = self.told_limit_bytes;
        let events = PageEvents::listen(&connection, &session, &target, &self.kills, told);
        let (call_limit, fonts) = (limit, self.fonts);
        // The identifier of a page is also that of its main frame.
        let tab = Tab { connection, context, session, frame: target, origin, events, fonts, call_limit };
        match tab.enable().await {
            Ok(()) => Ok(tab),
            Err(error) => Err(worse(error, tab.dispose().await)),
        }
    }
}

impl Tab {
    async fn enable(&self) -> Result<(), CallError> {
        let page = self.send(&Page::Enable { enable_file_chooser_opened_event: None })?;
        let inspector = self.send(&Inspector::Enable(None))?;
        page.answer(self.call_limit).await?;
        inspector.answer(self.call_limit).await.map(drop)
    }

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
        self.events.state()
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

    /// Whether a page can still be shown in it.
    pub(super) fn is_alive(&self) -> bool {
        self.events.state().borrow().end.is_none() && !self.connection.is_closed()
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
        end_context(&self.connection, self.context, self.call_limit).await
    }
}

async fn attach(
    connection: &Connection,
    context: &str,
    limit: Duration,
) -> Result<(String, Arc<str>), CallError> {
    let target = connection.call(None, blank_page(context), limit).await?.target_id;
    let attach = Target::AttachToTarget { target_id: target.clone(), flatten: Some(true) };
    let session = connection.call(None, attach, limit).await?.session_id;
    Ok((target, session.into()))
}

/// A context knows its slot's proxy as long as it is there: the slot must not serve anybody else before.
async fn end_context(connection: &Connection, context: String, limit: Duration) -> Result<(), CallError> {
    let dispose = Target::DisposeBrowserContext { browser_context_id: context };
    connection.call(None, dispose, limit).await.map(drop)
}

/// Why a tab was not made: a browser that does not even take it back says more.
fn worse(error: CallError, ended: Result<(), CallError>) -> CallError {
    ended.err().filter(CallError::is_of_browser).unwrap_or(error)
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

    use super::*;
    use crate::config::Config;
    use crate::outbound::{Outbound, SystemResolver};

    /// Speaks as Chromium does, which cannot be had to refuse a call at will, and tells what it was asked.
    async fn answer_all_but(refused: &'static str, stream: DuplexStream) -> Vec<Value> {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut calls = BufReader::new(reader).split(0);
        let mut asked = Vec::new();
        while let Some(text) = calls.next_segment().await.unwrap() {
            let call: Value = serde_json::from_slice(&text).unwrap();
            let result = json!({"browserContextId": "context", "targetId": "target", "sessionId": "session"});
            let answer = if call["method"] == refused {
                json!({"id": call["id"], "error": {"code": -32000, "message": "no"}})
            } else {
                json!({"id": call["id"], "result": result})
            };
            writer.write_all(format!("{answer}\0").as_bytes()).await.unwrap();
            asked.push(call);
        }
        asked
    }

    async fn asked_when_refused(method: &'static str) -> Vec<Value> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let peer = tokio::spawn(answer_all_but(method, theirs));
        let (reader, writer) = tokio::io::split(ours);
        let connection = Connection::open(BufReader::new(reader), writer);
        let maker = Maker {
            connection: connection.clone(),
            kills: Arc::default(),
            told_limit_bytes: 1 << 20,
            fonts: Arc::default(),
            call_limit: Duration::from_secs(10),
        };
        let made = maker.make(Arc::new(Origin::bind(nowhere()).unwrap())).await;
        assert!(matches!(made.err(), Some(CallError::Refused { .. })), "{method}");
        connection.close();
        drop(connection);
        peer.await.unwrap()
    }

    fn nowhere() -> Outbound {
        Outbound::new(Config::default().outbound, &[], Arc::new(SystemResolver))
    }

    #[tokio::test]
    async fn a_context_that_becomes_no_tab_is_disposed_of() {
        for method in ["Target.createTarget", "Target.attachToTarget", "Page.enable", "Inspector.enable"] {
            let asked = asked_when_refused(method).await;
            let last = asked.last().unwrap();
            assert_eq!(last["method"], "Target.disposeBrowserContext", "{method}");
            assert_eq!(last["params"]["browserContextId"], "context", "{method}");
        }
    }

    #[tokio::test]
    async fn nothing_is_disposed_of_when_there_is_no_context() {
        let asked = asked_when_refused("Target.createBrowserContext").await;
        assert_eq!(asked.len(), 1);
    }
}
