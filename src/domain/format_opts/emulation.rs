//! The emulated environment of a page: medium, viewport, time zone, locale.

use json_members::Members;
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::{Key, MediaFeature, OptionLimits, media_features};
use crate::domain::locale::{locale_of, timezone_of};
use crate::domain::shown::shortened;

/// Device pixels in a CSS pixel.
const DEVICE_SCALE: std::ops::RangeInclusive<f64> = 0.1..=5.0;

/// The emulated environment of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmulationOptions {
    /// The medium of the page's style sheets.
    pub media: Media,
    /// The values of their media features.
    pub features: Vec<MediaFeature>,
    /// The window that the page is laid out in.
    pub viewport: Viewport,
    /// Whether the caller chose its width and its height; where not, a PDF's sheet decides.
    pub viewport_given: [bool; 2],
    /// The time zone of its scripts, an IANA name; `None`: UTC. Also that of template code, where `None` means
    /// `assemble.timezone`.
    pub timezone: Option<String>,
    /// The locale of its scripts, a BCP 47 tag; `None`: en-US. Also that of template code and of a workbook's
    /// pages, where `None` means `assemble.locale`.
    pub locale: Option<String>,
}

/// Which of its style sheets a page uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Media {
    /// Those for paper.
    #[default]
    Print,
    /// Those for the screen.
    Screen,
}

/// A window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// In CSS pixels.
    pub width_px: u32,
    /// In CSS pixels.
    pub height_px: u32,
    /// Device pixels in a CSS pixel.
    pub device_scale: f64,
}

impl Default for Viewport {
    /// A4 at 96 dpi, nearly.
    fn default() -> Self {
        Self { width_px: 794, height_px: 1_058, device_scale: 1.0 }
    }
}

impl Viewport {
    /// A sheet of A4 at 96 dpi, in whole pixels.
    pub const A4: Self = Self { width_px: 793, height_px: 1_122, device_scale: 1.0 };
}

impl Media {
    /// Its name in CSS.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl EmulationOptions {
    /// Reads `mediaType`, `mediaFeatures`, `viewport`, `timezone` and `locale`.
    pub(super) fn read(members: &mut Members<'_>, limits: &OptionLimits) -> Self {
        let (viewport, viewport_given) = read_viewport(members, limits);
        Self {
            media: members.word(Key::MediaType).unwrap_or_default(),
            features: media_features::read(members),
            viewport,
            viewport_given,
            timezone: read_timezone(members),
            locale: read_locale(members),
        }
    }
}

/// The viewport, and whether its width and its height are the caller's.
fn read_viewport(members: &mut Members<'_>, limits: &OptionLimits) -> (Viewport, [bool; 2]) {
    let side_px = 1..=limits.viewport_side_px;
    let read = |sent: &mut Members<'_>| {
        let mut side = |name| sent.limited(name, side_px.clone(), "browser.viewport_side_limit_px");
        (side("width"), side("height"), sent.number("deviceScaleFactor", DEVICE_SCALE))
    };
    let wanted = "an object of width, height, deviceScaleFactor";
    let sent = members.object(Key::Viewport, ("Viewport", wanted), read);
    let (width_px, height_px, device_scale) = sent.unwrap_or_default();
    let default = Viewport::default();
    let viewport = Viewport {
        width_px: width_px.unwrap_or(default.width_px),
        height_px: height_px.unwrap_or(default.height_px),
        device_scale: device_scale.unwrap_or(default.device_scale),
    };
    let pixels = viewport.device_scale.powi(2) * f64::from(viewport.width_px) * f64::from(viewport.height_px);
    if pixels > limits.picture_pixels {
        let limit = limits.picture_pixels;
        let detail =
            format!("makes pictures of {pixels} pixels, more than {limit} (browser.picture_limit_pixels)");
        members.fault(Key::Viewport, detail);
    }
    (viewport, [width_px, height_px].map(|side| side.is_some()))
}

