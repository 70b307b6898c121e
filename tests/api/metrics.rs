//! Metrics as Prometheus reads them: well formed, changed by jobs and requests, and bounded in number.

#![expect(clippy::float_cmp, reason = "what is compared are counts")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::app::TestApp;

const TABLE: &str = include_str!("../../docs/metrics.txt");

/// One reading: the type of every family, the value of every series.
struct Reading {
    types: BTreeMap<String, String>,
    values: BTreeMap<String, f64>,
}

impl Reading {
    async fn of(app: &TestApp, url: &str) -> Self {
        let answer = app.client.get(url).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let media_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
        assert_eq!(media_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
        Self::parse(&answer.text().await.unwrap())
    }

    async fn of_main(app: &TestApp) -> Self {
        Self::of(app, &format!("{}/metrics", app.base)).await
    }

    /// Fails where the text breaks a rule of the format.
    fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("it ends with the mark of the end");
        let mut reading = Self { types: BTreeMap::new(), values: BTreeMap::new() };
        let (mut helped, mut family) = (String::new(), String::new());
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(help.ends_with('.') && !help.ends_with(".."), "{line}");
                name.clone_into(&mut helped);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(name, helped, "HELP and TYPE stand together");
                assert!(reading.types.insert(name.to_owned(), kind.to_owned()).is_none(), "twice: {name}");
                name.clone_into(&mut family);
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap();
                reading.check_series(&family, series);
                let value = value.parse().unwrap();
                assert!(reading.values.insert(series.to_owned(), value).is_none(), "twice: {series}");
            }
        }
        reading.check_histograms();
        reading
    }

    fn check_series(&self, family: &str, series: &str) {
        let name = series.split('{').next().unwrap();
        let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{series} stands under {family}"));
        let suffixes: &[&str] = match self.types[family].as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_sum", "_count", "_bucket"],
            "info" => &["_info"],
            other => panic!("{family} is of the unknown type {other}"),
        };
        assert!(suffixes.contains(&suffix), "{series} is no {}", self.types[family]);
        let legal = |character: char| character.is_ascii_lowercase() || "_0123456789".contains(character);
        assert!(name.chars().all(legal), "{series}");
        let Some(labels) = series.strip_prefix(name).filter(|labels| !labels.is_empty()) else { return };
        let labels = labels.strip_prefix('{').and_then(|labels| labels.strip_suffix("\"}")).unwrap();
        for label in labels.split("\",") {
            let (name, value) = label.split_once("=\"").unwrap();
            assert!(name.chars().all(legal) && !value.is_empty() && !value.contains(['"', '\\']), "{series}");
        }
    }

    /// Buckets add up, and the last one is the count.
    fn check_histograms(&self) {
        let mut last: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        let buckets = self.values.iter().filter(|(series, _)| series.contains("_bucket{"));
        let mut sorted: Vec<_> = buckets
            .map(|(series, value)| {
                let (before, rest) = series.split_once("le=\"").unwrap();
                let (edge, after) = rest.split_once('"').unwrap();
                let edge: f64 = edge.parse().unwrap();
                (format!("{before}{after}"), edge, *value)
            })
            .collect();
        sorted.sort_by(|left, right| (&left.0, left.1).partial_cmp(&(&right.0, right.1)).unwrap());
        for (series, edge, value) in sorted {
            let (_, before) = last.insert(series.clone(), (edge, value)).unwrap_or_default();
            assert!(value >= before, "{series} falls at {edge}");
        }
        assert!(!last.is_empty());
        for (series, (edge, value)) in last {
            assert!(edge.is_infinite(), "{series} ends at {edge}");
            let count = series.replace("_bucket", "_count").replace("{}", "").replace("{,", "{");
            assert_eq!(self.value(&count), value, "{series}");
        }
    }

    fn value(&self, series: &str) -> f64 {
        *self.values.get(series).unwrap_or_else(|| panic!("there is no {series}"))
    }

    /// By how much a series has grown since `before`, where it may not have been there.
    fn since(&self, before: &Self, series: &str) -> f64 {
        self.value(series) - before.values.get(series).copied().unwrap_or(0.0)
    }
}

