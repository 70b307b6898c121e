//! Saved Office templates as existing clients make them: begun, uploaded, unzipped, previewed, saved, updated, cloned, used by
//! others, rendered to pages, pictures and files of their own.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::{Previews, save_request};
use crate::unfilled::{office_file, packed, unpacked, with};

/// A template of each type, with what it shows for its data, and another file of the type.
struct Office {
    kind: &'static str,
    /// What is uploaded.
    upload: Vec<u8>,
    entry: &'static str,
    data: Value,
    shows: &'static str,
    variables: Value,
    other: (Vec<u8>, &'static str),
}

fn invoice(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/invoice").join(name)).unwrap()
}

/// A picture of one pixel.
fn picture() -> Vec<u8> {
    let text =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap()
}

/// A Word file with a picture beside it.
fn letter() -> Office {
    let docx = with(&invoice("invoice.docx"), "{number}", "{number} {%logo}");
    let mut data: Value = serde_json::from_slice(&invoice("data.json")).unwrap();
    data["logo"] = json!("img/logo.png");
    Office {
        kind: "docx",
        upload: packed(&[("index.docx", &docx), ("img/logo.png", &picture())]),
        entry: "index.docx",
        data,
        shows: "Invoice 2026-0147",
        variables: json!("logo"),
        other: (office_file("letter.rtf"), "Bakery Nordlicht"),
    }
}

fn table() -> Office {
    Office {
        kind: "xlsx",
        upload: with(&office_file("table.xlsx"), "Spelt", "{grain}"),
        entry: "index.xlsx",
        data: json!({"grain": "Spelt"}),
        shows: "Spelt",
        variables: json!("grain"),
        other: (office_file("table.xls"), "Spelt"),
    }
}

fn slides() -> Office {
    Office {
        kind: "pptx",
        upload: with(&office_file("slides.pptx"), "since 1921", "since {year}"),
        entry: "index.pptx",
        data: json!({"year": 1921}),
        shows: "Bread since 1921",
        variables: json!("year"),
        other: (office_file("slides.odp"), "Bread since 1921"),
    }
}

/// The first job waits for LibreOffice's start as well, which takes long where many tests run at once.
const PATIENT: [(&str, &str); 1] = [("http.wait_default_s", "55")];

impl TestApp {
    async fn office_previews(&self, template: &str, (kind, data): (&str, &Value)) -> Previews {
        let body = json!({"type": kind, "data": data});
        let (status, answer) = self.post(&format!("/v1/templates/{template}/render-previews"), &body).await;
        assert_eq!(status, 200, "{answer}");
        for (member, head) in [("pngPreview", &b"\x89PNG"[..]), ("pdfPreview", b"%PDF-")] {
            let (status, file) = self.fetch(&answer[member]["url"]).await;
            assert!(status == 200 && file.starts_with(head), "{member}: {:?}", &file[..8.min(file.len())]);
        }
        let job = |member: &str| answer[member]["jobId"].as_str().unwrap().to_owned();
        Previews { png: job("pngPreview"), pdf: job("pdfPreview") }
    }

