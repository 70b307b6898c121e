//! Whether a PDF is tagged: whether it says which of its parts are headings, tables, paragraphs.
//!
//! Tags double the time of a long document and make it several times as large, so beyond a limit of pages it gets
//! none. How many pages it has is known when it is printed. It is guessed before, by the page's area, so that what is
//! guessed right is printed once; what was guessed wrong (a break before each line, a style sheet for print only) is
//! printed once more.

use std::time::{Duration, Instant};

use super::excerpt;
use super::fault::Trouble;
use super::page::OpenPage;
use super::page_rules::Layout;
use super::print::{self, Source};
use crate::domain::format_opts::PageOptions;

/// How a PDF is printed.
pub(super) struct Print<'a> {
    pub page: &'a OpenPage,
    pub options: &'a PageOptions,
    pub layout: &'a Layout,
    /// Header and footer.
    pub banners: Option<[String; 2]>,
    /// It may fill so many sheets that they are worth guessing.
    pub may_be_long: bool,
}

/// What was printed, and what there is to say of it.
pub(super) async fn print(print: &Print<'_>) -> Result<(Source, Option<String>), Trouble> {
    let extras = &print.options.extras;
    // Bookmarks are made of the tags: who asks for those gets both.
    if let Some(tagged) = extras.tagged.or(extras.outline.then_some(true)) {
        return Ok((once(print, tagged).await?, None));
    }
    let limit = print.page.limits.tagged_pages;
    let is_guessed_long = print.may_be_long && {
        let guess = excerpt::estimated_pages(print.page, print.options, print.layout).await?;
        is_more(guess, limit)
    };
    let started = Instant::now();
    let source = once(print, !is_guessed_long).await?;
    let (source, pages) = print::count(print.page, source).await?;
    let is_long = u64::from(pages) > limit;
    if is_long == is_guessed_long {
        return Ok((source, is_long.then(|| untagged(pages, limit))));
    }
    if !has_time(started.elapsed(), print.page.limits.print, is_long) {
        let sentence = format!(
            "{pages} pages, the limit of tagged ones is {limit} (browser.tagged_pages_limit): there was no time to \
             print the PDF again, so it is {}",
            if is_long { "tagged" } else { "not tagged" }
        );
        return Ok((source, Some(sentence)));
    }
    print::close(print.page, source)?;
    Ok((once(print, !is_long).await?, is_long.then(|| untagged(pages, limit))))
}

fn untagged(pages: u32, limit: u64) -> String {
    format!(
        "{pages} pages, more than {limit}: the PDF is not tagged (browser.tagged_pages_limit); the option tagged: true \
         tags it all the same"
    )
}

async fn once(print: &Print<'_>, tagged: bool) -> Result<Source, Trouble> {
    print::to_stream(print.page, print.options, (print.banners.clone(), tagged)).await
}

/// Whether it can be printed again within the whole print's deadline, where the first one took `took`: without tags
/// in as much time, with them in thrice.
fn has_time(took: Duration, limit: Duration, without_tags: bool) -> bool {
    took * if without_tags { 2 } else { 4 } < limit
}

#[expect(clippy::cast_precision_loss, reason = "a limit of pages lies far below 2^52")]
fn is_more(pages: f64, limit: u64) -> bool {
    pages > limit as f64
}
