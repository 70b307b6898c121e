//! Requests that end anywhere: cut at each byte and then half closed or reset, they do nothing and leave nothing, and the
//! whole request is answered right afterwards.

use std::time::Duration;

use futures_util::future::ready;
use futures_util::{StreamExt as _, stream};
use serde_json::json;

use super::cut_samples::{Fixture, Sample};
use super::raw::{End, exchange};
use super::{assert_all_tried, described, stored};
use crate::app::{PATIENCE, TestApp};

/// Few permits of each kind, so that those which a cut request keeps are missed by the next ones.
const SETTINGS: [(&str, &str); 4] = [
    ("jobs.mailbox_limit", "32"),
    ("accounts.mailbox_limit", "32"),
    ("http.connection_limit", "64"),
    ("http.rate_burst_limit", "1000000"),
];

/// Cut requests at once; fewer than there are permits.
const AT_ONCE: usize = 12;

/// What is zero while nothing is sent.
const GAUGES: [&str; 3] = ["platen_http_body_bytes ", "platen_queue_jobs ", "platen_jobs_running "];

/// Longest time until the service has let go of a client that is gone; much shorter than a long-poll.
const SOON: Duration = Duration::from_secs(20);

/// Everything that a request can change: jobs, templates, files, what the account is charged.
async fn seen(app: &TestApp, fixture: &Fixture) -> String {
    let (_, jobs) = app.get("/v1/jobs?limit=100").await;
    let jobs = jobs["items"].as_array().unwrap().iter();
    let jobs: Vec<_> =
        jobs.map(|job| format!("{} {} {}", job["jobId"], job["status"], job["errorCode"])).collect();
    let (_, templates) = app.get("/v1/templates?limit=100").await;
    let templates = templates["items"].as_array().unwrap().iter();
    let templates: Vec<_> =
        templates.map(|template| format!("{} {}", template["uuid"], template["updatedAt"])).collect();
    let mut drafts = Vec::new();
    for id in [&fixture.begun, &fixture.draft.0, &fixture.content.0] {
        let (status, text) = app.get(&format!("/v1/templates/{id}/index-html")).await;
        drafts.push(format!("{status} {}", text["indexHtml"]));
    }
    let files = ["jobs", "outputs", "templates", "unfinished", ".staging"]
        .map(|folder| (folder, stored(app, folder)));
    let account = app.command(&["account", "list"]);
    format!("{jobs:#?}\n{templates:#?}\n{drafts:#?}\n{files:?}\n{account}")
}

/// Connections and open files of the service.
async fn held(app: &TestApp) -> (u64, u64) {
    (app.metric_of("platen_http_connections ").await, app.metric_of("process_open_fds ").await)
}

/// Waits until the service holds nothing more than before, neither for clients that are gone nor for jobs of theirs.
async fn until_let_go(app: &TestApp, before: (u64, u64)) {
    const OTHER_FILES: u64 = 2;
    app.until("connections and files are let go", async || {
        let (connections, files) = held(app).await;
        connections <= before.0 && files <= before.1 + OTHER_FILES
    })
    .await;
    for gauge in GAUGES {
        app.until(gauge, async || app.metric_of(gauge).await == 0).await;
    }
    app.until("no upload is staged", async || stored(app, ".staging") == 0).await;
}

/// Sends the request up to each of its cuts; the answers that are no refusal of the caller's mistake.
async fn cut(app: &TestApp, sample: &Sample) -> Vec<String> {
    let cuts = sample.cuts();
    let ends = [End::HalfClosed, End::Reset];
    let sent = stream::iter(cuts.into_iter().flat_map(|at| ends.map(|end| (at, end))));
    let wrong = sent.map(|(at, end)| async move {
        let begun = std::time::Instant::now();
        let answers = exchange(app, &[&sample.bytes[..at]], end, PATIENCE).await;
        let is_refused = answers.statuses().iter().all(|status| (400..500).contains(status));
        let is_late = begun.elapsed() > SOON;
        let where_cut = format!("{} cut at {at} of {} ({end:?})", sample.name, sample.bytes.len());
        (!is_refused || is_late).then(|| format!("{where_cut}: {:?}", answers.text))
    });
    wrong.buffer_unordered(AT_ONCE).filter_map(ready).collect().await
}

