//! How many pages a PDF has, before it is given on.

use bytes::Bytes;
use headless_chrome::protocol::cdp::IO;
use pdf_page_count::PageCounter;

use super::source::{Source, read_stream};
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::thread;

/// What is known of a PDF after it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counted {
    Pages(u32),
    /// It was not written as Chromium writes them.
    Unknown,
    /// It is larger than a file may be, whatever its pages.
    TooLarge,
}

/// Reads a stream to its end to count, and returns the source to read the file from: the first piece is held, which is all of
/// most files, the rest is read again. A file of more than `limit_bytes` is refused later, and not read further here.
pub(super) async fn count(
    page: &OpenPage,
    handle: IO::StreamHandle,
    limit_bytes: u64,
) -> Result<(Source, Counted), StepError> {
    let (first, mut is_last) = read_stream(page, &handle, None).await?;
    let mut counter = count_piece(PageCounter::default(), &first).await?;
    let mut is_whole = true;
    let mut bytes = first.len() as u64;
    while !is_last && bytes <= limit_bytes {
        let (more, is_end) = read_stream(page, &handle, None).await?;
        counter = count_piece(counter, &more).await?;
        bytes += more.len() as u64;
        is_whole &= more.is_empty();
        is_last = is_end || more.is_empty();
    }
    let behind = u32::try_from(first.len()).ok();
    let rest = Source::Stream(handle, behind);
    let known = if bytes > limit_bytes {
        Counted::TooLarge
    } else {
        counter.pages().map_or(Counted::Unknown, Counted::Pages)
    };
    if is_whole && is_last {
        rest.close(page)?;
        return Ok((Source::Held(first, Box::new(Source::Ended)), known));
    }
    Ok((Source::Held(first, Box::new(rest)), known))
}

/// Counts in a piece of the file. It is read byte by byte: a large one would hold up all pages.
async fn count_piece(mut counter: PageCounter, piece: &Bytes) -> Result<PageCounter, StepError> {
    let piece = piece.clone();
    let length = piece.len();
    let count = move || {
        counter.pass(&piece);
        counter
    };
    Ok(thread::by_size(length, count).await?)
}
