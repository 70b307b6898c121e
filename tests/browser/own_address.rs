//! No address of the renderer's own reaches a document, a warning or an error.

use std::fs;
use std::process::Command;

use platen::browser::{PageOutput, PageTask};

use crate::support::{
    Rendered, TestPool, asking, info_of, put_page, scripted, static_page, text_of, with_files,
};

const BASE: &str = r#"{"baseUrl":"https://example.com/docs/"}"#;

/// Where the links of a PDF lead, each once.
fn links_of(pdf: &[u8]) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output = Command::new("pdfinfo").args(["-url", "-l", "1000"]).arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut links: Vec<_> =
        text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect();
    links.dedup();
    links
}

/// The names of places that links within the file lead to.
fn places_of(pdf: &[u8]) -> usize {
    pdf.windows(b"/Dest /".len()).filter(|bytes| bytes == b"/Dest /").count()
}

async fn rendered(pool: &TestPool, opts: &str, task: PageTask) -> Rendered {
    let rendered = pool.render(&asking(opts, task)).await.unwrap();
    assert!(!rendered.bytes.windows(10).any(|bytes| bytes == b".localhost"), "it names its own host");
    rendered
}

#[actix::test]
async fn a_relative_link_of_a_pdf_leads_to_the_base_or_nowhere() {
    let pool = TestPool::start(|_| {});
    let page = "<style>a::after{content:' ('attr(href)')'} a:link{text-transform:uppercase}</style>\
        <a href=terms.pdf>our</a> <a href=/root>root</a> <a href='?q=1'>query</a> <a href=#ch>chapter</a>\
        <a href=tel:+49123>call</a> <a href='https://exämple.org/päth'>far</a> \
        <svg width=90 height=20><a href=in.svg><text y=15>drawn</text></a></svg><h1 id=ch>Chapter</h1>";
    let whole = ["tel:+49123", "https://xn--exmple-cua.org/p%C3%A4th"];
    for task in [static_page(page), put_page(page), scripted(&format!("{page}<script></script>"))] {
        let alone = rendered(&pool, "{}", task.clone()).await;
        assert_eq!(links_of(&alone.bytes), whole);
        assert!(places_of(&alone.bytes) > 0 && text_of(&alone.bytes).contains("OUR ("));
        let [warning] = alone.warnings.as_slice() else { panic!("{:?}", alone.warnings) };
        assert!(
            warning.starts_with("relative links lead nowhere in a PDF: 'terms.pdf' and 3 more;"),
            "{warning}"
        );
        assert!(warning.contains("formatOpts.baseUrl"), "{warning}");
        let based = rendered(&pool, BASE, task).await;
        let mut wanted = ["docs/terms.pdf", "root", "docs/?q=1", "docs/in.svg"]
            .map(|path| format!("https://example.com/{path}"))
            .to_vec();
        wanted.splice(3..3, whole.map(str::to_owned));
        assert_eq!((links_of(&based.bytes), based.warnings), (wanted, Vec::new()));
        assert!(places_of(&based.bytes) > 0);
    }
    pool.finish().await;
}

#[actix::test]
async fn links_of_frames_shadow_trees_and_scripts_are_settled_too() {
    let pool = TestPool::start(|_| {});
    let page = "<iframe src=parts/frame.html></iframe><iframe srcdoc='<a href=srcdoc.pdf>s</a>'></iframe>\
        <a id=own>own</a> <a id=blob>blob</a> <a id=late></a> <a href='javascript:alert(1)'>runs</a> <div id=h></div>\
        <img name=querySelectorAll><form action=/submit><input name=href></form>\
        <script>h.attachShadow({mode: 'open'}).innerHTML = '<a href=shadow.pdf>shadow</a>';\
        own.href = location.origin + '/by/script.pdf'; blob.href = URL.createObjectURL(new Blob(['a']));\
        addEventListener('beforeprint', () => { late.textContent = 'late'; late.href = 'late.pdf' });</script>";
    let task =
        || with_files(page, &[("parts/frame.html", "<a href=a.pdf>framed</a> <a href=/b.pdf>root</a>")]);
    assert_eq!(links_of(&rendered(&pool, "{}", task()).await.bytes), [""; 0]);
    let mut links = links_of(&rendered(&pool, BASE, task()).await.bytes);
    links.sort();
    let wanted = [
        "b.pdf",
        "docs/by/script.pdf",
        "docs/late.pdf",
        "docs/parts/a.pdf",
        "docs/shadow.pdf",
        "docs/srcdoc.pdf",
    ];
    assert_eq!(links, wanted.map(|path| format!("https://example.com/{path}")));
    pool.finish().await;
}

