//! Whether a PDF is tagged: whether it says which of its parts are headings, tables, paragraphs.
//!
//! Tags double the time of a long document and make it several times as large, so beyond a limit of pages it gets
//! none. How many pages it has is known when it is printed. It is guessed before, by the page's area, so that what is
//! guessed right is printed once; what was guessed wrong (a break before each line, a style sheet for print only) is
//! printed once more.

use std::time::{Duration, Instant};

use bytes::Bytes;
use pdf_page_count::PageCounter;

use super::clip;
use super::page_rules::Layout;
use super::print::{self, Source};
use crate::browser::page::error::StepError;
use crate::browser::page::open::OpenPage;
use crate::domain::format_opts::PageOptions;

/// How a PDF is printed.
pub(in crate::browser) struct Print<'a> {
    pub page: &'a OpenPage,
    pub options: &'a PageOptions,
    pub layout: &'a Layout,
    /// Header and footer.
    pub banners: Option<[String; 2]>,
    pub long: Long,
}

/// What bounds a PDF that may turn out to be long.
#[derive(Clone, Copy)]
pub(in crate::browser) struct Long {
    /// It may fill so many sheets that they are worth guessing.
    pub may_be: bool,
    /// Nobody gets a larger one.
    pub limit_bytes: u64,
    /// Of all that is done to print it.
    pub deadline: Instant,
}

/// What is known of a PDF after it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::browser) enum Counted {
    Pages(u32),
    /// It was not written as Chromium writes them.
    Unknown,
    /// It is larger than anybody gets, whatever its pages.
    TooLarge,
}

/// What was printed, and what there is to say of it.
pub(in crate::browser) async fn print(print: &Print<'_>) -> Result<(Source, Option<String>), StepError> {
    let extras = &print.options.extras;
    // Bookmarks are made of the tags: who asks for those gets both.
    if let Some(tagged) = extras.tagged.or(extras.outline.then_some(true)) {
        return Ok((once(print, tagged).await?, None));
    }
    let limit = print.page.limits.tagged_pages;
    let is_guessed_long = print.long.may_be && {
        let guess = clip::estimated_pages(print.page, print.options, print.layout).await?;
        is_more(guess, limit)
    };
    let started = Instant::now();
    let source = once(print, !is_guessed_long).await?;
    let (source, counted) = count(print.page, source, print.long.limit_bytes).await?;
    let is_long = counted.is_long(limit, is_guessed_long);
    let untagged = is_long.then(|| counted.untagged(limit, print.long.limit_bytes));
    if is_long == is_guessed_long {
        return Ok((source, untagged));
    }
    let left = print.long.deadline.saturating_duration_since(Instant::now());
    if !has_time(started.elapsed(), left, is_long) {
        let sentence = format!(
            "{}: there was no time to print the PDF again, so it is {}",
            counted.reason(limit, print.long.limit_bytes),
            if is_long { "tagged" } else { "not tagged" }
        );
        return Ok((source, Some(sentence)));
    }
    print::close(print.page, source)?;
    Ok((once(print, !is_long).await?, untagged))
}

/// How many pages a PDF has that was not read yet, and where it is read from then on: its first piece is kept, which
/// is the whole file of most. One of more than `limit_bytes` is not read to its end, for nobody gets it.
pub(in crate::browser) async fn count(
    page: &OpenPage,
    source: Source,
    limit_bytes: u64,
) -> Result<(Source, Counted), StepError> {
    let handle = match source {
        Source::Stream(handle, _) => handle,
        Source::Held(first, rest) => return count_again(page, first, *rest).await,
        Source::Text(_) | Source::Document(_) | Source::Ended => return Ok((source, Counted::Unknown)),
    };
    let mut counter = PageCounter::default();
    let (first, mut is_last) = print::piece(page, &handle, None).await?;
    counter.pass(&first);
    let mut is_whole = true;
    let mut bytes = first.len() as u64;
    while !is_last && bytes <= limit_bytes {
        let (more, is_end) = print::piece(page, &handle, None).await?;
        counter.pass(&more);
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
        print::close(page, rest)?;
        return Ok((Source::Held(first, Box::new(Source::Ended)), known));
    }
    Ok((Source::Held(first, Box::new(rest)), known))
}

