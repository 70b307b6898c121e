//! The clients' flows with archives as real builds make them: saved, updated, rendered by id.

use std::time::Instant;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::fixtures;
use crate::template::save_request;

/// What the fixture's documents show, whatever else they do.
fn mark(name: &str) -> String {
    let references = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/visual/references");
    let text = std::fs::read_to_string(format!("{references}/{name}.txt")).unwrap();
    text.lines().nth(1).unwrap().to_owned()
}

async fn previews(app: &TestApp, id: &str, data: &Value) -> Value {
    let body = json!({"type": "react", "data": data});
    let (status, answer) = app.post(&format!("/v1/templates/{id}/render-previews"), &body).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

#[tokio::test]
async fn every_build_is_saved_previewed_and_rendered_by_its_id() {
    let app = TestApp::start().await;
    for name in fixtures::NAMES {
        let data: Value = serde_json::from_str(&fixtures::data(name)).unwrap();
        let id = app.unzipped(fixtures::archive(name)).await;
        let started = Instant::now();
        let shown = previews(&app, &id, &data).await;
        println!("{name}: previews in {} ms", started.elapsed().as_millis());
        assert!(started.elapsed().as_secs() < 25, "clients wait no longer");
        let ids = crate::template::Previews {
            png: shown["pngPreview"]["jobId"].as_str().unwrap().to_owned(),
            pdf: shown["pdfPreview"]["jobId"].as_str().unwrap().to_owned(),
        };
        assert_eq!(app.post(&format!("/v1/templates/{id}"), &save_request(name, &ids)).await.0, 204);
        for preview in ["pngPreview", "pdfPreview"] {
            let (_, job) = app.get(&format!("/v1/jobs/{}", shown[preview]["jobId"].as_str().unwrap())).await;
            assert_eq!(job["warnings"], json!([]), "{name}");
        }
        let (_, pdf) = app.fetch(&shown["pdfPreview"]["url"]).await;
        assert!(letters(&app.text_of(&pdf)).contains(&letters(&mark(name))), "{name}: {}", app.text_of(&pdf));

        let body = json!({"type": "framework", "target": "pdf", "templateId": id, "data": data});
        let (status, made) = app.post("/v1/documents/immediate-render", &body).await;
        assert_eq!(status, 200, "{made}");
        let (_, immediate) = app.fetch(&made["url"]).await;
        assert_eq!(app.text_of(&immediate), app.text_of(&pdf), "{name}");
        let job = app.init(body).await;
        let view = app.finish(&job.id).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{name}");
    }
}

#[tokio::test]
async fn a_build_takes_the_place_of_another_one() {
    let app = TestApp::start().await;
    let data = |name: &str| -> Value { serde_json::from_str(&fixtures::data(name)).unwrap() };
    let id = app.unzipped(fixtures::archive("vite-react")).await;
    let ids = |shown: &Value| crate::template::Previews {
        png: shown["pngPreview"]["jobId"].as_str().unwrap().to_owned(),
        pdf: shown["pdfPreview"]["jobId"].as_str().unwrap().to_owned(),
    };
    let shown = previews(&app, &id, &data("vite-react")).await;
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &save_request("One", &ids(&shown))).await.0, 204);
    let content = app.unzipped(fixtures::archive("parcel")).await;
    let shown = previews(&app, &content, &data("parcel")).await;
    let mut body = save_request("Two", &ids(&shown));
    body["contentId"] = json!(content);
    assert_eq!(app.update(&format!("/v1/templates/{id}"), &body).await.0, 200);
    let body = json!({"type": "framework", "target": "pdf", "templateId": id, "data": data("parcel")});
    let (_, made) = app.post("/v1/documents/immediate-render", &body).await;
    let (_, pdf) = app.fetch(&made["url"]).await;
    assert!(letters(&app.text_of(&pdf)).contains(&letters(&mark("parcel"))));
}

/// The letters of a text: how far apart they stand is the program's that reads them.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}
