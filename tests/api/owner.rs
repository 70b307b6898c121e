//! A bucket belongs to one index: a service with another one does not sweep it.

use std::process::Output;

use tempfile::TempDir;

use crate::app::TestApp;
use crate::command_line::platen;
use crate::objects::proxy::Mode;
use crate::objects::settings;
use crate::template::page;

/// The error of a service with a data folder of its own, which must not start on the bucket at `endpoint`.
fn refused(endpoint: &str, folder: &TempDir) -> String {
    failure(&run(endpoint, folder, &["serve"]))
}

fn failure(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run(endpoint: &str, folder: &TempDir, arguments: &[&str]) -> Output {
    run_within("5000", endpoint, folder, arguments)
}

/// The same with so many milliseconds for what a start asks of the bucket.
fn run_within(probe_ms: &str, endpoint: &str, folder: &TempDir, arguments: &[&str]) -> Output {
    let further = [("http.bind", "127.0.0.1:0"), ("s3.probe_timeout_ms", probe_ms)];
    platen(folder.path(), &[&settings(endpoint)[..], &further].concat(), arguments, b"")
}

#[tokio::test]
async fn a_service_with_another_index_starts_beside_it_but_not_on_it() {
    let app = TestApp::with_bucket(&[]).await;
    let server = app.objects.as_ref().unwrap();
    assert_eq!(server.objects("owner").len(), 1);
    let endpoint = server.endpoint();
    let message = refused(&endpoint, &tempfile::tempdir().unwrap());
    assert!(message.contains("(s3.bucket, s3.prefix) belongs to another index"), "{message}");
    let mut beside = settings(&endpoint);
    beside.push(("s3.prefix", "second/"));
    let _second = TestApp::on_disk(&beside).await;
    assert_eq!(server.objects("second/owner").len(), 1);
}

#[tokio::test]
async fn a_silent_store_keeps_no_start_waiting() {
    let (mut app, proxy) = TestApp::behind_a_proxy(&[("s3.probe_timeout_ms", "2000")]).await;
    app.stop();
    proxy.set(Mode::Hang);
    let folder = tempfile::tempdir().unwrap();
    let message = failure(&run_within("2000", &proxy.endpoint(), &folder, &["serve"]));
    assert!(message.contains("does not tell within 2000 ms (s3.probe_timeout_ms)"), "{message}");
    // One that knows its bucket starts, and is ready when it answers.
    app.launch();
    let (status, _) = app.get("/health/ready").await;
    assert_eq!(status, 503);
    proxy.set(Mode::Pass);
    app.until_ready().await;
}

#[tokio::test]
async fn an_index_that_is_rebuilt_takes_the_bucket_over() {
    let mut app = TestApp::with_bucket(&[]).await;
    let id = app.saved("One", page("Hello")).await;
    app.stop();
    let lost = tempfile::tempdir().unwrap();
    let endpoint = app.objects.as_ref().unwrap().endpoint();
    assert!(refused(&endpoint, &lost).contains("`platen index rebuild`"));
    let rebuilt = run(&endpoint, &lost, &["index", "rebuild"]);
    let message = String::from_utf8_lossy(&rebuilt.stdout).into_owned();
    assert!(rebuilt.status.success() && message.contains("1 saved"), "{message}");
    let message = app.refused(&["serve"]);
    assert!(message.contains("belongs to another index"), "{message}");
    // And back.
    app.command(&["index", "rebuild"]);
    app.launch();
    app.until_ready().await;
    assert!(app.shown(&id).await.unwrap().contains("Hello Bob"));
}
