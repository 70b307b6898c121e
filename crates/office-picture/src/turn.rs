//! How pictures are turned.

/// How a picture has to be turned to be seen upright: mirrored first, then turned clockwise.
///
/// Cameras store the picture as the sensor saw it and note the turn in the Exif data; Office ignores the note. The pixels are left as they
/// are and the drawing is turned: nothing is decoded, nothing is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turn {
    /// Mirrored, left for right.
    pub mirrored: bool,
    /// Quarter turns clockwise, 0 to 3.
    pub quarters: u8,
}

impl Turn {
    pub(crate) fn from_exif(orientation: u32) -> Self {
        let (mirrored, quarters) = match orientation {
            2 => (true, 0),
            3 => (false, 2),
            4 => (true, 2),
            5 => (true, 3),
            6 => (false, 1),
            7 => (true, 1),
            8 => (false, 3),
            _ => (false, 0),
        };
        Self { mirrored, quarters }
    }

    /// Whether width and height change places.
    pub fn is_sideways(self) -> bool {
        self.quarters % 2 == 1
    }
}
