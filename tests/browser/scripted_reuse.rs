//! Reuse of tabs with script: by which jobs, for how long, and what ends a tab.

use std::collections::BTreeSet;
use std::time::Duration;

use platen::browser::{PageOutput, PageTask, Retry};
use platen::config::{BrowserConfig, ScriptedReuse};
use platen::domain::format_opts::PageOptions;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::domain::site::Site;

use crate::support::{Rendered, TestPool, asking, scripted, text_of, with_files};

/// A page that has a service worker before it is printed with the name of its tab.
const SERVICE_WORKER: &str = "<body><script>
    navigator.serviceWorker.register('worker.js').then(() => document.body.append(location.hostname.split('.')[1]));
</script>";

/// A page with script that is printed with the name of its tab, and runs `script` besides.
fn named(script: &str) -> PageTask {
    scripted(&format!(
        "<body><script>document.body.append(location.hostname.split('.')[1]);{script}</script>"
    ))
}

fn template(name: &str) -> Site {
    Site::single("index.html", name.to_owned().into())
}

/// Renders `task` as a page of a template and answers in which tab.
async fn tab_of(pool: &TestPool, account: AccountId, of: &Site, task: &PageTask) -> String {
    let name = text_of(&pool.render_template(account, of, task).await.unwrap().bytes);
    assert_eq!(name.len(), 32, "{name}");
    name
}

fn pool_of(tabs: u64, change: impl FnOnce(&mut BrowserConfig)) -> TestPool {
    TestPool::start(|config| {
        config.tabs = tabs;
        config.spare_tabs = 0;
        change(config);
    })
}

fn ended(pool: &TestPool, reason: &'static str) -> u64 {
    pool.metrics.reusable_closed.of([reason]).get()
}

/// Pages that had a tab of an earlier one.
fn reused(pool: &TestPool) -> u64 {
    ["kept", "left"].map(|kind| pool.metrics.leases.of(["scripted", kind]).get()).iter().sum()
}

/// The tabs of `task` and of the page that follows it, both of a template that was rendered before.
async fn tabs_after(pool: &TestPool, task: &PageTask) -> BTreeSet<String> {
    let (account, of) = (AccountId::generate(), template("t"));
    tab_of(pool, account, &of, &named("")).await;
    let first = tab_of(pool, account, &of, task).await;
    [first, tab_of(pool, account, &of, &named("")).await].into()
}

#[actix::test]
async fn a_tab_is_reused_for_the_same_template_of_the_same_account_only() {
    let pool = pool_of(8, |_| {});
    let (one, two) = (AccountId::generate(), AccountId::generate());
    let (bill, letter) = (template("bill"), template("letter"));
    let page = named("");
    let mut tabs = BTreeSet::new();
    for (account, of) in [(one, &bill), (two, &bill), (one, &letter), (two, &letter)] {
        let once = tab_of(&pool, account, of, &page).await;
        let first = tab_of(&pool, account, of, &page).await;
        assert_ne!(once, first, "no tab is kept for a template that was there once");
        for _ in 0..3 {
            assert_eq!(tab_of(&pool, account, of, &page).await, first);
        }
        assert!(tabs.insert(first), "somebody else had it");
    }
    assert_eq!(reused(&pool), 12);
    pool.finish().await;
}

#[actix::test]
async fn which_pages_share_a_tab_is_configured() {
    for (reuse, shared) in [(ScriptedReuse::Account, true), (ScriptedReuse::Never, false)] {
        let pool = pool_of(4, |config| config.scripted_reuse = reuse);
        let account = AccountId::generate();
        tab_of(&pool, account, &template("a"), &named("")).await;
        let first = tab_of(&pool, account, &template("a"), &named("")).await;
        let other = tab_of(&pool, account, &template("b"), &named("")).await;
        assert_eq!(first == other, shared, "{reuse:?}");
        assert_ne!(tab_of(&pool, AccountId::generate(), &template("a"), &named("")).await, first);
        pool.finish().await;
    }
}

