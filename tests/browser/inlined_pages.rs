//! Pages without script that have their files in them: they must come out as if they were served with their files.

use platen::browser::{Delivery, PageTask};
use platen::config::Config;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::engines::page::inlined::Inliner;

use crate::support::{TestPool, put_page, with_bytes, without_dates_and_ids};

const DOT: &[u8] = include_bytes!("dot.png");
const FONT: &str = "/usr/share/fonts/truetype/liberation/LiberationSerif-Italic.ttf";
const DRAWING: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 10'><defs><linearGradient id='g'>\
    <stop stop-color='red'/><stop offset='1' stop-color='blue'/></linearGradient></defs>\
    <rect width='20' height='10' fill='url(#g)'/></svg>";
/// The files beside each page.
const MAIN: &str = "@charset \"utf-8\"; @layer base, own; @import url(\"parts/print.css\") layer(base) print; \
    @import 'parts/screen.css' screen; \
    @font-face { font-family: Beside; src: url('../fonts/own font.ttf') format('truetype'); font-display: swap } \
    p { font: 20px Beside; background: #eee url(../img/dot.png?v=1) 0 0 / 9px 9px repeat-x } \
    p::before { content: url(../img/drawing.svg) ' \\201C ü'; } \
    ul { list-style: url(/img/drawing.svg) } \
    @media (min-width: 1px) { td { border: 6px solid; border-image: url(../img/drawing.svg) 3 } }";
const IMPORTED: &str = "@import '../deep.css'; h1 { color: teal } @page { size: A5; margin: 7mm }";
const DEEP: &str = "\u{feff}h1 { background: url(img/drawing.svg) } h1::after { content: ' — deep' }";
const SCREEN: &str = "h1 { color: red; font-size: 90px }";

const PAGES: [&str; 5] = [
    "<!doctype html><html lang=en><title>One</title><link rel=stylesheet href=css/main.css><h1>Heading</h1><p>Text\
        <img src=img/dot.png?v=1 width=30 height=20 alt=dot><img src=/img/drawing.svg width=40><ul><li>item</ul>\
        <table><tr><td>cell</table><a href=https://h.example/>elsewhere</a> <a href=#x>part</a><p id=x style='background:\
        url(img/drawing.svg)'>x",
    "<!doctype html><link rel=stylesheet href=css/main.css media=print><link rel=stylesheet href=css/none.css \
        media='(max-width: 1px)'><style>@import 'deep.css'; p { color: green }</style><h1>a</h1><p>b",
    "<link rel=stylesheet href=css/main.css><table width=300><tr><td>quirks<p>x</table><body text=blue><p>p",
    "<!doctype html><body><p>before<link rel=stylesheet crossorigin href=css/main.css><p>behind",
    "<!doctype html><style>@font-face { font-family: Beside; src: url(fonts/own\\20 font.ttf) } b { font: 30px Beside } \
        div { width: 60px; height: 30px; background-image: url(img/drawing.svg), url(img/dot.png) }</style><b>ab</b><div>",
];

fn served(page: &str) -> PageTask {
    let font = std::fs::read(FONT).unwrap();
    let task = with_bytes(
        page,
        &[
            ("css/main.css", MAIN.as_bytes()),
            ("css/none.css", b"h1 { color: lime }"),
            ("css/parts/print.css", IMPORTED.as_bytes()),
            ("css/parts/screen.css", SCREEN.as_bytes()),
            ("css/deep.css", DEEP.replace("img/", "../img/").as_bytes()),
            ("deep.css", DEEP.as_bytes()),
            ("fonts/own font.ttf", &font),
            ("img/dot.png", DOT),
            ("img/drawing.svg", DRAWING.as_bytes()),
        ],
    );
    PageTask { lane: Lane::Static, ..task }
}

/// The same page with its files in it.
fn inlined(task: &PageTask) -> PageTask {
    let inlined = Inliner::new(&Config::default().browser).inlined(&task.site).unwrap();
    PageTask { delivery: inlined.delivery, inlined: Some(inlined.html.into()), ..task.clone() }
}

#[actix::test]
async fn a_page_with_its_files_in_it_is_the_one_that_is_served_with_them() {
    let pool = TestPool::start(|_| {});
    // Each takes the place of the one before, where the pool still has its tab.
    let account = AccountId::generate();
    for page in PAGES {
        let served = served(page);
        let inlined = inlined(&served);
        assert_eq!(inlined.delivery, Delivery::PutInPlace, "{page}");
        let wanted = pool.render(&served).await.unwrap();
        let got = pool.render_for(account, &inlined).await.unwrap();
        assert_eq!((&wanted.warnings, wanted.pages), (&got.warnings, got.pages), "{page}");
        assert!(without_dates_and_ids(&wanted.bytes) == without_dates_and_ids(&got.bytes), "{page}");
        // It is no accident: without its files it is another one.
        let bare = PageTask { inlined: None, delivery: Delivery::Put, ..inlined };
        let bare = pool.render(&bare).await.unwrap();
        assert!(without_dates_and_ids(&wanted.bytes) != without_dates_and_ids(&bare.bytes), "{page}");
    }
    pool.finish().await;
}

#[actix::test]
async fn files_that_were_put_in_are_gone_for_the_next_page_in_place() {
    const NEXT: &str =
        "<!doctype html><style>b { font: 20px Beside, serif }</style><h1>h</h1><p>p<b>b</b><ul><li>i";
    let pool = TestPool::start(|config| config.reuse_documents = 1_000);
    let wanted = without_dates_and_ids(&pool.render(&put_page(NEXT)).await.unwrap().bytes);
    let account = AccountId::generate();
    for page in PAGES {
        pool.render_for(account, &inlined(&served(page))).await.unwrap();
        let next = PageTask { delivery: Delivery::PutInPlace, ..put_page(NEXT) };
        let next = pool.render_for(account, &next).await.unwrap();
        assert!(without_dates_and_ids(&next.bytes) == wanted, "{page}");
    }
    assert_eq!(pool.reused() + 1, 2 * PAGES.len() as u64, "all in one tab");
    pool.finish().await;
}
