//! What the published clients do: each rule of theirs that cannot be changed, against the real service.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::app::TestApp;

const PAGE: &str =
    "<!doctype html><meta charset=utf-8><p><%= typeof name === 'undefined' ? 'nobody' : name %></p>";

#[tokio::test]
async fn a_failed_job_is_done_with_success_false_and_a_text() {
    let app = TestApp::start().await;
    let job = app.prepared("html", "<%= missing.name %>", json!({})).await;
    let path = format!("/v1/jobs/{job}");
    let (_, before) = app.get(&path).await;
    assert_eq!((&before["status"], &before["success"]), (&json!("initialized"), &Value::Null));
    assert_eq!((&before["output"], &before["error"]), (&Value::Null, &Value::Null));
    let view = app.finish(&job).await;
    assert_eq!((&view["status"], &view["success"]), (&json!("done"), &json!(false)));
    assert!(view["error"].is_string() && view["output"].is_null(), "{view}");
}

#[tokio::test]
async fn an_output_has_a_url_without_token_and_its_times() {
    let app = TestApp::start().await;
    let (view, file) = app.render("html", PAGE, json!({"name": "Zoë"})).await;
    assert!(String::from_utf8(file.clone()).unwrap().contains("<p>Zoë</p>"));
    let output = &view["output"];
    assert!(output["metadata"]["renderTime"].is_number(), "{view}");
    let url = output["data"]["url"].as_str().unwrap();
    assert!(url.starts_with(&app.addresses()), "never the caller's Host header: {url}");
    let answer = app.client.get(url).header("range", "bytes=-4").send().await.unwrap();
    assert_eq!(answer.status(), 206);
    assert_eq!(answer.headers()["content-disposition"], "attachment; filename=\"document.html\"");
    let etag = answer.headers()["etag"].clone();
    assert_eq!(answer.bytes().await.unwrap(), file[file.len() - 4..]);
    if app.objects.is_none() {
        let again = app.client.get(url).header("if-none-match", etag).send().await.unwrap();
        assert_eq!(again.status(), 304);
    }
}

#[tokio::test]
async fn an_upload_url_is_null_exactly_when_its_input_was_sent() {
    let app = TestApp::start().await;
    let body = json!({"type": "ejs", "target": "html", "templateId": "", "data": null, "formatOpts": []});
    let job = app.init(body).await;
    assert!(job.data_url.is_some() && job.template_url.is_some());
    let job = app.init(json!({"type": "ejs", "target": "html", "data": {"name": "init"}})).await;
    assert_eq!(job.data_url, None);
    assert_eq!(app.put(&job.template_url.unwrap(), PAGE).await, 200);
    let view = app.finish(&job.id).await;
    let url = view["output"]["data"]["url"].as_str().unwrap();
    let page = app.client.get(url).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("<p>init</p>"), "{page}");
}

