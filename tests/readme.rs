//! The commands of the README and of the pages in `docs`, run as they stand there: curl, Python and the program itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_platen");
const README: &str = include_str!("../README.md");
const API: &str = include_str!("../docs/api.md");
const LATEX: &str = include_str!("../docs/latex.md");
const TEMPLATES: &str = include_str!("../docs/templates.md");
const OPTIONS: &str = include_str!("../docs/format-options.md");
/// The pages whose `sh` blocks go on where the tour has ended, and whose lines `$ platen …` are run.
const PAGES: &[&str] = &[
    README,
    API,
    TEMPLATES,
    include_str!("../docs/command-line.md"),
    OPTIONS,
    LATEX,
    include_str!("../docs/office-files.md"),
    include_str!("../docs/pictures.md"),
    include_str!("../docs/security.md"),
];
const WAIT_UNTIL_READY: &str =
    "timeout 60 bash -c 'until curl -sf -o /dev/null '\"${base%/v1}\"'/health/ready; do sleep 0.1; done'\n";

/// The service on a free port, with an account and a token.
struct Service {
    child: Child,
    folder: TempDir,
    address: String,
    token: String,
}

impl Service {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(folder.path(), PROGRAM).arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let mut service = Self { child, folder, address, token: String::new() };
        assert!(!service.address.is_empty(), "the service said '{line}'");
        service.run(PROGRAM, &["account", "create", "reader"]);
        let token = service.run(PROGRAM, &["token", "create", "--account", "reader"]);
        token.trim().clone_into(&mut service.token);
        service
    }

    /// Runs a program in the service's folder; it must succeed. Answers what it printed.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = command(self.folder.path(), program).args(arguments).output().unwrap();
        let (printed, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{program} failed:\n{arguments:?}\n{printed}\n{complained}");
        printed.into_owned()
    }

    /// Puts this service's address and token where the text has the reader's.
    fn adapted(&self, text: &str) -> String {
        let adapted = text.replace("http://127.0.0.1:8080", &self.address).replace('…', &self.token);
        assert!(adapted.contains(&self.address) && adapted.contains(&self.token), "{text}");
        adapted
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
        let _ = self.child.wait();
    }
}

#[test]
fn the_tour_of_the_readme_works_as_written() {
    let service = Service::start();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    std::os::unix::fs::symlink(assets, service.folder.path().join("assets")).unwrap();
    let tour = section(README, "## A tour in five minutes");

    let shell = blocks(tour, "sh");
    let (settings, commands) = shell.split_at(shell.find("curl -sS").unwrap());
    // The later steps make the same file again.
    let commands = commands.replacen("api() {", "mv invoice.pdf first.pdf\napi() {", 1);
    let script = format!("set -euo pipefail\n{}{WAIT_UNTIL_READY}{commands}", service.adapted(settings));
    let printed = service.run("bash", &["-c", &script]);
    assert!(printed.contains("\"status\":\"done\""), "{printed}");
    assert!(printed.contains("\"url\":\"http://"), "{printed}");
    for file in ["first.pdf", "invoice.pdf"] {
        let invoice = service.run("pdftotext", &["-layout", file, "-"]);
        assert!(invoice.contains("Müller & Søn") && invoice.contains("€ 3,987.18"), "{file}: {invoice}");
    }

    let helpers = shell
        .lines()
        .filter(|line| ["base=", "token=", "api()", "field()"].iter().any(|it| line.starts_with(it)));
    let helpers: Vec<_> = helpers.collect();
    let pages: String = PAGES[1..].iter().map(|page| blocks(page, "sh")).collect();
    assert!(["Payslip", "\"latex\"", "invoice.docx", "unzip"].iter().all(|it| pages.contains(it)), "{pages}");
    let script = format!("set -euo pipefail\n{}\n{pages}", service.adapted(&helpers.join("\n")));
    let printed = service.run("bash", &["-c", &script]);
    assert!(printed.contains("document.pdf") && !printed.contains("\"code\""), "{printed}");

    service.run("python3", &["-c", &service.adapted(&blocks(API, "python"))]);
    let greeting = service.run("pdftotext", &["hello.pdf", "-"]);
    assert_eq!(greeting.trim(), "Grüße, Zoë!");
}

#[test]
fn numbers_money_and_dates_read_as_the_page_of_templates_says() {
    let folder = tempfile::tempdir().unwrap();
    let passage = section(TEMPLATES, "## Numbers, money and dates");
    let (template, order) = (blocks(passage, "ejs"), blocks(passage, "json"));
    let order: serde_json::Value = serde_json::from_str(&order).unwrap();
    let files = [
        ("a.ejs", &template),
        ("d.json", &order["data"].to_string()),
        ("o.json", &order["formatOpts"].to_string()),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let line = [
        "render", "a.ejs", "--type", "ejs", "--data", "d.json", "--opts", "o.json", "--target", "html", "-o",
        "-",
    ];
    let output = command(folder.path(), PROGRAM).args(line).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).unwrap().replace(['\u{a0}', '\u{202f}'], " ");
    let lines: Vec<_> = page.lines().filter_map(|line| line.split_once("<!--")).collect();
    assert_eq!(lines.len(), template.lines().count(), "{page}");
    for (found, wanted) in lines {
        assert_eq!(found.trim(), wanted.trim_end_matches("-->").trim(), "{page}");
    }
}

