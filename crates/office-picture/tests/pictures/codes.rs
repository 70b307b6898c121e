//! QR codes and barcodes, read back: by a decoder, and bar by bar beside an encoder of other hands.

use barcoders::sym::{codabar, code39, code128, ean8, ean13, tf};
use office_picture::code::{BarcodeOptions, Colour, Colours, Correction, Kind, QrOptions, barcode, qr};
use office_picture::{EMU_PER_INCH, Limits, Picture};

use crate::files::decode_png;

/// The red of every pixel, and the width.
fn reds(png: &[u8]) -> (Vec<u8>, usize) {
    let (pixels, info) = decode_png(png);
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (pixels.chunks_exact(3).map(|pixel| pixel[0]).collect(), info.width as usize)
}

fn read_qr(png: &[u8]) -> Vec<String> {
    let (reds, width) = reds(png);
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(width, reds.len() / width, |x, y| reds[y * width + x]);
    image.detect_grids().into_iter().map(|grid| grid.decode().expect("a readable code").1).collect()
}

/// The modules of the uppermost row, without the quiet zones.
fn modules(png: &[u8]) -> String {
    let (reds, width) = reds(png);
    let row: String = reds[..width]
        .chunks(8)
        .map(|module| {
            assert!(module.iter().all(|pixel| *pixel == module[0]), "a module is whole pixels of one colour");
            if module[0] == 0 { '1' } else { '0' }
        })
        .collect();
    row.trim_matches('0').to_owned()
}

fn bars(text: &str, kind: Kind) -> String {
    modules(&barcode(text, kind, &BarcodeOptions::default()).unwrap())
}

fn other(encoded: &[u8]) -> String {
    encoded.iter().map(|module| char::from(b'0' + module)).collect()
}

/// Only which bars and spaces are wide: one hand's wide ones are three modules, the other's two.
fn narrow_and_wide(modules: &str) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for module in modules.chars() {
        match runs.last_mut() {
            Some((last, count)) if *last == module => *count += 1,
            _ => runs.push((module, 1)),
        }
    }
    runs.iter().map(|(_, count)| if *count > 1 { 'w' } else { 'n' }).collect()
}

#[test]
fn a_qr_code_is_read_back_at_every_correction() {
    let long = "Straße 漢字 😀 ".repeat(20);
    for text in ["https://example.com/?a=1&b=2", "0123456789", "x", long.as_str()] {
        for correction in ["L", "m", "Q", "H"] {
            let options =
                QrOptions { correction: Correction::read(correction).unwrap(), ..QrOptions::default() };
            assert_eq!(read_qr(&qr(text, options).unwrap()), [text]);
        }
    }
}

#[test]
fn a_qr_code_is_three_centimetres_and_sharp() {
    let picture = Picture::read(qr("hello", QrOptions::default()).unwrap(), &Limits::default()).unwrap();
    assert!((picture.natural_size().width / EMU_PER_INCH * 25.4 - 30.0).abs() < 0.01);
    assert_eq!(picture.width % 29, 0, "21 modules and a quiet zone of four on both sides");
    assert!(picture.width / 29 >= 8);
    let (_, info) = decode_png(&picture.bytes);
    assert_eq!(info.width, picture.width);
    assert_eq!(picture.bytes[24], 1, "one bit a pixel");
    let largest =
        qr(&"x".repeat(2900), QrOptions { correction: Correction::Low, ..QrOptions::default() }).unwrap();
    let picture = Picture::read(largest, &Limits::default()).unwrap();
    assert!(
        (picture.natural_size().width / EMU_PER_INCH * 25.4 - 185.0 * 0.33).abs() < 0.1,
        "modules stay readable"
    );
}

#[test]
fn colours_and_quiet_zone_are_as_wanted() {
    let colours = Colours { ink: Colour::read("#036").unwrap(), background: Colour::read("FFEEDD").unwrap() };
    let png = qr("hello", QrOptions { colours, quiet: 0, ..QrOptions::default() }).unwrap();
    let (pixels, info) = decode_png(&png);
    assert_eq!(pixels[..3], [0, 0x33, 0x66], "the corner is a module");
    assert!(pixels.chunks_exact(3).any(|pixel| pixel == [0xff, 0xee, 0xdd]));
    assert_eq!(info.width % 21, 0);
    let alike = Colours { ink: Colour::WHITE, background: Colour::BLACK };
    assert!(qr("x", QrOptions { colours: alike, ..QrOptions::default() }).unwrap_err().contains("darker"));
    assert!(Colour::read("red").unwrap_err().contains("#1a2b3c"));
}

