//! What a page's own `@page` makes of the sheet, beside what `formatOpts` say: where words stand, and the warnings.

use platen::browser::PageTask;

use crate::support::{TestPool, asking, put_page, scripted, sheets_of, static_page, with_files, words_of};

/// Two sheets; on the first a word at each side of the content, on the second one at its beginning.
const BODY: &str = "<body style='margin:0;font:10px sans-serif'><div style='display:flex;\
    justify-content:space-between'><b>left</b><b>right</b></div><p style='break-before:page;margin:0'>second";

const A4: (i64, i64) = (596, 842);
const A5: (i64, i64) = (420, 595);
/// Chromium rounds a sheet to whole CSS pixels, one in another way than the other (seen).
const NEAR: i64 = 1;

fn page(css: &str) -> String {
    format!("<!doctype html><style>{css}</style>{BODY}")
}

/// Sheets, places of left's left, right's right, left's top, of the second page's word; warnings.
struct Seen {
    sheets: Vec<(i64, i64)>,
    left: f64,
    right: f64,
    top: f64,
    second: f64,
    warnings: Vec<String>,
}

async fn seen(pool: &TestPool, css: &str, opts: &str) -> Seen {
    seen_of(pool, asking(opts, put_page(&page(css)))).await
}

async fn seen_of(pool: &TestPool, task: PageTask) -> Seen {
    let rendered = pool.render(&task).await.unwrap();
    let words = words_of(&rendered.bytes);
    let word = |text: &str| words.iter().find(|word| word.text == text).unwrap();
    Seen {
        sheets: sheets_of(&rendered.bytes),
        left: word("left").left,
        right: word("right").right,
        top: word("left").top,
        second: word("second").left,
        warnings: rendered.warnings,
    }
}

#[track_caller]
fn assert_sheets(seen: &Seen, wanted: [(i64, i64); 2]) {
    assert_eq!(seen.sheets.len(), 2, "{:?}", seen.sheets);
    for ((width, height), (wide, high)) in seen.sheets.iter().zip(wanted) {
        assert!(
            (width - wide).abs() <= NEAR && (height - high).abs() <= NEAR,
            "{:?} {wanted:?}",
            seen.sheets
        );
    }
}

#[track_caller]
fn assert_near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 2.0, "{found}, not {wanted}");
}

fn turned((width, height): (i64, i64)) -> (i64, i64) {
    (height, width)
}

