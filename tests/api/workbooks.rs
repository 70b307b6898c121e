//! Excel templates through the whole service: filled, calculated by LibreOffice when they are shown, and what is refused.

use std::path::Path;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::unfilled::{unpacked, with};

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/report").join(name)).unwrap()
}

fn data() -> Value {
    serde_json::from_slice(&sample("data.json")).unwrap()
}

#[tokio::test]
async fn a_workbook_is_filled_and_shown_with_what_its_formulas_give() {
    let app = TestApp::start().await;
    let (view, file) = app.made(("xlsx", "xlsx"), sample("report.xlsx"), data()).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let part = |name: &str| {
        let found = unpacked(&file).into_iter().find(|(found, _)| found == name);
        String::from_utf8(found.unwrap_or_else(|| panic!("no {name}")).1).unwrap()
    };
    let count = data()["sales"].as_array().unwrap().len();
    let last = 7 + count;
    assert!(part("xl/tables/table1.xml").contains(&format!("ref=\"A7:G{}\"", last + 1)));
    assert!(part("xl/charts/chart1.xml").contains("Branches!$B$4:$B$7"));
    let sheet = part("xl/worksheets/sheet1.xml");
    assert!(sheet.contains(&format!("sqref=\"F8:F{last}\"")), "{sheet}");
    assert!(part("xl/workbook.xml").contains("fullCalcOnLoad=\"1\""));

    let sales = data()["sales"].as_array().unwrap().clone();
    let amount = |sale: &Value| sale["quantity"].as_f64().unwrap() * sale["price"].as_f64().unwrap();
    let total: f64 = sales.iter().map(amount).sum();
    let of_ribe: f64 = sales.iter().filter(|sale| sale["branch"] == "Ribe").map(amount).sum();
    let shown = |number: f64| {
        let text = format!("{number:.2}");
        let (whole, rest) = text.split_at(text.len() - 6);
        format!("{whole},{rest}")
    };
    let (view, pdf) = app.made(("xlsx", "pdf"), sample("report.xlsx"), data()).await;
    let text = app.text_of(&pdf);
    let words =
        ["Blåbær Print: sales of Q1 2026", "As of April 1, 2026, 14 sales", "3 Jan 2026", "Wine labels"];
    for word in words.into_iter().map(str::to_owned).chain([shown(total), shown(of_ribe)]) {
        assert!(text.contains(&word), "no '{word}' in {text}: {view}");
    }
    assert!(!text.contains('{') && !text.contains("#REF"), "{text}");
    let (view, html) = app.made(("xlsx", "html"), sample("report.xlsx"), data()).await;
    assert!(String::from_utf8(html).unwrap().contains(&shown(total)), "{view}");
}

#[tokio::test]
async fn a_workbook_without_a_locale_shows_its_numbers_in_that_of_the_configuration() {
    let app = TestApp::with(&[("assemble.locale", "de-DE")]).await;
    let sales = data()["sales"].as_array().unwrap().clone();
    let total: f64 =
        sales.iter().map(|sale| sale["quantity"].as_f64().unwrap() * sale["price"].as_f64().unwrap()).sum();
    let text = format!("{total:.2}");
    let (whole, rest) = text.split_at(text.len() - 6);
    let english = format!("{whole},{rest}");
    let german = format!("{whole}.{}", rest.replace('.', ","));
    for (options, shown, other) in
        [(json!({}), &german, &english), (json!({"locale": "en-US"}), &english, &german)]
    {
        let body = json!({"type": "xlsx", "target": "html", "data": data(), "formatOpts": options});
        let job = app.init(body).await;
        assert_eq!(app.put(&job.template_url.unwrap(), sample("report.xlsx")).await, 200);
        let view = app.finish(&job.id).await;
        assert_eq!(view["warnings"], json!([]), "{view}");
        let (status, page) = app.fetch(&view["output"]["data"]["url"]).await;
        let page = String::from_utf8(page).unwrap();
        assert!(
            status == 200 && page.contains(shown.as_str()) && !page.contains(other.as_str()),
            "{options}: {page}"
        );
    }
}

#[tokio::test]
async fn faults_are_reported_with_their_cell_and_limits_with_their_keys() {
    let app = TestApp::with(&[("office.items_limit", "12")]).await;
    let failed = async |file: Vec<u8>, opts: Value| {
        let body = json!({"type": "xlsx", "target": "xlsx", "data": data(), "formatOpts": opts});
        let job = app.init(body).await;
        assert_eq!(app.put(&job.template_url.unwrap(), file).await, 200);
        let view = app.finish(&job.id).await;
        format!("{}: {}", view["errorCode"].as_str().unwrap(), view["error"].as_str().unwrap())
    };
    let message = failed(sample("report.xlsx"), json!({})).await;
    assert!(
        message.starts_with("template_limit: ") && message.contains("office.items_limit = 12"),
        "{message}"
    );
    let open = with(&sample("report.xlsx"), "{paid}{/sales}", "{paid}");
    let message = failed(open, json!({})).await;
    assert!(message.starts_with("template_error: ") && message.contains("Sales!A8"), "{message}");
    let short = with(&sample("report.xlsx"), "{#sales}{date}", "{#sales.slice(0, 2)}{dat}");
    let short = with(&short, "{/sales}", "{/}");
    let message = failed(short, json!({"strict": true})).await;
    assert!(message.contains("Sales!A8") && message.contains("{dat}"), "{message}");
}
