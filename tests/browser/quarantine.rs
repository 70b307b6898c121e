//! Pages of one account that load Chromium's own process: they are quarantined, and pages of others lose at most one run.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{LeaseTab, PageError, PageTask, Retry};
use platen::clock::{Clock as _, SystemClock, Timestamp};
use platen::config::BrowserConfig;
use platen::domain::error::ErrorCode;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::slots::way::Way;
use tokio::task::JoinSet;

use crate::support::{
    Rendered, TestPool, chromium_after, open_folder, put_page, renderers_of, scripted, static_page, text_of,
};

/// Blobs that are not made by their constructor are not counted.
const FILLS: &str = "<script>(async () => { const a = []; for (let i = 0; i < 2000; i++) \
    a.push(await new Response(new Uint8Array(5e7)).blob()) })(); setInterval(() => document.title += 'x', 10)</script>";

/// A Chromium that its pages can fill.
fn can_be_filled(config: &mut BrowserConfig) {
    config.own_memory_limit_mb = 600;
    config.memory_watch_ms = 50;
    // A slow machine takes long to fill it.
    config.rest_cap_ms = 60_000;
}

async fn alone(pool: &TestPool, account: AccountId, task: &PageTask) -> Result<Rendered, PageError> {
    let asked = LeaseTab { alone: true, ..LeaseTab::new(account, task.lane) };
    let lease = pool.address.send(asked).await.unwrap().unwrap();
    pool.render_in(lease, task).await
}

#[actix::test]
async fn a_page_that_fills_its_browser_is_quarantined_and_costs_the_others_one_retry() {
    // One Chromium for each lane, as the service has them.
    let pool = TestPool::start(|config| {
        can_be_filled(config);
        config.static_processes = 1;
        config.tabs = 6;
    });
    let (hostile, innocent, stranger) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
    let first = pool.until("browsers run", |status| status.ready).await;
    // Another account's page is in the same browser until that one ends, however long filling takes.
    let endless = scripted("<script>setInterval(() => document.title += 'x', 10)</script>");
    let whole = scripted("<p id=p></p><script>setTimeout(() => p.textContent = 'whole', 250)</script>");
    let filling = scripted(FILLS);
    let reported = pool.until("it is said why", |status| {
        let says = |cause: &String| cause.contains("browser.own_memory_limit_mb");
        !status.ready && status.cause.as_ref().is_some_and(says)
    });
    let filled = async {
        pool.until("the other page is there", |status| status.leased == 1).await;
        pool.render_for(hostile, &filling).await
    };
    let (filled, lost, _) = tokio::join!(filled, pool.render_for(innocent, &endless), reported);
    let (filled, lost) = (filled.unwrap_err(), lost.unwrap_err());
    assert_eq!((filled.retry, lost.retry), (Retry::Alone, Retry::Alone), "{filled} {lost}");
    assert_eq!(pool.status().await.quarantined, 2);
    let (plain, script) = (static_page("<p>static"), scripted("<p>script"));
    let (plain, script) = tokio::join!(pool.render_for(stranger, &plain), pool.render_for(stranger, &script));
    assert_eq!(
        (text_of(&plain.unwrap().bytes), text_of(&script.unwrap().bytes)),
        ("static".into(), "script".into())
    );
    // Both alone: only a death there counts against a page.
    let (filled, repeated) = tokio::join!(alone(&pool, hostile, &filling), alone(&pool, innocent, &whole));
    let filled = filled.unwrap_err();
    assert_eq!((filled.retry, filled.error.code), (Retry::No, ErrorCode::PageMemory), "{filled}");
    assert!(filled.error.message.contains("browser.own_memory_limit_mb"), "{filled}");
    assert_eq!(text_of(&repeated.unwrap().bytes), "whole");
    // The next pages of both stay in quarantine, and neither the shared browser nor that of static pages is lost again.
    let shared = pool.until("the shared browser runs again", |status| status.ready).await.browsers;
    let again = pool.render_for(hostile, &filling).await.unwrap_err();
    assert_eq!(again.retry, Retry::Alone, "in quarantine other pages of its account may be there");
    assert_eq!(text_of(&pool.render_for(innocent, &scripted("<p>on")).await.unwrap().bytes), "on");
    let now = pool.status().await.browsers;
    assert_eq!(now[..2], shared[..2], "shared and static");
    assert_eq!(now[1], first.browsers[1], "the browser of static pages was never lost");
    assert_eq!(pool.lost(), 3, "one for each time that it was filled");
    pool.finish().await;
}

