//! Emulation: medium, viewport, time zone, locale. Set before the page loads, and only where it differs from a plain tab.

use std::time::Duration;

use headless_chrome::protocol::cdp::{DOM, Emulation};

use super::error::StepError;
use super::task::{PageOutput, PageTask};
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::tab::tab::Tab;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::{EmulationOptions, Media, PageOptions, Viewport};
use crate::domain::lane::Lane;

/// Sends the calls that the options of `task` need; a plain document needs none.
pub(super) fn send(
    tab: &Tab,
    task: &PageTask,
    limit: Duration,
    calls: &mut PendingCalls,
) -> Result<(), CallError> {
    let emulation = &task.options.emulation;
    if !task.options.javascript && tab.lane == Lane::Scripted {
        calls.push(tab.send(&Emulation::SetScriptExecutionDisabled { value: true })?, limit);
    }
    let medium = medium(emulation.media, task.output);
    if medium.is_some() || !emulation.features.is_empty() {
        calls.push(tab.send(&emulated(medium.unwrap_or_default(), emulation))?, limit);
    }
    let is_seen = task.output.is_picture();
    let is_plain = emulation.viewport == Viewport::default();
    // The window of a scripted tab is tiny, whatever the viewport; only for a picture it is made as large.
    if is_seen || !is_plain {
        let sizes_window = is_seen || tab.lane == Lane::Static;
        calls.push(tab.send(&commands::device_metrics(emulation.viewport, sizes_window))?, limit);
    }
    if let Some(zone) = &emulation.timezone {
        calls.push(tab.send(&Emulation::SetTimezoneOverride { timezone_id: zone.clone() })?, limit);
    }
    if let Some(locale) = &emulation.locale {
        calls.push(tab.send(&Emulation::SetLocaleOverride { locale: Some(locale.clone()) })?, limit);
        calls.push(tab.send(&language(locale))?, limit);
    }
    if task.output == PageOutput::Png && task.options.picture.omit_background {
        calls.push(tab.send(&no_background())?, limit);
    }
    Ok(())
}

/// Whether a reset can restore a plain tab after a page with these options. Not after a time zone or locale, which hold for
/// the whole renderer, nor after media features, which stay until each is set again.
pub(in crate::browser) fn can_be_undone(options: &PageOptions) -> bool {
    let emulation = &options.emulation;
    emulation.timezone.is_none() && emulation.locale.is_none() && emulation.features.is_empty()
}

/// Whether a page that is printed needs another medium or viewport than a plain tab has.
pub(in crate::browser) fn differs(options: &PageOptions, output: PageOutput) -> bool {
    let emulation = &options.emulation;
    medium(emulation.media, output).is_some()
        || !emulation.features.is_empty()
        || emulation.viewport != Viewport::default()
}

/// The medium, and the media features of the options.
pub(in crate::browser) fn emulated(
    medium: &str,
    emulation: &EmulationOptions,
) -> Emulation::SetEmulatedMedia {
    let features = emulation
        .features
        .iter()
        .map(|&(name, value)| Emulation::MediaFeature { name: name.to_owned(), value: value.to_owned() });
    let features = (!emulation.features.is_empty()).then(|| features.collect());
    Emulation::SetEmulatedMedia { media: Some(medium.to_owned()), features }
}

/// The medium to set; `None` where Chromium uses it by itself: print for a PDF, screen for a picture.
fn medium(wanted: Media, output: PageOutput) -> Option<&'static str> {
    match (wanted, output) {
        (Media::Print, PageOutput::Pdf)
        | (Media::Screen, PageOutput::Png | PageOutput::Jpg)
        // A document keeps the style sheets of every medium.
        | (_, PageOutput::Html) => None,
        (Media::Print, PageOutput::Png | PageOutput::Jpg) | (Media::Screen, PageOutput::Pdf) => {
            Some(wanted.name())
        }
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

/// A well-formed locale or time zone may be unknown to Chromium: then the options are wrong, not the page.
pub(super) fn explain(error: CallError) -> StepError {
    if let CallError::Refused { method, message } = &error
        && method.starts_with("Emulation.")
    {
        return StepError::job(
            ErrorCode::OptionsInvalid,
            format!("the browser takes no such locale, timezone or viewport (formatOpts): {message}"),
        );
    }
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::chromium::flags::{VIEWPORT_HEIGHT, VIEWPORT_WIDTH};

    /// The window of a static tab has the default viewport, so that `send` needs no call for it.
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
