//! Which pictures are taken, what is known of them, and what is refused how.

use office_picture::{Format, Limits, Picture, Turn, is_cut_short};

use crate::files;

fn read(bytes: &[u8]) -> Result<Picture, String> {
    Picture::read(bytes.to_vec(), &Limits::default())
}

fn fault(bytes: &[u8]) -> String {
    read(bytes).map(|picture| picture.format).expect_err("this picture should be refused")
}

/// A format, its file, its pixels, and its part's extension and content type.
type Example = (Format, Vec<u8>, (u32, u32), &'static str, &'static str);

fn every_format() -> Vec<Example> {
    vec![
        (Format::Png, files::png(6, 4), (6, 4), "png", "image/png"),
        (Format::Jpeg, files::jpeg(None), (16, 8), "jpeg", "image/jpeg"),
        (Format::Gif, files::gif(), (1, 1), "gif", "image/gif"),
        (Format::Bmp, files::bmp(5, 3), (5, 3), "bmp", "image/bmp"),
        (Format::Tiff, files::tiff(4, 2), (4, 2), "tiff", "image/tiff"),
        (Format::Emf, files::emf(), (96, 48), "emf", "image/x-emf"),
        (Format::Wmf, files::wmf(), (192, 96), "wmf", "image/x-wmf"),
        (Format::WebP, files::webp(3, 2), (3, 2), "png", "image/png"),
    ]
}

#[test]
fn what_browsers_show_is_told_from_its_beginning() {
    let boxes: [&[u8]; 3] = [b"\0\0\0\x0cftypavif", b"\0\0\0\x09metax", b"\0\0\0\x0bmdatxyz"];
    let shown = [Format::Png, Format::Jpeg, Format::Gif, Format::Bmp, Format::WebP];
    let pictures = every_format().into_iter().filter(|(format, ..)| shown.contains(format));
    let pictures = pictures.map(|(format, bytes, ..)| (format.name(), bytes));
    for (name, bytes) in pictures.chain([("AVIF", boxes.concat())]) {
        assert!(!is_cut_short(&bytes), "{name}");
        assert!(is_cut_short(&bytes[..bytes.len() - 2]), "{name}");
        assert!(is_cut_short(&bytes[..bytes.len() / 2 + 4]), "{name}");
    }
    let to_the_end = [boxes[0], b"\0\0\0\0mdatxyz"].concat();
    for other in [&b""[..], b"text", b"{}", b"<svg", b"\0\0\0\x20ftypisom\0", b"II", &to_the_end] {
        assert!(!is_cut_short(other), "{other:?}");
    }
}

#[test]
fn every_format_is_recognised_by_its_bytes_and_measured() {
    for (format, bytes, size, extension, content_type) in every_format() {
        let picture = read(&bytes).unwrap_or_else(|fault| panic!("{format:?}: {fault}"));
        assert_eq!(picture.format, format);
        assert_eq!((picture.width, picture.height), size, "{format:?}");
        assert_eq!((picture.extension(), picture.content_type()), (extension, content_type));
        if format != Format::WebP {
            assert_eq!(picture.bytes, bytes, "{format:?} is stored as it came");
        }
    }
}

#[test]
fn a_picture_cut_short_anywhere_is_a_fault_and_never_a_panic() {
    for (format, bytes, ..) in every_format() {
        for length in 0..bytes.len() {
            let fault = fault(&bytes[..length]);
            assert!(!fault.contains("  ") && !fault.ends_with('.'), "{fault}");
        }
        let nearly_all = fault(&bytes[..bytes.len() - 1]);
        assert!(nearly_all.contains("cut short"), "{format:?}: {nearly_all}");
    }
}

#[test]
fn bytes_changed_at_random_never_panic() {
    let mut state = 88_172_645_463_325_252_u64;
    for (_, bytes, ..) in every_format() {
        for _ in 0..2000 {
            let mut changed = bytes.clone();
            for _ in 0..3 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let at = usize::try_from(state % changed.len() as u64).unwrap();
                changed[at] = state.to_le_bytes()[4];
            }
            let small = Limits { decoded_pixels: 10_000, ..Limits::default() };
            let _ = Picture::read(changed, &small);
        }
    }
}

#[test]
fn a_png_that_claims_more_pixels_than_allowed_is_refused_before_it_is_decoded() {
    let mut bomb = files::png(6, 4);
    bomb[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]);
    let fault = fault(&bomb);
    assert!(fault.contains("100000 × 100000 pixels") && fault.contains("make it smaller"), "{fault}");
}

