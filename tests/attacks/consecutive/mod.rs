//! Suite H for consecutive jobs of one template of one account: traces of a page with script in the next one, which may
//! have its tab.
//!
//! Each page looks for traces by the carriers of `carriers.js`, then stores something by all of them, at once or when it
//! is hidden. What a page sees in a fresh tab, and the marks to look for, are in the next page's data. Two controls show
//! that the carriers work: in the page's own document, and in the next document of its address, to which the page
//! navigates itself and which is not cleaned.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::service::{Made, finish};
use crate::table::{Outcome, report};
use crate::template::archive;

const FILES: [(&str, &str); 8] = [
    ("index.html", include_str!("index.html")),
    ("carriers.js", include_str!("carriers.js")),
    ("worker.js", include_str!("worker.js")),
    ("shared.js", include_str!("shared.js")),
    ("service.js", include_str!("service.js")),
    ("deep/empty.html", "<!doctype html><title>empty</title>"),
    ("dot.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"),
    ("counted", "x"),
];

/// Found in neither control: the browser refuses them to a page without user gestures, or has nothing of the kind; the
/// page server's headers keep them out of caches; a busy page does not reach them; or only a warning of the next job
/// would show them.
const QUIET: [&str; 44] = [
    "console by answers",
    "HTTP cache",
    "idle callback",
    "picture in memory",
    "prefetch",
    "storage persisted",
    "storage event",
    "notification",
    "cookie with Domain localhost",
    "window.opener",
    "window by its name",
    "history.state",
    "back cache",
    "speculation rules",
    "page scale",
    "focus of the page",
    "user activation",
    "full screen",
    "pointer lock",
    "orientation",
    "view transition",
    "document.domain",
    "finalizer",
    "medium",
    "language and zone",
    "rejection",
    "console",
    "permissions",
    "geolocation",
    "clipboard",
    "clipboard by a command",
    "speech",
    "wake lock",
    "protocol",
    "download",
    "keepalive",
    "beacon",
    "keepalive elsewhere",
    "fetchLater elsewhere",
    "cookieStore by document.all",
    "fetchLater",
    "ping",
    "picture on its way",
    "frame of its own process",
];

/// What is stored and when, and for how many pairs of jobs: whether a cookie is written in time is a race.
const WAYS: [(&str, usize); 8] = [
    ("now", 2),
    ("hide", 2),
    ("flood", 2),
    ("floodhide", 4),
    ("doors", 1),
    ("doorshide", 1),
    ("calls", 1),
    ("callshide", 1),
];
/// Of these, those whose page's tab is never reused, and those for which that depends on how far it comes at its end.
const APART: [&str; 2] = ["doors", "calls"];
const EITHER: [&str; 2] = ["doorshide", "callshide"];

/// The most pairs until one page follows another in a tab.
const PAIRS_LIMIT: usize = 20;
/// Leases of tabs that still show the page before.
const LEFT: &str = "platen_browser_leases_total{lane=\"scripted\",tab=\"left\"}";

/// What a page has seen.
#[derive(Debug)]
struct Looked {
    kinds: BTreeSet<String>,
    found: BTreeMap<String, String>,
    first: Value,
    messages: Value,
    tab: String,
}

impl Looked {
    fn of(made: &Made) -> Self {
        let page = String::from_utf8(made.file.clone()).unwrap();
        let texts = page.split('<').filter_map(|part| Some(part.split_once('>')?.1));
        let lines: Vec<(&str, &str, &str)> = texts
            .filter_map(|text| {
                let (word, rest) = text.split_once(' ')?;
                let (kind, what) = rest.split_once('=')?;
                Some((word, kind, what))
            })
            .collect();
        let of = |word: &str| lines.iter().find(|line| line.0 == word).map_or("", |line| line.2);
        let value = |word| serde_json::from_str(&of(word).replace("&amp;", "&")).unwrap_or_default();
        assert!(!of("TAB").is_empty(), "not all was looked at: {} {page}", made.messages());
        let untried: Vec<_> = lines.iter().filter(|line| line.0 == "UNTRIED").collect();
        assert!(untried.is_empty(), "{untried:?}");
        let found = lines.iter().filter(|line| line.0 == "FOUND");
        Self {
            kinds: serde_json::from_value(value("KINDS")).unwrap_or_default(),
            found: found.map(|line| (line.1.to_owned(), line.2.to_owned())).collect(),
            first: value("FIRST"),
            messages: value("TOLD"),
            tab: of("TAB").to_owned(),
        }
    }
}

/// The end of a page that cannot be followed directly: the tab shows an empty document first.
const NOT_AT_ONCE: &str = "<noscript><b>x</b></noscript>";

