//! The life of a template against the real program, as existing clients live it.

use platen::problem::Code;
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::{archive, page, save_request};

#[tokio::test]
async fn a_template_is_begun_uploaded_unzipped_previewed_saved_fetched_and_rendered() {
    let app = TestApp::start().await;
    let id = app.unzipped(page("Hello")).await;
    let (status, answer) = app.get(&format!("/v1/templates/{id}")).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("template_unfinished")));
    assert_eq!(app.shown(&id).await, Err((422, "template_unfinished".to_owned())));
    let previews = app.previews(&id).await;
    assert_eq!(app.get("/v1/templates").await.1["items"], json!([]), "it is not listed yet");
    let body = save_request("Invoice", &previews);
    for _ in 0..2 {
        assert_eq!(
            app.post(&format!("/templates/{id}"), &body).await,
            (204, Value::Null),
            "it can be repeated"
        );
    }

    let (status, template) = app.get(&format!("/v1/templates/{id}")).await;
    assert_eq!(status, 200, "{template}");
    let expected = json!({
        "uuid": id, "title": "Invoice", "description": "For tests.", "type": "html",
        "categories": ["invoice", "other"], "permissions": "private", "contentId": id,
        "sampleData": {"name": "Ann"}
    });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(&template[member], value, "{member}");
    }
    assert_eq!(template["sourceCode"]["entry"], "index.html");
    assert_eq!(template["sourceCode"]["files"][0], json!({"path": "a.css", "bytes": 18}));
    assert_eq!(template["preview"]["png"]["jobId"], previews.png);
    let (status, png) = app.fetch(&template["preview"]["png"]["url"]).await;
    assert!(status == 200 && png.starts_with(b"\x89PNG"));
    let (_, pdf) = app.fetch(&template["preview"]["pdf"]["url"]).await;
    assert_eq!(app.text_of(&pdf).trim(), "Hello Ann");
    let (_, zip) = app.fetch(&template["sourceCode"]["url"]).await;
    assert!(zip.starts_with(b"PK"));

    assert!(app.shown(&id).await.unwrap().contains("Hello Bob"));
    let job =
        app.init(json!({"type": "html", "target": "pdf", "templateId": id, "data": {"name": "Zoë"}})).await;
    assert_eq!((job.data_url, job.template_url), (None, None));
    let view = app.finish(&job.id).await;
    assert_eq!(view["templateId"], id);
    let (_, pdf) = app.fetch(&view["output"]["data"]["url"]).await;
    assert_eq!(app.text_of(&pdf).trim(), "Hello Zoë");
}

#[tokio::test]
async fn an_update_keeps_the_id_and_uses_the_content_up() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let (_, before) = app.get(&format!("/v1/templates/{id}")).await;
    let content = app.unzipped(page("second")).await;
    let previews = app.previews(&content).await;
    let mut body = save_request("Two", &previews);
    body["contentId"] = json!(content);
    for round in 0..2 {
        let (status, answer) = app.update(&format!("/v1/templates/{id}"), &body).await;
        assert_eq!(
            (status, answer),
            (200, json!({"newContentId": content, "warnings": []})),
            "round {round}"
        );
    }
    let (_, after) = app.get(&format!("/v1/templates/{id}")).await;
    assert_eq!(
        (&after["uuid"], &after["contentId"], &after["title"]),
        (&json!(id), &json!(content), &json!("Two"))
    );
    assert_eq!(after["createdAt"], before["createdAt"]);
    assert_eq!(app.get(&format!("/v1/templates/{content}")).await.0, 404);
    assert!(app.shown(&id).await.unwrap().contains("second Bob"));
    assert_eq!(app.fetch(&before["sourceCode"]["url"]).await.0, 404, "the old content is gone");
    assert_eq!(app.fetch(&before["preview"]["pdf"]["url"]).await.0, 404);
    let (_, pdf) = app.fetch(&after["preview"]["pdf"]["url"]).await;
    assert_eq!(app.text_of(&pdf).trim(), "second Ann");
    body["contentId"] = json!("01900000-0000-7000-8000-000000000000");
    let (status, answer) = app.update(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!((status, answer["code"].as_str()), (404, Some("template_not_found")));
}