#[actix::test]
async fn a_request_that_is_cut_anywhere_does_nothing_and_leaves_nothing() {
    let app = TestApp::on_disk(&SETTINGS).await;
    let fixture = Fixture::build(&app).await;
    let samples = fixture.samples(&app);
    assert_all_tried(&described(&app).await, |_| true, samples.iter().map(|sample| sample.name));
    let mut connections = 0;
    for sample in &samples {
        let before = seen(&app, &fixture).await;
        let held_before = held(&app).await;
        let wrong = cut(&app, sample).await;
        assert!(wrong.is_empty(), "{wrong:#?}");
        connections += 2 * sample.cuts().len();
        until_let_go(&app, held_before).await;
        assert_eq!(seen(&app, &fixture).await, before, "{} was done though it was cut", sample.name);
        let whole = exchange(&app, &[&sample.bytes], End::Open, PATIENCE).await;
        assert_eq!(whole.statuses(), [sample.status], "{}: {}", sample.name, whole.text);
    }
    println!("{} requests, {connections} connections", samples.len());
}

#[actix::test]
async fn clients_that_leave_before_their_answer_leave_nothing_half_done() {
    const CLIENTS: usize = 30;
    let app = TestApp::on_disk(&SETTINGS).await;
    let fixture = Fixture::build(&app).await;
    let waiting = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
    let poll = format!("/v1/jobs/{}?wait=60", waiting.id);
    let poll =
        format!("GET {poll} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", app.token).into_bytes();
    let samples = fixture.samples(&app);
    let request = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap().bytes.clone();
    let held_before = held(&app).await;
    for bytes in [
        poll,
        request("download"),
        request("getJob"),
        request("initDocument"),
        request("immediateRender"),
        request("immediateRender by a form"),
        request("initTemplate"),
        request("upload of content"),
        request("getTemplateArchive"),
        half_an_upload(&fixture.template_url.replace(&app.base, "")),
    ] {
        for end in [End::Reset, End::HalfClosed] {
            let pieces = [&bytes[..]];
            let clients = stream::iter(0..CLIENTS).map(|_| exchange(&app, &pieces, end, PATIENCE));
            let answers: Vec<_> = clients.buffer_unordered(AT_ONCE).collect().await;
            let is_fault =
                |answers: &super::raw::Answers| answers.statuses().iter().any(|status| *status >= 500);
            assert!(!answers.iter().any(is_fault), "{answers:?}");
        }
    }
    let begun = std::time::Instant::now();
    until_let_go(&app, held_before).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    // Each request was done or was not: what was begun ends, and counts for what it is.
    app.until("all jobs that were started have ended", async || {
        app.get("/v1/jobs?status=in-progress").await.1["items"] == json!([])
    })
    .await;
    let mut initialized = 0;
    let mut documents = 0;
    let mut cursor = String::new();
    loop {
        let (_, list) = app.get(&format!("/v1/jobs?limit=100{cursor}")).await;
        for job in list["items"].as_array().unwrap() {
            match (job["status"].as_str(), job["success"].as_bool()) {
                (Some("initialized"), None) => initialized += 1,
                // Previews count nothing, and keep their documents.
                (Some("done"), Some(true)) => documents += usize::from(job["target"] == "html"),
                _ => panic!("{job}"),
            }
        }
        let Some(next) = list["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let account = app.command(&["account", "list"]);
    for part in [format!("documents={}/", documents + initialized), format!("open-jobs={initialized}/")] {
        assert!(account.contains(&part), "{part} is not in {account}");
    }
}

/// Enough of an upload that it is in a file already.
fn half_an_upload(path: &str) -> Vec<u8> {
    let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 800000\r\n\r\n");
    [head.as_bytes(), &vec![b'x'; 400_000]].concat()
}
