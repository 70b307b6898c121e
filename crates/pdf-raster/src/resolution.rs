//! How many pixels a picture has for an inch of its page.

/// Points in an inch.
const POINTS: f64 = 72.0;

/// Dots an inch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution(u16);

impl Resolution {
    /// So many dots an inch.
    pub fn of_dpi(dpi: u16) -> Self {
        Self(dpi)
    }

    /// As many as make the longer side of a page of so many points so long.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of what is out of range takes the nearest"
    )]
    pub fn of_side((width, height): (f32, f32), pixels: u16) -> Self {
        let inches = f64::from(width.max(height)) / POINTS;
        Self((f64::from(pixels) / inches).floor().clamp(1.0, f64::from(u16::MAX)) as u16)
    }

    pub(crate) fn dpi(self) -> u16 {
        self.0
    }

    pub(crate) fn pixels_per_point(self) -> f64 {
        f64::from(self.0) / POINTS
    }

    pub(crate) fn per_metre(self) -> u32 {
        // An inch has 0.0254 m.
        (u32::from(self.0) * 10_000 + 127) / 254
    }
}
