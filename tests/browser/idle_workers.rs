//! Workers: one that computes is waited for, one that is idle costs nothing.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::support::{Rendered, TestPool, scripted, text_of, with_files};

/// A window that no page of these tests may wait for.
const NEVER_MS: u64 = 60_000;
const COMPUTE: &str =
    "const work = ms => { const end = performance.now() + ms; while (performance.now() < end); };";

fn without_window() -> TestPool {
    TestPool::start(|config| {
        config.quiet_window_ms = NEVER_MS;
        config.rest_cap_ms = NEVER_MS;
    })
}

/// A page with a worker of `code`, which shows what the worker says.
fn page(code: &str, script: &str) -> String {
    format!(
        "<p id=p></p><script>const begin = (code, options) => {{ const worker = new Worker(URL.createObjectURL( \
            new Blob([code], {{ type: 'text/javascript' }})), options); \
            worker.onmessage = event => p.textContent = event.data; return worker }}; \
         const code = `{COMPUTE}{code}`; {script}</script>"
    )
}

async fn run(pool: &TestPool, page: &str) -> (Rendered, Duration) {
    let started = Instant::now();
    let task =
        with_files(page, &[("part.js", "export const text = 'drawn'"), ("w.js", "postMessage('drawn')")]);
    let rendered = pool.render(&task).await.unwrap();
    (rendered, started.elapsed())
}