#[actix::test]
async fn quarantine_ends_and_its_browsers_with_it() {
    let pool = TestPool::start(|config| {
        can_be_filled(config);
        config.quarantine_s = 1;
        config.ping_interval_ms = 200;
    });
    let account = AccountId::generate();
    assert_eq!(pool.render_for(account, &scripted(FILLS)).await.unwrap_err().retry, Retry::Alone);
    assert_eq!(text_of(&alone(&pool, account, &scripted("<p>x")).await.unwrap().bytes), "x");
    pool.until("it is over", |status| status.quarantined == 0 && status.browsers.len() == 1).await;
    assert_eq!(text_of(&pool.render_for(account, &scripted("<p>y")).await.unwrap().bytes), "y");
    assert_eq!(pool.status().await.browsers.len(), 1);
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_makes_too_much_is_ended_before_its_browser_has_to_be() {
    let pool = TestPool::start(|config| {
        config.blob_limit_mb = 32;
        // What Chromium's own process still holds of the pages before is the machine's business; that limit has tests of
        // its own.
        config.own_memory_limit_mb = 8_192;
    });
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let frames = "const d = 'data:text/html,' + 'x'.repeat(19e5); for (let i = 0; i < 100; i++) { \
        const f = document.createElement('iframe'); f.src = d + i; document.body.append(f) }";
    for (script, key) in [
        (
            "const a = []; for (let i = 0; i < 2000; i++) a.push(new Blob([new Uint8Array(5e7)]))",
            "blob_limit_mb",
        ),
        (
            "for (let i = 0; i < 2000; i++) try { new File([new Uint8Array(5e7)], 'f') } catch {}",
            "blob_limit_mb",
        ),
        (
            "for (let i = 0; i < 2e5; i++) navigator.locks.request('n' + i, () => new Promise(() => {}))",
            "lock_limit",
        ),
        (
            &in_worker(
                "const a = []; for (let i = 0; i < 2000; i++) a.push(new Blob([new Uint8Array(5e7)]))",
            ),
            "blob_limit_mb",
        ),
        (
            &in_worker(
                "for (let i = 0; i < 2e5; i++) navigator.locks.request('n' + i, () => new Promise(() => {}))",
            ),
            "lock_limit",
        ),
        (frames, "frame_address_limit_mb"),
    ] {
        let page = scripted(&format!("<body><script>{script}</script>"));
        let quarantined = pool.status().await.quarantined;
        let error = pool.render(&page).await.unwrap_err();
        let kept_apart = pool.until("its account is kept apart", |status| status.quarantined > quarantined);
        assert_eq!(kept_apart.await.quarantined, quarantined + 1, "{key}");
        assert_eq!((error.retry, error.error.code), (Retry::No, ErrorCode::PageMemory), "{key}: {error}");
        assert!(error.error.message.contains(&format!("browser.{key}")), "{error}");
    }
    // Usual amounts are not noticed.
    let usual = "<p id=p></p><script>let grown = new Blob; for (let i = 0; i < 10; i++) \
        grown = new Blob([grown, new Uint8Array(1 << 20)]); const b = new Blob(['a', new Uint8Array(9)], {type: 'text/plain'}); \
        p.textContent = [b.size, b.type, b.constructor === Blob, b instanceof Blob, new File([b], 'f').name, \
        Blob.name, Blob.length, /native code/.test(Blob)].join(' ')</script>";
    let rendered = pool.render(&scripted(usual)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "10 text/plain true true f Blob 0 true");
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    pool.finish().await;
}

/// What a worker does with `script`; its page goes on.
fn in_worker(script: &str) -> String {
    format!(
        "new Worker(URL.createObjectURL(new Blob([{script:?}]))); setInterval(() => document.title += 'x', 10)"
    )
}

#[actix::test]
async fn browsers_that_are_ended_on_purpose_are_replaced_at_once() {
    let folder = open_folder();
    let starts = folder.path().join("starts");
    let script = chromium_after(&format!("date +%s%3N >> {}", starts.display()));
    let pool = TestPool::start(|config| {
        can_be_filled(config);
        config.executable = script.display().to_string();
    });
    let started = || -> Vec<Timestamp> {
        let starts = std::fs::read_to_string(&starts).unwrap();
        starts.lines().map(|line| Timestamp(line.parse().unwrap())).collect()
    };
    let mut waits_ms = Vec::new();
    for _ in 0..3 {
        pool.until("a browser runs", |status| status.ready).await;
        let before = started().len();
        let filled = pool.render(&scripted(FILLS)).await.unwrap_err();
        assert_eq!(filled.retry, Retry::Alone, "{filled}");
        let lost = SystemClock.now();
        pool.eventually("another start begins", || started().len() > before).await;
        waits_ms.push(started()[before].since_ms(lost));
    }
    // Backing off, it would wait a second after the second loss, and two after the third.
    assert!(waits_ms[1] < 900 || waits_ms[2] < 1_800, "{waits_ms:?}");
    assert_eq!(pool.metrics.lost.of(["filled"]).get(), 3);
    pool.finish().await;
}

#[actix::test]
async fn no_account_holds_every_tab() {
    let pool = TestPool::shared(|config| config.tabs = 4);
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let mut endless = JoinSet::new();
    for _ in 0..6 {
        let address = pool.address.clone();
        endless.spawn_local(async move { address.send(LeaseTab::new(many, Lane::Scripted)).await.unwrap() });
    }
    pool.until("it has its share", |status| status.leased == 3 && status.waiting == 3).await;
    assert_eq!(text_of(&pool.render_for(other, &scripted("<p>through")).await.unwrap().bytes), "through");
    assert_eq!(text_of(&pool.render_for(other, &static_page("<p>static")).await.unwrap().bytes), "static");
    let held = endless.join_next().await.unwrap().unwrap();
    pool.until("no other tab is held", |status| status.leased == 3 && status.waiting == 3).await;
    drop(held);
    pool.until("the next one of it has a tab", |status| status.leased == 3 && status.waiting == 2).await;
    endless.shutdown().await;
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_computes_for_long_yields_the_processor() {
    let pool = TestPool::start(|config| {
        config.static_processes = 1;
        config.readiness_timeout_ms = 60_000;
        config.yield_after_ms = 300;
        config.memory_watch_ms = 50;
    });
    let browser = pool.until("browsers run", |status| status.ready).await.browsers[0];
    // It asks for something, which tells the process that shows it.
    let endless =
        scripted("<script>fetch('/x').catch(() => {}); setTimeout(() => { while (1); }, 100)</script>");
    let has_sessions = std::path::Path::new("/proc/self/autogroup").exists();
    let session = |niceness: &str| {
        let group = std::fs::read_to_string(format!("/proc/{browser}/autogroup")).unwrap_or_default();
        !has_sessions || group.trim().ends_with(&format!("nice {niceness}"))
    };
    let yielding =
        |wanted| renderers_of(browser).iter().filter(|renderer| niceness(**renderer) == Some(wanted)).count();
    let program =
        || async { pool.engines.slots_of("tex", 1).acquire(&AccountId::generate().into(), 1).await };
    let yielded = async {
        pool.eventually("it has low priority", || yielding(10) == 1).await;
        assert!(session("0"), "no other job runs");
        let running = program().await;
        pool.eventually("its browser yields to programs", || session("15")).await;
        let (other, short) = (AccountId::generate(), scripted("<p>short"));
        let is_larger = pool.eventually("a short page has a larger share", || session("7"));
        let (shown, ()) = tokio::join!(pool.render_for(other, &short), is_larger);
        assert_eq!(text_of(&shown.unwrap().bytes), "short");
        pool.eventually("its browser yields to programs again", || session("15")).await;
        drop(running);
        pool.eventually("its browser yields no more when no program runs", || session("0")).await;
        pool.eventually("it has the lowest priority", || yielding(19) == 1).await;
        let running = program().await;
        pool.eventually("its browser yields to the next program", || session("15")).await;
        running
    };
    let _running = tokio::select! {
        ended = pool.render(&endless) => panic!("{ended:?}"),
        running = yielded => running,
    };
    assert_eq!(niceness(browser), Some(0));
    pool.eventually("its browser is as before when its page has ended", || session("0")).await;
    assert_eq!(text_of(&pool.render(&scripted("<p>next")).await.unwrap().bytes), "next");
    pool.finish().await;
}

#[actix::test]
async fn a_renderer_killed_from_outside_does_not_count_against_its_page() {
    let pool = TestPool::start(|config| {
        config.spare_tabs = 0;
        config.heap_limit_mb = 64;
    });
    let browser = pool.until("a browser runs", |status| status.ready).await.browsers[0];
    let task = scripted("<p>x</p><script>setInterval(() => document.title += 'x', 10)</script>");
    let rendering = pool.render(&task);
    let killing = async {
        pool.until("it is shown", |status| status.leased == 1).await;
        for renderer in renderers_of(browser) {
            kill(Pid::from_raw(renderer), Signal::SIGKILL).unwrap();
        }
    };
    let error = tokio::join!(rendering, killing).0.unwrap_err();
    assert_eq!(error.retry, Retry::OtherTab, "{error}");
    let heap = scripted("<script>const all = []; for (;;) all.push({ all: [all] })</script>");
    let error = pool.render(&heap).await.unwrap_err();
    assert_eq!((error.retry, error.error.code), (Retry::No, ErrorCode::PageCrashed), "{error}");
    pool.finish().await;
}

fn niceness(process: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(16)?.parse().ok())
}

#[actix::test]
async fn a_static_page_that_made_way_yields_though_it_asked_for_nothing() {
    let pool = TestPool::shared(|config| {
        (config.tabs, config.spare_tabs) = (1, 0);
    });
    let held = pool.lease(Lane::Static).await.unwrap();
    let browsers = pool.until("browsers run", |status| status.ready).await.browsers;
    held.make_way_with(&Way::new(AccountId::generate(), Duration::from_millis(50), || ()));
    let other = pool.lease(Lane::Static).await.unwrap();
    let yielding = || browsers.iter().flat_map(|it| renderers_of(*it)).filter(|it| niceness(*it) == Some(19));
    pool.eventually("its renderer goes last in line", || yielding().count() == 1).await;
    drop((held, other));
    pool.until("all came back", |status| status.leased == 0).await;
    assert_eq!(text_of(&pool.render(&put_page("<p>after")).await.unwrap().bytes), "after");
    pool.finish().await;
}

#[actix::test]
async fn a_long_page_makes_way_for_another_account_and_its_tab_is_for_no_other_page() {
    let pool = TestPool::shared(|config| config.tabs = 2);
    let mut held = Vec::new();
    for account in [AccountId::generate(), AccountId::generate()] {
        let lease = pool.lease_for(account, Lane::Scripted).await.unwrap();
        let way = Way::new(account, Duration::from_millis(50), || ());
        lease.make_way_with(&way);
        held.push((lease, way));
    }
    let mut others = Vec::new();
    for expected in 1..=2 {
        // Otherwise it would wait for a tab until its deadline.
        others.push(pool.lease(Lane::Scripted).await.unwrap());
        assert_eq!(held.iter().filter(|(_, way)| way.has_made_way()).count(), expected);
        pool.until("those that made way are not counted", |status| status.leased == 2).await;
    }
    drop(held);
    pool.until("they came back", |status| status.leased == 2 && status.reusable == 0).await;
    drop(others);
    pool.until("all came back", |status| status.leased == 0).await;
    assert_eq!(text_of(&pool.render(&scripted("<p>after")).await.unwrap().bytes), "after");
    pool.finish().await;
}
