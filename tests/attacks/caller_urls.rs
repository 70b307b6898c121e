//! Suite C: delivery URLs that callers give the service, and presigned URLs that it gives them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::canary::Canary;
use crate::host::{Host, Reply};
use crate::spellings::{ELSEWHERE, LOOPBACK};
use crate::table::{Outcome, report};

/// URLs that are refused for a delivery whatever their host.
const FORMS: &[&str] = &[
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "ftp://a.example/key",
    "gopher://127.0.0.1:PORT/_x",
    "dict://127.0.0.1:PORT/x",
    "data:text/plain,x",
    "javascript:1",
    "chrome://version",
    "unix:/run/x.sock",
    "//127.0.0.1:PORT/",
    "127.0.0.1:PORT",
    "not an address",
    "https://",
    "https://user:word@a.example/key",
    "https://a.example@127.0.0.1:PORT/",
    "https://a.example/\r\nHost: 127.0.0.1",
    "https://a.example/%0d%0aHost:\u{20}b",
    "https://a.example\u{0}.test/",
    "https://127.0.0.1:PORT\\@a.example/",
    "https://a.example:8443/",
    "http://a.example/",
    "https://a.example:22/",
];

async fn start(app: &TestApp, job: &str, address: &str) -> (u16, Value) {
    let body = json!({"uploadPresignedStorageUrl": address});
    app.post(&format!("/v1/documents/{job}/render"), &body).await
}

#[tokio::test]
async fn no_document_is_delivered_to_a_private_address() {
    let app = TestApp::start().await;
    let job = app.prepared("html", "<p>page", json!({})).await;
    let canary = Canary::listen();
    let own = app.base.rsplit(':').next().unwrap();
    // Names would be resolved by the system and a server outside: they are tried at the decision itself.
    let is_address = |host: &&&str| !host.contains("host") || host.eq_ignore_ascii_case("localhost");
    let hosts = LOOPBACK.iter().chain(ELSEWHERE).filter(is_address);
    let hosts = hosts.flat_map(|host| [format!("http://{host}:PORT/key"), format!("https://{host}/key")]);
    let forms = FORMS.iter().map(|form| (*form).to_owned());
    let itself = ["127.0.0.1", "localhost", "[::1]", "0"].map(|host| format!("http://{host}:{own}/v1/jobs"));
    let mut outcomes = Vec::new();
    for address in hosts.chain(forms).chain(itself) {
        let (status, answer) = start(&app, &job, &canary.aim(&address)).await;
        let refused = status == 422;
        let leaks = (!refused).then(|| format!("{status} {answer}")).into_iter().collect();
        let messages = answer["detail"].as_str().unwrap_or_default().to_owned();
        let (name, carrier) = (address.escape_debug().to_string(), "delivery".to_owned());
        outcomes.push(Outcome { name, carrier, leaks, messages });
    }
    let leaks = canary.hits();
    outcomes.push(Outcome {
        name: "hits of all of them".to_owned(),
        carrier: "the canary".to_owned(),
        leaks,
        messages: String::new(),
    });
    let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
    assert_eq!(view["status"], "initialized", "a refused start starts nothing");
    assert_eq!(app.finish(&job).await["success"], true);
    report("suite C, addresses to deliver to (default configuration)", outcomes);
}

#[actix::test]
async fn a_receiver_redirects_nowhere_and_blocks_no_other_delivery() {
    let canary = Canary::listen();
    let elsewhere = |to: &str| canary.aim(to);
    let ways: Vec<(&str, Option<String>)> = vec![
        ("301", Some(elsewhere("HTTP/x"))),
        ("302", Some(elsewhere("HTTP/x"))),
        ("303", Some(elsewhere("HTTP/x"))),
        ("307", Some(elsewhere("HTTP/x"))),
        ("308", Some(elsewhere("https://localhost:PORT/x"))),
        ("307", Some(elsewhere("//127.1:PORT/x"))),
        ("308", Some("file:///etc/passwd".to_owned())),
        ("307", Some("http://169.254.169.254/latest".to_owned())),
        ("307", Some("https://user:word@a.example/".to_owned())),
        ("307", Some("/again".to_owned())),
        ("200", None),
        ("204", None),
    ];
    let answers = ways.clone();
    let host = Host::http(move |asked| {
        let number: usize = asked.path().trim_start_matches('/').parse().unwrap_or(usize::MAX);
        match answers.get(number) {
            Some((status, Some(to))) => Reply::redirect(status.parse().unwrap(), to),
            // An answer that never ends, and one that never begins.
            Some(("200", None)) => Reply::ok("text/plain", vec![b'x'; 1 << 20]).hanging(),
            Some(_) => Reply::never(),
            None => Reply::redirect(307, "/again"),
        }
    })
    .await;
    let allow = format!("[{}]", host.entry());
    let settings = [("outbound.allow", allow.as_str()), ("outbound.delivery_timeout_s", "2")];
    let app = TestApp::with(&settings).await;
    let mut outcomes = Vec::new();
    for (number, (status, to)) in ways.iter().enumerate() {
        let job = app.prepared("html", "<p>page", json!({})).await;
        let (code, answer) = start(&app, &job, &format!("http://127.0.0.1:{}/{number}", host.port)).await;
        assert!(matches!(code, 200 | 202), "{answer}");
        let view = app.ended(&job).await;
        // What is answered is read as far as the status: a body without end costs nothing.
        let delivered = view["success"] == true;
        let mut leaks = canary.hits();
        leaks.extend((delivered != (*status == "200")).then(|| format!("{view}")));
        leaks.extend((!view["output"]["data"]["url"].is_string()).then(|| "the document is gone".to_owned()));
        let name = to.as_ref().map_or(format!("{status} without an end"), |to| format!("{status} to {to}"));
        let messages = view["error"].as_str().unwrap_or("delivered").to_owned();
        outcomes.push(Outcome { name, carrier: "a receiver's answer".to_owned(), leaks, messages });
    }
    report("suite C, what a receiver answers (hits on a canary beside it)", outcomes);
}

