//! Warnings of pages that were printed all the same.

use std::net::TcpListener;

use platen::browser::{Delivery, PageOutput, PageTask};

use crate::support::{TestPool, scripted, static_page, text_of};

#[actix::test]
async fn what_is_missing_refused_or_thrown_is_warned_of_once_with_its_remedy() {
    let pool = TestPool::start(|_| {});
    let unreachable = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = unreachable.local_addr().unwrap().port();
    let page = "<link rel=stylesheet href=/css/gone.css><img src=gone.png><img src=gone.png><p>here</p><script>\
        new WebSocket('ws://127.0.0.1:PORT/ws'); fetch('http://127.0.0.1:PORT/data').catch(() => 0);\
        console.error('only said'); setTimeout(() => { throw new TypeError('no total') }, 10)</script>";
    let rendered = pool.render(&scripted(&page.replace("PORT", &port.to_string()))).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "here");
    let mut warnings = rendered.warnings;
    warnings.sort();
    let beginnings = [
        "asset not found: /css/gone.css",
        "asset not found: /gone.png",
        "console.error: only said (/:1)",
        "refused address: 127.0.0.1:PORT (a page reaches its own files only; outbound.allow can open it: \
            { host = \"127.0.0.1:PORT\", private = true })",
        "refused address: http://127.0.0.1:PORT/data (a page reaches its own files only; outbound.allow can open it: \
            { host = \"127.0.0.1:PORT\", http = true, private = true })",
        "uncaught exception: TypeError: no total (/:1)",
    ];
    assert_eq!(warnings.len(), beginnings.len(), "{warnings:#?}");
    for (warning, beginning) in warnings.iter().zip(beginnings) {
        assert!(warning.starts_with(&beginning.replace("PORT", &port.to_string())), "{warning}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_missing_font_is_warned_of_wherever_the_text_asks_for_it() {
    let pool = TestPool::start(|_| {});
    let style = "<style>body{font-family:'No Such Font',serif} .a{font:12px Nowhere,sans-serif} \
        .unused{font-family:'Never Asked'} .b{font-family:'Liberation Serif'} .c{font-family:ARIAL,serif} \
        .d{font-family:-apple-system,Roboto} .e{font-family:Mine}\
        @font-face{font-family:Mine;src:local('Liberation Mono')}</style>";
    let text = "body<p class=a>a<p class=b>b<p class=c>c<p class=d>d<p class=e>e";
    let page = format!("{style}{text}");
    let put_page = PageTask { delivery: Delivery::Put, ..static_page(&page) };
    let png = PageTask { output: PageOutput::Png, ..static_page(&page) };
    for task in [put_page, png, static_page(&page), scripted(&format!("{page}<script></script>"))] {
        let mut warnings = pool.render(&task).await.unwrap().warnings;
        warnings.sort();
        assert_eq!(warnings.len(), 2, "{warnings:#?}");
        assert!(warnings[0].starts_with("font not available: 'No Such Font'; the next one"), "{warnings:?}");
        assert!(warnings[1].starts_with("font not available: 'Nowhere'; the next one"), "{warnings:?}");
    }
    pool.finish().await;
}

#[actix::test]
async fn installed_fonts_are_not_warned_of() {
    let pool = TestPool::start(|_| {});
    // Among them fonts without Latin letters, and those that the generic names stand for.
    for family in [
        "DejaVu Sans Mono",
        "DejaVu Serif",
        "Liberation Sans",
        "Noto Color Emoji",
        "Noto Sans Arabic",
        "serif",
    ] {
        let page = format!("<p style=\"font-family:'{family}'\">text");
        let page = if family == "serif" { page.replace('\'', "") } else { page };
        for task in [static_page(&page), scripted(&page), static_page(&page)] {
            assert_eq!(pool.render(&task).await.unwrap().warnings, Vec::<String>::new(), "{family}");
        }
    }
    pool.finish().await;
}

#[actix::test]
async fn a_web_font_that_did_not_come_is_warned_of() {
    let pool = TestPool::start(|_| {});
    let page = "<style>@font-face{font-family:Brand;src:url(/brand.woff2)} p{font-family:Brand}</style><p>text\
        <script></script>";
    let warnings = pool.render(&scripted(page)).await.unwrap().warnings;
    assert!(warnings.iter().any(|line| line == "asset not found: /brand.woff2"), "{warnings:?}");
    assert!(warnings.iter().any(|line| line.starts_with("font not available: 'Brand'")), "{warnings:?}");
    pool.finish().await;
}
