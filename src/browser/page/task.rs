//! What is to be rendered: the files of a page, its lane, its options, and what it becomes.

use bytes::Bytes;

use crate::domain::format_opts::{CssPage, Layout, PageOptions, Viewport};
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;
use crate::domain::site::Site;

/// Longest page that is written into a tab: each byte of it may take six in the message (`wire::CALL_LIMIT_BYTES`). Longer
/// ones are served.
const PUT_LIMIT_BYTES: usize = 12 << 20;

/// What is to be rendered.
#[derive(Clone, Debug)]
pub struct PageTask {
    /// The files; the entry is the page as assembled.
    pub site: Site,
    /// The data as JSON text, for the page's scripts.
    pub data: Bytes,
    /// Whether script may run.
    pub lane: Lane,
    /// How it comes into the tab.
    pub delivery: Delivery,
    /// The page with its files inlined, where that is written into the tab; everything else reads the page of `site`.
    pub inlined: Option<Bytes>,
    /// Its files may have rules of `@page` that its options do not agree with.
    pub has_page_rules: bool,
    /// What its style sheets say of every sheet.
    pub css_page: CssPage,
    /// It may have links that are not addresses of other hosts.
    pub may_have_links: bool,
    /// Paper, margins, readiness.
    pub options: PageOptions,
    /// How far it may go.
    pub reach: Reach,
    /// What it becomes.
    pub output: PageOutput,
    /// Largest file; larger ones may be given up before they are made.
    pub limit_bytes: u64,
}

/// How a page comes into its tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Served under a host name of its own.
    Served,
    /// Written into the tab, which saves a navigation: a page without script that refers to nothing, or has its files in
    /// it.
    Put,
    /// The same, and nothing of it outlives its elements: the next page may replace them without a reset.
    PutInPlace,
}

/// What a page becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOutput {
    /// All its pages, or a range of them.
    Pdf,
    /// A picture without loss: its first viewport, unless the options say otherwise.
    Png,
    /// The same as a JPEG.
    Jpg,
    /// Its document as it is now, with the files that it refers to inlined.
    Html,
}

impl PageOutput {
    /// Whether it shows the page as it is painted.
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Jpg)
    }
}

/// What is being done with a page; each step has a deadline of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStep {
    /// Until the load event.
    Load,
    /// Until fonts and selector are there and the page is idle.
    Readiness,
    /// Until the file is made.
    Print,
}

impl PageTask {
    /// Whether the page is written into the tab; otherwise it is served.
    pub(super) fn is_put(&self) -> bool {
        let length_bytes = self.inlined.as_ref().map_or(self.length_bytes(), Bytes::len);
        self.delivery != Delivery::Served && self.lane == Lane::Static && length_bytes <= PUT_LIMIT_BYTES
    }

    /// The window that it is shown in. Hazard: what a script measures before the print (a chart the width of its box) must hold
    /// in the print, so that window is as large as the content on the sheet. Without script the print lays the page out.
    pub(super) fn viewport(&self) -> Viewport {
        match (self.output, self.lane) {
            (PageOutput::Pdf, Lane::Scripted) => {
                Layout::of(self.css_page, &self.options).viewport(&self.options)
            }
            _ => self.options.emulation.viewport,
        }
    }

    /// Length of the page itself, without its files.
    pub(super) fn length_bytes(&self) -> usize {
        self.site.page().map_or(0, Bytes::len)
    }
}
