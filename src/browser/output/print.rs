//! Makes the file of a page that is ready, and gives it piece by piece.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use headless_chrome::protocol::cdp::{IO, Page};
use pdf_page_count::PageCounter;

use super::auto_height;
use super::clip;
use super::header_footer;
use super::html::{self, Snapshot};
use super::page_rules::PageRules;
use super::page_width::ScaleFinder;
use super::pdf_metadata::{self, MetadataWriter};
use super::tagged::{self, Counted, Long, Print, count};
use crate::browser::cdp::connection::CallError;
use crate::browser::page::error::{PageError, StepError};
use crate::browser::page::open::{OpenPage, PageOutput, PageStep, ReadyPage};
use crate::domain::fault::{FaultCode, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;
use crate::domain::site::Site;

/// Texts larger than this are decoded on a thread that may take its time.
const INLINE_LIMIT_BYTES: usize = 256 << 10;

/// The file of a page. Dropped, its tab is given back.
pub struct Printed {
    /// `None` after a fault, which took the page with it.
    page: Option<OpenPage>,
    source: Source,
    output: PageOutput,
    options: PageOptions,
    warnings: Warnings,
    annotator: Option<MetadataWriter>,
    counter: Option<PageCounter>,
    scale: Option<ScaleFinder>,
}

/// Where the pieces of a file come from.
pub(in crate::browser) enum Source {
    /// A stream of Chromium's; where to go on, unless it is where it was left.
    Stream(IO::StreamHandle, Option<u32>),
    /// A piece that was read already, and what comes behind it.
    Held(Bytes, Box<Source>),
    /// The whole file, as it came.
    Text(String),
    /// A document that the page holds.
    Document(Box<Snapshot>),
    /// Everything has been given.
    Ended,
}

impl ReadyPage {
    /// Makes the file.
    ///
    /// # Errors
    /// Why not; the tab is given back.
    pub async fn print(self) -> Result<Printed, PageError> {
        let Self { mut page, output, limit_bytes, site, options, may_be_long } = self;
        let limit = page.limits.print;
        if output == PageOutput::Html {
            // Who writes the document asks for addresses that the page has given up meanwhile.
            page.failures = Some(page.state.borrow().failures.warnings(page.visit.as_deref()));
        }
        // It is shown as it is on paper before it is printed.
        page.measured |= output == PageOutput::Pdf && options.auto_height;
        if output == PageOutput::Pdf
            && let Err(trouble) = Box::pin(page.check_header_footer(&options)).await
        {
            return Err(page.fail(PageStep::Print, trouble, &options).await);
        }
        let made = match output {
            PageOutput::Pdf => {
                let long = Long { may_be: may_be_long, limit_bytes, deadline: Instant::now() + limit };
                page.within(limit, Box::pin(print(&page, &options, long))).await
            }
            PageOutput::Png | PageOutput::Jpg => page.within(limit, shoot(&page, output, &options)).await,
            PageOutput::Html => page.within(limit, write(&page, &options, &site, limit_bytes)).await,
        };
        match made {
            Ok((source, warnings)) => {
                for warning in &warnings {
                    page.warnings.push(warning);
                }
                let warnings = page.all_warnings();
                let annotator =
                    MetadataWriter::of(&options.extras.metadata).filter(|_| output == PageOutput::Pdf);
                let counter = (output == PageOutput::Pdf).then(PageCounter::default);
                let scale = (output == PageOutput::Pdf).then(ScaleFinder::default);
                let page = Some(page);
                Ok(Printed { page, source, output, options, warnings, annotator, counter, scale })
            }
            Err(trouble) => {
                let failed = page.fail(PageStep::Print, trouble, &options).await;
                Err(if output == PageOutput::Pdf { header_footer::explain(failed, &options) } else { failed })
            }
        }
    }
}

impl Printed {
    /// The next piece of the file; `None` after the last.
    ///
    /// # Errors
    /// Why there is none; the tab is given back.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, PageError> {
        let Some(mut page) = self.page.take() else { return Ok(None) };
        let source = std::mem::replace(&mut self.source, Source::Ended);
        let limit = page.limits.print;
        match page.within(limit, read(&page, source)).await {
            Ok((chunk, next)) => {
                self.source = next;
                let drawn = self.scale.as_mut().and_then(|finder| finder.pass(&chunk));
                if let Some(drawn) = drawn
                    && let Err(trouble) = Box::pin(page.check_width(drawn, &self.options)).await
                {
                    return Err(page.fail(PageStep::Print, trouble, &self.options).await);
                }
                self.warnings = page.all_warnings();
                if let Some(counter) = &mut self.counter {
                    counter.pass(&chunk);
                }
                let chunk = self.annotated(chunk);
                // After the last piece the tab is of no use to anybody here.
                if matches!(self.source, Source::Ended) {
                    page.offer_for_reuse(&self.options, self.output, self.pages());
                } else {
                    self.page = Some(page);
                }
                Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
            }
            Err(trouble) => Err(page.fail(PageStep::Print, trouble, &self.options).await),
        }
    }

    /// The piece, and behind the last one what the file's metadata need.
    fn annotated(&mut self, chunk: Bytes) -> Bytes {
        let Some(annotator) = &mut self.annotator else { return chunk };
        annotator.pass(&chunk);
        if !matches!(self.source, Source::Ended) {
            return chunk;
        }
        let whole = self.annotator.take().and_then(|annotator| annotator.finish(&chunk));
        whole.unwrap_or_else(|| {
            self.warnings.push("author, subject and keywords could not be written into the file (metadata)");
            chunk
        })
    }

    /// How many pages the file has, if it is one of pages; known after the last piece.
    #[must_use]
    pub fn pages(&self) -> Option<u32> {
        self.counter.as_ref().and_then(PageCounter::pages)
    }

    /// What the page's author wants to know; complete after the last piece.
    #[must_use]
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

/// A source, and what there is to say of it.
type Made = (Source, Vec<String>);

async fn print(page: &OpenPage, options: &PageOptions, long: Long) -> Result<Made, StepError> {
    clip::isolate(page, options).await?;
    pdf_metadata::set_title(page, &options.extras.metadata).await?;
    let rules = PageRules::of(page, options).await?;
    if !options.auto_height {
        return print_on(page, &rules, options, long).await;
    }
    let (rules, unheeded) = auto_height::settled(page, rules, options).await?;
    let sheet = auto_height::fitted(page, &rules, options).await?;
    let (source, mut warnings) = print_on(page, &rules, &sheet, long).await?;
    warnings.extend(unheeded);
    let (source, counted) = count(page, source, long.limit_bytes).await?;
    if !matches!(counted, Counted::Pages(2..)) {
        return Ok((source, warnings));
    }
    close(page, source)?;
    let sheet = auto_height::fitted(page, &rules, options).await?;
    let (source, _) = print_on(page, &rules, &sheet, long).await?;
    let (source, counted) = count(page, source, long.limit_bytes).await?;
    if let Counted::Pages(pages @ 2..) = counted {
        warnings.push(auto_height::warning(&sheet, pages));
    }
    Ok((source, warnings))
}

async fn print_on(
    page: &OpenPage,
    rules: &PageRules,
    options: &PageOptions,
    long: Long,
) -> Result<Made, StepError> {
    let layout = rules.layout(options);
    let mut warnings = rules.warnings(options);
    warnings.extend(header_footer::warnings(options, &layout));
    let banners = header_footer::templates(page, options, &layout).await?;
    let printed = tagged::print(&Print { page, options, layout: &layout, banners, long }).await;
    let (source, untagged) = printed?;
    warnings.extend(untagged);
    Ok((source, warnings))
}

/// Prints the page, with its header and footer, tagged or not.
pub(in crate::browser) async fn to_stream(
    page: &OpenPage,
    options: &PageOptions,
    (banners, tagged): (Option<[String; 2]>, bool),
) -> Result<Source, StepError> {
    let is_large = banners.iter().flatten().map(String::len).sum::<usize>() > INLINE_LIMIT_BYTES;
    let (tab, limit, call) = (page.tab()?, page.limits.print, pdf(options, banners, tagged));
    let sent = if is_large { tab.send_large(call).await } else { tab.send(&call) };
    let printed = match sent {
        Ok(sent) => sent.answer(limit).await,
        Err(error) => Err(error),
    };
    match printed.map_err(|error| explain(error, options))?.stream {
        Some(stream) => Ok(Source::Stream(stream, None)),
        None => Err(StepError::fault(FaultCode::PageFailed, "the browser made no file")),
    }
}

/// Lets go of a file that nobody reads to its end.
pub(in crate::browser) fn close(page: &OpenPage, source: Source) -> Result<(), StepError> {
    match source {
        // A tab that is disposed of takes the stream along, one that is kept does not.
        Source::Stream(handle, _) => drop(page.tab()?.send(&IO::Close { handle })),
        Source::Held(_, rest) => return close(page, *rest),
        Source::Text(_) | Source::Document(_) | Source::Ended => {}
    }
    Ok(())
}

async fn shoot(page: &OpenPage, output: PageOutput, options: &PageOptions) -> Result<Made, StepError> {
    if page.tab()?.lane() == Lane::Static {
        let sentence = "a picture is made in the lane of pages with script: the other one is not painted";
        return Err(StepError::fault(FaultCode::Internal, sentence.to_owned()));
    }
    let clip = clip::clip(page, options).await?;
    let jpg = output == PageOutput::Jpg;
    let format = if jpg {
        Page::CaptureScreenshotFormatOption::Jpeg
    } else {
        Page::CaptureScreenshotFormatOption::Png
    };
    let picture = Page::CaptureScreenshot {
        format: Some(format),
        quality: jpg.then_some(options.picture.quality),
        capture_beyond_viewport: clip.is_some().then_some(true),
        clip,
        from_surface: None,
        optimize_for_speed: None,
    };
    Ok((Source::Text(page.tab()?.call_within(picture, page.limits.print).await?.data), Vec::new()))
}

async fn write(
    page: &OpenPage,
    options: &PageOptions,
    site: &Site,
    limit_bytes: u64,
) -> Result<Made, StepError> {
    clip::isolate(page, options).await?;
    let (snapshot, warnings) = html::take(page, site, limit_bytes).await?;
    Ok((Source::Document(Box::new(snapshot)), warnings))
}

async fn read(page: &OpenPage, source: Source) -> Result<(Bytes, Source), StepError> {
    let (handle, from) = match source {
        Source::Ended => return Ok((Bytes::new(), Source::Ended)),
        Source::Held(piece, rest) => return Ok((piece, *rest)),
        Source::Text(text) => return Ok((decode(text).await?, Source::Ended)),
        Source::Document(mut snapshot) => {
            let size = usize::try_from(page.limits.chunk_bytes).unwrap_or(usize::MAX);
            return Ok(match snapshot.next(page, size).await? {
                Some(chunk) => (chunk, Source::Document(snapshot)),
                None => (Bytes::new(), Source::Ended),
            });
        }
        Source::Stream(handle, from) => (handle, from),
    };
    let (chunk, is_last) = piece(page, &handle, from).await?;
    if !is_last {
        return Ok((chunk, Source::Stream(handle, None)));
    }
    close(page, Source::Stream(handle, None))?;
    Ok((chunk, Source::Ended))
}

/// A piece of a stream, and whether it is the last one.
pub(in crate::browser) async fn piece(
    page: &OpenPage,
    handle: &IO::StreamHandle,
    from: Option<u32>,
) -> Result<(Bytes, bool), StepError> {
    let (tab, limit) = (page.tab()?, page.limits.print);
    let read = IO::Read { handle: handle.clone(), offset: from, size: Some(page.limits.chunk_bytes) };
    next_part(async || Ok(tab.call_within(read.clone(), limit).await?)).await
}

/// The next part of a stream, and whether it is the last. Chromium may answer nothing before the end (its reader has
/// nothing yet); given on, that would be taken for the end, and half a document would be published as a whole one.
async fn next_part(
    mut ask: impl AsyncFnMut() -> Result<IO::ReadReturnObject, StepError>,
) -> Result<(Bytes, bool), StepError> {
    loop {
        let part = ask().await?;
        let is_encoded = part.base_64_encoded == Some(true);
        let chunk = if is_encoded { decode(part.data).await? } else { Bytes::from(part.data) };
        if part.eof || !chunk.is_empty() {
            return Ok((chunk, part.eof));
        }
    }
}

async fn decode(text: String) -> Result<Bytes, StepError> {
    let decoded = if text.len() > INLINE_LIMIT_BYTES {
        tokio::task::spawn_blocking(move || STANDARD.decode(text)).await
    } else {
        Ok(STANDARD.decode(text))
    };
    match decoded {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(_)) | Err(_) => {
            Err(StepError::fault(FaultCode::PageFailed, "the browser's file cannot be read"))
        }
    }
}

