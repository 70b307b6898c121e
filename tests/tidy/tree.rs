//! The files that the rules look at, and what a rule is.

use std::fs;
use std::path::{Path, PathBuf};

/// What may lie at the top level, beside dotfiles and what `.gitignore` names.
const TOP_LEVEL: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "assets",
    "benches",
    "build.rs",
    "config",
    "crates",
    "deny.toml",
    "docs",
    "fuzz",
    "scripts",
    "src",
    "tests",
];

/// Folders that hold nothing of ours.
const FOREIGN: &[&str] =
    &["target", "node_modules", "data", ".git", "proptest-regressions", "corpus", "artifacts"];

/// One text file by its path from the top (`src/http/mod.rs`).
pub struct Source {
    /// Path from the top, `/` between segments.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One rule of the house.
pub struct Rule {
    /// In a word or two.
    pub name: &'static str,
    /// Whether it looks at the file of this path.
    pub applies: fn(&str) -> bool,
    /// Line (from 1) and sentence of every breach.
    pub check: fn(&Source) -> Vec<(usize, String)>,
    /// Path and text of files that break it.
    pub bad: &'static [(&'static str, &'static str)],
    /// Path and text of files that do not.
    pub good: &'static [(&'static str, &'static str)],
}

impl Rule {
    /// The breaches in `source` as `file:line: sentence`.
    pub fn findings(&self, source: &Source) -> Vec<String> {
        if !(self.applies)(&source.path) {
            return Vec::new();
        }
        let told = |(line, sentence)| format!("{}:{line}: {sentence}", source.path);
        (self.check)(source).into_iter().map(told).collect()
    }
}

impl Source {
    /// A file with its text.
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Lines with their numbers, without comments.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().map(|(number, line)| (number, without_comment(line)))
    }
}

/// The checkout, which may have moved since the tests were compiled.
pub fn top() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// Every text file of the tree.
pub fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    walk(&top(), "", &mut found);
    found
}

/// A text file of the tree by its path from the top; empty when it cannot be read.
pub fn read(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_default()
}

/// Whether the path's extension is `extension`.
pub fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The names at the top level.
pub fn top_level() -> Vec<String> {
    names(&top())
}

/// Those of `names` that do not belong at the top level.
pub fn strays(names: &[String]) -> Vec<String> {
    let ignored = read(".gitignore");
    let is_ignored = |name: &str| ignored.lines().any(|line| line.trim_matches('/') == name);
    names
        .iter()
        .filter(|name| !TOP_LEVEL.contains(&name.as_str()) && !name.starts_with('.') && !is_ignored(name))
        .cloned()
        .collect()
}

fn walk(top: &Path, folder: &str, found: &mut Vec<Source>) {
    for name in names(&top.join(folder)) {
        if FOREIGN.contains(&name.as_str()) {
            continue;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let whole = top.join(&path);
        if whole.is_dir() {
            walk(top, &path, found);
        } else if let Ok(text) = fs::read_to_string(&whole) {
            found.push(Source { path, text });
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

/// The line up to its `//`; one inside an address (`http://…`) does not count.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':'));
    comment.map_or(line, |(at, _)| &line[..at])
}