#[actix::test]
async fn a_page_is_laid_out_at_its_own_size_and_put_on_the_sheet() {
    let pool = TestPool::start(|_| {});
    let small = seen(&pool, "@page{size:A5}", "{}").await;
    assert_sheets(&small, [A4; 2]);
    // In the middle, as large as it is: (210 - 148) / 2 mm are 88 points.
    for (found, wanted) in
        [(small.left, 88.0), (small.right, 508.0), (small.top, 123.0), (small.second, 88.0)]
    {
        assert_near(found, wanted);
    }
    let expected = "@page size 'a5' stands in the middle of the sheet of 210 × 297 mm; preferCssPageSize makes it the sheet";
    assert_eq!(small.warnings, [expected]);
    let large = seen(&pool, "@page{size:A3}", r#"{"format":"a5"}"#).await;
    assert_sheets(&large, [A5; 2]);
    assert_near(large.left, 0.0);
    assert_near(large.right, 420.0);
    let expected =
        "@page size 'a3' is shrunk to fit the sheet of 148 × 210 mm; preferCssPageSize makes it the sheet";
    assert_eq!(large.warnings, [expected]);
    let square = seen(&pool, "@page{size:100mm}", r#"{"landscape":true}"#).await;
    assert_sheets(&square, [turned(A4); 2]);
    assert_eq!(square.warnings.len(), 1, "{:?}", square.warnings);
    // What fits is not warned of.
    for (css, opts, sheet) in [
        ("@page{size:A4}", "{}", A4),
        ("@page{size:auto}", r#"{"landscape":true}"#, turned(A4)),
        ("@page{size:148mm 210mm}", r#"{"format":"a5"}"#, A5),
        ("@media screen{@page{size:A5}}", "{}", A4),
        ("@page{size:A4 landscape}", "{}", turned(A4)),
        ("@page{size:A5 landscape}", r#"{"width":"148mm","height":"210mm"}"#, turned(A5)),
    ] {
        let plain = seen(&pool, css, opts).await;
        assert_sheets(&plain, [sheet; 2]);
        assert_near(plain.left, 0.0);
        assert_eq!(plain.warnings, [""; 0], "{css}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_turns_its_sheet_whatever_landscape_says() {
    let pool = TestPool::start(|_| {});
    for (css, opts, sheet, expected) in [
        (
            "@page{size:landscape}",
            r#"{"landscape":false}"#,
            turned(A4),
            "turns the sheet and goes before landscape: false",
        ),
        (
            "@page{size:portrait}",
            r#"{"landscape":true}"#,
            A4,
            "turns the sheet and goes before landscape: true",
        ),
    ] {
        let seen = seen(&pool, css, opts).await;
        assert_sheets(&seen, [sheet; 2]);
        assert_near(seen.right, f64::from(i32::try_from(sheet.0).unwrap()));
        assert_eq!(seen.warnings.len(), 1, "{:?}", seen.warnings);
        assert!(seen.warnings[0].ends_with(expected), "{:?}", seen.warnings);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_preferred_size_is_the_sheet_of_each_page() {
    let pool = TestPool::start(|_| {});
    let preferred = r#"{"preferCssPageSize":true}"#;
    let own = seen(&pool, "@page{size:A5}", preferred).await;
    assert_sheets(&own, [A5; 2]);
    assert_eq!(own.warnings, [""; 0]);
    let named = "@page wide{size:A5 landscape;margin:20mm} p{page:wide}";
    let own = seen(&pool, named, preferred).await;
    assert_sheets(&own, [A4, turned(A5)]);
    assert_near(own.second, 57.0);
    assert_eq!(own.warnings, [""; 0]);
    let own = seen(&pool, "@page:first{size:A5}", preferred).await;
    assert_sheets(&own, [A5, A4]);
    // Without a size of its own the page has the options'.
    let plain =
        seen(&pool, "@page{margin:0}", r#"{"preferCssPageSize":true,"format":"a5","landscape":true}"#).await;
    assert_sheets(&plain, [turned(A5); 2]);
    assert_eq!(plain.warnings, [""; 0]);
    let both = r#"{"preferCssPageSize":true,"format":"letter","landscape":true}"#;
    let own = seen(&pool, "@page{size:A5}", both).await;
    assert_sheets(&own, [A5; 2]);
    let expected = "@page size 'a5' is the sheet (preferCssPageSize) and goes before format, width and height and landscape";
    assert_eq!(own.warnings, [expected]);
    // Not preferred, a named page is put on the sheet, which is turned for it.
    let fitted = seen(&pool, named, "{}").await;
    assert_sheets(&fitted, [A4, turned(A4)]);
    assert_near(fitted.second, 123.0 + 57.0);
    assert_eq!(fitted.warnings.len(), 1, "{:?}", fitted.warnings);
    assert!(fitted.warnings[0].starts_with("@page wide size 'a5 landscape' stands in the middle of"));
    pool.finish().await;
}

#[actix::test]
async fn a_margin_of_the_page_goes_before_the_options_side_by_side() {
    let pool = TestPool::start(|_| {});
    let mm = |millimetres: f64| millimetres * 72.0 / 25.4;
    let ten = r#"{"margin":"10mm"}"#;
    for (css, opts, [top, left], warnings) in [
        ("", ten, [10.0, 10.0], &[][..]),
        ("@page{margin:40mm}", "{}", [40.0, 40.0], &[]),
        (
            "@page{margin:40mm}",
            ten,
            [40.0, 40.0],
            &["@page margin (top 40mm, right 40mm, bottom 40mm, left 40mm) goes before margin of formatOpts"],
        ),
        (
            "@page{margin-top:4cm}",
            ten,
            [40.0, 10.0],
            &["@page margin (top 4cm) goes before margin of formatOpts"],
        ),
        ("@page{margin-top:4cm}", r#"{"margin":{"left":"10mm"}}"#, [40.0, 10.0], &[]),
        ("@page{margin:10mm}", ten, [10.0, 10.0], &[]),
    ] {
        let seen = seen(&pool, css, opts).await;
        assert_sheets(&seen, [A4; 2]);
        assert_near(seen.top, mm(top));
        assert_near(seen.left, mm(left));
        assert_eq!(seen.warnings, warnings, "{css} {opts}");
    }
    pool.finish().await;
}

#[actix::test]
async fn rules_are_found_wherever_a_page_has_them() {
    let pool = TestPool::start(|_| {});
    let sheet = |css: &str| with_files(&page(css), &[("a.css", "@page{size:A5}")]);
    for task in [
        scripted(&page("@page{size:A5}")),
        static_page(&page("@page{size:A5}")),
        sheet("@import 'a.css';"),
        sheet("@import 'a.css' layer(l) print;"),
        scripted(&format!("<link rel=stylesheet href='data:text/css,@page{{size:A5}}'>{}", page(""))),
        scripted(&page(
            "@supports(display:grid){@layer a{@media print and (min-width:1px){@page{size:A5}}}}",
        )),
        scripted(&format!(
            "{}<script>const s=new CSSStyleSheet;s.replaceSync('@page{{size:A5}}');document.adoptedStyleSheets=[s];\
             Array.prototype.push=JSON.stringify=null</script>",
            page("")
        )),
    ] {
        let seen = seen_of(&pool, task).await;
        assert_near(seen.left, 88.0);
        assert_eq!(seen.warnings.len(), 1, "{:?}", seen.warnings);
        assert!(
            seen.warnings[0].starts_with("@page size 'a5' stands in the middle of"),
            "{:?}",
            seen.warnings
        );
    }
    // Where the files were scanned and have none, the page is not asked.
    let unseen = PageTask { has_page_rules: false, ..put_page(&page("@page{size:A5}")) };
    assert_eq!(seen_of(&pool, unseen).await.warnings, [""; 0]);
    pool.finish().await;
}
