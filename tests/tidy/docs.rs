//! Rules about the documents: they name every setting and every code, and nothing that is not there.

use std::fmt::Write as _;

use platen::config::DEFAULT_TOML;
use platen::domain::error::ErrorCode;
use platen::domain::format_opts::{Handling, KEYS, PageOptions};
use platen::domain::kinds::{Target, TemplateKind};
use platen::engines::catalog::Catalog;
use platen::engines::document::DocumentKind;
use platen::problem::Code;
use platen::telemetry::metrics::Metrics;
use strum::VariantNames as _;

use crate::tree::{self, Rule, Source};

const CONFIGURATION: &str = "docs/configuration.md";
const ERRORS: &str = "docs/errors.md";
const OPTIONS: &str = "docs/format-options.md";
const BEGIN: &str = "<!-- begin: made from config/default.toml -->";
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
        bad: &[
            (OPTIONS, "| `formatOpts` | works on | |\n|---|---|---|\n| `format` | pdf | the sheet |\n"),
            (OPTIONS, concat!("| `formatOpts` | works on | |\n| `zoom` | pdf | ", "never was |\n")),
        ],
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
fn the_page_of_settings_is_made_from_the_defaults() {
    let page = tree::read(CONFIGURATION);
    let made = with_table(&page).expect("the page has its two marks");
    if std::env::var_os("PLATEN_UPDATE_DOCS").is_some() && made != page {
        let whole = tree::top().join(CONFIGURATION);
        std::fs::write(whole, &made).expect("the page can be written");
    }
    let table = table(DEFAULT_TOML);
    assert!(table.contains("| `http.bind` | `\"127.0.0.1:8080\"` | "), "{table}");
}

fn settings_explained(source: &Source) -> Vec<(usize, String)> {
    let unexplained = |(_, line): &(usize, &str)| setting(line).is_some_and(|(_, _, why)| why.is_empty());
    let sentence = "say after '#' what the setting is for".to_owned();
    source.lines().filter(unexplained).map(|(number, _)| (number, sentence.clone())).collect()
}

fn settings_documented(source: &Source) -> Vec<(usize, String)> {
    if with_table(&source.text).as_deref() == Some(&source.text) {
        return Vec::new();
    }
    let remedy = "differs from config/default.toml; run: PLATEN_UPDATE_DOCS=1 cargo test --test tidy, twice";
    vec![(1, remedy.to_owned())]
}

/// The page with the table between its marks made anew.
fn with_table(page: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}\n{END}{after}", table(DEFAULT_TOML)))
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

/// The table of options has each key in its first column, with what it works on, and no other.
fn options_documented(source: &Source) -> Vec<(usize, String)> {
    let rows = source.lines().skip_while(|(_, line)| !line.starts_with("| `formatOpts` | works on |"));
    let rows: Vec<_> = rows.skip(2).take_while(|(_, line)| line.starts_with('|')).collect();
    let mut found = Vec::new();
    let catalog = Catalog::new(platen::engines::all(), true, Metrics::new().engines);
    for (name, handling) in KEYS {
        let wanted = match handling {
            Handling::Read => works_on(&catalog, name),
            Handling::Promised => kept_for(&catalog, name),
            Handling::Refused => "refused".to_owned(),
            Handling::Service => "every file".to_owned(),
        };
        let stands = |line: &str| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            cells[1].contains(&format!("`{name}`")) && cells[2] == wanted
        };
        if !rows.iter().any(|(_, line)| stands(line)) {
            found.push((1, format!("the table of formatOpts lacks '{name}', which works on '{wanted}'")));
        }
    }
    for (number, line) in rows {
        let first = line.split('|').nth(1).unwrap_or_default();
        let named = between(first, "`", '`').step_by(2);
        let strange = named.filter(|name| !KEYS.iter().any(|(known, _)| known == name));
        found.extend(strange.map(|name| (number, format!("'{name}' is no key of formatOpts"))));
    }
    found
}

/// The targets on which the key has an effect, in the order of the documentation.
fn works_on(catalog: &Catalog, key: &str) -> String {
    let heeds = |target: &Target| {
        let route = |kind| catalog.route(kind, *target, &PageOptions::default());
        TemplateKind::ALL.into_iter().filter_map(route).any(|route| route.heeds(key))
    };
    let targets =
        [Target::Pdf, Target::Png, Target::Jpg, Target::Html, Target::Docx, Target::Xlsx, Target::Pptx];
    targets.iter().filter(|target| heeds(target)).map(|target| target.name()).collect::<Vec<_>>().join(", ")
}

/// The targets of which somebody who makes such a file keeps what the key promises.
fn kept_for(catalog: &Catalog, key: &str) -> String {
    let abilities = || catalog.engines().flat_map(|engine| engine.abilities);
    let keeps = |target: &Target| {
        let made = DocumentKind::File(target.file());
        abilities().any(|ability| ability.to == made && ability.heeds.concat().contains(&key))
    };
    Target::ALL
        .iter()
        .filter(|target| keeps(target))
        .map(|target| target.name())
        .collect::<Vec<_>>()
        .join(", ")
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
