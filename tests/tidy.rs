//! The house's rules as tests over the source tree; each finding is `file:line: what and why`.
//!
//! A rule is a function over one file, with samples that it must find and samples that it must not:
//! a rule that cannot fail fails here.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/deployment.rs"]
mod deployment;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/fixtures.rs"]
mod fixtures;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/manifests.rs"]
mod manifests;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/tree.rs"]
mod tree;

use tree::{Rule, Source};

fn rules() -> impl Iterator<Item = &'static Rule> {
    rules::RULES.iter().chain(layers::RULES).chain(docs::RULES)
}

#[test]
fn the_tree_follows_every_rule() {
    let sources = tree::sources();
    assert!(sources.len() > 20, "only {} files were found; the walk is broken", sources.len());
    let findings: Vec<String> =
        sources.iter().flat_map(|source| rules().flat_map(|rule| rule.findings(source))).collect();
    assert!(findings.is_empty(), "{} finding(s):\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn every_rule_finds_its_bad_samples_and_passes_its_good_ones() {
    for rule in rules() {
        assert!(!rule.bad.is_empty() && !rule.good.is_empty(), "rule '{}' has no samples", rule.name);
        for (path, text) in rule.bad {
            let findings = rule.findings(&Source::new(path, text));
            assert!(!findings.is_empty(), "rule '{}' finds nothing in {path}:\n{text}", rule.name);
        }
        for (path, text) in rule.good {
            let findings = rule.findings(&Source::new(path, text));
            assert_eq!(findings, [] as [String; 0], "rule '{}' on {path}", rule.name);
        }
    }
}

#[test]
fn the_top_level_folder_holds_only_what_belongs_there() {
    let strays = tree::strays(&tree::top_level());
    assert!(
        strays.is_empty(),
        "not allowed at the top level: {strays:?}; put them into a folder of the tree"
    );
    assert_eq!(tree::strays(&["src".to_owned(), "notes.txt".to_owned()]), ["notes.txt"]);
}