#[test]
fn what_no_qr_code_holds_is_a_fault() {
    for (text, options, part) in [
        (String::new(), QrOptions::default(), "no text"),
        ("x".repeat(2332), QrOptions::default(), "about 2331 fit"),
        ("x".repeat(1_000_000), QrOptions::default(), "shorten it"),
        ("x".to_owned(), QrOptions { quiet: 21, ..QrOptions::default() }, "quiet zone"),
    ] {
        let fault = qr(&text, options).unwrap_err();
        assert!(fault.contains(part), "{fault}");
    }
    assert!(qr(&"x".repeat(2331), QrOptions::default()).is_ok());
    assert!(Correction::read("Z").unwrap_err().contains("L, M, Q or H"));
}

#[test]
fn the_bars_are_those_that_another_encoder_draws() {
    let ean = |text: &str| other(&ean13::EAN13::new(text).unwrap().encode());
    for first in 0..10 {
        let text = format!("{first}50103131130");
        assert_eq!(bars(&text, Kind::Ean13), ean(&text));
    }
    assert_eq!(bars("01234567890", Kind::UpcA), ean("001234567890"));
    assert_eq!(bars("9638507", Kind::Ean8), other(&ean8::EAN8::new("9638507").unwrap().encode()));
    // Digits stand alone: several of them would be pairs.
    let letters = (' '..='~').filter(|sign| !sign.is_ascii_digit()).zip("0123456789".chars().cycle());
    let all_of_b: String = letters.flat_map(|(letter, digit)| [letter, digit]).collect();
    for piece in all_of_b.as_bytes().chunks(20).map(|piece| std::str::from_utf8(piece).unwrap()) {
        let wanted = code128::Code128::new(format!("Ɓ{piece}")).unwrap();
        assert_eq!(bars(piece, Kind::Code128), other(&wanted.encode()), "{piece}");
    }
    let digits = "0123456789";
    let pairs: String =
        digits.chars().flat_map(|tens| digits.chars().flat_map(move |ones| [tens, ones])).collect();
    for piece in pairs.as_bytes().chunks(80).map(|piece| std::str::from_utf8(piece).unwrap()) {
        let wanted = code128::Code128::new(format!("Ć{piece}")).unwrap();
        assert_eq!(bars(piece, Kind::Code128), other(&wanted.encode()), "{piece}");
    }
    let all_of_39 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%";
    let wanted = other(&code39::Code39::new(all_of_39).unwrap().encode());
    assert_eq!(narrow_and_wide(&bars(all_of_39, Kind::Code39)), narrow_and_wide(&wanted));
    let wanted = other(&tf::TF::interleaved("0123456789").unwrap().encode());
    assert_eq!(narrow_and_wide(&bars("0123456789", Kind::Itf)), narrow_and_wide(&wanted));
    let codabar = "A0123456789-$:/.D";
    let wanted = other(&codabar::Codabar::new(codabar).unwrap().encode());
    assert_eq!(narrow_and_wide(&bars(codabar, Kind::Codabar)), narrow_and_wide(&wanted));
}

/// The other encoder has another + and has B and C changed; readers (the table of `ZXing`, and `ZBar` itself) hold with these.
#[test]
fn codabar_has_the_signs_that_readers_know() {
    let signs = ["nwnwnnw", "nnwnwnw", "nnnwnww"].join("n");
    assert_eq!(narrow_and_wide(&bars("B+C", Kind::Codabar)), signs);
}

#[test]
fn code_128_changes_its_sets_where_it_must() {
    // Start A, line feed, change to B, a, check 49, stop: (103 + 74 + 2 * 100 + 3 * 65) % 103 = 57.
    assert_eq!(bars("\na", Kind::Code128).len(), 11 * 5 + 13);
    // Pairs, then a single digit in set B.
    assert_eq!(bars("12345", Kind::Code128).len(), 11 * 6 + 13);
    // An odd run of digits leaves its first to the letters.
    assert_eq!(bars("AB1234567", Kind::Code128).len(), 11 * (1 + 3 + 1 + 3 + 1) + 13);
}

