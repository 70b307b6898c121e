//! Makes the file of a page that is ready, and gives it piece by piece.

use std::time::Instant;

use bytes::Bytes;
use headless_chrome::protocol::cdp::Page;
use pdf_page_count::PageCounter;

use super::auto_height;
use super::clip;
use super::header_footer::{self, HeaderFooter};
use super::html;
use super::links::{self, LinkEraser};
use super::outline::{self, Headings};
use super::page_count::Counted;
use super::page_rules::PageRules;
use super::page_width::{self, ScaleFinder};
use super::source::Source;
use super::streamed_metadata::{self, MetadataWriter};
use super::tagged::{self, Pdf, Print, PrintBudget};
use crate::browser::page::diagnose;
use crate::browser::page::end;
use crate::browser::page::error::{PageError, StepError};
use crate::browser::page::open::ReadyPage;
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::task::{PageOutput, PageStep};
use crate::domain::error::{ErrorCode, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;
use crate::domain::paper::SHEET_LIMIT_IN;
use crate::domain::site::Site;
use crate::thread;

/// The file of a page. Dropped, its tab is given back.
pub struct Printed {
    /// `None` after an error, which took the page with it.
    page: Option<OpenPage>,
    source: Source,
    output: PageOutput,
    options: PageOptions,
    warnings: Warnings,
    readers: Option<Box<PdfReaders>>,
}

/// What is read of a PDF while it passes, and changed in it.
struct PdfReaders {
    counter: PageCounter,
    scale: ScaleFinder,
    eraser: Option<LinkEraser>,
    metadata: Option<MetadataWriter>,
}

/// A piece that has passed.
struct Piece {
    chunk: Bytes,
    /// The scale of the pages where it is found there.
    drawn: Option<f64>,
    /// The metadata could not be written behind it.
    lacks_metadata: bool,
}

/// Makes the file of a page that is ready.
///
/// # Errors
/// Why not; the tab is given back.
pub async fn print(ready: ReadyPage) -> Result<Printed, PageError> {
    let ReadyPage { mut page, output, limit_bytes, site, options, may_be_long } = ready;
    let limit = page.limits.print;
    let is_pdf = output == PageOutput::Pdf;
    if output == PageOutput::Html {
        // The script that writes the document requests addresses anew, which may fail: those failures are not the page's.
        page.failures = Some(page.state.borrow().failures.warnings(page.session.as_deref()));
    }
    // Its print medium is emulated before it is printed.
    page.is_measured |= is_pdf && options.auto_height;
    let asked = if is_pdf { Box::pin(ask(&mut page, &options, &site)).await } else { Ok(Asked::default()) };
    let Asked { header_footer, headings } = match asked {
        Ok(asked) => asked,
        Err(error) => return Err(diagnose::into_page_error(page, PageStep::Print, error, &options).await),
    };
    let made = match output {
        PageOutput::Pdf => {
            let budget = PrintBudget { may_be_long, limit_bytes, deadline: Instant::now() + limit };
            let header_footer = header_footer.as_ref();
            page.within(limit, Box::pin(print_pdf(&page, &options, header_footer, budget))).await
        }
        PageOutput::Png | PageOutput::Jpg => {
            page.within(limit, capture_screenshot(&page, output, &options)).await
        }
        PageOutput::Html => page.within(limit, write_html(&page, &options, &site, limit_bytes)).await,
    };
    match made {
        Ok((source, warnings)) => {
            for warning in &warnings {
                page.warnings.push(warning);
            }
            let warnings = page.all_warnings();
            let readers = is_pdf.then(|| {
                Box::new(PdfReaders {
                    counter: PageCounter::default(),
                    scale: ScaleFinder::default(),
                    eraser: LinkEraser::of(&page),
                    metadata: MetadataWriter::of(&options.extras.metadata, headings),
                })
            });
            Ok(Printed { page: Some(page), source, output, options, warnings, readers })
        }
        Err(error) => {
            let failed = diagnose::into_page_error(page, PageStep::Print, error, &options).await;
            Err(if is_pdf { header_footer::explain(failed, &options) } else { failed })
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
        let (limit, readers) = (page.limits.print, self.readers.take());
        let read = async {
            let (chunk, next) = source.read(&page).await?;
            let is_last = matches!(next, Source::Ended);
            let (readers, piece) = match readers {
                Some(readers) => {
                    readers.read(chunk, is_last).await.map(|(readers, piece)| (Some(readers), piece))?
                }
                None => (None, Piece { chunk, drawn: None, lacks_metadata: false }),
            };
            Ok((piece, next, readers))
        };
        match page.within(limit, read).await {
            Ok((Piece { chunk, drawn, lacks_metadata }, next, readers)) => {
                (self.source, self.readers) = (next, readers);
                if let Some(drawn) = drawn
                    && let Err(error) = Box::pin(page_width::warn(&mut page, drawn, &self.options)).await
                {
                    return Err(diagnose::into_page_error(page, PageStep::Print, error, &self.options).await);
                }
                self.warnings = page.all_warnings();
                if lacks_metadata {
                    let unwritten =
                        "author, subject and keywords could not be written into the file (metadata)";
                    self.warnings.push(unwritten);
                }
                // After the last piece nothing is asked of the tab.
                if matches!(self.source, Source::Ended) {
                    end::release_tab(page, &self.options, self.output, self.pages());
                } else {
                    self.page = Some(page);
                }
                Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
            }
            Err(error) => Err(diagnose::into_page_error(page, PageStep::Print, error, &self.options).await),
        }
    }

    /// How many pages the file has, if it is one of pages; known after the last piece.
    pub fn pages(&self) -> Option<u32> {
        self.readers.as_ref().and_then(|readers| readers.counter.pages())
    }

    /// Everything that the page's author is warned of; complete after the last piece.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

impl PdfReaders {
    /// Reads a piece, erases addresses of the page's own host in it, and puts the file's metadata behind the last one. A large
    /// piece takes milliseconds, in which no other page would be served.
    async fn read(mut self: Box<Self>, chunk: Bytes, is_last: bool) -> Result<(Box<Self>, Piece), StepError> {
        // Behind the last piece all bookmarks are compared with their headings, however few of these are different.
        let is_compared = is_last && self.metadata.as_ref().is_some_and(MetadataWriter::has_headings);
        let bytes = if is_compared { usize::MAX } else { chunk.len() };
        let read = move || {
            let drawn = self.scale.pass(&chunk);
            self.counter.pass(&chunk);
            let mut piece = Piece { chunk, drawn, lacks_metadata: false };
            if let Some(eraser) = &mut self.eraser {
                piece.chunk = eraser.pass(piece.chunk, is_last);
            }
            if let Some(writer) = &mut self.metadata {
                writer.observe(&piece.chunk);
            }
            if let Some(writer) = self.metadata.take_if(|_| is_last) {
                match writer.finish(&piece.chunk) {
                    Some(whole) => piece.chunk = whole,
                    None => piece.lacks_metadata = true,
                }
            }
            (self, piece)
        };
        Ok(thread::by_size(bytes, read).await?)
    }
}

/// A source, and warnings.
type Made = (Source, Vec<String>);

/// What is asked of a page before it becomes a PDF.
#[derive(Default)]
struct Asked {
    header_footer: Option<HeaderFooter>,
    headings: Headings,
}

async fn ask(page: &mut OpenPage, options: &PageOptions, site: &Site) -> Result<Asked, StepError> {
    let header_footer = HeaderFooter::of(page, options, site).await?;
    let headings = outline::headings(page, options).await?;
    Ok(Asked { header_footer, headings })
}

async fn print_pdf(
    page: &OpenPage,
    options: &PageOptions,
    header_footer: Option<&HeaderFooter>,
    budget: PrintBudget,
) -> Result<Made, StepError> {
    clip::isolate(page, options).await?;
    streamed_metadata::set_title(page, &options.extras.metadata).await?;
    let unled = links::settle(page, options).await?;
    let (source, mut warnings) = print_sheets(page, options, header_footer, budget).await?;
    warnings.extend(unled);
    Ok((source, warnings))
}

async fn print_sheets(
    page: &OpenPage,
    options: &PageOptions,
    header_footer: Option<&HeaderFooter>,
    budget: PrintBudget,
) -> Result<Made, StepError> {
    let rules = PageRules::of(page, options).await?;
    if !options.auto_height {
        let (pdf, warnings) = print_on(page, &rules, options, header_footer, budget).await?;
        return Ok((pdf.source, warnings));
    }
    print_on_one_sheet(page, rules, options, header_footer, budget).await
}

async fn print_on_one_sheet(
    page: &OpenPage,
    rules: PageRules,
    options: &PageOptions,
    header_footer: Option<&HeaderFooter>,
    budget: PrintBudget,
) -> Result<Made, StepError> {
    let (rules, unheeded) = auto_height::rules_for_one_sheet(page, rules, options).await?;
    let mut sheet = auto_height::with_page_height(page, &rules, options).await?;
    let (mut pdf, mut warnings) = print_on(page, &rules, &sheet, header_footer, budget).await?;
    warnings.extend(unheeded);
    if let Some(Counted::Pages(2..)) = pdf.counted {
        pdf.source.close(page)?;
        warnings.extend(auto_height::fit(page, options).await?);
        sheet = auto_height::with_page_height(page, &rules, options).await?;
        pdf = print_on(page, &rules, &sheet, header_footer, budget).await?.0;
    }
    if let Some(Counted::Pages(pages @ 2..)) = pdf.counted
        && sheet.paper.height_in < SHEET_LIMIT_IN
    {
        pdf.source.close(page)?;
        sheet = auto_height::with_all_sheets(&sheet, pages);
        pdf = print_on(page, &rules, &sheet, header_footer, budget).await?.0;
    }
    if let Some(Counted::Pages(pages @ 2..)) = pdf.counted {
        warnings.push(auto_height::warning(&sheet, pages));
    }
    Ok((pdf.source, warnings))
}

/// Prints the page on the sheet of `options`; answers its warnings beside it.
async fn print_on(
    page: &OpenPage,
    rules: &PageRules,
    options: &PageOptions,
    header_footer: Option<&HeaderFooter>,
    budget: PrintBudget,
) -> Result<(Pdf, Vec<String>), StepError> {
    let layout = rules.layout(options);
    let mut warnings = rules.warnings(options);
    warnings.extend(header_footer::warnings(options, &layout));
    let header_footer = header_footer.map(|both| both.templates(options, &layout));
    let mut pdf = tagged::print(&Print { page, options, layout: &layout, header_footer, budget }).await?;
    warnings.extend(pdf.warning.take());
    Ok((pdf, warnings))
}

async fn capture_screenshot(
    page: &OpenPage,
    output: PageOutput,
    options: &PageOptions,
) -> Result<Made, StepError> {
    if page.tab()?.lane == Lane::Static {
        let sentence = "a picture is made in the lane of pages with script: the other one is not painted";
        return Err(StepError::job(ErrorCode::Internal, sentence.to_owned()));
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

async fn write_html(
    page: &OpenPage,
    options: &PageOptions,
    site: &Site,
    limit_bytes: u64,
) -> Result<Made, StepError> {
    clip::isolate(page, options).await?;
    let (snapshot, warnings) = html::take(page, site, limit_bytes).await?;
    Ok((Source::Document(Box::new(snapshot)), warnings))
}
