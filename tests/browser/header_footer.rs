//! Parts of a PDF beside its pages: header and footer, bookmarks, metadata, tags.

use platen::browser::{PageTask, Retry};
use platen::domain::error::ErrorCode;
use serde_json::json;

use crate::canary::Canary;
use crate::support::{TestPool, asking, info_of, put_page, scripted, static_page, text_of, words_of};

const PAGES: &str = "<title>Report</title><style>p{break-after:page}</style><p>one<p>two<div>three</div>";

/// Runs for ever wherever it runs.
const LOOP: &str = "for(;;);";

fn with_header(header: &str, task: PageTask) -> PageTask {
    asking(&json!({ "headerTemplate": header }).to_string(), task)
}

/// The places (from the top, in points) of a word.
fn places_of(pdf: &[u8], word: &str) -> Vec<f64> {
    words_of(pdf).into_iter().filter(|found| found.text == word).map(|found| found.top).collect()
}

#[actix::test]
async fn header_and_footer_stand_on_every_sheet_beside_the_content() {
    let pool = TestPool::start(|_| {});
    let opts = json!({
        "headerTemplate": "<span class=title></span> of Zoë",
        "footerTemplate": "<div style='width:100%;text-align:right'>sheet-<span class=pageNumber></span>\
            of<span class=totalPages></span></div>",
    });
    for task in [scripted(PAGES), static_page(PAGES), put_page(PAGES)] {
        let rendered = pool.render(&asking(&opts.to_string(), task)).await.unwrap();
        assert_eq!(rendered.warnings, Vec::<String>::new());
        let pdf = rendered.bytes;
        assert_eq!(info_of(&pdf, "Pages"), "3");
        assert_eq!(places_of(&pdf, "Report").len(), 3, "{}", text_of(&pdf));
        assert_eq!(places_of(&pdf, "Zoë").len(), 3);
        for sheet in 1..=3 {
            assert!(places_of(&pdf, &format!("sheet-{sheet}of3"))[0] > 800.0);
        }
        // The margin that was not given has room for them: 15 mm are 42 points.
        assert!(places_of(&pdf, "Report")[0] < 30.0);
        assert!(places_of(&pdf, "one")[0] > 42.0);
    }
    let footer = asking(r#"{"footerTemplate":"only-footer"}"#, put_page(PAGES));
    let pdf = pool.render(&footer).await.unwrap().bytes;
    assert_eq!(places_of(&pdf, "only-footer").len(), 3);
    assert_eq!(places_of(&pdf, "Report"), Vec::<f64>::new(), "no header of Chromium's own");
    assert!(places_of(&pdf, "one")[0] < 42.0);
    pool.finish().await;
}

#[actix::test]
async fn a_header_lies_between_the_margins_of_the_pages_own_rules() {
    let pool = TestPool::start(|_| {});
    let both = json!({
        "headerTemplate": "<div style='display:flex;justify-content:space-between'><b>head</b><b>end</b></div>",
        "footerTemplate": "foot",
    });
    let mm = |millimetres: f64| millimetres * 72.0 / 25.4;
    // CSS of the page, further options, and the white left and right of the content on the sheet.
    for (css, more, [left, right]) in [
        ("", json!({"margin": {"left": "20mm", "right": "3cm"}}), [20.0, 30.0]),
        ("@page{margin:25mm 40mm}", json!({"margin": "10mm"}), [40.0, 40.0]),
        ("@page{margin:20mm;margin-left:1em}", json!({"margin": {"left": "30mm"}}), [f64::NAN, 20.0]),
        ("@page{size:A5;margin:0}", json!({}), [31.0, 31.0]),
        ("@page{size:A5;margin:20mm}", json!({"preferCssPageSize": true}), [20.0, 20.0]),
        ("@page{size:A4 landscape;margin:20mm}", json!({}), [20.0, 20.0]),
        ("", json!({"margin": "20mm", "scale": 0.5}), [20.0, 20.0]),
        ("", json!({}), [0.0, 0.0]),
    ] {
        let mut opts = both.clone();
        opts.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let page =
            format!("<style>{css}</style><body style='margin:0'>body<p style='break-before:page'>second");
        for task in [put_page(&page), scripted(&page)] {
            let pdf = pool.render(&asking(&opts.to_string(), task)).await.unwrap().bytes;
            let words = words_of(&pdf);
            let sheet = crate::support::sheets_of(&pdf)[0];
            let width = f64::from(i32::try_from(sheet.0).unwrap());
            for number in [1, 2] {
                let word =
                    |text: &str| words.iter().find(|it| it.text == text && it.sheet == number).unwrap();
                if !left.is_nan() {
                    assert!((word("head").left - mm(left)).abs() < 2.0, "{css}: {:?}", word("head"));
                    assert!((word("foot").left - mm(left)).abs() < 2.0, "{css}: {:?}", word("foot"));
                }
                assert!((width - word("end").right - mm(right)).abs() < 2.0, "{css}: {:?}", word("end"));
            }
            // Where the content begins, its header begins, whatever the size of its letters is.
            let body = words.iter().find(|word| word.text == "body").unwrap();
            if !left.is_nan() {
                assert!((body.left - mm(left)).abs() < 2.0, "{css}: {body:?}");
            }
        }
    }
    pool.finish().await;
}

#[actix::test]
async fn a_date_in_a_header_has_the_zone_and_language_of_the_page() {
    let pool = TestPool::start(|_| {});
    let header = "<style>.date{letter-spacing:0} .url::after{content:'styled'}</style>[<span class='x date'>old</span>]\
        <i class=url>old</i>[<b class=title>old</b>]";
    let script = "<title>T</title><p id=p><script>p.textContent=new Intl.DateTimeFormat(undefined,\
        {dateStyle:'short',timeStyle:'short'}).format()</script>";
    for opts in
        [json!({}), json!({"locale": "de", "timezone": "Pacific/Kiritimati"}), json!({"locale": "ja-JP"})]
    {
        let mut opts = opts;
        opts["headerTemplate"] = json!(header);
        // Both in one minute, or the next one.
        let mut tries = 0;
        loop {
            tries += 1;
            let pdf = pool.render(&asking(&opts.to_string(), scripted(script))).await.unwrap().bytes;
            let text = text_of(&pdf);
            let (date, rest) =
                text.strip_prefix('[').unwrap_or_else(|| panic!("{text}")).split_once(']').unwrap();
            let page = rest.strip_prefix(" styled[T] ").or_else(|| rest.strip_prefix("styled[T] "));
            if date == page.unwrap_or_else(|| panic!("{text}")) {
                break;
            }
            assert!(tries < 3, "{text}");
        }
    }
    let plain = json!({"headerTemplate": header, "locale": "de"}).to_string();
    for task in [put_page("<title>T</title>p"), static_page("<title>T</title>p")] {
        let text = text_of(&pool.render(&asking(&plain, task)).await.unwrap().bytes);
        assert!(text.contains('.') && !text.contains('/') && !text.contains("about:"), "{text}");
        assert!(!text.contains("old") && !text.contains("http") && text.contains("[T]"), "{text}");
    }
    // A page that forbids text as markup (trusted types) does not stop its header from being filled in, unless it forbids
    // every policy.
    let policy = |more: &str| {
        let policy = format!("require-trusted-types-for 'script'{more}");
        scripted(&format!("<meta http-equiv=content-security-policy content=\"{policy}\">p"))
    };
    let text = text_of(&pool.render(&asking(&plain, policy(""))).await.unwrap().bytes);
    assert!(text.contains('.') && !text.contains("http"), "{text}");
    let error = pool.render(&asking(&plain, policy("; trusted-types 'none'"))).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::OptionsInvalid);
    assert!(error.message.starts_with("headerTemplate or footerTemplate: "), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_header_that_the_page_covers_is_warned_of_by_the_margin_that_counts() {
    let pool = TestPool::start(|_| {});
    let expected = |key: &str, margin: &str| {
        format!("formatOpts.{key} lies in the margin: with {margin} below 9mm the page covers it")
    };
    let header = json!({"headerTemplate": "h"});
    let narrow = json!({"headerTemplate": "h", "footerTemplate": "f", "margin": {"top": "2mm"}});
    for (css, opts, warnings) in [
        ("", &header, vec![]),
        ("", &narrow, vec![expected("headerTemplate", "margin.top")]),
        ("@page{margin:0}", &header, vec![expected("headerTemplate", "the @page margin-top")]),
        ("@page{margin-bottom:3mm}", &header, vec![]),
        (
            "@page{margin:30mm}",
            &narrow,
            vec!["@page margin (top 30mm) goes before margin of formatOpts".to_owned()],
        ),
        // The white beside a smaller page is room as well.
        (
            "@page{size:A5;margin:0}",
            &header,
            vec!["@page size 'a5' stands in the middle of the sheet of 210 × 297 mm; preferCssPageSize makes it the \
                  sheet".to_owned()],
        ),
    ] {
        let page = format!("<style>{css}</style>body");
        let rendered = pool.render(&asking(&opts.to_string(), put_page(&page))).await.unwrap();
        assert_eq!(rendered.warnings, warnings, "{css}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_header_runs_no_script_and_makes_no_request() {
    let canary = Canary::listen();
    let pool = TestPool::start(|_| {});
    let url = canary.aim("http://127.0.0.1:PORT/header");
    let script = format!("document.body.textContent='ran';{LOOP}");
    let header = format!(
        "quiet <script>{script}</script><script type=module>{script}</script><script src='{url}'></script>\
        <img src=x onerror=\"{script}\"><img src='{url}'><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' \
        onload=\"{script}\" onerror=\"{script}\"><svg onload=\"{script}\"><image href='{url}'/><script>{script}\
        </script><use href='{url}#a'/></svg><iframe src='{url}'></iframe><iframe srcdoc=\"<script>{LOOP}</script>\
        <img src='{url}'>\" onload=\"{script}\"></iframe><iframe src=\"javascript:{LOOP}\"></iframe>\
        <iframe src='data:text/html,<script>{LOOP}</script>'></iframe><object data='{url}'></object>\
        <embed src='{url}'><embed src='file:///etc/passwd'><iframe src='file:///etc/passwd'></iframe>\
        <img src='file:///etc/passwd'><iframe src='chrome://version'></iframe><base href='{url}'>\
        <details open ontoggle=\"{script}\"></details><input autofocus onfocus=\"{script}\">\
        <video src='{url}' poster='{url}' onerror=\"{script}\"></video><link rel=preload as=image href='{url}'>\
        <link rel=preconnect href='{url}'><meta http-equiv=refresh content='0;{url}'>\
        <b style='background:url({url})'>x</b><form action='{url}'><input name=a></form>"
    );
    for task in [scripted("<p>body</p>"), put_page("<p>body</p>")] {
        let rendered = pool.render(&with_header(&header, task)).await.unwrap();
        let expected =
            |line: &String| line.starts_with("not loaded: ") && line.contains("headerTemplate shows only");
        assert!(
            rendered.warnings.len() == 5 && rendered.warnings.iter().all(expected),
            "{:?}",
            rendered.warnings
        );
        let text = text_of(&rendered.bytes);
        assert!(text.contains("quiet") && text.contains("body"), "{text}");
        assert!(!text.contains("ran") && !text.contains("root:"), "{text}");
    }
    assert_eq!(canary.hits(), [""; 0]);
    pool.finish().await;
}

#[actix::test]
async fn a_header_that_ends_the_print_fails_only_its_own_job() {
    let pool = TestPool::start(|_| {});
    for header in [
        "<style>@import u\\72l(http://example.test/a.css);</style>",
        "<style>@font-face{font-family:f;src:u\\72l('http://example.test/f')} b{font-family:f}</style><b>x</b>",
    ] {
        let failed = pool.render(&with_header(header, static_page("<p>body</p>"))).await.unwrap_err();
        assert_eq!(failed.error.code, ErrorCode::OptionsInvalid, "{header}: {}", failed.error.message);
        assert!(
            failed.error.message.contains("headerTemplate or footerTemplate"),
            "{}",
            failed.error.message
        );
        assert_eq!(failed.retry, Retry::No);
    }
    let styled = "<style>b{font-size:20px}</style><b>styled</b>";
    let pdf = pool.render(&with_header(styled, static_page("<p>body</p>"))).await.unwrap().bytes;
    assert_eq!(text_of(&pdf), "styled body");
    pool.finish().await;
}

#[actix::test]
async fn headings_become_bookmarks() {
    let pool = TestPool::start(|_| {});
    let page = "<h1>First</h1><h2>Second</h2><h1>Third</h1>";
    for task in [scripted(page), put_page(page)] {
        let pdf = pool.render(&asking(r#"{"outline":true}"#, task.clone())).await.unwrap().bytes;
        assert!(holds(&pdf, b"/Outlines"));
        for heading in ["First", "Second", "Third"] {
            assert!(holds(&pdf, format!("/Title ({heading})").as_bytes()), "{heading}");
        }
        let plain = pool.render(&task).await.unwrap().bytes;
        assert!(!holds(&plain, b"/Outlines"));
    }
    pool.finish().await;
}

#[actix::test]
async fn metadata_are_in_the_file() {
    let pool = TestPool::start(|config| config.output_chunk_bytes = 4_096);
    let opts = json!({ "metadata": {
        "title": "Ünï </title> \"T\"", "author": "Zoë 東京 (R&D) \\", "subject": "S", "keywords": ["a", "b"],
    }});
    for task in [scripted(PAGES), static_page(PAGES), put_page(PAGES)] {
        let rendered = pool.render(&asking(&opts.to_string(), task.clone())).await.unwrap();
        assert_eq!(rendered.warnings, Vec::<String>::new());
        let pdf = rendered.bytes;
        assert_eq!(info_of(&pdf, "Title"), "Ünï </title> \"T\"");
        assert_eq!(info_of(&pdf, "Author"), "Zoë 東京 (R&D) \\");
        assert_eq!(
            (info_of(&pdf, "Subject"), info_of(&pdf, "Keywords")),
            ("S".to_owned(), "a, b".to_owned())
        );
        assert!(info_of(&pdf, "Producer").starts_with("Skia/PDF"));
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("3".to_owned(), "yes".to_owned()));
        assert!(text_of(&pdf).ends_with("three"));
        let plain = pool.render(&task).await.unwrap().bytes;
        assert_eq!(
            (info_of(&plain, "Title"), info_of(&plain, "Author")),
            ("Report".to_owned(), String::new())
        );
    }
    pool.finish().await;
}

#[actix::test]
async fn a_very_long_pdf_is_not_tagged_and_warns_of_it() {
    let pool = TestPool::start(|config| config.tagged_pages_limit = 5);
    let page = |sheets: usize| {
        let filler = "x".repeat(200 << 10);
        format!("<!-- {filler} --><body style='margin:0'><div style='height:{}px'>a</div>", sheets * 1_122)
    };
    for (sheets, opts, tagged) in [
        (4, "{}", true),
        (8, "{}", false),
        (8, r#"{"outline":true}"#, true),
        (8, r#"{"fromPage":1,"toPage":3}"#, true),
        (4, r#"{"scale":2}"#, false),
        (8, r#"{"tagged":true}"#, true),
    ] {
        for task in [static_page(&page(sheets)), scripted(&page(sheets))] {
            let rendered = pool.render(&asking(opts, task)).await.unwrap();
            let seen = info_of(&rendered.bytes, "Tagged");
            assert_eq!(seen, if tagged { "yes" } else { "no" }, "{sheets} {opts}");
            let expected =
                rendered.warnings.iter().any(|it| it.contains("not tagged (browser.tagged_pages_limit)"));
            assert_eq!(expected, !tagged, "{:?}", rendered.warnings);
        }
    }
    pool.finish().await;
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
