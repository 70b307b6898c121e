//! Makes tabs, each for one lane: all calls that can be made before the page is known are made here, ahead of time.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::{Browser, Emulation, Inspector, Log, Network, Page, Runtime, Target};
use tokio::sync::OnceCell;

use super::events::PageEvents;
use super::idle_scripts::IdleScripts;
use super::monitor::{EventLimits, add_binding, attach_to_workers};
use super::plain::Plain;
use super::tab::{Tab, end_context};
use crate::browser::cdp::commands;
use crate::browser::cdp::connection::Connection;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::chromium::flags::{TINY_WINDOW, VIEWPORT_HEIGHT, VIEWPORT_WIDTH};
use crate::browser::chromium::font_families::Families;
use crate::browser::chromium::kills::Kills;
use crate::browser::chromium::known_fonts::KnownFonts;
use crate::browser::chromium::network::NetworkService;
use crate::browser::proxy::server::PageServer;
use crate::domain::lane::Lane;

/// What a tab needs of its browser.
#[derive(Clone)]
pub(in crate::browser) struct TabFactory {
    pub network: Arc<NetworkService>,
    pub connection: Connection,
    pub kills: Arc<Kills>,
    pub event_limits: EventLimits,
    pub fonts: Arc<KnownFonts>,
    pub families: Arc<Families>,
    pub call_limit: Duration,
    /// Whether static tabs get no animation frames.
    pub withholds_frames: bool,
    /// The scripts that watch whether a page is idle.
    pub idle_scripts: IdleScripts,
}

impl TabFactory {
    /// Makes a tab whose context knows no proxy but `server`.
    pub(in crate::browser) async fn make(
        self,
        lane: Lane,
        server: Arc<PageServer>,
    ) -> Result<Tab, CallError> {
        let (limit, connection) = (self.call_limit, self.connection);
        let create = Target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            proxy_server: Some(server.proxy_address()),
            proxy_bypass_list: Some("<-loopback>".to_owned()),
            origins_with_universal_network_access: None,
        };
        let context = connection.call(None, create, limit).await?.browser_context_id;
        let withholds_frames = self.withholds_frames && lane == Lane::Static;
        let page = commands::blank_page(Some(&context), withholds_frames, window_of(lane));
        let (target, session) = match commands::attach(&connection, page, limit).await {
            Ok(attached) => attached,
            Err(error) => return Err(worse(error, end_context(&connection, context, limit).await)),
        };
        let scripts = Some(&self.idle_scripts).filter(|_| lane == Lane::Scripted);
        let page = (&session, target.as_str());
        let events = PageEvents::listen(&connection, page, &self.kills, self.event_limits, scripts);
        let tab = Tab {
            lane,
            network: self.network,
            connection,
            context,
            session,
            // The identifier of a page is also that of its main frame.
            frame: target,
            server,
            events,
            fonts: self.fonts,
            families: self.families,
            call_limit: limit,
            window: OnceCell::new(),
        };
        match prepare(&tab, &self.idle_scripts).await {
            Ok(()) => Ok(tab),
            Err(error) => Err(worse(error, tab.dispose().await)),
        }
    }
}

async fn prepare(tab: &Tab, scripts: &IdleScripts) -> Result<(), CallError> {
    let limit = tab.call_limit;
    let mut calls = PendingCalls::default();
    match tab.lane {
        Lane::Static => {
            // A page without script may make no request that would name its process.
            calls.push(tab.send(&commands::report_requests())?, limit);
            calls.push(tab.send(&commands::request_nothing())?, limit);
            calls.push(tab.send(&Network::Disable(None))?, limit);
            calls.push(tab.send(&Emulation::SetScriptExecutionDisabled { value: true })?, limit);
        }
        Lane::Scripted => {
            calls.push(tab.send(&Runtime::Enable(None))?, limit);
            // Only a page that runs script can start a download.
            let no_downloads = Browser::SetDownloadBehavior {
                behavior: Browser::SetDownloadBehaviorBehaviorOption::Deny,
                browser_context_id: Some(tab.context.clone()),
                download_path: None,
                events_enabled: None,
            };
            calls.push(tab.connection.send(None, &no_downloads)?, limit);
            let plain = Plain::of(tab.lane);
            calls.push(tab.send(&plain.media())?, limit);
            calls.push(tab.send(&commands::device_metrics(plain.viewport, false))?, limit);
            calls.push(tab.send(&add_binding())?, limit);
            calls.push(tab.send(&commands::script_of_new_documents(scripts.page.to_string()))?, limit);
            calls.push(tab.send(&attach_to_workers(true))?, limit);
        }
    }
    if let Some(families) = &tab.families.chosen {
        calls.push(tab.send(families)?, limit);
    }
    calls.push(tab.send(&Page::Enable { enable_file_chooser_opened_event: None })?, limit);
    // The log has failed requests; a page without any costs nothing by it.
    calls.push(tab.send(&Log::Enable(None))?, limit);
    calls.push(tab.send(&Inspector::Enable(None))?, limit);
    calls.finish().await
}

/// Scripted pages are painted, also for a PDF. In a tiny window that costs next to nothing, whatever viewport is emulated.
fn window_of(lane: Lane) -> (u32, u32) {
    match lane {
        Lane::Static => (VIEWPORT_WIDTH, VIEWPORT_HEIGHT),
        Lane::Scripted => TINY_WINDOW,
    }
}

/// Why a tab was not made; a browser that cannot dispose of its context either is the graver reason.
fn worse(error: CallError, ended: Result<(), CallError>) -> CallError {
    ended.err().filter(CallError::is_of_browser).unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

    use super::*;
    use crate::config::Config;
    use crate::outbound::{Outbound, SystemResolver};

    /// Answers calls as Chromium does, but refuses `refused`; returns the calls.
    async fn answer_all_but(refused: &'static str, stream: DuplexStream) -> Vec<Value> {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut calls = BufReader::new(reader).split(0);
        let mut asked = Vec::new();
        while let Some(text) = calls.next_segment().await.unwrap() {
            let call: Value = serde_json::from_slice(&text).unwrap();
            let result = json!({"browserContextId": "context", "targetId": "target", "sessionId": "session",
                "identifier": "1", "result": {"type": "undefined"}});
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
        let factory = TabFactory {
            network: Arc::new(NetworkService::of(0)),
            connection: connection.clone(),
            kills: Arc::default(),
            event_limits: EventLimits { all_bytes: 1 << 20, frame_address_bytes: 1 << 20 },
            fonts: Arc::default(),
            families: Arc::new(Families::of(&Config::default().browser)),
            call_limit: Duration::from_secs(10),
            withholds_frames: true,
            idle_scripts: IdleScripts::new(&Config::default().browser),
        };
        let made = factory.make(lane, Arc::new(PageServer::bind(nowhere()).unwrap())).await;
        assert!(matches!(made.err(), Some(CallError::Refused { .. })), "{method}");
        connection.close();
        drop(connection);
        peer.await.unwrap()
    }

    fn nowhere() -> Outbound {
        Outbound::new(Config::default().outbound, &[], Arc::new(SystemResolver))
    }

    #[tokio::test]
    async fn the_context_of_a_tab_that_could_not_be_made_is_disposed_of() {
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
        let asked = asked_when_refused(Lane::Static, "Target.createBrowserContext").await;
        assert_eq!(asked.len(), 1, "there is none");
    }
}
