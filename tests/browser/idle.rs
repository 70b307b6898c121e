//! Idle detection: a page is idle at once when nothing is pending, and never before its pending drawing is done.

use std::time::{Duration, Instant};

use platen::browser::{PageOutput, PageTask};

use crate::support::{TestPool, scripted, text_of, with_files};

/// A window and a cap that no page of these tests may wait for.
const NEVER_MS: u64 = 60_000;
const WELL_BEFORE: Duration = Duration::from_secs(30);

fn without_window() -> TestPool {
    TestPool::start(|config| {
        config.quiet_window_ms = NEVER_MS;
        config.rest_cap_ms = NEVER_MS;
    })
}

/// The text of the page, which must come without waiting for a window and without warnings.
async fn text_when_idle(pool: &TestPool, task: &PageTask) -> String {
    let started = Instant::now();
    let rendered = pool.render(task).await.unwrap();
    let page = String::from_utf8_lossy(task.site.page().unwrap());
    assert!(started.elapsed() < WELL_BEFORE, "{:?} {page}: {:?}", started.elapsed(), rendered.warnings);
    assert_eq!(rendered.warnings, Vec::<String>::new(), "{page}");
    text_of(&rendered.bytes)
}

#[actix::test]
async fn everything_that_draws_later_is_waited_for_and_nothing_else() {
    let pool = without_window();
    let pages = [
        ("no script of its own", "<p id=p>drawn</p><script></script>"),
        ("a timer", "<p id=p></p><script>setTimeout(draw, 300)</script>"),
        ("a timer as text", "<p id=p></p><script>setTimeout('draw()', '300')</script>"),
        (
            "timers one after the other",
            "<p id=p></p><script>const go = n => n ? setTimeout(go, 60, n - 1) : draw(); go(12)</script>",
        ),
        (
            "an interval that ends",
            "<p id=p></p><script>let n = 0; const i = setInterval(() => { p.append('.'); \
                if (++n > 5) { clearInterval(i); draw() } }, 70)</script>",
        ),
        (
            "an interval that finds what a timer left",
            "<p id=p></p><script>let ready; setTimeout(() => ready = true, 250); \
                const i = setInterval(() => ready && (draw(), clearInterval(i)), 90)</script>",
        ),
        (
            "a timer far away",
            "<p id=p>drawn</p><script>setTimeout(() => p.textContent = 'out', 60000)</script>",
        ),
        (
            "frames",
            "<p id=p></p><script>let n = 0; const go = () => { p.title = n; \
                ++n < 30 ? requestAnimationFrame(go) : draw() }; requestAnimationFrame(go)</script>",
        ),
        ("an idle callback", "<p id=p></p><script>requestIdleCallback(draw)</script>"),
        (
            "messages",
            "<p id=p></p><script>const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => { \
                const end = performance.now() + 5; while (performance.now() < end); \
                ++n < 40 ? c.port2.postMessage(0) : draw() }; c.port2.postMessage(0)</script>",
        ),
        (
            "a changed size",
            "<p id=p style='width:9px;overflow:hidden'></p><script>onload = () => setTimeout(() => { \
                let first = true; new ResizeObserver(() => first ? first = false : draw()).observe(p); \
                requestAnimationFrame(() => requestAnimationFrame(() => p.style.width = '300px')) }, 100)</script>",
        ),
        (
            "a transition",
            "<style>p{opacity:0;transition:opacity 400ms}</style><p id=p>.</p><script>onload = () => \
                setTimeout(() => { p.ontransitionend = draw; p.style.opacity = 1 }, 50)</script>",
        ),
        (
            "an observer made late",
            "<p id=p></p><script>setTimeout(() => new ResizeObserver(draw).observe(p), 100)</script>",
        ),
        (
            "a late scroll",
            "<p id=p></p><div style='height:9000px'></div><script>setTimeout(() => { onscroll = draw; \
                document.scrollingElement.scrollTop = 9 }, 100)</script>",
        ),
        (
            "an animation that is over at once",
            "<p id=p></p><script>setTimeout(() => { p.animate([], 1).onfinish = draw }, 100)</script>",
        ),
        (
            "a database",
            "<p id=p></p><script>const r = indexedDB.open('d'); r.onsuccess = () => { const again = \
                indexedDB.open('d'); again.onsuccess = draw }</script>",
        ),
        (
            "a database that is written and read",
            "<p id=p></p><script>const r = indexedDB.open('w'); r.onupgradeneeded = () => r.result.createObjectStore('s'); \
                r.onsuccess = () => { const t = r.result.transaction('s', 'readwrite'); const s = t.objectStore('s'); \
                for (let n = 0; n < 400; n++) s.put('v' + n, n); t.oncomplete = () => { let n = 0; \
                r.result.transaction('s').objectStore('s').openCursor().onsuccess = event => { \
                const at = event.target.result; if (at) { n++; at.continue() } else if (n === 400) draw() } } }</script>",
        ),
        (
            "a cache",
            "<p id=p></p><script>caches.open('c').then(async c => { await c.put('/x', new Response('a')); \
                await c.match('/x') && await caches.delete('c') && draw() })</script>",
        ),
        (
            "a database in a worker",
            "<p id=p></p><script>const w = new Worker(URL.createObjectURL(new Blob([`const r = indexedDB.open('d'); \
                r.onsuccess = () => postMessage(0)`]))); w.onmessage = draw</script>",
        ),
        (
            "a picture of a canvas",
            "<p id=p></p><canvas id=c></canvas><script>let n = 0; const x = c.getContext('2d'); \
                const go = () => { x.fillRect(n, 0, 1, 9); ++n < 40 ? requestAnimationFrame(go) : \
                c.toBlob(draw) }; requestAnimationFrame(go)</script>",
        ),
    ];
    for (name, page) in pages {
        let page = format!("<script>const draw = () => {{ p.textContent = 'drawn' }}</script>{page}");
        assert_eq!(text_when_idle(&pool, &scripted(&page)).await, "drawn", "{name}");
    }
    pool.finish().await;
}

