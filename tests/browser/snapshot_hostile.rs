//! Target html against pages that try to prevent or falsify the file.

use platen::browser::{PageOutput, PageTask};
use platen::domain::error::ErrorCode;

use crate::snapshot::{document, green_png, same};
use crate::support::{TestPool, picture_of, static_page, with_bytes, with_files};

#[actix::test]
async fn a_page_that_replaces_everything_changes_nothing() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><link rel=stylesheet href=a.css><p id=p>true</p><img src=x.png><img name=fonts>\
        <img name=documentElement><form name=baseURI><input name=attributes><input name=childNodes>\
        <input name=firstChild><input name=localName><input name=shadowRoot><input name=style></form>\
        <form name=adoptedStyleSheets></form><form name=doctype></form><form name=getAnimations></form>\
        <form name=platenSnapshot id=platenSnapshot></form><script>\
        const lie = () => 'false'; const get = {get: () => { throw new Error('false') }, configurable: true};\
        for (const [owner, name] of [[Node, 'firstChild'], [Node, 'nextSibling'], [Element, 'attributes'],\
            [Element, 'outerHTML'], [Element, 'innerHTML'], [Document, 'documentElement'], [CSSRule, 'cssText'],\
            [CSSStyleSheet, 'cssRules'], [CharacterData, 'data']]) Object.defineProperty(owner.prototype, name, get);\
        Object.prototype.fault = 'false'; Object.prototype.parts = ['false']; Array.prototype.push = lie;\
        Array.prototype[Symbol.iterator] = lie; String.prototype.replace = lie; RegExp.prototype.exec = lie;\
        String.prototype.includes = lie; Map.prototype.get = lie; Set.prototype.has = lie; URL = lie;\
        JSON.stringify = lie; fetch = lie; Promise = lie; CSSStyleSheet = lie; TypeError = lie;\
        Object.getOwnPropertyDescriptor = lie; globalThis.platenSnapshot = {finish: lie, next: lie, provide: lie}\
        </script>";
    let task = with_bytes(page, &[("a.css", b"p{background:url(x.png)}"), ("x.png", &green_png())]);
    let (html, warnings) = document(&pool, &task).await;
    assert!(html.contains("<p id=\"p\">true</p>") && html.contains("background:url(\"data:"), "{html}");
    assert!(html.contains("<form name=\"baseURI\"><input name=\"attributes\">"), "{html}");
    assert!(!html.contains("false") && !html.contains("x.png"), "{html}");
    assert_eq!(warnings, Vec::<String>::new());
    pool.finish().await;
}

#[actix::test]
async fn a_strict_policy_stops_only_the_page() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><meta http-equiv=content-security-policy content=\"default-src 'none'; \
        script-src 'self'; style-src 'self'; require-trusted-types-for 'script'; trusted-types none\">\
        <link rel=stylesheet href=a.css><style>p{font-size:90px}</style><p style='color:red'>p</p>\
        <img src=x.png><svg width=20 height=20><use href=s.svg#a /></svg><script src=a.js></script>";
    let files: &[(&str, &[u8])] = &[
        ("a.css", b"p{color:green;border:var(--b);border-color:red}"),
        ("a.js", b"document.querySelector('p').append(' ran')"),
        ("x.png", &green_png()),
        ("s.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><rect id='a' width='9' height='9'/></svg>"),
    ];
    let (html, _) = document(&pool, &with_bytes(page, files)).await;
    // What the policy kept from the page does not come to life in a file without the policy.
    for part in ["font-size:90px", "color:red", "Security"] {
        assert!(
            !html.contains(&format!("<style>p{{{part}")) && !html.contains(&format!("=\"{part}")),
            "{html}"
        );
    }
    assert!(html.contains("border:var(--b)") && html.contains("p ran</p>"), "{html}");
    pool.finish().await;
}

