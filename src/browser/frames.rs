//! Frames. Chromium begins none by itself in the tabs of pages without script, for nothing in them waits for one:
//! what is printed is never painted. That saves a quarter of what such a page costs, and half of the reset.
//!
//! Two frames that are begun at once end Chromium (tried: within twenty of them), so only one at a time is,
//! in the whole browser, and never one for which a script could be waited for.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::{HeadlessExperimental, Target};
use tokio::sync::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::cdp::{CallError, Connection};
use super::maker::{self, HARDLY_THERE};

/// Between two frames of a picture that is not there yet.
const PAUSE: Duration = Duration::from_millis(5);

/// The right to begin a frame in a browser; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(Arc<Mutex<()>>);

impl Frames {
    /// Whether frames can be begun in this browser: the headless shell can, Chromium with its windows cannot.
    ///
    /// # Errors
    /// The browser answers nothing.
    pub(super) async fn of(connection: &Connection, limit: Duration) -> Result<Option<Self>, CallError> {
        let frames = Self::default();
        let (target, session) =
            match maker::attach(connection, maker::blank_page(None, true, HARDLY_THERE), limit).await {
                Err(CallError::Refused { .. }) => return Ok(None),
                attached => attached?,
            };
        let begun = connection.call(Some(&session), frame(), limit).await;
        connection.call(None, Target::CloseTarget { target_id: target }, limit).await?;
        match begun {
            Err(CallError::Refused { .. }) => Ok(None),
            begun => begun.map(|_| Some(frames)),
        }
    }

    /// Begins a frame after another in a tab, until what is returned is dropped: only then a picture of it is
    /// there some time. Each is given up after `limit`.
    pub(super) fn begin(&self, connection: &Connection, session: &Arc<str>, limit: Duration) -> DropGuard {
        let ended = CancellationToken::new();
        let guard = ended.clone().drop_guard();
        let (turn, connection, session) = (Arc::clone(&self.0), connection.clone(), Arc::clone(session));
        tokio::spawn(async move {
            let Some(_turn) = ended.run_until_cancelled(turn.lock()).await else { return };
            // The last one is waited for too: it would be the second one of whoever is next.
            while !ended.is_cancelled() && connection.call(Some(&session), frame(), limit).await.is_ok() {
                ended.run_until_cancelled(tokio::time::sleep(PAUSE)).await;
            }
        });
        guard
    }
}

fn frame() -> HeadlessExperimental::BeginFrame {
    HeadlessExperimental::BeginFrame {
        frame_time_ticks: None,
        interval: None,
        no_display_updates: None,
        screenshot: None,
    }
}
