//! kill -9 of the service: nothing acknowledged is lost, every started job ends by itself.

use std::path::PathBuf;

use platen::config::Config;
use platen::domain::ids::{AccountId, JobId};
use platen::domain::kinds::FileKind;
use platen::storage::data_dir::DataDir;
use platen::storage::disk::DiskStore;
use platen::storage::index::{Index as _, SledIndex, WriteBatch};
use platen::storage::{ObjectStore as _, StorageKey};
use serde_json::{Value, json};

use crate::app::TestApp;

/// It takes a while, so that a kill finds jobs running and jobs that wait for their turn.
const TEMPLATE: &str = "<!doctype html><p>job <%= number %> of <%= pad.length %></p>\
    <script>setTimeout(() => { document.body.append('late') }, 300)</script>";

/// Data that is kept in the journal, or (beyond `jobs.journaled_input_limit_bytes`) in the store.
fn data(number: usize) -> Value {
    json!({"number": number, "pad": "x".repeat(if number.is_multiple_of(2) { 10 } else { 50_000 })})
}

/// The files below a folder of the store, other than those being written.
fn objects(app: &TestApp, folder: &str) -> Vec<PathBuf> {
    if let Some(server) = &app.objects {
        return server.objects(folder).into_iter().map(|(name, _)| name.into()).collect();
    }
    let mut folders = vec![app.data_dir().join("objects").join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    files
}

#[tokio::test]
async fn a_killed_service_ends_every_started_job_when_it_comes_back() {
    let mut app = TestApp::start().await;
    let (mut done, mut initialized, mut started) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..4 {
        let job = app.prepared("pdf", TEMPLATE, data(number)).await;
        assert_eq!(app.finish(&job).await["success"], true);
        done.push(job);
    }
    for number in 4..10 {
        initialized.push(app.prepared("pdf", TEMPLATE, data(number)).await);
    }
    for number in 10..24 {
        let job = app.prepared("pdf", TEMPLATE, data(number)).await;
        let (status, _) = app.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
        assert_eq!(status, 202);
        started.push(job);
    }
    let mut unfinished = 0;
    for job in &started {
        unfinished += usize::from(app.get(&format!("/v1/jobs/{job}")).await.1["status"] == "in-progress");
    }
    app.kill();
    assert!(unfinished > 4, "only {unfinished} jobs were running or waiting at the kill");
    app.launch();
    app.until_ready().await;
    for (number, job) in done.iter().enumerate() {
        let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
        assert_page(&app, &view, number).await;
    }
    for (number, job) in started.iter().enumerate() {
        assert_page(&app, &app.ended(job).await, number + 10).await;
    }
    for (number, job) in initialized.iter().enumerate() {
        let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
        assert_eq!(view["status"], "initialized");
        assert_page(&app, &app.finish(job).await, number + 4).await;
    }
    assert_eq!(objects(&app, "outputs").len(), 24, "one document a job");
    app.until("all inputs are gone", async || objects(&app, "jobs").is_empty()).await;
    let accounts = app.command(&["account", "list"]);
    assert!(accounts.contains("documents=24/"), "each job was counted once: {accounts}");
}

async fn assert_page(app: &TestApp, view: &Value, number: usize) {
    assert_eq!(view["success"], true, "{view}");
    let url = view["output"]["data"]["url"].as_str().unwrap();
    let file = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    let length = data(number)["pad"].as_str().unwrap().len();
    let text = app.text_of(&file);
    assert!(text.contains(&format!("job {number} of {length}")) && text.contains("late"), "{text}");
}

#[tokio::test]
async fn a_stopped_service_parks_what_it_cannot_finish() {
    let mut app = TestApp::with(&[("http.shutdown_grace_s", "0"), ("browser.tabs", "1")]).await;
    let slow = "<!doctype html><p>slow</p><script>setTimeout(() => { window.late = 1 }, 300)</script>";
    let mut jobs = Vec::new();
    for _ in 0..4 {
        let job = app.prepared("pdf", slow, json!({})).await;
        app.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
        jobs.push(job);
    }
    app.stop();
    app.launch();
    for job in jobs {
        assert_eq!(app.ended(&job).await["success"], true);
    }
}

#[tokio::test]
async fn a_backup_brings_everything_back() {
    let mut app = TestApp::start().await;
    let (view, file) = app.render("pdf", "<p>kept", json!({})).await;
    let job = view["jobId"].as_str().unwrap().to_owned();
    let prepared = app.prepared("pdf", "<p>later", json!({})).await;
    let copy = app.scratch().join("copy");
    let to = copy.to_str().unwrap();
    app.stop();
    let save_request = app.command(&["backup", to]);
    assert!(save_request.contains("files of"), "{save_request}");
    let refused = app.refused(&["restore", to]);
    assert!(refused.contains("is not empty"), "{refused}");
    std::fs::remove_dir_all(app.data_dir()).unwrap();
    app.command(&["restore", to]);
    // Beside a bucket no service starts before, for the bucket may know more than the copy.
    app.command(&["index", "rebuild"]);
    let base = app.base.clone();
    app.launch();
    app.until_ready().await;
    let handed_out = view["output"]["data"]["url"].as_str().unwrap().replace(&base, &app.base);
    assert_eq!(app.client.get(handed_out).send().await.unwrap().status(), 200, "the key came back as well");
    let (_, restored) = app.get(&format!("/v1/jobs/{job}")).await;
    let url = restored["output"]["data"]["url"].as_str().unwrap();
    assert_eq!(app.client.get(url).send().await.unwrap().bytes().await.unwrap(), file);
    assert_eq!(app.finish(&prepared).await["success"], true, "its template came back as well");
}

#[tokio::test]
async fn deletions_interrupted_by_a_kill_are_finished_at_the_next_start() {
    let mut app = TestApp::on_disk(&[("jobs.sweep_interval_s", "1")]).await;
    app.stop();
    let data = DataDir::open(&app.data_dir()).unwrap();
    let (account, job) = (AccountId::generate(), JobId::generate());
    let left = StorageKey::JobOutput(account, job, FileKind::Pdf);
    let store = DiskStore::open(data.objects()).await.unwrap();
    store.put(&left, "left".into()).await.unwrap();
    let index = SledIndex::open(&data.index(), &Config::default().storage).await.unwrap();
    index.commit(WriteBatch::new().put(format!("gone/{job}"), left.to_string())).await.unwrap();
    index.close().await;
    app.launch();
    app.until("the object is gone", async || store.head(&left).await.is_err()).await;
}
