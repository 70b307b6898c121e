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
    if let Some(name) = name(event, main) {
        monitor.state.send_if_modified(|state| {
            state.world = Some(name);
            false
        });
    }
}

fn name(event: Event<'_>, main: &str) -> Option<String> {
    let Created { context } = event.parse()?;
    (context.name == commands::WORLD && context.aux_data.frame_id == main).then_some(context.unique_id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn only_our_own_context_of_the_main_frame_is_kept() {
        let named = |name: &str, frame: &str| {
            let aux = json!({"isDefault": false, "type": "isolated", "frameId": frame});
            let context = json!({"id": 3, "origin": "://", "name": name, "uniqueId": "-7.9", "auxData": aux});
            let params = to_raw_value(&json!({ "context": context })).unwrap();
            super::name(Event::of("Runtime.executionContextCreated", &params), "MAIN")
        };
        assert_eq!(named("platen", "MAIN").as_deref(), Some("-7.9"));
        assert_eq!(
            (named("platen", "OTHER"), named("\"platen\"", "MAIN"), named("", "MAIN")),
            (None, None, None)
        );
    }
}
