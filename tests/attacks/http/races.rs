//! Operations on one job at the same moment: whichever comes first, exactly one wins, no document is lost, and the account
//! is charged for the documents that there are.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{code, documents_used, stored};
use crate::app::TestApp;

/// Jobs that got their turn.
const DISPATCHED: &str = r#"platen_step_seconds_count{step="queue"}"#;

/// Operations as far from each other as this run one after the other: the first has its answer before the second begins.
pub const APART: i32 = 1_000;

/// Runs both, the second so many steps of 200 µs after the first; a negative number is its lead.
pub async fn together<A, B>(
    steps: i32,
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    if steps == APART {
        return (first.await, second.await);
    }
    if steps == -APART {
        let second = second.await;
        return (first.await, second);
    }
    let first = async {
        stagger(-steps).await;
        first.await
    };
    let second = async {
        stagger(steps).await;
        second.await
    };
    tokio::join!(first, second)
}

/// Nothing is waited for: this is where in the other operation one begins.
async fn stagger(steps: i32) {
    let steps = u32::try_from(steps).unwrap_or(0);
    tokio::time::sleep_until(Instant::now() + Duration::from_micros(200) * steps).await;
}

async fn start(app: &TestApp, job: &str) -> (u16, Value) {
    app.post(&format!("/v1/documents/{job}/render"), &json!({})).await
}

async fn delete(app: &TestApp, job: &str) -> (u16, Value) {
    crate::app::read(app.request(Method::DELETE, &format!("/v1/jobs/{job}")).send().await.unwrap()).await
}

/// The document of a job's view.
async fn document(app: &TestApp, view: &Value) -> String {
    let url = view["output"]["data"]["url"].as_str().unwrap_or_else(|| panic!("no document: {view}"));
    let answer = app.client.get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{view}");
    answer.text().await.unwrap()
}

/// Documents charged and files kept are as many as there are documents.
async fn assert_counted(app: &TestApp, documents: usize) {
    app.until("each document is counted once, and nothing else is kept", async || {
        (documents_used(app), stored(app, "outputs"), stored(app, "jobs")) == (documents, documents, 0)
    })
    .await;
}

#[actix::test]
async fn of_many_starts_at_once_one_starts_the_job() {
    const JOBS: usize = 12;
    // Hardly more places in the queue than starts at once: those that do not start it give theirs back.
    let app = TestApp::on_disk(&[("jobs.queue_account_limit", "8")]).await;
    let before = app.metric_of(DISPATCHED).await;
    for _ in 0..JOBS {
        let job = app.prepared("html", "<p>once", json!({})).await;
        let answers = join_all((0..6).map(|_| start(&app, &job))).await;
        for (status, answer) in &answers {
            assert!(matches!(status, 200 | 202) && answer["jobId"] == job.as_str(), "{answers:?}");
        }
        assert_eq!(document(&app, &app.ended(&job).await).await, "<p>once");
    }
    assert_eq!(app.metric_of(DISPATCHED).await - before, JOBS as u64);
    assert_counted(&app, JOBS).await;
}

#[actix::test]
async fn an_upload_beside_a_start_is_in_the_document_or_refused() {
    let app = TestApp::on_disk(&[]).await;
    let (mut outcomes, mut documents) = (BTreeSet::new(), 0);
    // The outermost pairs are one after the other.
    for steps in [-APART, -16, -12, -8, -4, -2, -1, 0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 20, APART] {
        let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
        let url = job.template_url.unwrap();
        assert_eq!(app.put(&url, "<p>early").await, 200);
        // In two pieces, the second after a moment: the start falls before, between or behind them.
        let pieces = futures_util::stream::unfold(Some("<p>la"), |piece| async move {
            let piece = piece?;
            if piece == "te" {
                stagger(10).await;
            }
            Some((Ok::<_, std::io::Error>(piece), (piece == "<p>la").then_some("te")))
        });
        let upload = async {
            let answer = app.client.put(&url).body(Body::wrap_stream(pieces)).send().await.unwrap();
            crate::app::read(answer).await
        };
        let ((started, _), (uploaded, answer)) = together(steps, start(&app, &job.id), upload).await;
        assert!(matches!(started, 200 | 202), "{started}");
        let shown = document(&app, &app.ended(&job.id).await).await;
        documents += 1;
        match uploaded {
            200 => assert_eq!(shown, "<p>late", "what was acknowledged is in the document"),
            _ => assert_eq!((uploaded, code(&answer), shown.as_str()), (403, "upload_closed", "<p>early")),
        }
        outcomes.insert(uploaded);
    }
    assert_eq!(outcomes, BTreeSet::from([200, 403]), "both orders were had");
    assert_counted(&app, documents).await;
}

#[actix::test]
async fn a_job_that_is_cancelled_when_it_ends_has_one_end() {
    let app = TestApp::on_disk(&[]).await;
    let (mut documents, mut erased, mut codes) = (0, 0, BTreeSet::new());
    for steps in [-APART, -8, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, APART] {
        let job = app.prepared("html", "<p><%= 1 %>", json!({})).await;
        // Two callers at once.
        let cancels = async { tokio::join!(delete(&app, &job), delete(&app, &job)) };
        let render = async {
            let started = start(&app, &job).await;
            if steps == APART {
                app.ended(&job).await;
            }
            started
        };
        let ((started, _), cancels) = together(steps, render, cancels).await;
        assert!(matches!(started, 200 | 202 | 404), "{started}");
        let (first, second) = cancels;
        let view = app.get(&format!("/v1/jobs/{job}")).await;
        for (status, answer) in [first, second] {
            match status {
                200 => assert_eq!(answer["status"], "done", "{answer}"),
                204 => assert_eq!(view.0, 404, "{}", view.1),
                _ => assert_eq!((status, code(&answer)), (404, "job_not_found")),
            }
        }
        match view {
            (200, view) if view["success"] == true => {
                assert_eq!(document(&app, &view).await, "<p>1");
                documents += 1;
            }
            (200, view) => {
                assert_eq!((&view["errorCode"], &view["output"]), (&json!("cancelled"), &Value::Null));
            }
            (status, _) => {
                assert_eq!(status, 404);
                erased += 1;
            }
        }
        codes.insert(view_code(&app, &job).await);
    }
    assert!(
        codes.contains("cancelled") && codes.contains("job_not_found"),
        "both orders were had: {codes:?}"
    );
    // What is erased was made.
    app.until("each document is counted once", async || documents_used(&app) == documents + erased).await;
    app.until("nothing else is kept", async || {
        (stored(&app, "outputs"), stored(&app, "jobs")) == (documents, 0)
    })
    .await;
}

/// How a job ended.
async fn view_code(app: &TestApp, job: &str) -> String {
    let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
    view["errorCode"].as_str().map_or_else(|| code(&view).to_owned(), str::to_owned)
}
