//! Bookmarks of a PDF read as their headings read.

use std::fs;
use std::process::Command;

use platen::browser::PageTask;
use serde_json::Value;

use crate::support::{TestPool, asking, info_of, put_page, scripted, static_page, with_bytes};

const NARROW: &str = "<!doctype html><meta charset=utf-8><body style='width:120px'>";

/// The titles of the bookmarks, those within a bookmark behind it.
fn titles_of(pdf: &[u8]) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output =
        Command::new("qpdf").args(["--json", "--json-key=outlines"]).arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut titles = Vec::new();
    let mut left = json["outlines"].as_array().unwrap().clone();
    left.reverse();
    while let Some(item) = left.pop() {
        titles.push(item["title"].as_str().unwrap().to_owned());
        left.extend(item["kids"].as_array().unwrap().iter().rev().cloned());
    }
    titles
}

async fn titles(pool: &TestPool, opts: &str, task: PageTask) -> Vec<String> {
    titles_of(&pool.render(&asking(opts, task)).await.unwrap().bytes)
}

#[actix::test]
async fn a_bookmark_reads_as_its_heading_in_every_lane() {
    let pool = TestPool::start(|_| {});
    let page = format!(
        "{NARROW}<h1>Terms of\n Payment</h1><h2>Ends by<br>a break</h2>\
        <h2>With <em>em</em>phasised words and <code>code</code> in it</h2>\
        <h2>日本語の見出しは空白なしで折り返される</h2><h2>Donau&shy;dampf&shy;schiff&shy;fahrts&shy;gesellschaft x</h2>\
        <h2 dir=rtl>مقدمة عن الموضوع الطويل جدا</h2><h2 dir=rtl>פרק 12 (סוף הדרך הארוכה)</h2>\
        <h2>1.2.&nbsp;No-break space &amp; ampersand &lt;b&gt;</h2><h2 style='text-transform:uppercase'>upper case words</h2>\
        <div role=heading aria-level=2>Heading by its role</div><h2 style='display:none'>Terms of Payment in full</h2>"
    );
    let wanted = [
        "Terms of Payment",
        "Ends by a break",
        "With emphasised words and code in it",
        "日本語の見出しは空白なしで折り返される",
        "Donaudampfschifffahrtsgesellschaft x",
        "مقدمة عن الموضوع الطويل جدا",
        "פרק 12 (סוף הדרך הארוכה)",
        "1.2.\u{a0}No-break space & ampersand <b>",
        "UPPER CASE WORDS",
        "Heading by its role",
    ];
    for task in [static_page(&page), put_page(&page), scripted(&format!("{page}<script></script>"))] {
        assert_eq!(titles(&pool, r#"{"outline":true}"#, task).await, wanted);
    }
    pool.finish().await;
}

#[actix::test]
async fn headings_are_found_where_they_are_drawn() {
    let pool = TestPool::start(|_| {});
    let page = format!(
        "{NARROW}<h1>Numbered list heading</h1><h2 style='display:list-item;list-style:decimal inside'>Heading as an item itself</h2>\
        <ol><li><h2>Heading of an item that wraps</h2></ol>\
        <table><tr><td><h2>Heading of a cell that wraps</h2></table>\
        <div style='columns:2;width:300px'><h2>Heading in columns that wraps there</h2></div>\
        <h2><img alt='Sign of' width=9 height=9 src=dot.png>the firm <b aria-hidden=true>§</b> here</h2>\
        <h2>Part of the text <a aria-hidden=true href=#a>#</a></h2>\
        <div id=a></div><div id=b>slotted words here</div><script>\
        a.attachShadow({{mode:'open'}}).innerHTML = '<h2>Heading in a shadow tree</h2>';\
        b.attachShadow({{mode:'open'}}).innerHTML = '<h2>With <slot></slot></h2>';</script>"
    );
    let wanted = [
        "Numbered list heading",
        "1. Heading as an item itself",
        "Heading of an item that wraps",
        "Heading of a cell that wraps",
        "Heading in columns that wraps there",
        "Sign of the firm here",
        "Part of the text #",
        "Heading in a shadow tree",
        "With slotted words here",
    ];
    let task = with_bytes(&page, &[("dot.png", include_bytes!("dot.png"))]);
    assert_eq!(titles(&pool, r#"{"outline":true}"#, task).await, wanted);
    pool.finish().await;
}

#[actix::test]
async fn bookmarks_metadata_and_a_range_of_pages_go_together() {
    let pool = TestPool::start(|_| {});
    let chapter = |number: u32| {
        format!(
            "<h1 style='break-before:page'>Chapter {number} of this long report</h1><p>{}</p>",
            "text ".repeat(900)
        )
    };
    let page = format!("{NARROW}<title>Report</title>{}", (1..=40).map(chapter).collect::<String>());
    let opts = r#"{"outline":true,"metadata":{"author":"Zoë","keywords":["a","b"]},"fromPage":2}"#;
    let pdf = pool.render(&asking(opts, put_page(&page))).await.unwrap().bytes;
    let wanted: Vec<_> = (1..=40).map(|number| format!("Chapter {number} of this long report")).collect();
    let found = titles_of(&pdf);
    assert!(found.len() >= 39 && wanted.ends_with(&found), "{found:?}");
    assert_eq!((info_of(&pdf, "Title"), info_of(&pdf, "Author")), ("Report".to_owned(), "Zoë".to_owned()));
    // The file that Chromium wrote stays as it is, and one update follows.
    let ends = pdf.windows(5).filter(|bytes| bytes == b"%%EOF").count();
    assert_eq!(ends, 2);
    pool.finish().await;
}

#[actix::test]
async fn what_cannot_be_asked_for_keeps_its_title() {
    let pool = TestPool::start(|_| {});
    // Elements named like members change nothing; a page that throws at no question of ours cannot forge one either.
    let named = ["querySelectorAll", "getElementsByTagName", "body"].map(|name| format!("<img name={name}>"));
    let page = format!(
        "{NARROW}{}<h1>Terms of Payment</h1><script>Element.prototype.querySelectorAll = () => [];\
        Object.defineProperty(HTMLElement.prototype, 'innerText', {{ get: () => 'forged' }})</script>",
        named.concat()
    );
    assert_eq!(titles(&pool, r#"{"outline":true}"#, scripted(&page)).await, ["Terms of Payment"]);
    // The title of a heading that is longer than any is asked for.
    let long = "word ".repeat(300);
    let found = titles(
        &pool,
        r#"{"outline":true}"#,
        put_page(&format!("{NARROW}<h1>{long}</h1><h2>In short here</h2>")),
    )
    .await;
    assert!(found[0].starts_with("word") && found[0].len() < long.len(), "{found:?}");
    assert_eq!(found[1], "In short here");
    let pdf = pool.render(&put_page(&page)).await.unwrap().bytes;
    assert_eq!(titles_of(&pdf), [""; 0]);
    pool.finish().await;
}
