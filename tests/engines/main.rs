//! An engine that is added by a folder and a line works through the whole service: init, queue, run, publish, warnings
//! and metrics. It may be missing at the start, or disappear while the service runs.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/fake_engine/mod.rs"]
mod fake;
#[path = "../support/hostile_pdfs.rs"]
mod hostile_pdfs;
#[path = "../../crates/pdf-raster/tests/pages/documents/mod.rs"]
#[expect(dead_code, reason = "shared with the tests of the crate")]
mod pdf_documents;
mod raster;
mod rivals;
mod service;

use platen::domain::format_opts::PageOptions;
use platen::domain::kinds::{Target, TemplateKind};
use platen::engines::Engine;
use platen::engines::catalog::{Catalog, PlanError};
use platen::engines::requirement::UnmetRequirement;
use platen::telemetry::metrics::Metrics;
use reqwest::Method;
use serde_json::{Value, json};
use service::{Machine, Service, engines};

const AVAILABLE: &str = "platen_engine_available{engine=\"fake\"}";

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[actix::test]
async fn an_engine_that_is_added_makes_documents() {
    let _machine = Machine::with_press().await;
    let service = Service::start(&[]).await;
    let (view, pdf) = service.latex("pdf", "hello {{name}}", json!({"engine": "xelatex", "scale": 2})).await;
    assert_eq!((view["success"].as_bool(), &view["output"]["metadata"]["pages"]), (Some(true), &json!(1)));
    assert_eq!(pdf.text, "%PDF-fake\n\\DOCUMENTCLASS{ARTICLE} HELLO ZOE");
    assert_eq!(
        (pdf.content_type.as_str(), pdf.disposition.as_str()),
        ("application/pdf", "inline; filename=\"document.pdf\"")
    );
    let message = ["formatOpts.scale has no effect on pdf made of latex and was ignored"];
    assert_eq!(texts(&view["warnings"]), message, "what a step heeds is not told");
    let (_, docx) = service.latex("docx", "{{name}}", json!({})).await;
    assert_eq!(docx.text, "\\documentclass{article} Zoe", "its first step is its last one");
    service.stop().await;
}

#[actix::test]
async fn finishing_steps_run_after_the_route_and_may_change_nothing() {
    let _machine = Machine::with_press().await;
    let service = Service::start(&[]).await;
    let (_, outlined) = service.latex("pdf", "a\u{c}b", json!({"outline": true})).await;
    assert_eq!(outlined.text, "%PDF-fake\n\\DOCUMENTCLASS{ARTICLE} A\u{c}B\noutline");
    let (view, plain) = service.latex("pdf", "a", json!({"outline": true})).await;
    assert_eq!(plain.text, "%PDF-fake\n\\DOCUMENTCLASS{ARTICLE} A", "given on as it was");
    assert_eq!(texts(&view["warnings"]), [""; 0]);
    service.stop().await;
}

#[actix::test]
async fn a_files_name_and_type_are_those_of_what_was_made() {
    let _machine = Machine::with_press().await;
    let service = Service::start(&[]).await;
    for (text, file, content_type, shown) in
        [("one", "png", "image/png", "inline"), ("one\u{c}two", "zip", "application/zip", "attachment")]
    {
        let (view, fetched) = service.latex("png", text, json!({})).await;
        let data = &view["output"]["data"];
        let name = format!("document.{file}");
        assert_eq!((view["target"].as_str(), data["fileName"].as_str()), (Some("png"), Some(name.as_str())));
        assert_eq!(
            (data["contentType"].as_str(), &fetched.content_type[..]),
            (Some(content_type), content_type)
        );
        assert_eq!(fetched.disposition, format!("{shown}; filename=\"{name}\""));
        assert!(fetched.text.starts_with("picture of %PDF-fake"), "{}", fetched.text);
        let job = format!("/v1/jobs/{}", view["jobId"].as_str().unwrap());
        assert_eq!(service.call(Method::DELETE, &job, &Value::Null).await.0, 204);
        let gone = service.call(
            Method::GET,
            data["url"].as_str().unwrap().strip_prefix(&service.base).unwrap(),
            &Value::Null,
        );
        assert_eq!(gone.await.0, 404, "the file went with its job, whatever it is called");
    }
    service.stop().await;
}

