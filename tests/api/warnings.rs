//! A job's warnings, as its owner sees them.

use serde_json::{Value, json};

use crate::app::TestApp;

#[tokio::test]
async fn a_job_reports_every_warning() {
    let app = TestApp::start().await;
    let options = json!({"colour": "red"});
    let job = app.init(json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": options})).await;
    // Nothing goes to that host: the forward proxy refuses it.
    let template = "<style>p{font-family:'No Such Font'}</style><p>here</p><img src=/logo.png><script>\
        fetch('http://rates.example/today').catch(() => 0); setTimeout(() => { throw new Error('no total') })</script>";
    assert_eq!(app.put(&job.template_url.unwrap(), template).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!(view["success"], true, "{view}");
    let mut warnings: Vec<&str> =
        view["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    warnings.sort_unstable();
    let beginnings = [
        "asset not found: /logo.png",
        "font not available: 'No Such Font'; ",
        "formatOpts.colour is not known to this service and was ignored",
        "refused address: http://rates.example/today (a page reaches its own files only; outbound.allow ",
        "uncaught exception: Error: no total (/:1)",
    ];
    assert_eq!(warnings.len(), beginnings.len(), "{warnings:#?}");
    for (warning, beginning) in warnings.iter().zip(beginnings) {
        assert!(warning.starts_with(beginning), "{warning}");
    }
}
