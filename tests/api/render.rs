//! `platen render`: files and standard streams, targets, and errors that say what to do.

use std::path::Path;

use serde_json::json;

use crate::command_line::platen;

const TEMPLATE: &str = "<p>Hello, <%= name %>!</p>";

/// Runs `platen render`; what it printed, or what it complained of.
fn render(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Result<Vec<u8>, String> {
    let quiet = [("log.filter", "off")];
    let output = platen(folder, &quiet, &[&["render"], arguments].concat(), stdin);
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8(output.stderr).unwrap()) }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.ejs"), TEMPLATE).unwrap();
    std::fs::write(folder.path().join("data.json"), r#"{"name": "Zoë"}"#).unwrap();
    folder
}

#[test]
fn a_file_becomes_a_file_and_its_path_is_printed() {
    let folder = folder();
    std::fs::write(folder.path().join("opts.json"), r#"{"format": "a5", "landscape": true}"#).unwrap();
    let line = ["index.ejs", "--type", "ejs", "--data", "data.json", "-o", "a.PDF", "--opts", "opts.json"];
    assert_eq!(render(folder.path(), &line, b"").unwrap(), b"a.PDF\n");
    let pdf = folder.path().join("a.PDF");
    let told = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).arg(&pdf).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(told("pdftotext", &["-"]).trim(), "Hello, Zoë!");
    let size = told("pdfinfo", &[]);
    assert!(size.contains("595.") && size.contains("x 420 "), "a5, on its side: {size}");
}

#[test]
fn standard_streams_are_read_and_written_by_the_name_of_a_dash() {
    let folder = folder();
    let page = render(
        folder.path(),
        &["index.ejs", "--type", "ejs", "--data", "-", "-o", "-", "--target", "html"],
        br#"{"name": "Ana"}"#,
    );
    let page = String::from_utf8(page.unwrap()).unwrap();
    assert!(page.contains("<p>Hello, Ana!</p>"), "the page alone: {page}");
    let png = render(folder.path(), &["-", "--type", "html", "-o", "-", "--target", "png"], b"<h1>Hi</h1>");
    assert_eq!(&png.unwrap()[..8], b"\x89PNG\r\n\x1a\n");
    let left: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing else is written: {left:?}");
}

#[test]
fn wrong_arguments_are_refused_with_the_remedy() {
    let folder = folder();
    let cases: [(&[&str], &str); 13] = [
        (
            &["index.ejs", "--type", "ejs", "-o", "a.zip"],
            "-o a.zip needs --target, png or jpg: several pictures",
        ),
        (
            &["index.ejs", "--type", "ejs", "--data", "data.json", "-o", "a.zip", "--target", "html"],
            "html was made, and -o a.zip says zip; give -o NAME.html",
        ),
        (&["index.ejs", "--type", "ejs", "-o", "-"], "-o - needs --target; targets are: jpg, png, "),
        (&["index.ejs", "--type", "ejs", "-o", "a.bmp"], "-o a.bmp needs such an extension, or --target"),
        (&["index.ejs", "--type", "ejs", "-o", "a.pdf", "--target", "png"], "but -o a.pdf is a pdf"),
        (
            &["index.ejs", "--type", "ejs", "-o", "a", "--target", "bmp"],
            "--target bmp is unknown; there are: jpg, ",
        ),
        (&["index.ejs", "--type", "word", "-o", "a.pdf"], "--type word is unknown; there are: framework, "),
        (&["index.ejs", "--type", "ejs", "-o", "a.xlsx"], "ejs cannot become xlsx; it can become: "),
        (&["index.ejs", "--type", "ejs", "-o", "b/a.pdf"], "there is no folder b; make it first"),
        (&["-", "--type", "ejs", "--data", "-", "-o", "a.pdf"], "one may be '-'"),
        (&["none.ejs", "--type", "ejs", "-o", "a.pdf"], "cannot read none.ejs: No such file"),
        (
            &["index.ejs", "--type", "ejs", "-o", "a.pdf", "--opts", "index.ejs"],
            "--opts index.ejs is not valid JSON",
        ),
        (&["index.ejs", "--type", "ejs", "-o", "a.pdf", "--opts", "-"], "/formatOpts/scale: "),
    ];
    let opts = json!({ "scale": 9 }).to_string();
    for (line, wanted) in cases {
        let told = render(folder.path(), line, opts.as_bytes()).unwrap_err();
        assert!(told.contains(wanted), "{line:?}: {told}");
    }
    assert!(!folder.path().join("a.pdf").exists() && !folder.path().join("a.zip").exists());
}

#[test]
fn a_template_that_fails_and_data_that_is_none_are_told() {
    let folder = folder();
    let told = render(folder.path(), &["index.ejs", "--type", "ejs", "-o", "a.html"], b"").unwrap_err();
    assert!(told.contains("index.html:1: 'name' is not defined"), "{told}");
    let broken = ["index.ejs", "--type", "ejs", "--data", "-", "-o", "a.html"];
    let told = render(folder.path(), &broken, b"{\"name\": ").unwrap_err();
    assert!(told.contains("data_invalid: "), "{told}");
}

/// Without Chromium html is made all the same, and all else fails at once, not at a deadline.
#[test]
fn a_missing_browser_is_told_at_once() {
    let folder = folder();
    let settings = [("browser.executable", "/nowhere/chromium"), ("log.filter", "off")];
    let line = |output| ["render", "index.ejs", "--type", "ejs", "--data", "data.json", "-o", output];
    let started = std::time::Instant::now();
    let output = platen(folder.path(), &settings, &line("a.pdf"), b"");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("/nowhere/chromium"), "{told}");
    assert!(started.elapsed().as_secs() < 30, "it took {:?}", started.elapsed());
    // Slow enough for the browser's failure to be known long before the page is made.
    let slow = "<% let n = 0; while (n < 1e7) n++; %><p><%= n %></p>";
    std::fs::write(folder.path().join("index.ejs"), slow).unwrap();
    let output = platen(folder.path(), &settings, &line("a.html"), b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
