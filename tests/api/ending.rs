//! The service ends in order whatever ends it: what runs is parked, and the index is closed.

use std::time::{Duration, Instant};

use platen::app::App;
use platen::config::Config;
use platen::domain::job::JobState;
use platen::jobs::store::journal::Journal;
use platen::storage::index::SledIndex;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::process::Command;

use crate::app::PATIENCE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_platen");

/// The service in this process, so that its server can be ended from within.
#[actix::test]
async fn a_server_that_ends_by_itself_ends_the_service_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let settings = [
        ("PLATEN_CONFIG", ""),
        ("PLATEN__HTTP__BIND", "127.0.0.1:0"),
        ("PLATEN__STORAGE__DATA_DIR", data.as_str()),
        ("PLATEN__HTTP__SHUTDOWN_GRACE_S", "0"),
        ("PLATEN__BROWSER__EXECUTABLE", "/nonexistent"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = Config::load(None, settings.clone()).unwrap();
    let app = App::build(config.clone(), PROGRAM.into()).await.unwrap();
    let (base, server) = (app.address().to_owned(), app.server().clone());
    let ending = actix::spawn(app.run_until_stopped());
    let command = async |arguments: &[&str]| {
        let output = Command::new(PROGRAM).args(arguments).envs(settings.clone()).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    command(&["account", "create", "test"]).await;
    let token = command(&["token", "create", "--account", "test"]).await;

    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    let post = async |path: &str, body: Value| {
        let answer =
            client.post(format!("{base}{path}")).bearer_auth(&token).body(body.to_string()).send().await;
        answer.unwrap().json::<Value>().await.unwrap()
    };
    let job = post("/v1/documents/init", json!({"type": "ejs", "target": "html", "data": {}})).await;
    let url = job["presignedTemplateUploadUrl"].as_str().unwrap();
    let put = client.put(url).body("<% while (true) {} %>").send().await.unwrap();
    assert_eq!(put.status(), 200);
    post(&format!("/v1/documents/{}/render", job["jobId"].as_str().unwrap()), json!({})).await;
    let since = Instant::now();
    loop {
        let page = client.get(format!("{base}/metrics")).send().await.unwrap().text().await.unwrap();
        if page.lines().any(|line| line == "platen_jobs_running 1") {
            break;
        }
        assert!(since.elapsed() < PATIENCE, "the job does not run: {page}");
        tokio::time::sleep(Duration::from_millis(5)).await; // poll
    }

    server.stop(false).await;
    let ended = tokio::time::timeout(PATIENCE, ending).await.expect("the service ends").unwrap();
    let message = ended.expect_err("it was not told to end").to_string();
    assert!(message.contains("the HTTP server ended by itself"), "{message}");
    let index = SledIndex::open(&folder.path().join("data/index"), &config.storage).await;
    let index = index.expect("nobody has it open");
    let unfinished = Journal::new(Arc::new(index), &config.jobs).unfinished().await.unwrap();
    let states: Vec<_> = unfinished.iter().map(|record| (record.state, record.attempts)).collect();
    assert_eq!(states, [(JobState::Queued, 0)], "it was parked");
}