/// Sends a request with this `Content-Length`, whatever its body has, and gives all that is answered.
async fn sent_with_length(app: &TestApp, head: &str, length: usize, body: &str) -> String {
    let request = format!("{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    let mut stream = TcpStream::connect(app.base.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// The sentence about a body that a length in characters has cut to `bytes` bytes.
fn cut_after(bytes: usize) -> String {
    format!("ends after {bytes} bytes: a client whose Content-Length counts characters instead of bytes")
}

#[tokio::test]
async fn a_length_in_characters_uploads_what_it_says_and_fails_the_job_with_the_reason() {
    let app = TestApp::on_disk(&[]).await;
    let data = r#"{"name": "Größe 東京 🦀"}"#;
    for length in [data.chars().count(), data.encode_utf16().count()] {
        let job = app.init(json!({"type": "html", "target": "html"})).await;
        assert_eq!(app.put(&job.template_url.unwrap(), PAGE).await, 200);
        let url = job.data_url.unwrap();
        let head = format!("PUT {} HTTP/1.1", url.strip_prefix(&app.base).unwrap());
        let answer = sent_with_length(&app, &head, length, data).await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n"),
            "{answer}"
        );
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
        let view = app.finish(&job.id).await;
        assert_eq!(view["errorCode"], "data_invalid");
        let error = view["error"].as_str().unwrap();
        assert!(error.contains("not complete JSON") && error.contains(&cut_after(length)), "{error}");
    }
}

#[tokio::test]
async fn json_that_a_length_in_characters_cuts_off_is_refused_with_the_remedy() {
    let app = TestApp::start().await;
    let refused = async |path: &str, body: &str, length: usize| {
        let head = format!("POST {path} HTTP/1.1\r\nAuthorization: Bearer {}", app.token);
        let answer = sent_with_length(&app, &head, length, body).await;
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
        answer
    };
    let body = |name: &str| json!({"type": "html", "target": "html", "data": {"name": name}}).to_string();
    let (umlauts, ascii) = (body("Größe"), body("Groesse"));
    for path in ["/v1/documents/init", "/v1/documents/immediate-render"] {
        let characters = umlauts.chars().count();
        let answer = refused(path, &umlauts, characters).await;
        assert!(answer.contains("malformed_json") && answer.contains(&cut_after(characters)), "{answer}");
        let answer = refused(path, &ascii, ascii.len() - 1).await;
        assert!(
            answer.contains("not complete") && !answer.contains("Content-Length"),
            "both counts agree: {answer}"
        );
    }
}

/// One published client stops behind the head, for its library counts the bytes.
#[tokio::test]
async fn an_upload_that_ends_before_its_length_leaves_nothing_behind() {
    let app = TestApp::on_disk(&[]).await;
    let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
    let url = job.template_url.unwrap();
    let path = url.strip_prefix(&app.base).unwrap();
    for sent in ["", "<p>Gr"] {
        let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{sent}");
        let mut stream = TcpStream::connect(app.base.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let view = app.finish(&job.id).await;
    assert_eq!(view["errorCode"], "template_missing", "{view}");
}

/// Node's own client with connections that are kept, as one of the published clients uses it: it reports
/// every byte after the answer as an error of the request.
#[tokio::test]
async fn nodes_client_with_a_length_in_characters_sees_an_answer_and_no_error() {
    let app = TestApp::start().await;
    let script = r"
        const http = require('http');
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        const call = (method, url, headers, body) => new Promise((resolve, reject) => {
            const request = http.request(url, { method, agent, headers }, answer => {
                let text = '';
                answer.on('data', chunk => text += chunk).on('error', reject);
                answer.on('end', () => resolve({ status: answer.statusCode, text }));
            });
            request.on('error', reject).end(body);
        });
        (async () => {
            const [base, token] = process.argv.slice(1);
            const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
            const body = JSON.stringify({ type: 'html', target: 'html' });
            const data = JSON.stringify({ name: '東京🦀'.repeat(200000) });
            for (let round = 0; round < 5; round++) {
                const init = await call('POST', base + '/documents/init', headers, body);
                const job = JSON.parse(init.text);
                const short = { 'content-length': data.length };
                const put = await call('PUT', job.presignedDataUploadUrl, short, data);
                if (put.status !== 200 || put.text !== '') throw new Error(JSON.stringify(put));
            }
            agent.destroy();
        })().catch(error => { console.error(error); process.exit(1); });
    ";
    let node = tokio::process::Command::new("node").args(["-e", script, &app.base, &app.token]).output();
    let output = node.await.expect("node is installed by scripts/setup");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_start_can_be_repeated_before_and_after_the_end() {
    let app = TestApp::start().await;
    let job = app.prepared("pdf", PAGE, json!({})).await;
    let path = format!("/documents/{job}/render");
    for _ in 0..3 {
        let (status, answer) = app.post(&path, &json!({"shouldWaitForRenderCompletion": null})).await;
        assert!(matches!(status, 200 | 202), "{status} {answer}");
    }
    app.ended(&job).await;
    for body in [json!({}), json!({"shouldWaitForRenderCompletion": true, "uploadPresignedS3Url": ""})] {
        let (status, answer) = app.post(&path, &body).await;
        assert_eq!((status, &answer["success"]), (200, &json!(true)), "{answer}");
    }
}

#[tokio::test]
async fn a_waiting_start_answers_in_its_time_with_the_place_to_ask() {
    let app = TestApp::with(&[("http.wait_default_s", "1"), ("http.shutdown_grace_s", "0")]).await;
    let endless = "<script>setInterval(() => document.body.append('x'), 20)</script>";
    let job = app.prepared("pdf", endless, json!({})).await;
    let path = format!("/v1/documents/{job}/render");
    let body = json!({"shouldWaitForRenderCompletion": true}).to_string();
    let answer = app.request(reqwest::Method::POST, &path).body(body).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    assert_eq!(answer.headers()["location"], format!("/v1/jobs/{job}"));
    assert!(answer.headers().contains_key("retry-after"));
    assert_eq!(answer.json::<Value>().await.unwrap()["status"], "in-progress");
    let body = json!({"type": "html", "target": "pdf", "template": endless});
    let (status, problem) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!((status, &problem["code"]), (422, &json!("render_pending")));
    assert!(problem["jobId"].is_string() && problem["jobId"] != job.as_str(), "{problem}");
}

#[tokio::test]
async fn odd_requests_of_existing_clients_are_accepted() {
    let app = TestApp::start().await;
    let odd = r#"{"type":"react","target":"html","templateId":"","data":[],"formatOpts":{"fromPage":1.0,
        "toPage":null,"format":"A4","someday":{"a":1}},"uploadPresignedS3Url":null,"extra":[1]}"#;
    let url = format!("{}//documents//init/", app.base);
    let answer = app.client.post(&url).bearer_auth(&app.token).body(odd).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let job: Value = answer.json().await.unwrap();
    assert_eq!(job["presignedDataUploadUrl"], Value::Null, "an empty array is an empty object, and sent");
    assert_eq!(app.put(job["presignedTemplateUploadUrl"].as_str().unwrap(), PAGE).await, 200);
    let id = job["jobId"].as_str().unwrap();
    let empty = app.request(reqwest::Method::POST, &format!("/documents/{id}/render"));
    let answer = empty.header("content-type", "application/json").send().await.unwrap();
    assert!(answer.status().is_success());
    let view = app.ended(id).await;
    assert_eq!((&view["success"], &view["type"]), (&json!(true), &json!("framework")), "{view}");
    let warnings = view["warnings"].to_string();
    assert!(warnings.contains("someday"), "an ignored key is told: {view}");
    assert_eq!(view["formatOpts"]["fromPage"], 1.0);
}

#[tokio::test]
async fn data_reaches_the_template_in_its_own_spelling_and_order() {
    let app = TestApp::start().await;
    let template = "<% for (const key in rows) { %><%= key %>=<%= rows[key] %>;<% } %>";
    let body = format!(
        r#"{{"type":"ejs","target":"html","template":{},"data":{{"rows":{{"zeta":1.50,"alpha":1e3,"mid":"ü"}}}}}}"#,
        json!(template)
    );
    let request = app.request(reqwest::Method::POST, "/v1/documents/immediate-render").body(body);
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    let page = app.client.get(answer["url"].as_str().unwrap()).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("zeta=1.5;alpha=1000;mid=ü;"), "{page}");
}

#[tokio::test]
async fn every_fault_of_a_body_is_named() {
    let app = TestApp::start().await;
    let body = json!({"type": "htm", "data": 7, "formatOpts": {"scale": 9, "margin": {"top": "high"}}});
    let (status, problem) = app.post("/v1/documents/init", &body).await;
    assert_eq!((status, &problem["code"]), (422, &json!("validation_failed")));
    let errors = problem["errors"].as_array().unwrap();
    let pointers: Vec<_> = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    assert_eq!(
        pointers,
        ["/type", "/target", "/formatOpts/margin/top", "/formatOpts/scale", "/data"],
        "{problem}"
    );
    assert_eq!(problem["message"], problem["detail"]);
}