#[tokio::test]
async fn jobs_and_requests_are_counted() {
    // Long enough that a tab is reused on a loaded machine, too.
    let app = TestApp::with(&[("browser.reset_timeout_ms", "20000")]).await;
    let before = Reading::of_main(&app).await;
    for (target, template) in [
        ("pdf", "<p><%= name %>"),
        ("pdf", "<p>again <%= name %>"),
        ("pdf", "<script>1</script>x"),
        ("html", "<p>x"),
        ("html", "<%= nobody %>"),
    ] {
        app.render(target, template, json!({"name": "Zoë"})).await;
    }
    let refused =
        app.client.get(format!("{}/v1/jobs/x", app.base)).bearer_auth("nobody").send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let after = Reading::of_main(&app).await;
    for (series, grown) in [
        ("platen_queue_admissions_total{outcome=\"admitted\"}", 5.0),
        ("platen_jobs_ended_total{code=\"ok\"}", 4.0),
        ("platen_jobs_ended_total{code=\"template_error\"}", 1.0),
        ("platen_jobs_ended_total{code=\"internal\"}", 0.0),
        ("platen_jobs_by_kind_total{type=\"html\",target=\"pdf\",outcome=\"ok\"}", 3.0),
        ("platen_jobs_by_kind_total{type=\"html\",target=\"html\",outcome=\"failed\"}", 1.0),
        ("platen_step_seconds_count{step=\"queue\"}", 5.0),
        ("platen_step_seconds_count{step=\"fetch\"}", 5.0),
        ("platen_step_seconds_count{step=\"assemble\"}", 5.0),
        ("platen_step_seconds_count{step=\"lease\"}", 3.0),
        ("platen_step_seconds_count{step=\"load\"}", 3.0),
        ("platen_step_seconds_count{step=\"readiness\"}", 3.0),
        ("platen_step_seconds_count{step=\"print\"}", 3.0),
        ("platen_step_seconds_count{step=\"publish\"}", 4.0),
        ("platen_engine_jobs_total{engine=\"assemble\",end=\"answered\"}", 3.0),
        ("platen_browser_leases_total{lane=\"static\",tab=\"fresh\"}", 1.0),
        ("platen_browser_leases_total{lane=\"static\",tab=\"kept\"}", 1.0),
        ("platen_browser_leases_total{lane=\"scripted\",tab=\"fresh\"}", 1.0),
        ("platen_http_requests_total{method=\"POST\",route=\"/documents/init\",status=\"200\"}", 5.0),
        ("platen_http_request_seconds_count{route=\"/documents/init\"}", 5.0),
        ("platen_http_problems_total{code=\"unauthorized\"}", 1.0),
        ("platen_http_problems_total{code=\"rate_limited\"}", 0.0),
    ] {
        assert_eq!(after.since(&before, series), grown, "{series}");
    }
    for series in [
        "platen_store_bytes_total{operation=\"write\"}",
        "platen_store_objects_total{operation=\"write\"}",
        "platen_store_objects_total{operation=\"read\"}",
        "platen_index_commits_total{durability=\"durable\"}",
        "platen_index_commits_total{durability=\"unsynced\"}",
        "platen_index_batch_commits_count",
        "platen_index_commit_seconds_count",
        "platen_http_received_bytes_total",
        "platen_http_sent_bytes_total",
        "platen_uptime_seconds",
    ] {
        assert!(after.since(&before, series) > 0.0, "{series}");
    }
    assert_eq!(after.value("platen_browsers{state=\"up\"}"), 2.0, "one for each lane");
    assert!(after.value("process_resident_memory_bytes") > 1e6 && after.value("process_open_fds") > 9.0);
    for at_rest in ["platen_queue_jobs", "platen_jobs_running", "platen_browser_leased_tabs{lane=\"static\"}"]
    {
        assert_eq!(after.value(at_rest), 0.0, "{at_rest}");
    }
}

#[tokio::test]
async fn scripts_of_a_saved_template_are_cached() {
    const IN_JOB: &str = r#"platen_ejs_scripts_total{made="in_job"}"#;
    const AHEAD: &str = r#"platen_ejs_scripts_total{made="ahead"}"#;
    let app = TestApp::start().await;
    let id = app.saved("One", crate::template::page("first")).await;
    app.until("its script is kept", async || {
        let before = Reading::of_main(&app).await;
        app.shown(&id).await.unwrap();
        Reading::of_main(&app).await.since(&before, IN_JOB) == 0.0
    })
    .await;
    let before = Reading::of_main(&app).await;
    assert!(before.value(AHEAD) >= 1.0);
    for _ in 0..5 {
        assert!(app.shown(&id).await.unwrap().contains("first Bob"));
    }
    let after = Reading::of_main(&app).await;
    assert_eq!((after.since(&before, IN_JOB), after.since(&before, AHEAD)), (0.0, 0.0));
    app.render("html", "<%= 1 %>", json!({})).await;
    let last = Reading::of_main(&app).await;
    assert_eq!((last.since(&after, IN_JOB), last.since(&after, AHEAD)), (1.0, 0.0), "an upload is used once");
}

