//! Suite B, ways around a decision: redirects, DNS rebinding, the service's own port, templates of other accounts.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use platen::browser::PageTask;
use platen::domain::reach::Reach;
use platen::outbound::{Outbound, Resolve};
use url::Url;

use crate::allowed::allowing;
use crate::canary::Canary;
use crate::host::{Host, HostRequest, Reply};
use crate::support::{TestPool, scripted, static_page, text_of};
use crate::table::{Outcome, report};

const GOT: &str = "const got = () => document.body.append(' GOT');";

/// A page that asks an allowed host, which sends it on.
fn sent_on(kind: &str, base: &str) -> String {
    let from = |path: &str| format!("{base}/{path}");
    match kind {
        "img" => format!("<img src={}>", from("go")),
        "stylesheet" => format!("<link rel=stylesheet href={}>", from("go")),
        "iframe" => format!("<iframe src={}></iframe>", from("go")),
        "frame of a script" => format!("<iframe src={}></iframe>", from("script")),
        "frame of a refresh" => format!("<iframe src={}></iframe>", from("refresh")),
        "font" => {
            format!("<style>@font-face{{font-family:f;src:url({})}}p{{font-family:f}}</style>", from("go"))
        }
        "fetch" => format!("<script>{GOT}fetch('{}').then(got, () => 0)</script>", from("go")),
        "no-cors" => {
            format!("<script>{GOT}fetch('{}',{{mode:'no-cors'}}).then(got, () => 0)</script>", from("go"))
        }
        "post" => format!(
            "<script>{GOT}fetch('{}',{{method:'POST',body:'x'}}).then(got, () => 0)</script>",
            from("go")
        ),
        "worker" => format!(
            "<script>new Worker(URL.createObjectURL(new Blob([`fetch('{}',{{mode:'no-cors'}})`])))</script>",
            from("go")
        ),
        "EventSource" => format!("<script>{GOT}new EventSource('{}').onopen = got</script>", from("go")),
        "location" => format!("<script>location.href = '{}'</script>", from("go")),
        other => panic!("{other} is no carrier"),
    }
}

const KINDS: [&str; 12] = [
    "img",
    "stylesheet",
    "iframe",
    "frame of a script",
    "frame of a refresh",
    "font",
    "fetch",
    "no-cors",
    "post",
    "worker",
    "EventSource",
    "location",
];

/// An allowed host that redirects to a canary of its own, and the carrier by which a page asks it.
struct Redirector {
    kind: &'static str,
    name: String,
    canary: Canary,
    host: Host,
}

impl Redirector {
    async fn new(kind: &'static str, status: u16, to: &str, tls: bool) -> Self {
        let canary = Canary::listen();
        let target = canary.aim(to);
        let name = format!("{status} to {target}");
        let answer = move |asked: &HostRequest| match asked.path() {
            "/script" => Reply::ok("text/html", format!("<script>location.href='{target}'</script>")),
            "/refresh" => Reply::ok("text/html", "moved").with(&format!("Refresh: 0;url={target}")),
            _ => Reply::redirect(status, &target),
        };
        let host = if tls { Host::https("127.0.0.1", answer).await } else { Host::http(answer).await };
        Self { kind, name, canary, host }
    }

    async fn go(&self, pool: &TestPool) -> Outcome {
        let scheme = if self.host.key.is_some() { "https" } else { "http" };
        let base = format!("{scheme}://127.0.0.1:{}", self.host.port);
        let page = format!("<p>page{}<script>setTimeout(() => 0, 200)</script>", sent_on(self.kind, &base));
        let made = pool.render(&scripted(&page)).await;
        let mut leaks = self.canary.hits();
        let messages = match made {
            Ok(made) => {
                let text = text_of(&made.bytes);
                leaks.extend(text.contains("GOT").then(|| "something came back".to_owned()));
                leaks.extend(text.contains("root:").then(|| "a local file".to_owned()));
                made.warnings.join(" | ")
            }
            Err(error) => error.error.message,
        };
        if self.host.hits().is_empty() {
            leaks.push("nothing: the allowed host was not asked, so this says nothing".to_owned());
        }
        Outcome { name: self.name.clone(), carrier: format!("{scheme}, {}", self.kind), leaks, messages }
    }
}

#[actix::test]
async fn an_allowed_host_redirects_to_no_other_host() {
    let mut ways = Vec::new();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let status = [301, 302, 303, 307, 308][number % 5];
        ways.push(Redirector::new(kind, status, "HTTP/x", number % 2 == 1).await);
    }
    for (status, to) in [
        (301, "http://localhost:PORT/x"),
        (302, "http://[::1]:PORT/x"),
        (303, "https://127.0.0.1:PORT/x"),
        (307, "//127.1:PORT/x"),
        (308, "http://2130706433:PORT/x"),
        (302, "file:///etc/passwd"),
        (302, "http://169.254.169.254/latest/meta-data"),
        (302, "data:text/html,<script>top.got()</script>"),
        (302, "chrome://version"),
    ] {
        ways.push(Redirector::new(if status == 303 { "iframe" } else { "fetch" }, status, to, false).await);
    }
    let entries: Vec<String> = ways.iter().map(|way| way.host.entry()).collect();
    let pool = TestPool::with_outbound(allowing(&entries, &[]), |config| {
        config.trusted_keys = ways.iter().filter_map(|way| way.host.key.clone()).collect();
    });
    let attempts = ways.iter().map(|way| way.go(&pool));
    let outcomes = futures_util::stream::iter(attempts).buffer_unordered(2).collect().await;
    pool.finish().await;
    report("suite B, redirects by an allowed host (hits on a canary beside it)", outcomes);
}

