//! One HTML file of an OpenDocument file: a text, a workbook or slides, as LibreOffice saves whatever it can open.
//!
//! Nothing of the document gets into the HTML as it is written there: elements are ours, texts are escaped, styles are made of values
//! that were understood, addresses lead to harmless schemes, and pictures are in it. So there is no script in it, nothing that
//! handles an event, and nothing that it fetches.
//!
//! ```text
//! package ─ styles ─┬─ text ─ lists, tables, drawings
//!                   ├─ sheets ─ grid, objects         ─ page
//!                   └─ slides
//! ```

mod counters;
mod css;
mod drawings;
mod grid;
mod html;
mod limits;
mod lists;
mod look;
mod numbers;
mod objects;
mod package;
mod page;
mod pictures;
mod sheets;
mod slides;
mod styles;
mod tables;
mod text;
mod writer;
mod xml;

pub use limits::{Error, Limits};

use package::Package;
use pictures::Drawn;
use roxmltree::Document;
use writer::Writer;

/// Answers a file's bytes, by its name.
pub type Files<'f> = dyn FnMut(&str) -> Option<Vec<u8>> + 'f;

/// What else there is of a document, made by others.
#[derive(Default)]
pub struct Extras<'e> {
    /// LibreOffice's own HTML of the document, which is searched for pictures of what a package has no picture of; empty for none.
    pub html: &'e [u8],
    /// The files beside that HTML, by name.
    pub file: Option<&'e mut Files<'e>>,
    /// A picture of each slide that is not hidden, in order: PNG, JPEG, GIF or WebP; empty for one that nobody can draw.
    pub slides: &'e [Vec<u8>],
}

/// A document as HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file.
    pub html: String,
    /// Pictures of the document that are not in it: those of other hosts, which are never fetched, and what nobody could draw.
    pub missing_pictures: usize,
}

/// Whether a document has charts, drawings or formulas, or pictures of a kind that browsers do not show: [`Extras::html`] shows them.
///
/// # Errors
///
/// [`Error`] for what is no such document or passes a limit.
pub fn needs_pictures(document: &[u8], limits: &Limits) -> Result<bool, Error> {
    let mut package = Package::open(document, limits)?;
    let unshown = |name: String| {
        name.starts_with("ObjectReplacements/")
            || (name.starts_with("Pictures/") && !pictures::is_shown(&name))
    };
    if package.names().any(unshown) {
        return Ok(true);
    }
    let content = package.text("content.xml")?;
    let mut elements = content.split('<').skip(1);
    Ok(elements
        .any(|element| drawings::is_only_drawn(element.split([' ', '>', '/']).next().unwrap_or_default())))
}

/// Writes a document as HTML.
///
/// # Errors
///
/// [`Error`] for what is no such document or passes a limit.
pub fn write(document: &[u8], extras: Extras<'_>, limits: &Limits) -> Result<Page, Error> {
    let mut package = Package::open(document, limits)?;
    let (styles, content) = (package.text("styles.xml")?, package.text("content.xml")?);
    let meta = package.text("meta.xml")?;
    let styles = parsed("styles.xml", &styles, limits)?;
    let content = xml::parse("content.xml", &content, limits)?;
    let title = xml::parse("meta.xml", &meta, limits).map(|meta| page::title(&meta)).unwrap_or_default();
    let packed = package.names().filter(|name| name.starts_with("Pictures/")).collect();
    let mut none = |_: &str| None;
    let file = extras.file.unwrap_or(&mut none);
    let drawn = Drawn::find(extras.html, file, &packed);
    let mut writer = Writer::new((&styles, &content), &mut package, drawn, *limits);
    let html = writer.file(&content, &title, extras.slides)?;
    Ok(Page { html, missing_pictures: writer.missing })
}

fn parsed<'a>(name: &str, text: &'a str, limits: &Limits) -> Result<Document<'a>, Error> {
    // A package may do without styles.
    xml::parse(name, if text.is_empty() { "<none/>" } else { text }, limits)
}
