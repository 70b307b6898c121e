//! The page server: what a page gets from it, and that navigation to another address fails the page. Attacks on other
//! hosts are in `tests/attacks`.

use platen::browser::{Delivery, PageTask};
use platen::domain::error::ErrorCode;

use crate::canary::Canary;
use crate::support::{TestPool, scripted, text_of, with_files};

#[actix::test]
async fn the_page_server_is_a_secure_context_with_ranges_and_workers() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 300);
    let page = "<p id=p></p><script type=module>\
        const part = await fetch('/n.txt', {headers: {Range: 'bytes=2-4'}});\
        const worker = new Worker('/w.js', {type: 'module'});\
        const said = new Promise(done => worker.onmessage = event => done(event.data));\
        const gone = await fetch('/gone');\
        p.textContent = [isSecureContext, part.status, await part.text(), await said, gone.status, \
            typeof crypto.subtle].join(' ')</script>";
    let task = with_files(page, &[("n.txt", "0123456789"), ("w.js", "postMessage('worked')")]);
    // A page with script is served, also where its task says `Put`.
    for task in [task.clone(), PageTask { delivery: Delivery::Put, ..task }] {
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "true 206 234 worked 404 object");
        assert_eq!(rendered.warnings, ["asset not found: /gone"]);
    }
    pool.finish().await;
}

#[actix::test]
async fn leaving_for_another_address_fails_the_page() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 300);
    for page in [
        "<script>location.href = 'http://127.0.0.1:PORT/left'</script>",
        "<meta http-equiv=refresh content='0;url=http://127.0.0.1:PORT/left'>",
        "<form method=post action=http://127.0.0.1:PORT/left></form><script>document.forms[0].submit()</script>",
    ] {
        let canary = Canary::listen();
        let error = pool.render(&scripted(&canary.aim(page))).await.unwrap_err();
        assert_eq!(error.error.code, ErrorCode::PageFailed, "{error}");
        let address = canary.aim("http://127.0.0.1:PORT/left");
        assert!(error.error.message.contains(&address), "{error}");
        assert!(error.warnings.lines().iter().any(|line| line.contains(&address)), "{:?}", error.warnings);
        assert_eq!(canary.hits(), [""; 0]);
    }
    pool.finish().await;
}

#[actix::test]
async fn the_own_host_at_another_port_or_scheme_is_refused_for_good() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 300);
    // What the live reload of a development server asks for, left in a build.
    let page = "<p>here</p><script>new WebSocket('ws://' + location.host + ':3000/'); \
        fetch('https://' + location.host + '/x').catch(() => 0)</script>";
    let rendered = pool.render(&scripted(page)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "here");
    let mut warnings = rendered.warnings;
    warnings.sort();
    let why = "(it serves the template's files by http, at no other port or scheme; no entry of outbound.allow can open it)";
    let expected = |port| format!("refused address: the page's own origin:{port} {why}");
    assert_eq!(warnings, [expected(3000), expected(443)]);
    pool.finish().await;
}