#[tokio::test]
async fn the_entrys_text_is_read_and_replaced_everywhere() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let path = format!("/v1/templates/{id}/index-html");
    assert_eq!(content_kinds(&app, &id), ["ejs"]);
    let (status, read) = app.get(&path).await;
    assert!(status == 200 && read["indexHtml"].as_str().unwrap().contains("first <%= name %>"), "{read}");
    let body = json!({"indexHtml": "<p>new <%= name %></p>", "templateIndex": "<p>old name</p>"});
    assert_eq!(app.post(&path, &body).await, (204, Value::Null));
    assert_eq!(app.get(&path).await.1["indexHtml"], "<p>new <%= name %></p>");
    assert_eq!(app.shown(&id).await.unwrap(), "<p>new Bob</p>");
    let (_, address) = app.get(&format!("/v1/templates/{id}/presigned-url")).await;
    let (_, zip) = app.fetch(&address["presignedUrl"]).await;
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(zip)).unwrap();
    let text = std::io::read_to_string(zip.by_name("index.html").unwrap()).unwrap();
    assert_eq!(text, "<p>new <%= name %></p>");
    assert!(zip.by_name("a.css").is_ok());
    assert_eq!(app.post(&path, &json!({"templateIndex": "<p>older name</p>"})).await.0, 204);
    assert_eq!(app.shown(&id).await.unwrap(), "<p>older name</p>");
    assert_eq!(content_kinds(&app, &id), ["html"], "it has no tag any more");
    let (status, answer) = app.post(&path, &json!({"indexHtml": "PK\u{3}\u{4}"})).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("template_archive_invalid")));
    assert_eq!(app.shown(&id).await.unwrap(), "<p>older name</p>");
    let (status, answer) = app.post(&path, &json!({"indexHtml": ""})).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("validation_failed")));
}

/// What the records beside a saved template's files say of its content.
fn content_kinds(app: &TestApp, id: &str) -> Vec<String> {
    let mut kinds = Vec::new();
    let mut folders = vec![if app.objects.is_some() { app.scratch().join("bucket") } else { app.data_dir() }];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json")
                && path.to_string_lossy().contains(id)
            {
                let info: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                kinds.push(info["record"]["content"]["kind"].as_str().unwrap().to_owned());
            }
        }
    }
    kinds
}

