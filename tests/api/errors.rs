//! Every error that a caller of the job API can meet, caused in the real program: its status, its code and
//! its shape. A code of the table that nothing here causes fails the test.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use platen::problem::Code;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template;

const INIT: &str = "/v1/documents/init";
const IMMEDIATE: &str = "/v1/documents/immediate-render";
/// Never at rest: it occupies its tab until `browser.rest_cap_ms`.
const ENDLESS: &str = "<script>setInterval(() => document.body.append('x'), 20)</script>";

/// The codes that have been caused.
#[derive(Default)]
struct CausedCodes(BTreeSet<&'static str>);

impl CausedCodes {
    /// Sends the request and checks everything that is the same for every error; gives the answer's
    /// members.
    async fn by(&mut self, code: Code, request: RequestBuilder) -> Value {
        let answer = request.send().await.unwrap();
        let (status, head) = (answer.status().as_u16(), answer.headers().clone());
        let problem: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!((status, problem["code"].as_str()), (code.status(), Some(code.name())), "{problem}");
        assert_eq!(head["content-type"], "application/problem+json");
        assert_eq!(problem["instance"], head["x-request-id"].to_str().unwrap());
        assert_eq!(problem["type"], format!("/problems/{}", code.name()));
        assert_eq!((&problem["title"], &problem["status"]), (&json!(code.title()), &json!(code.status())));
        assert_eq!(problem["message"], problem["detail"]);
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 20), "{problem}");
        assert_eq!(problem["errors"].is_array(), code == Code::ValidationFailed, "{problem}");
        assert_eq!(head.contains_key("www-authenticate"), code == Code::Unauthorized);
        assert_eq!(head.contains_key("allow"), code == Code::MethodNotAllowed);
        let again = matches!(code, Code::RateLimited | Code::Overloaded);
        assert_eq!(head.contains_key("retry-after"), again, "{head:?}");
        self.0.insert(code.name());
        problem
    }
}

#[tokio::test]
async fn every_code_is_met_with_its_status_and_its_shape() {
    let [mut caused, mut limited, mut aged] = [(); 3].map(|()| CausedCodes::default());
    tokio::join!(usual(&mut caused), limits(&mut limited), expiry(&mut aged));
    caused.0.extend(limited.0.into_iter().chain(aged.0));
    let all: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
    let left: Vec<_> = all.difference(&caused.0).collect();
    assert!(left.is_empty(), "nothing here causes {left:?}; add the request that does");
}

/// What callers meet in a service with small limits, one after the other.
async fn usual(caused: &mut CausedCodes) {
    let small = TestApp::on_disk(&[
        ("http.wait_default_s", "3"),
        ("http.upload_timeout_s", "2"),
        ("http.json_limit_bytes", "2048"),
        ("http.upload_limit_bytes", "2048"),
        ("http.shutdown_grace_s", "0"),
    ])
    .await;
    requests(&small, caused).await;
    bodies(&small, caused).await;
    addresses(&small, caused).await;
    templates(&small, caused).await;
    renders(&small, caused).await;
    accounts(&small, caused).await;
}

fn post(app: &TestApp, path: &str, body: &Value) -> RequestBuilder {
    app.request(Method::POST, path).body(body.to_string())
}

/// What is wrong before a body is looked at.
async fn requests(app: &TestApp, caused: &mut CausedCodes) {
    let url = format!("{}{INIT}", app.base);
    for token in [None, Some("pl_unknown")] {
        let request = app.client.post(&url).body("{}");
        let request = token.into_iter().fold(request, RequestBuilder::bearer_auth);
        caused.by(Code::Unauthorized, request).await;
    }
    caused.by(Code::RouteNotFound, app.request(Method::GET, "/v1/nowhere")).await;
    caused.by(Code::MethodNotAllowed, app.request(Method::PATCH, INIT)).await;
    let nowhere = "01900000-0000-7000-8000-000000000000";
    for id in [nowhere, "nonsense"] {
        caused.by(Code::JobNotFound, app.request(Method::GET, &format!("/v1/jobs/{id}"))).await;
        caused.by(Code::JobNotFound, post(app, &format!("/v1/documents/{id}/render"), &json!({}))).await;
    }
    caused.by(Code::ValidationFailed, app.request(Method::GET, "/v1/jobs?limit=0&status=x")).await;
    for wait in ["x", "-1"] {
        let request = app.request(Method::GET, &format!("/v1/jobs/{nowhere}?wait={wait}"));
        caused.by(Code::ValidationFailed, request).await;
    }
    let slow = stream::iter([Ok::<_, std::io::Error>("{")]).chain(stream::pending());
    let slow = app.request(Method::POST, INIT).body(reqwest::Body::wrap_stream(slow));
    caused.by(Code::RequestTimeout, slow).await;
    let form = app.request(Method::POST, IMMEDIATE).header("content-type", "multipart/form-data");
    caused.by(Code::BadRequest, form.body("x")).await;
}

