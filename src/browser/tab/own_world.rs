//! The script context of our own questions to a page (`commands::isolated_world`), by its unique name.
//!
//! Hazard: its number means another context in another renderer process, and Chromium holds calls back while a page navigates.
//! So a question by number could be run by the page that comes next. The unique name is never given again: where the context is
//! gone, Chromium refuses the question.

use std::borrow::Cow;

use serde::Deserialize;

use super::monitor::PageMonitor;
use crate::browser::cdp::commands;
use crate::browser::cdp::event::Event;

#[derive(Deserialize)]
struct Created<'a> {
    #[serde(borrow)]
    context: Context<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    unique_id: String,
    #[serde(borrow)]
    aux_data: AuxData<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuxData<'a> {
    frame_id: &'a str,
}

/// Keeps the name where `event` says that our context was created in the main frame.
pub(super) fn note(monitor: &PageMonitor, event: Event<'_>, main: &str) {
    let Some(Created { context }) = event.parse() else { return };
    if context.name == commands::WORLD && context.aux_data.frame_id == main {
        monitor.state.send_if_modified(|state| {
            state.world = Some(context.unique_id);
            false
        });
    }
}
