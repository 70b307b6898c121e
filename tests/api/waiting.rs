//! Waiting: ten thousand clients at once, and clients that go away.

use std::collections::HashSet;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use platen::clock::{Clock as _, SystemClock};
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::app::{PATIENCE, TestApp};

/// As many as are specified to be answered within a second.
const CLIENTS: usize = 10_000;
/// Clients that disconnect before the job ends.
const LEAVING: usize = 2_000;
/// Descriptors that the test and the service need for other things.
const OTHER_FILES: u64 = 1_100;
/// What the service itself may take while they wait; Chromium is not counted.
const MEMORY_LIMIT_KB: u64 = 500 * 1_024;

#[tokio::test]
async fn ten_thousand_waiting_requests_are_answered_at_once_and_closed_ones_are_dropped() {
    let (count, leaving) = clients();
    let app = TestApp::with(&[
        ("http.wait_limit_s", "600"),
        ("http.rate_burst_limit", "100000"),
        ("jobs.initialized_idle_s", "3600"),
        // They come as fast as a machine can send, and it may be busy with something else.
        ("jobs.mailbox_limit", "20000"),
        ("accounts.mailbox_limit", "20000"),
    ])
    .await;
    let job = app.prepared("html", "<p>page</p>", json!({})).await;
    let mut waiting = Vec::new();
    for _ in 0..count + leaving {
        waiting.push(wait_for(&app, &job).await);
    }
    app.until("every client's request has been read", async || waiting_requests(&app).await).await;
    let memory_kb = resident_kb(app.pid());
    assert!(memory_kb < MEMORY_LIMIT_KB, "the service takes {memory_kb} KB with {} waiting", waiting.len());

    let (gone, kept) = (ports(&waiting[count..]), ports(&waiting[..count]));
    app.until("all of them wait", async || {
        held(&app, &kept).await == count && held(&app, &gone).await == leaving
    })
    .await;
    let left_at = std::time::Instant::now();
    waiting.truncate(count);
    app.until("those who left are let go", async || held(&app, &gone).await == 0).await;
    let let_go_ms = left_at.elapsed().as_millis();
    app.until("the others wait on", async || held(&app, &kept).await == count).await;

    let mut answers: JoinSet<_> = waiting.into_iter().map(answer_of).collect();
    let view = app.finish(&job).await;
    let ended = OffsetDateTime::parse(view["finishedAt"].as_str().unwrap(), &Rfc3339).unwrap();
    let ended_ms = u64::try_from(ended.unix_timestamp_nanos() / 1_000_000).unwrap();
    let (mut answered, mut last_ms) = (0, ended_ms);
    while let Some(answer) = answers.join_next().await {
        let (text, at_ms) = answer.unwrap();
        assert!(text.starts_with("HTTP/1.1 200") && text.contains("\"status\":\"done\""), "{text}");
        (answered, last_ms) = (answered + 1, last_ms.max(at_ms));
    }
    assert_eq!(answered, count, "each of them is answered");
    let woken_ms = last_ms - ended_ms;
    println!(
        "{count} clients waited in {memory_kb} KB; {leaving} left and were let go in {let_go_ms} ms; the last was woken {woken_ms} ms after the end"
    );
    assert!(u128::from(woken_ms) < PATIENCE.as_millis() / 2, "the last one was woken after {woken_ms} ms");
}

/// How many clients wait, and how many more disconnect: fewer where the system's limit of open files is lower.
fn clients() -> (usize, usize) {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    // Three quarters are for connections.
    let most = usize::try_from(hard.saturating_sub(OTHER_FILES) / 4 * 3).unwrap_or(usize::MAX);
    if most >= CLIENTS + LEAVING {
        return (CLIENTS, LEAVING);
    }
    (most - most / 6, most / 6)
}

/// Reads until the service closes; the answer and when it was there.
async fn answer_of(mut client: TcpStream) -> (String, u64) {
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE * 2, client.read_to_string(&mut answer)).await.unwrap().unwrap();
    (answer, SystemClock.now().0)
}

fn ports(clients: &[TcpStream]) -> HashSet<u16> {
    clients.iter().map(|client| client.local_addr().unwrap().port()).collect()
}

#[tokio::test]
async fn a_wait_ends_with_the_present_view_when_its_time_is_over() {
    let app = TestApp::with(&[("http.wait_limit_s", "1"), ("http.wait_default_s", "1")]).await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let path = format!("/jobs/{}", job.id);
    let started = std::time::Instant::now();
    // `Preference-Applied` names the wait that was applied; the query takes precedence over `Prefer`.
    for (query, prefer, applied) in [
        ("?wait=600", "", None),
        ("?a=b&wait=0.5", "wait=0", None),
        ("?wait=", "wait=0", Some("wait=0")),
        ("", "wait=600", Some("wait=1")),
        ("", "wait=0", Some("wait=0")),
        ("?wait=0", "wait=600", None),
        ("", "wait=soon", None),
    ] {
        let request = app.request(reqwest::Method::GET, &format!("{path}{query}")).header("prefer", prefer);
        let answer = request.send().await.unwrap();
        let header =
            answer.headers().get("preference-applied").map(|header| header.to_str().unwrap().to_owned());
        let (status, view) = crate::app::read(answer).await;
        assert_eq!((status, &view["status"]), (200, &json!("initialized")));
        assert_eq!(header.as_deref(), applied, "{query} {prefer}");
    }
    assert!(started.elapsed() >= Duration::from_millis(2_900), "half a second counts as a whole one");
}

