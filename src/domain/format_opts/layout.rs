//! How a page lies on its sheet, by the options and by its own `@page`.

use super::{PageOptions, Viewport};
use crate::domain::paper::{CssSize, Margin, Paper};

/// CSS pixels in an inch.
const PIXELS_PER_INCH: f64 = 96.0;

/// What a rule of `@page` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CssPage {
    /// Its size.
    pub size: CssSize,
    /// Its margins in inches, in the order of CSS; `None` where it says nothing.
    pub margin: [Option<f64>; 4],
}

impl Default for CssPage {
    /// A rule that says nothing.
    fn default() -> Self {
        Self { size: CssSize::Auto, margin: [None; 4] }
    }
}

/// How a page lies on its sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// What comes out of the printer.
    pub sheet: Paper,
    /// What the page is laid out on.
    pub page: Paper,
    /// The white on `page`.
    pub margin: Margin,
    /// The sides whose margin is the page's own.
    pub own_margin: [bool; 4],
}

impl Layout {
    /// The layout of the pages that `rule` is for.
    pub fn of(rule: CssPage, options: &PageOptions) -> Self {
        let sheet = options.sheet();
        let page = rule.size.laid_out(sheet);
        let mut margin = options.margin.sides_in();
        for (side, own) in margin.iter_mut().zip(rule.margin) {
            *side = own.unwrap_or(*side);
        }
        let sheet = if options.prefer_css_page_size { page } else { sheet.oriented_as(page) };
        let own_margin = rule.margin.map(|own| own.is_some());
        Self { sheet, page, margin: Margin::of_sides(margin), own_margin }
    }

    /// The white around the content on the sheet, top, right, bottom, left.
    pub fn white_in(&self) -> [f64; 4] {
        let shrink = self.shrink();
        let beside = |sheet: f64, page: f64| ((sheet - page * shrink) / 2.0).max(0.0);
        let across = beside(self.sheet.width_in, self.page.width_in);
        let above = beside(self.sheet.height_in, self.page.height_in);
        let Margin { top_in, right_in, bottom_in, left_in } = self.margin;
        [
            above + top_in * shrink,
            across + right_in * shrink,
            above + bottom_in * shrink,
            across + left_in * shrink,
        ]
    }

    /// What the content is laid out in, across and down.
    pub fn content_size_in(&self) -> [f64; 2] {
        let Margin { top_in, right_in, bottom_in, left_in } = self.margin;
        let width_in = self.page.width_in - left_in - right_in;
        let height_in = self.page.height_in - top_in - bottom_in;
        // Chromium ignores margins that leave nothing (tried).
        let is_left = width_in > 0.0 && height_in > 0.0;
        if is_left { [width_in, height_in] } else { [self.page.width_in, self.page.height_in] }
    }

    /// The same across, in CSS pixels of the page.
    pub fn width_px(&self, options: &PageOptions) -> f64 {
        self.content_size_in()[0] * PIXELS_PER_INCH / options.scale
    }

    /// The window that a page is laid out in before it is printed: as large as its content on the sheet, but for what the
    /// caller said of it.
    pub fn viewport(&self, options: &PageOptions) -> Viewport {
        let said = options.emulation.viewport;
        let [width_px, height_px] = self.content_size_in().map(|side| side * PIXELS_PER_INCH / options.scale);
        let [is_wide_as_said, is_high_as_said] = options.emulation.viewport_given;
        let keeps_height = is_high_as_said || is_wide_as_said || options.auto_height;
        Viewport {
            width_px: if is_wide_as_said { said.width_px } else { whole_pixels(width_px) },
            height_px: if keeps_height { said.height_px } else { whole_pixels(height_px) },
            ..said
        }
    }

    /// The area of the content in square inches.
    pub fn content_area_in2(&self) -> f64 {
        let [width_in, height_in] = self.content_size_in();
        width_in * height_in
    }

    /// How much smaller a page is drawn than it is laid out, by rules for its sheet.
    pub fn shrink(&self) -> f64 {
        let across = self.sheet.width_in / self.page.width_in;
        across.min(self.sheet.height_in / self.page.height_in).min(1.0)
    }
}

/// A length in whole pixels, one at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sheet has some thousand pixels; what is not within a number's range is cut to it"
)]
pub fn whole_pixels(length: f64) -> u32 {
    length.max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::super::testing::options;
    use super::*;

    #[test]
    fn a_page_is_laid_out_as_large_as_its_content_on_the_sheet() {
        let viewport = |rule: CssPage, text: &str| {
            let options = options(text);
            let Viewport { width_px, height_px, .. } = Layout::of(rule, &options).viewport(&options);
            [width_px, height_px]
        };
        let plain = |text: &str| viewport(CssPage::default(), text);
        assert_eq!(plain("{}"), [793, 1122]);
        assert_eq!(plain(r#"{"margin":"20mm"}"#), [642, 971]);
        assert_eq!(plain(r#"{"landscape":true,"scale":0.5}"#), [2245, 1587]);
        assert_eq!(plain(r#"{"format":"a5","viewport":{"height":300}}"#), [559, 300]);
        assert_eq!(plain(r#"{"format":"a5","viewport":{"width":300}}"#), [300, 1058]);
        assert_eq!(plain(r#"{"width":"80mm","height":"auto"}"#), [302, 1058]);
        let own = CssPage { size: CssSize::of("A5 landscape"), margin: [None, Some(1.0), None, None] };
        assert_eq!(viewport(own, r#"{"margin":"1in"}"#), [601, 367]);
    }
}