#[actix::test]
async fn a_document_that_cannot_be_finished_as_asked_is_not_published() {
    let _machine = Machine::with_press().await;
    let service = Service::start(&[]).await;
    let (view, one) = service.latex("png", "one", json!({"fullPage": true})).await;
    assert!(one.text.ends_with("ONE\noutline"), "{}", one.text);
    assert_eq!(texts(&view["warnings"]), [""; 0]);
    let job =
        json!({"type": "latex", "target": "png", "data": {"name": "Zoe"}, "formatOpts": {"fullPage": true}});
    let several = service.init(&job, "\\documentclass{article} one\u{c}two").await;
    let view = service.finish(&several).await;
    assert_eq!(
        (view["errorCode"].as_str(), &view["output"]),
        (Some("options_invalid"), &Value::Null),
        "{view}"
    );
    let message = "the document became a zip, and what formatOpts asks for (fake:finish) can be done to a png only; ask for \
                one page, or leave that option out";
    assert_eq!(view["error"], message);
    service.stop().await;
}

#[actix::test]
async fn ignored_options_are_reported_by_the_plan_that_ran() {
    let _machine = Machine::with_press().await;
    let service = Service::start_with(&[], [engines(), vec![rivals::RIVAL]].concat()).await;
    let (view, _) = service.latex("pdf", "a", json!({"engine": "xelatex", "dpi": 99})).await;
    assert_eq!(
        texts(&view["warnings"]),
        ["formatOpts.dpi has no effect on pdf made of latex and was ignored"]
    );
    service.stop().await;
}

#[actix::test]
async fn a_route_around_a_missing_engine_keeps_every_option() {
    let _machine = Machine::with_press().await;
    let plan = |engines: &[Engine], options: &PageOptions| {
        let all = [&service::engines()[..], engines].concat();
        Catalog::new(all, true, Metrics::new().engines).plan(TemplateKind::Latex, Target::Pdf, options)
    };
    let mut options = PageOptions::default();
    options.extras.tagged = Some(false);
    assert_eq!(plan(&[rivals::RIVAL, rivals::SEAL], &options).unwrap().route(), "fake > fake");
    options.extras.tagged = Some(true);
    for engines in [&[rivals::SEAL][..], &[rivals::RIVAL, rivals::SEAL], &[rivals::SEAL, rivals::RIVAL]] {
        let lacking = PlanError::Unmet(UnmetRequirement::Missing(&rivals::RIVAL.requires[0]));
        assert_eq!(plan(engines, &options), Err(lacking));
    }
}

#[actix::test]
async fn a_program_removed_between_two_steps_ends_the_job_as_unavailable() {
    let machine = Machine::with_press().await;
    let service = Service::start(&[]).await;
    let job = json!({"type": "latex", "target": "png", "data": {"name": "Zoe"}});
    let id = service.init(&job, "\\documentclass{article} slow").await;
    let (view, ()) = tokio::join!(service.finish(&id), async {
        service.busy().await;
        machine.remove();
    });
    assert_eq!(view["errorCode"], "engine_unavailable", "{view}");
    assert!(view["error"].as_str().unwrap().starts_with("The press is not installed"), "{view}");
    service.stop().await;
}

#[actix::test]
async fn intermediate_documents_are_bounded() {
    let _machine = Machine::with_press().await;
    let service = Service::start(&[("engines.work_limit_mb", "1")]).await;
    let job = json!({"type": "latex", "target": "pdf", "data": {"name": "x".repeat(1 << 20)}});
    let id = service.init(&job, "\\documentclass{article} {{name}}").await;
    let view = service.finish(&id).await;
    assert_eq!(view["errorCode"], "output_too_large", "{view}");
    assert!(view["error"].as_str().unwrap().ends_with("1 MB (engines.work_limit_mb)"), "{view}");
    service.stop().await;
}

