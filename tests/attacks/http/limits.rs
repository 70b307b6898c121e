//! Heads and bodies that are too much: too long, too many, too deep. Each is refused by its own answer.

use std::time::Duration;

use serde_json::Value;

use super::raw::{End, exchange};
use super::{Described, NOBODY, code, described};
use crate::app::{PATIENCE, TestApp};

/// Small enough that a test sends more.
const JSON_LIMIT: usize = 64 * 1_024;

/// Longest answer to anything.
const ANSWER_LIMIT: usize = 16 * 1_024;

/// Heads with too much of one thing.
fn heads() -> Vec<(&'static str, String)> {
    let x = |count: usize| "x".repeat(count);
    let get = |lines: &str| format!("GET /health/live HTTP/1.1\r\nHost: x\r\n{lines}\r\n");
    vec![
        ("200 headers", get(&"x: y\r\n".repeat(200))),
        ("10,000 headers", get(&"x: y\r\n".repeat(10_000))),
        ("the longest name", get(&format!("{}: y\r\n", x(65_536)))),
        ("a longer name", get(&format!("{}: y\r\n", x(100_000)))),
        ("a name without an end", get(&x(200_000))),
        ("a value of 200 KB", get(&format!("x: {}\r\n", x(200_000)))),
        ("cookies of 200 KB", get(&format!("Cookie: {}\r\n", "a=b; ".repeat(40_000)))),
        ("a path of 70 KB", format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", x(70_000))),
        ("a path of 200 KB", format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", x(200_000))),
        ("a query of 70 KB", format!("GET /v1/jobs?{} HTTP/1.1\r\nHost: x\r\n\r\n", x(70_000))),
        ("a method of 200 KB", format!("{} / HTTP/1.1\r\nHost: x\r\n\r\n", x(200_000))),
    ]
}

#[actix::test]
async fn a_head_that_is_too_large_is_refused_by_an_answer() {
    let app = TestApp::on_disk(&[("log.filter", "warn,actix_http::h1=off")]).await;
    let before = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";
    let chunked = format!(
        "POST /v1/documents/init HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        app.token
    );
    for (what, head) in heads() {
        for first in ["", before, &chunked] {
            let sent = format!("{first}{head}");
            let answers = exchange(&app, &[sent.as_bytes()], End::Open, PATIENCE).await;
            let statuses = answers.statuses();
            assert_eq!(
                statuses.len(),
                1 + usize::from(!first.is_empty()),
                "{what} behind {first:?}: {statuses:?}"
            );
            assert_eq!(statuses.last(), Some(&400), "{what} behind {first:?}: {}", answers.text);
            assert!(answers.text.ends_with('}') && answers.is_closed, "{what}: {}", answers.text);
        }
    }
    // What is still read.
    let many =
        format!("GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}\r\n", "x: y\r\n".repeat(90));
    let long =
        format!("GET /health/live?{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "x".repeat(60_000));
    for head in [many, long] {
        assert_eq!(exchange(&app, &[head.as_bytes()], End::Open, PATIENCE).await.statuses(), [200]);
    }
    assert!(app.metric_of("process_resident_memory_bytes ").await < 400 << 20);
}

/// The beginning of a request with a body to this operation.
fn head_of(app: &TestApp, operation: &Described, framing: &str) -> String {
    let path = operation.path.replace("{jobId}", NOBODY).replace("{templateId}", NOBODY);
    let method = if operation.id == "updateTemplate" { "PUT" } else { "POST" };
    format!(
        "{method} /v1{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\n{framing}\r\n\r\n",
        app.token
    )
}

/// Bodies with the code that each is refused with, whatever the operation.
fn bodies() -> Vec<(&'static str, String, &'static str)> {
    let nested =
        |open: &str, close: &str, depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let member = |value: &str| format!(r#"{{"type": "html", "target": "html", "data": {value}}}"#);
    let many = (0..5_000).map(|number| format!(r#""{number}":{number},"#)).collect::<Vec<_>>().concat();
    vec![
        ("arrays 129 deep", member(&nested("[", "]", 128)), "malformed_json"),
        ("objects 129 deep", member(&nested(r#"{"a":"#, "}", 128)), "malformed_json"),
        ("arrays 5,000 deep", nested("[", "]", 5_000), "malformed_json"),
        ("only beginnings", "[".repeat(60_000), "malformed_json"),
        ("objects without an end", r#"{"a":"#.repeat(12_000), "malformed_json"),
        ("beginnings in a string", format!("{{\"type\": \"{}\", \"indexHtml\": 1}}", "[".repeat(60_000)), ""),
        ("a long wrong word", format!(r#"{{"type": "{}", "indexHtml": 1}}"#, "x".repeat(60_000)), ""),
        ("a long name", format!(r#"{{"{}": 1, "type": 1, "indexHtml": 1}}"#, "x".repeat(60_000)), ""),
        ("5,000 members", format!(r#"{{{many}"type": 1, "indexHtml": 1}}"#), ""),
        ("a NUL", "{\"type\": \"\0\"}".to_owned(), "malformed_json"),
        ("half a character", "{\"type\": \"\\ud800\", \"indexHtml\": \"\\ud800\"}".to_owned(), ""),
        ("a number without an end", format!(r#"{{"type": {}, "indexHtml": 1}}"#, "9".repeat(60_000)), ""),
        ("two documents", "{}{}".to_owned(), "malformed_json"),
        ("no object", "[1]".to_owned(), "malformed_json"),
        ("more than the limit", format!(r#"{{"a": "{}"}}"#, "x".repeat(JSON_LIMIT)), "payload_too_large"),
    ]
}

#[actix::test]
async fn a_body_that_is_too_deep_or_too_large_is_refused_by_every_operation() {
    let limit = JSON_LIMIT.to_string();
    let app = TestApp::on_disk(&[("http.json_limit_bytes", limit.as_str())]).await;
    let operations = described(&app).await;
    let with_body: Vec<_> = operations.iter().filter(|operation| operation.has_body).collect();
    assert!(with_body.len() > 5, "{}", with_body.len());
    for operation in with_body {
        for (what, body, expected) in bodies() {
            let counted =
                format!("{}{body}", head_of(&app, operation, &format!("Content-Length: {}", body.len())));
            let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
            let chunked = format!("{}{chunks}", head_of(&app, operation, "Transfer-Encoding: chunked"));
            for sent in [counted, chunked] {
                let begun = std::time::Instant::now();
                let answers = exchange(&app, &[sent.as_bytes()], End::Open, PATIENCE).await;
                let (_, problem) = answers.text.rsplit_once("\r\n\r\n").unwrap_or_default();
                let problem: Value = serde_json::from_str(problem).unwrap_or_default();
                let is_refused = answers.statuses().iter().all(|status| (400..500).contains(status));
                let is_named = expected.is_empty() || code(&problem) == expected;
                let shown: String = answers.text.chars().take(1_000).collect();
                assert!(
                    is_refused && is_named && !code(&problem).is_empty(),
                    "{}: {what}: {shown}",
                    operation.id
                );
                assert!(
                    answers.text.len() < ANSWER_LIMIT,
                    "{}: {what}: {} bytes",
                    operation.id,
                    answers.text.len()
                );
                assert!(begun.elapsed() < Duration::from_secs(10), "{}: {what}", operation.id);
            }
        }
        // Refused by what it declares, before anything of it has come.
        let declared = head_of(&app, operation, "Content-Length: 18446744073709551615");
        let answers = exchange(&app, &[declared.as_bytes()], End::Open, PATIENCE).await;
        assert_eq!(answers.statuses(), [413], "{}: {}", operation.id, answers.text);
    }
    assert_eq!(app.get("/v1/jobs").await.1["items"], serde_json::json!([]));
}
