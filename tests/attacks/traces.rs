//! Suite H: traces of one job in the next on the same slot, and in the one beside it.
//!
//! Each page looks for traces of others, shows what it found, and then stores whatever it can, in its own origin and in
//! that of an allowed host, which is the same for all.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::StreamExt as _;
use platen::browser::PageTask;

use crate::allowed::allowing;
use crate::app::TestApp;
use crate::host::{Host, HostRequest, Reply};
use crate::service::{Order, render};
use crate::support::{TestPool, asking, folder_of, scripted, text_of, with_files};
use crate::table::{Outcome, report};

const JOBS: usize = 60;
const PAIRS: usize = 10;

/// Looks for traces, then stores its own, by promises only. `MARK` is this job's; traces go to `found`. The history must
/// be no longer than `LENGTH`.
pub const STORES: &str = "const mark = 'MARK', found = [];\
    const look = async (kind, run) => { try { const what = await run(); if (what && what !== mark) found.push(kind + '=' + what) }\
      catch (error) { found.push('untried ' + kind + ': ' + error) } };\
    await look('cookie', () => { const seen = document.cookie; document.cookie = 'c=' + mark + ';max-age=9999;path=/'; return seen });\
    await look('localStorage', () => { const seen = localStorage.m; localStorage.m = mark; return seen });\
    await look('sessionStorage', () => { const seen = sessionStorage.m; sessionStorage.m = mark; return seen });\
    await look('history', () => { const seen = history.state; const length = history.length;\
      history.pushState(mark, ''); return seen || (length > LENGTH ? length : '') });\
    await look('Cache', async () => { const cache = await caches.open('c'); const seen = await cache.match('/kept');\
      await cache.put('/kept', new Response(mark)); return seen && seen.text() });\
    await look('files', async () => { const root = await navigator.storage.getDirectory(); let seen = '';\
      for await (const name of root.keys()) seen += name; await root.getFileHandle(mark, {create: true}); return seen });\
    await look('font', async () => { const seen = [...document.fonts].map(f => f.family).join() || (document.fonts.check('12px Left') ? '' : 'known');\
      const face = new FontFace('Left', 'local(\"DejaVu Sans\")'); document.fonts.add(await face.load()); return seen });";

/// After `STORES`: what only a script of the page itself can do.
const BY_SCRIPT: &str = "await look('window.name', () => { const seen = window.name; window.name = mark; return seen });\
    await look('IndexedDB', () => new Promise((done, fail) => { const open = indexedDB.open('d', 1);\
      open.onerror = () => fail(open.error); open.onupgradeneeded = () => open.result.createObjectStore('s');\
      open.onsuccess = () => { const s = open.result.transaction('s', 'readwrite').objectStore('s'); const get = s.get('m');\
        get.onsuccess = () => { const put = s.put(mark, 'm'); put.onsuccess = () => { open.result.close(); done(get.result) } } } }));\
    await look('service worker', async () => { const seen = await navigator.serviceWorker.getRegistrations();\
      await navigator.serviceWorker.register('/sw.js'); return seen.length ? 'registered' : '' });\
    await fetch('/counted');\
    await look('shared worker', () => new Promise(done => { const w = new SharedWorker('/shared.js', 'w');\
      w.onerror = () => done(''); w.port.onmessage = event => done(event.data); w.port.postMessage(mark) }));\
    await look('lock', async () => { const held = await navigator.locks.query(); navigator.locks.request('l' + mark, () => new Promise(() => 0));\
      return held.held.map(it => it.name).join() });\
    const heard = new Set(); const channel = new BroadcastChannel('b');\
    channel.onmessage = event => event.data !== mark && heard.add(event.data);\
    addEventListener('storage', event => event.newValue !== mark && heard.add(event.newValue));\
    for (let i = 0; i < ROUNDS; i++) { channel.postMessage(mark); localStorage.t = mark + i % 2; await new Promise(done => setTimeout(done, 10)) }\
    if (heard.size) found.push('BroadcastChannel=' + [...heard]);";

const SHARED: &str = "let last = ''; onconnect = event => { const port = event.ports[0];\
    port.onmessage = message => { port.postMessage(last); last = message.data } }";

const PAGE: &str = "<!doctype html><p>page MARK</p><script type=module>LOOK\
    location.href = 'BASE/page?MARK#' + encodeURIComponent(JSON.stringify(found))</script>";

