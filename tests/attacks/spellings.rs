//! Suite B, the addresses: every spelling of what is not public, at the decision and, for the loopback, through
//! a page.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use platen::config::Config;
use platen::outbound::{Outbound, Resolve};
use url::Url;

use crate::app::TestApp;
use crate::canary::Canary;
use crate::service::{Order, render};
use crate::table::{Outcome, report};

/// Spellings that mean the loopback on this machine, and spellings that parsers take for it.
pub const LOOPBACK: &[&str] = &[
    "127.0.0.1",
    "127.0.0.2",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0X7F.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.1",
    "017700000001",
    "00000177.00.00.01",
    "0",
    "0.0.0.0",
    "0x0",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "①②⑦.⓪.⓪.①",
    "１２７.０.０.１",
    "127。0。0。1",
    "127．0．0．1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::0001]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:FFFF:7F00:0001]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[::1%25lo]",
    "localhost",
    "LOCALHOST",
    "LocalHost.",
    "localhost..",
    "ｌocalhost",
    "foo.localhost",
    "ip6-localhost",
    "localhost.localdomain",
    "user:word@127.0.0.1",
    "127.0.0.1:word@localhost",
    "a.example@127.0.0.1",
    "127.0.0.1\\@a.example",
    "\t127.0.0.1",
];

/// What is not public and not the loopback: private, link-local, metadata, shared, reserved.
pub const ELSEWHERE: &[&str] = &[
    "10.0.0.1",
    "0xa.1",
    "012.0.0.1",
    "167772161",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.1.1",
    "192.168.257",
    "3232235777",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "192.88.99.1",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "[::ffff:10.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::1]",
    "[2002:a9fe:a9fe::]",
    "[2001:db8::1]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[3fff::1]",
    "[5f00::1]",
];

/// A name means what its letters say: `v127-0-0-1.test` is 127.0.0.1, with a dash for each dot or colon.
pub struct Names;

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        let unknown = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let meant = name.strip_suffix(".test").ok_or_else(unknown)?;
        let address = match (meant.strip_prefix('v'), meant.strip_prefix('x')) {
            (Some(four), _) => four.replace('-', ".").parse(),
            (_, Some(six)) => six.replace('-', ":").parse(),
            (None, None) => return Err(unknown()),
        };
        Ok(vec![SocketAddr::new(address.map_err(|_| unknown())?, port)])
    }
}

fn outbound(allow: &str) -> Outbound {
    let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), allow.to_owned());
    Outbound::new(Config::load(None, [allow]).unwrap().outbound, &[], Arc::new(Names))
}

/// A decision for a page and one for a delivery.
async fn decide(outbound: &Outbound, name: &str, text: &str) -> Outcome {
    let mut leaks = Vec::new();
    let page = match Url::parse(text) {
        Ok(url) => outbound.decide_page(&url).await.map_err(|refusal| refusal.to_string()),
        Err(error) => Err(format!("no address: {error}")),
    };
    if let Ok(pinned) = &page {
        leaks.push(format!("a page may connect to {pinned:?}"));
    }
    if let Ok(pinned) = outbound.read(text).await {
        leaks.push(format!("a delivery may connect to {pinned:?}"));
    }
    let messages = page.err().unwrap_or_default();
    Outcome { name: name.to_owned(), carrier: "the decision".to_owned(), leaks, messages }
}

#[tokio::test]
async fn the_decision_refuses_every_spelling() {
    let default = outbound("[]");
    let mut outcomes = Vec::new();
    for host in LOOPBACK.iter().chain(ELSEWHERE) {
        outcomes.push(decide(&default, host, &format!("https://{host}/key")).await);
        outcomes.push(decide(&default, &format!("http {host}"), &format!("http://{host}/key")).await);
    }
    report("suite B, spellings at the decision (default configuration)", outcomes);
}

#[tokio::test]
async fn a_listed_host_without_private_opens_no_address_that_is_not_public() {
    // The host itself is listed; only `private` opens what its name means.
    let mut outcomes = Vec::new();
    for host in ELSEWHERE.iter().chain(LOOPBACK) {
        let Ok(url) = Url::parse(&format!("https://{host}/")) else { continue };
        let Some(listed) = url.host_str() else { continue };
        let listed = listed.trim_matches(['[', ']']).trim_end_matches('.');
        let outbound = outbound(&format!("[{{ host = \"{listed}\", http = true }}]"));
        outcomes.push(decide(&outbound, &format!("listed {host}"), url.as_str()).await);
        let name = listed.replace(['.', ':'], "-");
        let letter = if listed.contains(':') { 'x' } else { 'v' };
        let name = format!("{letter}{name}.test");
        let outbound = self::outbound(&format!("[{{ host = \"{name}\", http = true }}]"));
        outcomes.push(decide(&outbound, &format!("a name for {host}"), &format!("http://{name}/")).await);
    }
    report("suite B, listed hosts whose address is not public", outcomes);
}

const PAGE: &str = "<!doctype html><meta charset=utf-8><p>page<img src='http://HOST:PORT/img'>\
    <iframe src='http://HOST:PORT/iframe'></iframe><img src='//HOST:PORT/relative'>\
    <img src='http:\\\\HOST:PORT/backslashes'><img src='http:HOST:PORT/none'><img src='https://HOST:PORT/https'>\
    <p style='background:url(http://HOST:PORT/css)'>p<script>const to = 'http://HOST:PORT/fetch';\
    const got = () => document.body.append(' GOT');\
    try { fetch(to, {mode:'no-cors'}).then(got, () => 0) } catch {}\
    try { new WebSocket('ws://HOST:PORT/ws').onopen = got } catch {}</script>";

#[actix::test]
async fn no_spelling_of_the_loopback_gets_out_of_a_page() {
    let app = TestApp::start().await;
    let attempts = LOOPBACK.iter().map(async |host| {
        let canary = Canary::listen();
        let page = canary.aim(PAGE).replace("HOST", host);
        let made = render(&app, &app.token, Order::pdf(&page)).await;
        let mut leaks = canary.hits();
        leaks.extend(made.holds("GOT").then(|| "something came back".to_owned()));
        let messages = made.messages();
        Outcome { name: (*host).to_owned(), carrier: "a page, 8 carriers".to_owned(), leaks, messages }
    });
    let outcomes = futures_util::stream::iter(attempts).buffer_unordered(4).collect().await;
    report(
        "suite B, spellings of the loopback in a page (hits on a canary, default configuration)",
        outcomes,
    );
}