/// What is wrong with a body.
async fn bodies(app: &TestApp, caused: &mut CausedCodes) {
    let malformed = app.request(Method::POST, INIT).body("{\"type\": html}");
    let problem = caused.by(Code::MalformedJson, malformed).await;
    assert!(problem["detail"].as_str().unwrap().contains("line 1, column 10"), "{problem}");
    let deep = format!("{{\"data\":{}{}}}", "[".repeat(129), "]".repeat(129));
    caused.by(Code::MalformedJson, app.request(Method::POST, INIT).body(deep)).await;
    let problem = caused.by(Code::ValidationFailed, post(app, INIT, &json!({"type": "htm"}))).await;
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
    let long = app.request(Method::POST, INIT).body(" ".repeat(2_049));
    let problem = caused.by(Code::PayloadTooLarge, long).await;
    assert!(problem["detail"].as_str().unwrap().contains("2048"), "{problem}");
    let pair = json!({"type": "html", "target": "xlsx"});
    let problem = caused.by(Code::UnsupportedConversion, post(app, INIT, &pair)).await;
    assert!(problem["detail"].as_str().unwrap().contains("jpg, png"), "{problem}");
    let named =
        json!({"type": "html", "target": "pdf", "templateId": "01900000-0000-7000-8000-000000000000"});
    caused.by(Code::TemplateNotFound, post(app, INIT, &named)).await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let delivery = json!({"uploadPresignedStorageUrl": "http://127.0.0.1:9/document"});
    let start = post(app, &format!("/v1/documents/{}/render", job.id), &delivery);
    caused.by(Code::DeliveryAddressRefused, start).await;
    let keyed = |target: &str| {
        post(app, INIT, &json!({"type": "html", "target": target})).header("idempotency-key", "the same")
    };
    assert_eq!(keyed("pdf").send().await.unwrap().status(), 200);
    caused.by(Code::IdempotencyMismatch, keyed("png")).await;
}

/// What is wrong with a presigned address, or with what is sent to it.
async fn addresses(app: &TestApp, caused: &mut CausedCodes) {
    let job = app.init(json!({"type": "html", "target": "html"})).await;
    let template = job.template_url.unwrap();
    let altered = template.replace(&job.id, "01900000-0000-7000-8000-000000000000");
    caused.by(Code::AddressInvalid, app.client.put(altered).body("x")).await;
    caused.by(Code::AddressInvalid, app.client.get(&template)).await;
    caused.by(Code::PayloadTooLarge, app.client.put(&template).body("x".repeat(2_049))).await;
    let slow = stream::iter([Ok::<_, std::io::Error>("<p>")]).chain(stream::pending());
    caused.by(Code::RequestTimeout, app.client.put(&template).body(reqwest::Body::wrap_stream(slow))).await;
    let staging = app.data_dir().join("objects/.staging");
    let away = app.data_dir().join("objects/.away");
    std::fs::rename(&staging, &away).unwrap();
    let problem = caused.by(Code::Internal, app.client.put(&template).body("<p>1</p>")).await;
    assert!(!problem.to_string().contains("staging"), "the cause is for the log: {problem}");
    std::fs::rename(&away, &staging).unwrap();
    assert_eq!(app.put(&template, "<p>1</p>").await, 200);
    let view = app.finish(&job.id).await;
    caused.by(Code::UploadClosed, app.client.put(&template).body("x")).await;
    let output = view["output"]["data"]["url"].as_str().unwrap();
    let behind = app.client.get(output).header("range", "bytes=999999-");
    caused.by(Code::RangeNotSatisfiable, behind).await;
    let file = output.split_once("/objects/").unwrap().1.split_once('?').unwrap().0;
    std::fs::remove_file(app.data_dir().join("objects").join(file)).unwrap();
    caused.by(Code::ObjectNotFound, app.client.get(output)).await;
}

/// Codes for faults of a template, or of the account that asks for it.
async fn templates(app: &TestApp, caused: &mut CausedCodes) {
    let id = app.unzipped(template::archive(&[("index.html", "<p>1")])).await;
    let path = format!("/v1/templates/{id}");
    caused.by(Code::TemplateUnfinished, app.request(Method::GET, &path)).await;
    let previews = template::Previews { png: id.clone(), pdf: id.clone() };
    caused.by(Code::PreviewNotUsable, post(app, &path, &template::save_request("T", &previews))).await;
    let office = app.unzipped(template::word_file()).await;
    let entry = app.request(Method::GET, &format!("/v1/templates/{office}/index-html"));
    let problem = caused.by(Code::EntryNotText, entry).await;
    assert!(problem["detail"].as_str().unwrap().contains(".docx"), "{problem}");
    let begun = app.begin().await;
    assert_eq!(app.put(&begun.upload_url, "\0").await, 200);
    let unzip = app.request(Method::PATCH, &format!("/v1/templates/{}/unzip", begun.id));
    caused.by(Code::TemplateArchiveInvalid, unzip).await;
    for id in ["01900000-0000-7000-8000-000000000000", "nonsense"] {
        let request = app.request(Method::GET, &format!("/v1/templates/{id}"));
        caused.by(Code::TemplateNotFound, request).await;
    }
    let previews = app.previews(&id).await;
    let mut body = template::save_request("T", &previews);
    body["templateInfo"]["permissions"] = json!("public");
    assert_eq!(app.post(&path, &body).await.0, 204);
    app.command(&["account", "create", "reader"]);
    let token = app.command(&["token", "create", "--account", "reader"]);
    let foreign = app.client.delete(format!("{}{path}", app.base)).bearer_auth(token);
    caused.by(Code::NotOwner, foreign).await;
}