#[actix::test]
async fn an_engine_that_is_not_installed_is_refused_at_init_with_its_package() {
    let machine = Machine::without_press().await;
    let service = Service::start(&[]).await;
    let init = async |job: Value| service.call(Method::POST, "/v1/documents/init", &job).await;
    let (status, answer) = init(json!({"type": "latex", "target": "pdf"})).await;
    assert_eq!((status, answer["code"].as_str()), (422, Some("unsupported_conversion")), "{answer}");
    let missing = format!(
        "'latex' cannot become 'pdf' here: The press is not installed (there is no /nowhere/press or {}); install it \
         by: scripts/setup --press.",
        *fake::PROGRAM
    );
    assert_eq!(answer["detail"], missing.as_str());
    let (_, answer) = init(json!({"type": "latex", "target": "xlsx"})).await;
    assert_eq!(
        answer["detail"],
        "'latex' cannot become 'xlsx'; it can become nothing here as it is; jpg, png, pptx, docx, html, pdf once \
                The press is installed (scripts/setup --press)."
    );
    assert_eq!(service.metric(AVAILABLE).await, "", "what was never there is not counted");
    let ready = service.ready(|_| true).await;
    assert_eq!(ready, json!({"status": "ready"}), "what was never there is nobody's loss");
    machine.install(fake::PRESS);
    let since = std::time::Instant::now();
    while init(json!({"type": "latex", "target": "pdf"})).await.0 != 200 {
        assert!(since.elapsed().as_secs() < 30, "it is there now");
    }
    service.stop().await;
}

#[actix::test]
async fn an_engine_that_is_lost_ends_its_jobs_and_the_others_work_on() {
    let machine = Machine::with_press().await;
    let service = Service::start(&[]).await;
    assert_eq!(service.metric(AVAILABLE).await, format!("{AVAILABLE} 1"));
    let job = json!({"type": "latex", "target": "pdf", "data": {"name": "Zoe"}});
    let (first, second) =
        (service.init(&job, "\\documentclass{a}").await, service.init(&job, "\\documentclass{b}").await);
    service.ready(|body| body["degraded"].is_null()).await;

    machine.remove();
    let degraded = service.ready(|body| !body["degraded"].is_null()).await;
    let lost = format!(
        "The press is not installed (there is no /nowhere/press or {}); install it by: \
         scripts/setup --press",
        *fake::PROGRAM
    );
    assert_eq!(degraded, json!({"status": "ready", "degraded": [format!("fake: {lost}")]}));
    assert_eq!(service.metric(AVAILABLE).await, format!("{AVAILABLE} 0"));
    let view = service.finish(&first).await;
    assert_eq!(
        (view["errorCode"].as_str(), view["error"].as_str()),
        (Some("engine_unavailable"), Some(lost.as_str()))
    );
    let html = service.init(&json!({"type": "html", "target": "html"}), "<p>here</p>").await;
    let view = service.finish(&html).await;
    assert_eq!(service.fetch(&view).await.text, "<p>here</p>");

    // It is there again, and does not start.
    machine.install("#!/nowhere/sh\n");
    service.ready(|body| body["degraded"].is_null()).await;
    let view = service.finish(&second).await;
    let message =
        "the engine 'fake', which the job needs, could not be started; the service's log has the cause";
    assert_eq!(
        (view["errorCode"].as_str(), view["error"].as_str()),
        (Some("engine_unavailable"), Some(message))
    );
    machine.install(fake::PRESS);
    let (_, pdf) = service.latex("pdf", "again", json!({})).await;
    assert!(pdf.text.ends_with("AGAIN"), "{}", pdf.text);
    service.stop().await;
}

#[actix::test]
async fn an_engines_program_runs_caged_and_ends_with_its_job() {
    let _machine = Machine::with_press().await;
    let service = Service::start(&[("workers.timeout_ms", "8000")]).await;
    let (_, pdf) = service.latex("pdf", "peek", json!({})).await;
    let name = std::fs::read_to_string("/etc/hostname").unwrap();
    assert!(!pdf.text.contains(name.trim()) && pdf.text.contains("Permission denied"), "{}", pdf.text);
    let job = json!({"type": "latex", "target": "pdf", "data": {"name": "Zoe"}});
    let hanging = service.init(&job, "\\documentclass{article} hang").await;
    let view = service.finish(&hanging).await;
    assert_eq!(view["errorCode"], "template_limit", "{view}");
    assert!(view["error"].as_str().unwrap().contains("(workers.timeout_ms)"), "{view}");
    let (_, next) = service.latex("pdf", "next", json!({})).await;
    assert!(next.text.ends_with("NEXT"), "{}", next.text);
    let busy = "platen_engine_slots{engine=\"fake\",state=\"busy\"}";
    assert_eq!(service.metric(busy).await, format!("{busy} 0"));
    service.stop().await;
}

