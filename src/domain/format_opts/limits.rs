//! What the configuration allows options to ask for.

use crate::config::BrowserConfig;

/// The part of the configuration that options are bound by.
#[derive(Clone, Copy, Debug)]
pub struct OptionLimits {
    /// `browser.viewport_side_limit_px`.
    pub viewport_side_px: u32,
    /// `browser.picture_limit_pixels`.
    pub picture_pixels: f64,
    /// `browser.wait_limit_ms`.
    pub wait_ms: u32,
}

impl OptionLimits {
    /// For options that were admitted before, and are not measured again.
    pub const ADMITTED: Self =
        Self { viewport_side_px: u32::MAX, picture_pixels: f64::INFINITY, wait_ms: u32::MAX };

    /// The limits of a configuration.
    pub fn of(config: &BrowserConfig) -> Self {
        let bounded = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        #[expect(clippy::cast_precision_loss, reason = "counts of pixels lie far below 2^52")]
        let picture_pixels = config.picture_limit_pixels as f64;
        Self {
            viewport_side_px: bounded(config.viewport_side_limit_px),
            picture_pixels,
            wait_ms: bounded(config.wait_limit_ms),
        }
    }
}