/// `address` with one part of it altered, by the name of what was done.
fn altered(address: &str, other: &str) -> Vec<(&'static str, Method, String)> {
    let (path, terms) = address.split_once('?').unwrap();
    let (other_path, other_terms) = other.split_once('?').unwrap();
    let with = |name: &str, value: &str| {
        let terms = terms.split('&').map(|term| match term.split_once('=') {
            Some((key, _)) if key == name => format!("{key}={value}"),
            _ => term.to_owned(),
        });
        format!("{path}?{}", terms.collect::<Vec<_>>().join("&"))
    };
    let last = |text: &str| text.rsplit_once('/').unwrap().0.to_owned();
    let put = Method::PUT;
    vec![
        ("another job's object", put.clone(), format!("{other_path}?{terms}")),
        ("another job's terms", put.clone(), format!("{path}?{other_terms}")),
        ("the job's other object", put.clone(), format!("{}/data?{terms}", last(path))),
        ("reading by an upload's address", Method::GET, address.to_owned()),
        ("operation get", Method::GET, with("op", "get")),
        ("a later end", put.clone(), with("exp", "99999999999999")),
        ("a higher limit", put.clone(), with("limit", "99999999999")),
        ("no limit", put.clone(), with("limit", "")),
        ("no signature", put.clone(), with("sig", "")),
        ("a signature of zeros", put.clone(), with("sig", &"0".repeat(64))),
        ("a signature cut short", put.clone(), address[..address.len() - 1].to_owned()),
        ("more behind it", put.clone(), format!("{address}&limit=99999999999")),
        ("more before it", put.clone(), format!("{path}?limit=99999999999&{terms}")),
        ("an encoded path upwards", put.clone(), format!("{}/%2e%2e%2fx?{terms}", last(path))),
        ("delete", Method::DELETE, address.to_owned()),
        ("post", Method::POST, address.to_owned()),
        ("patch", Method::PATCH, address.to_owned()),
    ]
}

#[tokio::test]
async fn a_presigned_url_opens_only_what_it_was_signed_for() {
    let app = TestApp::with(&[("storage.address_ttl_s", "10")]).await;
    let order = json!({"type": "html", "target": "html", "data": {}});
    let (job, other) = (app.init(order.clone()).await, app.init(order.clone()).await);
    let (url, other_url) = (job.template_url.unwrap(), other.template_url.unwrap());
    assert_eq!(app.put(&url, "<p>kept").await, 200);
    let mut outcomes = Vec::new();
    let mut tried = async |name: &str, method: Method, url: &str, code: &str| {
        let answer = app.client.request(method, url).body("<p>st0len").send().await.unwrap();
        let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
        let refused = matches!(status, 403..=405) && (code.is_empty() || text.contains(code));
        let leaks =
            (!refused || text.contains("kept")).then(|| format!("{status} {text}")).into_iter().collect();
        outcomes.push(Outcome {
            name: name.to_owned(),
            carrier: "a presigned address".to_owned(),
            leaks,
            messages: format!("{status}"),
        });
    };
    for (name, method, url) in altered(&url, &other_url) {
        tried(name, method, &url, "").await;
    }
    let view = app.finish(&job.id).await;
    tried("an upload after the start", Method::PUT, &url, "upload_closed").await;
    let output = view["output"]["data"]["url"].as_str().unwrap();
    tried("an upload by an output's address", Method::PUT, output, "address_invalid").await;
    tried("the output of another job", Method::GET, &output.replace(&job.id, &other.id), "address_invalid")
        .await;
    app.until("the address expires", async || {
        app.client.put(&other_url).send().await.unwrap().status() == 403
    })
    .await;
    tried("an address that has expired", Method::PUT, &other_url, "address_expired").await;
    let file = app.render("html", "<p>after", json!({})).await.1;
    assert_eq!(file, b"<p>after");
    report("suite C, presigned addresses", outcomes);
}
