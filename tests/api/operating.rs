//! What an operator sees: the effective configuration, and the log.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::process::Output;

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::command_line::platen;
use crate::template::page;

fn printed(folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> (Output, String) {
    let output = platen(folder, settings, &[&["serve", "--print-config"], arguments].concat(), b"");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text)
}

#[test]
fn the_effective_configuration_says_where_each_value_is_from_and_shows_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[http]\nbind = \"127.0.0.1:7\"\nwait_limit_s = 30\n[s3]\nsecret_key = \"hidden-one\"\naccess_key = \"hidden-two\"\n\
                [outbound]\nallow = [\"a.example\", { host = \"10.0.0.5:9000\", private = true }]\n";
    std::fs::write(folder.path().join("platen.toml"), file).unwrap();
    let settings = [("http.bind", "127.0.0.1:8")];
    let (output, text) = printed(folder.path(), &settings, &["--config", "platen.toml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    for (start, source) in [
        ("bind = \"127.0.0.1:8\" ", "# environment PLATEN__HTTP__BIND: address and port"),
        ("wait_limit_s = 30 ", "# file platen.toml: longest wait of a long poll"),
        ("queue_limit = 1_000 ", "# default: jobs that wait"),
        ("# secret_key = *** ", "# file platen.toml: "),
        ("allow = [\"a.example\", ", "# file platen.toml: hosts that pages"),
    ] {
        assert!(line(start).contains(source), "{start}: {text}");
    }
    assert!(!text.contains("hidden"), "{text}");
    // What is printed is a configuration by itself, and the same one.
    std::fs::write(folder.path().join("printed.toml"), &text).unwrap();
    let (again, same) = printed(folder.path(), &[], &["--config", "printed.toml"]);
    assert!(again.status.success() && same.contains("bind = \"127.0.0.1:8\" "), "{same}");
}

#[test]
fn all_faults_of_a_configuration_are_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("outbound.allow", r#"["https://a/", 7, { host = "10.0.0.5", private = true }]"#),
        ("outbound.delivery", "sometimes"),
        ("outbound.redirect_limit", "99"),
        ("http.wait_limit_s", "soon"),
        ("log.format", "xml"),
        ("http.colour", "blue"),
    ];
    let (output, text) = printed(folder.path(), &settings, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("wait_limit_s = 60 "), "the rest is printed: {text}");
    let started = platen(folder.path(), &settings, &["serve"], b"");
    assert_eq!(String::from_utf8(started.stderr).unwrap(), message, "a start says the same");
    for words in [
        "has 8 fault(s)",
        "outbound.allow: 'https://a/' is no host",
        "outbound.allow: entry 2: ",
        "outbound.allow: '10.0.0.5' is private and has no port",
        "outbound.delivery: unknown variant `sometimes`",
        "outbound.redirect_limit: 99 is out of range",
        "http.wait_limit_s: must be an integer, not a string",
        "log.format: unknown variant `xml`, expected `pretty` or `json`",
        "http.colour: there is no such key",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
}

/// The lines of a log of JSON with this `message`.
fn lines(app: &TestApp, message: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(app.scratch().join("log")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["message"] == message).collect()
}

#[tokio::test]
async fn the_log_names_the_jobs_account_and_the_access_log_has_no_secrets() {
    let settings = [("log.format", "json"), ("log.access", "true"), ("log.filter", "warn,platen::jobs=info")];
    let mut app = TestApp::on_disk(&settings).await;
    app.stop();
    app.log = Some(app.scratch().join("log"));
    app.launch();
    app.until_ready().await;
    let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
    let url = job.template_url.unwrap();
    assert_eq!(app.put(&url, "<p>secret-words</p>").await, 200);
    let view = app.finish(&job.id).await;
    let output = view["output"]["data"]["url"].as_str().unwrap();
    let page = app.client.get(output).send().await.unwrap().bytes().await.unwrap();
    let encoded = output.replace('?', "%3F");
    assert_eq!(app.client.get(&encoded).send().await.unwrap().status(), 403);
    let wrong = app.client.get(format!("{}/v1/jobs?token=in-the-query", app.base)).bearer_auth("not-a-token");
    assert_eq!(wrong.send().await.unwrap().status(), 401);
    let failing = app.prepared("html", "<%= nobody.name %>", json!({})).await;
    app.finish(&failing).await;
    let path = format!("/v1/jobs/{}", job.id);
    let account = app.get(&path).await;
    assert_eq!(account.0, 200);
    app.until("the last line is written", async || {
        lines(&app, "request")
            .iter()
            .any(|line| line["http.path"] == path.as_str() && line["http.status"] == 200)
    })
    .await;

    let ended = lines(&app, "the job ended");
    let code =
        |id: &str| ended.iter().find(|line| line["span"]["job.id"] == id).unwrap()["job.error_code"].clone();
    assert_eq!((code(&job.id), code(&failing)), (Value::Null, json!("template_error")));
    let account = ended[0]["span"]["account.id"].as_str().unwrap().to_owned();
    assert!(account.parse::<uuid::Uuid>().is_ok(), "{ended:?}");

    let requests = lines(&app, "request");
    let line = |method: Method, status: u16, path: &str| {
        let is_it = |line: &&Value| {
            line["http.method"] == method.as_str()
                && line["http.status"] == status
                && line["http.path"] == path
        };
        requests.iter().find(is_it).unwrap_or_else(|| panic!("{method} {path}: {requests:#?}"))
    };
    let polled = line(Method::GET, 200, &path);
    assert_eq!((&polled["account.id"], &polled["http.whole"]), (&json!(account), &json!(true)));
    let object = |url: &str| reqwest::Url::parse(url).unwrap().path().to_owned();
    let fetched = line(Method::GET, 200, &object(output));
    assert_eq!(fetched["http.bytes"], page.len());
    line(Method::PUT, 200, &object(&url));
    assert_eq!(line(Method::GET, 401, "/v1/jobs").get("account.id"), None);
    let log = std::fs::read_to_string(app.scratch().join("log")).unwrap();
    for word in ["sig=", "op=", "not-a-token", "in-the-query", "secret-words", &app.token] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}

