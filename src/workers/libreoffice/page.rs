//! HTML of an open document: made in its child, from what LibreOffice saves.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use document_html::{Error, Extras, Limits};
use pdf_raster::{Artist, Fonts, Format, RasterError, Resolution};

use super::HtmlOptions;

/// Slides are shown 960 pixels wide; this is twice as many, for dense screens.
const DPI: u16 = 144;
/// Most pixels of a slide's picture: one of more is over a metre wide.
const SLIDE_PIXELS: u64 = 40_000_000;
/// A longer PNG probably shows photographs, so JPEG is tried, too.
const LONG_PICTURE_BYTES: usize = 400_000;
const JPEG: Format = Format::Jpeg(85);

/// Writes the document as HTML into `result`; returns warnings for its author. `folder` is for files on the way.
pub(super) fn write_html(
    document: &lok::Document<'_>,
    options: &HtmlOptions<'_>,
    folder: &Path,
    result: &Path,
) -> Result<Vec<String>, String> {
    let saved = folder.join("saved");
    document.save_as(&saved, &options.saved, "")?;
    let saved = fs::read(saved).map_err(|error| error.to_string())?;
    let limits = Limits { output_bytes: options.output_bytes, ..Limits::default() };
    let mut extras = Drawn::default();
    if options.slides {
        extras.slides = slides(document, folder, options.output_bytes)?;
    } else if document_html::needs_pictures(&saved, &limits).map_err(|error| error.to_string())? {
        let page = folder.join("drawn.html");
        document.save_as(&page, "html", "EmbedImages")?;
        extras.html = fs::read(page).map_err(|error| error.to_string())?;
    }
    let mut file = |name: &str| beside(folder, name, options.output_bytes);
    let extras = Extras { html: &extras.html, file: Some(&mut file), slides: &extras.slides };
    let page = document_html::write(&saved, extras, &limits).map_err(|error| message_with_limit(&error))?;
    fs::write(result, page.html).map_err(|error| error.to_string())?;
    Ok(missing(page.missing_pictures).into_iter().collect())
}

/// What LibreOffice draws for the parts that the HTML writer cannot: a page with pictures, or slides.
#[derive(Default)]
struct Drawn {
    html: Vec<u8>,
    slides: Vec<Vec<u8>>,
}

/// The error message, with the limit's key where a limit was exceeded.
fn message_with_limit(error: &Error) -> String {
    let key = if let Error::Output { .. } = error { " (workers.scratch_limit_mb)" } else { "" };
    format!("{error}{key}")
}

/// A picture of each slide that is not hidden; an empty one of a slide that cannot be drawn.
fn slides(document: &lok::Document<'_>, folder: &Path, limit: usize) -> Result<Vec<Vec<u8>>, String> {
    let path = folder.join("slides.pdf");
    document.save_as(&path, "pdf", "")?;
    let file = fs::read(path).map_err(|error| error.to_string())?;
    drawn_slides(file, limit)
}

fn drawn_slides(pdf: Vec<u8>, limit: usize) -> Result<Vec<Vec<u8>>, String> {
    let document = pdf_raster::Document::open(pdf).map_err(|error| error.to_string())?;
    // LibreOffice puts every font into the file.
    let mut artist = Artist::new(&document, &Arc::new(Fonts::in_folders(&[])), SLIDE_PIXELS);
    let (mut slides, mut bytes) = (Vec::new(), 0_usize);
    for number in 1..=document.page_count() {
        let slide = match slide(&mut artist, number) {
            Ok(slide) => slide,
            Err(RasterError::Undrawable { .. } | RasterError::TooManyPixels { .. }) => Vec::new(),
            Err(error) => return Err(error.to_string()),
        };
        // Checked early: the HTML is longer still, with its pictures in base64.
        bytes = bytes.saturating_add(slide.len());
        if bytes > limit {
            return Err(message_with_limit(&Error::Output { limit }));
        }
        slides.push(slide);
    }
    Ok(slides)
}

/// A slide's picture, in the shorter format.
fn slide(artist: &mut Artist<'_>, number: u32) -> Result<Vec<u8>, RasterError> {
    let mut draw = |format| artist.picture(number, Resolution::of_dpi(DPI), format);
    let picture = draw(Format::Png)?;
    if picture.len() < LONG_PICTURE_BYTES {
        return Ok(picture);
    }
    let photograph = draw(JPEG)?;
    Ok(if photograph.len() < picture.len() { photograph } else { picture })
}

/// A file that LibreOffice wrote beside its page. The name comes from the document, so only plain ones are opened.
fn beside(folder: &Path, name: &str, limit: usize) -> Option<Vec<u8>> {
    let is_name = name.bytes().all(|one| one.is_ascii_alphanumeric() || matches!(one, b'_' | b'-' | b'.'));
    if !is_name || !name.starts_with("drawn") {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(folder.join(name)).ok()?;
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A PDF with a page of each size, in points.
    fn pdf(sides: &[u32]) -> Vec<u8> {
        let kids: Vec<_> = (0..sides.len()).map(|page| format!("{} 0 R", page + 3)).collect();
        let mut objects = vec![
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            format!("<</Type/Pages/Count {}/Kids[{}]>>", kids.len(), kids.join(" ")),
        ];
        objects.extend(
            sides.iter().map(|side| format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 {side} {side}]>>")),
        );
        let (mut file, mut table) = ("%PDF-1.4\n".to_owned(), String::new());
        for (number, object) in (1..).zip(&objects) {
            let _ = writeln!(table, "{:010} 00000 n ", file.len());
            let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
        }
        let (count, at) = (objects.len() + 1, file.len());
        let _ = write!(file, "xref\n0 {count}\n0000000000 65535 f \n{table}");
        let _ = write!(file, "trailer\n<</Size {count}/Root 1 0 R>>\nstartxref\n{at}\n%%EOF\n");
        file.into_bytes()
    }

    #[test]
    fn a_slide_that_cannot_be_drawn_is_left_out_and_pictures_are_bounded_while_they_are_drawn() {
        let slides = drawn_slides(pdf(&[100, 14_000, 100]), 1 << 20).unwrap();
        let drawn: Vec<_> = slides.iter().map(|slide| !slide.is_empty()).collect();
        assert_eq!(drawn, [true, false, true]);
        let one = slides[0].len();
        assert_eq!(drawn_slides(pdf(&[100, 100]), 2 * one).unwrap().len(), 2);
        // The third would not be drawn any more.
        let error = drawn_slides(pdf(&[100, 100, 14_000]), 2 * one - 1).unwrap_err();
        assert!(error.contains(&format!("the {} bytes allowed", 2 * one - 1)), "{error}");
        assert!(error.contains("(workers.scratch_limit_mb)"), "{error}");
    }
}
