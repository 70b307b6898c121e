//! `failOn`: warnings that make a job fail, and only those that were asked for.

use serde_json::{Value, json};

use crate::app::TestApp;

const PAGE: &str =
    "<p>text</p><img src=gone.png><script>console.error('no total'); throw new Error('stop')</script>";

async fn view(app: &TestApp, target: &str, template: &str, options: Value) -> Value {
    let body = json!({"type": "html", "target": target, "data": {}, "formatOpts": options});
    let job = app.init(body).await;
    assert_eq!(app.put(&job.template_url.unwrap(), template.to_owned()).await, 200);
    app.finish(&job.id).await
}

#[tokio::test]
async fn a_job_fails_for_the_warnings_that_fail_on_names() {
    let app = TestApp::start().await;
    for (asked, target, message) in [
        (
            json!(["exceptions"]),
            "pdf",
            "uncaught exception: Error: stop (/:1) (formatOpts.failOn has 'exceptions')",
        ),
        (
            json!(["status", "console"]),
            "png",
            "console.error: no total (/:1) (formatOpts.failOn has 'console')",
        ),
        (json!("missing"), "jpg", "asset not found: /gone.png (formatOpts.failOn has 'missing')"),
    ] {
        let view = view(&app, target, PAGE, json!({ "failOn": asked })).await;
        let seen = (&view["success"], &view["errorCode"], view["error"].as_str(), &view["output"]);
        assert_eq!(seen, (&json!(false), &json!("page_failed"), Some(message), &Value::Null), "{view}");
        assert_eq!(view["warnings"].as_array().unwrap().len(), 3, "{view}");
    }
    // A page without script asks in vain as well.
    let failed = view(&app, "pdf", "<p>text<img src=gone.png>", json!({"failOn": ["missing"]})).await;
    assert_eq!(failed["errorCode"], "page_failed", "{failed}");
    for asked in [json!([]), json!(["status"]), Value::Null] {
        let view = view(&app, "pdf", PAGE, json!({ "failOn": asked })).await;
        assert_eq!(
            (&view["success"], view["warnings"].as_array().unwrap().len()),
            (&json!(true), 3),
            "{view}"
        );
    }
    // Warnings alone fail no job.
    let all = json!({"failOn": ["exceptions", "console", "missing", "status"], "colour": "red"});
    let quiet = "<p style='font-family:Nowhere'>text<script>console.warn('old')</script>";
    let view = view(&app, "pdf", quiet, all).await;
    assert_eq!((&view["success"], view["warnings"].as_array().unwrap().len()), (&json!(true), 3), "{view}");
}

#[tokio::test]
async fn an_unknown_fail_on_value_is_refused_and_one_without_effect_is_warned_of() {
    let app = TestApp::start().await;
    let options = json!({"failOn": ["missing", "everything"]});
    let body = json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": options});
    let (status, answer) = app.post("/v1/documents/init", &body).await;
    assert_eq!((status, &answer["errors"][0]["pointer"]), (422, &json!("/formatOpts/failOn")), "{answer}");
    let detail = "'everything' is not known; give any of exceptions, console, missing, status";
    assert_eq!(answer["errors"][0]["detail"], detail);
    let view = view(&app, "html", PAGE, json!({"failOn": ["missing"]})).await;
    let message = "formatOpts.failOn has no effect on html of a page without files beside it and was ignored";
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([message])), "{view}");
}
