//! What is put into pages and sheets, and what makes a page be served with its files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use page_inliner::{BaseUrl, Files, Role, inline, sheet_address};

/// Gives each file the address `data:<role>,<path>`, but for those whose name begins with `no`.
struct Named;

impl Files for Named {
    fn address(&self, role: Role, path: &str) -> Option<Arc<str>> {
        let is_there = !path.rsplit('/').next().unwrap().starts_with("no");
        let role = format!("{role:?}").to_lowercase();
        is_there.then(|| format!("data:{role},{path}").into())
    }
}

fn page(html: &str) -> Option<(String, String)> {
    let inlined = inline(html, &BaseUrl::of("f/").unwrap(), &Named, 1_000)?;
    Some((inlined.whole(), inlined.skeleton().to_owned()))
}

fn sheet(css: &str) -> Option<String> {
    let (whole, _) = page(&format!("<style>{css}</style>"))?;
    Some(whole.strip_prefix("<style>")?.strip_suffix("</style>")?.to_owned())
}

#[test]
fn sheets_pictures_and_fonts_are_put_in() {
    for (html, whole) in [
        ("<link rel=stylesheet href=a.css>", "<link rel=\"stylesheet\" href=\"data:sheet,f/a.css\">"),
        (
            "<LINK media='(min-width: 1px)' HREF='/a.css?v=2' type=text/css Rel=StyleSheet id='\"' />",
            "<link media=\"(min-width: 1px)\" href=\"data:sheet,a.css\" type=\"text/css\" rel=\"StyleSheet\" id=\"&quot;\">",
        ),
        ("<img alt=a src='../b c.png'>", "<img alt=a src=\"data:picture,b c.png\">"),
        ("<p style='background:url(x.png)'>", "<p style=\"background:url(data:picture,f/x.png)\">"),
        (
            "<p style=\"font-family:'a';background:url('x.png')\">",
            "<p style=\"font-family:'a';background:url(data:picture,f/x.png)\">",
        ),
        ("<style>p{color:red}</style>", "<style>p{color:red}</style>"),
        ("<style>p{background:url(x.png)", "<style>p{background:url(data:picture,f/x.png)"),
    ] {
        let (got, skeleton) = page(html).unwrap();
        assert_eq!(got, whole);
        assert!(!skeleton.contains("data:s") && !skeleton.contains("data:pic"), "{skeleton}");
    }
}

#[test]
fn what_is_left_shows_in_the_skeleton() {
    for html in [
        "<img src=data:,x><img src><p style='color:red;fill:url(#a)'>",
        "<link rel=icon href=a.png>",
        "<link rel='stylesheet alternate' href=a.css>",
        "<link rel=stylesheet title=a href=a.css>",
        "<link rel=stylesheet disabled href=a.css>",
        "<link rel=stylesheet integrity=sha256-x href=a.css>",
        "<link rel=stylesheet type=text/less href=a.css>",
        "<link rel=stylesheet charset=latin1 href=a.css>",
        "<link rel=preload as=style href=a.css>",
        "<svg><link rel=stylesheet href=a.css></link><style>p{fill:url(a.svg#x)}</style></svg>",
        "<image src=a.png><input type=image src=a.png><video poster=a.png>",
        "<p style='background:url(&quot;x.png&quot;)'>",
        "<style type=text/plain>p{background:url(x.png)}</style>",
        "<textarea><img src=a.png></textarea><!-- <img src=a.png> --><title><img src=a.png></title>",
    ] {
        assert_eq!(page(html).unwrap(), (html.to_owned(), html.to_owned()));
    }
    for html in [
        "<link rel=stylesheet href=no.css>",
        "<link rel=stylesheet href=a&amp;.css>",
        "<link rel=stylesheet href=//h.example/a.css>",
        "<link rel=stylesheet href=http://page.invalid/a.css>",
        "<img src=no.png>",
        "<img src=a.svg#x>",
        "<svg><style>img[src$='.png']{border:3px solid}</style></svg><img src=a.png>",
    ] {
        assert_eq!(page(html), None, "{html}");
    }
    // Both are seen, and only one of them is understood.
    let (_, skeleton) = page("<img src=a.png srcset='b.png 2x'>").unwrap();
    assert!(skeleton.contains("srcset='b.png 2x'"), "{skeleton}");
    let (_, skeleton) = page("<img src=a.png src=b.png>").unwrap();
    assert!(skeleton.contains("src=b.png"), "{skeleton}");
}

