//! Browsers that die, do not start or stop answering; the order of leases; no state between jobs.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{LeaseError, PageStep, Retry, open, print};
use platen::domain::error::ErrorCode;
use platen::domain::lane::Lane;

use crate::support::{TestPool, chromium_after, group_members, open_folder, scripted, static_page, text_of};

/// Set for a test that runs in a process of its own.
const ALONE: &str = "PLATEN_TEST_ALONE";

#[actix::test]
async fn a_killed_browser_is_replaced_and_its_jobs_may_be_retried() {
    let pool = TestPool::start(|_| {});
    let task = scripted("<p>again</p><script>setInterval(() => document.title = Date.now(), 5)</script>");
    let lease = pool.lease(task.lane).await.unwrap();
    let first = pool.status().await.browsers[0];
    let kill_while_it_settles = |step| {
        if step == PageStep::Readiness {
            kill(Pid::from_raw(first), Signal::SIGKILL).unwrap();
        }
    };
    let error = open(lease, &task, &pool.config, kill_while_it_settles).await.err().unwrap();
    assert_eq!(error.error.code, ErrorCode::BrowserLost);
    assert_ne!(error.retry, Retry::No);
    let rendered = pool.render(&static_page("<p>again</p>")).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "again");
    let second = pool.status().await.browsers[0];
    assert_ne!(first, second);
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_is_killed_between_steps_is_noticed_too() {
    let pool = TestPool::start(|_| {});
    let task = static_page("<p>x");
    let lease = pool.lease(task.lane).await.unwrap();
    let page = open(lease, &task, &pool.config, |_| {}).await.unwrap();
    let first = pool.status().await.browsers[0];
    kill(Pid::from_raw(first), Signal::SIGKILL).unwrap();
    let error = print(page).await.err().unwrap();
    assert_ne!(error.retry, Retry::No, "{error}");
    pool.until("another browser runs", |it| it.ready && it.browsers[0] != first).await;
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_stops_answering_is_replaced() {
    let pool = TestPool::start(|config| {
        config.ping_interval_ms = 100;
        config.call_timeout_ms = 5_000;
    });
    let first = pool.until("a browser runs", |it| it.ready && it.warm > 0).await.browsers[0];
    kill(Pid::from_raw(first), Signal::SIGSTOP).unwrap();
    pool.until("another browser runs", |it| it.ready && it.browsers[0] != first).await;
    assert_eq!(text_of(&pool.render_again(&static_page("<p>new")).await.unwrap().bytes), "new");
    pool.finish().await;
}

#[actix::test]
async fn chromium_has_no_rights_its_sandbox_and_no_socket_to_listen_on() {
    let pool = TestPool::start(|_| {});
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    let browser = pool.status().await.browsers[0];
    let of = |process: i32, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    };
    for process in group_members(browser) {
        assert_ne!(of(process, "Uid:"), "0", "{process} is root's");
        assert_eq!(of(process, "NoNewPrivs:"), "1");
    }
    let command = |process: &i32| std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap();
    let members = group_members(browser);
    let renderer = members.iter().find(|id| command(id).contains("--type=renderer")).unwrap();
    assert_eq!(of(*renderer, "Seccomp:"), "2", "the renderer is not sandboxed");
    let namespace = |process: i32| std::fs::read_link(format!("/proc/{process}/ns/net")).unwrap();
    assert_ne!(namespace(*renderer), namespace(browser), "the renderer has the network");
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let uid = of(browser, "Uid:");
    let listening = sockets.lines().filter(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(3) == Some(&"0A") && fields.get(7) == Some(&uid.as_str())
    });
    if uid != nix::unistd::Uid::effective().to_string() {
        assert_eq!(listening.count(), 0, "Chromium listens");
    }
    drop(lease);
    pool.finish().await;
}

#[actix::test]
async fn a_waiter_that_gets_no_tab_fails_with_the_reason() {
    let pool = TestPool::start(|config| {
        config.tabs = 1;
        config.lease_timeout_ms = 3_000;
    });
    pool.until("a browser runs", |it| it.ready && it.warm > 0).await;
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    let refused = pool.lease(Lane::Static).await.unwrap_err();
    assert!(matches!(refused, LeaseError::Timeout { limit_ms: 3_000, tabs: 1, .. }), "{refused}");
    assert_eq!(pool.metrics.waiting.get(), 0, "who was refused waits no more");
    drop(lease);
    pool.finish().await;
}