#[test]
fn a_webp_is_held_to_the_pixels_that_may_be_decoded() {
    let limits = Limits { decoded_pixels: 5, ..Limits::default() };
    let fault = Picture::read(files::webp(3, 2), &limits).map(|_| ()).unwrap_err();
    assert!(fault.contains("3 × 2 pixels, and 5 are allowed"), "{fault}");
}

#[test]
fn a_webp_keeps_every_pixel_as_png() {
    let picture = read(&files::webp(3, 2)).unwrap();
    let (pixels, info) = files::decode_png(&picture.bytes);
    assert_eq!((info.width, info.height, info.color_type), (3, 2, png::ColorType::Rgba));
    assert_eq!(pixels, files::pixels(3, 2));
}

#[test]
fn a_file_of_too_many_bytes_is_refused() {
    let limits = Limits { bytes: 10, ..Limits::default() };
    assert!(Picture::read(files::gif(), &limits).map(|_| ()).unwrap_err().contains("10 are allowed"));
}

#[test]
fn the_resolution_is_what_the_file_says() {
    let close = |dpi: (f64, f64), wanted: (f64, f64)| {
        (dpi.0 - wanted.0).abs() < 0.1 && (dpi.1 - wanted.1).abs() < 0.1
    };
    for (bytes, wanted) in [
        (files::png(6, 4), (300.0, 150.0)),
        (files::jpeg(None), (72.0, 144.0)),
        (files::bmp(5, 3), (200.0, 200.0)),
        (files::tiff(4, 2), (254.0, 127.0)),
        (files::gif(), (96.0, 96.0)),
    ] {
        let picture = read(&bytes).unwrap();
        assert!(close(picture.dpi, wanted), "{:?}: {:?}", picture.format, picture.dpi);
    }
}

#[test]
fn a_resolution_that_cannot_be_is_taken_as_96() {
    let mut bytes = files::jpeg(None);
    bytes[14..18].copy_from_slice(&[0, 1, 0, 1]);
    assert_eq!(read(&bytes).unwrap().dpi, (96.0, 96.0));
}

#[test]
fn the_turn_of_a_camera_is_read_and_the_pixels_are_left() {
    let turns = [
        (1, false, 0),
        (2, true, 0),
        (3, false, 2),
        (4, true, 2),
        (5, true, 3),
        (6, false, 1),
        (7, true, 1),
        (8, false, 3),
    ];
    for (orientation, mirrored, quarters) in turns {
        let bytes = files::jpeg(Some(orientation));
        let picture = read(&bytes).unwrap();
        assert_eq!(picture.turn, Turn { mirrored, quarters }, "orientation {orientation}");
        assert_eq!(picture.bytes, bytes);
        let natural = picture.natural_size();
        assert_eq!(natural.height > natural.width, quarters % 2 == 1, "orientation {orientation}");
    }
}

#[test]
fn what_office_does_not_draw_is_refused_by_its_name() {
    for (bytes, name, remedy) in [
        (&b"\0\0\x01\0\x01\0\x10\x10"[..], "ICO", "PNG"),
        (b"\0\0\0\x20ftypavif", "AVIF", "PNG"),
        (b"\0\0\0\x20ftypheic", "HEIC", "JPEG"),
        (b"%PDF-1.7", "PDF", "PNG"),
        (b"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "SVG", "PNG"),
        (b"8BPS\0\x01", "PSD", "PNG"),
    ] {
        let fault = fault(bytes);
        assert!(fault.contains(name) && fault.contains(remedy), "{fault}");
    }
    for bytes in [&b"hello"[..], b"BM, the two letters", b"\0\0\0\0", b"<html>"] {
        assert!(fault(bytes).contains("no picture that Office draws"));
    }
    assert_eq!(fault(b""), "the picture is empty");
}

#[test]
fn a_jpeg_that_office_does_not_draw_is_refused() {
    let whole = files::jpeg(None);
    let header = whole.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    for (behind, value, reason) in [(1, 0xc3, "lossless"), (4, 12, "more than 8 bits")] {
        let mut bytes = whole.clone();
        bytes[header + behind] = value;
        assert!(fault(&bytes).contains(reason));
    }
}

#[test]
fn a_metafile_without_a_size_is_refused() {
    assert!(fault(&files::wmf()[22..]).contains("no placeable header"));
}
