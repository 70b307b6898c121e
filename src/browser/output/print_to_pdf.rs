//! The call that prints the page, and Chromium's refusals in the caller's terms.

use headless_chrome::protocol::cdp::{IO, Page};

use crate::browser::cdp::error::CallError;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::PageOptions;

/// Calls with larger headers and footers are serialized on a thread for work that blocks.
const INLINE_LIMIT_BYTES: usize = 256 << 10;

/// Prints the page, with its header and footer, tagged or not; answers the stream of the file.
pub(super) async fn print(
    page: &OpenPage,
    options: &PageOptions,
    header_footer: Option<[String; 2]>,
    tagged: bool,
) -> Result<IO::StreamHandle, StepError> {
    let is_large = header_footer.iter().flatten().map(String::len).sum::<usize>() > INLINE_LIMIT_BYTES;
    let (tab, limit, call) = (page.tab()?, page.limits.print, pdf(options, header_footer, tagged));
    let sent = if is_large { tab.send_large(call).await } else { tab.send(&call) };
    let printed = match sent {
        Ok(sent) => sent.answer(limit).await,
        Err(error) => Err(error),
    };
    let stream = printed.map_err(|error| explain(error, options))?.stream;
    stream.ok_or_else(|| StepError::job(ErrorCode::PageFailed, "the browser made no file"))
}

fn pdf(options: &PageOptions, header_footer: Option<[String; 2]>, tagged: bool) -> Page::PrintToPDF {
    let display_header_footer = header_footer.is_some().then_some(true);
    let (header_template, footer_template) = header_footer.map(|[header, footer]| (header, footer)).unzip();
    Page::PrintToPDF {
        landscape: Some(options.landscape),
        print_background: Some(options.print_background),
        scale: Some(options.scale),
        paper_width: Some(options.paper.width_in),
        paper_height: Some(options.paper.height_in),
        margin_top: Some(options.margin.top_in),
        margin_bottom: Some(options.margin.bottom_in),
        margin_left: Some(options.margin.left_in),
        margin_right: Some(options.margin.right_in),
        page_ranges: page_range(options.from_page, options.to_page),
        prefer_css_page_size: Some(options.prefer_css_page_size),
        generate_tagged_pdf: Some(tagged),
        generate_document_outline: options.extras.outline.then_some(true),
        transfer_mode: Some(Page::PrintToPDFTransfer_modeOption::ReturnAsStream),
        display_header_footer,
        header_template,
        footer_template,
    }
}

fn page_range(from: Option<u32>, to: Option<u32>) -> Option<String> {
    match (from, to) {
        (None, None) => None,
        (Some(from), None) => Some(format!("{from}-")),
        (from, Some(to)) => Some(format!("{}-{to}", from.unwrap_or(1))),
    }
}

/// A refusal of Chromium's in terms of the caller's options.
fn explain(error: CallError, options: &PageOptions) -> StepError {
    let CallError::Refused { message, .. } = &error else { return error.into() };
    let said = message.to_ascii_lowercase();
    if said.contains("range") {
        let range = page_range(options.from_page, options.to_page).unwrap_or_default();
        return StepError::job(
            ErrorCode::OptionsInvalid,
            format!("the document has no pages {range} (fromPage, toPage)"),
        );
    }
    if said.contains("print parameters") || said.contains("margin") || said.contains("content area") {
        return StepError::job(
            ErrorCode::OptionsInvalid,
            format!("the margins leave no room on the paper (margin, width, height, format): {message}"),
        );
    }
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_may_be_open_at_either_end() {
        assert_eq!(page_range(None, None), None);
        assert_eq!(page_range(Some(2), None).as_deref(), Some("2-"));
        assert_eq!(page_range(None, Some(3)).as_deref(), Some("1-3"));
        assert_eq!(page_range(Some(2), Some(3)).as_deref(), Some("2-3"));
    }
}
