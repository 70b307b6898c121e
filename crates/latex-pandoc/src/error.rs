//! Why pandoc made nothing.

use crate::texts::Place;

/// The longest part of pandoc's own words that is told.
const WORDS_LIMIT: usize = 300;

/// An error of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where it is, as far as pandoc says it.
    pub place: Option<Place>,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What pandoc printed to standard error before it gave up.
pub fn error(printed: &str) -> Error {
    let placed = printed.lines().position(|line| line.starts_with("Error at ")).and_then(|at| {
        let mut lines = printed.lines().skip(at);
        let place = place_in(lines.next()?);
        let what = lines.take_while(|line| line.starts_with("unexpected") || line.starts_with("expecting"));
        Some(Error {
            place,
            message: format!("pandoc cannot read this: {}", bounded(&what.collect::<Vec<_>>().join(", "))),
        })
    });
    placed
        .or_else(|| loop_in(printed))
        .or_else(|| reference_in(printed))
        .or_else(|| file_in(printed))
        .unwrap_or_else(|| {
            let mut said =
                printed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('['));
            let said = said.next().unwrap_or("it does not say why");
            Error { place: None, message: format!("pandoc makes nothing of this: {}", bounded(said)) }
        })
}

/// `Error at "main.tex" (line 3, column 20):`
fn place_in(line: &str) -> Option<Place> {
    let (file, rest) = line.strip_prefix("Error at \"")?.rsplit_once("\" (line ")?;
    let (number, _) = rest.split_once(',')?;
    Some(Place { file: file.to_owned(), line: number.parse().ok()? })
}

fn loop_in(printed: &str) -> Option<Error> {
    let name = printed.lines().find_map(|line| line.strip_prefix("Loop encountered in expanding macro "))?;
    let message = format!("the macro \\{} calls itself without an end", bounded(name.trim()));
    Some(Error { place: None, message })
}

/// What unpacks the file of styles says nothing of a file.
fn reference_in(printed: &str) -> Option<Error> {
    let is_archive = printed.contains("Data.Binary.Get.runGet") || printed.contains("Codec.Archive");
    let message = "reference.docx is no Word document; leave it out, or put one there".to_owned();
    is_archive.then_some(Error { place: None, message })
}

/// `File all.bib not found in resource path`, or one that may not be read or would have to be fetched.
fn file_in(printed: &str) -> Option<Error> {
    let file = printed.lines().find_map(|line| {
        let missing = || line.strip_prefix("File ")?.strip_suffix(" not found in resource path");
        let closed = || line.strip_prefix("pandoc: ")?.split_once(": withBinaryFile").map(|(file, _)| file);
        missing().or_else(closed).or_else(|| line.strip_prefix("Could not fetch "))
    })?;
    let file = bounded(file.trim());
    let message =
        format!("the bibliography '{file}' is not there; put it beside the template, in one archive");
    Some(Error { place: None, message })
}

fn bounded(words: &str) -> String {
    words.chars().take(WORDS_LIMIT).collect()
}
