//! Suite B on a network of the test's own: real addresses of every kind, each with a listener.
//!
//! The test starts itself again in a network namespace, in which nothing leads out; there private, metadata and
//! public addresses are this machine's, and so is the server of names.

use std::net::IpAddr;
use std::process::Command;

use futures_util::StreamExt as _;
use serde_json::json;

use crate::app::TestApp;
use crate::canary::Canary;
use crate::service::{Order, render};
use crate::table::{Outcome, report};

const ADDRESSES: [&str; 12] = [
    "10.0.0.5",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.64.0.1",
    "100.100.100.200",
    "198.18.0.1",
    "1.1.1.1",
    "fd00:ec2::254",
    "fc00::1",
    "2606:4700::1111",
];
const PORTS: [u16; 3] = [80, 443, 8_080];
/// Set in the environment of a test that runs inside the namespace.
const INSIDE: &str = "PLATEN_TEST_OWN_NETWORK";
const NAME: &str = "network::no_real_address_of_any_kind_is_reached";

const PAGE: &str = "<!doctype html><p>page<link rel=dns-prefetch href=//PLACE><link rel=preconnect href=http://PLACE>\
    <img src=http://PLACE/img><img src=https://PLACE/https><iframe src=http://PLACE:8080/iframe></iframe>\
    <p style='background:url(http://PLACE/latest/meta-data/)'><script>const got = () => document.body.append(' GOT');\
    fetch('http://PLACE/fetch', {mode:'no-cors'}).then(got, () => 0);\
    fetch('http://PLACE/put', {method:'PUT', headers:{'X-aws-ec2-metadata-token-ttl-seconds':'9'}}).then(got, () => 0);\
    new WebSocket('ws://PLACE:8080/ws').onopen = got;\
    try { new WebTransport('https://PLACE/t').ready.then(got, () => 0) } catch {}\
    const p = new RTCPeerConnection({iceServers:[{urls:'stun:PLACE:8080'},{urls:'turn:PLACE:80?transport=tcp',username:'u',credential:'c'}]});\
    p.createDataChannel('d'); p.createOffer().then(it => p.setLocalDescription(it))</script>";

#[actix::test]
async fn no_real_address_of_any_kind_is_reached() {
    if std::env::var_os(INSIDE).is_some() {
        return inside().await;
    }
    let mut again = Command::new("unshare");
    again.args(["--net", "--"]).arg(std::env::current_exe().unwrap()).args(["--exact", NAME, "--nocapture"]);
    if !nix::unistd::geteuid().is_root() {
        // Without the right to make a network namespace, only the tables of spellings try the decision.
        return;
    }
    let status = again.env(INSIDE, "1").status().expect("unshare is a part of every Debian");
    assert!(status.success(), "inside of its own network: {status}");
}

async fn inside() {
    let servers = name_servers();
    let devices = std::fs::read_to_string("/proc/self/net/dev").unwrap();
    let names: Vec<_> = devices.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert_eq!(names, ["lo"], "there is a way out");
    own(&["link", "set", "lo", "up"]);
    let all: Vec<IpAddr> = ADDRESSES.iter().map(|address| address.parse().unwrap()).collect();
    for address in all.iter().chain(&servers).filter(|address| !address.is_loopback()) {
        let length = if address.is_ipv4() { 32 } else { 128 };
        own(&["address", "add", &format!("{address}/{length}"), "dev", "lo", "nodad"]);
    }
    let canaries: Vec<_> =
        all.iter().flat_map(|ip| PORTS.map(|port| (*ip, Canary::on(&[*ip], port).unwrap()))).collect();
    let names = Canary::on(&servers, 53).expect("nobody else answers names in here");
    let app = TestApp::start().await;
    let mut places: Vec<String> =
        all.iter().map(|ip| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }).collect();
    places.extend(["metadata.google.internal", "s3cret.a.example", "127.0.0.1.nip.io"].map(str::to_owned));
    let attempts = places.iter().map(async |place| {
        let opts = json!({"waitForTimeout": 300});
        (place, render(&app, &app.token, Order { opts, ..Order::pdf(&PAGE.replace("PLACE", place)) }).await)
    });
    let made: Vec<_> = futures_util::stream::iter(attempts).buffer_unordered(2).collect().await;
    // Public addresses among them are this machine's own here, which no delivery may reach either.
    let job = app.prepared("html", "<p>page", json!({})).await;
    let mut outcomes = Vec::new();
    for place in &places[..all.len()] {
        let body = json!({"uploadPresignedStorageUrl": format!("https://{place}/key")});
        let (status, answer) = app.post(&format!("/v1/documents/{job}/render"), &body).await;
        let leaks = (status != 422).then(|| answer.to_string()).into_iter().collect();
        let messages = answer["detail"].as_str().unwrap_or_default().to_owned();
        outcomes.push(Outcome { name: place.clone(), carrier: "delivery".to_owned(), leaks, messages });
    }
    let asked = names.hits();
    for (place, made) in made {
        let here = canaries.iter().filter(|(ip, _)| place.trim_matches(['[', ']']) == ip.to_string());
        let mut leaks: Vec<String> = here.flat_map(|(_, canary)| canary.hits()).collect();
        leaks.extend(made.holds("GOT").then(|| "something came back".to_owned()));
        leaks.extend(asked.iter().map(|hit| format!("a name was asked for: {hit}")));
        outcomes.push(Outcome {
            name: place.clone(),
            carrier: "a page, 11 carriers".to_owned(),
            leaks,
            messages: made.messages(),
        });
    }
    report(
        "suite B, a network of its own (hits on 36 ports and the server of names, default configuration)",
        outcomes,
    );
}

fn own(arguments: &[&str]) {
    let program = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists());
    let program = program.expect("the program ip (package iproute2) is installed by scripts/setup --test");
    let status = Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "ip {arguments:?}: {status}");
}

/// The system's name servers.
fn name_servers() -> Vec<IpAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let named = text.lines().filter_map(|line| line.strip_prefix("nameserver")?.trim().parse().ok());
    let named: Vec<IpAddr> = named.collect();
    if named.is_empty() { vec![IpAddr::from([127, 0, 0, 1])] } else { named }
}
