//! `formatOpts`: what a caller says about the page, read leniently and checked strictly.

/// What the browser is told about the page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageOptions {
    /// Width and height of the sheet in inches, before `landscape` turns it.
    pub paper: Paper,
    /// The sheet is turned.
    pub landscape: bool,
    /// White around the content.
    pub margin: Margin,
    /// Size of the content, 0.1 to 2.
    pub scale: f64,
    /// Backgrounds are printed.
    pub print_background: bool,
    /// First page to keep, from 1.
    pub from_page: Option<u32>,
    /// Last page to keep, included.
    pub to_page: Option<u32>,
    /// The page is ready when this CSS selector matches.
    pub wait_for_selector: Option<String>,
}

/// A sheet of paper, in inches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Width in inches.
    pub width_in: f64,
    /// Height in inches.
    pub height_in: f64,
}

/// The four margins, in inches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margin {
    /// In inches.
    pub top_in: f64,
    /// In inches.
    pub right_in: f64,
    /// In inches.
    pub bottom_in: f64,
    /// In inches.
    pub left_in: f64,
}

impl Paper {
    /// ISO 216 A4.
    pub const A4: Self = Self { width_in: 210.0 / 25.4, height_in: 297.0 / 25.4 };
}

impl Default for PageOptions {
    /// A4, portrait, no margins, backgrounds printed.
    fn default() -> Self {
        Self {
            paper: Paper::A4,
            landscape: false,
            margin: Margin::default(),
            scale: 1.0,
            print_background: true,
            from_page: None,
            to_page: None,
            wait_for_selector: None,
        }
    }
}