#[tokio::test]
async fn a_stopping_service_answers_waiting_requests() {
    let mut app = TestApp::start().await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let mut client = wait_for(&app, &job.id).await;
    app.until("the request has been read", async || waiting_requests(&app).await).await;
    app.stop();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("initialized"), "{answer}");
}

/// A polling client can ask again; an immediate render delivers the document in its one answer or never.
#[tokio::test]
async fn a_stopping_service_delivers_documents_that_requests_wait_for() {
    let mut app = TestApp::with(&[("jobs.concurrency", "1")]).await;
    let idle = app.init(json!({"type": "html", "target": "pdf"})).await;
    let render = json!({"type": "html", "target": "pdf", "template": "<p>1</p>", "formatOpts": {"waitForTimeout": 3000}});
    let immediate = |app: &TestApp| {
        let request =
            app.request(reqwest::Method::POST, "/v1/documents/immediate-render").body(render.to_string());
        tokio::spawn(async move { crate::app::read(request.send().await.unwrap()).await })
    };
    let made = immediate(&app);
    app.until("it runs", async || has_running(&app).await).await;
    let queued = immediate(&app);
    let mut poll = wait_for(&app, &idle.id).await;
    app.until("the other one waits", async || {
        app.get("/v1/jobs?status=in-progress").await.1["items"].as_array().unwrap().len() == 2
    })
    .await;
    let pid = nix::unistd::Pid::from_raw(i32::try_from(app.pid()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();

    let mut answer = String::new();
    poll.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("initialized"), "{answer}");
    assert!(!made.is_finished(), "a long-poll is answered at once");
    let (status, body) = made.await.unwrap();
    assert_eq!((status, &body["output"]["metadata"]["pages"]), (200, &json!(1)), "{body}");
    let (status, body) = queued.await.unwrap();
    assert_eq!((status, body["code"].as_str()), (422, Some("render_pending")), "{body}");
    assert!(body["detail"].as_str().unwrap().starts_with("The service is stopping"), "{body}");
    app.stop();
}

/// For jobs that do not end in time, the service answers that before it stops.
#[tokio::test]
async fn a_stopping_service_answers_waiting_requests_before_its_own_deadline() {
    let mut app = TestApp::with(&[("http.shutdown_grace_s", "3"), ("browser.wait_limit_ms", "20000")]).await;
    let render = json!({"type": "html", "target": "pdf", "template": "<p>1</p>", "formatOpts": {"waitForTimeout": 20000}});
    let request =
        app.request(reqwest::Method::POST, "/v1/documents/immediate-render").body(render.to_string());
    let made = tokio::spawn(async move { crate::app::read(request.send().await.unwrap()).await });
    app.until("it runs", async || has_running(&app).await).await;
    let stopped = std::time::Instant::now();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(app.pid()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let (status, body) = made.await.unwrap();
    let waited_ms = stopped.elapsed().as_millis();
    assert_eq!((status, body["code"].as_str()), (422, Some("render_pending")), "{body}");
    assert!(body["detail"].as_str().unwrap().starts_with("The service is stopping"), "{body}");
    assert!(waited_ms >= 1_900, "answered after {waited_ms} ms, with time left to be done in");
    app.stop();
}

/// Whether a job has begun to run.
async fn has_running(app: &TestApp) -> bool {
    let url = format!("{}/metrics", app.base);
    let text = app.client.get(url).send().await.unwrap().text().await.unwrap();
    text.lines().any(|line| line == "platen_jobs_running 1")
}

async fn wait_for(app: &TestApp, job: &str) -> TcpStream {
    let address = app.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let token = &app.token;
    let request = format!(
        "GET /v1/jobs/{job}?wait=600 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Whether no byte waits in the receive queues of the service's connections.
async fn waiting_requests(app: &TestApp) -> bool {
    connections(app).await.iter().all(|connection| connection.unread == 0)
}

/// How many of the clients at these ports the service still has a connection for.
async fn held(app: &TestApp, clients: &HashSet<u16>) -> usize {
    // A table that is read while connections end may show one twice, or not at all.
    let held: HashSet<_> = connections(app).await.into_iter().map(|connection| connection.client).collect();
    held.intersection(clients).count()
}

/// A connection on the service's side.
struct Connection {
    client: u16,
    unread: u64,
}

async fn connections(app: &TestApp) -> Vec<Connection> {
    let port: u16 = app.base.rsplit_once(':').unwrap().1.parse().unwrap();
    let number = |text: &str| u64::from_str_radix(text.rsplit_once(':').unwrap().1, 16).unwrap();
    let table = tokio::fs::read_to_string("/proc/net/tcp").await.unwrap();
    table
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        // 0A is the listener; 06 is TIME_WAIT, whose inode number may belong to another socket by now.
        .filter(|fields| number(fields[1]) == u64::from(port) && !matches!(fields[3], "0A" | "06"))
        .map(|fields| Connection {
            client: u16::try_from(number(fields[2])).unwrap(),
            unread: number(fields[4]),
        })
        .collect()
}

fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