/// Each question for a name takes its next answer; the last one stays.
struct Rebinding(Mutex<BTreeMap<&'static str, VecDeque<Vec<SocketAddr>>>>);

#[async_trait]
impl Resolve for Rebinding {
    async fn resolve(&self, name: &str, _: u16) -> std::io::Result<Vec<SocketAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name).ok_or(std::io::ErrorKind::NotFound)?;
        Ok(if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() })
    }
}

fn rebinding(names: &[(&'static str, &[&[SocketAddr]])]) -> Arc<Rebinding> {
    let answers = |answers: &[&[SocketAddr]]| answers.iter().map(|answer| answer.to_vec()).collect();
    Arc::new(Rebinding(Mutex::new(names.iter().map(|(name, all)| (*name, answers(all))).collect())))
}

#[actix::test]
async fn a_changed_dns_answer_is_judged_again() {
    let (host, canary) =
        (Host::http(|_| Reply::ok("text/plain", "x").with("Connection: close")).await, Canary::listen());
    let (good, own): (SocketAddr, SocketAddr) =
        (([127, 0, 0, 1], host.port).into(), ([127, 0, 0, 1], canary.port).into());
    let names = rebinding(&[
        ("first.test", &[&[good], &[own]]),
        ("mixed.test", &[&[good, own]]),
        ("good.test", &[&[good]]),
    ]);
    let entries =
        ["first", "mixed", "good"].map(|name| format!("{{ host = \"{name}.test:9000\", private = true }}"));
    let config = allowing(&entries, &[]);
    let outbound = Outbound::new(config, &[own], names);
    let pool = TestPool::with(outbound, |_| {});
    let page = "<p>page<script type=module>for (const name of ['first', 'first', 'mixed', 'good']) {\
        const word = await fetch(`http://${name}.test:9000/${name}`, {mode:'no-cors'}).then(() => 'yes', () => 'no');\
        document.body.append(' ' + word) }</script>";
    let made = pool.render(&scripted(page)).await.unwrap();
    assert_eq!(text_of(&made.bytes), "page yes no no yes", "{:?}", made.warnings);
    assert!(made.warnings[0].ends_with("(it is this service itself)"), "{:?}", made.warnings);
    assert_eq!(host.hits().keys().collect::<Vec<_>>(), ["/first", "/good"]);
    assert_eq!(canary.hits(), [""; 0]);
    pool.finish().await;
}

#[tokio::test]
async fn a_name_that_rebinds_to_a_private_address_is_refused() {
    let public: SocketAddr = "1.1.1.1:443".parse().unwrap();
    let mut outcomes = Vec::new();
    for next in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:127.0.0.1",
        "64:ff9b::10.0.0.1",
        "fd00::1",
    ] {
        let private = SocketAddr::new(next.parse().unwrap(), 443);
        let answers = [&[public][..], &[private], &[public, private], &[private, public]];
        let names = rebinding(&[("cdn.test", &answers)]);
        let outbound = Outbound::new(allowing(&["\"cdn.test\"".to_owned()], &[]), &[], names);
        let url = Url::parse("https://cdn.test/x").unwrap();
        assert!(outbound.decide_page(&url).await.is_ok(), "the first answer is public");
        for carrier in ["alone", "behind a public one", "before a public one"] {
            let decided = outbound.decide_page(&url).await;
            let leaks = decided.as_ref().ok().map(|pinned| format!("{pinned:?}")).into_iter().collect();
            let messages = decided.err().map(|refusal| refusal.to_string()).unwrap_or_default();
            outcomes.push(Outcome {
                name: format!("rebinding to {next}"),
                carrier: carrier.to_owned(),
                leaks,
                messages,
            });
        }
    }
    report("suite B, names that change", outcomes);
}

#[actix::test]
async fn the_service_itself_is_not_reached_though_it_is_allowed() {
    let canary = Canary::listen();
    let port = canary.port;
    let entries: Vec<String> = ["127.0.0.1", "localhost", "[::1]", "127.0.0.2"]
        .iter()
        .map(|host| format!("{{ host = \"{host}:{port}\", private = true }}"))
        .collect();
    let own = SocketAddr::from(([0, 0, 0, 0], port));
    let outbound = Outbound::new(allowing(&entries, &[]), &[own], Arc::new(platen::outbound::SystemResolver));
    let pool = TestPool::with(outbound, |_| {});
    let page = "<img src=HTTP/x><img src=http://localhost:PORT/x><img src=http://[::1]:PORT/x>\
        <img src=http://127.0.0.2:PORT/x><img src=https://127.0.0.1:PORT/x>\
        <script>fetch('HTTP/v1/jobs').catch(() => 0); new WebSocket('ws://127.0.0.1:PORT/x')</script>";
    let made = pool.render(&scripted(&canary.aim(page))).await.unwrap();
    assert_eq!(canary.hits(), [""; 0]);
    assert!(made.warnings.len() >= 6, "{:#?}", made.warnings);
    for warning in &made.warnings {
        assert!(warning.ends_with("(it is this service itself)"), "{warning}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_of_another_account_s_template_reaches_no_host() {
    let host = Host::http(|_| Reply::ok("text/plain", "x")).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let base = format!("http://127.0.0.1:{}", host.port);
    let page = format!("<p>page<img src={base}/img><script>fetch('{base}/fetch').catch(() => 0)</script>");
    for task in [scripted(&page), static_page(&page)] {
        let task = PageTask { reach: Reach::OwnFiles, ..task };
        let made = pool.render(&task).await.unwrap();
        assert!(made.warnings[0].starts_with(&format!("refused address: {base}/")), "{:?}", made.warnings);
        assert!(made.warnings[0].contains("a public template reaches no hosts"), "{:?}", made.warnings);
    }
    assert_eq!(host.connections(), 0);
    pool.finish().await;
}
