//! What a tab shows a page in before the options say otherwise: as in the print of an A4 sheet.
//!
//! Hazard: what a script measures before the print (a chart the width of its box) must hold in the print. So a page with
//! script is shown as it will be printed; a page without script is laid out by the print itself.

use headless_chrome::protocol::cdp::Emulation;

use crate::domain::format_opts::{Media, Viewport};
use crate::domain::lane::Lane;

/// Medium and viewport of a plain tab.
pub(in crate::browser) struct Plain {
    /// The medium that is emulated; empty for Chromium's own, which is the screen until it prints.
    pub medium: &'static str,
    pub viewport: Viewport,
}

impl Plain {
    pub(in crate::browser) fn of(lane: Lane) -> Self {
        match lane {
            Lane::Static => Self { medium: "", viewport: Viewport::default() },
            Lane::Scripted => Self { medium: Media::Print.name(), viewport: Viewport::A4 },
        }
    }

    /// The call that emulates its medium.
    pub(in crate::browser) fn media(&self) -> Emulation::SetEmulatedMedia {
        Emulation::SetEmulatedMedia { media: Some(self.medium.to_owned()), features: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::chromium::flags::{VIEWPORT_HEIGHT, VIEWPORT_WIDTH};
    use crate::domain::format_opts::{CssPage, Layout, PageOptions};

    #[test]
    fn a_plain_page_needs_no_call() {
        let window = Plain::of(Lane::Static).viewport;
        assert_eq!((window.width_px, window.height_px), (VIEWPORT_WIDTH, VIEWPORT_HEIGHT));
        let options = PageOptions::default();
        let sheet = Layout::of(CssPage::default(), &options).viewport(&options);
        assert_eq!(Plain::of(Lane::Scripted).viewport, sheet);
    }
}
