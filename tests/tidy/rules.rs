//! Rules about the text of one file: its size, its first sentence, words that must not be in it.

use crate::tree::{Rule, Source, has_extension};

/// A longer file of the service is one large thing, and `LONG_FILES` says which.
const LINE_LIMIT: usize = 400;
/// The same of tests and of libraries, whose files hold more tables and samples.
const LINE_LIMIT_ELSEWHERE: usize = 450;
/// Fail points themselves.
const FAIL_POINTS: &str = "src/failpoint.rs";
/// What they mean for the store.
const FAIL_POINTS_OF_STORE: &str = "src/storage/failpoints.rs";
/// Speaks to `LibreOffice`: the one crate with unsafe code, so that it has lints of its own.
const UNSAFE_CRATE: &str = "crates/lok/";

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        name: "length",
        applies: is_rust,
        check: length,
        bad: &[("src/http/mod.rs", include_str!("../../Cargo.lock"))],
        good: &[("src/http/mod.rs", "//! Short.\n")],
    },
    Rule {
        name: "first sentence",
        applies: is_rust,
        check: first_sentence,
        bad: &[
            ("src/app.rs", "use std::fmt;\n"),
            ("src/app.rs", "//!\n//! Too late.\n"),
            ("src/app.rs", "//! no sentence\n"),
            ("src/app.rs", ""),
        ],
        good: &[("src/app.rs", "//! Puts the parts\n//! together.\n\nuse std::fmt;\n")],
    },
    Rule {
        name: "words",
        applies: is_rust_but_tidy,
        check: words,
        bad: &[
            ("src/app.rs", "#![allow(dead_code)]\n"),
            ("tests/api.rs", "#[ignore = \"slow\"]\n"),
            ("src/app.rs", "// TODO: later\n"),
            ("src/app.rs", "// FIXME\n"),
            ("src/app.rs", "fn f() { unimplemented!(\"x\") }\n"),
        ],
        good: &[("src/app.rs", "#[expect(lint, reason = \"why\")]\nlet todos = xxxl.send(m); // unsafely\n")],
    },
    Rule {
        name: "crates inherit",
        applies: |path| path.starts_with("crates/") && path.ends_with("/Cargo.toml"),
        check: inheritance,
        bad: &[
            ("crates/a/Cargo.toml", "[package]\nlicense.workspace = true\n"),
            ("crates/a/Cargo.toml", "[lints]\nworkspace = true\n"),
            (
                "crates/a/Cargo.toml",
                "[package]\nlicense.workspace = true\n[lints]\nworkspace = true\n[dependencies]\nplaten = \"0.1\"\n",
            ),
        ],
        good: &[
            ("crates/a/Cargo.toml", "[package]\nlicense.workspace = true\n[lints]\nworkspace = true\n"),
            ("crates/lok/Cargo.toml", "[package]\nlicense.workspace = true\n"),
        ],
    },
    Rule {
        name: "no environment",
        applies: |path| is_rust(path) && (path.starts_with("src/") || path.starts_with("crates/")),
        check: environment,
        bad: &[
            ("src/clock.rs", "let home = std::env::var(\"HOME\");\n"),
            ("src/app.rs", "std::env::vars().collect()\n"),
        ],
        good: &[
            ("src/main.rs", "std::env::vars()\n"),
            ("src/app.rs", "// env::vars( is elsewhere\nlet now = clock.now();\n"),
        ],
    },
    Rule {
        name: "fail points",
        applies: |path| {
            is_rust(path) && path.starts_with("src/") && ![FAIL_POINTS, FAIL_POINTS_OF_STORE].contains(&path)
        },
        check: fail_points,
        bad: &[
            ("src/lib.rs", "pub mod failpoint;\n"),
            ("src/app.rs", "let x = 1;\nlet pair = failpoint::wrap(index, store);\n"),
        ],
        good: &[("src/lib.rs", "#[cfg(debug_assertions)]\npub mod failpoint;\n")],
    },
    Rule {
        name: "no fixed sleeps",
        applies: |path| is_rust_but_tidy(path) && path.starts_with("tests/"),
        check: sleeps,
        bad: &[("tests/api.rs", "tokio::time::sleep(Duration::from_secs(1)).await;\n")],
        good: &[("tests/api.rs", "sleep(Duration::from_millis(10)).await; // poll\n")],
    },
    Rule {
        name: "exact packages",
        applies: |path| path.ends_with("/package.json") && !path.starts_with("assets/"),
        check: loose_packages,
        bad: &[
            ("tests/fixtures/a/package.json", "  \"ejs\": \"^3.1.10\"\n"),
            ("benches/peers/package.json", "\"vue\": \"latest\",\n"),
        ],
        good: &[(
            "tests/fixtures/a/package.json",
            "\"scripts\": { \"build\": \"vite build\" },\n\"ejs\": \"3.1.10\",\n",
        )],
    },
    Rule {
        name: "no machine's paths",
        applies: |path| !path.starts_with("tests/tidy"),
        check: machine_paths,
        bad: &[("README.md", "cd /work/platen\n"), ("tests/api.rs", "\"/root/.cache\"\n")],
        good: &[("README.md", "see https://example.org/work/ and assets/root/file\n")],
    },
];

