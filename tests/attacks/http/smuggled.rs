//! Requests whose end can be understood in two ways, with a second request behind them that must never be executed.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::json;

use super::raw::{Answers, End, exchange};
use crate::app::{PATIENCE, TestApp};

/// A connection that stays open for so long without a word is kept for a further request.
const QUIET: Duration = Duration::from_secs(1);

/// Many requests by one token; those that are refused are not logged.
const SETTINGS: [(&str, &str); 2] =
    [("http.rate_burst_limit", "1000000"), ("log.filter", "warn,actix_http::h1=off")];

/// Connections at once.
const AT_ONCE: usize = 24;

/// Framings that no two programs may understand differently, so all of them are refused: lines of a head, and what is behind
/// the head. `CANARY` is the second request.
const REFUSED: &[(&str, &str, &str)] = &[
    ("a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\nCANARY"),
    ("chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\nCANARY"),
    ("two lengths", "Content-Length: 2\r\nContent-Length: 0", "{}CANARY"),
    ("one length twice", "Content-Length: 2\r\nContent-Length: 2", "{}CANARY"),
    ("a list of lengths", "Content-Length: 2, 2", "{}CANARY"),
    ("a length with a plus", "Content-Length: +2", "{}CANARY"),
    ("a length with a minus", "Content-Length: -2", "{}CANARY"),
    ("a hexadecimal length", "Content-Length: 0x2", "{}CANARY"),
    ("a length with an underscore", "Content-Length: 0_2", "{}CANARY"),
    ("a length in two words", "Content-Length: 2 0", "{}CANARY"),
    ("a length as a float", "Content-Length: 2.0", "{}CANARY"),
    ("a length beyond 64 bits", "Content-Length: 18446744073709551618", "{}CANARY"),
    ("an empty length", "Content-Length:", "{}CANARY"),
    ("a length with a space before its colon", "Content-Length : 2", "{}CANARY"),
    ("a folded length", "Content-Length:\r\n 2", "{}CANARY"),
    ("a folded line", "X: a\r\n Content-Length: 2", "{}CANARY"),
    ("a folded line by a tab", "X: a\r\n\tContent-Length: 2", "{}CANARY"),
    ("a line feed alone", "X: a\nContent-Length: 2", "{}CANARY"),
    ("a carriage return alone", "X: a\rContent-Length: 2", "{}CANARY"),
    ("a line feed alone at the end", "Content-Length: 2\r\n\n", "{}CANARY"),
    ("a NUL in a name", "Content-Length\0: 2", "{}CANARY"),
    ("a NUL in a value", "X: a\0b\r\nContent-Length: 2", "{}CANARY"),
    ("a NUL in a length", "Content-Length: 2\0", "{}CANARY"),
    ("an empty name", ": x\r\nContent-Length: 2", "{}CANARY"),
    ("a line without a colon", "Content-Length\r\nContent-Length: 2", "{}CANARY"),
    ("a name in quotes", "\"Content-Length\": 2", "{}CANARY"),
    ("two hosts", "Host: y\r\nContent-Length: 2", "{}CANARY"),
    ("chunks by another name", "Transfer-Encoding: xchunked", "0\r\n\r\nCANARY"),
    ("chunks and nothing", "Transfer-Encoding: chunked, identity", "0\r\n\r\nCANARY"),
    ("nothing and chunks", "Transfer-Encoding: identity, chunked", "0\r\n\r\nCANARY"),
    ("compressed chunks", "Transfer-Encoding: gzip, chunked", "0\r\n\r\nCANARY"),
    ("chunks with a parameter", "Transfer-Encoding: chunked;q=1", "0\r\n\r\nCANARY"),
    ("chunks in quotes", "Transfer-Encoding: \"chunked\"", "0\r\n\r\nCANARY"),
    ("chunks behind a vertical tab", "Transfer-Encoding: \u{b}chunked", "0\r\n\r\nCANARY"),
    ("chunks with a space before their colon", "Transfer-Encoding : chunked", "0\r\n\r\nCANARY"),
    ("chunks twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\nCANARY"),
    ("chunks and nothing twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "0\r\n\r\nCANARY"),
    ("no encoding", "Transfer-Encoding:", "0\r\n\r\nCANARY"),
    ("identity", "Transfer-Encoding: identity", "0\r\n\r\nCANARY"),
];

/// Chunks that are no chunks.
const CHUNKS: &[(&str, &str)] = &[
    ("a chunk with a plus", "+2\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk with a minus", "-2\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a hexadecimal chunk", "0x2\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk with an underscore", "0_2\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk in two words", "2 0\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk behind a space", " 2\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk without a size", "\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk of an extension alone", ";a=b\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk beyond 64 bits", "10000000000000002\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk that ends with a line feed alone", "2\n{}\n0\n\nCANARY"),
    ("a line feed in an extension", "2;a\nb\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk longer than its size", "1\r\n{}\r\n0\r\n\r\nCANARY"),
    ("a chunk without its end", "2\r\n{}0\r\n\r\nCANARY"),
    ("a chunk that ends with a carriage return alone", "2\r\n{}\r0\r\n\r\nCANARY"),
];

/// Requests whose first line or first header is none.
const STARTED: &[(&str, &str)] = &[
    ("a line feed alone in the first line", "POST /v1/documents/init HTTP/1.1\nHost: x\r\n\r\nCANARY"),
    ("only line feeds", "GET /health/live HTTP/1.1\nHost: x\n\nCANARY"),
    (
        "an early version with chunks",
        "POST /v1/jobs HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nCANARY",
    ),
    ("a later version", "GET /health/live HTTP/1.2\r\nHost: x\r\n\r\nCANARY"),
    ("the next version", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nCANARY"),
    ("no version", "GET /health/live\r\nHost: x\r\n\r\nCANARY"),
    ("no host", "GET /health/live HTTP/1.1\r\nX: y\r\n\r\nCANARY"),
    ("a NUL in the path", "GET /health/live\0 HTTP/1.1\r\nHost: x\r\n\r\nCANARY"),
    ("a space in the path", "GET /health/live x HTTP/1.1\r\nHost: x\r\n\r\nCANARY"),
    ("a line that is folded at once", "GET /health/live HTTP/1.1\r\n Host: x\r\nHost: x\r\n\r\nCANARY"),
];

/// Requests whose body nobody reads: lines of the head before the length, and the status.
const UNREAD: &[(&str, &str, u16)] = &[
    ("GET /v1/jobs", "", 200),
    ("GET /health/live", "", 200),
    ("GET /health/live", "Upgrade: websocket\r\nConnection: Upgrade\r\n", 200),
    ("GET /health/live", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n", 200),
    ("HEAD /v1/jobs", "", 200),
    ("POST /v1/nowhere", "", 404),
    ("POST /v1/nowhere", "Expect: 100-continue\r\n", 404),
    ("POST /v1/jobs", "", 405),
    ("DELETE /v1/jobs/x", "", 404),
    ("PATCH /v1/templates/x/unzip", "", 404),
    ("POST /v1/templates/x/clone", "Expect: 100-continue\r\n", 404),
    ("OPTIONS /v1/objects/x", "", 204),
    ("PUT /v1/objects/jobs/x", "", 403),
    ("PUT /v1/objects/jobs/x", "Expect: 100-continue\r\n", 403),
    ("GET /health/live", "Connection: close\r\n", 200),
];

/// What is sent before the request on the same connection.
const BEFORE: [(&str, &str); 3] = [
    ("first", ""),
    ("behind another", "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"),
    (
        "behind chunks",
        "POST /v1/documents/init HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\n{}\r\n0\r\n\r\n",
    ),
];

/// A request with the canary behind it or in it, and what it must be answered.
struct Case {
    name: String,
    request: String,
    /// The statuses that one of the answers may have; the last answer must have one of them.
    statuses: Vec<u16>,
    answers: usize,
    /// The service must close the connection at once.
    is_closed: bool,
}

/// A request that creates a job of this name, the trace that it was executed.
fn canary(app: &TestApp, name: usize) -> String {
    let body =
        json!({"type": "html", "target": "html", "formatOpts": {"fileName": format!("canary-{name}")}})
            .to_string();
    format!(
        "POST /v1/documents/init HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        app.token,
        body.len()
    )
}

/// The names of the canaries that were executed.
async fn executed(app: &TestApp) -> BTreeSet<String> {
    let (_, list) = app.get("/v1/jobs?limit=100").await;
    let names = list["items"].as_array().unwrap().iter().map(|job| job["formatOpts"]["fileName"].as_str());
    names.map(|name| name.unwrap_or("no canary").to_owned()).collect()
}

/// Sends each case in one piece, and in two that meet before the canary; those that were executed or answered otherwise.
async fn through(app: &TestApp, cases: &[Case]) -> Vec<String> {
    let numbered = cases.iter().flat_map(|case| [(case, false), (case, true)]).enumerate();
    let tried = stream::iter(numbered).map(|(number, (case, is_split))| async move {
        let canary = canary(app, number);
        let request = case.request.replace("TOKEN", &app.token).replace("LENGTH", &canary.len().to_string());
        let request = request.replace("HEX", &format!("{:x}", canary.len()));
        let (before, behind) = request.split_once("CANARY").unwrap();
        let behind = [&canary, behind].concat();
        let whole = [before, &behind].concat();
        let pieces =
            if is_split { vec![before.as_bytes(), behind.as_bytes()] } else { vec![whole.as_bytes()] };
        (number, case, exchange(app, &pieces, End::Open, QUIET).await)
    });
    let answered: Vec<(usize, &Case, Answers)> = tried.buffer_unordered(AT_ONCE).collect().await;
    let executed = executed(app).await;
    let wrong = answered.into_iter().filter_map(|(number, case, answers)| {
        let statuses = answers.statuses();
        let is_executed = executed.contains(&format!("canary-{number}"));
        let is_answered = statuses.last().is_some_and(|status| case.statuses.contains(status));
        let is_as_expected =
            is_answered && statuses.len() == case.answers && (answers.is_closed || !case.is_closed);
        let name = &case.name;
        let closed = answers.is_closed;
        (is_executed || !is_as_expected)
            .then(|| format!("{name}: executed: {is_executed}, {statuses:?}, closed: {closed}"))
    });
    wrong.collect()
}

fn post(lines: &str) -> String {
    format!("POST /v1/documents/init HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n{lines}\r\n\r\n")
}

#[actix::test]
async fn a_request_that_can_be_understood_in_two_ways_is_refused_with_all_behind_it() {
    let app = TestApp::on_disk(&SETTINGS).await;
    let framed = REFUSED.iter().map(|(what, lines, behind)| (*what, format!("{}{behind}", post(lines))));
    let chunked =
        CHUNKS.iter().map(|(what, body)| (*what, format!("{}{body}", post("Transfer-Encoding: chunked"))));
    let started = STARTED.iter().map(|(what, request)| (*what, (*request).to_owned()));
    let refused = framed.chain(chunked).chain(started).flat_map(|(what, request)| {
        BEFORE.map(|(place, before)| Case {
            name: format!("{what}, {place}"),
            request: format!("{before}{request}"),
            statuses: vec![400],
            answers: 1 + usize::from(!before.is_empty()),
            is_closed: true,
        })
    });
    let through = through(&app, &refused.collect::<Vec<_>>()).await;
    assert!(through.is_empty(), "{through:#?}");
}

#[actix::test]
async fn the_body_of_a_request_is_no_request_also_where_nobody_reads_it() {
    let app = TestApp::on_disk(&SETTINGS).await;
    let mut cases = Vec::new();
    for (first, lines, status) in UNREAD {
        for token in ["TOKEN", "wrong"] {
            let head = format!("{first} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{lines}");
            for request in [
                format!("{head}Content-Length: LENGTH\r\n\r\nCANARY"),
                format!("{head}Transfer-Encoding: chunked\r\n\r\nHEX\r\nCANARY\r\n0\r\n\r\n"),
            ] {
                let statuses = vec![*status, 401];
                cases.push(Case { name: request.clone(), request, statuses, answers: 1, is_closed: false });
            }
        }
    }
    // Trailers that another program may take for the end.
    let trailers = format!("{}0\r\nX: y\n\nCANARY\r\n\r\n", post("Transfer-Encoding: chunked"));
    // They end where the canary's head does; its body is no request.
    cases.push(Case {
        name: "trailers".to_owned(),
        request: trailers,
        statuses: vec![400],
        answers: 2,
        is_closed: true,
    });
    let last = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nCANARY".to_owned();
    cases.push(Case {
        name: "the last one".to_owned(),
        request: last,
        statuses: vec![200],
        answers: 1,
        is_closed: true,
    });
    let through = through(&app, &cases).await;
    assert!(through.is_empty(), "{through:#?}");
    // Uploads that declare too few bytes: a published client sends such.
    for body in
        ["Content-Length: 2\r\n\r\n{}CANARY", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nCANARY"]
    {
        let job =
            app.init(json!({"type": "html", "target": "html", "formatOpts": {"fileName": "upload"}})).await;
        let path = job.data_url.unwrap().replace(&app.base, "");
        let request = format!("PUT {path} HTTP/1.1\r\nHost: x\r\n{body}").replace("CANARY", &canary(&app, 0));
        let answers = exchange(&app, &[request.as_bytes()], End::Open, PATIENCE).await;
        assert_eq!((answers.statuses(), answers.is_closed), (vec![200], true), "{body}");
        assert_eq!(executed(&app).await, BTreeSet::from(["upload".to_owned()]), "{body}");
    }
}

#[actix::test]
async fn a_second_request_on_a_connection_is_executed_when_the_first_one_is_clear() {
    let app = TestApp::on_disk(&[]).await;
    for (number, (place, before)) in BEFORE.iter().enumerate() {
        let lines = "Content-Length: 2\r\nX-Empty:\r\nX-Utf8: \u{e4}";
        let request =
            format!("{before}{}{{}}{}", post(lines), canary(&app, number)).replace("TOKEN", &app.token);
        let answers = exchange(&app, &[request.as_bytes()], End::Open, QUIET).await;
        let statuses = answers.statuses();
        assert_eq!(executed(&app).await.len(), number + 1, "{place}: {statuses:?}");
        assert_eq!(
            (statuses.len(), statuses.last()),
            (2 + usize::from(!before.is_empty()), Some(&200)),
            "{place}"
        );
    }
}