#[actix::test]
async fn a_page_whose_changes_cannot_be_undone_ends_its_tab() {
    let pool = pool_of(4, |config| config.spare_tabs = 1);
    let worker = "new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))";
    let own = named("");
    let hosted = r#"{"requests":{"a.example":{"headers":{"X":"1"}}}}"#;
    // What a page does after its load event on its own account is not waited for without being asked.
    let shown = r#"{"waitForExpression":"document.body && document.body.innerText.length === 32"}"#;
    for task in [
        named(worker),
        asking(shown, named("if (!location.search) location.assign('/?2')")),
        named("for (let i = 0; i < 120; i++) history.replaceState(i, '', '#' + i)"),
        asking(shown, with_files(SERVICE_WORKER, &[("worker.js", "")])),
        asking(r#"{"timezone":"Asia/Tokyo"}"#, own.clone()),
        asking(r#"{"locale":"de-DE"}"#, own.clone()),
        asking(hosted, own.clone()),
        named("for (let i = 0; i < 700; i++) console.error(i)"),
    ] {
        assert_eq!(tabs_after(&pool, &task).await.len(), 2, "{:?}", task.site.page());
    }
    assert_eq!(tabs_after(&pool, &own).await.len(), 1);
    pool.finish().await;
}

#[actix::test]
async fn medium_and_viewport_are_undone() {
    let pool = pool_of(4, |_| {});
    let seen = "document.body.append(' ', innerWidth, ' ', devicePixelRatio, ' ', \
                matchMedia('print').matches, getComputedStyle(document.documentElement).backgroundColor)";
    let (account, of) = (AccountId::generate(), template("t"));
    let page = scripted(&format!("<body><script>{seen}</script>"));
    let fresh = text_of(&pool.render_template(account, &of, &page).await.unwrap().bytes);
    for (opts, output) in [
        (r#"{"mediaType":"screen"}"#, PageOutput::Pdf),
        (r#"{"viewport":{"width":500,"height":300,"deviceScaleFactor":2}}"#, PageOutput::Pdf),
        (
            r#"{"viewport":{"width":500,"height":300,"deviceScaleFactor":2},"omitBackground":true}"#,
            PageOutput::Png,
        ),
        (r#"{"fullPage":true}"#, PageOutput::Jpg),
        ("{}", PageOutput::Html),
    ] {
        let other = PageTask { output, ..asking(opts, scripted("<body>x<script>1</script>")) };
        pool.render_template(account, &of, &other).await.unwrap();
        let again = pool.render_template(account, &of, &page).await.unwrap();
        assert_eq!(text_of(&again.bytes), fresh, "{opts}");
    }
    assert_eq!(pool.metrics.leases.of(["scripted", "fresh"]).get(), 2);
    pool.finish().await;
}

#[actix::test]
async fn a_tab_ends_by_its_document_count_or_its_memory() {
    let pool = pool_of(1, |config| config.reuse_documents = 3);
    let (account, of) = (AccountId::generate(), template("t"));
    let mut tabs = Vec::new();
    for _ in 0..8 {
        tabs.push(tab_of(&pool, account, &of, &named("")).await);
    }
    let runs: Vec<usize> = tabs.chunk_by(|one, two| one == two).map(<[_]>::len).collect();
    assert_eq!((runs, ended(&pool, "documents")), (vec![1, 3, 3, 1], 2));
    pool.finish().await;

    let pool = pool_of(2, |config| config.reuse_memory_mb = 64);
    let heavy = named("window.kept = new Uint8Array(200 << 20).fill(1)");
    assert_eq!(tabs_after(&pool, &heavy).await.len(), 2);
    assert!(ended(&pool, "worn") > 0);
    pool.finish().await;
}

#[actix::test]
async fn the_author_of_each_page_is_warned_of_its_own_refused_requests() {
    let pool = pool_of(4, |_| {});
    let (account, of) = (AccountId::generate(), template("t"));
    let page = scripted(
        "<body><img src=http://picture.example/x.png><script>fetch('https://data.example/', { mode: 'no-cors' })\
         .catch(() => {})</script>",
    );
    for _ in 0..4 {
        let warnings = pool.render_template(account, &of, &page).await.unwrap().warnings.join("\n");
        assert!(warnings.contains("picture.example") && warnings.contains("data.example"), "{warnings}");
    }
    assert_eq!(reused(&pool), 2);
    pool.finish().await;
}

/// Renders pages of a template, the last three in one tab, and answers the last.
async fn render_following(pool: &TestPool, second: &PageTask, third: &PageTask) -> Rendered {
    render_after(pool, second, (pool, third)).await
}

/// The same, the last with limits of its own.
async fn render_after(before: &TestPool, second: &PageTask, last: (&TestPool, &PageTask)) -> Rendered {
    let (account, of) = (AccountId::generate(), template("t"));
    // The process that shows the tab is known only after that.
    for task in [second; 3] {
        before.render_template(account, &of, task).await.unwrap();
    }
    let (pool, third) = last;
    pool.render_template(account, &of, third).await.unwrap()
}

/// Shows whether the document began without script, as one does that follows another page: its parser then makes elements
/// of the content of `noscript`.
const HOW: &str = "<script>document.write('<noscr' + 'ipt><b></b></noscr' + 'ipt>');
    document.body.append(document.querySelector('noscript b') ? 'followed' : 'anew')</script>";

#[actix::test]
async fn a_page_following_another_renders_as_in_a_new_tab() {
    let pool = pool_of(4, |_| {});
    let brief = pool.limited(|config| {
        config.rest_cap_ms = 200;
        // Thousands of requests take long on a loaded machine.
        config.load_timeout_ms = 60_000;
    });
    let how = scripted(&format!("<body>{HOW}"));
    assert_eq!(text_of(&render_following(&pool, &how, &how).await.bytes), "followed");
    let seen = "document.body.append('[' + [name, history.length < 3, history.state, document.referrer, outerWidth, \
        performance.getEntriesByType('navigation')[0].type, navigation.canGoBack, document.readyState] + ']')";
    let page = scripted(&format!("<body><script>{seen}</script>"));
    let quiet = PageTask { lane: Lane::Static, ..asking(r#"{"javascript":false}"#, scripted("<body>x")) };
    let fresh = pool.render_template(AccountId::generate(), &template("t"), &page).await.unwrap();
    for before in [
        "name = 'left'",
        "name = 'left'; Object.defineProperty(window, 'name', { get: () => '', set() {} })",
        "history.replaceState('left', '', '/?left')",
        "onpagehide = onunload = onvisibilitychange = () => { name = 'left'; for (;;); }",
        "setInterval(() => { name = 'left'; document.cookie = 'left=1' })",
        "const next = () => { name = 'left'; requestAnimationFrame(next) }; next()",
        "fetchLater('http://left.example/?left')",
        // Continuations of Chromium's own answers (`await blob.text()`) run although script is switched off.
        "onload = async () => { for (;;) { await new Blob(['x']).text(); name = 'left'; resizeTo(333, 222) } }",
        "onload = async () => { for (let i = 1; ; i++) { await new Blob(['x']).text(); \
            if (i > 300 && i % 50 === 0) { console.error('left'); Promise.reject('left') } } }",
        "fetch('/left').catch(() => {}); (async () => { for (let i = 0; i < 5; i++) await fetch('/left?' + i) })()",
        "for (let i = 0; i < 3000; i++) new Image().src = '/left?' + i",
    ] {
        let before = scripted(&format!("<body>x<script>{before}</script>"));
        let before = PageTask { options: PageOptions { wait_ms: 50, ..before.options.clone() }, ..before };
        let after = render_after(&brief, &before, (&pool, &page)).await;
        assert_eq!((text_of(&after.bytes), after.warnings), (text_of(&fresh.bytes), vec![]), "{before:?}");
        let after = render_after(&brief, &before, (&pool, &quiet)).await;
        assert_eq!((text_of(&after.bytes).as_str(), after.warnings), ("x", vec![]), "{before:?}");
    }
    // Its sheet asks for another picture when the viewport is a plain one again.
    let narrow = "<style>@media (max-width: 1000px) { body { background: url(/left.png) } }</style><body>x<script>1</script>";
    let before = asking(r#"{"viewport":{"width":1600,"height":900}}"#, scripted(narrow));
    let after = render_following(&pool, &before, &page).await;
    assert_eq!((text_of(&after.bytes), after.warnings), (text_of(&fresh.bytes), vec![]));
    assert_eq!(ended(&pool, "broken"), 0);
    pool.finish().await;
}

#[actix::test]
async fn noscript_content_is_not_shown_in_a_following_page() {
    let pool = pool_of(4, |_| {});
    for page in [
        "<body><noscript>Switch it on</noscript><b>x</b><script>1</script>",
        "<body><noscript><img src=missing.png><p>Switch it on</noscript><b>x</b><script>1</script>",
        "<head><noscript>Switch it on</noscript></head><b>x</b><script>1</script>",
        "<title>a</title><NoScript title='>'><style>b{display:none}</style></noscript><b>x</b><script>1</script>",
    ] {
        let page = scripted(page);
        let made = render_following(&pool, &page, &page).await;
        assert_eq!((text_of(&made.bytes).as_str(), made.warnings), ("x", vec![]), "{page:?}");
    }
    assert_eq!(reused(&pool), 8);
    pool.finish().await;
}

#[actix::test]
async fn a_page_with_frames_is_never_left_in_its_tab() {
    let pool = pool_of(4, |_| {});
    for frame in ["srcdoc='y'", "sandbox='allow-scripts' srcdoc='<script>setInterval(() => 1)</script>'"] {
        let page = scripted(&format!("<body>x<iframe {frame}></iframe><script>1</script>"));
        render_following(&pool, &page, &page).await;
    }
    assert_eq!(pool.metrics.leases.of(["scripted", "left"]).get(), 0);
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_navigates_by_itself_does_not_disturb_the_next_one() {
    let pool = pool_of(4, |_| {});
    let going = scripted("<meta http-equiv=refresh content='1;url=/left'><body>x<script>1</script>");
    let going = PageTask { options: PageOptions { wait_ms: 950, ..going.options.clone() }, ..going };
    let (account, of) = (AccountId::generate(), template("t"));
    for task in [&going, &going, &going, &scripted(&format!("<body>{HOW}"))] {
        let made = pool.render_template(account, &of, task).await;
        assert!(
            made.as_ref()
                .map_or_else(|error| error.retry == Retry::OtherTab, |made| made.warnings.is_empty()),
            "{made:?}"
        );
    }
    pool.finish().await;
}

#[actix::test]
async fn a_left_page_is_removed_soon() {
    let pool = pool_of(4, |_| {});
    let page = named("");
    let (account, of) = (AccountId::generate(), template("t"));
    for _ in 0..3 {
        tab_of(&pool, account, &of, &page).await;
    }
    let shown_nothing = || pool.metrics.leases.of(["scripted", "kept"]).get();
    let (begun, mut pause_ms) = (shown_nothing(), 50);
    while shown_nothing() == begun {
        assert!(pause_ms < 60_000, "the page before is never ended");
        tokio::time::sleep(Duration::from_millis(pause_ms)).await; // poll
        tab_of(&pool, account, &of, &page).await;
        pause_ms *= 2;
    }
    pool.finish().await;
}