#[tokio::test]
async fn a_clone_survives_the_deletion_of_its_original() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let (status, clone) = app.send(Method::POST, &format!("/v1/templates/{id}/clone")).await;
    assert_eq!(status, 200, "{clone}");
    let copy = clone["newTemplateId"].as_str().unwrap();
    let (status, deleted) = app.send(Method::DELETE, &format!("/v1/templates/{id}")).await;
    assert_eq!((status, deleted), (200, json!({"templateId": id})));
    for path in ["", "/presigned-url", "/index-html"] {
        assert_eq!(app.get(&format!("/v1/templates/{id}{path}")).await.0, 404);
    }
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{id}")).await.0, 404);
    assert_eq!(app.shown(&id).await, Err((404, "template_not_found".to_owned())));
    let (_, template) = app.get(&format!("/v1/templates/{copy}")).await;
    assert_eq!((&template["title"], &template["contentId"]), (&json!("One"), &json!(copy)));
    assert!(app.shown(copy).await.unwrap().contains("first Bob"));
    let (_, pdf) = app.fetch(&template["preview"]["pdf"]["url"]).await;
    assert_eq!(app.text_of(&pdf).trim(), "first Ann");
    let (_, list) = app.get("/v1/templates").await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_public_template_is_everybodys_to_use_and_its_owners_to_change() {
    let mut app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let previews = app.previews(&id).await;
    let mut body = save_request("One", &previews);
    body["templateInfo"]["permissions"] = json!("public");
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &body).await.0, 204);
    let private = app.saved("Two", page("second")).await;
    app.command(&["account", "create", "other"]);
    app.token = app.command(&["token", "create", "--account", "other"]);

    for path in ["", "/presigned-url", "/index-html"] {
        let (status, answer) = app.get(&format!("/v1/templates/{private}{path}")).await;
        assert_eq!((status, answer["code"].as_str()), (404, Some("template_not_found")));
        assert_eq!(app.get(&format!("/v1/templates/{id}{path}")).await.0, 200);
    }
    let (_, template) = app.get(&format!("/v1/templates/{id}")).await;
    assert_eq!(template["permissions"], "public");
    assert_eq!(template["preview"]["png"]["jobId"], Value::Null);
    assert_eq!(app.fetch(&template["preview"]["png"]["url"]).await.0, 200);
    assert!(app.shown(&id).await.unwrap().contains("first Bob"));
    assert_eq!(app.get("/v1/templates").await.1["items"], json!([]), "a list is of one's own");

    let refused = |answer: (u16, Value)| (answer.0, answer.1["code"].as_str().map(str::to_owned));
    let not_owner = (403, Some("not_owner".to_owned()));
    assert_eq!(refused(app.send(Method::DELETE, &format!("/v1/templates/{id}")).await), not_owner);
    let text = json!({"indexHtml": "<p>mine"});
    assert_eq!(refused(app.post(&format!("/v1/templates/{id}/index-html"), &text).await), not_owner);
    let own = app.previews(&id).await;
    assert_eq!(
        refused(app.post(&format!("/v1/templates/{id}"), &save_request("Mine", &own)).await),
        not_owner
    );
    assert_eq!(refused(app.send(Method::PATCH, &format!("/v1/templates/{id}/unzip")).await), not_owner);

    let (_, clone) = app.send(Method::POST, &format!("/v1/templates/{id}/clone")).await;
    let (_, copy) = app.get(&format!("/v1/templates/{}", clone["newTemplateId"].as_str().unwrap())).await;
    assert_eq!((&copy["permissions"], &copy["preview"]["pdf"]["jobId"]), (&json!("private"), &Value::Null));
}

#[tokio::test]
async fn previews_are_both_or_neither_and_count_nothing() {
    let app = TestApp::start().await;
    app.command(&["account", "set", "test", "--documents-per-month", "1"]);
    let id = app.unzipped(archive(&[("index.html", "<p><%= name.first %></p>")])).await;
    let path = format!("/v1/templates/{id}/render-previews");
    let good = json!({"type": "react", "data": {"name": {"first": "Ann"}}, "formatOpts": {"format": "a5"}});
    let (status, answer) = app.post(&path, &good).await;
    assert_eq!(status, 200, "{answer}");
    let jobs = app.get("/v1/jobs").await.1["items"].as_array().unwrap().clone();
    let [one, other] = [&jobs[0], &jobs[1]].map(run_of);
    assert!(one.start < other.end && other.start < one.end, "they run at once: {one:?} {other:?}");
    let before = jobs.len();
    let (status, answer) = app.post(&path, &json!({"type": "html", "data": {}})).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("render_failed")), "{answer}");
    assert!(answer["detail"].as_str().unwrap().contains("name"), "{answer}");
    assert!(answer["jobId"].is_string());
    let (_, after) = app.get("/v1/jobs").await;
    let made = after["items"].as_array().unwrap().len() - before;
    assert!(made <= 2 && after["items"].as_array().unwrap()[..made].iter().all(|job| job["success"] != true));
    assert!(app.command(&["account", "list"]).contains("documents=0/1"), "they count nothing");
    app.command(&["account", "set", "test", "--status", "canceled"]);
    let (status, answer) = app.post(&path, &good).await;
    assert_eq!((status, answer["code"].as_str()), (402, Some("subscription_required")), "{answer}");
}

