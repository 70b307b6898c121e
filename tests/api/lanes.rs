//! A page prints the same in either lane: `@media (scripting)` matches as in a reader's browser, in inline sheets and in
//! sheets beside the page.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::archive;

const SHEET: &str = "@media (scripting: none) {p::after{content:' FALLBACK'}} \
    @media (scripting: enabled) {p::after{content:' ENABLED'}}";

/// The text of a page with this sheet beside it.
async fn text(app: &TestApp, page: &str, sheet: &str) -> String {
    let job = app.init(json!({"type": "html", "target": "pdf", "data": {}})).await;
    let files = [("index.html", page), ("css/main.css", "@import 'sheet.css';"), ("css/sheet.css", sheet)];
    assert_eq!(app.put(&job.template_url.unwrap(), archive(&files)).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!((&view["success"], &view["warnings"]), (&Value::Bool(true), &json!([])), "{view}");
    let url = view["output"]["data"]["url"].as_str().unwrap();
    let pdf = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    app.text_of(&pdf).trim().to_owned()
}

/// How many pages had a tab without script.
async fn static_pages(app: &TestApp) -> u64 {
    let metrics = app.client.get(format!("{}/metrics", app.base)).send().await.unwrap().text().await.unwrap();
    let counts =
        metrics.lines().filter(|line| line.starts_with("platen_browser_leases_total{lane=\"static\""));
    counts.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn a_sheet_beside_the_page_prints_no_fallback() {
    let app = TestApp::start().await;
    for link in ["css/sheet.css", "css/main.css"] {
        let page = format!("<link rel=stylesheet href={link}><p>text</p>");
        assert_eq!(text(&app, &page, SHEET).await, "text ENABLED", "{link}");
    }
    assert_eq!(text(&app, &format!("<style>{SHEET}</style><p>text</p>"), "").await, "text ENABLED");
    // Which sheets do not ask keeps its lane.
    assert_eq!(static_pages(&app).await, 0);
    assert_eq!(
        text(&app, "<link rel=stylesheet href=css/main.css><p>text</p>", "p{color:red}").await,
        "text"
    );
    assert_eq!(static_pages(&app).await, 1);
}
