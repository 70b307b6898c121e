//! Emulation: medium, viewport, time zone, locale. Set before the page loads, and only where it differs from a plain tab.

use std::time::Duration;

use headless_chrome::protocol::cdp::{DOM, Emulation};

use super::error::StepError;
use super::task::{PageOutput, PageTask};
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::tab::tab::Tab;
use crate::domain::fault::FaultCode;
use crate::domain::format_opts::{Media, PageOptions, Scene, Viewport};
use crate::domain::lane::Lane;

/// Sends what the options of `task` ask for; a plain document's ask for nothing.
pub(super) fn send(
    tab: &Tab,
    task: &PageTask,
    limit: Duration,
    calls: &mut PendingCalls,
) -> Result<(), CallError> {
    let scene = &task.options.scene;
    if !task.options.javascript && tab.lane == Lane::Scripted {
        calls.push(tab.send(&Emulation::SetScriptExecutionDisabled { value: true })?, limit);
    }
    let medium = medium(scene.media, task.output);
    if medium.is_some() || !scene.features.is_empty() {
        calls.push(tab.send(&emulated(medium.unwrap_or_default(), scene))?, limit);
    }
    let is_seen = task.output.is_picture();
    let is_plain = scene.viewport == Viewport::default();
    // The window of a page with script is smaller than its viewport until it is to be seen.
    if is_seen || !is_plain {
        let sizes_window = is_seen || tab.lane == Lane::Static;
        calls.push(tab.send(&commands::device_metrics(scene.viewport, sizes_window))?, limit);
    }
    if let Some(zone) = &scene.timezone {
        calls.push(tab.send(&Emulation::SetTimezoneOverride { timezone_id: zone.clone() })?, limit);
    }
    if let Some(locale) = &scene.locale {
        calls.push(tab.send(&Emulation::SetLocaleOverride { locale: Some(locale.clone()) })?, limit);
        calls.push(tab.send(&language(locale))?, limit);
    }
    if task.output == PageOutput::Png && task.options.picture.omit_background {
        calls.push(tab.send(&no_background())?, limit);
    }
    Ok(())
}

/// Whether a reset makes a plain tab of one that such a page was shown in: zone and locale are the whole renderer's, and
/// features stay until each is set anew.
pub(in crate::browser) fn can_be_undone(options: &PageOptions) -> bool {
    let scene = &options.scene;
    scene.timezone.is_none() && scene.locale.is_none() && scene.features.is_empty()
}

/// Whether such a page, which becomes no picture, needs another medium or viewport than a plain tab has.
pub(in crate::browser) fn differs(options: &PageOptions, output: PageOutput) -> bool {
    let scene = &options.scene;
    medium(scene.media, output).is_some()
        || !scene.features.is_empty()
        || scene.viewport != Viewport::default()
}

/// The page as it is on paper, to be measured.
pub(in crate::browser) fn on_paper(scene: &Scene) -> Emulation::SetEmulatedMedia {
    let medium = match scene.media {
        Media::Print => "print",
        Media::Screen => "screen",
    };
    emulated(medium, scene)
}

/// The medium, and what else style sheets ask for.
fn emulated(medium: &str, scene: &Scene) -> Emulation::SetEmulatedMedia {
    let features = scene
        .features
        .iter()
        .map(|&(name, value)| Emulation::MediaFeature { name: name.to_owned(), value: value.to_owned() });
    let features = (!scene.features.is_empty()).then(|| features.collect());
    Emulation::SetEmulatedMedia { media: Some(medium.to_owned()), features }
}

/// A printer asks for print by itself, a picture does not.
fn medium(wanted: Media, output: PageOutput) -> Option<&'static str> {
    match (wanted, output) {
        (Media::Print, PageOutput::Pdf)
        | (Media::Screen, PageOutput::Png | PageOutput::Jpg)
        // A document is of no medium: its style sheets have the words for each.
        | (_, PageOutput::Html) => None,
        (Media::Print, PageOutput::Png | PageOutput::Jpg) => Some("print"),
        (Media::Screen, PageOutput::Pdf) => Some("screen"),
    }
}

/// `navigator.language`; an empty user agent leaves the browser's own (tried).
fn language(locale: &str) -> Emulation::SetUserAgentOverride {
    Emulation::SetUserAgentOverride {
        user_agent: String::new(),
        accept_language: Some(locale.to_owned()),
        platform: None,
        user_agent_metadata: None,
    }
}

fn no_background() -> Emulation::SetDefaultBackgroundColorOverride {
    let color = DOM::RGBA { r: 0, g: 0, b: 0, a: Some(0.0) };
    Emulation::SetDefaultBackgroundColorOverride { color: Some(color) }
}

/// What is well-formed may still be unknown to the browser: then the options are wrong, not the page.
pub(super) fn explain(error: CallError) -> StepError {
    match error {
        CallError::Refused { method, message } if method.starts_with("Emulation.") => StepError::fault(
            FaultCode::OptionsInvalid,
            format!("the browser takes no such locale, timezone or viewport (formatOpts): {message}"),
        ),
        CallError::Refused { .. }
        | CallError::Closed { .. }
        | CallError::PageGone { .. }
        | CallError::Timeout { .. }
        | CallError::TooLong { .. }
        | CallError::Unreadable { .. } => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::chromium::flags::{VIEWPORT_HEIGHT, VIEWPORT_WIDTH};

    /// The window that tabs without script are made with is the one that needs no call.
    #[test]
    fn the_plain_viewport_is_that_of_a_tab() {
        let plain = Viewport::default();
        assert_eq!((plain.width_px, plain.height_px), (VIEWPORT_WIDTH, VIEWPORT_HEIGHT));
    }

    #[test]
    fn a_medium_is_set_only_where_chromium_would_take_another() {
        assert_eq!(medium(Media::Print, PageOutput::Pdf), None);
        assert_eq!(medium(Media::Screen, PageOutput::Pdf), Some("screen"));
        assert_eq!(medium(Media::Print, PageOutput::Png), Some("print"));
        assert_eq!(medium(Media::Screen, PageOutput::Jpg), None);
    }
}