/// The allowed host's page: the job navigates there, so that its storage is not partitioned by the first page.
const THERE: &str = "<!doctype html><p>page MARK</p><script type=module>LOOK\
    const show = (place, all) => all.forEach(it => document.body.append(' | FOUND ' + place + ' ' + it));\
    show('own', JSON.parse(decodeURIComponent(location.hash.slice(1) || '[]'))); show('host', found);\
    document.body.append(' | all looked'); document.body.id = 'done'</script>";

/// `page` for one job; its history is as long as it makes it itself.
fn looking(page: &str, mark: &str, rounds: usize) -> String {
    let length = if page == PAGE { "2" } else { "4" };
    let page =
        page.replace("LOOK", &[STORES, BY_SCRIPT].concat()).replace("MARK", mark).replace("LENGTH", length);
    page.replace("ROUNDS", &rounds.to_string())
}

fn answer(rounds: usize) -> impl Fn(&HostRequest) -> Reply + Send + Sync {
    move |asked| match asked.path().split_once('?') {
        Some(("/page", mark)) => Reply::ok("text/html", looking(THERE, mark, rounds)),
        _ => match asked.path() {
            // A cached answer would not be requested again.
            "/counted" => Reply::ok("text/plain", "x").with("Cache-Control: public, max-age=9999, immutable"),
            "/twice" => {
                let once = looking(THERE, "one", rounds)
                    .replace("document.body.id = 'done'", "location.href = '/page?two'");
                Reply::ok("text/html", once)
            }
            "/sw.js" => Reply::ok("text/javascript", "onfetch = () => 0"),
            "/shared.js" => Reply::ok("text/javascript", SHARED),
            _ => Reply::status("404 Not Found"),
        },
    }
}

fn task(mark: &str, host: &Host, rounds: usize) -> PageTask {
    let page = looking(PAGE, mark, rounds).replace("BASE", &format!("http://127.0.0.1:{}", host.port));
    let files = [("sw.js", "onfetch = () => 0"), ("shared.js", SHARED), ("counted", "x")];
    asking(r##"{"waitForSelector":"#done"}"##, with_files(&page, &files))
}

const KINDS: [&str; 13] = [
    "cookie",
    "localStorage",
    "sessionStorage",
    "window.name",
    "history",
    "IndexedDB",
    "Cache",
    "service worker",
    "files",
    "shared worker",
    "font",
    "lock",
    "BroadcastChannel",
];
/// The origin in which a trace was stored.
const PLACES: [&str; 2] = ["own", "host"];

/// One line a kind and place, from the texts of all jobs.
pub fn outcomes(kinds: &[&str], places: &[&str], of: &str, texts: &[String]) -> Vec<Outcome> {
    let all = kinds.iter().flat_map(|kind| places.iter().map(|place| (*kind, *place)));
    let all = all.map(|(kind, place)| ((kind.to_owned(), place.to_owned()), Vec::new()));
    let mut found: BTreeMap<(String, String), Vec<String>> = all.collect();
    for text in texts {
        assert!(text.contains("all looked"), "{text}");
        for trace in text.split('|').filter_map(|part| part.trim().strip_prefix("FOUND ")) {
            let (place, trace) = trace.split_once(' ').unwrap();
            let kind = trace.split(['=', ':']).next().unwrap().to_owned();
            found.entry((kind, place.to_owned())).or_default().push(trace.to_owned());
        }
    }
    let line = |((name, carrier), mut leaks): ((String, String), Vec<String>)| {
        leaks.truncate(3);
        Outcome { name, carrier, leaks, messages: of.to_owned() }
    };
    found.into_iter().map(line).collect()
}

#[actix::test]
async fn nothing_is_left_for_the_next_job_of_a_slot() {
    let host = Host::http(answer(1)).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |config| {
        config.tabs = 1;
        config.spare_tabs = 0;
    });
    let mut texts = Vec::new();
    for number in 0..JOBS {
        let mark = format!("mark{number:03}");
        let rendered = pool.render(&task(&mark, &host, 1)).await.unwrap();
        let text = text_of(&rendered.bytes);
        let others = text.split_whitespace().filter(|word| word.starts_with("mark") && *word != mark).count();
        assert_eq!(others, 0, "{text}");
        texts.push(text);
    }
    let browser = pool.until("no tab is leased", |status| status.leased == 0).await.browsers[0];
    let kept = holding(&folder_of(browser), b"mark0");
    let mut all = outcomes(&KINDS, &PLACES, &format!("{JOBS} jobs, one after the other"), &texts);
    let messages = "the browser's folder after all of them".to_owned();
    // A cache between jobs would ask once.
    let asked = host.hits()["/counted"];
    let leaks = (asked != JOBS).then(|| format!("{asked} of {JOBS} asked")).into_iter().collect();
    let (name, carrier) = ("HTTP cache".to_owned(), "host".to_owned());
    all.push(Outcome { name, carrier, leaks, messages: format!("{asked} of {JOBS} asked") });
    all.push(Outcome {
        name: "temporary files".to_owned(),
        carrier: "profile, tmp".to_owned(),
        leaks: kept,
        messages,
    });
    pool.finish().await;
    report("suite H, consecutive jobs on one slot (traces found)", all);
}

