//! Lengths of Office's drawings.

/// English Metric Units in an inch: the unit of Office's drawings.
pub const EMU_PER_INCH: f64 = 914_400.0;

/// A width and a height in EMU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Across.
    pub width: f64,
    /// Down.
    pub height: f64,
}

impl Extent {
    /// A width and a height in EMU.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height }
    }

    pub(crate) fn swapped(self) -> Self {
        Self::new(self.height, self.width)
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self::new(self.width * factor, self.height * factor)
    }

    /// The factor with which this fits exactly into a box.
    pub(crate) fn factor_into(self, width: f64, height: f64) -> f64 {
        (width / self.width).min(height / self.height)
    }
}
