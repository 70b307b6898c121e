//! Members and names that nobody reads: told with what was meant, and a promise among them refused.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, read};

const MISSPELT: &str = "formatOptions is not known to this call and was ignored; did you mean formatOpts?";

#[tokio::test]
async fn a_misspelt_member_is_told_in_the_answer_and_kept_in_the_job() {
    let app = TestApp::start().await;
    let body =
        json!({"type": "html", "target": "html", "formatOptions": {"landscape": true}, "landscape": true});
    let told = json!([MISSPELT, "landscape is an option: send formatOpts.landscape; here it was ignored"]);
    let (status, job) = app.post("/v1/documents/init", &body).await;
    assert_eq!((status, &job["warnings"]), (200, &told));
    let id = job["jobId"].as_str().unwrap();
    assert_eq!(app.get(&format!("/v1/jobs/{id}")).await.1["warnings"], told, "before it is started");
    assert_eq!(app.put(job["presignedTemplateUploadUrl"].as_str().unwrap(), "<p>x").await, 200);
    let render = format!("/v1/documents/{id}/render");
    let body = json!({"shouldWaitForRenderCompletion": true, "wait": 3, "colour": "red"});
    let (status, started) = app.post(&render, &body).await;
    let lines = started["warnings"].as_array().unwrap();
    assert_eq!((status, lines.len(), &lines[0]), (200, 4, &told[0]), "{started}");
    for name in ["wait", "colour"] {
        let is_told = |line: &Value| line.as_str().unwrap().starts_with(&format!("{name} is not known"));
        assert!(lines.iter().any(is_told), "{started}");
    }
    assert_eq!(app.ended(id).await["warnings"], started["warnings"]);
    let (_, again) = app.post(&render, &json!({"again": 1})).await;
    assert_eq!(again["warnings"].as_array().unwrap().len(), 5, "{again}");
    assert_eq!(app.ended(id).await["warnings"], started["warnings"], "a repeated start changes nothing");

    // Type and target are known in any case.
    let body = json!({"type": "Html", "target": "HTML", "template": "<p>x", "formatOptions": {}});
    let (status, made) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!((status, &made["warnings"]), (200, &json!([MISSPELT])));
    // A job that is cancelled before it runs keeps what was told.
    let (_, job) = app
        .post(
            "/v1/documents/init",
            &json!({"type": "html", "target": "pdf", "zoom": 2, "formatOpts": {"lanscape": true}}),
        )
        .await;
    let path = format!("/v1/jobs/{}", job["jobId"].as_str().unwrap());
    let (status, view) = read(app.request(Method::DELETE, &path).send().await.unwrap()).await;
    assert_eq!((status, &view["errorCode"]), (200, &json!("cancelled")), "{view}");
    assert_eq!(
        view["warnings"],
        json!([
            "formatOpts.lanscape is not known to this service and was ignored; did you mean landscape?",
            "zoom is not known to this call and was ignored",
        ])
    );
}

#[tokio::test]
async fn a_promise_beside_the_options_is_refused_and_one_that_asks_for_nothing_is_not() {
    let app = TestApp::start().await;
    let page = json!({"type": "html", "target": "pdf", "template": "<p>x"});
    for path in ["/v1/documents/init", "/v1/documents/immediate-render"] {
        for (name, sent) in [("password", json!("x")), ("PDF/A", json!("2b")), ("user_password", json!(""))] {
            let mut body = page.clone();
            body[name] = sent;
            if path.ends_with("init") {
                body.as_object_mut().unwrap().remove("template");
            }
            let (status, problem) = app.post(path, &body).await;
            assert_eq!((status, &problem["code"]), (422, &json!("validation_failed")), "{problem}");
            let pointer = format!("/{}", name.replace('/', "~1"));
            assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
            let detail = problem["errors"][0]["detail"].as_str().unwrap();
            assert!(detail.starts_with("belongs in formatOpts"), "{detail}");
        }
    }
    let mut body = page;
    (body["password"], body["sign"]) = (json!(false), json!(null));
    // Data is nobody's option.
    body["data"] = json!({"password": "x", "formatOptions": 1});
    let (status, made) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!((status, made["warnings"].as_array().unwrap().len()), (200, 1), "{made}");
}

#[tokio::test]
async fn templates_and_queries_tell_what_nobody_reads() {
    let app = TestApp::start().await;
    let (_, created) = app.get("/v1/templates/init").await;
    let id = created["templateId"].as_str().unwrap();
    let path = format!("/v1/templates/{id}");
    let upload = created["presignedTemplateUploadUrl"].as_str().unwrap();
    assert_eq!(app.put(upload, "<p><%= name %>").await, 200);
    assert_eq!(app.send(Method::PATCH, &format!("{path}/unzip")).await.0, 204);
    let set = app.request(Method::POST, &format!("{path}/index-html"));
    let set = set.json(&json!({"indexHtml": "<p><%= name %></p>", "index_html": 1})).send().await.unwrap();
    assert_eq!((set.status().as_u16(), &set.headers()["x-warnings"]), (204, &"1".parse().unwrap()));
    let render = format!("{path}/render-previews");
    let (status, problem) = app.post(&render, &json!({"type": "html", "password": "x"})).await;
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/password")), "{problem}");
    let body = json!({"type": "html", "data": {"name": "Zoë"}, "formatOpt": {}});
    let (status, previews) = app.post(&render, &body).await;
    let told = "formatOpt is not known to this call and was ignored; did you mean formatOpts?";
    assert_eq!((status, &previews["warnings"]), (200, &json!([told])), "{previews}");
    let ids = ["pngPreview", "pdfPreview"].map(|name| previews[name]["jobId"].as_str().unwrap());
    assert_eq!(app.get(&format!("/v1/jobs/{}", ids[0])).await.1["warnings"], json!([told]));
    let info = json!({"title": "t", "type": "html", "tags": ["x"], "category": ["y"]});
    let previews = json!({"pngJobId": ids[0], "pdfJobId": ids[1], "svgJobId": 1});
    let saved = app.request(Method::POST, &path);
    let saved = saved.json(&json!({"templateInfo": info, "previewIds": previews})).send().await.unwrap();
    let count = saved.headers().get("x-warnings").cloned();
    assert_eq!((saved.status().as_u16(), count), (204, Some("3".parse().unwrap())));

    let (status, page) = app.get("/v1/jobs?statsu=done&limit=1").await;
    let told = "the query's statsu is not known to this call and was ignored; did you mean status?";
    assert_eq!((status, &page["warnings"]), (200, &json!([told])));
    assert_eq!(app.get("/v1/templates?limit=1").await.1["warnings"], json!([]));
}