#[test]
fn a_sheet_has_its_imports_pictures_and_font_in_it() {
    for (css, whole) in [
        ("@import 'a.css';", "@import url(data:sheet,f/a.css);"),
        (
            "@charset \"utf-8\";@layer x;@IMPORT url( \"a.css\" ) layer(b) supports(display:grid) print;",
            "@charset \"utf-8\";@layer x;@IMPORT url(data:sheet,f/a.css) layer(b) supports(display:grid) print;",
        ),
        ("@import/**/url(a.css)screen", "@import/**/url(data:sheet,f/a.css)screen"),
        (
            "@font-face{font-family:A;src:url(a.woff2)format('woff2');font-weight:1 900}",
            "@font-face{font-family:A;src:url(data:font,f/a.woff2)format('woff2');font-weight:1 900}",
        ),
        ("@font-face{src:local('A')} @font-face{src:local(A),local(B)}", ""),
        (
            "p::before{content:url(a.png) / 'a\\201C';BACKGROUND : #fff URL('b.png') 0 0, url(c.png)}",
            "p::before{content:url(data:picture,f/a.png) / 'a\\201C';BACKGROUND : #fff url(data:picture,f/b.png) 0 0, url(data:picture,f/c.png)}",
        ),
        (
            "@media print{@supports (x:y){ul.a>li:hover{list-style:url(a.png);&:not(.b) i{border-image:url(b.png) 3}}}}",
            "@media print{@supports (x:y){ul.a>li:hover{list-style:url(data:picture,f/a.png);&:not(.b) i{border-image:url(data:picture,f/b.png) 3}}}}",
        ),
        ("@page{background-image:url(\\61.png)}", "@page{background-image:url(data:picture,f/a.png)}"),
        ("p{fill:url(#a);mask:url('#b');--x:url(data:,a);background:url(data:,x),url()}", ""),
        ("a[href^='http']::after{content:attr(href) \"url(x.png)\"} /* url(a.png) @import 'a' */", ""),
        ("p{color:red} } q{background:url(a.png", "p{color:red} } q{background:url(data:picture,f/a.png)"),
    ] {
        let whole = if whole.is_empty() { css } else { whole };
        assert_eq!(sheet(css).as_deref(), Some(whole), "{css}");
    }
}

#[test]
fn a_sheet_that_would_not_be_the_same_makes_its_page_be_served() {
    for css in [
        "@import 'no.css';",
        "@import '';",
        "@namespace url(http://www.w3.org/1999/xhtml);",
        "@font-face{src:url(a.woff2),url(a.woff)}",
        "@font-face{src:local(A),url(a.woff)}",
        "@font-face{src:url(a.eot);src:url(a.woff)}",
        "@font-face{src:url(a.woff2);unicode-range:U+0-FF}",
        "@font-face{src:url(a.woff#b)}",
        "p{background:url(no.png)}",
        "p{background:url(a.svg#b)}",
        "p{background:url(//h.example/a.png)}",
        "p{background:image-set('a.png' 1x)}",
        "p{background:-webkit-image-set(url(a.png) 1x)}",
        "p{background:cross-fade(url(a.png),url(b.png),50%)}",
        "p{background:var(--x,url(a.png))}",
        "p{background:url(\"a.png\" crossorigin())}",
        "p{background:url(a b.png)}",
        "p{--x:url(a.png)}",
        "p{--x:{background:url(a.png)}}",
        "p{mask:url(a.svg)}",
        "p{filter:url(a.svg#b)}",
        "p{cursor:url(a.png),auto}",
        "p{shape-outside:url(a.png)}",
        "p{background:src('a.png')}",
        "@counter-style a{symbols:url(a.png)}",
        "@supports (background:url(a.png)){}",
        "img[src$='.png']{border:1px solid}",
        "img:not([ SRC ]){border:1px solid}",
        "p[style*=url]{color:red}",
        "img::after{content:attr(src)}",
        "p{color:'a\nb'}",
    ] {
        assert_eq!(sheet(css), None, "{css}");
    }
    assert!(page("<p style='mask:url(a.svg)'>").is_none());
    let deep = format!("{}p{{}}", "@media all{".repeat(10_000));
    assert_eq!(sheet(&deep), None);
}

#[test]
fn no_more_is_put_in_than_allowed() {
    assert!(page(&"<img src=a.png>".repeat(40)).is_some());
    assert!(page(&"<img src=a.png>".repeat(80)).is_none());
    let base = BaseUrl::of("f/x.css").unwrap();
    let of = |count: usize| sheet_address(&"p{background:url(a.png)}".repeat(count), &base, &Named, 1_000);
    assert!(of(20).unwrap().starts_with("data:text/css;charset=utf-8;base64,"));
    assert_eq!(of(80), None);
}

#[test]
fn a_page_made_of_elements_is_read_once() {
    let begun = std::time::Instant::now();
    for element in [
        "<style></style>",
        "<p style='(:)'>",
        "<img src=no.png>",
        "<link rel=stylesheet href=no.css>",
        "<style>@media(",
    ] {
        page(&element.repeat((256 << 10) / element.len()));
    }
    for css in ["@media(", "url(", "p{", "a:b{", "/*", "@import ", "[", "@font-face{src:"] {
        sheet(&css.repeat((256 << 10) / css.len()));
    }
    // Read anew for each of them it takes minutes.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

#[test]
fn a_page_that_has_a_mark_of_ours_is_served() {
    assert!(page("<p>data:platen-inlined-0;<img src=a.png>").is_none());
}

#[test]
fn an_import_may_touch_its_address_and_is_none_in_a_block() {
    for (css, whole) in [
        ("@import\"a.css\"screen;", "@import url(data:sheet,f/a.css)screen;"),
        ("@import'a.css';", "@import url(data:sheet,f/a.css);"),
        ("@import url(a.css);", "@import url(data:sheet,f/a.css);"),
    ] {
        assert_eq!(
            sheet(css).unwrap().split_whitespace().collect::<Vec<_>>(),
            whole.split_whitespace().collect::<Vec<_>>()
        );
    }
    assert_eq!(sheet("@media all{@import 'a.css';}"), None);
}
