//! Headers and cookies for a page's requests: they reach the host that they are for, and nobody and nothing else.

use std::path::Path;

use serde_json::json;

use crate::app::TestApp;
use crate::receiver::Receiver;

const KEY: &str = "k3y-s3cret";
const COOKIE: &str = "c00kie-s3cret";

fn picture() -> String {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
    let length = svg.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: image/svg+xml\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{svg}"
    )
}

/// `/to-PORT-path` leads to another port, everything else is a picture.
fn answer(head: &str) -> String {
    let target = head.strip_prefix("GET /to-").and_then(|rest| rest.split_whitespace().next());
    target.and_then(|target| target.split_once('-')).map_or_else(picture, |(port, path)| {
        format!(
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}/{path}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    })
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
async fn what_requests_carry_reaches_its_host_and_nobody_else() {
    let (home, other) = (Receiver::new(answer).await, Receiver::new(answer).await);
    let entry = |receiver: &Receiver| format!("{{ host = \"127.0.0.1:{}\", private = true }}", receiver.port);
    let allow = format!("[{}, {}]", entry(&home), entry(&other));
    let mut app = TestApp::with(&[("outbound.allow", &allow), ("log.filter", "debug")]).await;
    app.stop();
    let log = app.scratch().join("log");
    app.log = Some(log.clone());
    app.launch();
    app.until_ready().await;

    let page = format!(
        "<img src='{}'><img src='{}'><img src='{}'><img src='{}'><p>seen</p>",
        home.url("/direct"),
        home.url(&format!("/to-{}-from-home", other.port)),
        other.url("/direct"),
        other.url(&format!("/to-{}-returned", home.port)),
    );
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
        let head = request.head;
        assert!(head.contains(&format!("X-Key: {KEY}")) && head.contains(&format!("sid={COOKIE}")), "{head}");
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