#[actix::test]
async fn the_catalogue_lists_an_added_engine() {
    let machine = Machine::with_press().await;
    let catalog = Catalog::new(engines(), true, Metrics::new().engines);
    let ours = Catalog::new(platen::engines::all(), true, Metrics::new().engines);
    let [ours, all] = [&ours, &catalog].map(|catalog| catalog.table(|_| String::new()));
    let added: Vec<_> = all.lines().filter(|line| !ours.lines().any(|known| known == *line)).collect();
    assert_eq!(
        added,
        [
            // Beside ours, which fill what it converts, and convert and picture what it makes.
            "latex      jpg   fake > fake > raster:raster",
            "latex      png   fake > fake > fake:raster",
            "latex      pptx  fake > fake > raster:raster",
            "latex      docx  fake",
            "latex      html  fake > libreoffice",
            "latex      pdf   fake > fake",
            "pptx       png   office > libreoffice > fake:raster",
            "xlsx       png   office > libreoffice > fake:raster",
            "docx       jpg   office > fake > raster:raster",
            "docx       png   office > fake > fake:raster",
            "docx       pptx  office > fake > raster:raster",
            "docx       pdf   office > fake",
        ]
    );
    let here = |catalog: &Catalog| {
        let table = catalog.matrix_here(|_| None);
        table.lines().find(|line| line.starts_with("latex      pdf")).unwrap().to_owned()
    };
    assert_eq!(here(&catalog), "latex      pdf   fake > fake                             ok");
    machine.remove();
    let catalog = Catalog::new(engines(), true, Metrics::new().engines);
    let missing =
        "latex      pdf   fake > fake                             missing: The press (scripts/setup --press)";
    assert_eq!(here(&catalog), missing);
}

#[actix::test]
async fn an_engine_that_is_too_old_or_cannot_be_fenced_is_not_there() {
    let machine = Machine::with_press().await;
    machine.install("#!/bin/sh\necho 'press, version 2.0.9'\n");
    let service = Service::start(&[]).await;
    let job = json!({"type": "latex", "target": "pdf"});
    let (status, answer) = service.call(Method::POST, "/v1/documents/init", &job).await;
    assert_eq!(status, 422);
    let message = "'latex' cannot become 'pdf' here: The press is too old (it is 2.0, and 2.1 is needed); install a newer \
                one by: scripts/setup --press.";
    assert_eq!(answer["detail"], message);
    assert_eq!(service.metric(AVAILABLE).await, "");
    // It heals when a newer one is installed, and is refused again where that was a mistake.
    machine.install(fake::PRESS);
    let since = std::time::Instant::now();
    while service.metric(AVAILABLE).await != format!("{AVAILABLE} 1") {
        assert!(since.elapsed().as_secs() < 30, "it is new enough now");
        service.ready(|_| true).await;
    }
    let id = service.init(&json!({"type": "latex", "target": "pdf", "data": {"name": "Zoe"}}), "a").await;
    machine.install("#!/bin/sh\necho 'press, version 2.0.9'\n");
    let view = service.finish(&id).await;
    assert!(view["error"].as_str().unwrap().starts_with("The press is too old"), "{view}");
    service.stop().await;
    machine.install(fake::PRESS);
    let catalog = Catalog::new(engines(), false, Metrics::new().engines);
    let planned = catalog.plan(TemplateKind::Latex, Target::Pdf, &PageOptions::default());
    assert_eq!(planned, Err(PlanError::Unmet(UnmetRequirement::Landlock)));
    assert!(catalog.plan(TemplateKind::Html, Target::Pdf, &PageOptions::default()).is_ok());
}
