//! `platen render`: files and standard streams, targets, and errors that say what to do.

use std::path::Path;

use serde_json::json;

use crate::command_line::platen;

const TEMPLATE: &str = "<p>Hello, <%= name %>!</p>";

/// Runs `platen render`; its stdout, or its stderr where it failed.
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
    let poppler_output = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).arg(&pdf).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(poppler_output("pdftotext", &["-"]).trim(), "Hello, Zoë!");
    let size = poppler_output("pdfinfo", &[]);
    assert!(size.contains("595.") && size.contains("x 420 "), "a5, on its side: {size}");
}

#[test]
fn an_option_is_said_by_a_flag_by_a_pair_or_among_many() {
    let folder = folder();
    std::fs::write(folder.path().join("head.html"), "<b>from a file</b>\n").unwrap();
    let line = [
        "index.ejs",
        "--data",
        "data.json",
        "-o",
        "a.pdf",
        "--opts",
        r#"{"format": "a3", "landscape": false}"#,
    ];
    let more = ["-O", "landscape=1", "--format", "a5", "--header-template", "@head.html"];
    assert_eq!(render(folder.path(), &[&line[..], &more].concat(), b"").unwrap(), b"a.pdf\n");
    let pdf = folder.path().join("a.pdf");
    let said = |program: &str, more: &[&str]| {
        let output = std::process::Command::new(program).arg(&pdf).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        said("pdfinfo", &[]).contains("595.") && said("pdfinfo", &[]).contains("x 420 "),
        "a5, on its side"
    );
    assert!(said("pdftotext", &["-"]).contains("from a file"));
    let wrong = render(folder.path(), &["index.ejs", "-O", "lanscape=1"], b"").unwrap_err();
    assert!(wrong.contains("-O lanscape is not known; did you mean landscape?"), "{wrong}");
    let wrong = render(folder.path(), &["index.ejs", "--scale", "9", "-o", "a.pdf"], b"").unwrap_err();
    assert!(wrong.contains("/formatOpts/scale: 9 is out of range"), "{wrong}");
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
    std::fs::write(folder.path().join("page.html"), "<p>1").unwrap();
    let cases: [(&[&str], &str); 17] = [
        (
            &["index.ejs", "--type", "ejs", "-o", "a.zip"],
            "-o a.zip needs --target, png or jpg: several pictures",
        ),
        (
            &["index.ejs", "--type", "ejs", "--data", "data.json", "-o", "a.zip", "--target", "html"],
            "html was made, and -o a.zip says zip; give -o NAME.html",
        ),
        (&["index.ejs", "-o", "-"], "-o - needs --target; ejs becomes jpg (or jpeg), png, pptx, html, pdf"),
        (
            &["index.ejs", "-o", "a.bmp"],
            "another one, or --target; ejs becomes jpg (or jpeg), png, pptx, html, pdf",
        ),
        (&["index.ejs", "--target", "html", "-o", "-", "--open"], "--open shows a file; give -o FILE"),
        (
            &["data.json"],
            "'data.json' does not say what it is by its extension; give --type (framework, latex, ",
        ),
        (&["-", "--type", "ejs"], "stdin has no name that the document could have; give -o FILE"),
        (&["page.html", "--target", "html"], "page.html is the template itself; give -o FILE"),
        (&["index.ejs", "--type", "ejs", "-o", "a.pdf", "--target", "png"], "but -o a.pdf is a pdf"),
        (
            &["index.ejs", "--type", "ejs", "-o", "a", "--target", "bmp"],
            "--target bmp is unknown; ejs becomes jpg (or jpeg), png, pptx, html, pdf",
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
        let message = render(folder.path(), line, opts.as_bytes()).unwrap_err();
        assert!(message.contains(wanted), "{line:?}: {message}");
    }
    assert!(!folder.path().join("a.pdf").exists() && !folder.path().join("a.zip").exists());
}

#[test]
fn failing_templates_and_invalid_data_are_reported() {
    let folder = folder();
    let message = render(folder.path(), &["index.ejs", "--type", "ejs", "-o", "a.html"], b"").unwrap_err();
    assert!(
        message.contains("index.html:1: 'name' is not defined; give the data with --data FILE.json"),
        "{message}"
    );
    let broken = ["index.ejs", "--type", "ejs", "--data", "-", "-o", "a.html"];
    let message = render(folder.path(), &broken, b"{\"name\": ").unwrap_err();
    assert!(message.contains("data_invalid: "), "{message}");
}

/// Without Chromium html is made all the same, and all else fails at once, not at a deadline.
#[test]
fn a_missing_browser_is_reported_at_once() {
    let folder = folder();
    let settings = [("browser.executable", "/nowhere/chromium"), ("log.filter", "off")];
    let line = |output| ["render", "index.ejs", "--type", "ejs", "--data", "data.json", "-o", output];
    let started = std::time::Instant::now();
    let output = platen(folder.path(), &settings, &line("a.pdf"), b"");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("/nowhere/chromium"), "{message}");
    assert!(started.elapsed().as_secs() < 30, "it took {:?}", started.elapsed());
    // Slow enough for the failure of a started browser to be in the log before the page is made.
    let slow = "<% let n = 0; while (n < 1e7) n++; %><p><%= n %></p>";
    std::fs::write(folder.path().join("index.ejs"), slow).unwrap();
    // For html none is started, so its log has nothing of one.
    let settings = [settings[0], ("log.filter", "info")];
    let output = platen(folder.path(), &settings, &line("a.html"), b"");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !log.contains("/nowhere/chromium"), "{log}");
}

