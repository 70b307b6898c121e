//! Files that import each other: a circle cannot be read, tested or moved one file at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{self, Source};

/// A module: the folder of its library or program (`src`, `crates/lok`, `src/bin/platen-script`), then its path in there.
type Module = Vec<String>;

/// The one circle that there still is: files of `office-template` that meet through what their parents re-export.
const KNOWN: &str = include_str!("known_circle.txt");

#[test]
fn no_files_import_each_other_in_a_circle_but_the_known_ones() {
    let known: BTreeSet<_> = KNOWN.lines().map(str::to_owned).collect();
    let sources = tree::sources();
    let direct = circles(&sources, imports);
    assert!(direct.is_empty(), "{} circle(s) of direct imports: {direct:#?}", direct.len());
    let found = circles(&sources, imports_and_exports);
    let all: BTreeSet<_> = found.iter().flatten().cloned().collect();
    let mended: Vec<_> = known.difference(&all).collect();
    assert!(mended.is_empty(), "no longer in a circle, so no longer in known_circle.txt: {mended:#?}");
    let new: Vec<_> = found.iter().filter(|circle| !circle.is_subset(&known)).collect();
    assert!(new.is_empty(), "{} circle(s) of imports: {new:#?}", new.len());
}

#[test]
fn circles_are_found_in_every_spelling() {
    let circle = |files: &[(&str, &str)]| {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        circles(&sources, imports_and_exports).concat_names()
    };
    let pair = "src/a/one.rs src/a/two.rs";
    for folder in ["src", "src/bin/program", "crates/library/src"] {
        let [one, two] = ["one", "two"].map(|name| format!("{folder}/{name}.rs"));
        let root = format!("{folder}/lib.rs");
        let files =
            [(&*one, "use crate::two::Two;"), (&*two, "use super::one;"), (&*root, "mod one;\nmod two;")];
        assert_eq!(circle(&files), format!("{one} {two}"));
    }
    assert_eq!(circle(&[("src/one.rs", "use crate::two;"), ("crates/a/src/two.rs", "use crate::one;")]), "");
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
    // Through a parent and what it re-exports: `names` is used by a file that a child of its folder uses.
    for export in ["pub use names::Name;", "pub(super) use names::{Name, Other};"] {
        let files = [
            ("src/one.rs", "use crate::a::Name;"),
            ("src/a/mod.rs", export),
            ("src/a/names.rs", "use super::document;"),
            ("src/a/document.rs", "use crate::one::One;"),
        ];
        assert_eq!(circle(&files), "src/a/document.rs src/a/mod.rs src/a/names.rs src/one.rs");
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

/// The largest sets of files that reach each other by imports. A parent and what lies below it are no circle: the parent
/// names its rooms.
fn circles(sources: &[Source], imports: Imports) -> Vec<BTreeSet<String>> {
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

/// `None` for a file that is in no library or program, or is the root of one: a root names all that it is made of.
fn module_of(path: &str) -> Option<Module> {
    let (unit, inner) = if let Some(program) = path.strip_prefix("src/bin/") {
        let (name, inner) = program.split_once('/')?;
        (format!("src/bin/{name}"), inner)
    } else if let Some(library) = path.strip_prefix("crates/") {
        let (name, inner) = library.split_once("/src/")?;
        (format!("crates/{name}"), inner)
    } else {
        ("src".to_owned(), path.strip_prefix("src/")?)
    };
    let inner = inner.strip_suffix(".rs").filter(|inner| !matches!(*inner, "lib" | "main"))?;
    Some(
        [&[unit][..], &inner.trim_end_matches("/mod").split('/').map(str::to_owned).collect::<Vec<_>>()]
            .concat(),
    )
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

/// Answers the files that one imports.
type Imports = for<'a> fn(&Module, &Source, &'a BTreeMap<Module, &Source>) -> BTreeSet<&'a Module>;

/// The files that one names; and a parent imports each child that it re-exports, for whoever names the parent may mean that child.
fn imports_and_exports<'a>(
    own: &Module,
    source: &Source,
    modules: &'a BTreeMap<Module, &Source>,
) -> BTreeSet<&'a Module> {
    let children = re_exported(own, source).into_iter().filter_map(|path| file_of(&path, modules));
    let children = children.filter(|child| *child != own);
    imports(own, source, modules).into_iter().chain(children).collect()
}

/// The longest beginning of the path that is a file.
fn file_of<'a>(path: &[String], modules: &'a BTreeMap<Module, &Source>) -> Option<&'a Module> {
    (1..=path.len()).rev().find_map(|length| modules.get_key_value(&path[..length]).map(|(key, _)| key))
}

/// The files that one names, its parents and children aside.
fn imports<'a>(
    own: &Module,
    source: &Source,
    modules: &'a BTreeMap<Module, &Source>,
) -> BTreeSet<&'a Module> {
    let is_family = |other: &Module| own.starts_with(other) || other.starts_with(own);
    let others = named(own, source).into_iter().filter_map(|path| file_of(&path, modules));
    others.filter(|other| !is_family(other)).collect()
}

/// The paths that the file re-exports from its children, in full.
fn re_exported(own: &Module, source: &Source) -> Vec<Module> {
    let code = code_of(source);
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].rsplit('\n').next().unwrap_or_default();
        if before == "pub " || (before.starts_with("pub(") && before.ends_with(") ")) {
            expand(&code[at + "use ".len()..], &mut own.clone(), &mut paths);
        }
    }
    paths
}

/// The code without the file's `mod tests`: a test may look at whoever uses what it tests.
fn code_of(source: &Source) -> String {
    let lines = source.code_lines().map(|(_, line)| line).take_while(|line| !line.starts_with("mod tests {"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that begins with `crate`, `super` or `self`, in full.
fn named(own: &Module, source: &Source) -> Vec<Module> {
    let code = code_of(source);
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
            let base = &own[..ups.map_or(1, |ups| own.len().saturating_sub(ups))];
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
