//! Emulation: medium, viewport, time zone, locale. Set before the page loads, and only where it differs from a plain tab.

use std::time::Duration;

use headless_chrome::protocol::cdp::{DOM, Emulation};

use super::error::StepError;
use super::task::{PageOutput, PageTask};
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::cdp::pending::PendingCalls;
use crate::browser::tab::plain::Plain;
use crate::browser::tab::tab::Tab;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::{EmulationOptions, Media, PageOptions};
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
    let (plain, medium) = (Plain::of(tab.lane), medium(emulation.media, task.output, tab.lane));
    if medium != plain.medium || !emulation.features.is_empty() {
        calls.push(tab.send(&emulated(medium, emulation))?, limit);
    }
    let is_seen = task.output.is_picture();
    let is_plain = task.viewport() == plain.viewport;
    // The window of a scripted tab is tiny, whatever the viewport; only for a picture it is made as large.
    if is_seen || !is_plain {
        let sizes_window = is_seen || tab.lane == Lane::Static;
        calls.push(tab.send(&commands::device_metrics(task.viewport(), sizes_window))?, limit);
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

/// Whether the page of `task` needs another medium or viewport than a plain tab of `lane` has.
pub(super) fn differs(task: &PageTask, lane: Lane) -> bool {
    let (plain, emulation) = (Plain::of(lane), &task.options.emulation);
    medium(emulation.media, task.output, lane) != plain.medium
        || !emulation.features.is_empty()
        || task.viewport() != plain.viewport
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

/// The medium to emulate in a tab of `lane`; empty for Chromium's own: print in a print, else the screen.
fn medium(wanted: Media, output: PageOutput, lane: Lane) -> &'static str {
    match (wanted, output) {
        // A document keeps the style sheets of every medium.
        (_, PageOutput::Html) | (Media::Screen, PageOutput::Png | PageOutput::Jpg) => "",
        (Media::Print, PageOutput::Pdf) => Plain::of(lane).medium,
        (Media::Print, PageOutput::Png | PageOutput::Jpg) | (Media::Screen, PageOutput::Pdf) => wanted.name(),
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

    #[test]
    fn a_medium_is_set_only_where_a_tab_has_another() {
        let medium_in = |lane, wanted, output| medium(wanted, output, lane);
        for (wanted, output, in_static, in_scripted) in [
            (Media::Print, PageOutput::Pdf, "", "print"),
            (Media::Screen, PageOutput::Pdf, "screen", "screen"),
            (Media::Print, PageOutput::Png, "print", "print"),
            (Media::Screen, PageOutput::Jpg, "", ""),
            (Media::Print, PageOutput::Html, "", ""),
        ] {
            assert_eq!(medium_in(Lane::Static, wanted, output), in_static);
            assert_eq!(medium_in(Lane::Scripted, wanted, output), in_scripted);
        }
    }
}
