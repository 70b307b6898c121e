//! Numbers, money and dates: template code answers as the page's own script does.
//!
//! The engine of template code has the Unicode locale data (CLDR) of the system's ICU, Chromium has its own, of another
//! version. So the two are asked the same in the same run (`intl/calls.js`, one text that stands in a page as template
//! code and as its script), and each pair of answers is judged (`intl/judge.rs`): what may differ between two versions of
//! the data passes and is printed, everything else fails.

#[path = "intl/judge.rs"]
mod judge;

use judge::{IntlCall, Report};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::archive;

const CALLS: &str = include_str!("intl/calls.js");
const DEFAULTS: &str = include_str!("intl/defaults.js");
const ANSWERS: &str = include_str!("intl/answers.js");
const LOCALES: &str = include_str!("intl/locales.json");

/// Locales of one page: what their calls leave behind is bounded by `assemble.memory_limit_mb`.
const LOCALES_A_PAGE: usize = 10;

/// Six zones: two of the northern summer time, one without, half an hour of it, one that gave it up (it began at
/// midnight), one that left out a day.
const ZONES: [&str; 6] = [
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Apia",
];
/// Six locales: digits, calendars, sort orders and letter cases of their own.
const DEFAULT_LOCALES: [&str; 6] = ["de-AT", "ar-EG", "th-TH", "tr-TR", "sv-SE", "en-US"];

/// A page that asks twice: template code before it is a page, its script when it is one. It has a file beside it, for a
/// page alone is not shown by a browser to become html.
fn page(calls: &str, locales: &Value) -> Vec<u8> {
    let code = format!("{calls}\n{ANSWERS}");
    assert!(
        ["%>", "<%", "</", "<!--"].iter().all(|mark| !code.contains(mark)),
        "the text ends in the middle"
    );
    let page = format!(
        "<!doctype html><meta charset=utf-8><link rel=stylesheet href=a.css>\n<% {code} %>\
         <pre id=template><%- answers({locales}) %></pre><pre id=script></pre>\
         <script>{code}\ndocument.getElementById('script').textContent = answers({locales})</script>"
    );
    archive(&[("index.html", &page), ("a.css", "pre { white-space: pre-wrap }")])
}

/// What template code and what the page's script answered.
async fn ask(app: &TestApp, calls: &str, locales: &Value, options: Value) -> (Vec<IntlCall>, Vec<IntlCall>) {
    let job = app.init(json!({"type": "html", "target": "html", "data": {}, "formatOpts": options})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), page(calls, locales)).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let (_, page) = app.fetch(&view["output"]["data"]["url"]).await;
    let page = String::from_utf8(page).unwrap();
    let reported = |id: &str| {
        let (_, behind) =
            page.split_once(&format!("<pre id=\"{id}\"")).unwrap_or_else(|| panic!("{id}: {page}"));
        let (_, text) = behind.split_once('>').unwrap();
        serde_json::from_str(text.split_once("</pre>").unwrap().0).unwrap()
    };
    (reported("template"), reported("script"))
}

#[tokio::test]
async fn template_code_answers_as_chromium_does_in_every_locale() {
    let app = TestApp::start().await;
    let locales: Vec<String> = serde_json::from_str(LOCALES).unwrap();
    let mut report = Report::default();
    for locales in locales.chunks(LOCALES_A_PAGE) {
        let (template, script) = ask(&app, CALLS, &json!(locales), json!({})).await;
        report.compare(locales, &template, &script);
    }
    assert!(locales.len() >= 40 && report.compared() >= locales.len() * 40, "{} answers", report.compared());
    println!("{}", report.differences());
    report.judge();
}

#[tokio::test]
async fn default_locale_and_zone_are_those_of_the_options_in_template_code_and_script() {
    let app = TestApp::start().await;
    let mut report = Report::default();
    for zone in ZONES {
        for locale in DEFAULT_LOCALES {
            let options = json!({"locale": locale, "timezone": zone});
            let (template, script) = ask(&app, DEFAULTS, &json!([null]), options).await;
            report.compare(&[format!("{locale} {zone}")], &template, &script);
        }
    }
    println!("{}", report.differences());
    report.judge();
}

#[tokio::test]
async fn without_options_template_code_has_the_locale_and_zone_of_the_configuration() {
    let zoned = [("assemble.locale", "de-AT"), ("assemble.timezone", "America/St_Johns")];
    for (settings, locale, zone) in [(&[][..], "en-US", "UTC"), (&zoned, "de-AT", "America/St_Johns")] {
        let app = TestApp::with(settings).await;
        let (bare, _) = ask(&app, DEFAULTS, &json!([null]), json!({})).await;
        let same = json!({"locale": locale, "timezone": zone});
        let (_, script) = ask(&app, DEFAULTS, &json!([null]), same).await;
        let mut report = Report::default();
        report.compare(&[format!("{locale} {zone}")], &bare, &script);
        // An option goes before the key, each alone as well.
        let (template, script) =
            ask(&app, DEFAULTS, &json!([null]), json!({"locale": "fr-FR", "timezone": "Asia/Tokyo"})).await;
        report.compare(&["fr-FR Asia/Tokyo".to_owned()], &template, &script);
        let (template, _) = ask(&app, DEFAULTS, &json!([null]), json!({"locale": "fr-FR"})).await;
        let (_, script) =
            ask(&app, DEFAULTS, &json!([null]), json!({"locale": "fr-FR", "timezone": zone})).await;
        report.compare(&[format!("fr-FR {zone}")], &template, &script);
        println!("{}", report.differences());
        report.judge();
    }
}

/// Locale and zone of two jobs of one account never mix, whatever order they come in.
#[tokio::test]
async fn a_jobs_locale_and_zone_are_gone_with_it() {
    const PAGE: &str = "<%= (1234.5).toLocaleString() %> <%= new Date(2024, 6, 1).toISOString() %>";
    let app = TestApp::start().await;
    let cases = [
        (json!({"locale": "de-DE", "timezone": "Europe/Berlin"}), "1.234,5 2024-06-30T22:00:00.000Z"),
        (json!({}), "1,234.5 2024-07-01T00:00:00.000Z"),
        (json!({"locale": "de-DE"}), "1.234,5 2024-07-01T00:00:00.000Z"),
        (json!({"timezone": "America/New_York"}), "1,234.5 2024-07-01T04:00:00.000Z"),
    ];
    for (options, wanted) in cases.iter().chain(cases.iter().rev()) {
        let job = app.init(json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": options})).await;
        assert_eq!(app.put(&job.template_url.unwrap(), PAGE).await, 200);
        let view = app.finish(&job.id).await;
        let (_, pdf) = app.fetch(&view["output"]["data"]["url"]).await;
        assert_eq!(app.text_of(&pdf).trim(), *wanted, "{options}");
    }
}
