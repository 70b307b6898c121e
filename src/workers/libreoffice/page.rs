//! HTML of a document that is open: made in its child, of what LibreOffice saves of it.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use document_html::{Error, Extras, Limits};
use pdf_raster::{Artist, Fonts, Format, Resolution};

use super::HtmlOrder;

/// Slides are shown 960 pixels wide: so they are sharp on a screen of twice as many.
const DPI: u16 = 144;
/// A slide is a metre and more wide where it has more.
const SLIDE_PIXELS: u64 = 40_000_000;
/// Longer than this, a slide is likely to be photographs, which are shorter as JPEG.
const LONG_PICTURE_BYTES: usize = 400_000;
const JPEG: Format = Format::Jpeg(85);

/// Writes the document into `made`, and answers what its author should know.
pub(super) fn make(
    document: &lok::Document<'_>,
    order: &HtmlOrder<'_>,
    work: &Path,
    made: &Path,
) -> Result<Vec<String>, String> {
    let saved = work.join("saved");
    document.save_as(&saved, &order.saved, "")?;
    let saved = fs::read(saved).map_err(|error| error.to_string())?;
    let limits = Limits { output_bytes: order.output_bytes, ..Limits::default() };
    let mut extras = Drawn::default();
    if order.slides {
        extras.slides = slides(document, work)?;
    } else if document_html::needs_pictures(&saved, &limits).map_err(|error| error.to_string())? {
        let page = work.join("drawn.html");
        document.save_as(&page, "html", "EmbedImages")?;
        extras.html = fs::read(page).map_err(|error| error.to_string())?;
    }
    let mut file = |name: &str| beside(work, name, order.output_bytes);
    let extras = Extras { html: &extras.html, file: Some(&mut file), slides: &extras.slides };
    let page = document_html::write(&saved, extras, &limits).map_err(|error| match error {
        Error::Output { .. } => format!("{error} (workers.scratch_limit_mb)"),
        Error::Package(_) | Error::Part { .. } | Error::Depth { .. } => error.to_string(),
    })?;
    fs::write(made, page.html).map_err(|error| error.to_string())?;
    Ok(missing(page.missing_pictures).into_iter().collect())
}

/// What is drawn of a document.
#[derive(Default)]
struct Drawn {
    html: Vec<u8>,
    slides: Vec<Vec<u8>>,
}

/// A picture of each slide that is not hidden.
fn slides(document: &lok::Document<'_>, work: &Path) -> Result<Vec<Vec<u8>>, String> {
    let path = work.join("slides.pdf");
    document.save_as(&path, "pdf", "")?;
    let file = fs::read(path).map_err(|error| error.to_string())?;
    let document = pdf_raster::Document::open(file).map_err(|error| error.to_string())?;
    // LibreOffice puts every font into the file.
    let mut artist = Artist::new(&document, &Arc::new(Fonts::in_folders(&[])), SLIDE_PIXELS);
    let mut draw = |number: u32, format| {
        artist.picture(number, Resolution::of_dpi(DPI), format).map_err(|error| error.to_string())
    };
    (1..=document.page_count())
        .map(|number| {
            let picture = draw(number, Format::Png)?;
            if picture.len() < LONG_PICTURE_BYTES {
                return Ok(picture);
            }
            let photograph = draw(number, JPEG)?;
            Ok(if photograph.len() < picture.len() { photograph } else { picture })
        })
        .collect()
}

/// A file that LibreOffice wrote beside its page.
fn beside(work: &Path, name: &str, limit: usize) -> Option<Vec<u8>> {
    let is_name = name.bytes().all(|one| one.is_ascii_alphanumeric() || matches!(one, b'_' | b'-' | b'.'));
    if !is_name || !name.starts_with("drawn") {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(work.join(name)).ok()?;
    file.take(limit as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn missing(pictures: usize) -> Option<String> {
    let (these, are) = if pictures == 1 { ("1 picture", "is") } else { ("pictures", "are") };
    let count = if pictures > 1 { format!("{pictures} ") } else { String::new() };
    (pictures > 0).then(|| {
        format!(
            "{count}{these} of the document {are} not in the html: it lies at an address, which is never fetched, or nobody could \
             draw it; put pictures into the document"
        )
    })
}
