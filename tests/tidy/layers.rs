//! Who may name whom: the direction of the modules, and the crates that belong to one folder.

use crate::tree::{Rule, Source, has_extension};

/// From the highest to the lowest; one may name its own level and everything below.
const LAYERS: &[&[&str]] = &[
    // Programs of ours beside the service, and its commands.
    &["bin", "cli"],
    &["app"],
    &["http"],
    &["jobs"],
    &["accounts"],
    &["pipeline"],
    &["engines"],
    &["browser", "workers", "templates"],
    &["outbound", "storage"],
    &["slots"],
    &["clock", "config", "domain", "failpoint", "problem", "procfs", "telemetry", "thread", "version"],
];

/// The rooms of `browser` from the highest to the lowest; one may name those below it, and none beside it.
const BROWSER_ROOMS: &[&[&str]] =
    &[&["output"], &["page", "pool"], &["tab"], &["chromium", "proxy"], &["cdp"]];

/// A crate and the modules that may name it.
const OWNED: &[(&str, &[&str])] = &[
    ("actix_web", &["http"]),
    // Strangers' files are read in the cage: by platen-script and by the children of workers.
    ("office_template", &["bin", "workers"]),
    ("pdf_raster", &["workers"]),
    ("headless_chrome", &["browser"]),
    // The service starts where its library is missing.
    ("javascriptcore6", &["bin"]),
    // Two ways out, of two kinds: `outbound` decides where callers may send us, `storage` knows one address, which the
    // operator configured, and streams to it what the library of the store would hash three times.
    ("reqwest", &["outbound", "storage"]),
    ("s3", &["storage"]),
    ("sled", &["storage"]),
    ("actix", &["cli", "app", "http", "jobs", "accounts", "engines", "browser", "templates"]),
];

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        name: "direction",
        applies: is_module,
        check: direction,
        bad: &[
            ("src/storage/disk.rs", "use crate::jobs::view::JobView;"),
            ("src/domain/job.rs", "fn f() { crate::storage::open() }"),
            ("src/engines/mod.rs", "use crate::{\n    domain::ids::JobId,\n    http::{auth, body},\n};"),
            ("src/browser/mod.rs", "use super::pipeline;"),
            ("src/browser/cdp.rs", "use super::super::jobs::view;"),
            ("src/limbo/mod.rs", "use crate::domain::ids;"),
        ],
        good: &[
            ("src/jobs/actor.rs", "use crate::storage::{StorageKey, index};\n// crate::http is above\n"),
            ("src/domain/ids.rs", "use crate::clock;"),
            ("src/browser/pool.rs", "use super::lease;\nmod tests { use super::*; }"),
        ],
    },
    Rule {
        name: "rooms of the browser",
        applies: |path| path.starts_with("src/browser/"),
        check: browser_rooms,
        bad: &[
            ("src/browser/tab/lease.rs", "use crate::browser::pool::messages::LeaseTab;"),
            ("src/browser/pool/actor.rs", "fn f() { crate::browser::page::open::open() }"),
        ],
        good: &[
            ("src/browser/output/print.rs", "use crate::browser::cdp::error::CallError;\nuse super::html;"),
            ("src/browser/page/open.rs", "use crate::browser::page::task::PageTask;"),
        ],
    },
    Rule {
        name: "owned crates",
        applies: is_module,
        check: owned_crates,
        bad: &[
            ("src/app.rs", "use actix_web::web;"),
            ("src/cli/serve.rs", "let tab = headless_chrome::Browser::default();"),
            ("src/jobs/journal.rs", "use sled::Db;"),
            ("src/http/address.rs", "use s3::Bucket;"),
            ("src/pipeline/mod.rs", "use actix::Addr;"),
        ],
        good: &[
            ("src/http/mod.rs", "use actix_web::web;\nuse actix::Addr;"),
            ("src/jobs/journal.rs", "// sled::Db stays below\nlet tasselled = 1;"),
        ],
    },
];

fn is_module(path: &str) -> bool {
    has_extension(path, "rs") && path.starts_with("src/") && path != "src/main.rs" && path != "src/lib.rs"
}

fn direction(source: &Source) -> Vec<(usize, String)> {
    let own = top_module(&source.path);
    let Some(level) = level(own) else {
        return vec![(
            1,
            format!("module '{own}' has no place in LAYERS of tests/tidy/layers.rs; give it one"),
        )];
    };
    let depth = source.path.trim_end_matches("/mod.rs").matches('/').count();
    named_modules(source, depth)
        .into_iter()
        .filter(|(_, name)| self::level(name).is_some_and(|other| other < level))
        .map(|(line, name)| (line, format!("'{own}' is lower than '{name}' and must not name it")))
        .collect()
}

fn browser_rooms(source: &Source) -> Vec<(usize, String)> {
    let level = |room: &str| BROWSER_ROOMS.iter().position(|rooms| rooms.contains(&room));
    let Some(own) = source.path.strip_prefix("src/browser/").and_then(|path| path.split('/').next()) else {
        return Vec::new();
    };
    let Some(own_level) = level(own) else { return Vec::new() };
    let mut found = Vec::new();
    for (number, line) in source.code_lines() {
        for (at, prefix) in line.match_indices("crate::browser::") {
            let room = word(&line[at + prefix.len()..]);
            if room != own && level(&room).is_some_and(|other| other <= own_level) {
                found.push((number, format!("room '{own}' is not above '{room}' and must not name it")));
            }
        }
    }
    found
}

/// Line and name of every top-level module that the file names by `crate::` or by enough `super::`.
fn named_modules(source: &Source, depth: usize) -> Vec<(usize, String)> {
    let code: String = source.code_lines().flat_map(|(_, line)| [line, "\n"]).collect();
    let to_root = "super::".repeat(depth);
    let mut named = Vec::new();
    for prefix in ["crate::", to_root.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            let line = code[..at].matches('\n').count() + 1;
            let rest = &code[at + prefix.len()..];
            named.extend(first_segments(rest).into_iter().map(|name| (line, name)));
        }
    }
    named
}

/// `jobs::view::X` names `jobs`; `{domain::ids, http::{auth, body}}` names `domain` and `http`.
fn first_segments(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![word(path)];
    };
    let mut nesting = 0;
    let mut names = vec![word(group.trim_start())];
    for (at, character) in group.char_indices() {
        match character {
            '{' => nesting += 1,
            '}' if nesting == 0 => break,
            '}' => nesting -= 1,
            ',' if nesting == 0 => names.push(word(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    names
}

fn owned_crates(source: &Source) -> Vec<(usize, String)> {
    let own = top_module(&source.path);
    let mut found = Vec::new();
    for (number, line) in source.code_lines() {
        for (name, owners) in OWNED.iter().filter(|(_, owners)| !owners.contains(&own)) {
            if names_crate(line, name) {
                found.push((number, format!("only {} may name the crate {name}", owners.join(", "))));
            }
        }
    }
    found
}

fn names_crate(line: &str, name: &str) -> bool {
    let path = format!("{name}::");
    line.match_indices(&path).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
    })
}

fn top_module(path: &str) -> &str {
    let inner = path.trim_start_matches("src/");
    inner.split('/').next().unwrap_or(inner).trim_end_matches(".rs")
}

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn word(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}
