//! Whether a PDF is tagged: whether it has the structure of its text (headings, tables, paragraphs).
//!
//! Tags double the time of a long document and make it several times as large, so beyond a limit of pages it gets none. The
//! number of pages is known only after printing. So it is guessed by the page's area: a right guess is printed once, a wrong
//! one (a break before each line, a style sheet for print only) once more.

use std::time::{Duration, Instant};

use headless_chrome::protocol::cdp::IO;

use super::clip;
use super::page_count::{Counted, count};
use super::print_to_pdf;
use super::source::Source;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::format_opts::{Layout, PageOptions};

pub(super) struct Print<'a> {
    pub page: &'a OpenPage,
    pub options: &'a PageOptions,
    pub layout: &'a Layout,
    pub header_footer: Option<[String; 2]>,
    pub budget: PrintBudget,
}

/// What bounds a PDF that may turn out to be long.
#[derive(Clone, Copy)]
pub(super) struct PrintBudget {
    /// It may fill so many sheets that they are worth guessing.
    pub may_be_long: bool,
    /// Largest file that a job may have.
    pub limit_bytes: u64,
    /// Of all that is done to print it.
    pub deadline: Instant,
}

pub(super) struct Pdf {
    pub source: Source,
    /// Its pages, where they had to be known.
    pub counted: Option<Counted>,
    pub warning: Option<String>,
}

/// Prints the page with tags or without.
pub(super) async fn print(print: &Print<'_>) -> Result<Pdf, StepError> {
    let extras = &print.options.extras;
    let limit_bytes = print.budget.limit_bytes;
    // Bookmarks are made of the tags: a PDF with them has both.
    if let Some(tagged) = extras.tagged.or(extras.outline.then_some(true)) {
        let stream = once(print, tagged).await?;
        // The count shows whether the sheet that was fitted to the page is the only one.
        let (source, counted) = if print.options.auto_height {
            let (source, counted) = count(print.page, stream, limit_bytes).await?;
            (source, Some(counted))
        } else {
            (Source::Stream(stream, None), None)
        };
        return Ok(Pdf { source, counted, warning: None });
    }
    let limit = print.page.limits.tagged_pages;
    let is_guessed_long = print.budget.may_be_long && {
        let guess = clip::estimated_pages(print.page, print.options, print.layout).await?;
        is_more(guess, limit)
    };
    let started = Instant::now();
    let stream = once(print, !is_guessed_long).await?;
    let (source, counted) = count(print.page, stream, limit_bytes).await?;
    let is_long = is_long(counted, limit, is_guessed_long);
    let untagged = is_long.then(|| untagged(counted, limit, limit_bytes));
    if is_long == is_guessed_long {
        return Ok(Pdf { source, counted: Some(counted), warning: untagged });
    }
    let left = print.budget.deadline.saturating_duration_since(Instant::now());
    if !has_time(started.elapsed(), left, is_long) {
        let sentence = format!(
            "{}: there was no time to print the PDF again, so it is {}",
            reason(counted, limit, limit_bytes),
            if is_long { "tagged" } else { "not tagged" }
        );
        return Ok(Pdf { source, counted: Some(counted), warning: Some(sentence) });
    }
    source.close(print.page)?;
    let stream = once(print, !is_long).await?;
    // Tags change no page, so the count of the first print holds for the second one. A file that was too large has no count
    // yet, which only a fitted sheet needs.
    let (source, counted) = if print.options.auto_height && matches!(counted, Counted::TooLarge) {
        count(print.page, stream, limit_bytes).await?
    } else {
        (Source::Stream(stream, None), counted)
    };
    Ok(Pdf { source, counted: Some(counted), warning: untagged })
}

/// Whether it gets no tags. Where the count is unknown the guess holds; a file that is too large may be small enough without
/// tags.
fn is_long(counted: Counted, limit: u64, is_guessed_long: bool) -> bool {
    match counted {
        Counted::Pages(pages) => u64::from(pages) > limit,
        Counted::Unknown => is_guessed_long,
        Counted::TooLarge => true,
    }
}

fn reason(counted: Counted, limit: u64, limit_bytes: u64) -> String {
    match counted {
        Counted::Pages(pages) => {
            format!("{pages} pages, the limit of tagged ones is {limit} (browser.tagged_pages_limit)")
        }
        Counted::Unknown => format!("its pages could not be counted, and it seems to have more than {limit}"),
        Counted::TooLarge => {
            format!("with its tags it is larger than {limit_bytes} bytes (storage.output_limit_bytes)")
        }
    }
}

fn untagged(counted: Counted, limit: u64, limit_bytes: u64) -> String {
    const REMEDY: &str = "the option tagged: true tags it all the same";
    match counted {
        Counted::Pages(pages) => format!(
            "{pages} pages, more than {limit}: the PDF is not tagged (browser.tagged_pages_limit); {REMEDY}"
        ),
        Counted::Unknown => format!(
            "{}: the PDF is not tagged (browser.tagged_pages_limit); {REMEDY}",
            reason(counted, limit, limit_bytes)
        ),
        Counted::TooLarge => format!("{}: the PDF is not tagged", reason(counted, limit, limit_bytes)),
    }
}

async fn once(print: &Print<'_>, tagged: bool) -> Result<IO::StreamHandle, StepError> {
    print_to_pdf::print(print.page, print.options, print.header_footer.clone(), tagged).await
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
    fn a_pdf_that_cannot_be_counted_keeps_its_guess() {
        for is_guessed_long in [true, false] {
            assert_eq!(is_long(Counted::Unknown, 20, is_guessed_long), is_guessed_long);
            assert!(!is_long(Counted::Pages(20), 20, is_guessed_long));
            assert!(is_long(Counted::Pages(21), 20, is_guessed_long));
        }
        let sentence = untagged(Counted::Unknown, 20, 99);
        assert!(sentence.starts_with("its pages could not be counted"), "{sentence}");
    }
}
