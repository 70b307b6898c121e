//! A bucket belongs to one index: a service with another one does not sweep it.

use crate::app::TestApp;
use crate::command_line::platen;
use crate::objects::proxy::{Mode, Proxy};
use crate::objects::{ObjectServer, settings};
use crate::template::page;

/// What a service with a data folder of its own says that does not start on the bucket of `server`.
fn refused(server: &ObjectServer, folder: &tempfile::TempDir) -> String {
    let output = run(server, folder, &["serve"]);
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run(server: &ObjectServer, folder: &tempfile::TempDir, arguments: &[&str]) -> std::process::Output {
    let there = settings(&server.endpoint());
    let mut there: Vec<_> = there.iter().map(|(key, value)| (*key, value.as_str())).collect();
    there.push(("http.bind", "127.0.0.1:0"));
    platen(folder.path(), &there, arguments, b"")
}

#[tokio::test]
async fn a_service_with_another_index_starts_beside_it_but_not_on_it() {
    let app = TestApp::with_bucket(&[]).await;
    let server = app.objects.as_ref().unwrap();
    assert_eq!(server.objects("owner").len(), 1);
    let told = refused(server, &tempfile::tempdir().unwrap());
    assert!(told.contains("(s3.bucket, s3.prefix) belongs to another index"), "{told}");
    let there = settings(&server.endpoint());
    let mut beside: Vec<_> = there.iter().map(|(key, value)| (*key, value.as_str())).collect();
    beside.push(("s3.prefix", "second/"));
    let second = TestApp::on_disk(&beside).await;
    assert_eq!(server.objects("second/owner").len(), 1);
    drop(second);
}

#[tokio::test]
async fn a_silent_store_keeps_no_start_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let server = ObjectServer::start(&folder.path().join("bucket"));
    let proxy = Proxy::before(server.address);
    let endpoint = proxy.endpoint();
    let mut app = TestApp::over(folder, server, &endpoint, &[("s3.probe_timeout_ms", "1000")]).await;
    app.stop();
    proxy.set(Mode::Hang);
    let (lost, there) = (tempfile::tempdir().unwrap(), settings(&endpoint));
    let there: Vec<_> = there.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let output =
        platen(lost.path(), &[&there[..], &[("s3.probe_timeout_ms", "1000")]].concat(), &["serve"], b"");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("does not tell within 1000 ms (s3.probe_timeout_ms)"), "{told}");
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
    let server = app.objects.as_ref().unwrap();
    assert!(refused(server, &lost).contains("`platen index rebuild`"));
    let rebuilt = run(server, &lost, &["index", "rebuild"]);
    let told = String::from_utf8_lossy(&rebuilt.stdout).into_owned();
    assert!(rebuilt.status.success() && told.contains("1 saved"), "{told}");
    let told = app.refused(&["serve"]);
    assert!(told.contains("belongs to another index"), "{told}");
    // And back.
    app.command(&["index", "rebuild"]);
    app.launch();
    app.until_ready().await;
    assert!(app.shown(&id).await.unwrap().contains("Hello Bob"));
}
