//! `formatOpts` through the whole service: wrong values are refused at init by name, effects are seen in the file,
//! options without effect in the warnings; the same by the command line.

use platen::domain::format_opts::Key;
use serde_json::{Value, json};

use crate::app::TestApp;

const PAGE: &str = "<p>text</p><p id=p>plain</p>";

/// A finished job of `PAGE` and its file.
async fn rendered(app: &TestApp, target: &str, template: &str, options: Value) -> (Value, Vec<u8>) {
    let body = json!({"type": "html", "target": target, "data": {"name": "Zoë"}, "formatOpts": options});
    let job = app.init(body).await;
    assert_eq!(app.put(&job.template_url.unwrap(), template.to_owned()).await, 200);
    let view = app.finish(&job.id).await;
    let Some(url) = view["output"]["data"]["url"].as_str() else { return (view, Vec::new()) };
    let file = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    (view, file.to_vec())
}

#[tokio::test]
async fn a_known_key_with_a_wrong_value_is_refused_at_init_by_name() {
    let app = TestApp::with(&[
        ("browser.viewport_side_limit_px", "2000"),
        ("browser.picture_limit_pixels", "1000000"),
        ("browser.wait_limit_ms", "100"),
    ])
    .await;
    let options = json!({
        "viewport": {"width": 2001, "height": "high"}, "quality": 0, "timezone": "Mars/Olympus", "locale": "!",
        "mediaType": "tv", "waitForTimeout": 101, "outline": "yes", "metadata": {"title": 1}, "colour": 1,
    });
    let body = json!({"type": "html", "target": "png", "data": {}, "formatOpts": options});
    let (status, answer) = app.post("/v1/documents/init", &body).await;
    assert_eq!((status, &answer["code"]), (422, &json!("validation_failed")));
    let errors = answer["errors"].as_array().unwrap();
    let mut pointers: Vec<_> =
        errors.iter().map(|it| it["pointer"].as_str().unwrap().trim_start_matches("/formatOpts/")).collect();
    pointers.sort_unstable();
    let wrong = [
        "locale",
        "mediaType",
        "metadata/title",
        "outline",
        "quality",
        "timezone",
        "viewport/height",
        "viewport/width",
        "waitForTimeout",
    ];
    assert_eq!(pointers, wrong);
    let message = answer.to_string();
    for key in ["browser.viewport_side_limit_px", "browser.wait_limit_ms"] {
        assert!(message.contains(key), "{message}");
    }
    let body = json!({"type": "html", "target": "png", "template": "<p>", "data": {},
        "formatOpts": {"viewport": {"width": 1001, "height": 1000}}});
    let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!((status, &answer["errors"][0]["pointer"]), (422, &json!("/formatOpts/viewport")));
}

#[tokio::test]
async fn conformance_and_signature_options_are_refused_and_never_ignored() {
    let app = TestApp::start().await;
    let template = app.unzipped(crate::template::page("one")).await;
    for key in ["encrypt", "pdfa", "pdfua", "sign", "PDF-A"] {
        let options = json!({ key: true, "scale": 1 });
        let pointer = json!(format!("/formatOpts/{key}"));
        let body =
            |target: &str| json!({"type": "html", "target": target, "data": {}, "formatOpts": options});
        let mut answers = Vec::new();
        for target in ["pdf", "png", "html"] {
            answers.push(app.post("/v1/documents/init", &body(target)).await);
            let mut at_once = body(target);
            at_once["template"] = json!("<p>");
            answers.push(app.post("/v1/documents/immediate-render", &at_once).await);
        }
        answers.push(app.post(&format!("/v1/templates/{template}/render-previews"), &body("pdf")).await);
        for (status, answer) in answers {
            assert_eq!((status, &answer["code"]), (422, &json!("validation_failed")), "{key}: {answer}");
            assert_eq!(
                (answer["errors"].as_array().unwrap().len(), &answer["errors"][0]["pointer"]),
                (1, &pointer)
            );
            let detail = answer["errors"][0]["detail"].as_str().unwrap();
            assert!(detail.contains("kept"), "{detail}");
        }
    }
    let (_, jobs) = app.get("/v1/jobs").await;
    assert_eq!(jobs["items"], json!([]), "nothing may be created");
    let (view, _) =
        rendered(&app, "pdf", PAGE, json!({"password": false, "encrypt": false, "pdfa": null})).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])));
}

#[tokio::test]
async fn options_show_in_the_file_and_those_without_effect_in_the_warnings() {
    let app = TestApp::start().await;
    let options = json!({"viewport": {"width": 300, "height": 200}, "quality": 5, "colour": 1, "scale": 1});
    let (view, file) = rendered(&app, "png", PAGE, options).await;
    assert_eq!(view["success"], true, "{view}");
    assert_eq!(&file[16..24], [0, 0, 1, 44, 0, 0, 0, 200], "300 x 200");
    let ignored = [
        "formatOpts.colour is not known to this service and was ignored",
        "formatOpts.quality has no effect on png made of html and was ignored",
        "formatOpts.scale has no effect on png made of html and was ignored",
    ];
    assert_eq!(view["warnings"], json!(ignored));
    // A page without script is asked where script runs, and with its data.
    let options = json!({"waitForExpression": "document.querySelector('p').textContent = __PLATEN_DATA__.name",
        "headerTemplate": "above", "selector": "p"});
    let (view, file) = rendered(&app, "pdf", PAGE, options).await;
    assert_eq!(view["warnings"], json!([]), "{view}");
    assert_eq!(app.text_of(&file).split_whitespace().collect::<Vec<_>>(), ["above", "Zoë"]);
    let (view, _) = rendered(&app, "png", PAGE, json!({"selector": "#gone"})).await;
    assert_eq!(view["errorCode"], "options_invalid");
    assert_eq!(view["error"], "nothing matches the selector '#gone' (selector)");
    let (view, _) = rendered(&app, "html", PAGE, json!({"selector": "#gone", "dpi": 72})).await;
    assert_eq!((&view["success"], view["warnings"].as_array().unwrap().len()), (&json!(true), 2));
}

#[tokio::test]
async fn the_document_of_the_interface_has_every_key() {
    let app = TestApp::start().await;
    let (_, document) = app.get("/openapi.json").await;
    let described = document["components"]["schemas"]["FormatOpts"]["properties"].as_object().unwrap();
    let mut described: Vec<_> = described.keys().map(String::as_str).collect();
    let offered = Key::ALL.iter().filter(|key| !key.is_refused());
    let mut known: Vec<_> = offered.map(|key| key.name()).collect();
    described.sort_unstable();
    known.sort_unstable();
    assert_eq!(described, known);
}

#[tokio::test]
async fn the_command_takes_the_same_options() {
    let app = TestApp::start().await;
    let path = |name: &str| app.scratch().join(name).display().to_string();
    std::fs::write(path("page.html"), PAGE).unwrap();
    std::fs::write(path("opts.json"), r#"{"fullPage": true, "viewport": {"width": 120, "height": 40}}"#)
        .unwrap();
    let arguments = [
        "render",
        &path("page.html"),
        "--type",
        "html",
        "--opts",
        &path("opts.json"),
        "-o",
        &path("page.png"),
    ];
    app.command(&arguments);
    let file = std::fs::read(path("page.png")).unwrap();
    assert_eq!(&file[16..20], [0, 0, 0, 120]);
    assert!(file[23] > 40, "the whole page is higher than its window");
}