fn is_rust(path: &str) -> bool {
    has_extension(path, "rs")
}

/// The rules' own files quote what they forbid.
fn is_rust_but_tidy(path: &str) -> bool {
    is_rust(path) && !path.starts_with("tests/tidy")
}

/// Files that are longer because one thing is, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[
    (
        "src/accounts/store.rs",
        "every decision about accounts and tokens, one after the other over what is in memory of them",
    ),
    (
        "src/jobs/run/actor.rs",
        "one actor: every handler writes a record and enters its state by the same functions",
    ),
];

fn length(source: &Source) -> Vec<(usize, String)> {
    let limit = if source.path.starts_with("src/") { LINE_LIMIT } else { LINE_LIMIT_ELSEWHERE };
    let lines = source.text.lines().count();
    let may_be_long = LONG_FILES.iter().any(|(path, _)| *path == source.path);
    let sentence = match (lines > limit, may_be_long) {
        (true, false) => format!("{lines} lines; split the file, the limit is {limit}"),
        (false, true) => "not longer than others any more; take it out of LONG_FILES".to_owned(),
        (true, true) | (false, false) => return Vec::new(),
    };
    vec![(limit + 1, sentence)]
}

fn first_sentence(source: &Source) -> Vec<(usize, String)> {
    let paragraph: Vec<&str> =
        source.text.lines().map_while(|line| line.strip_prefix("//! ")).map(str::trim).collect();
    let says = paragraph.join(" ").contains('.') || paragraph.last().is_some_and(|line| line.ends_with(':'));
    let finding = (1, "begin the file with '//! ' and a sentence that says what it is for".to_owned());
    (!says).then_some(finding).into_iter().collect()
}

/// What clippy has no lint for; `todo!`, `#[allow]` and `do_send` are its own (`Cargo.toml`, `clippy.toml`).
fn words(source: &Source) -> Vec<(usize, String)> {
    // A pattern that ends in a letter must not go on as a longer word.
    const BANNED: &[(&str, &str)] = &[
        ("#![allow(", "use #[expect(lint, reason = \"…\")] on the item"),
        ("#[ignore", "a test runs or it is not there"),
        ("TODO", "do it, or write an issue"),
        ("FIXME", "do it, or write an issue"),
        ("XXX", "do it, or write an issue"),
        ("unimplemented!", "do it, or write an issue"),
    ];
    find(source.lines(), BANNED)
}