#[actix::test]
async fn requests_are_waited_for() {
    let pool = without_window();
    let long = "(function longer(a) { return a + 'longer' });\n".repeat(40_000);
    let long = format!("{long} setTimeout(() => p.textContent = 'drawn', 80)");
    let files = [
        ("long.js", long.as_str()),
        ("n.json", r#"{"n":42}"#),
        ("late.js", "import {text} from './part.js'; setTimeout(() => p.textContent = text, 80)"),
        ("part.js", "export const text = 'drawn'"),
        ("classic.js", "setTimeout(() => p.textContent = 'drawn', 80)"),
        ("a.css", "@import url(b.css);"),
        ("b.css", "#p::before{content:'drawn'}"),
        ("f.html", "<script>setTimeout(() => parent.p.textContent = 'drawn', 200)</script>"),
        ("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("next.html", "<p id=p></p><script>setTimeout(() => p.textContent = 'drawn', 200)</script>"),
    ];
    let pages = [
        "fetch('/n.json').then(it => it.json()).then(it => p.textContent = it.n == 42 && 'drawn')",
        "const x = new XMLHttpRequest(); x.open('GET', '/n.json'); x.onload = () => \
            setTimeout(() => p.textContent = 'drawn', 50); x.send()",
        "onload = () => setTimeout(() => import('/late.js'), 60)",
        "onload = () => setTimeout(() => { const s = document.createElement('script'); \
            s.src = '/classic.js'; document.body.append(s) }, 60)",
        "onload = () => setTimeout(() => { const s = document.createElement('script'); \
            s.src = '/long.js'; document.body.append(s) }, 60)",
        "onload = () => setTimeout(() => { const l = document.createElement('link'); \
            l.rel = 'stylesheet'; l.href = '/a.css'; document.head.append(l) }, 60)",
        "onload = () => setTimeout(() => { const f = document.createElement('iframe'); f.hidden = true; \
            f.src = '/f.html'; document.body.append(f) }, 60)",
        "onload = () => setTimeout(() => { const i = new Image(); i.src = '/a.svg'; \
            i.onload = () => p.textContent = 'drawn' }, 60)",
        "onload = () => setTimeout(() => location.href = '/next.html', 100)",
    ];
    for page in pages {
        let task = with_files(&format!("<p id=p></p><script>{page}</script>"), &files);
        assert_eq!(text_when_idle(&pool, &task).await, "drawn", "{page}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_picture_that_a_style_asks_for_late_is_in_the_picture() {
    let pool = without_window();
    let page = "<body style='margin:0;height:100vh'><script>onload = () => setTimeout(() => \
        document.body.style.background = 'url(/green.svg)', 100)</script>";
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
        <rect width='9' height='9' fill='lime'/></svg>";
    let both = with_files(page, &[("green.svg", svg)]);
    let with = pool.render(&PageTask { output: PageOutput::Png, ..both }).await.unwrap();
    let fixed = PageTask { output: PageOutput::Png, ..scripted("<body style='margin:0;background:lime'>") };
    assert_eq!(with.bytes, pool.render(&fixed).await.unwrap().bytes);
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_paginates_itself_for_three_seconds_comes_out_whole() {
    let pool = TestPool::start(|_| {});
    // Chunks by timers, promises and frames, laid out in the document and beside it.
    let page = "<main id=m></main><script>\
        const pause = ms => new Promise(done => setTimeout(done, ms));\
        const frame = () => new Promise(requestAnimationFrame);\
        const work = ms => { const end = performance.now() + ms; while (performance.now() < end); };\
        (async () => { for (let n = 1; n <= 60; n++) { const page = document.createElement('p');\
            for (let i = 0; i < 5; i++) { work(6); await pause(0); } await Promise.resolve();\
            page.textContent = 'page' + n; m.append(page); await frame(); }\
            m.append('whole') })()</script>";
    let rendered = pool.render(&scripted(page)).await.unwrap();
    assert_eq!(rendered.warnings, Vec::<String>::new());
    let text = text_of(&rendered.bytes);
    assert!(text.contains("page60 whole"), "{text}");
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_computes_for_long_beside_the_document_comes_out_whole() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p></p><script>let n = 0; const go = () => { const end = performance.now() + 15; \
        while (performance.now() < end); ++n < 80 ? setTimeout(go) : p.textContent = 'computed' }; go()</script>";
    let rendered = pool.render(&scripted(page)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "computed");
    pool.finish().await;
}

#[actix::test]
async fn animated_charts_come_out_in_their_last_state() {
    let pool = TestPool::start(|_| {});
    let page = "<svg width=200 height=20><rect id=r width=0 height=20 /><text id=t y=15>growing</text></svg>\
        <script>const start = performance.now(); const go = now => { const part = Math.min((now - start) / 1000, 1);\
        r.setAttribute('width', 200 * part); if (part < 1) requestAnimationFrame(go); else t.textContent = 'grown' };\
        requestAnimationFrame(go)</script>";
    let rendered = pool.render(&scripted(page)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "grown");
    pool.finish().await;
}

#[actix::test]
async fn a_page_at_rest_but_for_a_clock_is_printed() {
    let pool = TestPool::start(|config| {
        config.quiet_window_ms = 500;
        config.rest_cap_ms = NEVER_MS;
        config.clock_limit_ms = 500;
    });
    let words = "document.querySelector('i')";
    for script in [
        format!("setInterval(() => {words}.textContent = Date.now(), 200)"),
        format!("setInterval(() => {words}.innerHTML = '<b>' + Date.now() + '</b>', 200)"),
        format!("const go = () => {{ {words}.firstChild.data = Date.now(); setTimeout(go, 200) }}; go()"),
        // As a framework draws: in a task of its own.
        format!(
            "const c = new MessageChannel(); c.port1.onmessage = () => {words}.firstChild.nodeValue = Date.now(); \
                setInterval(() => c.port2.postMessage(0), 200)"
        ),
    ] {
        let task = scripted(&format!("<p>clock</p><i>-</i><script>{script}</script>"));
        let started = Instant::now();
        let rendered = pool.render(&task).await.unwrap();
        assert!(started.elapsed() < WELL_BEFORE, "{script}");
        assert!(text_of(&rendered.bytes).starts_with("clock 1"), "{script}");
        let [warning] = &rendered.warnings[..] else { panic!("{script}: {:?}", rendered.warnings) };
        assert!(warning.starts_with("the page was printed while it had something pending"), "{warning}");
    }
    pool.finish().await;
    let pool = without_window();
    // What is no clock is waited for: more and more words, many words, an animation, what counts up to its result.
    for script in [
        format!(
            "let n = 0; const i = setInterval(() => {{ {words}.append('.'); if (++n > 9) end(i) }}, 100)"
        ),
        format!(
            "let n = 0; const i = setInterval(() => {{ {words}.textContent = 'x'.repeat(99); if (++n > 9) end(i) }}, 100)"
        ),
        format!(
            "let n = 0; const i = setInterval(() => {{ {words}.textContent = ++n; if (n > 40) end(i) }}, 20)"
        ),
        format!(
            "let n = 0; const go = () => {{ {words}.textContent = ++n; n > 60 ? end() : requestAnimationFrame(go) }}; go()"
        ),
    ] {
        let page = format!(
            "<i>-</i><script>const end = i => {{ clearInterval(i); {words}.textContent = 'done' }}; {script}</script>"
        );
        assert_eq!(text_of(&pool.render(&scripted(&page)).await.unwrap().bytes), "done", "{script}");
    }
    pool.finish().await;
}

#[actix::test]
async fn visible_ticking_is_printed_at_the_cap_and_invisible_ticking_after_the_window() {
    let pool = TestPool::start(|config| {
        config.quiet_window_ms = 500;
        config.rest_cap_ms = 2_000;
    });
    let ticker = "<p>clock</p><i id=i></i><script>setInterval(() => i.append(Date.now()), 100)</script>";
    let rendered = pool.render(&scripted(ticker)).await.unwrap();
    assert!(text_of(&rendered.bytes).starts_with("clock"));
    let warning = &rendered.warnings[0];
    assert!(warning.starts_with("the page never came to rest; printed after 2000 ms (browser.rest_cap_ms)"));
    assert!(warning.contains("an interval of 100 ms"), "{warning}");
    assert!(warning.contains("waitForExpression"), "{warning}");
    pool.finish().await;
    let pool = TestPool::start(|config| {
        config.quiet_window_ms = 200;
        config.chain_limit_ms = 300;
        config.rest_cap_ms = NEVER_MS;
    });
    let poll = "fetch('/n.json').then(it => it.json())";
    for (script, named) in [
        ("setInterval(() => 0, 50)".to_owned(), "an interval of 50 ms"),
        (format!("setInterval(() => {poll}, 1000)"), "an interval of 1000 ms"),
        (
            format!("const again = () => {poll}.then(() => setTimeout(again, 1000)); again()"),
            "a timer every 1000 ms, set again",
        ),
        (
            "const again = () => fetch('/n.json').then(() => setTimeout(again, 1000)); again()".to_owned(),
            "a timer every 1000 ms, set again",
        ),
        (
            "const again = () => requestAnimationFrame(again); again()".to_owned(),
            "an animation frame, asked for again",
        ),
        ("const again = () => setTimeout(again, 30); again()".to_owned(), "a timer every 30 ms, set again"),
        (
            "const c = new MessageChannel(); c.port1.onmessage = () => \
                setTimeout(() => c.port2.postMessage(0), 20); c.port2.postMessage(0)"
                .to_owned(),
            "",
        ),
    ] {
        let task = with_files(&format!("<p>seen</p><script>{script}</script>"), &[("n.json", "{}")]);
        let started = Instant::now();
        let rendered = pool.render(&task).await.unwrap();
        assert!(started.elapsed() < WELL_BEFORE, "{script}: {:?}", started.elapsed());
        assert_eq!(text_of(&rendered.bytes), "seen", "{script}");
        let [warning] = &rendered.warnings[..] else { panic!("{script}: {:?}", rendered.warnings) };
        assert!(warning.contains("something pending") && warning.contains(named), "{script}: {warning}");
        assert!(warning.contains("waitForExpression"), "{script}: {warning}");
    }
    pool.finish().await;
}

#[actix::test]
async fn requests_without_end_are_named_at_the_cap() {
    let pool = TestPool::start(|config| config.rest_cap_ms = 1_500);
    let page = "<p>here</p><script>const go = () => fetch('/n.json').then(go); go()</script>";
    let rendered = pool.render(&with_files(page, &[("n.json", "{}")])).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "here");
    assert!(rendered.warnings[0].contains("after 1500 ms (browser.rest_cap_ms); pending: a fetch"));
    pool.finish().await;
}

#[actix::test]
async fn a_page_cannot_break_idle_detection() {
    let pool = without_window();
    let page = "<p id=p></p><script>const later = setTimeout, next = requestAnimationFrame;\
        for (const of of [Object, Array, Function, Promise, MutationObserver, WeakMap, Reflect, Proxy, Map, Document,\
            EventTarget, FontFaceSet, Animation, Performance, Node, Number, String])\
            for (const holder of [of, of.prototype]) for (const key of Reflect.ownKeys(holder ?? {}))\
                if (!['prototype', 'textContent', 'constructor'].includes(key))\
                    try { Object.defineProperty(holder, key, { value: () => { throw 'broken' } }) } catch {}\
        for (const key of ['get', 'set', 'has', 'value', 'firm', 'seen', 'what', 'length', 'link', 'epoch', 'isLong'])\
            try { Object.prototype[key] = 7 } catch {}\
        performance = { now: () => 0 }; platenReportIdle = () => 0; Promise = setTimeout = clearTimeout = null;\
        MutationObserver = Proxy = requestAnimationFrame = null;\
        later(() => next(() => { document.getElementById = 0; p.textContent = 'drawn' }), 300)</script>";
    assert_eq!(text_when_idle(&pool, &scripted(page)).await, "drawn");
    pool.finish().await;
}

#[actix::test]
async fn hooked_timers_look_and_work_like_native_ones() {
    let pool = without_window();
    let page = "<p id=p></p><script>(async () => { const said = [];\
        said.push(/native code/.test(setTimeout), setTimeout.name, setTimeout.length, typeof platenReportIdle);\
        said.push(await new Promise(done => setTimeout(function (...args) { done(this === window && args.join('')) },\
            1, 'a', 'b')));\
        clearTimeout(setTimeout(() => said.push('cleared'), 5));\
        const i = setInterval(() => said.push('cleared'), 5); clearTimeout(i);\
        cancelAnimationFrame(requestAnimationFrame(() => said.push('cancelled')));\
        try { setTimeout.call({}) } catch (error) { said.push(error.name) }\
        said.push(await new Promise(done => requestAnimationFrame(time => done(typeof time))));\
        onunhandledrejection = event => { said.push(event.reason.name); event.preventDefault() };\
        (async () => await fetch('http://[')) (); await new Promise(done => setTimeout(done, 50));\
        p.textContent = said.join(' ') })()</script>";
    let expected = "true setTimeout 1 undefined ab TypeError number TypeError";
    assert_eq!(text_when_idle(&pool, &scripted(page)).await, expected);
    pool.finish().await;
}

#[actix::test]
async fn frames_and_shadow_trees_are_watched() {
    let pool = TestPool::start(|config| config.rest_cap_ms = NEVER_MS);
    let steps =
        "let n = 0; const step = () => { b.textContent = ++n; n < 9 && setTimeout(step, 90) }; step()";
    let frame = format!("<iframe srcdoc='<b id=b></b><script>{steps}</script>'></iframe>");
    let shadow = format!(
        "<div id=d></div><script>const root = d.attachShadow({{ mode: 'closed' }}); \
            const b = document.createElement('b'); root.append(b); {steps}</script>"
    );
    for page in [frame, shadow] {
        assert_eq!(text_when_idle(&pool, &scripted(&page)).await, "9", "{page}");
    }
    pool.finish().await;
}

#[actix::test]
async fn frames_of_every_kind_become_idle() {
    let pool = without_window();
    let files = [("f.html", "<p>framed"), ("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")];
    for frame in [
        "<iframe sandbox srcdoc='<p>framed'></iframe>",
        "<iframe sandbox=allow-scripts srcdoc='<p>framed<script>setInterval(() => 0, 10)</script>'></iframe>",
        "<iframe src='data:text/html,<p>framed'></iframe>",
        "<iframe src=/f.html></iframe>",
        "<iframe src=/f.html hidden></iframe>",
        "<iframe src=/gone.html></iframe>",
        "<iframe src=http://127.0.0.1:1/></iframe>",
        "<iframe></iframe><script>frames[0].document.body.append('framed')</script>",
        "<iframe src='javascript:\"framed\"'></iframe>",
        "<object data=/a.svg></object><embed src=/a.svg><object data=/gone></object>",
        "<iframe id=f></iframe><script>onload = () => setTimeout(() => { f.src = '/f.html'; \
            setTimeout(() => f.remove(), 100) }, 50)</script>",
        "<script>onload = () => setTimeout(() => { for (let n = 0; n < 3; n++) { const f = \
            document.createElement('iframe'); document.body.append(f); f.src = '/f.html?' + n } }, 50)</script>",
    ] {
        let started = Instant::now();
        let rendered = pool.render(&with_files(&format!("<p>page</p>{frame}"), &files)).await.unwrap();
        assert!(started.elapsed() < WELL_BEFORE, "{frame}: {:?} {:?}", started.elapsed(), rendered.warnings);
        assert!(text_of(&rendered.bytes).starts_with("page"), "{frame}");
        assert!(
            !rendered.warnings.iter().any(|line| line.contains("rest")),
            "{frame}: {:?}",
            rendered.warnings
        );
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_floods_the_console_still_becomes_idle() {
    let pool = without_window();
    let page = "<p id=p></p><script>for (let n = 0; n < 700; n++) console.warn('n'); \
        setTimeout(() => p.textContent = 'drawn', 400)</script>";
    let started = Instant::now();
    let rendered = pool.render(&scripted(page)).await.unwrap();
    assert!(started.elapsed() < WELL_BEFORE, "{:?}", started.elapsed());
    assert_eq!(text_of(&rendered.bytes), "drawn");
    assert!(rendered.warnings.len() == 2 && rendered.warnings[1].ends_with("not heard"), "{rendered:?}");
    pool.finish().await;
}

#[actix::test]
async fn a_document_written_anew_is_watched() {
    let pool = without_window();
    let page = "<script>onload = () => setTimeout(() => { document.open(); document.write('<p id=p></p>'); \
        document.close(); setTimeout(() => p.textContent = 'drawn', 300) }, 50)</script>";
    assert_eq!(text_when_idle(&pool, &scripted(page)).await, "drawn");
    pool.finish().await;
}
