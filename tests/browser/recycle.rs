//! Planned replacement of browsers: no job fails or waits because of it, and nothing is left of the old browser.

use std::cell::Cell;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{Retry, open, print};
use platen::domain::error::ErrorCode;
use platen::domain::lane::Lane;

use crate::support::{
    TestPool, chromium_after, folder_of, group_members, open_folder, scripted, static_page, text_of,
};

/// Planned replacements under load, and the documents of each browser.
const REPLACEMENTS: u64 = 20;
const DOCUMENTS: u64 = 4;
/// Holds half a gigabyte beyond the heap.
const LARGE_PAGE: &str = "<p>large</p><script>window.kept = []; \
    for (let i = 0; i < 5; i++) kept.push(new Uint8Array(100 << 20).fill(i + 1))</script>";

#[actix::test]
async fn twenty_planned_replacements_under_load_cost_no_job_and_no_wait() {
    let pool = TestPool::start(|config| {
        config.tabs = 4;
        config.recycle_documents = DOCUMENTS;
        config.recycle_pause_s = 0;
    });
    pool.until("a browser has its warm tab", |it| it.ready && it.warm > 0).await;
    let rendered = Cell::new(0);
    let client = async |task| {
        loop {
            let status = pool.status().await;
            assert!(status.ready, "{status:?}");
            if status.recycled >= REPLACEMENTS {
                return;
            }
            let document = pool.render(&task).await.unwrap();
            assert!(document.bytes.starts_with(b"%PDF-"));
            rendered.set(rendered.get() + 1);
        }
    };
    let script = "<p id=p></p><script>setTimeout(() => p.textContent = 'x', 20)</script>";
    let (still, moving) = (static_page("<p>still"), scripted(script));
    tokio::join!(client(still.clone()), client(still), client(moving.clone()), client(moving));
    let status = pool.status().await;
    assert_eq!(status.launch_waits, 0, "{status:?}");
    assert_eq!(pool.lost() + pool.metrics.drains_cut.get(), 0);
    assert!(rendered.get() >= REPLACEMENTS * DOCUMENTS, "only {} documents", rendered.get());
    pool.finish().await;
}

#[actix::test]
async fn a_draining_browser_finishes_its_pages_and_gets_no_new_one() {
    let pool = TestPool::start(|config| {
        config.recycle_documents = 1;
        config.recycle_pause_s = 0;
        // One that is stopped is not ended.
        config.hung_ms = 0;
    });
    let first = pool.until("a browser runs", |it| it.ready).await.browsers[0];
    let folder = folder_of(first);
    let held = pool.lease(Lane::Static).await.unwrap();
    let status = pool.until("another one took over", |it| it.recycled == 1).await;
    assert_eq!(status.draining, [first]);
    assert!(status.ready && status.browsers[0] != first);
    // A stopped browser answers nothing: the next job is elsewhere.
    kill(Pid::from_raw(first), Signal::SIGSTOP).unwrap();
    assert_eq!(text_of(&pool.render(&static_page("<p>new")).await.unwrap().bytes), "new");
    kill(Pid::from_raw(first), Signal::SIGCONT).unwrap();
    assert_eq!(text_of(&pool.render_in(held, &static_page("<p>old")).await.unwrap().bytes), "old");
    pool.until("it is gone", |it| !it.draining.contains(&first)).await;
    pool.eventually("its processes and its folder are gone", || {
        group_members(first).is_empty() && !folder.exists()
    })
    .await;
    pool.finish().await;
}

#[actix::test]
async fn while_a_successor_warms_up_the_old_browser_makes_tabs_for_waiters() {
    for _ in 0..5 {
        if stop_while_it_warms().await {
            return;
        }
    }
    panic!("a successor was never seen while it warmed");
}

