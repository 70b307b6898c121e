//! What pages become: text, size, pictures, data, options.

use bytes::Bytes;
use platen::browser::{Delivery, PageOutput, PageTask};
use platen::domain::error::ErrorCode;
use platen::domain::format_opts::PageOptions;

use crate::support::{TestPool, info_of, put_page, scripted, static_page, text_of, with_files};

const INVOICE: &str = "<!doctype html><meta charset=utf-8><title>Invoice</title>\
    <style>body{margin:2cm;background:#eef;font-family:sans-serif}</style>\
    <h1>Invoice 4711</h1><p>Grüße aus 東京, ñandú</p>";

#[actix::test]
async fn a_page_becomes_an_a4_pdf_with_its_text() {
    let pool = TestPool::start(|_| {});
    let put_page = PageTask { delivery: Delivery::Put, ..static_page(INVOICE) };
    for task in [static_page(INVOICE), scripted(INVOICE), put_page] {
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(rendered.warnings, Vec::<String>::new());
        let text = text_of(&rendered.bytes);
        assert!(text.contains("Invoice 4711 Grüße aus"), "{text}");
        assert!(text.contains("ñandú"), "{text}");
        assert_eq!(info_of(&rendered.bytes, "Pages"), "1");
        assert_eq!(info_of(&rendered.bytes, "Tagged"), "yes");
        assert!(info_of(&rendered.bytes, "Page size").contains("(A4)"));
    }
    pool.finish().await;
}

#[actix::test]
async fn the_data_is_there_before_the_first_script() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p></p><script>\
        const data = window.__POGODOC_DATA__;\
        p.textContent = [data.name, data === window.__PLATEN_DATA__, data.__proto__, \
            Object.keys(data).join('/')].join(' | ')</script>\
        <iframe srcdoc='<script>parent.document.title = typeof window.__PLATEN_DATA__</script>'></iframe>";
    let small = r#"{"z":1,"name":"Zoë </script>\u2028","__proto__":"plain"}"#.to_owned();
    let large = format!(r#"{{"z":1,"name":"Zoë","__proto__":"plain","x":"{}"}}"#, "ä".repeat(1 << 20));
    for (data, expected) in [
        (small, "Zoë </script> | true | plain | z/name/__proto__"),
        (large, "Zoë | true | plain | z/name/__proto__/x"),
    ] {
        let task = PageTask { data: Bytes::from(data), ..scripted(page) };
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), expected);
        assert_eq!(info_of(&rendered.bytes, "Title"), "undefined");
    }
    pool.finish().await;
}

#[actix::test]
async fn assets_are_served_and_missing_ones_are_warned_of() {
    let pool = TestPool::start(|_| {});
    let task = with_files(
        "<link rel=stylesheet href=/css/a.css><div id=root></div>\
         <script type=module crossorigin src=/js/app.js></script><img src=gone.png?x=1>",
        &[
            ("css/a.css", "#root::after{content:'styled'} @import url(gone.css);"),
            (
                "js/app.js",
                "import {text} from './part.js'; const more = await (await fetch('/n.json')).json();\
                root.textContent = text + more.n + ' '; throw new Error('late')",
            ),
            ("js/part.js", "export const text = 'module '"),
            ("n.json", r#"{"n":42}"#),
        ],
    );
    let rendered = pool.render(&task).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "module 42 styled");
    let warnings = rendered.warnings.join("\n");
    assert!(warnings.contains("asset not found: /gone.png?x=1"), "{warnings}");
    assert!(warnings.contains("uncaught exception: Error: late (js/app.js:1)"), "{warnings}");
    pool.finish().await;
}

#[actix::test]
async fn pictures_show_one_viewport_in_print_media() {
    let pool = TestPool::start(|_| {});
    let page = "<style>body{margin:0;height:3000px} @media print{html{background:#00ff00}}</style>";
    for task in [static_page(page), scripted(page)] {
        let png = pool.render(&PageTask { output: PageOutput::Png, ..task.clone() }).await.unwrap().bytes;
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&png[16..24], [0, 0, 0x03, 0x1a, 0, 0, 0x04, 0x22], "794 x 1058");
        let jpg = pool.render(&PageTask { output: PageOutput::Jpg, ..task }).await.unwrap().bytes;
        assert_eq!(&jpg[..3], b"\xff\xd8\xff");
    }
    pool.finish().await;
}

