//! What front-end builds ask of a host: types, modules, ranges, routes, names.

use std::fs;

use platen::browser::PageTask;

use crate::snapshot::{green_png, same};
use crate::support::{TestPool, text_of, with_bytes, with_files};

/// A function `f` that answers 42.
const WASM: &[u8] = b"\0asm\x01\0\0\0\x01\x05\x01\x60\0\x01\x7f\x03\x02\x01\0\x07\x05\x01\x01f\0\0\x0a\x06\x01\x04\0\x41\x2a\x0b";

async fn text(pool: &TestPool, task: &PageTask) -> (String, Vec<String>) {
    let rendered = pool.render(task).await.unwrap();
    (text_of(&rendered.bytes), rendered.warnings)
}

#[actix::test]
async fn modules_workers_and_wasm_load_as_builds_refer_to_them() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><link rel=modulepreload crossorigin href=/assets/part.mjs>\
        <link rel=stylesheet crossorigin=use-credentials href=/assets/app.css><pre id=out></pre>\
        <script type=importmap>{\"imports\":{\"lib\":\"/assets/lib.js\"}}</script>\
        <script type=module crossorigin src=/assets/app.js></script>\
        <script type=module crossorigin=use-credentials src=/assets/other.js></script>\
        <script nomodule crossorigin src=/assets/gone.js></script>\
        <script crossorigin=use-credentials src=/assets/classic.cjs></script>";
    let app = b"import { part } from './part.mjs'; import lib from 'lib'; import data from './d.json' with { type: 'json' };\
        import sheet from './s.css' with { type: 'css' }; document.adoptedStyleSheets = [sheet];\
        const said = [part, lib, data.n]; const say = text => { said.push(text); out.textContent = said.join(' ') };\
        say((await import('./lazy.js')).default);\
        say((await WebAssembly.instantiateStreaming(fetch('/x.wasm'))).instance.exports.f());\
        const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });\
        say(await new Promise(done => { worker.onmessage = event => done(event.data) })); worker.terminate();\
        say((await (await fetch('/assets/app.js.map')).json()).version);\
        say(getComputedStyle(out).color); say(typeof classic);\
        //# sourceMappingURL=app.js.map";
    let files: &[(&str, &[u8])] = &[
        ("assets/app.js", app),
        ("assets/app.js.map", b"{\"version\":3}"),
        ("assets/part.mjs", b"export const part = 'part'"),
        ("assets/lib.js", b"export default 'lib'"),
        ("assets/lazy.js", b"export default 'lazy'"),
        ("assets/other.js", b"document.title = 'other'"),
        ("assets/classic.cjs", b"var classic = 1"),
        ("assets/worker.js", b"import { part } from './part.mjs'; postMessage('worker ' + part)"),
        ("assets/d.json", b"{\"n\":7}"),
        ("assets/s.css", b"pre{white-space:pre-wrap}"),
        ("assets/app.css", b"pre{color:rgb(1, 2, 3)}"),
        ("x.wasm", WASM),
    ];
    let (text, warnings) = text(&pool, &with_bytes(page, files)).await;
    assert_eq!(text, "part lib 7 lazy 42 worker part 3 rgb(1, 2, 3) number");
    assert_eq!(warnings, Vec::<String>::new());
    pool.finish().await;
}

#[actix::test]
async fn a_route_is_the_entry_for_a_navigation_and_missing_for_a_fetch() {
    let pool = TestPool::start(|_| {});
    let app = "const go = async () => { const at = location.pathname;\
        if (at === '/') { history.pushState(0, '', '/invoice/7'); location.reload(); return }\
        if (at === '/invoice/7') { location.href = '/invoice/8/lines?x=1#y'; return }\
        const api = await fetch('/api/data'); const page = await fetch('/invoice/9', {headers: {accept: 'text/html'}});\
        document.querySelector('p').textContent = [at, location.search, api.status, page.status,\
        window.__PLATEN_DATA__.n].join(' ') }; go()";
    let page = "<!doctype html><p>start</p><script src=/app.js></script>";
    let mut task = with_files(page, &[("app.js", app)]);
    task.data = bytes::Bytes::from_static(b"{\"n\":4711}");
    let (text, mut warnings) = text(&pool, &task).await;
    assert_eq!(text, "/invoice/8/lines ?x=1 404 404 4711");
    warnings.sort();
    assert_eq!(warnings, ["asset not found: /api/data", "asset not found: /invoice/9"]);
    let frames = "<!doctype html><p>top</p><iframe src=/sub></iframe><iframe src='/a/b'></iframe>\
        <iframe src=/gone.html></iframe><script>if (top !== self) document.querySelector('iframe').remove()</script>";
    let files = [
        ("sub/index.html", "<p>sub</p><img src=x.svg>"),
        ("sub/x.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
    ];
    let warnings = pool.render(&with_files(frames, &files)).await.unwrap().warnings;
    assert!(warnings.contains(&"asset not found: /gone.html".to_owned()), "{warnings:?}");
    assert!(!warnings.iter().any(|it| it.contains("x.svg")), "{warnings:?}");
    pool.finish().await;
}

#[actix::test]
async fn the_entry_is_not_shown_in_its_own_frames() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><p>once</p><iframe src=widgets/chart></iframe>\
        <object data=widgets/object></object><embed src=widgets/embed><script></script>";
    let (text, mut warnings) = text(&pool, &with_files(page, &[("a.txt", "a")])).await;
    assert_eq!(text.matches("once").count(), 1, "{text}");
    warnings.sort();
    let missing = ["chart", "embed", "object"].map(|name| format!("asset not found: /widgets/{name}"));
    assert_eq!(warnings, missing);
    pool.finish().await;
}

