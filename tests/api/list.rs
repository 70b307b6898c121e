//! Lists of jobs: pages, filters, current states, and no jobs of other accounts.

use std::time::Duration;

use serde_json::{Value, json};

use crate::app::TestApp;

const ENDLESS: &str = "<script>setInterval(() => document.body.append('x'), 20)</script>";

/// The ids of all pages of a list, and how many pages those were.
async fn all(app: &TestApp, query: &str) -> (Vec<String>, usize) {
    let (mut ids, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let (status, page) = app.get(&format!("/v1/jobs?{query}&cursor={cursor}")).await;
        assert_eq!(status, 200, "{page}");
        ids.extend(page["items"].as_array().unwrap().iter().map(id));
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return (ids, pages),
        }
    }
}

fn id(item: &Value) -> String {
    item["jobId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_job_is_on_one_page_newest_first_and_filtered_pages_are_bounded() {
    let mut app = TestApp::with(&[("jobs.list_scan_limit", "100")]).await;
    let rare = app.init(json!({"type": "ejs", "target": "png"})).await.id;
    let mut made = vec![rare.clone()];
    for _ in 0..230 {
        made.insert(0, app.init(json!({"type": "html", "target": "pdf"})).await.id);
    }
    assert_eq!(all(&app, "limit=100").await, (made.clone(), 3));
    assert_eq!(all(&app, "limit=77").await, (made.clone(), 3));
    assert_eq!(all(&app, "").await, (made.clone(), 12), "20 a page");
    // 231 records, 100 a request: the one that is looked for is in the third hundred.
    assert_eq!(all(&app, "target=png").await, (vec![rare.clone()], 3));
    assert_eq!(all(&app, "type=ejs&status=initialized").await, (vec![rare.clone()], 3));
    let (_, first) = app.get("/v1/jobs?target=png").await;
    assert_eq!((&first["items"], first["nextCursor"].is_string()), (&json!([]), true));
    // A job made meanwhile moves no page.
    let (_, page) = app.get("/v1/jobs?limit=100").await;
    let newer = app.init(json!({"type": "html", "target": "pdf"})).await.id;
    let (_, second) =
        app.get(&format!("/v1/jobs?limit=1&cursor={}", page["nextCursor"].as_str().unwrap())).await;
    assert_eq!(id(&second["items"][0]), made[100]);
    made.insert(0, newer);
    app.kill();
    app.launch();
    assert_eq!(all(&app, "limit=100").await, (made, 3), "and after a crash");
}

#[tokio::test]
async fn an_item_is_the_job_as_it_is_now() {
    let app = TestApp::with(&[("browser.rest_cap_ms", "4000")]).await;
    let waiting = app.init(json!({"type": "html", "target": "pdf"})).await.id;
    let running = app.prepared("pdf", ENDLESS, json!({})).await;
    app.post(&format!("/v1/documents/{running}/render"), &json!({})).await;
    let (_, page) = app.get("/v1/jobs?status=in-progress").await;
    let item = &page["items"][0];
    assert_eq!((id(item), page["items"].as_array().unwrap().len()), (running.clone(), 1), "{page}");
    assert!(item["startedAt"].is_string() && item["success"].is_null() && item["finishedAt"].is_null());
    let view = app.ended(&running).await;
    let (_, page) = app.get("/v1/jobs?status=done&success=true&type=html&target=pdf").await;
    let mut item = page["items"][0].clone();
    assert_eq!(item["output"]["metadata"], view["output"]["metadata"]);
    let file = app.client.get(item["output"]["data"]["url"].as_str().unwrap()).send().await.unwrap();
    assert!(file.bytes().await.unwrap().starts_with(b"%PDF-"));
    // Its address was minted when it was answered; everything else is the view.
    item["output"] = view["output"].clone();
    assert_eq!(item, view);
    let (failed, _) = app.render("html", "<%= missing %>", json!({})).await;
    assert_eq!(all(&app, "success=false").await.0, [id(&failed)]);
    assert_eq!(all(&app, "status=initialized").await.0, std::slice::from_ref(&waiting));
    assert_eq!(all(&app, "").await.0, [id(&failed), running, waiting]);
}

/// A job whose end a caller has seen is never listed as running, however fast jobs start and end.
#[tokio::test]
async fn a_list_is_never_behind_an_answer() {
    let app = TestApp::start().await;
    let body = json!({"type": "html", "target": "html", "template": "<p>1</p>"});
    let client = async |app: &TestApp| {
        for _ in 0..25 {
            let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
            assert_eq!(status, 200, "{answer}");
            let url = answer["url"].as_str().unwrap();
            let (_, page) = app.get("/v1/jobs?limit=100&success=true").await;
            let items = page["items"].as_array().unwrap();
            let shown = items.iter().any(|item| url.contains(&id(item)));
            assert!(shown, "the list lacks a job that is done: {url}");
        }
    };
    tokio::join!(client(&app), client(&app), client(&app));
    assert_eq!(all(&app, "success=true&limit=100").await.0.len(), 75);
}

#[tokio::test]
async fn no_account_sees_another_accounts_jobs() {
    let mut app = TestApp::start().await;
    for _ in 0..3 {
        app.init(json!({"type": "html", "target": "pdf"})).await;
    }
    let (_, page) = app.get("/jobs?limit=1").await;
    let cursor = page["nextCursor"].as_str().unwrap().to_owned();
    app.command(&["account", "create", "other"]);
    app.token = app.command(&["token", "create", "--account", "other"]);
    let nothing = json!({"items": [], "nextCursor": null, "warnings": []});
    assert_eq!(app.get("/jobs").await, (200, nothing.clone()));
    assert_eq!(app.get(&format!("/jobs?cursor={cursor}")).await, (200, nothing));
}

/// Twenty polls a second, for as long as a burst could hide that they are too many.
#[tokio::test]
async fn polling_twenty_times_a_second_is_within_the_limit() {
    let app = TestApp::with(&[("http.rate_burst_limit", "30")]).await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await.id;
    let mut beat = tokio::time::interval(Duration::from_millis(50));
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for _ in 0..100 {
        beat.tick().await;
        assert_eq!(app.get(&format!("/v1/jobs/{job}")).await.0, 200);
    }
}