/// The same of a file whose first piece is held, for it was counted before.
async fn count_again(page: &OpenPage, first: Bytes, rest: Source) -> Result<(Source, Counted), StepError> {
    let mut counter = PageCounter::default();
    counter.pass(&first);
    if let Source::Stream(handle, from) = &rest {
        let mut from = *from;
        loop {
            let (more, is_last) = print::piece(page, handle, from.take()).await?;
            counter.pass(&more);
            if is_last || more.is_empty() {
                break;
            }
        }
    }
    let known = counter.pages().map_or(Counted::Unknown, Counted::Pages);
    Ok((Source::Held(first, Box::new(rest)), known))
}

impl Counted {
    /// Whether it gets no tags. What is not known does not change what was guessed; without tags a file that is too
    /// large may be small enough.
    fn is_long(self, limit: u64, is_guessed_long: bool) -> bool {
        match self {
            Self::Pages(pages) => u64::from(pages) > limit,
            Self::Unknown => is_guessed_long,
            Self::TooLarge => true,
        }
    }

    fn reason(self, limit: u64, limit_bytes: u64) -> String {
        match self {
            Self::Pages(pages) => {
                format!("{pages} pages, the limit of tagged ones is {limit} (browser.tagged_pages_limit)")
            }
            Self::Unknown => {
                format!("its pages could not be counted, and it seems to have more than {limit}")
            }
            Self::TooLarge => {
                format!("with its tags it is larger than {limit_bytes} bytes (storage.output_limit_bytes)")
            }
        }
    }

    fn untagged(self, limit: u64, limit_bytes: u64) -> String {
        const REMEDY: &str = "the option tagged: true tags it all the same";
        match self {
            Self::Pages(pages) => format!(
                "{pages} pages, more than {limit}: the PDF is not tagged (browser.tagged_pages_limit); {REMEDY}"
            ),
            Self::Unknown => format!(
                "{}: the PDF is not tagged (browser.tagged_pages_limit); {REMEDY}",
                self.reason(limit, limit_bytes)
            ),
            Self::TooLarge => {
                format!("{}: the PDF is not tagged", self.reason(limit, limit_bytes))
            }
        }
    }
}

async fn once(print: &Print<'_>, tagged: bool) -> Result<Source, StepError> {
    print::to_stream(print.page, print.options, (print.banners.clone(), tagged)).await
}

/// Whether it can be printed again within what is `left` of the print's deadline, where the first one took `took`:
/// without tags in as much time, with them in thrice. Begun too late, it would run into the deadline, and the file
/// that was there already would be lost.
fn has_time(took: Duration, left: Duration, without_tags: bool) -> bool {
    took * if without_tags { 1 } else { 3 } < left
}

#[expect(clippy::cast_precision_loss, reason = "a limit of pages lies far below 2^52")]
fn is_more(pages: f64, limit: u64) -> bool {
    pages > limit as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_print_has_what_is_left_and_no_more() {
        let seconds = Duration::from_secs;
        for (took, left, without_tags, has) in [
            (2, 3, true, true),
            (2, 2, true, false),
            (2, 7, false, true),
            (2, 6, false, false),
            (2, 0, true, false),
        ] {
            assert_eq!(
                has_time(seconds(took), seconds(left), without_tags),
                has,
                "{took} {left} {without_tags}"
            );
        }
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        for is_guessed_long in [true, false] {
            assert_eq!(Counted::Unknown.is_long(20, is_guessed_long), is_guessed_long);
            assert!(!Counted::Pages(20).is_long(20, is_guessed_long));
            assert!(Counted::Pages(21).is_long(20, is_guessed_long));
        }
        let told = Counted::Unknown.untagged(20, 99);
        assert!(told.starts_with("its pages could not be counted"), "{told}");
    }
}
