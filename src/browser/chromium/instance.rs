//! One running Chromium: its process and the connection to it.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::Browser::GetVersion;
use headless_chrome::protocol::cdp::Target::{FilterEntry, SetDiscoverTargets};
use tokio::io::BufReader;
use tokio::net::unix::pipe;

use super::flags::Graphics;
use super::frames;
use super::known_fonts::KnownFonts;
use super::launch_error::LaunchError;
use super::process::{PipeEnds, Process};
use super::swiftshader;
use crate::browser::cdp::connection::Connection;
use crate::browser::cdp::error::CallError;
use crate::config::BrowserConfig;
use crate::workers::Starter;

const READ_BUFFER_BYTES: usize = 256 << 10;

/// A Chromium that answers. Dropped, it is killed with all its processes, and its folder removed.
pub(in crate::browser) struct Chromium {
    pub connection: Connection,
    /// What is known of its fonts.
    pub fonts: Arc<KnownFonts>,
    /// Whether it can be kept from beginning frames.
    pub withholds_frames: bool,
    process: Process,
}

impl Chromium {
    /// Starts Chromium and returns when it answers. An error has what it printed.
    ///
    /// Hazard: on a busy machine Chromium now and then crashes while it starts, and does not the next time. Commands that
    /// start one only would take it for broken, so a start that crashed is tried again before it counts as failed.
    pub async fn launch(
        starter: &Starter,
        config: &BrowserConfig,
        graphics: Graphics,
    ) -> Result<Self, LaunchError> {
        match Self::launch_once(starter, config, graphics).await {
            Err(error @ LaunchError::Silent { has_crashed: true, .. }) => {
                tracing::warn!(%error, "Chromium crashed while it started, and is started once more");
                Self::launch_once(starter, config, graphics).await
            }
            launched => launched,
        }
    }

    async fn launch_once(
        starter: &Starter,
        config: &BrowserConfig,
        graphics: Graphics,
    ) -> Result<Self, LaunchError> {
        let (process, ends) = Process::start(starter, config, graphics).await?;
        let connection = connect(ends)?;
        let limit = Duration::from_millis(config.launch_timeout_ms);
        match ask(&connection, limit).await {
            Ok((version, withholds_frames)) => {
                if graphics == Graphics::WebGl {
                    swiftshader::check(&connection, config.sandbox, limit).await?;
                }
                let id = process.id();
                tracing::info!(
                    browser.version = version,
                    browser.pid = id,
                    browser.withholds_frames = withholds_frames,
                    "Chromium runs"
                );
                Ok(Self { connection, fonts: Arc::default(), withholds_frames, process })
            }
            Err(error) => {
                connection.close();
                Err(process.explain(error).await)
            }
        }
    }

    /// The process id, which is also the id of its group.
    pub fn id(&self) -> i32 {
        self.process.id()
    }

    /// Kills it with all its processes; returns when they and its folder are gone.
    pub async fn end(self) {
        self.connection.close();
        self.process.end().await;
    }
}

fn connect(ends: PipeEnds) -> std::io::Result<Connection> {
    let reader = pipe::Receiver::from_owned_fd(ends.reader)?;
    let writer = pipe::Sender::from_owned_fd(ends.writer)?;
    Ok(Connection::open(BufReader::with_capacity(READ_BUFFER_BYTES, reader), writer))
}

/// Its version, and whether it can be kept from beginning frames. From then on it reports by which signal a renderer died.
async fn ask(connection: &Connection, limit: Duration) -> Result<(String, bool), CallError> {
    let version = connection.call(None, GetVersion(None), limit).await?.product;
    let pages = FilterEntry { exclude: None, Type: Some("page".to_owned()) };
    let discover = SetDiscoverTargets { discover: true, filter: Some(vec![pages]) };
    connection.call(None, discover, limit).await?;
    Ok((version, frames::can_be_withheld(connection, limit).await?))
}

/// Whether Chromium starts here: starts it with all its switches, asks for its version, and ends it.
///
/// # Errors
/// Why it does not start.
pub async fn probe(
    starter: &Starter,
    config: &BrowserConfig,
    graphics: Graphics,
) -> Result<String, LaunchError> {
    let chromium = Chromium::launch(starter, config, graphics).await?;
    let limit = Duration::from_millis(config.call_timeout_ms);
    let version = chromium.connection.call(None, GetVersion(None), limit).await;
    chromium.end().await;
    version.map(|version| version.product).map_err(|error| std::io::Error::other(error.to_string()).into())
}