#[actix::test]
async fn work_of_a_worker_for_its_page_is_waited_for() {
    let pool = without_window();
    let cases = [
        ("work(4500); postMessage('drawn')", "begin(code)"),
        ("onmessage = () => { work(900); postMessage('drawn') }", "begin(code).postMessage(0)"),
        (
            "onmessage = () => { work(900); postMessage('drawn') }",
            "const w = begin(code); \
            setTimeout(() => w.postMessage(0), 200)",
        ),
        // In slices, without an answer for longer than a chain is waited for.
        (
            "let n = 0; const go = () => { work(40); ++n < 110 ? setTimeout(go) : postMessage('drawn') }; go()",
            "begin(code)",
        ),
        (
            "const end = performance.now() + 1500; const go = () => performance.now() < end ? setTimeout(go, 300) : \
            postMessage('drawn'); go()",
            "begin(code)",
        ),
        (
            "fetch(location.origin + '/part.js').then(it => it.text()).then(() => postMessage('drawn'))",
            "begin(code)",
        ),
        (
            "onmessage = () => { const r = indexedDB.open('d'); r.onsuccess = () => { const again = \
            indexedDB.open('d'); again.onsuccess = () => postMessage('drawn') } }",
            "begin(code).postMessage(0)",
        ),
        (
            "onmessage = async event => { await 0; work(300); event.data.postMessage('drawn') }",
            "const c = new MessageChannel(); c.port1.onmessage = event => p.textContent = event.data; \
            begin(code).postMessage(c.port2, [c.port2])",
        ),
        (
            "await new Promise(done => setTimeout(done, 300)); postMessage('drawn')",
            "begin(code, { type: 'module' })",
        ),
        // One that breaks what its watch stands before.
        (
            "const later = setTimeout; for (const key of ['get', 'set', 'value', 'link', 'firm', 'what']) \
                Object.prototype[key] = 7; setTimeout = Reflect = Proxy = Promise = EventTarget = null; \
                Performance.prototype.now = () => 0; platenReportIdle = () => 0; later(() => postMessage('drawn'), 300)",
            "begin(code)",
        ),
        // One inside the other.
        (
            "const inner = new Worker(URL.createObjectURL(new Blob([work.toString() && 'const end = \
            performance.now() + 900; while (performance.now() < end); postMessage(0)']))); \
            inner.onmessage = () => postMessage('drawn')",
            "begin(code)",
        ),
        // One after the other.
        (
            "work(200); postMessage('first')",
            "const w = begin(code); w.onmessage = () => { w.terminate(); \
            begin(code.replace('first', 'drawn')) }",
        ),
        ("", "new Worker('/w.js').onmessage = event => setTimeout(() => p.textContent = event.data, 200)"),
        (
            "",
            "const f = document.createElement('iframe'); f.srcdoc = `<script>const w = new Worker(URL.createObjectURL( \
            new Blob([\"const end = performance.now() + 900; while (performance.now() < end); postMessage('drawn')\"]))); \
            w.onmessage = event => parent.p.textContent = event.data<\\/script>`; document.body.append(f)",
        ),
    ];
    let made = cases.iter().map(async |(code, script)| (code, script, run(&pool, &page(code, script)).await));
    for (code, script, (rendered, _)) in join_all(made).await {
        assert_eq!(text_of(&rendered.bytes), "drawn", "{code} {script}: {:?}", rendered.warnings);
        assert_eq!(rendered.warnings, Vec::<String>::new(), "{code} {script}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_worker_that_is_idle_or_gone_is_not_waited_for() {
    let pool = TestPool::start(|config| {
        config.quiet_window_ms = NEVER_MS;
        config.rest_cap_ms = NEVER_MS;
        // So long one that may still answer is waited for.
        config.timer_limit_ms = 30_000;
        config.chain_limit_ms = 30_000;
    });
    pool.until("a tab is warm", |it| it.ready && it.warm > 0).await;
    for (code, script) in [
        ("postMessage('drawn')", "begin(code)"),
        ("onmessage = () => postMessage('drawn')", "begin(code).postMessage(0)"),
        ("postMessage('drawn'); close()", "begin(code)"),
        ("onmessage = () => 0", "p.textContent = 'drawn'; begin(code).postMessage(0)"),
        ("", "p.textContent = 'drawn'; begin(code).terminate()"),
        ("throw 1", "p.textContent = 'drawn'; begin(code).onerror = event => event.preventDefault()"),
        ("", "p.textContent = 'drawn'; new Worker('/gone.js')"),
        (
            "",
            "p.textContent = 'drawn'; const m = document.createElement('meta'); m.httpEquiv = \
            'Content-Security-Policy'; m.content = 'worker-src http://elsewhere'; document.head.append(m); \
            try { new Worker('/w.js') } catch {}",
        ),
        (
            "",
            "new Worker('data:text/javascript,postMessage(`drawn`)//' + 'x'.repeat(1.9e6)).onmessage = \
            event => p.textContent = event.data",
        ),
        (
            "postMessage([typeof platenReportIdle, /native code/.test(setTimeout), setTimeout.name].join())",
            "begin(code).onmessage = event => p.textContent = event.data === 'undefined,true,setTimeout' && 'drawn'",
        ),
    ] {
        let (rendered, took) = run(&pool, &page(code, script)).await;
        assert_eq!(text_of(&rendered.bytes), "drawn", "{code} {script}");
        assert!(took < Duration::from_secs(15), "{code} {script}: {took:?}");
        let is_of_rest = |line: &String| line.contains("pending") || line.contains("rest");
        assert!(!rendered.warnings.iter().any(is_of_rest), "{code} {script}: {:?}", rendered.warnings);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_worker_that_goes_on_is_named() {
    let pool = TestPool::start(|config| {
        config.chain_limit_ms = 500;
        config.rest_cap_ms = 3_000;
        config.watched_workers_limit = 2;
    });
    let cases = [
        ("work(20000)", "begin(code)", "pending: a worker that computes"),
        ("setInterval(() => 0, 100)", "begin(code)", "pending: a worker with an interval of 100 ms"),
        (
            "const go = () => setTimeout(go, 200); go()",
            "begin(code)",
            "a worker with a timer every 200 ms, set again",
        ),
        ("", "begin(code); begin(code); begin(code)", "browser.watched_workers_limit"),
    ];
    let made =
        cases.iter().map(async |(code, script, named)| (code, named, run(&pool, &page(code, script)).await));
    for (code, named, (rendered, _)) in join_all(made).await {
        let [warning] = &rendered.warnings[..] else { panic!("{code}: {:?}", rendered.warnings) };
        assert!(warning.contains(named) && warning.contains("waitForExpression"), "{code}: {warning}");
    }
    // Those beyond the limit run all the same.
    let all = "let n = 0; for (let i = 0; i < 5; i++) begin(code).onmessage = () => p.textContent = ++n";
    let (rendered, _) = run(&pool, &page("postMessage(0)", all)).await;
    assert_eq!(text_of(&rendered.bytes), "5");
    pool.finish().await;
}

#[actix::test]
async fn workers_that_begin_and_end_without_end_are_printed_at_the_cap() {
    let pool = TestPool::start(|config| config.rest_cap_ms = 2_000);
    let script = "p.textContent = 'here'; const go = () => { const w = begin('postMessage(0)'); \
        w.onmessage = () => { w.terminate(); go() } }; go(); go()";
    let (rendered, took) = run(&pool, &page("", script)).await;
    assert_eq!(text_of(&rendered.bytes), "here");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(text_of(&pool.render(&scripted("<p>next")).await.unwrap().bytes), "next");
    pool.finish().await;
}