/// A crate has the workspace's licence and lints, and stands alone: nothing of the service is below it.
fn inheritance(source: &Source) -> Vec<(usize, String)> {
    let has = |line: &str| source.text.lines().any(|it| it == line);
    let wanted = [
        (has("license.workspace = true"), "license.workspace = true"),
        (
            source.path.starts_with(UNSAFE_CRATE) || source.text.contains("[lints]\nworkspace = true"),
            "[lints] workspace = true",
        ),
    ];
    let missing = wanted.into_iter().filter(|(is_there, _)| !is_there);
    let mut found: Vec<_> = missing.map(|(_, line)| (1, format!("has no '{line}'"))).collect();
    let upward = |line: &&(usize, &str)| line.1.starts_with("platen");
    let lines: Vec<_> = source.lines().collect();
    found.extend(
        lines
            .iter()
            .filter(upward)
            .map(|(number, _)| (*number, "a crate knows nothing of the service".to_owned())),
    );
    found
}

/// Only `src` and `crates`: tests may look at their environment, which a lint could not tell apart.
fn environment(source: &Source) -> Vec<(usize, String)> {
    const ENVIRONMENT: &[(&str, &str)] = &[
        ("env::var(", "the environment is read once, in main"),
        ("env::var_os(", "the environment is read once, in main"),
        ("env::vars", "the environment is read once, in main"),
    ];
    // Fail points are no part of a release: only tests know the variable. Tests of a crate find the corpus by one.
    let is_test = source.path.starts_with("crates/") && source.path.contains("/tests/");
    if source.path == "src/main.rs" || source.path == FAIL_POINTS || is_test {
        return Vec::new();
    }
    find(source.code_lines(), ENVIRONMENT)
}

/// A release must not have them.
fn fail_points(source: &Source) -> Vec<(usize, String)> {
    let (mut found, mut before) = (Vec::new(), "");
    for (number, line) in source.code_lines() {
        if line.contains("failpoint") && before != "#[cfg(debug_assertions)]" {
            found.push((
                number,
                "fail points are for debug builds: #[cfg(debug_assertions)] above".to_owned(),
            ));
        }
        before = line.trim();
    }
    found
}

fn sleeps(source: &Source) -> Vec<(usize, String)> {
    let fixed = |(_, line): &(usize, &str)| line.contains("sleep(") && !line.trim_end().ends_with("// poll");
    let sentence = "wait for the condition with a deadline; a pause between two looks is marked '// poll'";
    source.lines().filter(fixed).map(|(number, _)| (number, sentence.to_owned())).collect()
}

/// What is installed today is installed tomorrow.
fn loose_packages(source: &Source) -> Vec<(usize, String)> {
    let value =
        |line: &str| line.trim_end_matches(',').rsplit_once("\": \"").map(|(_, rest)| rest.to_owned());
    let loose = |(_, line): &(usize, &str)| {
        value(line).is_some_and(|value| value.starts_with(['^', '~', '>', '*']) || value == "latest\"")
    };
    let sentence = "name the exact version of the package".to_owned();
    source.lines().filter(loose).map(|(number, _)| (number, sentence.clone())).collect()
}

fn machine_paths(source: &Source) -> Vec<(usize, String)> {
    const PATHS: &[(&str, &str)] = &[
        ("/work/", "a path of somebody's machine; derive it or make it a setting"),
        ("/root/", "a path of somebody's machine; derive it or make it a setting"),
    ];
    find(source.lines(), PATHS)
}

/// Every line that holds one of the patterns as a word of its own, with pattern and reason.
fn find<'a>(lines: impl Iterator<Item = (usize, &'a str)>, banned: &[(&str, &str)]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in lines {
        for (pattern, reason) in banned {
            if line.match_indices(pattern).any(|(at, _)| stands_alone(line, at, pattern)) {
                found.push((number, format!("'{}': {reason}", pattern.trim())));
            }
        }
    }
    found
}

fn stands_alone(line: &str, at: usize, pattern: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let goes_on = pattern.chars().all(is_word) && line[at + pattern.len()..].starts_with(is_word);
    !line[..at].ends_with(is_word) && !goes_on
}
