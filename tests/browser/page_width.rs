//! A page wider than its sheet is printed smaller, and cut off beyond that: a warning has its width.

use platen::browser::PageTask;

use crate::support::{TestPool, asking, put_page, scripted, static_page};

/// The warnings of a page with a box so wide, in each lane and put.
async fn warnings_of(pool: &TestPool, page: &str, opts: &str) -> Vec<String> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for task in [scripted(page), static_page(page), put_page(page)] {
        all.push(pool.render(&asking(opts, task)).await.unwrap().warnings);
    }
    assert!(all.iter().all(|warnings| *warnings == all[0]), "{all:#?}");
    all.remove(0)
}

fn wide(width: u32) -> String {
    format!("<body style='margin:0'><p>text</p><div style='width:{width}px;background:red'>wide</div>")
}

fn sentence(width: u32, room: u32, percent: u32, cut: &str) -> String {
    format!(
        "the page is {width} px wide and its sheet has room for {room} px: it was printed at {percent} % of its \
         size{cut} (let it be narrower, or take a wider sheet: format, landscape, margin, scale)"
    )
}

#[actix::test]
async fn a_page_that_is_too_wide_is_warned_of_with_both_widths() {
    let pool = TestPool::start(|_| {});
    let cut = ", and what lies beyond 1191 px is cut off";
    for (width, opts, wanted) in [
        (1_000, "{}", sentence(1_000, 794, 79, "")),
        (3_000, "{}", sentence(3_000, 794, 67, cut)),
        (1_000, r#"{"margin":"1in"}"#, sentence(1_000, 602, 67, ", and what lies beyond 903 px is cut off")),
        (1_200, r#"{"landscape":true}"#, sentence(1_200, 1_123, 94, "")),
        (600, r#"{"scale":2}"#, sentence(600, 397, 67, ", and what lies beyond 595 px is cut off")),
    ] {
        let warnings = warnings_of(&pool, &wide(width), opts).await;
        assert_eq!(warnings.len(), 1, "{width} {opts}: {warnings:?}");
        assert_eq!(warnings[0], wanted, "{width} {opts}");
    }
    // Where only a later sheet is too wide, all are printed smaller.
    let later = "<p>text<div style='break-before:page;width:1000px'>x";
    assert_eq!(warnings_of(&pool, later, "{}").await.len(), 1);
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_fits_is_not_warned_of() {
    let pool = TestPool::start(|_| {});
    let large = "<style>@page{size:A3}</style><body style='margin:0'><p>text<div style='width:1100px'>x";
    let turned =
        "<style>@page{size:landscape}</style><body style='margin:0'><p>text<div style='width:1100px'>x";
    let transformed = "<body><div style='transform:scale(.5)'>small</div>";
    let screen = "<style>@media screen{div{width:2000px}}</style><div>x</div>";
    let scrolled = "<div style='overflow:auto'><div style='width:2000px'>x</div></div>";
    for (page, opts) in [
        (wide(794).as_str(), "{}"),
        (&wide(1_100), r#"{"landscape":true}"#),
        (&wide(1_500), r#"{"scale":0.5}"#),
        (&wide(1_000), r#"{"width":"1000px","height":"500px"}"#),
        (large, "{}"),
        (turned, "{}"),
        (transformed, "{}"),
        (screen, "{}"),
        (scrolled, r#"{"margin":"3cm"}"#),
        ("", "{}"),
    ] {
        // What its rules make of the sheet is another warning.
        let warnings = warnings_of(&pool, page, opts).await;
        assert!(!warnings.iter().any(|warning| warning.contains("px wide")), "{page} {opts}: {warnings:?}");
    }
    pool.finish().await;
}

#[actix::test]
async fn the_pages_own_rules_decide_its_width() {
    let pool = TestPool::start(|_| {});
    for (rule, width, opts, wanted) in [
        ("margin:40mm", 600, "{}", sentence(600, 491, 82, "")),
        ("size:A5", 700, "{}", sentence(700, 559, 80, "")),
        ("margin:0", 900, r#"{"margin":"40mm"}"#, sentence(900, 794, 88, "")),
        ("size:A3", 1_300, "{}", sentence(1_300, 1_123, 86, "")),
        ("size:A5;margin:10mm", 1_000, r#"{"preferCssPageSize":true}"#, {
            sentence(1_000, 484, 67, ", and what lies beyond 726 px is cut off")
        }),
    ] {
        let page = format!("<style>@page{{{rule}}}</style>{}", wide(width));
        let warnings = warnings_of(&pool, &page, opts).await;
        assert_eq!(warnings.last(), Some(&wanted), "{rule} {width} {opts}");
        // Without the scan's hint that the page has rules, only the width is warned of.
        let unseen = PageTask { has_page_rules: false, ..put_page(&page) };
        let warnings = pool.render(&asking(opts, unseen)).await.unwrap().warnings;
        assert_eq!(warnings, [wanted], "{rule} {width} {opts}");
    }
    for (rule, width, opts) in [
        ("margin:40mm", 480, "{}"),
        ("size:A5", 550, "{}"),
        ("margin:0", 780, r#"{"margin":"40mm"}"#),
        ("size:A3", 1_120, "{}"),
    ] {
        let page = format!("<style>@page{{{rule}}}</style>{}", wide(width));
        let warnings = warnings_of(&pool, &page, opts).await;
        assert!(!warnings.iter().any(|warning| warning.contains("px wide")), "{rule}: {warnings:?}");
    }
    // Content that fits the size of another named page is not warned of.
    let named =
        "<style>@page wide{size:A3}.w{page:wide}</style><div class=w><div style='width:1100px'>x</div></div>";
    let warnings = warnings_of(&pool, named, "{}").await;
    assert!(!warnings.iter().any(|warning| warning.contains("px wide")), "{warnings:?}");
    pool.finish().await;
}

/// A page that does nothing but compute from its print on, and one that throws at what it is asked.
#[actix::test]
async fn a_page_that_cannot_be_measured_keeps_its_file() {
    let pool = TestPool::start(|config| config.reset_timeout_ms = 1_000);
    let hanging = "<script>addEventListener('afterprint', () => setTimeout(() => { for (;;); }));</script>";
    let without_root =
        "<script>addEventListener('afterprint', () => document.documentElement.remove());</script>";
    for script in [hanging, without_root] {
        let rendered = pool.render(&scripted(&format!("{script}{}", wide(1_000)))).await.unwrap();
        assert!(rendered.bytes.starts_with(b"%PDF") && rendered.bytes.trim_ascii_end().ends_with(b"%%EOF"));
        assert_eq!(rendered.warnings, [""; 0]);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_tab_that_measured_a_page_shows_the_next_one_as_any_other() {
    let pool = TestPool::start(|config| config.spare_tabs = 0);
    let account = platen::domain::ids::AccountId::generate();
    let page = "<style>@media print{.p::after{content:'print'}}@media (min-width:900px){.w::after{content:'wide'}}\
        </style><body style='margin:0'><p class=p>medium <p class=w>width <div style='width:1000px'>x";
    for task in [put_page(page), static_page(page)] {
        let task: PageTask = task;
        for _ in 0..2 {
            let rendered = pool.render_for(account, &task).await.unwrap();
            assert_eq!(rendered.warnings.len(), 1, "{:?}", rendered.warnings);
        }
    }
    assert!(pool.reused() > 0);
    pool.finish().await;
}
