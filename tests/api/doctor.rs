//! `platen doctor`: its findings on this machine, and on one that lacks something.

use std::process::Output;

use serde_json::Value;

use crate::app::TestApp;
use crate::command_line::platen;

/// The findings as JSON, and whether the program succeeded.
fn examine(settings: &[(&str, &str)]) -> (Value, bool) {
    let folder = tempfile::tempdir().unwrap();
    let output = platen(folder.path(), settings, &["doctor", "--json"], b"");
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.success())
}

fn finding<'a>(report: &'a Value, part: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["part"] == part).unwrap_or_else(|| panic!("no {part}: {report}"))
}

#[test]
fn a_machine_that_is_set_up_lacks_nothing() {
    let (report, content) = examine(&[]);
    assert!(content && report["good"] == true, "{report}");
    let chromium = finding(&report, "Chromium")["detail"].as_str().unwrap();
    assert!(chromium.contains("Chrome/"), "its version, as it says itself: {chromium}");
    assert_eq!(finding(&report, "Sandbox")["detail"], "on");
    assert_eq!(finding(&report, "WebGL")["state"], "ok", "{report}");
    let engine = finding(&report, "Template engine")["detail"].as_str().unwrap();
    assert!(engine.starts_with("EJS, caged by "), "{engine}");
    for part in ["Latin", "CJK", "Arabic", "emoji", "vertical", "formulas"] {
        let state = &finding(&report, &format!("Fonts, {part}"))["state"];
        assert_eq!(state, "ok", "{part}: scripts/setup installs it");
    }
    assert_eq!(finding(&report, "Certificates")["state"], "ok");
    assert!(finding(&report, "Data folder")["detail"].as_str().unwrap().ends_with(" MiB free"));
}

#[test]
fn a_font_that_is_chosen_and_not_there_is_a_warning() {
    let (report, content) = examine(&[("browser.default_font", "Open Sans")]);
    assert!(content && finding(&report, "Fonts, chosen")["state"] == "ok", "{report}");
    let (report, content) =
        examine(&[("browser.default_font", "open sans"), ("browser.serif_font", "Opne Serif")]);
    let chosen = finding(&report, "Fonts, chosen");
    assert!(content && chosen["state"] == "warning", "{report}");
    assert_eq!(chosen["detail"], "'Opne Serif' (browser.serif_font) is not installed");
}

#[test]
fn missing_parts_are_reported_with_what_they_disable_and_the_remedy() {
    let (report, content) = examine(&[("browser.executable", "/nowhere/chromium")]);
    assert!(!content && report["good"] == false, "{report}");
    let chromium = finding(&report, "Chromium");
    assert_eq!(chromium["state"], "missing");
    assert!(chromium["detail"].as_str().unwrap().contains("/nowhere/chromium"), "{chromium}");
    assert!(chromium["disables"].as_str().unwrap().starts_with("PDF, PNG and JPG"), "{chromium}");
    assert_eq!(finding(&report, "Template engine")["state"], "ok", "the rest is looked at all the same");
}

#[test]
fn the_matrix_shows_the_available_conversions() {
    let folder = tempfile::tempdir().unwrap();
    let cells = |settings: &[(&str, &str)]| {
        let output = platen(folder.path(), settings, &["doctor", "--matrix"], b"");
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let cell = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        ["html       pdf", "html       html", "docx       docx", "latex      pdf", "latex      xlsx"]
            .map(cell)
    };
    let [pdf, html, filled, latex, none] = cells(&[]);
    assert!(pdf.contains(" ejs > chromium:print ") && pdf.ends_with(" ok"), "{pdf}");
    assert!(html.ends_with(" ok") && none.ends_with(" -"), "{html} {none}");
    assert!(latex.contains(" ejs > tex ") && latex.ends_with(" ok"), "{latex}");
    assert!(filled.contains(" office ") && filled.ends_with(" ok"), "{filled}");
    let [pdf, html, ..] = cells(&[("browser.executable", "/nowhere/chromium")]);
    assert!(pdf.ends_with(" missing: /nowhere/chromium (browser.executable)"), "{pdf}");
    assert!(html.ends_with(" ok"), "{html}");
}

#[test]
fn a_chromium_that_does_not_start_says_what_it_printed() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("chromium");
    std::fs::write(&broken, "#!/bin/sh\necho 'libnss3.so: cannot open' >&2\nexit 127\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&broken, mode).unwrap();
    // Its folder is private; Chromium's own user must reach it.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (report, content) = examine(&[("browser.executable", &broken.display().to_string())]);
    assert!(!content);
    let detail = finding(&report, "Chromium")["detail"].as_str().unwrap();
    assert!(detail.contains("libnss3.so: cannot open"), "{detail}");
}

#[test]
fn a_sandbox_that_is_switched_off_is_a_warning() {
    let (report, content) = examine(&[("browser.sandbox", "false")]);
    assert!(content, "{report}");
    assert_eq!(finding(&report, "Sandbox")["state"], "warning");
}

#[test]
fn the_text_report_has_a_line_per_part() {
    let folder = tempfile::tempdir().unwrap();
    let full =
        [("storage.objects_free_limit_bytes", "1000000000000000"), ("http.connection_limit", "1000000")];
    let Output { status, stdout, .. } = platen(folder.path(), &full, &["doctor"], b"");
    let text = String::from_utf8(stdout).unwrap();
    assert!(!status.success());
    assert!(text.contains("\nmissing  Data folder      "), "{text}");
    assert!(
        text.contains("\n         remedy:   free some, or lower storage.objects_free_limit_bytes"),
        "{text}"
    );
    assert!(text.lines().any(|line| line.starts_with("ok       Chromium         ")), "{text}");
}

#[actix_web::test]
async fn the_running_service_is_asked_whether_it_is_ready() {
    let app = TestApp::start().await;
    let bind = app.base.strip_prefix("http://").unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let asked = |bind: &str| platen(folder.path(), &[("http.bind", bind)], &["doctor", "--running"], b"");
    let output = asked(&bind);
    let save_request = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && save_request.contains("ready at http://127.0.0.1:"), "{save_request}");
    drop(app);
    let output = asked(&bind);
    let save_request = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !output.status.success() && save_request.contains("remedy:   start it: platen serve"),
        "{save_request}"
    );
}