#[test]
fn margin_boxes_are_shown_as_the_page_of_options_says() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let example = blocks(section(OPTIONS, "## Margin boxes"), "html");
    std::fs::create_dir_all(site.join("fonts")).unwrap();
    std::fs::create_dir(site.join("img")).unwrap();
    let brand = "/usr/share/fonts/truetype/liberation/LiberationMono-Bold.ttf";
    std::fs::copy(brand, site.join("fonts/brand.ttf")).unwrap();
    let dot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/dot.png");
    std::fs::copy(dot, site.join("img/logo.png")).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = command(folder.path(), program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    // With a script the page is served with its files, without one they are put into it.
    for script in ["", "<script></script>"] {
        // The PDF lists a picture that has pixels.
        let page = example.replace("logo.svg", "logo.png") + script;
        std::fs::write(site.join("index.html"), page).unwrap();
        let (_, warnings) = run(PROGRAM, &["render", "site", "-o", "boxes.pdf"]);
        assert_eq!(warnings, "");
        let words = |sheet| {
            let (text, _) = run("pdftotext", &["-f", sheet, "-l", sheet, "boxes.pdf", "-"]);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (first, second) = (words("1"), words("2"));
        assert!(first.contains("Page 1 of 2") && !first.contains("Annual report"), "{first}");
        assert!(second.contains("Page 2 of 2") && second.contains("Annual report"), "{second}");
        let (fonts, _) = run("pdffonts", &["boxes.pdf"]);
        let fonts: Vec<_> = fonts.lines().skip(2).collect();
        assert!(fonts.len() == 1 && fonts[0].contains("LiberationMono-Bold"), "{fonts:?}");
        let pictures = |sheet| {
            run("pdfimages", &["-list", "-f", sheet, "-l", sheet, "boxes.pdf"]).0.lines().skip(2).count()
        };
        assert_eq!((pictures("1"), pictures("2") > 0), (0, true));
    }
}

#[test]
fn the_letter_of_the_page_of_latex_is_typeset() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let data = r#"{"to": {"name": "Zoë & Co", "address": "2nd floor\n\n1 Main Street"}, "lines": [{"label": "Ink_1", "price": 1234.5}]}"#;
    for (name, text) in [
        ("index.tex", &*blocks(LATEX, "latex")),
        ("parts/closing.tex", "\\closing{Yours}"),
        ("data.json", data),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let line = ["render", ".", "--data", "data.json", "-o", "letter.pdf"];
    let output = command(folder.path(), PROGRAM).args(line).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = command(folder.path(), "pdftotext").args(["letter.pdf", "-"]).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    for part in ["2nd floor", "1 Main Street", "Dear Zoë & Co,", "Ink_1", "1.234,50 €", "Yours"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A reader's shell may be any of POSIX. Where `sh` is bash, this finds less. The tour runs in bash for its `pipefail`:
/// without it, a failed part of a pipe goes unnoticed.
#[test]
fn shell_commands_are_written_for_any_shell() {
    let unrun = [include_str!("../docs/deployment.md"), include_str!("../docs/migrating.md")];
    for page in PAGES.iter().chain(&unrun) {
        let script = blocks(page, "sh");
        let output = Command::new("sh").args(["-n", "-c", &script]).output().unwrap();
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Stand-ins for files of the reader.
#[test]
fn command_lines_in_the_pages_work_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["assets", "tests"] {
        std::os::unix::fs::symlink(top.join(name), folder.path().join(name)).unwrap();
    }
    let template = "<%= customer.name %>\n<% items.forEach(item => { %><%= item.price %><% }) %>\n";
    std::fs::write(folder.path().join("letter.ejs"), template).unwrap();
    std::fs::write(folder.path().join("data.json"), r#"{"customer": {"name": "Zoë"}, "items": [{}]}"#)
        .unwrap();
    let text: String = PAGES.iter().map(|page| blocks(page, "text")).collect();
    let mut lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    // `doctor` checks the whole machine, so its exit status depends on the machine.
    lines.retain(|line| *line != "platen doctor");
    lines.sort_unstable();
    lines.dedup();
    assert!(lines.len() >= 8 && lines.iter().all(|line| line.contains("platen ")), "{lines:?}");
    let script = format!("set -euo pipefail\nplaten() {{ {PROGRAM} \"$@\"; }}\n{}", lines.join("\n"));
    let output = command(folder.path(), "bash").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made = ["invoice.pdf", "filled.docx", "report.xlsx", "letter.pdf", "deck.zip", "talk.pptx"];
    let missing: Vec<_> = made.into_iter().filter(|name| !folder.path().join(name).exists()).collect();
    assert!(missing.is_empty(), "not made: {missing:?}");
}

#[test]
fn a_code_block_is_the_text_between_its_fences() {
    assert_eq!(blocks("a\n```sh\nb\nc\n```\nd\n```json\n{}\n```\n```sh\ne\n```\n", "sh"), "b\nc\ne\n");
}

/// A program with the service's data folder, and without the settings of the user who runs the tests.
fn command(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("PLATEN_CONFIG", "")
        .env("PLATEN__HTTP__BIND", "127.0.0.1:0")
        .env("PLATEN__OFFICE__START", "lazy")
        .env("PLATEN__STORAGE__DATA_DIR", folder.join("data"))
        .env("NO_PROXY", "*")
        .env("PYTHONIOENCODING", "utf-8");
    command
}

/// The page from `heading` to the next heading of the same level.
fn section(page: &'static str, heading: &str) -> &'static str {
    let (_, after) = page.split_once(&format!("\n{heading}\n")).unwrap();
    after.split_once("\n## ").map_or(after, |(section, _)| section)
}

/// The code blocks of one language, one after the other.
fn blocks(text: &str, language: &str) -> String {
    let open = format!("```{language}\n");
    text.split(&open).skip(1).filter_map(|rest| rest.split_once("```").map(|(block, _)| block)).collect()
}
