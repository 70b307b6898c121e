//! Rules about the documents: they name every setting and every code, and nothing that is not there.

use std::fmt::Write as _;

use platen::config::DEFAULT_TOML;
use platen::domain::error::ErrorCode;
use platen::domain::format_opts::Key;
use platen::domain::kinds::Target;
use platen::engines::catalog::Catalog;
use platen::problem::Code;
use platen::telemetry::metrics::Metrics;
use strum::VariantNames as _;

use crate::tree::{self, Rule, Source};

const CONFIGURATION: &str = "docs/configuration.md";
const ERRORS: &str = "docs/errors.md";
const OPTIONS: &str = "docs/format-options.md";
const BEGIN_SETTINGS: &str = "<!-- begin: made from config/default.toml -->";
const BEGIN_OPTIONS: &str = "<!-- begin: made from src/domain/format_opts/key.rs -->";
const END: &str = "<!-- end -->";

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        name: "settings explained",
        applies: |path| path == "config/default.toml",
        check: settings_explained,
        bad: &[("config/default.toml", "[http]\nbind = \"127.0.0.1:8080\"\n")],
        good: &[("config/default.toml", "# Settings.\n\n[http]\nbind = \"a#b\"  # where to listen\n")],
    },
    Rule {
        name: "settings documented",
        applies: |path| path == CONFIGURATION,
        check: settings_documented,
        bad: &[(CONFIGURATION, "# Configuration\n"), (CONFIGURATION, concat!("<!-- end -->", "\nold\n"))],
        good: &[(CONFIGURATION, include_str!("../../docs/configuration.md"))],
    },
    Rule {
        name: "codes documented",
        applies: |path| path == ERRORS,
        check: codes_documented,
        bad: &[
            (ERRORS, "| 400 | `job_not_found` | wrong status |\n"),
            (ERRORS, concat!(include_str!("../../docs/errors.md"), "\n| 404 | `lost_code` | gone |\n")),
        ],
        good: &[(ERRORS, include_str!("../../docs/errors.md"))],
    },
    Rule {
        name: "options documented",
        applies: |path| path == OPTIONS,
        check: options_documented,
        bad: &[(OPTIONS, "| `formatOpts` | works on | |\n|---|---|---|\n| `format` | pdf | the sheet |\n")],
        good: &[(OPTIONS, include_str!("../../docs/format-options.md"))],
    },
    Rule {
        name: "links lead somewhere",
        applies: |path| tree::has_extension(path, "md"),
        check: links,
        bad: &[
            ("README.md", "see [there](docs/nowhere.md)\n"),
            ("ARCHITECTURE.md", "it is in `src/nowhere.rs`\n"),
            ("docs/a.md", "see [there](README.md)\n"),
            ("docs/a.md", "see [there](../README.md#no-such-heading)\n"),
            ("README.md", "# Here\n\nsee [top](#top)\n"),
        ],
        good: &[
            (
                "README.md",
                "see [licence](LICENSE), [site](https://example.org)\n\n## The top, `a` & b\n\n[top](#the-top-a--b)\n",
            ),
            ("docs/a.md", "see [readme](../README.md#licence) and `src/lib.rs`\n"),
        ],
    },
];

#[test]
fn tables_are_made_from_the_code() {
    let (settings, options) = (table(DEFAULT_TOML), options_table());
    for (path, begin, table) in
        [(CONFIGURATION, BEGIN_SETTINGS, &settings), (OPTIONS, BEGIN_OPTIONS, &options)]
    {
        let page = tree::read(path);
        let made = with_table(&page, begin, table).expect("the page has its two marks");
        if std::env::var_os("PLATEN_UPDATE_DOCS").is_some() && made != page {
            std::fs::write(tree::top().join(path), &made).expect("the page can be written");
        }
    }
    assert!(settings.contains("| `http.bind` | `\"127.0.0.1:8080\"` | "), "{settings}");
    assert!(options.contains("| `scale` | pdf, pptx | the size of the content, 0.1 to 2 |\n"), "{options}");
}

fn settings_explained(source: &Source) -> Vec<(usize, String)> {
    let unexplained = |(_, line): &(usize, &str)| setting(line).is_some_and(|(_, _, why)| why.is_empty());
    let sentence = "say after '#' what the setting is for".to_owned();
    source.lines().filter(unexplained).map(|(number, _)| (number, sentence.clone())).collect()
}

fn settings_documented(source: &Source) -> Vec<(usize, String)> {
    made_anew(source, (BEGIN_SETTINGS, &table(DEFAULT_TOML)))
}

fn options_documented(source: &Source) -> Vec<(usize, String)> {
    made_anew(source, (BEGIN_OPTIONS, &options_table()))
}

