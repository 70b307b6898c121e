//! Nothing of one page shows in the next one in the same tab: neither its options, nor what its code did.

use platen::browser::{PageOutput, PageTask};
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;

use crate::support::{TestPool, asking, info_of, put_page, scripted, static_page, text_of, with_files};

/// It looks different wherever a medium, a viewport, a font, a name or a visited address is another one's.
const PROBE: &str = "<!doctype html><style>body{font:20px Left,serif;margin:10px}a:visited{color:red}\
    @media screen{#m{color:#00f}}@media print{#m{color:#0a0}}\
    @media (min-width:795px){#w::after{content:'wide'}}@media (max-width:793px){#w::after{content:'narrow'}}\
    @media (min-resolution:1.5dppx){#w::before{content:'fine'}}@media (prefers-color-scheme:dark){p{color:pink}}\
    #t:target{color:red}</style>\
    <p>WWW iii <a href='about:blank'>a</a> <a href='#t'>b</a> <span id=m>medium</span> <span id=w></span><p id=t>t\
    <p style='width:50vw;height:20px;background:gray'>";

/// What script would see of the tab, if it could run there.
const LOOK: &str = "window.name === '' && history.length <= 2 && history.state === null && document.title === '' \
    && innerWidth === 794 && innerHeight === 1058 && devicePixelRatio === 1 && scrollX === 0 && scrollY === 0 \
    && document.cookie === '' && [...document.fonts].length === 0 && getSelection().rangeCount === 0 \
    && document.activeElement === document.body && visualViewport.scale === 1 && !document.fullscreenElement \
    && navigator.language === 'LANGUAGE' && Intl.DateTimeFormat().resolvedOptions().timeZone === 'ZONE' \
    && typeof left === 'undefined' && document.referrer === ''";

/// Writes by a script of ours all that a document may hold. Not a name of the tab: that stays, but only a script sets it.
const LEAVE: &str = "(window.left = 1, document.title = 'left', location.hash = 't', \
    scrollTo(0, 400), history.pushState('left', ''), document.cookie = 'left=1;max-age=999', \
    document.querySelector('input').focus(), getSelection().selectAllChildren(document.body), \
    document.fonts.add(new FontFace('Left', 'local(\\\"DejaVu Sans Mono\\\")')), \
    localStorage.left = 1, sessionStorage.left = 1, true)";

const LEAVING: &str = "<!doctype html><title>left</title><base target=left><style>\
    @font-face{font-family:Left;src:local('DejaVu Sans Mono')}body{font:40px Left;background:#fd0}\
    @page{size:A6 landscape;margin:5mm}:root{zoom:2}</style><a name=t href='about:blank'>left</a>\
    <input autofocus value=left><p style='height:400px'>left<p id=t>end";

