//! The call that prints the page, and Chromium's refusals in the caller's terms.

use headless_chrome::protocol::cdp::{IO, Page};

use crate::browser::cdp::error::CallError;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::PageOptions;

/// Prints the page, with its header and footer, tagged or not; answers the stream of the file.
pub(super) async fn print(
    page: &OpenPage,
    options: &PageOptions,
    header_footer: Option<[String; 2]>,
    tagged: bool,
) -> Result<IO::StreamHandle, StepError> {
    let bytes = header_footer.iter().flatten().map(String::len).sum();
    let call = pdf(options, header_footer, tagged);
    let printed = match page.tab()?.send_sized(call, bytes).await {
        Ok(sent) => sent.answer(page.limits.print).await,
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
        page_ranges: options.page_range(),
        prefer_css_page_size: Some(options.prefer_css_page_size),
        generate_tagged_pdf: Some(tagged),
        generate_document_outline: options.extras.outline.then_some(true),
        transfer_mode: Some(Page::PrintToPDFTransfer_modeOption::ReturnAsStream),
        display_header_footer,
        header_template,
        footer_template,
    }
}

/// A refusal of Chromium's in terms of the caller's options.
fn explain(error: CallError, options: &PageOptions) -> StepError {
    let CallError::Refused { message, .. } = &error else { return error.into() };
    let said = message.to_ascii_lowercase();
    if said.contains("range") {
        let range = options.page_range().unwrap_or_default();
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