#[tokio::test]
async fn planned_replacement_of_browsers_is_no_outage() {
    let app = TestApp::with(&[
        ("browser.start", "eager"),
        ("browser.recycle_documents", "2"),
        ("browser.recycle_pause_s", "0"),
    ])
    .await;
    let replaced = "platen_browser_recycles_total{reason=\"documents\"}";
    let client = async || {
        while Reading::of_main(&app).await.value(replaced) < 4.0 {
            let (view, _) = app.render("pdf", "<script>1</script>x", json!({})).await;
            assert_eq!(view["success"], true, "{view}");
            let ready = app.client.get(format!("{}/health/ready", app.base)).send().await.unwrap();
            assert_eq!(ready.status(), 200, "{}", ready.text().await.unwrap());
        }
    };
    tokio::join!(client(), client());
    let reading = Reading::of_main(&app).await;
    let lost = ["died", "silent", "filled"].map(|reason| format!("lost_total{{reason=\"{reason}\"}}"));
    for series in lost.iter().map(String::as_str).chain(["launch_waits_total", "drains_cut_total"]) {
        assert_eq!(reading.value(&format!("platen_browser_{series}")), 0.0, "{series}");
    }
}

#[tokio::test]
async fn the_metrics_are_those_that_the_table_lists() {
    let app = TestApp::start().await;
    let (view, _) = app.render("html", "<p>x", json!({})).await;
    assert_eq!(view["success"], true);
    app.begin().await;
    let reading = Reading::of_main(&app).await;
    let listed: BTreeSet<_> = TABLE
        .lines()
        .map(|line| line.split_ascii_whitespace())
        .map(|mut cells| (cells.next().unwrap().to_owned(), cells.next().unwrap().to_owned()))
        .collect();
    let suffix = |kind: &str| match kind {
        "counter" => "_total",
        "info" => "_info",
        _ => "",
    };
    let measured: BTreeSet<_> =
        reading.types.iter().map(|(name, kind)| (format!("{name}{}", suffix(kind)), kind.clone())).collect();
    assert_eq!(measured, listed);
}

#[tokio::test]
async fn caller_supplied_values_make_no_series() {
    let app = TestApp::start().await;
    let ask = async |number: u32| {
        let method = reqwest::Method::from_bytes(format!("INVENT{number}").as_bytes()).unwrap();
        let ids = format!("{}/v1/jobs/{}", app.base, uuid::Uuid::from_u128(u128::from(number)));
        let paths = format!("{}/{number}/x?token={number}", app.base);
        app.client.get(ids).bearer_auth(number).send().await.unwrap();
        app.client.get(&paths).send().await.unwrap();
        app.client.request(method, paths).send().await.unwrap();
    };
    ask(0).await;
    let before: BTreeSet<_> = Reading::of_main(&app).await.values.into_keys().collect();
    for number in 1..30 {
        ask(number).await;
    }
    let after: BTreeSet<_> = Reading::of_main(&app).await.values.into_keys().collect();
    let new: Vec<_> = after.difference(&before).filter(|series| !series.contains("/metrics")).collect();
    assert_eq!(new, Vec::<&String>::new());
    assert!(after.contains("platen_http_requests_total{method=\"other\",route=\"none\",status=\"404\"}"));
}

#[tokio::test]
async fn an_address_of_its_own_serves_metrics_and_nothing_else() {
    let app = TestApp::with(&[("metrics.bind", "127.0.0.1:0")]).await;
    let url = app.metrics_url.clone().unwrap();
    assert!(!url.starts_with(&app.base));
    let build = concat!("platen_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}");
    assert_eq!(Reading::of(&app, &url).await.value(build), 1.0);
    let status = async |url: String| app.client.get(url).send().await.unwrap().status().as_u16();
    assert_eq!(status(format!("{}/metrics", app.base)).await, 404);
    for path in ["/", "/health/live", "/v1/jobs/x", "/documents/init"] {
        assert_eq!(status(url.replace("/metrics", path)).await, 404, "{path}");
    }
}