/// Pages to come before, each with what `formatOpts` can say.
fn before() -> Vec<(&'static str, PageTask)> {
    let opts = [
        "{}",
        r#"{"mediaType":"screen"}"#,
        r#"{"viewport":{"width":1300,"height":300,"deviceScaleFactor":2}}"#,
        r#"{"format":"A5","landscape":true,"scale":1.7,"margin":{"top":"3cm"},"printBackground":true}"#,
        r#"{"displayHeaderFooter":true,"headerTemplate":"<p>left</p>","footerTemplate":"<p>left</p>"}"#,
        r##"{"selector":"#t"}"##,
        r##"{"waitForSelector":"#t","outline":true,"metadata":{"title":"left","author":"left"}}"##,
    ];
    let mut all: Vec<_> = opts.into_iter().map(|opts| (opts, asking(opts, put_page(LEAVING)))).collect();
    let files = with_files(LEAVING, &[("a.css", "p{color:red}")]);
    all.push(("html", PageTask { output: PageOutput::Html, lane: Lane::Static, ..files.clone() }));
    let leave = format!(r#"{{"waitForExpression":"{LEAVE}"}}"#);
    all.push(("left by script of ours", asking(&leave, PageTask { lane: Lane::Static, ..files })));
    all
}

/// The page that follows, put or served.
fn probes() -> [PageTask; 2] {
    [put_page(PROBE), static_page(PROBE)]
}

#[actix::test]
async fn a_page_in_a_reused_tab_looks_as_in_a_new_one() {
    let fresh = TestPool::start(|config| config.reuse_documents = 0);
    let mut wanted = Vec::new();
    for probe in probes() {
        wanted.push(fresh.render(&probe).await.unwrap());
    }
    fresh.finish().await;
    let pool = TestPool::start(|_| {});
    for (name, task) in before() {
        for (probe, wanted) in probes().iter().zip(&wanted) {
            let account = AccountId::generate();
            let (reused, left) = (pool.reused(), pool.render_for(account, &task).await);
            left.unwrap_or_else(|error| panic!("{name}: {error}"));
            let next = pool.render_for(account, probe).await.unwrap();
            assert_eq!(pool.reused(), reused + 1, "{name}: its tab was not used again");
            assert_eq!(next.warnings, wanted.warnings, "{name}");
            assert_eq!(text_of(&next.bytes), text_of(&wanted.bytes), "{name}");
            for line in ["Title", "Author", "Pages", "Page size", "Tagged"] {
                assert_eq!(info_of(&next.bytes, line), info_of(&wanted.bytes, line), "{name}: {line}");
            }
            assert_eq!(next.bytes.len(), wanted.bytes.len(), "{name}");
        }
    }
    pool.finish().await;
}

#[actix::test]
async fn a_script_finds_no_trace_of_the_page_before() {
    let pool = TestPool::start(|_| {});
    let plain = "(document.body.textContent = [navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone], true)";
    let asked = asking(&format!(r#"{{"waitForExpression":"{plain}"}}"#), scripted("<p>x"));
    let asked = text_of(&pool.render(&asked).await.unwrap().bytes);
    let (language, zone) = asked.split_once(',').unwrap();
    let look = LOOK.replace("LANGUAGE", language).replace("ZONE", zone);
    let show = look.split("&&").map(|part| {
        let part = part.trim();
        format!("({part} ? '' : ' NOT {} ')", part.replace('\'', ""))
    });
    let show =
        format!("(document.body.textContent = 'looked' + {}, true)", show.collect::<Vec<_>>().join("+"));
    let look = asking(&format!(r#"{{"waitForExpression":"{show}"}}"#), static_page("<body>x"));
    for (name, task) in before() {
        let account = AccountId::generate();
        pool.render_for(account, &task).await.unwrap();
        let seen = pool.render_for(account, &look).await.unwrap();
        assert_eq!(text_of(&seen.bytes), "looked", "{name}");
    }
    let shown = before().len() as u64;
    assert_eq!(pool.reused(), shown, "all in the same tab as the one before");
    pool.finish().await;
}

#[actix::test]
async fn script_that_the_scan_misses_runs_in_no_tab() {
    let page = "<p id=p>still</p><script>p.textContent = 'ran'</script><img src=x onerror=\"p.textContent='ran'\">\
        <svg onload=\"p.textContent='ran'\"></svg><details open ontoggle=\"p.textContent='ran'\"></details>\
        <iframe srcdoc=\"<script>parent.p.textContent='ran'</script>\"></iframe>";
    let pool = TestPool::start(|_| {});
    let account = AccountId::generate();
    for task in [put_page(page), static_page(page), put_page(page), static_page(page)] {
        let rendered = pool.render_for(account, &task).await.unwrap();
        let text = text_of(&rendered.bytes);
        assert!(text.starts_with("still") && !text.contains("ran"), "{text}");
    }
    assert_eq!(pool.reused(), 3);
    let ran = pool.render(&scripted(page)).await.unwrap();
    assert!(text_of(&ran.bytes).starts_with("ran"), "it would have run");
    pool.finish().await;
}