fn read_timezone(members: &mut Members<'_>) -> Option<String> {
    let sent = members.text(Key::Timezone)?;
    let known = timezone_of(&sent);
    if known.is_none() {
        let shown = shortened(&sent);
        let detail =
            format!("'{shown}' is no time zone of the IANA database; write a name such as Europe/Berlin");
        members.fault(Key::Timezone, detail);
    }
    known
}

fn read_locale(members: &mut Members<'_>) -> Option<String> {
    let sent = members.text(Key::Locale)?;
    if let Some(tag) = locale_of(&sent) {
        return Some(tag);
    }
    let shown = shortened(&sent);
    let detail = format!("'{shown}' is no language tag (BCP 47); write one such as de, de-CH or zh-Hant-TW");
    members.fault(Key::Locale, detail);
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, unknown};
    use super::*;

    #[test]
    fn a_viewport_has_limits() {
        let viewport = options(r#"{"viewport":{"width":320.0,"deviceScaleFactor":2}}"#).emulation.viewport;
        assert_eq!(viewport, Viewport { width_px: 320, device_scale: 2.0, ..Viewport::default() });
        let limits = OptionLimits { viewport_side_px: 4_000, picture_pixels: 1e6, ..OptionLimits::ADMITTED };
        let text = r#"{"viewport":{"width":4001,"height":0,"deviceScaleFactor":9}}"#;
        let errors = super::super::read(serde_json::from_str(text).unwrap(), &limits).errors;
        let lines: Vec<_> = errors.iter().map(|it| format!("{} {}", it.pointer, it.detail)).collect();
        assert_eq!(
            lines,
            [
                "/formatOpts/viewport/width 4001 is out of range; give a number from 1 to 4000 (browser.viewport_side_limit_px)",
                "/formatOpts/viewport/height 0 is out of range; give a number from 1 to 4000 (browser.viewport_side_limit_px)",
                "/formatOpts/viewport/deviceScaleFactor 9 is out of range; give a number from 0.1 to 5",
            ]
        );
        let text = r#"{"viewport":{"width":2000,"height":1000}}"#;
        let errors = super::super::read(serde_json::from_str(text).unwrap(), &limits).errors;
        assert_eq!(errors[0].pointer, "/formatOpts/viewport");
        assert!(
            errors[0].detail.contains("2000000 pixels, more than 1000000 (browser.picture_limit_pixels)")
        );
        assert_error(r#"{"viewport":[800,600]}"#, "/formatOpts/viewport", "must be an object of width");
        assert_error(r#"{"viewport":{"width":"wide"}}"#, "/formatOpts/viewport/width", "must be an integer");
        assert_eq!(unknown(r#"{"viewport":{"isMobile":true}}"#), ["viewport.isMobile"]);
    }

    #[test]
    fn a_medium_is_print_or_screen() {
        assert_eq!(options(r#"{"mediaType":"screen"}"#).emulation.media, Media::Screen);
        assert_eq!(options(r#"{"mediaType":"print"}"#).emulation, EmulationOptions::default());
        assert_error(
            r#"{"mediaType":"tv"}"#,
            "/formatOpts/mediaType",
            "'tv' is not known; give one of print",
        );
    }

    #[test]
    fn time_zones_are_those_of_the_database() {
        for (sent, known) in
            [("Europe/Berlin", "Europe/Berlin"), ("utc", "UTC"), ("asia/calcutta", "Asia/Calcutta")]
        {
            let timezone = options(&format!(r#"{{"timezone":"{sent}"}}"#)).emulation.timezone;
            assert_eq!(timezone.as_deref(), Some(known));
        }
        for sent in ["Europe/Atlantis", "../etc/passwd", "GMT+25:00", "2026e"] {
            assert_error(&format!(r#"{{"timezone":"{sent}"}}"#), "/formatOpts/timezone", "no time zone of");
        }
    }

    #[test]
    fn a_locale_is_a_language_tag() {
        assert_eq!(options(r#"{"locale":"pt_BR"}"#).emulation.locale.as_deref(), Some("pt-BR"));
        assert_error(r#"{"locale":"german!"}"#, "/formatOpts/locale", "'german!' is no language tag");
        assert_error(r#"{"locale":7}"#, "/formatOpts/locale", "must be a string");
    }
}