#[actix::test]
async fn ranges_heads_and_odd_names_are_answered() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><pre id=out></pre><script>(async () => {\
        const ask = async (path, range, method, more) => { const headers = {...more}; if (range) headers.range = range;\
        const answer = await fetch(path, {method, headers}); return [answer.status, await answer.text(),\
        answer.headers.get('content-range')].join('|') };\
        const said = [await ask('/n.txt', 'bytes=2-4'), await ask('/n.txt', 'bytes=-2'),\
        await ask('/n.txt', 'bytes=0-1,4-5'), await ask('/n.txt', 'bytes=20-'),\
        await ask('/n.txt', 'bytes=2-4', 'GET', {'if-range': '\"x\"'}), await ask('/n.txt', undefined, 'HEAD'),\
        await ask('/n.txt', undefined, 'POST')];\
        const head = await fetch('/n.txt', {method: 'HEAD', headers: {range: 'bytes=2-4'}});\
        said.push(head.status + '|' + head.headers.get('content-length'));\
        for (const path of ['/a b+c.txt', '/a%20b%2Bc.txt', '/gr\u{fc}n/\u{65e5}\u{672c}.txt', '/100%25.txt', '/q?.txt', '/q%3F.txt',\
        '/%2e%2e/n.txt', '/x/../n.txt']) said.push(await ask(path));\
        out.textContent = said.join('\\n') })()</script>";
    let files = [
        ("n.txt", "0123456789"),
        ("a b+c.txt", "space"),
        ("gr\u{fc}n/\u{65e5}\u{672c}.txt", "unicode"),
        ("100%.txt", "percent"),
        ("q?.txt", "question"),
    ];
    let (text, warnings) = text(&pool, &with_files(page, &files)).await;
    let expected = "206|234|bytes 2-4/10 206|89|bytes 8-9/10 200|0123456789| 416||bytes */10 200|0123456789| 200|| \
        405|only GET and HEAD| 200|10 200|space| 200|space| 200|unicode| 200|percent| 404|not found| \
        200|question| 200|0123456789| 200|0123456789|";
    assert_eq!(text, expected);
    let warning = [
        "asset not found: /q?.txt",
        "answered with 416: /n.txt",
        "answered with 405: /n.txt (files of the template can only be read)",
    ];
    assert_eq!(warnings, warning);
    pool.finish().await;
}

#[actix::test]
async fn a_build_with_a_font_of_its_own_is_one_file_that_looks_the_same() {
    let pool = TestPool::start(|_| {});
    let font = fs::read("/usr/share/fonts/truetype/liberation/LiberationMono-Bold.ttf").unwrap();
    let page = "<!doctype html><html><head><meta charset=utf-8><link rel=icon type=image/png href=/logo.png>\
        <script type=module crossorigin src=/assets/index-B2.js></script>\
        <link rel=stylesheet crossorigin href=/assets/index-A1.css></head><body><div id=root></div></body>";
    let script = b"const row = n => `<tr><td>Position ${n}</td><td>${(n * 1.5).toFixed(2)}</td></tr>`;\
        document.getElementById('root').innerHTML = `<img src=\"/logo.png\" class=\"logo\"><h1>Invoice ${__PLATEN_DATA__.n}</h1>\
        <table>${Array.from({length: 20}, (_, n) => row(n)).join('')}</table><a href=\"/pay\">pay</a>`;\
        const style = document.head.appendChild(document.createElement('style'));\
        for (let n = 0; n < 20; n += 2) style.sheet.insertRule(`tr:nth-child(${n + 1}){background:#eef}`)";
    let style = b"@font-face{font-family:Own;src:url(/assets/own.ttf) format('truetype');font-display:swap}\
        body{font-family:Own,serif;margin:2cm}.logo{float:right;width:40px}h1{color:#06c}td{padding:2px 9px}";
    let files: &[(&str, &[u8])] = &[
        ("assets/index-B2.js", script),
        ("assets/index-A1.css", style),
        ("assets/own.ttf", &font),
        ("logo.png", &green_png()),
    ];
    let task = PageTask { data: bytes::Bytes::from_static(b"{\"n\":4711}"), ..with_bytes(page, files) };
    let (html, warnings) = same(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert!(html.contains("data:font/ttf;base64,") && html.contains("tr:nth-child(19)"));
    assert!(!html.contains("/assets/") && !html.contains("4711\"") && html.contains("href=\"/pay\""));
    pool.finish().await;
}
