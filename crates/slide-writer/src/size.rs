//! How large slides are, and where pictures stand on them.

/// To the point.
const UNITS: f64 = 12_700.0;
/// The shortest and the longest side of a slide: an inch, and 56.
const SIDES: (f64, f64) = (914_400.0, 51_206_400.0);

/// Width and height in points.
pub type Points = (f32, f32);

/// Width and height in the units of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub width: u32,
    pub height: u32,
}

/// A picture on a slide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub left: u32,
    pub top: u32,
    pub size: Size,
}

impl Size {
    /// Of slides for pages of this size: where a side would be too long or too short both are scaled, as far as that helps.
    pub(crate) fn of_slides(points: Points) -> Self {
        let (width, height) = units(points);
        let (shortest, longest) = SIDES;
        let grown = (shortest / width.min(height)).max(1.0);
        let scale = grown.min(longest / width.max(height));
        let side = |length: f64| whole((length * scale).clamp(shortest, longest));
        Self { width: side(width), height: side(height) }
    }

    /// Where a picture of this size stands, as large as there is room.
    pub(crate) fn frame(self, picture: Points) -> Frame {
        self.fitted(units(picture))
    }

    /// The same for what is measured in the units of the format.
    pub(crate) fn frame_of(self, Self { width, height }: Self) -> Frame {
        self.fitted((f64::from(width), f64::from(height)))
    }

    fn fitted(self, (width, height): (f64, f64)) -> Frame {
        let (room_width, room_height) = (f64::from(self.width), f64::from(self.height));
        let scale = (room_width / width).min(room_height / height);
        let size = Self { width: whole(width * scale).max(1), height: whole(height * scale).max(1) };
        let margin = |room: u32, length: u32| room.saturating_sub(length) / 2;
        Frame { left: margin(self.width, size.width), top: margin(self.height, size.height), size }
    }
}

fn units((width, height): Points) -> (f64, f64) {
    let side = |points: f32| (f64::from(points) * UNITS).max(1.0);
    (side(width), side(height))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of what is out of range takes the nearest"
)]
fn whole(length: f64) -> u32 {
    length.round() as u32
}

#[cfg(test)]
mod tests {
    use super::{Frame, Size};

    fn size(width: u32, height: u32) -> Size {
        Size { width, height }
    }

    #[test]
    fn slides_are_as_large_as_pages_as_far_as_they_can_be() {
        assert_eq!(Size::of_slides((362.835, 272.126)), size(4_608_004, 3_456_000), "128 × 96 mm");
        assert_eq!(Size::of_slides((36.0, 72.0)), size(914_400, 1_828_800), "half an inch is too little");
        assert_eq!(
            Size::of_slides((8_064.0, 4_032.0)),
            size(51_206_400, 25_603_200),
            "112 inches are too much"
        );
        assert_eq!(Size::of_slides((10.0, 8_064.0)), size(914_400, 51_206_400), "a ribbon");
        assert_eq!(Size::of_slides((0.0, 0.0)), size(914_400, 914_400));
    }

    #[test]
    fn a_page_of_another_size_stands_in_the_middle() {
        let slide = Size::of_slides((720.0, 540.0));
        assert_eq!(slide.frame((720.0, 540.0)), Frame { left: 0, top: 0, size: slide });
        let tall = slide.frame((270.0, 540.0));
        assert_eq!(tall, Frame { left: 2_857_500, top: 0, size: size(3_429_000, 6_858_000) });
        let small = slide.frame((72.0, 27.0));
        assert_eq!(small, Frame { left: 0, top: 1_714_500, size: size(9_144_000, 3_429_000) });
    }
}