#[test]
fn a_check_digit_is_added_verified_and_named() {
    assert_eq!(bars("400638133393", Kind::Ean13), bars("4006381333931", Kind::Ean13));
    assert_eq!(bars("978-0-201-37962-4", Kind::Ean13), bars("978020137962", Kind::Ean13));
    for (text, kind, digit) in [
        ("4006381333932", Kind::Ean13, '1'),
        ("96385075", Kind::Ean8, '4'),
        ("036000291453", Kind::UpcA, '2'),
    ] {
        let fault = barcode(text, kind, &BarcodeOptions::default()).unwrap_err();
        assert!(fault.contains(&format!("should be {digit}")), "{fault}");
    }
}

#[test]
fn an_ean_13_has_its_nominal_size() {
    let png = barcode("4006381333931", Kind::Ean13, &BarcodeOptions::default()).unwrap();
    let size = Picture::read(png, &Limits::default()).unwrap().natural_size();
    let (width, height) = (size.width / EMU_PER_INCH * 25.4, size.height / EMU_PER_INCH * 25.4);
    assert!((width - 37.29).abs() < 0.02 && (height - 25.93).abs() < 0.3, "{width} × {height}");
}

#[test]
fn the_text_stands_below_the_bars_where_it_is_wanted() {
    let height = |text: Option<bool>, kind| {
        let png = barcode("12345670", kind, &BarcodeOptions { text, ..BarcodeOptions::default() }).unwrap();
        let (reds, width) = reds(&png);
        let last = &reds[reds.len() - width * 20..];
        (reds.len() / width, last.contains(&0))
    };
    assert_eq!(height(None, Kind::Ean8), height(Some(true), Kind::Ean8));
    assert_eq!(height(None, Kind::Code128), height(Some(false), Kind::Code128));
    assert!(height(Some(true), Kind::Code128).0 > height(None, Kind::Code128).0 + 40);
    let fault =
        barcode("~", Kind::Code128, &BarcodeOptions { text: Some(true), ..BarcodeOptions::default() })
            .unwrap_err();
    assert!(fault.contains("'~'") && fault.contains("leave the text off"), "{fault}");
}

#[test]
fn what_a_kind_cannot_hold_is_a_fault_with_the_remedy() {
    let long = "1".repeat(81);
    for (text, kind, part) in [
        ("", Kind::Code128, "no text"),
        ("ä", Kind::Code128, "QR code takes all"),
        (long.as_str(), Kind::Itf, "80 characters"),
        ("abc", Kind::Code39, "capitals"),
        ("A*B", Kind::Code39, "leave it off"),
        ("123", Kind::Itf, "write a 0 before"),
        ("12A4", Kind::Itf, "code128"),
        ("12E4", Kind::Codabar, "code128"),
        ("1A2", Kind::Codabar, "before and behind"),
        ("AA", Kind::Codabar, "before and behind"),
        ("123", Kind::Ean13, "13 digits, or 12"),
        ("40063813339x", Kind::Ean13, "13 digits"),
    ] {
        let fault = barcode(text, kind, &BarcodeOptions::default()).expect_err(text);
        assert!(fault.contains(part), "{fault}");
    }
    let odd = |options| barcode("1", Kind::Code128, &options).unwrap_err();
    assert!(odd(BarcodeOptions { module_mm: 0.01, ..BarcodeOptions::default() }).contains("0.33 is usual"));
    assert!(
        odd(BarcodeOptions { module_mm: f64::NAN, ..BarcodeOptions::default() }).contains("0.33 is usual")
    );
    assert!(
        odd(BarcodeOptions { height_mm: Some(1e9), ..BarcodeOptions::default() }).contains("15 is usual")
    );
    assert_eq!(Kind::read("EAN-13"), Ok(Kind::Ean13));
    assert!(Kind::read("pdf417").unwrap_err().contains("code39"));
}
