//! Files that import each other: a circle cannot be read, tested or moved one file at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{self, Source, has_extension};

/// Circles that are left, each by its files: no new one is allowed, and one that is undone is taken out here.
const LEFT: &[&[&str]] = &[
    &["src/jobs/cleanup/expiry_batch.rs", "src/jobs/cleanup/sweeper.rs"],
    &[
        "src/jobs/context.rs",
        "src/jobs/registry/delete.rs",
        "src/jobs/run/actor.rs",
        "src/jobs/run/attempt.rs",
        "src/jobs/store/inputs.rs",
        "src/jobs/store/journal.rs",
        "src/jobs/store/stored_inputs.rs",
    ],
    &["src/jobs/registry/mod.rs", "src/jobs/store/idempotency.rs"],
    &["src/jobs/store/record.rs", "src/jobs/store/secrets.rs"],
    &[
        "src/templates/cache/source.rs",
        "src/templates/changes/commit.rs",
        "src/templates/registry/actor.rs",
        "src/templates/registry/context.rs",
        "src/templates/registry/info_object.rs",
        "src/templates/registry/messages.rs",
        "src/templates/registry/refusal.rs",
        "src/templates/registry/variables.rs",
        "src/templates/registry/view.rs",
    ],
    &[
        "src/templates/package/archive.rs",
        "src/templates/package/layout.rs",
        "src/templates/package/office.rs",
        "src/templates/package/view.rs",
    ],
    &["src/templates/package/directory.rs", "src/templates/package/end.rs"],
];

/// A module by its path below `src`, without `mod`.
type Module = Vec<String>;

#[test]
fn no_files_import_each_other_in_a_circle() {
    let found = circles(&tree::sources());
    let left: Vec<BTreeSet<String>> =
        LEFT.iter().map(|files| files.iter().map(|file| (*file).to_owned()).collect()).collect();
    let new: Vec<_> = found.iter().filter(|circle| !left.contains(circle)).collect();
    assert!(new.is_empty(), "{} circle(s) of imports: {new:#?}", new.len());
    let gone: Vec<_> = left.iter().filter(|circle| !found.contains(circle)).collect();
    assert!(gone.is_empty(), "not there any more, take them out of LEFT: {gone:?}");
}

#[test]
fn circles_are_found_in_every_spelling() {
    let circle = |files: &[(&str, &str)]| {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        circles(&sources).concat_names()
    };
    let pair = "src/a/one.rs src/a/two.rs";
    for (one, two) in [
        ("use crate::a::two::Two;", "use super::one::One;"),
        ("use super::{three, two::Two};", "fn f() { crate::a::one::f() }"),
        ("use crate::{\n    a::{\n        two,\n    },\n    b,\n};", "use super::super::a::one;"),
    ] {
        assert_eq!(circle(&[("src/a/one.rs", one), ("src/a/two.rs", two)]), pair, "{one} {two}");
    }
    for (one, two) in [
        ("use super::two::Two;", "// use super::one::One;"),
        ("use super::two::Two;", "mod tests {\n    use super::super::one;\n}"),
        ("use super::two::Two;", "use super::Shared;"),
    ] {
        let files = [("src/a/one.rs", one), ("src/a/two.rs", two), ("src/a/mod.rs", "pub use one::Shared;")];
        assert_eq!(circle(&files), "", "{one} {two}");
    }
}

trait ConcatNames {
    fn concat_names(&self) -> String;
}

impl ConcatNames for Vec<BTreeSet<String>> {
    fn concat_names(&self) -> String {
        self.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// The largest sets of files of `src` that reach each other by imports. A parent and what lies below it are no circle: the
/// parent names its rooms.
fn circles(sources: &[Source]) -> Vec<BTreeSet<String>> {
    let modules: BTreeMap<Module, &Source> =
        sources.iter().filter_map(|source| Some((module_of(&source.path)?, source))).collect();
    let edges: BTreeMap<&Module, BTreeSet<&Module>> =
        modules.iter().map(|(module, source)| (module, imports(module, source, &modules))).collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        edges.keys().map(|module| (*module, reachable(module, &edges))).collect();
    let mut found = BTreeSet::new();
    for (module, all) in &reached {
        let circle: BTreeSet<String> = all
            .iter()
            .filter(|other| reached[*other].contains(module))
            .map(|other| modules[*other].path.clone())
            .collect();
        if !circle.is_empty() {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

fn module_of(path: &str) -> Option<Module> {
    if !has_extension(path, "rs")
        || path.starts_with("src/bin/")
        || path == "src/lib.rs"
        || path == "src/main.rs"
    {
        return None;
    }
    let inner = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    Some(inner.trim_end_matches("/mod").split('/').map(str::to_owned).collect())
}

fn reachable<'a>(
    from: &'a Module,
    edges: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = edges[from].iter().copied().collect();
    while let Some(module) = open.pop() {
        if seen.insert(module) {
            open.extend(edges[module].iter().copied());
        }
    }
    seen
}

/// The files that one names, its parents and children aside.
fn imports<'a>(
    own: &Module,
    source: &Source,
    modules: &'a BTreeMap<Module, &Source>,
) -> BTreeSet<&'a Module> {
    let is_family = |other: &Module| own.starts_with(other) || other.starts_with(own);
    named(own, source)
        .iter()
        .filter_map(|path| {
            (1..=path.len())
                .rev()
                .find_map(|length| modules.get_key_value(&path[..length]).map(|(key, _)| key))
        })
        .filter(|other| !is_family(other))
        .collect()
}

/// Every path that begins with `crate`, `super` or `self`, from the top of `src`. What stands in the file's `mod tests` is
/// left out: a test may look at whoever uses what it tests.
fn named(own: &Module, source: &Source) -> Vec<Module> {
    let lines = source.code_lines().map(|(_, line)| line).take_while(|line| !line.starts_with("mod tests {"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut paths = Vec::new();
    for (prefix, ups) in [("crate::", None), ("self::", Some(0)), ("super::", Some(1))] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':') {
                continue;
            }
            let (mut rest, mut ups) = (&code[at + prefix.len()..], ups);
            while let Some(further) = rest.strip_prefix("super::") {
                (rest, ups) = (further, ups.map(|ups| ups + 1));
            }
            let base = ups.map_or(&[][..], |ups| &own[..own.len().saturating_sub(ups)]);
            let mut trees = Vec::new();
            expand(rest, &mut Vec::new(), &mut trees);
            paths.extend(trees.into_iter().map(|path| [base, &path].concat()));
        }
    }
    paths
}

/// The paths of a tree such as `a::{b, c::{d, e}}`; answers what follows it.
fn expand<'t>(tree: &'t str, prefix: &mut Module, paths: &mut Vec<Module>) -> &'t str {
    let tree = tree.trim_start();
    if let Some(mut rest) = tree.strip_prefix('{') {
        loop {
            rest = expand(rest, &mut prefix.clone(), paths).trim_start();
            rest = match rest.strip_prefix(',') {
                Some(further) => further.trim_start(),
                None => return rest.strip_prefix('}').unwrap_or(rest),
            };
            if let Some(further) = rest.strip_prefix('}') {
                return further;
            }
        }
    }
    let end = tree.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(tree.len());
    let (name, rest) = tree.split_at(end);
    if name != "self" {
        prefix.push(name.to_owned());
    }
    match rest.strip_prefix("::") {
        Some(further) if !name.is_empty() => expand(further, prefix, paths),
        _ => {
            paths.push(prefix.clone());
            rest.strip_prefix(" as ").map_or(rest, |renamed| {
                renamed.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_')
            })
        }
    }
}