/// The text of a PDF in the folder.
fn text(folder: &Path, name: &str) -> String {
    let output = std::process::Command::new("pdftotext").arg(folder.join(name)).arg("-").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn write(folder: &Path, path: &str, content: &[u8]) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// What a style sheet says before an element shows that it was read.
fn sheet(words: &str) -> Vec<u8> {
    format!("p::before {{ content: '{words} ' }}").into_bytes()
}

#[test]
fn options_have_defaults_and_files_beside_a_page_are_found() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("work");
    write(&folder, "dist/index.html", b"<!doctype html><link rel=stylesheet href=/assets/main.css><p>built");
    write(&folder, "dist/assets/main.css", &sheet("styled"));
    assert_eq!(render(&folder, &["dist/"], b"").unwrap(), b"dist.pdf\n");
    assert_eq!(text(&folder, "dist.pdf"), "styled built");

    // A page by itself: its sheet, what that imports, and nothing from outside of its folder, by no way.
    let page = "<!doctype html><link rel=stylesheet href=css/a.css><link rel=stylesheet href=../secret.css>\
        <link rel=stylesheet href=linked.css><link rel=stylesheet href=%2e%2e/secret.css><p>page";
    write(&folder, "Letter.HTML", page.as_bytes());
    write(&folder, "css/a.css", b"@import 'b.css';");
    write(&folder, "css/b.css", &sheet("imported"));
    write(root.path(), "secret.css", &sheet("SECRET"));
    std::os::unix::fs::symlink("../secret.css", folder.join("linked.css")).unwrap();
    // Other files in its folder are not read and do not disturb.
    write(&folder, "index.html", b"<p>another");
    assert_eq!(render(&folder, &["Letter.HTML", "-o", "Letter.PDF"], b"").unwrap(), b"Letter.PDF\n");
    assert_eq!(text(&folder, "Letter.PDF"), "imported page");

    write(&folder, "main.ejs", b"<p><%- include('parts/name') %>");
    write(&folder, "parts/name.ejs", b"included <%= name %>");
    let line = ["main.ejs", "--data", "-", "--target", "HTML"];
    assert_eq!(render(&folder, &line, br#"{"name": "Zo\u00eb"}"#).unwrap(), b"main.html\n");
    assert!(std::fs::read_to_string(folder.join("main.html")).unwrap().contains("included Zoë"));

    for (line, name) in [
        (&["Letter.HTML", "--target", "jpeg"][..], "Letter.jpg"),
        (&["Letter.HTML", "-o", "a.JPEG"], "a.JPEG"),
    ] {
        assert_eq!(render(&folder, line, b"").unwrap(), format!("{name}\n").as_bytes());
        assert!(std::fs::read(folder.join(name)).unwrap().starts_with(b"\xff\xd8\xff"), "{name}");
    }
    std::fs::create_dir(folder.join("empty")).unwrap();
    let message = render(&folder, &["empty"], b"").unwrap_err();
    assert!(message.contains("the folder empty has no files; put index.html there"), "{message}");
    let deck = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/office_files/report.docx");
    assert_eq!(render(&folder, &[deck, "--target", "docx"], b"").unwrap(), b"report.docx\n");
}

#[test]
fn a_terminal_shows_progress_and_the_desktop_opens_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let slow =
        b"<!doctype html><p>slow<script>setTimeout(() => { document.body.append(' late') }, 2500)</script>";
    write(folder.path(), "slow.html", slow);
    // The desktop, as far as the program sees it.
    write(folder.path(), "bin/xdg-open", b"#!/bin/sh\nprintf '%s' \"$1\" > opened\n");
    let desktop = folder.path().join("bin/xdg-open");
    std::fs::set_permissions(&desktop, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut path = desktop.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let command = format!("{} render slow.html --open", env!("CARGO_BIN_EXE_platen"));
    let mut terminal = std::process::Command::new("timeout");
    terminal.args(["60", "script", "--quiet", "--return", "--command", &command, "/dev/null"]);
    terminal
        .env("PATH", path)
        .env("PLATEN_CONFIG", "")
        .env("PLATEN__LOG__FILTER", "off")
        .current_dir(folder.path());
    let output = terminal.stdin(std::process::Stdio::null()).output().unwrap();
    let seen = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && seen.contains("\r\x1b[Krendering … 2 s"), "{seen:?}");
    assert!(seen.trim_end().ends_with("\r\x1b[Kslow.pdf"), "the line is taken away: {seen:?}");
    assert_eq!(text(folder.path(), "slow.pdf"), "slow\nlate");
    let opened = std::fs::read_to_string(folder.path().join("opened")).unwrap();
    assert_eq!(Path::new(&opened), folder.path().canonicalize().unwrap().join("slow.pdf"));
    // Without a terminal there is no progress line, and success prints nothing.
    let output = platen(folder.path(), &[], &["render", "slow.html"], b"");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
