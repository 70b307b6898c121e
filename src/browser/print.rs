//! Makes the file of a page that is ready, and gives it piece by piece.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use headless_chrome::protocol::cdp::{IO, Page};

use super::cdp::CallError;
use super::fault::{PageFault, Trouble};
use super::page::{OpenPage, PageOutput, PageStep, ReadyPage};
use crate::domain::fault::{FaultCode, Warnings};
use crate::domain::format_opts::PageOptions;

const JPEG_QUALITY: u32 = 85;
/// Texts larger than this are decoded on a thread that may take its time.
const INLINE_LIMIT_BYTES: usize = 256 << 10;

/// The file of a page. Dropped, its tab is given back.
pub struct Printed {
    /// `None` after a fault, which took the page with it.
    page: Option<OpenPage>,
    source: Source,
    options: PageOptions,
    warnings: Warnings,
}

enum Source {
    /// A stream of Chromium's.
    Stream(IO::StreamHandle),
    /// The whole file, as it came.
    Text(String),
    /// Everything has been given.
    Ended,
}

impl ReadyPage {
    /// Makes the file.
    ///
    /// # Errors
    /// Why not; the tab is given back.
    pub async fn print(self) -> Result<Printed, PageFault> {
        let Self { page, output, options } = self;
        let limit = page.limits.print;
        let made = page.within(limit, make(&page, output, &options)).await;
        match made {
            Ok(source) => {
                let warnings = page.all_warnings();
                Ok(Printed { page: Some(page), source, options, warnings })
            }
            Err(trouble) => Err(page.fail(PageStep::Print, trouble, &options).await),
        }
    }
}

impl Printed {
    /// The next piece of the file; `None` after the last.
    ///
    /// # Errors
    /// Why there is none; the tab is given back.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, PageFault> {
        let Some(page) = self.page.take() else { return Ok(None) };
        let source = std::mem::replace(&mut self.source, Source::Ended);
        let limit = page.limits.print;
        match page.within(limit, read(&page, source)).await {
            Ok((chunk, next)) => {
                self.source = next;
                self.warnings = page.all_warnings();
                // After the last piece the tab is of no use to anybody here.
                if !matches!(self.source, Source::Ended) {
                    self.page = Some(page);
                }
                Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
            }
            Err(trouble) => Err(page.fail(PageStep::Print, trouble, &self.options).await),
        }
    }

    /// What the page's author wants to know; complete after the last piece.
    #[must_use]
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

async fn make(page: &OpenPage, output: PageOutput, options: &PageOptions) -> Result<Source, Trouble> {
    let (tab, limit) = (page.tab()?, page.limits.print);
    let format = match output {
        PageOutput::Pdf => {
            let printed = tab.call_within(pdf(options), limit).await;
            return match printed.map_err(|error| explain(error, options))?.stream {
                Some(stream) => Ok(Source::Stream(stream)),
                None => Err(Trouble::fault(FaultCode::PageFailed, "the browser made no file")),
            };
        }
        PageOutput::Png => Page::CaptureScreenshotFormatOption::Png,
        PageOutput::Jpg => Page::CaptureScreenshotFormatOption::Jpeg,
    };
    let quality = (output == PageOutput::Jpg).then_some(JPEG_QUALITY);
    let picture = Page::CaptureScreenshot {
        format: Some(format),
        quality,
        clip: None,
        from_surface: None,
        capture_beyond_viewport: None,
        optimize_for_speed: None,
    };
    Ok(Source::Text(tab.call_within(picture, limit).await?.data))
}

async fn read(page: &OpenPage, source: Source) -> Result<(Bytes, Source), Trouble> {
    let handle = match source {
        Source::Ended => return Ok((Bytes::new(), Source::Ended)),
        Source::Text(text) => return Ok((decode(text).await?, Source::Ended)),
        Source::Stream(handle) => handle,
    };
    let (tab, limit) = (page.tab()?, page.limits.print);
    let size = Some(page.limits.chunk_bytes);
    let read = IO::Read { handle: handle.clone(), offset: None, size };
    let part = tab.call_within(read, limit).await?;
    let chunk =
        if part.base_64_encoded == Some(true) { decode(part.data).await? } else { Bytes::from(part.data) };
    // An empty piece before the end would be taken for the end.
    let more = !part.eof && !chunk.is_empty();
    Ok((chunk, if more { Source::Stream(handle) } else { Source::Ended }))
}

async fn decode(text: String) -> Result<Bytes, Trouble> {
    let decoded = if text.len() > INLINE_LIMIT_BYTES {
        tokio::task::spawn_blocking(move || STANDARD.decode(text)).await
    } else {
        Ok(STANDARD.decode(text))
    };
    match decoded {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(_)) | Err(_) => {
            Err(Trouble::fault(FaultCode::PageFailed, "the browser's file cannot be read"))
        }
    }
}

fn pdf(options: &PageOptions) -> Page::PrintToPDF {
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
        prefer_css_page_size: Some(false),
        generate_tagged_pdf: Some(true),
        transfer_mode: Some(Page::PrintToPDFTransfer_modeOption::ReturnAsStream),
        ..Page::PrintToPDF::default()
    }
}

fn page_range(from: Option<u32>, to: Option<u32>) -> Option<String> {
    match (from, to) {
        (None, None) => None,
        (Some(from), None) => Some(format!("{from}-")),
        (from, Some(to)) => Some(format!("{}-{to}", from.unwrap_or(1))),
    }
}

/// What Chromium has against the options, in the caller's terms.
fn explain(error: CallError, options: &PageOptions) -> Trouble {
    let CallError::Refused { message, .. } = &error else { return error.into() };
    let said = message.to_ascii_lowercase();
    if said.contains("range") {
        let range = page_range(options.from_page, options.to_page).unwrap_or_default();
        return Trouble::fault(
            FaultCode::OptionsInvalid,
            format!("the document has no pages {range} (fromPage, toPage)"),
        );
    }
    if said.contains("print parameters") || said.contains("margin") || said.contains("content area") {
        return Trouble::fault(
            FaultCode::OptionsInvalid,
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
