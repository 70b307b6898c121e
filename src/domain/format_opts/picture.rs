//! How an image is made of a page.

use json_members::Members;

use super::Key;

const QUALITY: u32 = 85;

/// What a page's image shows, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The whole page instead of one viewport.
    pub full_page: bool,
    /// Transparent where the page has no background (PNG).
    pub omit_background: bool,
    /// 1 to 100 (JPEG).
    pub quality: u32,
}

impl Default for Picture {
    /// One viewport, opaque.
    fn default() -> Self {
        Self { full_page: false, omit_background: false, quality: QUALITY }
    }
}

impl Picture {
    /// Reads `fullPage`, `omitBackground` and `quality`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let default = Self::default();
        Self {
            full_page: members.flag(Key::FullPage).unwrap_or(default.full_page),
            omit_background: members.flag(Key::OmitBackground).unwrap_or(default.omit_background),
            quality: members.whole(Key::Quality, 1..=100).unwrap_or(default.quality),
        }
    }
}
