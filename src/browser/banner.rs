//! Header and footer of a PDF's sheets, as Chromium takes them.
//!
//! Chromium shows them in a document of their own, made for the print: no script runs in it, and there is
//! nothing that could fetch (both tried, `tests/browser/banners.rs`). A style sheet or font that is not
//! written into it takes the renderer down instead.

use super::fault::PageFault;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::format_opts::{Extras, PageOptions};

/// Without a template Chromium shows its own: date, title, address.
const NOTHING: &str = "<span></span>";

/// Both templates for the printer; `None` when there is neither.
pub(super) fn templates(options: &PageOptions) -> Option<(String, String)> {
    let Extras { header, footer, .. } = &options.extras;
    let template = |html: &Option<String>| {
        html.as_deref().map_or_else(|| NOTHING.to_owned(), |html| dressed(html, options.print_background))
    };
    options.extras.has_banners().then(|| (template(header), template(footer)))
}

/// Says what most likely happened to a page whose renderer died, or gave up, while it was printed with
/// header or footer.
pub(super) fn explain(mut failed: PageFault, options: &PageOptions) -> PageFault {
    let died = matches!(failed.fault.code, FaultCode::PageCrashed | FaultCode::PageFailed);
    if died && options.extras.has_banners() {
        let sentence = "the page could not be printed with headerTemplate or footerTemplate: they reach no \
                        file, and a <link>, @import, @font-face or url(…#…) that names one ends the print; write \
                        styles into them, and pictures and fonts as data: addresses";
        failed.fault = JobFault::new(FaultCode::OptionsInvalid, sentence);
    }
    failed
}

/// Chromium gives them no size and no family, and makes a row of what stands in them side by side, which
/// takes the blanks out of a line of text: in a block of their own they are laid out as anywhere else.
fn dressed(html: &str, print_background: bool) -> String {
    let adjust = if print_background { "exact" } else { "economy" };
    format!("<div style=\"width:100%;font:8pt sans-serif;print-color-adjust:{adjust}\">{html}</div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_not_given_is_empty() {
        let mut options = PageOptions::default();
        assert_eq!(templates(&options), None);
        options.extras.footer = Some("<b>f</b>".to_owned());
        let (header, footer) = templates(&options).unwrap();
        assert_eq!(header, NOTHING);
        assert!(footer.ends_with("exact\"><b>f</b></div>"), "{footer}");
    }
}
