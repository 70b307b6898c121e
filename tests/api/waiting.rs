//! Waiting: a thousand clients at once, and clients that go away.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::app::{PATIENCE, TestApp};

const CLIENTS: usize = 1_000;
/// What the service itself may take while they wait; Chromium is not counted.
const MEMORY_LIMIT_KB: u64 = 200 * 1_024;

#[tokio::test]
async fn a_thousand_clients_wait_in_little_memory_and_all_are_answered() {
    let app = TestApp::start().await;
    let job = app.prepared("html", "<p>page</p>", json!({})).await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(wait_for(&app, &job).await);
    }
    app.until("every client's request has been read", async || waiting_requests(&app).await).await;
    let memory_kb = resident_kb(app.pid());
    assert!(memory_kb < MEMORY_LIMIT_KB, "the service takes {memory_kb} KB with {CLIENTS} clients waiting");
    app.finish(&job).await;
    for mut client in clients {
        let mut answer = Vec::new();
        tokio::time::timeout(PATIENCE, client.read_to_end(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"status\":\"done\""), "{answer}");
    }
}

#[tokio::test]
async fn a_wait_ends_with_the_present_view_when_its_time_is_over() {
    let app = TestApp::start().await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let started = std::time::Instant::now();
    let (status, view) = app.get(&format!("/jobs/{}?wait=1", job.id)).await;
    assert_eq!((status, &view["status"]), (200, &json!("initialized")));
    assert!(started.elapsed() >= Duration::from_millis(900));
}

#[tokio::test]
async fn a_stopping_service_answers_those_who_wait() {
    let mut app = TestApp::start().await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let mut client = wait_for(&app, &job.id).await;
    app.until("the request has been read", async || waiting_requests(&app).await).await;
    app.stop();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("initialized"), "{answer}");
}

async fn wait_for(app: &TestApp, job: &str) -> TcpStream {
    let address = app.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let token = &app.token;
    let request = format!(
        "GET /v1/jobs/{job}?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Whether no byte waits in the receive queues of the service's connections.
async fn waiting_requests(app: &TestApp) -> bool {
    let port: u16 = app.base.rsplit_once(':').unwrap().1.parse().unwrap();
    let table = tokio::fs::read_to_string("/proc/net/tcp").await.unwrap();
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<_> = line.split_whitespace().collect();
            let local = u16::from_str_radix(fields[1].rsplit_once(':')?.1, 16).ok()?;
            let unread = u64::from_str_radix(fields[4].rsplit_once(':')?.1, 16).ok()?;
            (local == port && fields[3] == "01").then_some(unread)
        })
        .all(|unread| unread == 0)
}

fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
