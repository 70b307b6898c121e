//! Pages are drawn as another program draws them, within a tolerance: poppler, which has nothing in common with ours.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod compare;
mod documents;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, LazyLock};

use compare::{Likeness, Picture, poppler};
use pdf_raster::{Artist, Document, Fonts, Format, PageRange, RasterError, Resolution, Selection};

static FONTS: LazyLock<Arc<Fonts>> =
    LazyLock::new(|| Arc::new(Fonts::in_folders(&[PathBuf::from("/usr/share/fonts")])));

const DPI: u16 = 100;
const PIXELS: u64 = 10_000_000;

fn draw(pdf: &[u8], page: u32, format: Format) -> (Vec<u8>, Vec<String>) {
    let document = Document::open(pdf.to_vec()).unwrap();
    let mut artist = Artist::new(&document, &FONTS, PIXELS);
    let picture = artist.picture(page, Resolution::of_dpi(DPI), format).unwrap();
    (picture, artist.warnings())
}

fn decode_jpeg(jpeg: &[u8]) -> Picture {
    let decoded = image::load_from_memory_with_format(jpeg, image::ImageFormat::Jpeg).unwrap().to_rgb8();
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
    Picture { width, height, colours: decoded.into_raw() }
}

#[track_caller]
fn assert_like(name: &str, pdf: &[u8], most: &Likeness) {
    let (ours, _) = draw(pdf, 1, Format::Png);
    let theirs = poppler(pdf, DPI);
    let (ours, theirs) = (Picture::decode(&ours), Picture::decode(&theirs));
    assert!(ours.has_ink(), "{name}: nothing is drawn");
    let found = ours.compare(&theirs);
    assert!(found.is_within(most), "{name}: {found:?}");
}

#[test]
fn latin_fonts_that_are_not_in_the_file() {
    assert_like("fonts", &documents::fonts(), &Likeness { mean: 6.0, apart: 0.05 });
}

#[test]
fn ideographs_in_fonts_that_are_not_in_the_file() {
    assert_like("ideographs", &documents::ideographs(), &Likeness { mean: 6.0, apart: 0.05 });
}

#[test]
fn transparency_and_blend_modes() {
    assert_like("blends", &documents::blends(), &Likeness { mean: 2.0, apart: 0.01 });
}

#[test]
fn fields_of_forms() {
    assert_like("form", &documents::form(), &Likeness { mean: 2.0, apart: 0.01 });
}

#[test]
fn a_page_that_is_cropped_and_turned() {
    let pdf = documents::turned();
    let picture = Picture::decode(&draw(&pdf, 1, Format::Png).0);
    assert_eq!((picture.width, picture.height), (139, 208), "100 × 150 points, turned");
    assert_like("turned", &pdf, &Likeness { mean: 3.0, apart: 0.02 });
}

#[test]
fn a_jpeg_is_the_same_picture() {
    // With colours, and without.
    for pdf in [documents::blends(), documents::form()] {
        let (png, jpeg) = (draw(&pdf, 1, Format::Png).0, draw(&pdf, 1, Format::Jpeg(90)).0);
        assert!(jpeg.starts_with(b"\xff\xd8\xff"));
        let found = Picture::decode(&png).compare(&decode_jpeg(&jpeg));
        assert!(found.is_within(&Likeness { mean: 2.0, apart: 0.01 }), "{found:?}");
        assert!(draw(&pdf, 1, Format::Jpeg(20)).0.len() < jpeg.len());
    }
}

#[test]
fn a_picture_says_how_large_it_is_meant_to_be() {
    let (png, _) = draw(&documents::form(), 1, Format::Png);
    let reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let size = reader.info().pixel_dims.unwrap();
    assert_eq!((size.xppu, size.yppu), (3_937, 3_937));
}

#[test]
fn what_is_wrong_is_reported() {
    let document = Document::open(documents::pages(3)).unwrap();
    assert_eq!(document.page_count(), 3);
    let mut artist = Artist::new(&document, &FONTS, 100_000);
    let error = artist.picture(4, Resolution::of_dpi(72), Format::Png).unwrap_err();
    assert_eq!(error, RasterError::NoSuchPage { page: 4, count: 3 });
    let error = artist.picture(1, Resolution::of_dpi(150), Format::Png).unwrap_err();
    let limit = 100_000;
    assert_eq!(error, RasterError::TooManyPixels { page: 1, width: 625, height: 417, limit });
    let error = Document::open(b"no PDF".to_vec()).err();
    assert_eq!(error, Some(RasterError::Damaged));
    let (_, warnings) = draw(&documents::unknown_font(), 1, Format::Png);
    assert!(
        warnings[0].starts_with("the font 'Nowhere-Bold' is not in the PDF and not installed; "),
        "{warnings:?}"
    );
    let (_, warnings) = draw(&documents::fonts(), 1, Format::Png);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_page_as_large_as_can_be_written_is_refused_before_it_is_drawn() {
    let document = Document::open(documents::huge()).unwrap();
    let mut artist = Artist::new(&document, &FONTS, u64::MAX);
    let error = artist.picture(1, Resolution::of_dpi(1_200), Format::Png).unwrap_err();
    assert!(matches!(error, RasterError::TooLong { .. }), "{error}");
}

#[test]
fn ten_thousand_pages_are_counted_and_no_more_picked_than_may_be() {
    let document = Document::open(documents::same_pages(10_000)).unwrap();
    let all = Selection { within: None, ranges: vec![PageRange::ALL] };
    let refused = document.pick(&all, 200).unwrap_err();
    assert_eq!(refused, RasterError::TooManyPages { wanted: 10_000, limit: 200 });
    let last = Selection { within: None, ranges: vec![PageRange::one(10_000)] };
    assert_eq!(document.pick(&last, 200).unwrap(), [10_000]);
}

#[test]
fn a_password_to_open_it_is_asked_for_and_one_to_change_it_is_not() {
    let folder = std::env::temp_dir().join(format!("platen-encrypted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (plain, closed) = (folder.join("plain.pdf"), folder.join("closed.pdf"));
    std::fs::write(&plain, documents::form()).unwrap();
    let open = |user: &str| {
        let status = Command::new("qpdf")
            .args(["--encrypt", user, "owner", "256", "--"])
            .args([&plain, &closed])
            .status();
        assert!(status.unwrap().success(), "qpdf is missing (apt-get install qpdf)");
        Document::open(std::fs::read(&closed).unwrap()).map(|document| document.page_count())
    };
    assert_eq!((open("user"), open("")), (Err(RasterError::Encrypted), Ok(1)));
    std::fs::remove_dir_all(folder).unwrap();
}
