//! Animation frames. Chromium begins none in tabs of the static lane, for nothing in them waits for one: what is printed is
//! never painted. That saves a quarter of what such a page costs, and half of the reset.
//!
//! Hazard: two frames that we begin at once crash Chromium (tried: within twenty of them). So we begin none for pages, and
//! pictures are made in tabs of which Chromium begins the frames.

use std::time::Duration;

use headless_chrome::protocol::cdp::{HeadlessExperimental, Target};

use super::flags::TINY_WINDOW;
use crate::browser::cdp::commands;
use crate::browser::cdp::connection::Connection;
use crate::browser::cdp::error::CallError;

/// Whether this browser can be kept from beginning frames: the headless shell can, Chromium with its windows
/// cannot.
///
/// # Errors
/// The browser answers nothing.
pub(super) async fn can_be_withheld(connection: &Connection, limit: Duration) -> Result<bool, CallError> {
    let page = commands::blank_page(None, true, TINY_WINDOW);
    let (target, session) = match commands::attach(connection, page, limit).await {
        Err(CallError::Refused { .. }) => return Ok(false),
        attached => attached?,
    };
    let begun = connection.call(Some(&session), frame(), limit).await;
    connection.call(None, Target::CloseTarget { target_id: target }, limit).await?;
    match begun {
        Err(CallError::Refused { .. }) => Ok(false),
        begun => begun.map(|_| true),
    }
}

fn frame() -> HeadlessExperimental::BeginFrame {
    HeadlessExperimental::BeginFrame {
        frame_time_ticks: None,
        interval: None,
        no_display_updates: Some(true),
        screenshot: None,
    }
}