/// The page with the table between its marks made anew.
fn with_table(page: &str, begin: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{table}\n{END}{after}"))
}

fn made_anew(source: &Source, (begin, table): (&str, &str)) -> Vec<(usize, String)> {
    if with_table(&source.text, begin, table).as_deref() == Some(&source.text) {
        return Vec::new();
    }
    let made_from = begin.trim_start_matches("<!-- begin: made from ").trim_end_matches(" -->");
    let remedy = format!("differs from {made_from}; run: PLATEN_UPDATE_DOCS=1 cargo test --test tidy, twice");
    vec![(1, remedy)]
}

fn table(defaults: &str) -> String {
    let mut made = String::new();
    let mut section = "";
    for line in defaults.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            let _ = write!(made, "\n### {section}\n\n| Key | Default | Meaning |\n|---|---|---|\n");
        } else if let Some((key, value, why)) = setting(line) {
            let _ = writeln!(made, "| `{section}.{key}` | `{value}` | {} |", why.replace('|', "\\|"));
        }
    }
    made
}

/// Key, value and comment of a line of the defaults.
fn setting(line: &str) -> Option<(&str, &str, &str)> {
    if line.starts_with(['#', '[']) {
        return None;
    }
    let (key, rest) = line.split_once(" = ")?;
    let (value, why) = rest.split_once(" #").unwrap_or((rest, ""));
    Some((key, value.trim(), why.trim()))
}

fn codes_documented(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for code in Code::ALL {
        let row = format!("| {} | `{}` |", code.status(), code.name());
        if !source.text.contains(&row) {
            found.push((1, format!("the table of errors lacks the row '{row} …'")));
        }
    }
    for code in ErrorCode::VARIANTS {
        let row = format!("\n| `{code}` |");
        if !source.text.contains(&row) {
            found.push((1, format!("the table of job errors lacks the row '{} …'", row.trim())));
        }
    }
    for (number, line) in source.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, status, code, ..] = cells.as_slice()
            && status.parse::<u16>().is_ok_and(|status| status >= 400)
            && !Code::ALL.iter().any(|known| *code == format!("`{}`", known.name()))
        {
            found.push((number, format!("{code} is no code of src/problem.rs")));
        }
    }
    found
}

/// The row of each key: its name, what it works on, its sentence.
fn options_table() -> String {
    let catalog = Catalog::new(platen::engines::all(), true, Metrics::new().engines);
    let targets =
        [Target::Pdf, Target::Png, Target::Jpg, Target::Html, Target::Docx, Target::Xlsx, Target::Pptx];
    let mut made = String::from("| `formatOpts` | works on | |\n|---|---|---|\n");
    for &key in Key::ALL {
        let works_on: Vec<_> = catalog.works_on(key).collect();
        let works_on = targets.iter().filter(|target| works_on.contains(target)).map(|target| target.name());
        let works_on = match (key.is_refused(), key.is_of_service()) {
            (true, _) => "refused".to_owned(),
            (_, true) => "every file".to_owned(),
            _ => works_on.collect::<Vec<_>>().join(", "),
        };
        let _ = writeln!(made, "| `{key}` | {works_on} | {} |", key.sentence().replace('|', "\\|"));
    }
    made
}

fn links(source: &Source) -> Vec<(usize, String)> {
    let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let top = tree::top();
    let mut found = Vec::new();
    for (number, line) in source.lines() {
        for target in between(line, "](", ')').filter(|target| !target.contains("://")) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let whole = top.join(folder).join(path);
            if !path.is_empty() && !whole.exists() {
                found.push((number, format!("the link to '{target}' leads nowhere")));
            } else if !heading.is_empty() {
                let page = if path.is_empty() { None } else { std::fs::read_to_string(whole).ok() };
                let page = page.as_deref().unwrap_or(&source.text);
                if !headings(page).any(|known| known == heading) {
                    found.push((number, format!("the link to '{target}' names no heading of that page")));
                }
            }
        }
        for rest in between(line, "`src/", '`') {
            if !rest.contains(['*', '…', '{', ' ']) && !top.join("src").join(rest).exists() {
                found.push((number, format!("there is no 'src/{rest}'")));
            }
        }
    }
    found
}

/// The names by which links reach the headings of a page: GitHub's, for headings without links and pictures.
fn headings(page: &str) -> impl Iterator<Item = String> {
    let name = |title: &str| {
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        title.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    let title = |line: &str| line.starts_with('#').then(|| name(line.trim_start_matches('#')));
    page.lines().filter_map(title).collect::<Vec<_>>().into_iter()
}

/// The texts of `line` that follow `open` and end before `close`.
fn between<'a>(line: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    line.split(open).skip(1).filter_map(move |rest| rest.split_once(close).map(|(text, _)| text))
}