/// When the job's run began and ended, in milliseconds.
fn run_of(job: &Value) -> std::ops::Range<u64> {
    let at = |member: &str| -> i128 {
        let text = job[member].as_str().unwrap();
        let moment = time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339);
        moment.unwrap().unix_timestamp_nanos() / 1_000_000
    };
    let queue = job["output"]["metadata"]["queueTime"].as_u64().unwrap();
    u64::try_from(at("startedAt")).unwrap() + queue..u64::try_from(at("finishedAt")).unwrap()
}

#[tokio::test]
async fn a_preview_that_is_not_one_of_the_template_is_refused_by_name() {
    let app = TestApp::start().await;
    let (id, other) = (app.unzipped(page("one")).await, app.unzipped(page("two")).await);
    let (own, foreign) = (app.previews(&id).await, app.previews(&other).await);
    let job = app.init(json!({"type": "html", "target": "png"})).await;
    let nobody = "01900000-0000-7000-8000-000000000000";
    for (png, pdf, why) in [
        (foreign.png.as_str(), own.pdf.as_str(), "another template"),
        (&own.pdf, &own.pdf, "makes pdf, and png is wanted"),
        (&own.png, nobody, "is no job of yours"),
        ("nonsense", &own.pdf, "is no job id"),
        (&job.id, &own.pdf, "another template"),
    ] {
        let mut body = save_request("One", &own);
        body["previewIds"] = json!({"pngJobId": png, "pdfJobId": pdf});
        let (status, answer) = app.post(&format!("/v1/templates/{id}"), &body).await;
        assert_eq!((status, answer["code"].as_str()), (422, Some("preview_not_usable")), "{answer}");
        assert!(answer["detail"].as_str().unwrap().contains(why), "{why}: {answer}");
    }
    assert_eq!(app.get(&format!("/v1/templates/{id}")).await.0, 422, "nothing is saved");
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &save_request("One", &own)).await.0, 204);
}

