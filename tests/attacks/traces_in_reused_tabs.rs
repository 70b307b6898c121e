//! Suite H in reused tabs without script: traces of one page in the next one of its account, and in those of others.
//!
//! No script of these pages runs. The test stores and looks for more than such a page could: its own script does both, by
//! `waitForExpression`, which the pipeline never gives to a page of this lane.

use std::sync::Arc;

use platen::browser::PageTask;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::outbound::Outbound;
use serde_json::json;

use crate::allowed::allowing;
use crate::host::{Host, HostRequest, Reply};
use crate::spellings::Names;
use crate::support::{TestPool, asking, static_page, text_of, with_files};
use crate::table::{Outcome, report};
use crate::traces::{STORES, outcomes};

const ACCOUNTS: usize = 3;
const JOBS: usize = 25;

const KINDS: [&str; 10] = [
    "cookie",
    "localStorage",
    "sessionStorage",
    "history",
    "IndexedDB",
    "Cache",
    "service worker",
    "files",
    "font",
    "document",
];

/// After `STORES`, by promises as well: where no script runs nothing is called back. Nor is the tab given a name,
/// which would stay with it, but which only a script can give.
const FURTHER: &str = "\
    await look('IndexedDB', async () => { const seen = await indexedDB.databases(); indexedDB.open('d', 1);\
      while (!(await indexedDB.databases()).length); return seen.map(it => it.name).join() });\
    await look('service worker', async () => { const seen = await navigator.serviceWorker.getRegistrations();\
      await navigator.serviceWorker.register('/sw.js'); return seen.length ? 'registered' : '' });\
    await look('document', () => { const seen = [window.left, document.referrer].join(''); window.left = mark; return seen });";

/// Looks for and stores traces as each of `marks` in turn, and shows what the last one found.
fn looking(marks: &[&str]) -> PageTask {
    let look = |mark: &&str| [STORES, FURTHER].concat().replace("MARK", mark).replace("LENGTH", "2");
    let show = "for (const it of found) document.body.append(' | FOUND own ' + it); document.body.append(' | all looked')";
    let looks = marks.iter().map(look).collect::<Vec<_>>().join("} {");
    let opts =
        json!({"waitForExpression": format!("(async () => {{ {{ {looks} {show} }} return true }})()")});
    let page = format!("<!doctype html><title>{0}</title><p>page {0}<img src=a.svg>", marks[0]);
    let files = [("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>"), ("sw.js", "onfetch = () => 0")];
    asking(&opts.to_string(), PageTask { lane: Lane::Static, ..with_files(&page, &files) })
}

#[actix::test]
async fn the_probe_finds_traces_in_a_page_without_script() {
    let pool = TestPool::start(|_| {});
    let text = text_of(&pool.render(&looking(&["one", "two"])).await.unwrap().bytes);
    for kind in KINDS {
        assert!(text.contains(&format!("FOUND own {kind}=")), "{kind} is not in {text}");
    }
    assert!(!text.contains("untried"), "{text}");
    pool.finish().await;
}

#[actix::test]
async fn nothing_is_left_in_a_tab_that_is_used_again() {
    let pool = TestPool::start(|config| config.tabs = 4);
    let client = async |number: usize| {
        let account = AccountId::generate();
        let mut texts = Vec::new();
        for job in 0..JOBS {
            let mark = format!("mark{number}x{job}");
            let rendered = pool.render_for(account, &looking(&[&mark])).await.unwrap();
            let text = text_of(&rendered.bytes);
            let marks = text.split_whitespace().filter(|word| word.starts_with("mark"));
            assert_eq!(marks.filter(|word| *word != mark).count(), 0, "{text}");
            assert!(rendered.warnings.is_empty(), "{:?}", rendered.warnings);
            texts.push(text);
        }
        texts
    };
    let texts = futures_util::future::join_all((0..ACCOUNTS).map(client)).await.concat();
    let (jobs, reused) = ((ACCOUNTS * JOBS) as u64, pool.reused());
    assert!(reused > jobs * 3 / 4, "only {reused} of {jobs} were in a used tab");
    pool.finish().await;
    let of = format!("{ACCOUNTS} accounts at once, {reused} of {jobs} in used tabs");
    let all = outcomes(&KINDS, &["own"], &of, &texts);
    report("suite H, one page after the other in a tab without script (traces found)", all);
}

/// A name, for HSTS does not apply to IP addresses.
const FAR: &str = "v127-0-0-1.test";

/// Sets whatever a host can, and shows by two further sheets whether it is there: a cookie, and HSTS.
fn set_traces(asked: &HostRequest) -> Reply {
    let there = asked.header("host").unwrap();
    let (sheet, lasts) = match asked.path() {
        "/a.css" => (format!("@import 'cookie.css'; @import 'http://{there}/secure.css';"), "no-store"),
        "/secure.css" => ("p::after{content:' secure'}".to_owned(), "max-age=9999, immutable"),
        _ => (String::new(), "no-store"),
    };
    Reply::ok("text/css", sheet)
        .with(&format!("Cache-Control: {lasts}"))
        .with("Set-Cookie: left=1; Max-Age=9999; Path=/; SameSite=None; Secure")
        .with("Strict-Transport-Security: max-age=9999")
}

#[actix::test]
async fn state_set_by_an_allowed_host_does_not_reach_the_next_page() {
    let host = Host::https(FAR, set_traces).await;
    let there = format!("{FAR}:{}", host.port);
    let config = allowing(&[format!("{{ host = \"{there}\", private = true }}")], &[]);
    let pool = TestPool::with(Outbound::new(config, &[], Arc::new(Names)), |config| {
        config.tabs = 2;
        config.trusted_keys = host.key.iter().cloned().collect();
    });
    let (account, jobs) = (AccountId::generate(), 5);
    let page = |address| static_page(&format!("<link rel=stylesheet href={address}><p>page"));
    for _ in 0..jobs {
        // The host speaks no http: only a browser that has cached its HSTS header would reach it by https.
        pool.render_for(account, &page(format!("http://{there}/plain.css"))).await.unwrap();
        let rendered = pool.render_for(account, &page(format!("https://{there}/a.css"))).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "page secure");
    }
    assert_eq!(pool.reused(), 0, "a tab that anything came into is not used again");
    for _ in 0..2 {
        let refused = pool.render_for(account, &page("http://192.0.2.1/a.css".to_owned())).await.unwrap();
        assert_eq!(refused.warnings.len(), 1);
    }
    assert_eq!(pool.reused(), 1, "one that nothing came into is");
    pool.finish().await;
    let asked = host.requests();
    let with_cookie =
        |path: &str| asked.iter().filter(|it| it.path() == path && it.header("cookie").is_some()).count();
    assert_eq!(with_cookie("/cookie.css"), jobs, "the page itself has the cookie");
    let hits = |path: &str| host.hits().get(path).copied().unwrap_or(0);
    let leaks = [
        ("HTTP cache", jobs.abs_diff(hits("/secure.css"))),
        ("cookie", with_cookie("/a.css")),
        ("https only", hits("/plain.css")),
    ];
    let line = |(name, leaks): (&str, usize)| Outcome {
        name: name.to_owned(),
        carrier: "host".to_owned(),
        leaks: (leaks > 0).then(|| format!("{leaks} of {jobs} pages")).into_iter().collect(),
        messages: format!("{:?}", host.hits()),
    };
    report("suite H, what a host left in a tab without script", leaks.map(line).into());
}
