//! Tabs of pages with script that are reused: by whom, how long, and what makes a tab one that is not.

use std::collections::BTreeSet;

use platen::browser::{PageOutput, PageTask};
use platen::config::{BrowserConfig, ScriptedReuse};
use platen::domain::ids::AccountId;
use platen::domain::site::Site;

use crate::support::{TestPool, asking, scripted, text_of, with_files};

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
    pool.metrics.kept_ended.of([reason]).get()
}

/// The tabs of `task` and of the page behind it, of a template that was there before.
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
    assert_eq!(pool.metrics.leases.of(["scripted", "kept"]).get(), 12);
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
async fn what_cannot_be_undone_makes_the_tab_one_of_a_single_page() {
    let pool = pool_of(4, |config| config.spare_tabs = 1);
    let worker = "new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))";
    let own = named("");
    let hosted = r#"{"requests":{"a.example":{"headers":{"X":"1"}}}}"#;
    for task in [
        named(worker),
        named("if (!location.search) location.assign('/?2')"),
        named("for (let i = 0; i < 120; i++) history.replaceState(i, '', '#' + i)"),
        with_files(SERVICE_WORKER, &[("worker.js", "")]),
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
async fn a_tab_wears_by_documents_and_by_what_its_process_holds() {
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
    assert_eq!(pool.metrics.leases.of(["scripted", "kept"]).get(), 2);
    pool.finish().await;
}
