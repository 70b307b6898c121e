//! Makes tabs, each for one lane: all that can be said to one before its page is known is said here.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::{Browser, Emulation, Inspector, Log, Page, Runtime, Target};

use super::events::{EventLimits, PageEvents, rest_binding};
use super::tab::{Tab, end_context};
use super::workers;
use crate::browser::cdp::connection::{CallError, Connection};
use crate::browser::chromium::flags::{VIEWPORT_HEIGHT, VIEWPORT_WIDTH};
use crate::browser::chromium::font_families::Families;
use crate::browser::chromium::kills::Kills;
use crate::browser::page::emulate;
use crate::browser::page::fonts::Fonts;
use crate::browser::page::load;
use crate::browser::page::scripts::IdleScripts;
use crate::browser::proxy::server::PageServer;
use crate::domain::format_opts::Viewport;
use crate::domain::lane::Lane;

/// Width and height of a window in which next to nothing is painted, in CSS pixels.
pub(in crate::browser) const HARDLY_THERE: (u32, u32) = (8, 8);

/// What a tab needs of its browser.
#[derive(Clone)]
pub(in crate::browser) struct TabFactory {
    pub connection: Connection,
    pub kills: Arc<Kills>,
    pub telling: EventLimits,
    pub fonts: Arc<Fonts>,
    pub families: Arc<Families>,
    pub call_limit: Duration,
    /// Whether pages without script have no frames.
    pub withholds_frames: bool,
    /// The scripts that watch whether a page is at rest.
    pub watches: IdleScripts,
}

impl TabFactory {
    /// Makes a tab whose context knows no proxy but `origin`'s.
    pub(in crate::browser) async fn make(
        self,
        lane: Lane,
        origin: Arc<PageServer>,
    ) -> Result<Tab, CallError> {
        let (limit, connection) = (self.call_limit, self.connection);
        let create = Target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            proxy_server: Some(origin.proxy_address()),
            proxy_bypass_list: Some("<-loopback>".to_owned()),
            origins_with_universal_network_access: None,
        };
        let context = connection.call(None, create, limit).await?.browser_context_id;
        let withholds_frames = self.withholds_frames && lane == Lane::Static;
        let page = blank_page(Some(&context), withholds_frames, window_of(lane));
        let (target, session) = match attach(&connection, page, limit).await {
            Ok(attached) => attached,
            Err(error) => return Err(worse(error, end_context(&connection, context, limit).await)),
        };
        let events = PageEvents::listen(&connection, &session, &target, &self.kills, self.telling);
        let tab = Tab {
            lane,
            connection,
            context,
            session,
            // The identifier of a page is also that of its main frame.
            frame: target,
            origin,
            events,
            fonts: self.fonts,
            families: self.families,
            call_limit: limit,
        };
        let prepared = match lane {
            Lane::Static => tab.prepare_static().await,
            Lane::Scripted => tab.prepare_scripted(&self.watches).await,
        };
        match prepared {
            Ok(()) => Ok(tab),
            Err(error) => Err(worse(error, tab.dispose().await)),
        }
    }
}

impl Tab {
    async fn prepare_static(&self) -> Result<(), CallError> {
        let off = self.send(&Emulation::SetScriptExecutionDisabled { value: true })?;
        self.hear().await?;
        off.answer(self.call_limit).await.map(drop)
    }

    async fn prepare_scripted(&self, watches: &IdleScripts) -> Result<(), CallError> {
        let exceptions = self.send(&Runtime::Enable(None))?;
        // Only a page that runs script can start one.
        let downloads = self.connection.send(
            None,
            &Browser::SetDownloadBehavior {
                behavior: Browser::SetDownloadBehaviorBehaviorOption::Deny,
                browser_context_id: Some(self.context.clone()),
                download_path: None,
                events_enabled: None,
            },
        )?;
        let viewport = self.send(&emulate::metrics(Viewport::default(), false))?;
        let binding = self.send(&rest_binding())?;
        let watch = self.send(&load::new_document(watches.page.to_string()))?;
        self.events.watch_workers(watches);
        let workers = self.send(&workers::attach_all(true))?;
        self.hear().await?;
        exceptions.answer(self.call_limit).await?;
        downloads.answer(self.call_limit).await?;
        viewport.answer(self.call_limit).await?;
        binding.answer(self.call_limit).await?;
        workers.answer(self.call_limit).await?;
        watch.answer(self.call_limit).await.map(drop)
    }