#[actix::test]
async fn waiters_are_served_in_order() {
    let pool = TestPool::start(|config| config.tabs = 1);
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    let order = std::cell::RefCell::new(Vec::new());
    let waiter = async |number: u32| {
        let lease = pool.lease(Lane::Scripted).await.unwrap();
        order.borrow_mut().push(number);
        drop(lease);
    };
    let release = async {
        pool.until("three wait", |status| status.waiting == 3).await;
        drop(lease);
    };
    tokio::join!(waiter(1), waiter(2), waiter(3), release);
    assert_eq!(*order.borrow(), [1, 2, 3]);
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_does_not_start_is_reported_with_what_it_printed() {
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&script, "#!/bin/sh\necho no such library >&2\nexit 3\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(script.path(), mode).unwrap();
    // A file that is open for writing cannot be executed.
    let path = script.into_temp_path();
    let pool = TestPool::start(|config| {
        config.executable = path.display().to_string();
        config.lease_timeout_ms = 100;
    });
    // A busy machine may report its end or its words late: they are in the cause of a later start then.
    let is_whole = |cause: &String| cause.contains("no such library") && cause.contains("exit status: 3");
    let status = pool.until("the failure is known", |it| it.cause.as_ref().is_some_and(is_whole)).await;
    assert!(!status.ready);
    let refused = pool.lease(Lane::Static).await.unwrap_err();
    assert!(refused.to_string().contains("no such library"), "{refused}");
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_crashes_while_it_starts_is_started_once_more() {
    let folder = open_folder();
    let starts = folder.path().display();
    let script =
        chromium_after(&format!(": > {starts}/$$; [ $(ls {starts} | wc -l) -gt 1 ] || kill -SEGV $$"));
    let pool = TestPool::start(|config| config.executable = script.display().to_string());
    pool.until("it runs", |status| status.ready).await;
    // A launch fails after two starts that crashed, and Chromium may crash by itself, too.
    let starts = std::fs::read_dir(folder.path()).unwrap().count();
    let failed = usize::try_from(pool.metrics.launches.of(["failed"]).get()).unwrap();
    assert!(starts >= 2 && failed * 2 < starts, "{failed} launches failed in {starts} starts");
    pool.finish().await;
    let always = chromium_after("kill -SEGV $$");
    let pool = TestPool::start(|config| config.executable = always.display().to_string());
    let is_told = |cause: &String| cause.contains("signal: 11");
    pool.until("why it does not run is told", |it| it.cause.as_ref().is_some_and(is_told)).await;
    pool.finish().await;
}

#[actix::test]
async fn nothing_is_carried_from_one_job_to_the_next() {
    let pool = TestPool::start(|config| config.tabs = 1);
    let page = "<p id=p></p><script>const all = async () => [document.cookie, localStorage.length, \
        sessionStorage.length, window.name, history.length, (await indexedDB.databases()).length, \
        (await caches.keys()).length].join('|'); (async () => { const found = await all(); \
        document.cookie = 'a=1; max-age=99'; document.cookie = 'b=2; domain=localhost; max-age=99'; \
        localStorage.a = 1; sessionStorage.a = 1; window.name = 'n'; await caches.open('c'); \
        await new Promise(done => indexedDB.open('d').onsuccess = done); p.textContent = found + ' then ' + await all() })()</script>";
    let mut texts = Vec::new();
    // On a busy machine a database may answer so late that the page is printed before it has written anything.
    for _ in 0..20 {
        let text = text_of(&pool.render(&scripted(page)).await.unwrap().bytes);
        texts.extend(Some(text).filter(|text| !text.is_empty()));
        if texts.len() == 3 {
            break;
        }
    }
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts.iter().all(|text| text.starts_with("|0|0||")), "{texts:?}");
    assert!(texts[0].contains("then a=1") && texts[0].contains("|1|1|n|"), "{texts:?}");
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    pool.finish().await;
}

#[actix::test]
async fn a_waiter_without_a_port_is_served_when_there_is_one() {
    // Descriptors are the process's own, so it takes a process of its own to run out of them.
    if std::env::var_os(ALONE).is_none() {
        let name = "lifecycle::a_waiter_without_a_port_is_served_when_there_is_one";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args([name, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        return assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }
    let pool = TestPool::start(|config| {
        config.spare_tabs = 0;
        config.lease_timeout_ms = 5_000;
    });
    pool.until("a browser runs", |it| it.ready).await;
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 256, hard).unwrap();
    let taken: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    let freed = async {
        pool.until("there is no port", |it| it.waiting == 1 && it.cause.is_some()).await;
        drop(taken);
    };
    let (lease, ()) = tokio::join!(pool.lease(Lane::Static), freed);
    drop(lease.unwrap());
    assert_eq!(pool.status().await.cause, None);
    pool.finish().await;
}