#[actix::test]
async fn nothing_is_seen_of_the_job_beside_it() {
    // Both pages send for so long that they overlap.
    let host = Host::http(answer(60)).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |config| config.tabs = 4);
    let pairs = (0..PAIRS).map(async |number| {
        let (one, two) =
            (task(&format!("left{number}"), &host, 60), task(&format!("right{number}"), &host, 60));
        let (one, two) = tokio::join!(pool.render(&one), pool.render(&two));
        let (one, two) = (text_of(&one.unwrap().bytes), text_of(&two.unwrap().bytes));
        assert!(!one.contains("right") && !two.contains("left"), "{one}\n{two}");
        [one, two]
    });
    let texts: Vec<_> = futures_util::stream::iter(pairs).buffer_unordered(2).collect().await;
    let texts = texts.concat();
    pool.finish().await;
    report(
        "suite H, two jobs at once (traces found)",
        outcomes(&KINDS, &PLACES, &format!("{PAIRS} pairs at once"), &texts),
    );
}

#[actix::test]
async fn the_probe_finds_a_pages_own_traces() {
    let host = Host::http(answer(1)).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let page = format!("<p>page<script>location.href = 'http://127.0.0.1:{}/twice'</script>", host.port);
    let rendered = pool.render(&asking(r##"{"waitForSelector":"#done"}"##, scripted(&page))).await.unwrap();
    let text = text_of(&rendered.bytes);
    for kind in [
        "cookie=c=one",
        "localStorage=one",
        "sessionStorage=one",
        "window.name=one",
        "IndexedDB=one",
        "Cache=one",
        "service worker=registered",
        "files=one",
    ] {
        assert!(text.contains(&format!("FOUND host {kind}")), "{kind} is not in {text}");
    }
    assert_eq!(host.hits()["/counted"], 1, "its cache has it");
    pool.finish().await;
}

#[actix::test]
async fn accounts_see_nothing_of_each_other_s_documents_and_errors() {
    let app = TestApp::start().await;
    app.command(&["account", "create", "other"]);
    let other = app.command(&["token", "create", "--account", "other"]);
    let pages = [
        "<p>MARK<script>document.title = 'MARK'; localStorage.m = 'MARK'; throw new Error('MARK')</script>",
        "<p>MARK<img src=/MARK.png><script>fetch('http://MARK.example/MARK')</script>",
        "<p><%= MARK.missing.MARK %>",
        "<p>MARK<script>location.href = 'http://127.0.0.1:9/MARK'</script>",
        "<style>@font-face{font-family:MARK;src:local('DejaVu Sans')}p{font-family:MARK}</style><p>MARK",
    ];
    let jobs = (0..40).map(|number| {
        let (token, mark) = if number % 2 == 0 { (&app.token, "m1ne") } else { (&other, "th3irs") };
        (number, token, mark)
    });
    let jobs = jobs.map(async |(number, token, mark)| {
        let page = pages[number / 2 % pages.len()].replace("MARK", mark);
        let target = ["pdf", "html"][number / 2 % 2];
        (number, mark, render(&app, token, Order { target, ..Order::pdf(&page) }).await)
    });
    let made: Vec<_> = futures_util::stream::iter(jobs).buffer_unordered(6).collect().await;
    let outcomes = made.iter().map(|(number, mark, made)| {
        let others = if *mark == "m1ne" { "th3irs" } else { "m1ne" };
        let leaks = made.holds(others).then(|| made.messages()).into_iter().collect();
        assert!(
            made.holds(mark),
            "{} says nothing of its own: {}",
            pages[number / 2 % pages.len()],
            made.messages()
        );
        Outcome {
            name: format!("page {}", number / 2 % pages.len()),
            carrier: format!("job {number}"),
            leaks,
            messages: made.messages(),
        }
    });
    report("suite H, two accounts at once (words of the other one)", outcomes.collect());
}

/// Files below `folder` that hold `wanted`.
fn holding(folder: &Path, wanted: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(holding(&path, wanted));
        } else if kind.is_file()
            && std::fs::read(&path).is_ok_and(|bytes| bytes.windows(wanted.len()).any(|it| it == wanted))
        {
            found.push(path.display().to_string());
        }
    }
    found
}
