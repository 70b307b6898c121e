//! What a manifest keeps from being tested has nothing to test.
//!
//! `test = false` and `doctest = false` spare a link. A unit test or an example that is written there later would never run,
//! and nobody would miss it.

use crate::tree::{self, Source};

/// A line that begins an example that runs: a code block of Rust in the documentation.
const EXAMPLES: [&str; 2] = ["//! ```\n", "/// ```\n"];

/// The files of `sources` that their manifest keeps from being tested, though they have tests or examples.
fn untested(sources: &[Source]) -> Vec<&str> {
    let is_kept_from = |manifest: &str, key: &str| {
        let manifest = sources.iter().find(|source| source.path == manifest);
        manifest.is_some_and(|manifest| manifest.text.lines().any(|line| line == key))
    };
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| tree::has_extension(&source.path, "rs")) {
        let Some((package, file)) = source.path.split_once("src/") else { continue };
        let manifest = format!("{package}Cargo.toml");
        // The service's manifest keeps its programs from tests and its library from examples.
        let is_program = package.is_empty() && (file == "main.rs" || file.starts_with("bin/"));
        let has_tests = (is_program || !package.is_empty()) && source.text.contains("#[cfg(test)]");
        let has_examples = !is_program && has_example(&source.text);
        if has_tests && is_kept_from(&manifest, "test = false")
            || has_examples && is_kept_from(&manifest, "doctest = false")
        {
            found.push(source.path.as_str());
        }
    }
    found
}

/// Whether an example begins somewhere; every second mark ends one.
fn has_example(text: &str) -> bool {
    let mut is_inside = false;
    text.lines().map(|line| format!("{}\n", line.trim())).any(|line| {
        let is_mark = line.starts_with("//! ```") || line.starts_with("/// ```");
        let begins = is_mark && !is_inside;
        is_inside ^= is_mark;
        begins && EXAMPLES.contains(&line.as_str())
    })
}

#[test]
fn what_is_not_tested_has_no_tests() {
    let sources = tree::sources();
    assert!(sources.iter().any(|source| source.text.contains("\ntest = false\n")), "no manifest is read");
    assert_eq!(
        untested(&sources),
        [] as [&str; 0],
        "delete `test = false` or `doctest = false` of its Cargo.toml"
    );
}

#[test]
fn a_test_that_would_never_run_is_found() {
    let found = |path: &str, text: &str| {
        let manifest = Source::new("crates/a/Cargo.toml", "[lib]\ntest = false\ndoctest = false\n");
        !untested(&[manifest, Source::new(path, text)]).is_empty()
    };
    assert!(found("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests;\n"));
    assert!(found("crates/a/src/lib.rs", "//! ```\n//! a();\n//! ```\n"));
    assert!(!found("crates/a/src/lib.rs", "//! ```text\n//! a\n//! ```\n"));
    assert!(!found("crates/a/tests/all.rs", "#[cfg(test)]\nmod tests;\n"));
    assert!(!found("crates/b/src/lib.rs", "#[cfg(test)]\nmod tests;\n"));
}