fn pdf(options: &PageOptions, banners: Option<[String; 2]>, tagged: bool) -> Page::PrintToPDF {
    let display_header_footer = banners.is_some().then_some(true);
    let (header_template, footer_template) = banners.map(|[header, footer]| (header, footer)).unzip();
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

/// What Chromium has against the options, in the caller's terms.
fn explain(error: CallError, options: &PageOptions) -> StepError {
    let CallError::Refused { message, .. } = &error else { return error.into() };
    let said = message.to_ascii_lowercase();
    if said.contains("range") {
        let range = page_range(options.from_page, options.to_page).unwrap_or_default();
        return StepError::fault(
            FaultCode::OptionsInvalid,
            format!("the document has no pages {range} (fromPage, toPage)"),
        );
    }
    if said.contains("print parameters") || said.contains("margin") || said.contains("content area") {
        return StepError::fault(
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

    #[tokio::test]
    async fn nothing_before_the_end_is_not_the_end() {
        let part = |data: &str, base_64_encoded, eof| IO::ReadReturnObject {
            data: data.to_owned(),
            base_64_encoded: Some(base_64_encoded),
            eof,
        };
        let answers = [
            part("", true, false),
            part("QUI=", true, false),
            part("", false, false),
            part("", true, false),
            part("CD", false, false),
            part("", true, true),
        ];
        let mut answers = answers.into_iter();
        let mut ask = async || Ok(answers.next().unwrap());
        let mut parts = Vec::new();
        for _ in 0..3 {
            parts.push(next_part(&mut ask).await.unwrap());
        }
        let wanted = [("AB", false), ("CD", false), ("", true)];
        assert_eq!(parts, wanted.map(|(text, is_last)| (Bytes::from(text), is_last)));
        let failed = next_part(async || Err(StepError::fault(FaultCode::PageFailed, "gone"))).await;
        assert!(failed.is_err(), "what fails is not asked again");
    }
}
