//! A job's warnings, as its owner sees them.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::latex::document;
use crate::libreoffice::word;

#[tokio::test]
async fn a_number_that_loses_digits_is_warned_of_with_its_path_whatever_the_type() {
    let app = TestApp::start().await;
    let data = r#"{"id":12345678901234567890,"rows":[{"p":0.1},{"p":0.1234567890123456789}],"huge":1e400,
        "text":"12345678901234567890","fine":100000000000000000000}"#;
    let told = |path: &str| {
        format!("number loses digits: {path} has more than JavaScript keeps; send it as a string")
    };
    let [id, part, huge] = ["id", "rows[1].p", "huge"].map(told);
    let latex = document("", "<%= id %>");
    let word = word("<w:p><w:r><w:t>{id}</w:t></w:r></w:p>");
    let templates: [(&str, &[u8]); 5] = [
        ("html", b"<p>no data"),
        ("ejs", b"<%= id %>"),
        ("html", b"<p id=p><script>p.textContent = window.__PLATEN_DATA__.id</script>"),
        ("latex", latex.as_bytes()),
        ("docx", &word),
    ];
    for (kind, template) in templates {
        let job = app.init(json!({"type": kind, "target": "pdf"})).await;
        assert_eq!(app.put(&job.data_url.unwrap(), data).await, 200);
        assert_eq!(app.put(&job.template_url.unwrap(), template.to_vec()).await, 200);
        let view = app.finish(&job.id).await;
        assert_eq!(view["success"], true, "{view}");
        // Office files print integers as they are written.
        let is_kept = kind == "docx";
        let wanted = if is_kept { json!([part, huge]) } else { json!([id, part, huge]) };
        assert_eq!(view["warnings"], wanted, "{kind}");
        if template == b"<p>no data" {
            continue;
        }
        let (_, pdf) = app.fetch(&view["output"]["data"]["url"]).await;
        let digits = if is_kept { "12345678901234567890" } else { "12345678901234567000" };
        assert_eq!(app.text_of(&pdf).split_whitespace().next(), Some(digits), "{kind}");
    }
}

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
