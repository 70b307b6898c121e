//! Whether Chromium starts here, tried as the service does it.

use std::time::Duration;

use headless_chrome::protocol::cdp::Browser::GetVersion;

use super::instance::Chromium;
use super::process::LaunchError;
use crate::config::BrowserConfig;
use crate::workers::Starter;

/// Starts Chromium with all its switches, asks for its version, and ends it.
///
/// # Errors
/// Why it does not start.
pub async fn probe(starter: &Starter, config: &BrowserConfig) -> Result<String, LaunchError> {
    let chromium = Chromium::launch(starter, config).await?;
    let limit = Duration::from_millis(config.call_timeout_ms);
    let version = chromium.connection.call(None, GetVersion(None), limit).await;
    chromium.end().await;
    version.map(|version| version.product).map_err(|error| std::io::Error::other(error.to_string()).into())
}
