//! Pages that are wider than their sheet. Hazard: Chromium shrinks them, down to two thirds, cuts off what is wider still,
//! and reports neither.
//!
//! The scale is in the file: each page's content begins with the matrix that takes CSS pixels to paper. So a page that fits
//! costs only a look at a few bytes of the stream. One that was drawn smaller is measured in the tab, which still shows it,
//! and asked for its rules of `@page`, which may be the reason: a larger size of its own is shrunk as a whole, and its
//! margins win over the options. The file exists by then: a page that hangs or throws at the questions costs its warning and
//! not the file.

use std::io::Read;

use flate2::read::ZlibDecoder;
use memchr::memmem;

use super::measure::measure;
use super::page_rules::PageRules;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::{OpenPage, WARNING_LIMIT};
use crate::domain::format_opts::{PageOptions, Viewport, whole_pixels};

const MEASURE: &str = include_str!("../../../assets/page_width.js");
const POINTS_PER_PIXEL: f64 = 0.75;
/// How much of a content is decompressed: both matrices are at its beginning.
const LOOKED_AT_BYTES: u64 = 2_048;
/// Most streams that are looked at: pictures may come before the first page.
const STREAMS_LIMIT: usize = 1_000;
/// Chromium rounds sheets to points: a scale above this is not shrunk.
const TOLERANCE: f64 = 0.99;
/// Chromium shrinks no page below two thirds, and cuts nothing off above: rounded up.
const LEAST: f64 = 0.67;
/// Widths that differ by a pixel are the same.
const SLACK_PX: f64 = 1.5;

/// Looks for the scale in a PDF as it passes.
#[derive(Debug, Default)]
pub(super) struct ScaleFinder {
    looked_at: usize,
    is_found: bool,
}

impl ScaleFinder {
    /// A piece of the file passes; how large the pages are drawn, in points a CSS pixel, when that is found in it.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Option<f64> {
        if self.is_found {
            return None;
        }
        for at in memmem::find_iter(piece, b"stream\n") {
            if piece[..at].ends_with(b"end") {
                continue;
            }
            if self.looked_at >= STREAMS_LIMIT {
                return None;
            }
            self.looked_at += 1;
            let scale = begin_of(&piece[at + b"stream\n".len()..]).and_then(|text| scale_of(&text));
            if scale.is_some() {
                self.is_found = true;
                return scale;
            }
        }
        None
    }
}

/// Warns of a page that was drawn smaller than `options` say because it is wider than its sheet.
///
/// # Errors
/// That the page ended; a question that it does not answer, or not in time, is no error.
pub(super) async fn warn(page: &mut OpenPage, drawn: f64, options: &PageOptions) -> Result<(), StepError> {
    if drawn / (POINTS_PER_PIXEL * options.scale) > TOLERANCE {
        return Ok(());
    }
    page.is_measured = true;
    let limit = WARNING_LIMIT.min(page.limits.print);
    match page.within(limit, warning(page, drawn, options)).await {
        Ok(Some(sentence)) => page.warnings.push(&sentence),
        Ok(None)
        | Err(StepError::Late | StepError::Refused(_) | StepError::Unready(_) | StepError::Job(_)) => {}
        Err(ended @ (StepError::Ended(_) | StepError::NetworkLost)) => return Err(ended),
    }
    Ok(())
}

async fn warning(page: &OpenPage, drawn: f64, options: &PageOptions) -> Result<Option<String>, StepError> {
    let layout = PageRules::asked(page, options).await?.widest(options);
    let shrunk = drawn / (POINTS_PER_PIXEL * options.scale * layout.shrink());
    if shrunk > TOLERANCE {
        return Ok(None);
    }
    let room = layout.width_px(options);
    let viewport = Viewport { width_px: whole_pixels(room.round()), ..Viewport::default() };
    let width = measure(page, &options.emulation, viewport, MEASURE).await?;
    let Some(width) = width.filter(|width| *width > room + SLACK_PX) else { return Ok(None) };
    let percent = (shrunk * 100.0).round();
    let (width, within) = (width.round(), room.round());
    let cut = within / shrunk;
    let cut = if shrunk < LEAST && width > cut + SLACK_PX {
        format!(", and what lies beyond {} px is cut off", cut.round())
    } else {
        String::new()
    };
    Ok(Some(format!(
        "the page is {width} px wide and its sheet has room for {within} px: it was printed at {percent} % of its \
         size{cut} (let it be narrower, or take a wider sheet: format, landscape, margin, scale)"
    )))
}

/// The beginning of a compressed stream that may be a page's content.
fn begin_of(stream: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    // An error at the cut end leaves the beginning.
    let _ = ZlibDecoder::new(stream).take(LOOKED_AT_BYTES).read_to_end(&mut text);
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

/// A content begins with the matrix from the device to points, turned upside down, and the first one within it takes CSS
/// pixels to the device.
fn scale_of(content: &str) -> Option<f64> {
    let mut matrices = content.split(" cm").map(|before| {
        let words: Vec<f64> =
            before.split_whitespace().rev().map_while(|word| word.parse().ok()).take(6).collect();
        <[f64; 6]>::try_from(words).ok()
    });
    let [_, _, down, 0.0, 0.0, outer] = matrices.next()?? else { return None };
    if outer <= 0.0 || (outer + down).abs() > 1e-6 {
        return None;
    }
    // The six numbers are in reverse order here. A picture, drawn upside down, is passed over.
    let inner = matrices.flatten().find_map(|matrix| match matrix {
        [_, _, down, 0.0, 0.0, across] if across > 0.0 && (across - down).abs() < 1e-6 => Some(across),
        _ => None,
    });
    inner.map(|inner| outer * inner)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    const CONTENT: &str = ".23999999 0 0 -.23999999 0 842.88 cm\nq\n0 0 2483.3 3512.5 re\nW* n\nq\n\
        100 0 0 -100 5 5 cm\nQ\n2.0833335 0 0 2.0833335 0 0 cm\n1 0 0 RG";

    fn deflated(text: &str) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_scale_is_found_behind_other_streams_and_once() {
        let mut file =
            b"%PDF-1.4\n1 0 obj\n<<>> stream\n\xff\xd8 no deflate\nendstream\n2 0 obj stream\n".to_vec();
        file.extend(deflated("/CIDInit /ProcSet findresource begin"));
        let mut finder = ScaleFinder::default();
        assert_eq!(finder.pass(&file), None);
        file.extend(b"\nendstream\n3 0 obj\n<</Length 9>> stream\n");
        file.extend(deflated(CONTENT));
        let scale = finder.pass(&file).unwrap();
        assert!((scale - 0.5).abs() < 1e-6, "{scale}");
        assert_eq!(finder.pass(&file), None);
    }

    #[test]
    fn what_is_no_content_of_a_page_has_no_scale() {
        for text in [
            "",
            "1 0 0 1 0 0 cm",
            "a cm b cm",
            ".24 0 0 -.24 0 842 cm",
            ".24 0 0 .24 0 842 cm 3 0 0 3 0 0 cm",
        ] {
            assert_eq!(scale_of(text), None, "{text}");
        }
    }
}
