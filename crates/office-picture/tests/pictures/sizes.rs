//! Sizes and crops, by figures.

use office_picture::{Crop, Extent, Limits, Picture, Placement, Texts, Wanted};

use crate::files;

/// 16 × 12 cm.
const SPACE: Extent = Extent { width: 5_760_000.0, height: 4_320_000.0 };
const CM: u32 = 360_000;

/// Twice as wide as high, 96 pixels an inch: 2 × 1 inches.
fn wide() -> Picture {
    Picture {
        width: 192,
        height: 96,
        dpi: (96.0, 96.0),
        ..Picture::read(files::gif(), &Limits::default()).unwrap()
    }
}

/// Stored as [`wide`], and seen half as wide as high.
fn turned() -> Picture {
    Picture { turn: Picture::read(files::jpeg(Some(6)), &Limits::default()).unwrap().turn, ..wide() }
}

fn place(picture: &Picture, texts: &Texts<'_>) -> Placement {
    Wanted::read(texts).unwrap().place(picture, SPACE).unwrap()
}

fn size(picture: &Picture, texts: &Texts<'_>) -> (u32, u32) {
    let placement = place(picture, texts);
    (placement.width, placement.height)
}

fn of(width: &'static str, height: &'static str, fit: &'static str) -> Texts<'static> {
    Texts { width: Some(width), height: Some(height), fit: Some(fit), ..Texts::default() }
}

#[test]
fn every_unit_is_what_it_is() {
    for (text, emu) in [
        ("4cm", 4 * CM),
        ("40mm", 4 * CM),
        (" 4 CM ", 4 * CM),
        ("2in", 1_828_800),
        ("120px", 1_143_000),
        ("120", 1_143_000),
        ("90pt", 1_143_000),
        ("50%", 2_880_000),
        ("2.5cm", 900_000),
    ] {
        assert_eq!(size(&wide(), &of(text, "", "")), (emu, emu / 2), "{text}");
    }
    assert_eq!(size(&wide(), &of("", "50%", "")), (4_320_000, 2_160_000), "percent of the height there is");
}

#[test]
fn without_a_size_a_picture_has_its_own_or_that_of_the_space() {
    assert_eq!(size(&wide(), &Texts::default()), (1_828_800, 914_400));
    assert_eq!(size(&turned(), &Texts::default()), (914_400, 1_828_800));
    let large = Picture { width: 4000, height: 4000, ..wide() };
    assert_eq!(size(&large, &Texts::default()), (4_320_000, 4_320_000));
    let fine = Picture { dpi: (192.0, 192.0), ..wide() };
    assert_eq!(size(&fine, &Texts::default()), (914_400, 457_200));
}

#[test]
fn a_box_is_filled_as_the_author_says() {
    assert_eq!(size(&wide(), &of("4cm", "4cm", "")), (4 * CM, 2 * CM));
    assert_eq!(size(&wide(), &of("20cm", "4cm", "contain")), (8 * CM, 4 * CM));
    assert_eq!(size(&wide(), &of("4cm", "4cm", "fill")), (4 * CM, 4 * CM));
    assert_eq!(size(&wide(), &of("4cm", "4cm", "none")), (4 * CM, 2 * CM), "no larger than the box");
    assert_eq!(size(&wide(), &of("10cm", "10cm", "down")), (1_828_800, 914_400), "no larger than by itself");
    for fit in ["contain", "fill", "none"] {
        assert_eq!(place(&wide(), &of("4cm", "4cm", fit)).crop, Crop::default());
    }
}

#[test]
fn a_covered_box_cuts_both_sides_alike() {
    let square = place(&wide(), &of("4cm", "4cm", "cover"));
    assert_eq!((square.width, square.height), (4 * CM, 4 * CM));
    assert_eq!(square.crop, Crop { left: 25_000, right: 25_000, top: 0, bottom: 0 });
    let flat = place(&wide(), &of("8cm", "1cm", "cover"));
    assert_eq!(flat.crop, Crop { top: 37_500, bottom: 37_500, left: 0, right: 0 });
    let lying = place(&turned(), &of("4cm", "4cm", "cover"));
    assert_eq!(
        lying.crop, square.crop,
        "the stored picture is cut where it stands over, which is seen above and below"
    );
    let sliver = place(&wide(), &of("1px", "50cm", "cover")).crop;
    assert!(sliver.left + sliver.right < 100_000, "something is left");
}

#[test]
fn the_greatest_sizes_make_smaller_and_never_larger() {
    let most = Texts { max_width: Some("1in"), max_height: Some("2in"), ..Texts::default() };
    assert_eq!(size(&wide(), &most), (914_400, 457_200));
    let ample = Texts { max_width: Some("9in"), ..Texts::default() };
    assert_eq!(size(&wide(), &ample), (1_828_800, 914_400));
    assert_eq!(size(&wide(), &Texts { max_height: Some("1cm"), ..of("4cm", "4cm", "fill") }), (CM, CM));
}

#[test]
fn a_size_is_at_least_one_unit() {
    let flat = Picture { width: 1_000_000, height: 1, ..wide() };
    assert_eq!(size(&flat, &of("1px", "", "")), (9525, 1));
}

#[test]
fn a_size_beyond_word_is_a_fault() {
    assert!(Wanted::read(&of("23in", "", "")).unwrap_err().contains("22in"));
    assert!(Wanted::read(&of("1e9cm", "", "")).is_err());
    let fault = Wanted::read(&of("", "20in", "")).unwrap().place(&wide(), SPACE).unwrap_err();
    assert!(fault.contains("101.6 × 50.8 cm") && fault.contains("smaller"), "{fault}");
    let largest = Wanted::read(&of("22in", "", "")).unwrap().place(&wide(), SPACE).unwrap();
    assert_eq!(largest.width, 22 * 914_400);
}

#[test]
fn a_text_that_is_no_size_is_a_fault_with_the_remedy() {
    for (text, remedy) in [
        ("4,5cm", "4.5cm"),
        ("large", "4cm"),
        ("4ell", "cm, mm"),
        ("-4cm", "above zero"),
        ("0", "above zero"),
        ("1.2.3cm", "4cm"),
        ("cm", "4cm"),
        ("NaN", "4cm"),
        ("5000%", "at most"),
    ] {
        let fault = Wanted::read(&of(text, "", "")).expect_err(text);
        assert!(fault.contains(text) && fault.contains(remedy), "{fault}");
    }
    assert!(Wanted::read(&of("", "", "stretch")).unwrap_err().contains("contain, cover, fill or none"));
}
