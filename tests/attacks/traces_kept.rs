//! Suite H in tabs without script, which are used again: what one page leaves for the next one of its account, and
//! for those of others.
//!
//! No script of these pages runs. So that more is left and looked for than such a page could, ours does both, by
//! `waitForExpression`, which the pipeline never gives to a page of this lane.

use platen::browser::PageTask;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use serde_json::json;

use crate::allowed::allowing;
use crate::host::{Asked, Host, Reply};
use crate::support::{TestPool, asking, fixed, text_of, with_files};
use crate::table::{Outcome, report};
use crate::traces::outcomes;

const ACCOUNTS: usize = 3;
const JOBS: usize = 25;

const KINDS: [&str; 11] = [
    "cookie",
    "localStorage",
    "sessionStorage",
    "window.name",
    "history",
    "IndexedDB",
    "Cache",
    "service worker",
    "files",
    "font",
    "document",
];

/// Looks, then leaves, by promises only: where no script runs nothing is called back. Nor is the tab given a name,
/// which would stay with it, but which only a script can give.
const LOOK: &str = "const mark = 'MARK', found = [];\
    const look = async (kind, run) => { try { const what = await run(); if (what && what !== mark) found.push(kind + '=' + what) }\
      catch (error) { found.push('untried ' + kind + ': ' + error) } };\
    await look('cookie', () => { const seen = document.cookie; document.cookie = 'c=' + mark + ';max-age=9999;path=/'; return seen });\
    await look('localStorage', () => { const seen = localStorage.m; localStorage.m = mark; return seen });\
    await look('sessionStorage', () => { const seen = sessionStorage.m; sessionStorage.m = mark; return seen });\
    await look('window.name', () => window.name);\
    await look('history', () => { const seen = history.state, length = history.length;\
      history.pushState(mark, ''); return seen || (length > 2 ? length : '') });\
    await look('IndexedDB', async () => { const seen = await indexedDB.databases(); indexedDB.open('d', 1); return seen.map(it => it.name).join() });\
    await look('Cache', async () => { const cache = await caches.open('c'); const seen = await cache.match('/kept');\
      await cache.put('/kept', new Response(mark)); return seen && seen.text() });\
    await look('service worker', async () => (await navigator.serviceWorker.getRegistrations()).length ? 'registered' : '');\
    await look('files', async () => { const root = await navigator.storage.getDirectory(); let seen = '';\
      for await (const name of root.keys()) seen += name; await root.getFileHandle(mark, {create: true}); return seen });\
    await look('font', async () => { const seen = [...document.fonts].map(f => f.family).join() || (document.fonts.check('12px Left') ? '' : 'known');\
      const face = new FontFace('Left', 'local(\"DejaVu Sans\")'); document.fonts.add(await face.load()); return seen });\
    await look('document', () => { const seen = [window.left, document.referrer].join(''); window.left = mark; return seen });";

fn looking(mark: &str) -> PageTask {
    let look = LOOK.replace("MARK", mark);
    let show = "for (const it of found) document.body.append(' | FOUND own ' + it); document.body.append(' | all looked')";
    let opts = json!({"waitForExpression": format!("(async () => {{ {look} {show}; return true }})()")});
    let page = format!("<!doctype html><title>{mark}</title><p>page {mark}<img src=a.svg>");
    let files = [("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")];
    asking(&opts.to_string(), PageTask { lane: Lane::Static, ..with_files(&page, &files) })
}

#[actix::test]
async fn nothing_is_left_in_a_tab_that_is_used_again() {
    let pool = TestPool::start(|config| config.tabs = 4);
    let client = async |number: usize| {
        let account = AccountId::generate();
        let mut texts = Vec::new();
        for job in 0..JOBS {
            let mark = format!("mark{number}x{job}");
            let rendered = pool.render_for(account, &looking(&mark)).await.unwrap();
            let text = text_of(&rendered.bytes);
            let marks = text.split_whitespace().filter(|word| word.starts_with("mark"));
            assert_eq!(marks.filter(|word| *word != mark).count(), 0, "{text}");
            assert!(rendered.warnings.is_empty(), "{:?}", rendered.warnings);
            texts.push(text);
        }
        texts
    };
    let texts = futures_util::future::join_all((0..ACCOUNTS).map(client)).await.concat();
    let jobs = (ACCOUNTS * JOBS) as u64;
    let reused = pool.metrics.leases.of(["static", "kept"]).get();
    assert!(reused > jobs * 3 / 4, "only {reused} of {jobs} were in a used tab");
    pool.finish().await;
    let of = format!("{ACCOUNTS} accounts at once, {reused} of {jobs} in used tabs");
    let all = outcomes(&KINDS, &of, &texts).into_iter().filter(|outcome| outcome.carrier == "own origin");
    report("suite H, one page after the other in a tab without script (traces found)", all.collect());
}

fn answer(asked: &Asked) -> Reply {
    match asked.path() {
        "/a.svg" => {
            Reply::ok("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='7'/>")
        }
        "/a.css" => Reply::ok("text/css", "p::after{content:' styled'}"),
        _ => return Reply::status("404 Not Found"),
    }
    .with("Set-Cookie: left=1; Max-Age=9999; Path=/")
    .with("Strict-Transport-Security: max-age=9999")
    .with("Cache-Control: public, max-age=9999, immutable")
}

#[actix::test]
async fn what_an_allowed_host_sent_is_not_there_for_the_next_page() {
    let host = Host::http(answer).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |config| config.tabs = 2);
    let (account, jobs) = (AccountId::generate(), 5);
    let base = format!("http://127.0.0.1:{}", host.port);
    let page = fixed(&format!("<link rel=stylesheet href={base}/a.css><p>page</p><img src={base}/a.svg>"));
    for _ in 0..jobs {
        let rendered = pool.render_for(account, &page).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "page styled");
    }
    let reused = pool.metrics.leases.of(["static", "kept"]);
    assert_eq!(reused.get(), 0, "a tab that anything came into is not used again");
    let refused = fixed("<link rel=stylesheet href=http://192.0.2.1/a.css><p>page");
    for _ in 0..2 {
        assert_eq!(pool.render_for(account, &refused).await.unwrap().warnings.len(), 1);
    }
    assert_eq!(reused.get(), 1, "one that nothing came into is");
    pool.finish().await;
    let told = format!("{:?}", host.hits());
    let hits = ["/a.svg", "/a.css"].map(|path| (path, host.hits()[path]));
    let cached = hits.iter().filter(|(_, hits)| *hits != jobs).map(|(path, hits)| format!("{path}: {hits}"));
    let cookies = host.asked().into_iter().filter_map(|asked| asked.header("cookie").map(str::to_owned));
    let all = [("HTTP cache", cached.collect()), ("cookie", cookies.collect::<Vec<_>>())];
    let line = |(name, leaks): (&str, Vec<String>)| Outcome {
        name: name.to_owned(),
        carrier: "an allowed host".to_owned(),
        leaks,
        told: told.clone(),
    };
    report("suite H, what a host left in a tab without script", all.map(line).into());
}