/// A service that renders such pages one at a time, and the template; with `at_once` each follows the one before directly.
async fn service(at_once: bool) -> (TestApp, String) {
    // Timers go on without end, so the page is never idle.
    let settings = [
        ("browser.tabs", "1"),
        ("browser.spare_tabs", "0"),
        // However much it computes and holds: all carriers at once are heavy.
        ("browser.yield_after_ms", "3600000"),
        ("browser.reuse_memory_mb", "4096"),
        ("browser.quiet_window_ms", "50"),
        ("browser.rest_cap_ms", "100"),
        ("browser.readiness_timeout_ms", "60000"),
        // Long enough that a tab is reused on a loaded machine, too.
        ("browser.reset_timeout_ms", "20000"),
    ];
    let app = TestApp::with(&settings).await;
    let mut files = FILES;
    let page = format!("{}{}", files[0].1, if at_once { "" } else { NOT_AT_ONCE });
    files[0].1 = &page;
    let template = app.saved("Looks and leaves", archive(&files)).await;
    (app, template)
}

async fn render(app: &TestApp, template: &str, data: Value) -> Made {
    let opts = json!({"waitForSelector": "#done"});
    let body =
        json!({"type": "html", "target": "html", "templateId": template, "data": data, "formatOpts": opts});
    let job = app.init(body).await;
    let made = finish(app, &app.token, &job.id, "html").await;
    assert_eq!(made.view["success"], true, "{}", made.view);
    made
}

#[actix::test]
async fn the_probe_finds_a_pages_own_traces_by_each_carrier() {
    let (app, template) = service(true).await;
    let mut found = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for way in ["here", "again"] {
        let looked = Looked::of(&render(&app, &template, json!({"mark": "markone", "way": way})).await);
        kinds.extend(looked.kinds);
        found.extend(looked.found.into_keys());
    }
    let missing: Vec<_> =
        kinds.iter().filter(|kind| !found.contains(*kind) && !QUIET.contains(&kind.as_str())).collect();
    assert!(missing.is_empty(), "not found where they were left: {missing:?}");
    assert!(found.len() >= 60, "{} carriers", found.len());
}

#[actix::test]
async fn nothing_is_left_for_the_next_job_of_a_template() {
    nothing_is_left(true).await;
}

#[actix::test]
async fn nothing_is_left_behind_an_empty_document() {
    nothing_is_left(false).await;
}

async fn nothing_is_left(at_once: bool) {
    let (app, template) = service(at_once).await;
    // No tab is kept for a template that was rendered only once.
    render(&app, &template, json!({"mark": "markwarm", "way": "now"})).await;
    // Later pages may have a tab that is no longer fresh.
    let mut first = Value::Null;
    for (way, pairs) in WAYS {
        let (mut traces, mut kinds) = (BTreeMap::<String, Vec<String>>::new(), BTreeSet::new());
        let mut shared = 0;
        let left = app.metric_of(LEFT).await;
        let must_follow = at_once && !APART.contains(&way) && !EITHER.contains(&way);
        let mut pair = 0;
        // A busy machine is sometimes too late for it.
        while pair < pairs || must_follow && pair < PAIRS_LIMIT && app.metric_of(LEFT).await == left {
            pair += 1;
            let marks = [format!("markone{pair}"), format!("marktwo{pair}")];
            let data = json!({"mark": marks[0], "way": way, "first": first, "bare": at_once});
            let one = Looked::of(&render(&app, &template, data).await);
            first = one.first;
            let data = json!({"mark": marks[1], "way": way, "first": first, "told": one.messages});
            let made = render(&app, &template, data).await;
            let two = Looked::of(&made);
            kinds.extend(two.kinds);
            shared += usize::from(one.tab == two.tab);
            for (kind, what) in one.found.into_iter().chain(two.found) {
                traces.entry(kind).or_default().push(what);
            }
            if made.holds(&marks[0]) {
                traces.entry("the output or its warnings".to_owned()).or_default().push(made.messages());
            }
        }
        if must_follow {
            assert!(app.metric_of(LEFT).await > left, "no page of {way} took the place of another");
        }
        // A pair without a common tab proves nothing.
        if !EITHER.contains(&way) {
            let had = if APART.contains(&way) { 0 } else { pair };
            assert_eq!(shared, had, "pairs of {way} in the same tab");
        }
        kinds.extend(traces.keys().cloned());
        let messages = format!("{shared} of {pair} in the same tab");
        let carrier = format!("{way}{}", if at_once { ", at once" } else { "" });
        let outcome = |name: String| {
            let leaks = traces.get(&name).cloned().unwrap_or_default();
            Outcome { name, carrier: carrier.clone(), leaks, messages: messages.clone() }
        };
        report(
            "suite H, jobs of one template one after the other (traces found)",
            kinds.into_iter().map(outcome).collect(),
        );
    }
}
