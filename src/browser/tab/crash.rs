//! Why a renderer has died, as Chromium reports it a moment after the crash.

use serde::Deserialize;

use crate::browser::cdp::event::Event;

/// `SIGHUP`, `SIGINT`, `SIGKILL`, `SIGTERM`: no renderer raises these itself. A full heap ends it by 5, a fault by 11
/// (tried).
const SIGNALS_FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Crashed<'a> {
    target_id: &'a str,
    error_code: i32,
}

/// Whether the renderer of the page whose main frame is `main` died of a signal from outside; `None` where `event` is about
/// another one. Only such a signal shows that the page was not the reason; our own kills are known (`Kills`).
pub(super) fn is_from_outside(event: Event<'_>, main: &str) -> Option<bool> {
    let crashed = event.parse::<Crashed<'_>>().filter(|it| it.target_id == main)?;
    Some(SIGNALS_FROM_OUTSIDE.contains(&crashed.error_code))
}