    /// The document that a saved template becomes.
    async fn of_template(&self, (kind, target): (&str, &str), template: &str, data: &Value) -> Vec<u8> {
        let body = json!({"type": kind, "target": target, "templateId": template, "data": data});
        let (status, answer) = self.post("/v1/documents/immediate-render", &body).await;
        assert_eq!(status, 200, "{answer}");
        self.fetch(&answer["url"]).await.1
    }
}

fn save_request_of(office: &Office, previews: &Previews) -> Value {
    let mut body = save_request("Office", previews);
    body["templateInfo"]["type"] = json!(office.kind);
    body["templateInfo"]["sampleData"] = office.data.clone();
    body["templateInfo"]["permissions"] = json!("public");
    body
}

async fn lives(app: &mut TestApp, office: &Office) {
    let (kind, data) = (office.kind, &office.data);
    let id = app.unzipped(office.upload.clone()).await;
    let path = format!("/v1/templates/{id}");
    let previews = app.office_previews(&id, (kind, data)).await;
    let body = save_request_of(office, &previews);
    for _ in 0..2 {
        assert_eq!(app.post(&path, &body).await, (204, Value::Null), "it can be repeated");
    }

    let (_, template) = app.get(&path).await;
    assert_eq!(
        (&template["type"], &template["sourceCode"]["entry"], &template["sampleData"]),
        (&json!(kind), &json!(office.entry), data)
    );
    let variables = template["variables"].as_array();
    let is_listed = variables.map_or(office.variables.is_null(), |found| found.contains(&office.variables));
    assert!(is_listed, "{}", template["variables"]);
    let (_, pdf) = app.fetch(&template["preview"]["pdf"]["url"]).await;
    assert!(app.text_of(&pdf).contains(office.shows), "{}", app.text_of(&pdf));
    let (_, png) = app.fetch(&template["preview"]["png"]["url"]).await;
    assert!(png.starts_with(b"\x89PNG"));
    let (_, listed) = app.get(&format!("/v1/templates?type={kind}")).await;
    assert_eq!(listed["items"][0]["uuid"], id, "{listed}");

    // Its text is none, its archive opens and can be uploaded again.
    let index = format!("{path}/index-html");
    for (status, answer) in [app.get(&index).await, app.post(&index, &json!({"indexHtml": "<p>"})).await] {
        assert_eq!((status, answer["code"].as_str()), (422, Some("entry_not_text")), "{answer}");
        assert!(answer["detail"].as_str().unwrap().contains(office.entry), "{answer}");
    }
    let (_, address) = app.get(&format!("{path}/presigned-url")).await;
    let (_, archive) = app.fetch(&address["presignedUrl"]).await;
    assert!(unpacked(&archive).iter().any(|(name, _)| name == office.entry));
    let again = app.unzipped(archive).await;
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{again}")).await.0, 200);

    // As a job with an id of its template, and at once.
    let job = app.init(json!({"type": kind, "target": "pdf", "templateId": id, "data": data})).await;
    assert_eq!((job.data_url, job.template_url), (None, None));
    let view = app.finish(&job.id).await;
    assert_eq!((&view["success"], &view["templateId"]), (&json!(true), &json!(id)), "{view}");
    assert!(app.of_template((kind, "png"), &id, data).await.starts_with(b"\x89PNG"));
    assert!(app.of_template((kind, "jpg"), &id, data).await.starts_with(b"\xff\xd8\xff"));
    assert!(app.of_template((kind, kind), &id, data).await.starts_with(b"PK"));

    clones_and_updates(app, office, &id).await;
}

/// A clone survives its original, gets another content, and is made public.
async fn clones_and_updates(app: &mut TestApp, office: &Office, id: &str) {
    let kind = office.kind;
    let (status, clone) = app.send(Method::POST, &format!("/v1/templates/{id}/clone")).await;
    assert_eq!(status, 200, "{clone}");
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{id}")).await.0, 200);
    let copy = clone["newTemplateId"].as_str().unwrap();
    let pdf = app.of_template((kind, "pdf"), copy, &office.data).await;
    assert!(app.text_of(&pdf).contains(office.shows), "{}", app.text_of(&pdf));

    let (other, shows) = &office.other;
    let content = app.unzipped(other.clone()).await;
    let previews = app.office_previews(&content, (kind, &json!({}))).await;
    let mut body = save_request_of(office, &previews);
    body["contentId"] = json!(content);
    let (status, answer) = app.update(&format!("/v1/templates/{copy}"), &body).await;
    assert_eq!((status, answer), (200, json!({"newContentId": content, "warnings": []})));

    let owner = app.token.clone();
    let name = format!("other-{kind}");
    app.command(&["account", "create", &name]);
    app.token = app.command(&["token", "create", "--account", &name]);
    let pdf = app.of_template((kind, "pdf"), copy, &json!({})).await;
    assert!(app.text_of(&pdf).contains(shows), "{}", app.text_of(&pdf));
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{copy}")).await.0, 403);
    app.token = owner;
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{copy}")).await.0, 200);
}

#[tokio::test]
async fn a_word_template_with_pictures_beside_it_lives_as_a_page_does() {
    lives(&mut TestApp::with(&PATIENT).await, &letter()).await;
}

#[tokio::test]
async fn an_excel_template_lives_as_a_page_does() {
    lives(&mut TestApp::with(&PATIENT).await, &table()).await;
}

#[tokio::test]
async fn a_powerpoint_template_lives_as_a_page_does() {
    lives(&mut TestApp::with(&PATIENT).await, &slides()).await;
}

#[tokio::test]
async fn previews_of_one_content_are_made_at_once_and_belong_to_it() {
    let app = TestApp::with(&PATIENT).await;
    let office = letter();
    let id = app.unzipped(office.upload.clone()).await;
    let previews = app.office_previews(&id, ("docx", &office.data)).await;
    // The first one may have waited for the engine's start, so it is the second pair that is looked at.
    let again = app.office_previews(&id, ("docx", &office.data)).await;
    let (_, jobs) = app.get("/v1/jobs").await;
    // A whole second has no fraction.
    let at = |job: &Value, member: &str| job[member].as_str().unwrap().trim_end_matches('Z').to_owned();
    let [one, other] = [&jobs["items"][0], &jobs["items"][1]];
    assert!(
        at(one, "startedAt") < at(other, "finishedAt") && at(other, "startedAt") < at(one, "finishedAt"),
        "{one} {other}"
    );
    // Several pictures are no preview.
    for (key, value) in [("pages", json!("all")), ("fromPage", json!(2))] {
        let body = json!({"type": "docx", "data": office.data, "formatOpts": {key: value}});
        let (status, answer) = app.post(&format!("/v1/templates/{id}/render-previews"), &body).await;
        let pointer = json!(format!("/formatOpts/{key}"));
        assert_eq!((status, &answer["errors"][0]["pointer"]), (422, &pointer), "{answer}");
    }
    // Of another content they are none.
    let content = app.unzipped(office.other.0.clone()).await;
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &save_request_of(&office, &previews)).await.0, 204);
    let mut body = save_request_of(&office, &again);
    body["contentId"] = json!(content);
    let (status, answer) = app.update(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("preview_not_usable")), "{answer}");
}