/// An address that is too old.
async fn expiry(caused: &mut CausedCodes) {
    let app = TestApp::on_disk(&[("storage.address_ttl_s", "10")]).await;
    let url = app.init(json!({"type": "html", "target": "pdf"})).await.data_url.unwrap();
    app.until("the address has expired", async || app.put(&url, "{}").await == 403).await;
    let problem = caused.by(Code::AddressExpired, app.client.put(&url).body("{}")).await;
    assert!(problem["detail"].as_str().unwrap().contains("storage.address_ttl_s"), "{problem}");
}

/// What an immediate render answers when there is no document.
async fn renders(app: &TestApp, caused: &mut CausedCodes) {
    let wrong = json!({"type": "html", "target": "html", "template": "<%= customer.name %>"});
    let problem = caused.by(Code::RenderFailed, post(app, IMMEDIATE, &wrong)).await;
    assert_eq!(problem["errorCode"], "template_error");
    assert!(problem["detail"].as_str().unwrap().contains("index.html:1"), "{problem}");
    let (_, view) = app.get(&format!("/v1/jobs/{}", problem["jobId"].as_str().unwrap())).await;
    assert_eq!((&view["success"], &view["error"]), (&json!(false), &problem["detail"]), "{view}");
    let slow = json!({"type": "html", "target": "pdf", "template": ENDLESS});
    let problem = caused.by(Code::RenderPending, post(app, IMMEDIATE, &slow)).await;
    let (_, view) = app.get(&format!("/v1/jobs/{}", problem["jobId"].as_str().unwrap())).await;
    assert_eq!(view["status"], "in-progress", "the job goes on");
}

/// What a subscription does not allow.
async fn accounts(app: &TestApp, caused: &mut CausedCodes) {
    let body = json!({"type": "html", "target": "pdf", "template": "<p>1</p>"});
    app.command(&["account", "set", "test", "--documents-per-month", "1"]);
    for path in [INIT, IMMEDIATE] {
        let problem = caused.by(Code::QuotaExceeded, post(app, path, &body)).await;
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("of its 1 documents") && detail.contains("anew from"), "{detail}");
    }
    app.command(&[
        "account",
        "set",
        "test",
        "--documents-per-month",
        "unlimited",
        "--stored-bytes-limit",
        "1",
    ]);
    caused.by(Code::StorageExceeded, app.request(Method::GET, "/v1/templates/init")).await;
    app.command(&["account", "set", "test", "--status", "canceled"]);
    for path in [INIT, IMMEDIATE] {
        caused.by(Code::SubscriptionRequired, post(app, path, &body)).await;
    }
}

/// What is too much at once.
async fn limits(caused: &mut CausedCodes) {
    let mut app = TestApp::on_disk(&[
        ("http.shutdown_grace_s", "0"),
        ("http.rate_limit_per_s", "1"),
        ("http.rate_burst_limit", "50"),
        ("jobs.concurrency", "1"),
        ("jobs.queue_limit", "2"),
        ("jobs.queue_account_limit", "1"),
    ])
    .await;
    let running = start(&app).await;
    app.until("its turn has come, and its place is free", async || start(&app).await == 202).await;
    assert_eq!(running, 202);
    let body = json!({"type": "html", "target": "pdf", "template": ENDLESS});
    let problem = caused.by(Code::RateLimited, post(&app, IMMEDIATE, &body)).await;
    assert!(problem["detail"].as_str().unwrap().contains("jobs.queue_account_limit"), "{problem}");
    app.command(&["account", "create", "other"]);
    app.token = app.command(&["token", "create", "--account", "other"]);
    assert_eq!(start(&app).await, 202);
    let problem = caused.by(Code::Overloaded, post(&app, IMMEDIATE, &body)).await;
    assert!(problem["detail"].as_str().unwrap().contains("jobs.queue_limit"), "{problem}");
    app.until("the token has sent too much", async || app.get("/v1/jobs").await.0 == 429).await;
    let problem = caused.by(Code::RateLimited, app.request(Method::GET, "/v1/jobs")).await;
    assert!(problem["detail"].as_str().unwrap().contains("http.rate_limit_per_s"), "{problem}");
}

/// Prepares and starts a job that takes long; the status of the start.
async fn start(app: &TestApp) -> u16 {
    let job = app.prepared("pdf", ENDLESS, json!({})).await;
    app.post(&format!("/v1/documents/{job}/render"), &json!({})).await.0
}
