//! Chains of timers and frames: waited for as far as the limits say, and named where they go on.

use futures_util::future::join_all;

use crate::support::{Rendered, TestPool, asking, scripted, text_of};

/// A pool with the limits of the default configuration.
fn as_shipped() -> TestPool {
    TestPool::start(|config| {
        config.quiet_window_ms = 500;
        // Pages of a test wait beside each other.
        config.tabs = 4;
    })
}

fn chain(of: u32, ms: u32) -> String {
    format!("const go = n => n ? setTimeout(go, {ms}, n - 1) : p.textContent = 'drawn'; go({of})")
}

fn page(script: &str) -> String {
    format!("<p id=p></p><script>{script}</script>")
}

async fn run(pool: &TestPool, script: &str) -> Rendered {
    pool.render(&scripted(&page(script))).await.unwrap()
}

#[actix::test]
async fn drawing_at_the_end_of_a_chain_is_waited_for() {
    let pool = as_shipped();
    let frames =
        "const go = n => n ? requestAnimationFrame(() => go(n - 1)) : p.textContent = 'drawn'; go(50)";
    let promises = "const pause = ms => new Promise(done => setTimeout(done, ms)); (async () => { \
        for (let n = 0; n < 5; n++) await pause(600); p.textContent = 'drawn' })()";
    // Every fifth link changes the document, with which the patience begins anew.
    let changing = "const go = n => { if (n % 5 === 0) p.title = n; \
        n ? setTimeout(go, 200, n - 1) : p.textContent = 'drawn' }; go(25)";
    // An answer that took long has used up nothing of it.
    let after_request = "const answer = new Response(new ReadableStream({ start: it => \
            setTimeout(() => it.close(), 2900) })).text(); \
        const go = n => n ? setTimeout(go, 600, n - 1) : p.textContent = 'drawn'; answer.then(() => go(3))";
    let timers = [chain(5, 600), chain(12, 100)];
    let scripts = timers.iter().map(String::as_str).chain([frames, promises, changing, after_request]);
    for (script, rendered) in join_all(scripts.map(async |script| (script, run(&pool, script).await))).await {
        assert_eq!(text_of(&rendered.bytes), "drawn", "{script}: {:?}", rendered.warnings);
        assert_eq!(rendered.warnings, Vec::<String>::new(), "{script}");
    }
    pool.finish().await;
}

#[actix::test]
async fn pending_work_at_the_print_is_named() {
    let pool = as_shipped();
    let endless = "const go = () => setTimeout(go, 600); go()";
    let frames = "const go = () => requestAnimationFrame(go); go()";
    // How often it was set again until then depends on how busy the machine is.
    let cases = [
        (endless, "a timer every 600 ms, set again "),
        (&chain(10, 500), "a timer every 500 ms, set again "),
        (&chain(40, 100), "a timer every 100 ms, set again "),
        (frames, "an animation frame, asked for again"),
        ("setInterval(() => 0, 100)", "an interval of 100 ms"),
        ("new SharedWorker('data:text/javascript,0')", "a shared worker"),
        ("setInterval(() => 0, 5000)", "an interval of 5000 ms"),
        ("setTimeout(() => p.textContent = 'late', 5000)", "a timer of 5000 ms"),
        ("setTimeout(\"p.textContent = 'late'\", 5000)", "a timer of 5000 ms"),
    ];
    let made = cases.iter().map(async |(script, named)| (script, named, run(&pool, script).await));
    for (script, named, rendered) in join_all(made).await {
        let [warning] = &rendered.warnings[..] else { panic!("{script}: {:?}", rendered.warnings) };
        // At the cap the warning would begin otherwise.
        assert!(
            warning.starts_with("the page was printed while it had something pending"),
            "{script}: {warning}"
        );
        assert!(warning.contains(named) && warning.contains("waitForExpression"), "{script}: {warning}");
    }
    // Neither timers that were cleared, nor those that are due after the cap.
    let ended = "clearTimeout(setTimeout(() => 0, 5000)); clearInterval(setInterval(() => 0, 100)); \
        clearInterval(setInterval(() => 0, 5000)); setTimeout(() => 0, 60000); setInterval(() => 0, 60000)";
    assert_eq!(run(&pool, ended).await.warnings, Vec::<String>::new());
    pool.finish().await;
}

#[actix::test]
async fn an_expression_that_says_when_the_page_is_complete_gets_no_warning() {
    let pool = as_shipped();
    let opts = r#"{"waitForExpression":"p.textContent === 'drawn'"}"#;
    for script in
        [&chain(10, 500), "setTimeout(() => p.textContent = 'drawn', 4000); setInterval(() => 0, 100)"]
    {
        let rendered = pool.render(&asking(opts, scripted(&page(script)))).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "drawn", "{script}");
        assert_eq!(rendered.warnings, Vec::<String>::new(), "{script}");
    }
    pool.finish().await;
}

#[actix::test]
async fn the_limits_of_chains_are_those_of_the_configuration() {
    let few = TestPool::start(|config| config.timer_chain_limit = 2);
    let short = TestPool::start(|config| config.chain_limit_ms = 250);
    for (pool, script) in [(&few, chain(30, 100)), (&short, chain(30, 100))] {
        let rendered = run(pool, &script).await;
        assert_eq!(text_of(&rendered.bytes), "", "{script}");
        assert!(rendered.warnings[0].contains("a timer every 100 ms, set again"), "{:?}", rendered.warnings);
    }
    let rendered = run(&few, &chain(2, 100)).await;
    assert_eq!((text_of(&rendered.bytes).as_str(), rendered.warnings.len()), ("drawn", 0));
    few.finish().await;
    short.finish().await;
}