#[test]
fn what_root_commands_belongs_to_the_owner_of_the_data_folder() {
    // A user that no other test has.
    const OWNER: u32 = 64_123;
    if !nix::unistd::geteuid().is_root() {
        eprintln!("not run: only root can act for another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The owner must reach its data folder.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    chown(&data, Some(OWNER), Some(OWNER)).unwrap();
    for name in ["one", "two"] {
        let output = platen(folder.path(), &[], &["account", "create", name], b"");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut folders = vec![data.clone()];
    assert!(data.join("index").is_dir(), "the accounts have been written");
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let found = entry.metadata().unwrap();
            assert_eq!((found.uid(), found.gid()), (OWNER, OWNER), "{}", entry.path().display());
            folders.extend(Some(entry.path()).filter(|path| path.is_dir()));
        }
    }
}

/// The job is made, the service starts again, and the job ends: the log's last line names the first request all the same.
#[tokio::test]
async fn a_jobs_lines_name_the_request_that_made_it_with_type_and_template() {
    let mut app = TestApp::on_disk(&[("log.format", "json"), ("log.filter", "warn,platen::jobs=info")]).await;
    let template = app.unzipped(page("Hello")).await;
    app.stop();
    app.log = Some(app.scratch().join("log"));
    app.launch();
    app.until_ready().await;
    let made = async |path: &str, request_id: &str, body: Value| {
        let request = app.request(Method::POST, path).header("x-request-id", request_id);
        let answer = request.body(body.to_string()).send().await.unwrap();
        assert_eq!(answer.headers()["x-request-id"], request_id);
        crate::app::read(answer).await.1
    };
    let immediate = json!({"type": "ejs", "target": "html", "template": "<p>secret-words</p>", "data": {}});
    let at_once = made("/v1/documents/immediate-render", "from-a-form-1", immediate).await;
    let previews = format!("/v1/templates/{template}/render-previews");
    let shown = made(&previews, "for-previews-2", json!({"type": "html", "data": {"name": "Ann"}})).await;
    let waiting =
        made("/v1/documents/init", "to-wait-3", json!({"type": "html", "target": "html", "data": {}})).await;
    app.kill();
    app.launch();
    app.until_ready().await;
    app.finish(waiting["jobId"].as_str().unwrap()).await;

    let ended = lines(&app, "the job ended");
    let span = |job: &Value| &ended.iter().find(|line| line["span"]["job.id"] == *job).unwrap()["span"];
    let none = &Value::Null;
    for (job, request_id, kind, target, template) in [
        (&at_once["jobId"], "from-a-form-1", "ejs", "html", none),
        (&shown["pdfPreview"]["jobId"], "for-previews-2", "html", "pdf", &json!(template)),
        (&waiting["jobId"], "to-wait-3", "html", "html", none),
    ] {
        let span = span(job);
        let fields =
            ["http.request_id", "render.kind", "render.target"].map(|name| span[name].as_str().unwrap());
        assert_eq!(fields, [request_id, kind, target], "{span}");
        assert_eq!(&span["template.id"], template, "{span}");
    }
    let log = std::fs::read_to_string(app.scratch().join("log")).unwrap();
    assert!(!log.contains("secret-words"), "{log}");
}
