//! Headers and cookies for a page's requests reach the host that they are for, and no other host, log or file.

use std::path::Path;

use serde_json::json;

use crate::app::TestApp;
use crate::receiver::Receiver;

const KEY: &str = "k3y-s3cret";
const COOKIE: &str = "c00kie-s3cret";

/// `/to-PORT-path` leads to another port, everything else is an empty style sheet.
fn answer(head: &str) -> String {
    let target = head.strip_prefix("GET /to-").and_then(|rest| rest.split_whitespace().next());
    match target.and_then(|target| target.split_once('-')) {
        Some((port, path)) => format!("302 Found\r\nLocation: http://127.0.0.1:{port}/{path}"),
        None => "200 OK\r\nContent-Type: text/css".to_owned(),
    }
}

/// Whether a file below has one of the secrets in it.
fn is_kept(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            return is_kept(&path);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        [KEY, COOKIE].iter().any(|secret| content.windows(secret.len()).any(|part| part == secret.as_bytes()))
    })
}

#[tokio::test]
async fn credentials_of_requests_reach_only_their_own_host() {
    let (home, other) = (Receiver::new(answer).await, Receiver::new(answer).await);
    let entry = |receiver: &Receiver| format!("{{ host = \"127.0.0.1:{}\", private = true }}", receiver.port);
    let allow = format!("[{}, {}]", entry(&home), entry(&other));
    let mut app = TestApp::with(&[("outbound.allow", &allow), ("log.filter", "debug")]).await;
    app.stop();
    let log = app.scratch().join("log");
    app.log = Some(log.clone());
    app.launch();
    app.until_ready().await;

    let sheets = [
        home.url("/direct"),
        home.url(&format!("/to-{}-from-home", other.port)),
        other.url("/direct"),
        other.url(&format!("/to-{}-returned", home.port)),
    ];
    let sheets = sheets.map(|address| format!("<link rel=stylesheet href='{address}'>"));
    let page = format!("{}<p>seen</p>", sheets.concat());
    let host = format!("127.0.0.1:{}", home.port);
    let carried = json!({&host: {"headers": {"X-Key": KEY}, "cookies": {"sid": COOKIE}}});
    for target in ["pdf", "png"] {
        let job = app
            .init(json!({"type": "html", "target": target, "data": {}, "formatOpts": {"requests": carried}}))
            .await;
        assert_eq!(app.put(&job.template_url.unwrap(), page.clone()).await, 200);
        assert!(!is_kept(&app.data_dir()), "a job that waits is kept without them");
        let view = app.finish(&job.id).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
        let shown = json!({&host: {"headers": {"X-Key": "***"}, "cookies": {"sid": "***"}}});
        assert_eq!(view["formatOpts"]["requests"], shown);
        let (_, list) = app.get("/v1/jobs").await;
        assert!(!list.to_string().contains("s3cret"), "{list}");
    }
    let path = |head: &str| head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut at_home: Vec<_> = home.requests().iter().map(|request| path(&request.head)).collect();
    at_home.sort_unstable();
    at_home.dedup();
    let away = format!("/to-{}-from-home", other.port);
    assert_eq!(at_home, ["/direct", "/returned", away.as_str()]);
    for request in home.requests() {
        let head = request.head.to_lowercase();
        assert!(head.contains(&format!("x-key: {KEY}")) && head.contains(&format!("sid={COOKIE}")), "{head}");
    }
    assert!(
        other.requests().iter().any(|request| request.head.starts_with("GET /from-home ")),
        "it was led there"
    );
    for request in other.requests() {
        assert!(!request.head.contains("s3cret"), "{}", request.head);
    }

    let wrong = json!({"type": "html", "target": "pdf", "formatOpts": {"requests": {&host: {"headers": {"Host": KEY}}}}});
    let (status, problem) = app.post("/v1/documents/init", &wrong).await;
    assert!(status == 422 && !problem.to_string().contains("s3cret"), "{problem}");
    assert!(!is_kept(&app.data_dir()), "nothing is left of them");
    app.stop();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("the job ended") && !log.contains("s3cret"), "the log has none");
}