#[actix::test]
async fn text_that_would_close_an_element_is_escaped() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><p id=p title='\"&quot;>'>x</p><script type=application/json id=d></script><script>\
        const style = document.createElement('style');\
        style.textContent = 'p::before{content:\"</style><b>bold</b>\"} /* </STYLE> */ p{color:green}';\
        document.head.append(style); const sheet = new CSSStyleSheet();\
        sheet.replaceSync('p::after{content:\"</style><i>\\\\22 </style>\"}'); document.adoptedStyleSheets = [sheet];\
        d.textContent = '{\"a\":\"<\\/script><!--<scr' + 'ipt>\"}'; p.append('</p><b>&amp;', document.createComment('--><b>'));\
        document.body.append(document.createElement('svg:b'), Object.assign(document.createElement('pre'), \
        {textContent: '\\n\\nx</pre>'}))</script>";
    let (html, _) = same(&pool, &with_files(page, &[("a.txt", "a")])).await;
    assert!(html.contains(r#"{"a":"\u003c/script>\u003c!--\u003cscript>"}"#), "{html}");
    assert!(!html.contains("<b>bold") || html.contains("<\\/style><b>bold"), "{html}");
    // Written a second time it is what it was.
    let again = document(&pool, &with_files(&html, &[("a.txt", "a")])).await.0;
    assert_eq!(again.replace('\n', ""), html.replace('\n', ""));
    pool.finish().await;
}

#[actix::test]
async fn addresses_are_found_however_they_are_written() {
    let pool = TestPool::start(|_| {});
    let css = "@charset \"utf-8\"; @layer a, b; @import /* ; */ 'b.css' layer(a) supports(color: red) screen, print;\
        /* url(x.png) */ p{background:URL( 'x\\.png' )} i{content:'url(x.png) @import \"x\"; :defined'}\
        u{background:url(x\\.png)} b{background:-webkit-image-set('x.png' 1x)} .url\\(x{} .myurl{--a:myurl(x.png)}\
        @font-face{font-family:F;src:url(f.eot);src:url(f.eot?#iefix) format('embedded-opentype'),\
        url(f.woff2?v=1#x) format('woff2'),url(f.ttf)} q{background:url(\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\")}\
        s{background:url(https://example.com/x.png);mask:url(#m)} a{background:url(x.png";
    let files = [
        ("a.css", css.as_bytes()),
        ("b.css", b"@import url(a.css); em{color:red}"),
        ("x.png", &green_png()),
        ("f.eot", b"eot"),
        ("f.woff2", b"woff2"),
        ("f.ttf", b"ttf"),
    ];
    let page = "<!doctype html><link rel=stylesheet href=a.css?v=2><p>p<script></script>";
    let (html, _) = document(&pool, &with_bytes(page, &files)).await;
    for part in [
        "layer(a) supports(color: red) screen, print;",
        "/* url(x.png) */ p{background:url(\"data:image/png",
        "i{content:'url(x.png) @import \"x\"; :defined'}",
        "u{background:url(\"data:image/png",
        "-webkit-image-set(url(\"data:image/png",
        "myurl(x.png)",
        "src:url(\"data:,\");src:url(\"data:,\") format('embedded-opentype'),url(\"data:font/woff2;base64,d29mZjI=#x\")",
        ",url(\"data:,\")}",
        "url(\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\")",
        "url(https://example.com/x.png);mask:url(#m)",
        "a{background:url(\"data:image/png",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    pool.finish().await;
}

#[actix::test]
async fn many_elements_and_deep_ones_are_written_in_time() {
    let pool = TestPool::start(|_| {});
    let page = "<body><script>for (let i = 0; i < 10000; i++) { const p = document.createElement('p');\
        p.textContent = 'row ' + i; p.style.color = 'green'; document.body.append(p) }\
        let deep = document.body; for (let i = 0; i < 5000; i++) deep = deep.appendChild(document.createElement('i'));\
        deep.textContent = 'bottom'</script>";
    pool.until("a tab is warm", |status| status.ready && status.warm > 0).await;
    let begun = std::time::Instant::now();
    let (html, _) = document(&pool, &with_files(page, &[("a.txt", "a")])).await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(25), "{:?}", begun.elapsed());
    assert_eq!(html.matches("<p style=\"color: green;\">row ").count(), 10_000);
    assert!(html.contains("<i>bottom</i></i>"));
    pool.finish().await;
}

#[actix::test]
async fn a_document_that_takes_too_long_fails_by_the_deadline_of_printing() {
    let page = "<body><script>const text = 'x'.repeat(1 << 20); for (let i = 0; i < 40; i++) {\
const p = document.createElement('p'); p.hidden = true; p.append(text); document.body.append(p) }</script>";
    let task = PageTask { output: PageOutput::Html, ..with_files(page, &[("a.txt", "a")]) };
    let pool = TestPool::start(|_| {});
    assert!(pool.render(&task).await.unwrap().bytes.len() > 40 << 20);
    pool.finish().await;
    let pool = TestPool::start(|config| config.print_timeout_ms = 10);
    let error = pool.render(&task).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::PrintTimeout, "{error}");
    assert!(error.message.contains("browser.print_timeout_ms"), "{error}");
    pool.finish().await;
}

#[actix::test]
async fn a_sandboxed_frame_stays_as_it_was_and_does_not_run() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><iframe sandbox='allow-scripts' srcdoc='<p>srcdoc<script>document.title=1</script>'></iframe>\
        <iframe sandbox src=frame.html></iframe><script></script>";
    let task = PageTask { output: PageOutput::Html, ..with_files(page, &[("frame.html", "<p>frame")]) };
    let done = pool.render(&task).await.unwrap();
    let html = String::from_utf8(done.bytes).unwrap();
    assert!(!html.contains("allow-scripts") && html.contains("srcdoc=\"&lt;p&gt;srcdoc"), "{html}");
    assert_eq!(done.warnings, ["a frame that cannot be looked into is not kept in the document: frame.html"]);
    let alone = PageTask { output: PageOutput::Png, ..static_page(&html) };
    assert_eq!(picture_of(&pool.render(&alone).await.unwrap().bytes).width, 794);
    pool.finish().await;
}