/// False when the successor took over before it could be stopped, which takes it a moment only.
async fn stop_while_it_warms() -> bool {
    let started = open_folder();
    let script = chromium_after(&format!(": > {}/$$", started.path().display()));
    let pool = TestPool::start(|config| {
        config.executable = script.display().to_string();
        config.tabs = 8;
        config.spare_tabs = 4;
        config.recycle_documents = 3;
        config.recycle_pause_s = 0;
        // A successor that is stopped is not given up.
        config.call_timeout_ms = 120_000;
        config.hung_ms = 0;
        config.lease_timeout_ms = 20_000;
    });
    let first = pool.until("a browser runs", |it| it.ready).await.browsers[0];
    let mut leases = Vec::new();
    for _ in 0..3 {
        leases.push(pool.lease(Lane::Static).await.unwrap());
    }
    let warming = pool.metrics.browsers.of(["successor"]);
    pool.until("its successor answers", |it| warming.get() == 1 || it.recycled == 1).await;
    let names = std::fs::read_dir(started.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut pids = names.map(|name| name.to_str().unwrap().parse::<i32>().unwrap());
    // Chromium crashes at a start now and then, and is started again.
    let second = pids.find(|&pid| pid != first && !group_members(pid).is_empty()).unwrap();
    kill(Pid::from_raw(second), Signal::SIGSTOP).unwrap();
    if pool.status().await.recycled == 1 {
        kill(Pid::from_raw(second), Signal::SIGCONT).unwrap();
        drop(leases);
        pool.finish().await;
        return false;
    }
    // One more than could have been made ahead.
    for _ in 0..5 {
        leases.push(pool.lease(Lane::Static).await.unwrap());
    }
    let status = pool.status().await;
    assert_eq!((status.recycled, status.browsers), (0, vec![first]), "the old one gave them");
    kill(Pid::from_raw(second), Signal::SIGCONT).unwrap();
    pool.until("the successor took over", |it| it.recycled == 1 && it.browsers == [second]).await;
    assert_eq!(pool.lost(), 0);
    drop(leases);
    pool.finish().await;
    true
}

#[actix::test]
async fn a_draining_browser_that_cannot_finish_is_ended_and_its_job_may_be_retried() {
    let pool = TestPool::start(|config| {
        config.recycle_documents = 1;
        config.recycle_pause_s = 0;
        config.recycle_drain_s = 1;
    });
    let task = scripted("<p>x</p><script>setInterval(() => document.title = Date.now(), 5)</script>");
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    assert_eq!(pool.status().await.launch_waits, 1, "it was asked for before any browser ran");
    let first = pool.status().await.browsers[0];
    let error = open(lease, &task, &pool.config, |_| {}).await.err().unwrap();
    assert_eq!(error.error.code, ErrorCode::BrowserLost);
    assert_ne!(error.retry, Retry::No);
    assert_eq!(pool.metrics.drains_cut.get(), 1);
    pool.eventually("its processes are gone", || group_members(first).is_empty()).await;
    pool.finish().await;
}

#[actix::test]
async fn an_old_browser_is_replaced_while_no_job_waits() {
    let pool = TestPool::start(|config| {
        config.recycle_age_s = 1;
        config.recycle_pause_s = 0;
    });
    let first = pool.until("a browser runs", |it| it.ready).await.browsers[0];
    pool.until("another one took over", |it| it.recycled == 1).await;
    assert_eq!(pool.metrics.recycles.of(["age"]).get(), 1);
    pool.eventually("its processes are gone", || group_members(first).is_empty()).await;
    let leaving = pool.metrics.browsers.of(["leaving"]);
    pool.until("the metrics show none that is draining", |it| it.draining.is_empty() && leaving.get() == 0)
        .await;
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_holds_much_memory_is_replaced() {
    let pool = TestPool::start(|config| {
        config.recycle_memory_mb = 600;
        config.recycle_pause_s = 0;
        config.memory_watch_ms = 50;
    });
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    let page = open(lease, &scripted(LARGE_PAGE), &pool.config, |_| {}).await.unwrap();
    pool.until("another one took over", |it| it.recycled == 1).await;
    assert_eq!(pool.metrics.recycles.of(["memory"]).get(), 1);
    assert!(pool.metrics.memory.of(["pages"]).get() > 500 << 20);
    print(page).await.unwrap();
    pool.until("only the new one is left", |it| it.draining.is_empty()).await;
    assert_eq!(pool.status().await.recycled, 1, "the new one holds little");
    pool.finish().await;
}

#[actix::test]
async fn memory_in_chromiums_own_process_is_bounded_too() {
    let pool = TestPool::start(|config| {
        config.own_memory_limit_mb = 500;
        config.blob_limit_mb = 65_536;
        config.memory_watch_ms = 50;
        // A slow machine takes long to fill it.
        config.rest_cap_ms = 60_000;
    });
    let task = scripted(
        "<script>window.kept = []; setInterval(() => { const bytes = new Uint8Array(8 << 20).fill(7); \
         document.body.append(kept.push(new Blob([bytes]))) }, 10)</script>",
    );
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    let first = pool.status().await.browsers[0];
    let error = open(lease, &task, &pool.config, |_| {}).await.err().unwrap();
    assert!(error.error.message.contains("browser.own_memory_limit_mb"), "{error}");
    assert_eq!(text_of(&pool.render(&static_page("<p>next")).await.unwrap().bytes), "next");
    assert_ne!(pool.status().await.browsers[0], first);
    pool.finish().await;
}

#[actix::test]
async fn a_replacement_that_does_not_start_is_postponed_and_the_old_browser_serves() {
    let broken = tempfile::NamedTempFile::new().unwrap().into_temp_path().to_path_buf();
    let script = chromium_after(&format!("[ ! -e {} ] || exit 3", broken.display()));
    let pool = TestPool::start(|config| {
        config.executable = script.display().to_string();
        config.recycle_documents = 1;
        config.recycle_pause_s = 0;
    });
    let first = pool.until("a browser runs", |it| it.ready).await.browsers[0];
    std::fs::write(&broken, "").unwrap();
    for _ in 0..2 {
        let failed = pool.metrics.launches.of(["failed"]);
        let before = failed.get();
        assert_eq!(text_of(&pool.render(&static_page("<p>old")).await.unwrap().bytes), "old");
        pool.until("a start failed", |it| it.ready && it.browsers == [first] && failed.get() > before).await;
    }
    std::fs::remove_file(&broken).unwrap();
    pool.until("another one took over", |it| it.recycled == 1 && it.browsers != [first]).await;
    assert_eq!(pool.status().await.launch_waits, 0);
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_dies_while_it_is_replaced_costs_no_further_start() {
    let pool = TestPool::start(|config| {
        config.recycle_documents = 1;
        config.recycle_pause_s = 0;
    });
    let first = pool.until("a browser runs", |it| it.ready).await.browsers[0];
    let lease = pool.lease(Lane::Static).await.unwrap();
    assert_eq!(pool.status().await.browsers, [first], "its successor is being started");
    kill(Pid::from_raw(first), Signal::SIGKILL).unwrap();
    pool.until("it is lost", |it| !it.browsers.contains(&first)).await;
    drop(lease);
    pool.until("the successor runs", |it| it.ready && it.warm > 0).await;
    assert_eq!(pool.metrics.launches.of(["answered"]).get(), 2);
    pool.finish().await;
}