#[actix::test]
async fn options_reach_the_printer_and_wrong_ranges_fail() {
    let pool = TestPool::start(|_| {});
    let pages = "<style>p{break-after:page}</style><p>one<p>two<p>three<div>four</div>";
    let range = |from_page, to_page| PageTask {
        options: PageOptions { from_page, to_page, landscape: true, ..PageOptions::default() },
        ..static_page(pages)
    };
    for (from, to, expected) in
        [(Some(2), Some(3), "two three"), (Some(3), None, "three four"), (None, Some(1), "one")]
    {
        let rendered = pool.render(&range(from, to)).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), expected);
        assert!(info_of(&rendered.bytes, "Page size").starts_with("841."));
    }
    let error = pool.render(&range(Some(7), None)).await.unwrap_err();
    assert_eq!(error.error.code, ErrorCode::OptionsInvalid);
    assert!(error.error.message.contains("no pages 7- (fromPage, toPage)"), "{}", error.error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_paginates_itself_is_waited_for_and_one_without_end_is_printed_with_a_warning() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 200);
    let steps = "<p id=p>0</p><script>let n = 0; const timer = setInterval(() => { p.textContent = ++n; \
        if (n === 6) clearInterval(timer) }, 100)</script>";
    let rendered = pool.render(&scripted(steps)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "6");
    assert_eq!(rendered.warnings, Vec::<String>::new());
    let brief = pool.limited(|config| config.rest_cap_ms = 1_000);
    let endless = "<p>tick</p><i id=i></i><script>setInterval(() => i.textContent = Date.now(), 10)</script>";
    let rendered = brief.render(&scripted(endless)).await.unwrap();
    assert!(text_of(&rendered.bytes).starts_with("tick"));
    assert!(rendered.warnings[0].contains("never came to rest; printed after 1000 ms"));
    pool.finish().await;
}

#[actix::test]
async fn animation_frames_come() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p>no frame</p><script>requestAnimationFrame(() => \
        requestAnimationFrame(() => p.textContent = 'frames'))</script>";
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "frames");
    pool.finish().await;
}

#[actix::test]
async fn a_selector_is_waited_for() {
    let pool = TestPool::start(|_| {});
    let page = "<p>early</p><script>setTimeout(() => { const late = document.createElement('b'); \
        late.id = 'done'; late.textContent = 'late'; document.body.append(late) }, 300)</script>";
    let waiting = |selector: &str, task: PageTask| {
        let wait_for_selector = Some(selector.to_owned());
        PageTask { options: PageOptions { wait_for_selector, ..PageOptions::default() }, ..task }
    };
    let rendered = pool.render(&waiting("#done", scripted(page))).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "early late");
    let error = pool.render(&waiting("#never", static_page("<p>"))).await.unwrap_err().error;
    assert!(error.message.contains("nothing matches the selector '#never'"), "{}", error.message);
    let error = pool.render(&waiting("a[", static_page("<p>"))).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::OptionsInvalid);
    let brief = pool.limited(|config| config.readiness_timeout_ms = 600);
    let error = brief.late(&waiting("#never", scripted(page)), "selector '#never'").await;
    assert_eq!(error.code, ErrorCode::ReadinessTimeout);
    assert!(error.message.contains("600 ms (browser.readiness_timeout_ms)"), "{}", error.message);
    assert!(error.message.contains("selector '#never'"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn without_the_scripted_lane_no_script_runs() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p>as written</p><script>p.textContent='run'</script>\
        <img src=x onerror=\"p.textContent='onerror'\"><body onload=\"p.textContent='onload'\">";
    for delivery in [Delivery::Served, Delivery::Put] {
        let rendered = pool.render(&PageTask { delivery, ..static_page(page) }).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "as written");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_of_sixty_megabytes_comes_through() {
    let pool = TestPool::start(|_| {});
    let mut page = String::from("<p>begin</p><!--");
    page.push_str(&"filler ".repeat(60 << 17));
    page.push_str("--><p>end</p>");
    for delivery in [Delivery::Put, Delivery::Served] {
        let rendered = pool.render(&PageTask { delivery, ..static_page(&page) }).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "begin end");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_hundred_long_tables_fit_into_the_memory_of_a_page() {
    // Near the limit of the heap Chromium frees memory instead of printing: with a third of it this takes minutes.
    let pool = TestPool::start(|config| config.print_timeout_ms = 120_000);
    let rows: String = (0..520)
        .fold(String::new(), |rows, row| rows + &format!("<tr>{}", "<td>cell".repeat(6)) + &row.to_string());
    let table = format!("<h2>Table</h2><table><thead><tr>{}</thead>{rows}</table>", "<th>C".repeat(6));
    let page = format!("<!doctype html><style>table{{font:10px sans-serif}}</style>{}", table.repeat(100));
    let rendered = pool.render(&put_page(&page)).await.unwrap();
    assert!(rendered.pages.is_some_and(|pages| pages > 500), "{:?}", rendered.pages);
    assert!(rendered.warnings[0].contains("browser.tagged_pages_limit"), "{:?}", rendered.warnings);
    pool.finish().await;
}
