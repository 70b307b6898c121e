//! Reusable tabs of the static lane: for which account, how long, and what becomes of them when they die or are evicted.

use std::collections::{BTreeMap, BTreeSet};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{Delivery, PageTask, Retry, open, print};
use platen::config::BrowserConfig;
use platen::domain::error::ErrorCode;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;

use crate::support::{TestPool, asking, put_page, renderers_of, static_page, text_of, with_files};

/// A page that is printed with the name of its tab: the second part of its host's name. An expression of ours
/// runs where no script of the page's does.
fn named() -> PageTask {
    let name = "document.body.textContent = location.hostname.split('.')[1]";
    asking(&format!(r#"{{"waitForExpression":"({name}, true)"}}"#), static_page("<p>x"))
}

/// Renders a page of `account` and answers in which tab.
async fn tab_of(pool: &TestPool, account: AccountId) -> String {
    let rendered = pool.render_for(account, &named()).await.unwrap();
    let name = text_of(&rendered.bytes);
    assert_eq!(name.len(), 32, "{name}");
    name
}

fn ended(pool: &TestPool, reason: &'static str) -> u64 {
    pool.metrics.reusable_closed.of([reason]).get()
}

/// A pool with so many tabs, none of which is made ahead.
fn pool_of(tabs: u64, change: impl FnOnce(&mut BrowserConfig)) -> TestPool {
    TestPool::start(|config| {
        config.tabs = tabs;
        config.spare_tabs = 0;
        change(config);
    })
}

#[actix::test]
async fn a_tab_is_reused_by_its_own_account_only() {
    let pool = pool_of(2, |_| {});
    let (one, two) = (AccountId::generate(), AccountId::generate());
    let first = tab_of(&pool, one).await;
    let other = tab_of(&pool, two).await;
    assert_ne!(first, other);
    for _ in 0..3 {
        assert_eq!(tab_of(&pool, one).await, first);
        assert_eq!(tab_of(&pool, two).await, other);
        assert_eq!(text_of(&pool.render_for(one, &put_page("<p>put")).await.unwrap().bytes), "put");
    }
    assert_eq!((pool.reused(), pool.metrics.leases.of(["static", "fresh"]).get()), (9, 2));
    let status = pool.until("both are reusable", |it| it.leased == 0 && it.reusable == 2).await;
    assert_eq!(renderers_of(status.browsers[0]).len(), 2, "and no more than they");
    pool.finish().await;
}

#[actix::test]
async fn accounts_at_once_never_share_a_tab() {
    let pool = pool_of(3, |_| {});
    let accounts = [(); 4].map(|()| AccountId::generate());
    let client = async |number: usize| {
        let account = accounts[number % accounts.len()];
        let mut tabs = Vec::new();
        for _ in 0..8 {
            tabs.push((number % accounts.len(), tab_of(&pool, account).await));
        }
        tabs
    };
    let seen = futures_util::future::join_all((0..6).map(client)).await.concat();
    let mut users: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (account, tab) in seen {
        users.entry(tab).or_default().insert(account);
    }
    assert!(users.values().all(|accounts| accounts.len() == 1), "{users:?}");
    assert!(pool.reused() > 0, "none was used again");
    pool.finish().await;
}

#[actix::test]
async fn a_page_with_script_has_a_new_tab_that_is_not_reused() {
    let pool = pool_of(2, |_| {});
    let account = AccountId::generate();
    let first = tab_of(&pool, account).await;
    let scripted = PageTask { lane: Lane::Scripted, ..named() };
    for _ in 0..2 {
        let rendered = pool.render_for(account, &scripted).await.unwrap();
        assert_ne!(text_of(&rendered.bytes), first);
    }
    assert_eq!(tab_of(&pool, account).await, first, "it was not evicted meanwhile");
    assert_eq!(pool.metrics.leases.of(["scripted", "fresh"]).get(), 2);
    pool.finish().await;
}

#[actix::test]
async fn a_tab_is_disposed_of_at_its_document_limit() {
    let pool = pool_of(1, |config| config.reuse_documents = 3);
    let account = AccountId::generate();
    let mut tabs = Vec::new();
    for _ in 0..7 {
        tabs.push(tab_of(&pool, account).await);
    }
    let runs: Vec<usize> = tabs.chunk_by(|one, two| one == two).map(<[_]>::len).collect();
    assert_eq!((runs, ended(&pool, "documents")), (vec![3, 3, 1], 2));
    pool.finish().await;
}

#[actix::test]
async fn an_old_tab_is_disposed_of_also_while_no_job_waits() {
    let pool = pool_of(1, |config| {
        config.reuse_age_s = 1;
        config.ping_interval_ms = 100;
    });
    let first = tab_of(&pool, AccountId::generate()).await;
    assert_eq!(first.len(), 32);
    pool.eventually("it is old", || ended(&pool, "age") == 1).await;
    assert_eq!(pool.status().await.reusable, 0);
    pool.finish().await;
}

#[actix::test]
async fn no_tab_is_reused_where_that_is_switched_off() {
    for documents in [0, 1] {
        let pool = pool_of(2, |config| config.reuse_documents = documents);
        let account = AccountId::generate();
        assert_ne!(tab_of(&pool, account).await, tab_of(&pool, account).await);
        assert_eq!((pool.reused(), pool.status().await.reusable), (0, 0));
        pool.finish().await;
    }
}

#[actix::test]
async fn a_waiter_evicts_the_tab_used_least_lately() {
    let pool = pool_of(2, |_| {});
    let [one, two, three] = [(); 3].map(|()| AccountId::generate());
    let (first, second) = (tab_of(&pool, one).await, tab_of(&pool, two).await);
    assert_eq!(tab_of(&pool, one).await, first, "used later than the other one");
    let third = tab_of(&pool, three).await;
    assert_eq!(ended(&pool, "room"), 1);
    assert_eq!((tab_of(&pool, one).await, tab_of(&pool, three).await), (first, third));
    assert_ne!(tab_of(&pool, two).await, second);
    pool.finish().await;
}

#[actix::test]
async fn a_waiter_for_the_last_tab_is_not_starved_by_one_account() {
    for page in [static_page("<p>x"), PageTask { delivery: Delivery::PutInPlace, ..put_page("<p>x") }] {
        waiters_are_served_in_order(&page).await;
    }
}

async fn waiters_are_served_in_order(page: &PageTask) {
    let pool = pool_of(1, |config| config.lease_timeout_ms = 10_000);
    let (busy, other) = (AccountId::generate(), AccountId::generate());
    tab_of(&pool, busy).await;
    let held = pool.lease_for(busy, Lane::Static).await.unwrap();
    let others = pool.lease_for(other, Lane::Scripted);
    let again = pool.lease_for(busy, Lane::Static);
    let release = async {
        pool.until("both wait", |status| status.waiting == 2).await;
        pool.render_in(held, page).await.unwrap();
    };
    let order = std::cell::RefCell::new(Vec::new());
    let others = async {
        drop(others.await.unwrap());
        order.borrow_mut().push("other");
    };
    let again = async {
        drop(again.await.unwrap());
        order.borrow_mut().push("busy");
    };
    tokio::join!(others, again, release);
    assert_eq!(*order.borrow(), ["other", "busy"]);
    pool.finish().await;
}

#[actix::test]
async fn reusable_tabs_give_way_to_the_warm_tab() {
    let pool = TestPool::start(|config| config.tabs = 3);
    for _ in 0..5 {
        tab_of(&pool, AccountId::generate()).await;
        pool.until("there is a warm tab", |it| it.leased == 0 && it.warm >= 1).await;
    }
    pool.until("two are reusable beside the warm one for pages with script", |it| {
        it.reusable == 2 && it.warm == 1
    })
    .await;
    pool.finish().await;
}

#[actix::test]
async fn many_accounts_keep_no_more_tabs_than_are_configured() {
    let pool = pool_of(3, |_| {});
    for _ in 0..20 {
        tab_of(&pool, AccountId::generate()).await;
    }
    let status = pool.until("three are reusable", |it| it.leased == 0 && it.reusable == 3).await;
    pool.eventually("the others are gone", || renderers_of(status.browsers[0]).len() <= 3).await;
    assert_eq!(ended(&pool, "room"), 17);
    pool.finish().await;
}

#[actix::test]
async fn a_reusable_tab_whose_renderer_is_killed_is_disposed_of() {
    let pool = pool_of(2, |config| config.ping_interval_ms = 100);
    let account = AccountId::generate();
    let first = tab_of(&pool, account).await;
    assert_eq!(tab_of(&pool, account).await, first);
    let status = pool.until("it is reusable", |it| it.leased == 0 && it.reusable == 1).await;
    kill_renderers(status.browsers[0]);
    pool.eventually("it is gone", || ended(&pool, "broken") == 1).await;
    assert_ne!(tab_of(&pool, account).await, first);
    pool.finish().await;
}

#[actix::test]
async fn a_page_whose_renderer_is_killed_may_be_retried() {
    let pool = pool_of(2, |_| {});
    let account = AccountId::generate();
    for used in [false, true] {
        let lease = pool.lease_for(account, Lane::Static).await.unwrap();
        let page = open(lease, &static_page("<p>x"), &pool.config, |_| {}).await.unwrap();
        kill_renderers(pool.status().await.browsers[0]);
        let error = print(page).await.err().unwrap();
        assert_eq!(error.retry, Retry::OtherTab, "used before: {used}; {error}");
        tab_of(&pool, account).await;
    }
    pool.finish().await;
}

fn kill_renderers(browser: i32) {
    for renderer in renderers_of(browser) {
        kill(Pid::from_raw(renderer), Signal::SIGKILL).unwrap();
    }
}

#[actix::test]
async fn the_tab_of_a_page_that_fails_or_hangs_is_disposed_of() {
    let pool = pool_of(2, |config| config.readiness_timeout_ms = 3_000);
    let account = AccountId::generate();
    let first = tab_of(&pool, account).await;
    let missing = asking(r##"{"waitForSelector":"#none"}"##, static_page("<p>x"));
    let error = pool.render_for(account, &missing).await.unwrap_err();
    assert_eq!(error.error.code, ErrorCode::ReadinessTimeout, "{error}");
    let second = tab_of(&pool, account).await;
    let hanging = asking(r#"{"waitForExpression":"(() => { for (;;); })()"}"#, static_page("<p>x"));
    let error = pool.render_for(account, &hanging).await.unwrap_err();
    assert_eq!(error.error.code, ErrorCode::ReadinessTimeout, "{error}");
    let third = tab_of(&pool, account).await;
    assert!(first != second && second != third);
    drop(pool.lease_for(account, Lane::Static).await.unwrap());
    pool.until("it is gone", |it| it.leased == 0 && it.reusable == 0).await;
    assert_eq!(ended(&pool, "page"), 3, "one that was given back unused is not reused either");
    pool.finish().await;
}

#[actix::test]
async fn the_reset_of_a_tab_has_a_deadline() {
    let pool = pool_of(2, |config| {
        config.output_chunk_bytes = 4_096;
        config.reset_timeout_ms = 200;
        config.hung_ms = 0;
    });
    let account = AccountId::generate();
    let lease = pool.lease_for(account, Lane::Static).await.unwrap();
    let page = open(lease, &static_page("<p>x"), &pool.config, |_| {}).await.unwrap();
    let mut printed = print(page).await.unwrap();
    let renderers = renderers_of(pool.status().await.browsers[0]);
    for id in renderers {
        kill(Pid::from_raw(id), Signal::SIGSTOP).unwrap();
    }
    while printed.next_chunk().await.unwrap().is_some() {}
    let again = tokio::time::timeout(crate::support::SOON, tab_of(&pool, account)).await;
    assert_eq!(again.unwrap().len(), 32);
    assert_eq!((pool.reused(), ended(&pool, "broken")), (0, 1));
    pool.finish().await;
}

#[actix::test]
async fn a_tab_of_a_heavy_page_or_one_that_cannot_be_undone_is_not_reused() {
    let pool = pool_of(1, |_| {});
    let account = AccountId::generate();
    let long = "<p style='break-after: page'>x".repeat(25);
    let large = format!("<p>x<!--{}-->", "x".repeat(1 << 20));
    let zone = asking(r#"{"timezone":"Asia/Tokyo"}"#, static_page("<p>x"));
    let locale = asking(r#"{"locale":"de-DE"}"#, static_page("<p>x"));
    let tasks = [put_page(&long), put_page(&large), zone, locale];
    for (number, task) in tasks.iter().enumerate() {
        pool.render_for(account, task).await.unwrap();
        pool.eventually("it is gone", || ended(&pool, "page") == number as u64 + 1).await;
    }
    assert_eq!(pool.reused(), 0);
    pool.finish().await;
}

#[actix::test]
async fn disposing_of_a_tab_ends_no_other_tab() {
    let pool = pool_of(4, |_| {});
    let account = AccountId::generate();
    let lease = pool.lease_for(account, Lane::Static).await.unwrap();
    pool.render_for(account, &static_page("<p>x")).await.unwrap();
    pool.until("the other one is reusable", |it| it.leased == 1 && it.reusable == 1).await;
    let heavy = put_page(&"<p style='break-after: page'>x".repeat(25));
    let mut printed = print(open(lease, &heavy, &pool.config, |_| {}).await.unwrap()).await.unwrap();
    while printed.next_chunk().await.unwrap().is_some() {}
    drop(printed);
    pool.eventually("its tab is gone", || ended(&pool, "page") == 1).await;
    assert_eq!(pool.status().await.reusable, 1);
    pool.finish().await;
}

#[actix::test]
async fn a_draining_browser_does_not_wait_for_reusable_tabs() {
    let pool = pool_of(4, |config| {
        config.recycle_documents = 3;
        config.recycle_pause_s = 0;
    });
    let first = pool.until("a browser runs", |it| it.ready).await.browsers[0];
    for _ in 0..3 {
        tab_of(&pool, AccountId::generate()).await;
    }
    pool.until("another one took over", |it| it.recycled == 1 && it.draining.is_empty()).await;
    let status = pool.status().await;
    assert!(status.browsers[0] != first && status.reusable == 0, "{status:?}");
    assert_eq!(pool.metrics.drains_cut.get(), 0);
    pool.finish().await;
}

#[actix::test]
async fn reusable_tabs_end_with_a_browser_that_dies() {
    let pool = pool_of(3, |_| {});
    let account = AccountId::generate();
    let first = tab_of(&pool, account).await;
    let status = pool.until("it is reusable", |it| it.leased == 0 && it.reusable == 1).await;
    kill(Pid::from_raw(status.browsers[0]), Signal::SIGKILL).unwrap();
    pool.until("it is lost", |it| it.reusable == 0 && !it.browsers.contains(&status.browsers[0])).await;
    assert_ne!(tab_of(&pool, account).await, first);
    pool.finish().await;
}

#[actix::test]
async fn files_at_the_same_path_are_those_of_the_present_page() {
    let pool = pool_of(1, |_| {});
    let account = AccountId::generate();
    for color in ["red", "blue", "red"] {
        let picture = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='99' height='20'><text y='15'>{color}</text></svg>"
        );
        let sheet = format!("p::after{{content:'{color}'}}");
        let files = [("a.css", sheet.as_str()), ("a.svg", picture.as_str())];
        let page = with_files("<link rel=stylesheet href=a.css><img src=/a.svg><p>", &files);
        let rendered = pool.render_for(account, &PageTask { lane: Lane::Static, ..page }).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), format!("{color} {color}"));
        assert_eq!(rendered.warnings, Vec::<String>::new());
    }
    assert_eq!(pool.reused(), 2);
    pool.finish().await;
}