    async fn hear(&self) -> Result<(), CallError> {
        let families = self.families.told.as_ref().map(|families| self.send(families)).transpose()?;
        let page = self.send(&Page::Enable { enable_file_chooser_opened_event: None })?;
        // What the page asks for in vain stands there: to be told of it costs a page that asks for nothing so nothing.
        let log = self.send(&Log::Enable(None))?;
        let inspector = self.send(&Inspector::Enable(None))?;
        if let Some(families) = families {
            families.answer(self.call_limit).await?;
        }
        page.answer(self.call_limit).await?;
        log.answer(self.call_limit).await?;
        inspector.answer(self.call_limit).await.map(drop)
    }
}

/// Pages with script are painted, whether anybody sees them or not: in a window that is hardly there, whatever
/// viewport they are told, that costs next to nothing.
fn window_of(lane: Lane) -> (u32, u32) {
    match lane {
        Lane::Static => (VIEWPORT_WIDTH, VIEWPORT_HEIGHT),
        Lane::Scripted => HARDLY_THERE,
    }
}

/// Opens a page; answers its identifier and that of the session in it.
pub(in crate::browser) async fn attach(
    connection: &Connection,
    page: Target::CreateTarget,
    limit: Duration,
) -> Result<(String, Arc<str>), CallError> {
    let target = connection.call(None, page, limit).await?.target_id;
    let attach = Target::AttachToTarget { target_id: target.clone(), flatten: Some(true) };
    let session = connection.call(None, attach, limit).await?.session_id;
    Ok((target, session.into()))
}

/// Why a tab was not made: a browser that does not even take it back says more.
fn worse(error: CallError, ended: Result<(), CallError>) -> CallError {
    ended.err().filter(CallError::is_of_browser).unwrap_or(error)
}

/// A page that shows nothing, in a context or in the browser's own.
pub(in crate::browser) fn blank_page(
    context: Option<&str>,
    withholds_frames: bool,
    (width, height): (u32, u32),
) -> Target::CreateTarget {
    Target::CreateTarget {
        url: "about:blank".to_owned(),
        left: None,
        top: None,
        width: Some(width),
        height: Some(height),
        window_state: None,
        browser_context_id: context.map(str::to_owned),
        enable_begin_frame_control: withholds_frames.then_some(true),
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
            let result = json!({"browserContextId": "context", "targetId": "target", "sessionId": "session",
                "identifier": "1"});
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

    async fn asked_when_refused(lane: Lane, method: &'static str) -> Vec<Value> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let peer = tokio::spawn(answer_all_but(method, theirs));
        let (reader, writer) = tokio::io::split(ours);
        let connection = Connection::open(BufReader::new(reader), writer);
        let maker = TabFactory {
            connection: connection.clone(),
            kills: Arc::default(),
            telling: EventLimits { all_bytes: 1 << 20, frame_address_bytes: 1 << 20 },
            fonts: Arc::default(),
            families: Arc::new(Families::of(&Config::default().browser)),
            call_limit: Duration::from_secs(10),
            withholds_frames: true,
            watches: IdleScripts::new(&Config::default().browser),
        };
        let made = maker.make(lane, Arc::new(PageServer::bind(nowhere()).unwrap())).await;
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
        for (lane, method) in [
            (Lane::Scripted, "Target.createTarget"),
            (Lane::Scripted, "Target.attachToTarget"),
            (Lane::Scripted, "Page.enable"),
            (Lane::Scripted, "Runtime.addBinding"),
            (Lane::Scripted, "Target.setAutoAttach"),
            (Lane::Static, "Inspector.enable"),
            (Lane::Static, "Emulation.setScriptExecutionDisabled"),
        ] {
            let asked = asked_when_refused(lane, method).await;
            let last = asked.last().unwrap();
            assert_eq!(last["method"], "Target.disposeBrowserContext", "{method}");
            assert_eq!(last["params"]["browserContextId"], "context", "{method}");
        }
    }

    #[tokio::test]
    async fn nothing_is_disposed_of_when_there_is_no_context() {
        let asked = asked_when_refused(Lane::Static, "Target.createBrowserContext").await;
        assert_eq!(asked.len(), 1);
    }
}