#[actix::test]
async fn a_frame_that_nobody_looks_into_leads_nowhere() {
    let pool = TestPool::start(|_| {});
    let files = [("frame.html", "<p>framed</p><a href=a.pdf>link</a> <a href=https://h.test/>far</a>")];
    let task = with_files("<p>page</p><iframe sandbox src=frame.html></iframe><script></script>", &files);
    let pdf = rendered(&pool, BASE, task).await.bytes;
    assert!(text_of(&pdf).contains("framed"));
    let [erased, far] = links_of(&pdf).try_into().unwrap();
    assert!(erased.starts_with("about:blank#0") && erased.ends_with("0/a.pdf"), "{erased}");
    assert_eq!(far, "https://h.test/");
    pool.finish().await;
}

#[actix::test]
async fn a_base_of_the_pages_own_counts() {
    let pool = TestPool::start(|_| {});
    let page = "<base href=https://own.example/x/><a href=a.pdf>a</a> <a href=#b>b</a><p id=b>b";
    for opts in ["{}", BASE] {
        let rendered = rendered(&pool, opts, scripted(page)).await;
        assert_eq!(links_of(&rendered.bytes), ["https://own.example/x/a.pdf"]);
        assert_eq!((places_of(&rendered.bytes), rendered.warnings), (1, Vec::new()));
    }
    pool.finish().await;
}

#[actix::test]
async fn an_element_that_is_printed_alone_answers_for_its_own_links() {
    let pool = TestPool::start(|_| {});
    let page = "<nav><a href=elsewhere.html>elsewhere</a></nav><p id=p>alone";
    for task in [put_page(page), scripted(page)] {
        let rendered = rendered(&pool, r##"{"selector":"#p"}"##, task).await;
        assert_eq!((links_of(&rendered.bytes), rendered.warnings), (Vec::new(), Vec::new()));
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_without_a_title_has_none() {
    let pool = TestPool::start(|_| {});
    let opts = r#"{"headerTemplate":"T[<b class=title></b>] U[<b class=url></b>]","outline":true}"#;
    for task in [static_page("<p>text"), put_page("<p>text"), scripted("<p>text<script></script>")] {
        let pdf = rendered(&pool, opts, task).await.bytes;
        assert_eq!(info_of(&pdf, "Title"), "");
        assert!(text_of(&pdf).contains("T[] U[]"), "{}", text_of(&pdf));
    }
    pool.finish().await;
}

#[actix::test]
async fn a_document_keeps_relative_links_relative() {
    let pool = TestPool::start(|_| {});
    let page = "<a href=terms.pdf>a</a><a id=own>b</a><form action=/submit><button formaction=x>go</button></form>\
        <img src=gone.png><script>own.href = new URL('x.pdf', location)</script>";
    let task = PageTask { output: PageOutput::Html, ..scripted(page) };
    let html = String::from_utf8(rendered(&pool, "{}", task).await.bytes).unwrap();
    for kept in ["href=\"terms.pdf\"", "href=\"/x.pdf\"", "action=\"/submit\"", "formaction=\"x\""] {
        assert!(html.contains(kept), "{kept}: {html}");
    }
    pool.finish().await;
}

#[actix::test]
async fn warnings_and_errors_name_paths_only() {
    let pool = TestPool::start(|_| {});
    let page = "<p>text<script>console.error(location.href, location.host, encodeURIComponent(location.href), \
        'x'.repeat(220) + location); Promise.reject(new Error(location + 'a'))</script>";
    let warnings = rendered(&pool, "{}", scripted(page)).await.warnings;
    let [said, rejected] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(said.starts_with("console.error: / localhost http%3A%2F%2Flocalhost%2F xxx"), "{said}");
    assert!(rejected.starts_with("uncaught exception: Error: /a"), "{rejected}");
    assert!(!warnings.concat().contains(".localhost"), "{warnings:?}");
    let brief = pool.limited(|config| config.readiness_timeout_ms = 800);
    let opts = |expression: &str| format!(r#"{{"waitForExpression":"{expression}"}}"#);
    for (page, opts, named) in [
        (
            "",
            opts("(() => { throw new Error('at ' + location.href + 'x') })()"),
            "waitForExpression: Error: at /x",
        ),
        ("", opts("(() => { throw location.host })()"), "waitForExpression: "),
        ("", opts("Promise.reject(new Error(location.host))"), "waitForExpression: Error: localhost"),
        ("<script>location = '/gone.html'</script>", "{}".to_owned(), "the page went to /gone.html"),
        (
            "<script>setInterval(() => fetch('/x' + Math.random()), 5)</script>",
            opts("0"),
            "waitForExpression",
        ),
    ] {
        let error = brief.late(&asking(&opts, scripted(page)), named).await;
        assert!(error.message.contains(named) && !error.message.contains(".localhost"), "{}", error.message);
    }
    pool.finish().await;
}