#[tokio::test]
async fn faults_of_an_upload_and_of_its_template_info_are_explained() {
    let app = TestApp::with(&PATIENT).await;
    let docx = invoice("invoice.docx");
    for (upload, words) in [
        (packed(&[("readme.md", b"x")]), "the archive has no index.html at its top, only 'readme.md'"),
        (packed(&[("a.docx", &docx), ("b.docx", &docx)]), "rename the one that is it to index.docx"),
        (packed(&[("index.xlsx", b"no workbook")]), "the archive's 'index.xlsx' is no Office file"),
        (packed(&[("letter/a/index.docx", &docx), ("b.txt", b"x")]), "it has index.docx in 'letter/a'"),
        (docx[..docx.len() / 2].to_vec(), "the Office file is damaged or cut off"),
        (office_file("slides.ppt")[..600].to_vec(), "a damaged old Office file"),
    ] {
        let begun = app.begin().await;
        assert_eq!(app.put(&begun.upload_url, upload).await, 200);
        let (status, answer) = app.send(Method::PATCH, &format!("/v1/templates/{}/unzip", begun.id)).await;
        assert_eq!((status, answer["code"].as_str()), (422, Some("template_archive_invalid")), "{answer}");
        assert!(answer["detail"].as_str().unwrap().contains(words), "no '{words}' in {answer}");
    }
    // A preview of the wrong type fails with the types' names; nothing is saved by it.
    let id = app.unzipped(office_file("letter.odt")).await;
    let path = format!("/v1/templates/{id}/render-previews");
    let (status, answer) = app.post(&path, &json!({"type": "pptx", "data": {}})).await;
    assert_eq!((status, answer["errorCode"].as_str()), (422, Some("template_invalid")), "{answer}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("an OpenDocument text (.odt) and goes with the type docx"), "{detail}");
    let previews = app.office_previews(&id, ("docx", &json!({}))).await;
    let mut body = save_request("Office", &previews);
    body["templateInfo"]["type"] = json!("pptx");
    let (status, answer) = app.post(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("validation_failed")), "{answer}");
    assert_eq!(answer["errors"][0]["pointer"], "/templateInfo/type");
    assert!(answer["errors"][0]["detail"].as_str().unwrap().contains("'index.odt' is docx"), "{answer}");
}