#[tokio::test]
async fn template_info_is_checked_and_kept_as_sent() {
    let app = TestApp::with(&[("templates.title_limit_chars", "10")]).await;
    let id = app.unzipped(page("one")).await;
    let body = json!({
        "templateInfo": {"title": "x".repeat(11), "type": "doc", "sampleData": 1, "categories": [1], "permissions": "all"},
        "previewIds": {"pngJobId": ""}
    });
    let (status, answer) = app.post(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some(Code::ValidationFailed.name())));
    let pointers: Vec<_> =
        answer["errors"].as_array().unwrap().iter().map(|fault| fault["pointer"].as_str().unwrap()).collect();
    assert_eq!(
        pointers,
        [
            "/templateInfo/title",
            "/templateInfo/type",
            "/templateInfo/sampleData",
            "/templateInfo/categories",
            "/templateInfo/permissions",
            "/previewIds/pngJobId",
            "/previewIds/pdfJobId"
        ],
        "{answer}"
    );
    let previews = app.previews(&id).await;
    let sent = format!(
        r#"{{"templateInfo":{{"title":"T","type":"react","sampleData":{{"b": 1.50,"a":[]}},"description":null,
        "sourceCode":"https://example.com/t","unknown":1}},
        "previewIds":{{"pngJobId":"{}","pdfJobId":"{}"}}}}"#,
        previews.png, previews.pdf
    );
    let request = app.request(Method::POST, &format!("/v1//templates/{id}/")).body(sent);
    assert_eq!(request.send().await.unwrap().status(), 204);
    let raw =
        app.request(Method::GET, &format!("/v1/templates/{id}")).send().await.unwrap().text().await.unwrap();
    assert!(raw.contains(r#""sampleData":{"b": 1.50,"a":[]}"#), "{raw}");
    let template: Value = serde_json::from_str(&raw).unwrap();
    assert_eq!((&template["type"], &template["description"]), (&json!("framework"), &json!("")));
    assert_eq!(
        (&template["categories"], &template["sourceCode"]["link"]),
        (&json!([]), &json!("https://example.com/t"))
    );
}

#[tokio::test]
async fn unzip_and_upload_can_be_repeated_until_the_template_is_saved() {
    let app = TestApp::start().await;
    let begun = app.begin().await;
    let unzip = format!("/v1/templates/{}/unzip", begun.id);
    let (status, answer) = app.send(Method::PATCH, &unzip).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("template_archive_invalid")), "{answer}");
    assert_eq!(app.put(&begun.upload_url, archive(&[("../index.html", "x")])).await, 200);
    let (status, answer) = app.send(Method::PATCH, &unzip).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("template_archive_invalid")), "{answer}");
    assert!(answer["detail"].as_str().unwrap().contains("../index.html"), "{answer}");
    for text in ["first", "second"] {
        assert_eq!(app.put(&begun.upload_url, page(text)).await, 200);
        for method in [Method::PATCH, Method::POST, Method::PATCH] {
            assert_eq!(app.send(method, &unzip).await.0, 204);
        }
        let (_, read) = app.get(&format!("/v1/templates/{}/index-html", begun.id)).await;
        assert!(read["indexHtml"].as_str().unwrap().contains(text), "{read}");
    }
    let previews = app.previews(&begun.id).await;
    assert_eq!(app.post(&format!("/v1/templates/{}", begun.id), &save_request("T", &previews)).await.0, 204);
    assert_eq!(app.send(Method::PATCH, &unzip).await.0, 204);
    // A URL of the store itself accepts the upload, and the service ignores it.
    let taken = if app.objects.is_some() { 200 } else { 403 };
    assert_eq!(app.put(&begun.upload_url, page("third")).await, taken);
    assert_eq!(app.send(Method::PATCH, &unzip).await.0, 204);
    let (_, read) = app.get(&format!("/v1/templates/{}/index-html", begun.id)).await;
    assert!(read["indexHtml"].as_str().unwrap().contains("second"), "{read}");
}

#[tokio::test]
async fn a_list_shows_saved_templates_newest_first_and_filters() {
    let app = TestApp::start().await;
    let id = app.saved("Invoice for Åse", page("x")).await;
    let mut ids = vec![id.clone()];
    for _ in 0..3 {
        let (_, clone) = app.send(Method::POST, &format!("/v1/templates/{id}/clone")).await;
        ids.insert(0, clone["newTemplateId"].as_str().unwrap().to_owned());
    }
    app.unzipped(page("unfinished")).await;
    let previews = app.previews(&id).await;
    let mut body = save_request("Report", &previews);
    body["templateInfo"]["categories"] = json!(["report"]);
    body["templateInfo"]["type"] = json!("ejs");
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &body).await.0, 204);
    let list = async |query: &str| {
        let (status, page) = app.get(&format!("/v1/templates?{query}")).await;
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().unwrap().iter();
        (
            items.map(|item| item["uuid"].as_str().unwrap().to_owned()).collect::<Vec<_>>(),
            page["nextCursor"].clone(),
        )
    };
    assert_eq!(list("").await, (ids.clone(), Value::Null));
    let (first, cursor) = list("limit=2").await;
    assert_eq!(first, ids[..2]);
    let (rest, _) = list(&format!("limit=10&cursor={}", cursor.as_str().unwrap())).await;
    assert_eq!(rest, ids[2..]);
    assert_eq!(list("q=%C3%A5SE").await.0, ids[..3]);
    assert_eq!(list("category=report").await.0, ids[3..]);
    assert_eq!(list("type=ejs&q=rep").await.0, ids[3..]);
    assert_eq!(list("type=html&category=report").await.0, Vec::<String>::new());
    let (status, answer) = app.get("/v1/templates?limit=0&type=x&cursor=y").await;
    assert_eq!((status, answer["errors"].as_array().unwrap().len()), (422, 3));
}
