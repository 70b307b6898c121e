//! Includes whose names only the run knows: such a run is void, and the template cannot tell.

use bytes::Bytes;
use platen::config::AssembleConfig;
use platen::domain::error::{ErrorCode, JobError, Warnings};
use platen::domain::ids::AccountId;
use platen::telemetry::metrics::Metrics;

use crate::assembler::assembler;
use crate::ejs::{config, site};
use crate::processes::starter;

/// The page, and how many scripts EJS generated for it in all runs.
async fn render(files: &[(&str, &str)], data: &str) -> (Result<String, JobError>, u64) {
    let metrics = Metrics::new();
    let config = AssembleConfig { spares: 0, timeout_ms: 5_000, ..config() };
    let assembler = assembler(starter(), &config, metrics.children.clone());
    let data = Bytes::from(data.to_owned());
    let page = assembler.assemble(AccountId::generate(), &site(files), &data, &mut Warnings::default()).await;
    let generated = metrics.children.scripts.of(["in_job"]).get();
    (page.map(|page| String::from_utf8(page.to_vec()).unwrap()), generated)
}

#[tokio::test]
async fn names_that_are_computed_in_a_loop_take_one_more_run() {
    let parts: Vec<String> = (0..40).map(|n| format!("parts/p{n}.ejs")).collect();
    let index = "<% for (let n = 0; n < 40; n++) { %><%- include('parts/p' + n, {n}) %><% } %>";
    let files: Vec<(&str, &str)> =
        parts.iter().map(|part| (part.as_str(), "[<%= n %>]")).chain([("index.html", index)]).collect();
    let (page, generated) = render(&files, "{}").await;
    let expected = (0..40).map(|n| format!("[{n}]")).collect::<Vec<_>>().concat();
    assert_eq!(page.unwrap(), expected);
    assert_eq!(generated, 2 * 41, "two runs, not forty");
}

#[tokio::test]
async fn names_that_are_written_out_take_no_further_run() {
    let files = [
        ("index.html", "<%- include('a') %><%- include( \"/b/c.html\" ) %><%- include(`d`) %>"),
        ("a.ejs", "a<%- include('b/c.html') %>"),
        ("b/c.html", "c<%- include('../e') %>"),
        ("d.ejs", "d"),
        ("e.ejs", "e"),
        ("unused.ejs", "<%- include('nowhere') %>"),
    ];
    let (page, generated) = render(&files, "{}").await;
    assert_eq!((page.unwrap().as_str(), generated), ("aceced", 5));
}

#[tokio::test]
async fn a_name_may_differ_from_its_files_in_unicode_normalisation() {
    let files = [
        (
            "index.html",
            "<%- include('\u{e9}') %><%- include('o\u{308}/a.html') %><%- include('\u{fc}' + '.txt') %>",
        ),
        ("e\u{301}.ejs", "e"),
        ("\u{f6}/a.html", "o<%- include('../e\u{301}') %><%- include('/\u{e4}.txt') %>"),
        ("u\u{308}.txt", "u"),
        ("a\u{308}.txt", "decomposed"),
        ("\u{e4}.txt", "composed"),
    ];
    let (page, _) = render(&files, "{}").await;
    assert_eq!(page.unwrap(), "eoecomposedu");
    let (page, _) = render(&[("index.html", "<%- include('\u{e9}') %>"), ("e.ejs", "")], "{}").await;
    assert!(page.unwrap_err().message.contains("Could not find the include file"));
}

#[tokio::test]
async fn a_chain_of_computed_names_takes_a_run_a_link() {
    let link = "<%- include(next[n], {next, n: n + 1}) %>";
    let files = [
        ("index.html", "<%- include(next[0], {next, n: 1}) %>"),
        ("a.ejs", &format!("a{link}")),
        ("b.ejs", &format!("b{link}")),
        ("c.ejs", "c<%= missing %>"),
    ];
    let (page, _) = render(&files, r#"{"next":["a","b","c"],"missing":"!"}"#).await;
    assert_eq!(page.unwrap(), "abc!");
    let (page, _) = render(&files, r#"{"next":["a","b","c"]}"#).await;
    let error = page.unwrap_err();
    let chain = "c.ejs:1: 'missing' is not defined; the data has n, next (included from b.ejs:1, a.ejs:1, index.html:1)";
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::TemplateError, chain));
    let (page, _) = render(&files, r#"{"next":["a","b","d"]}"#).await;
    assert!(page.unwrap_err().message.contains("Could not find the include file"));
}

/// Output, errors and state of a void run are discarded.
#[tokio::test]
async fn a_template_cannot_tell_that_its_run_is_void() {
    let quiet = "<% let got; try { got = include('par' + 't') } catch (e) { got = 'caught ' + e.message } %><%- got %>";
    let left = "<%= globalThis.runs = (globalThis.runs || 0) + 1 %>";
    let hostile = "<% const global = ''.constructor.constructor('return this')(); const lie = () => ''; global.Object.create = () => []; Map.prototype.set = lie;\
        for (const name of ['/part.ejs', 'part.ejs']) Object.defineProperty(Object.prototype, name, {get: lie, set() {}});\
        String.prototype.toWellFormed = lie; try { %><%- include('par' + 't') %><% } finally { %>!<% } %>";
    let throws = "<%- include('par' + 't') || nobody.there %>";
    for (text, wanted) in [
        (format!("{left}{quiet}{left}"), "1PART2"),
        (hostile.to_owned(), "PART!"),
        (throws.to_owned(), "PART"),
        ("<% const x = {}; while (!x.done) include('ma' + 'rk', {x}) %>done".to_owned(), "done"),
        ("<% throw include('par' + 't') %>".to_owned(), "index.html:1: PART"),
    ] {
        let files =
            [("index.html", text.as_str()), ("part.ejs", "PART"), ("mark.ejs", "<% x.done = true %>")];
        let (page, _) = render(&files, "{}").await;
        assert_eq!(page.unwrap_or_else(|error| error.message), wanted, "{text}");
    }
}

#[tokio::test]
async fn a_template_that_never_names_the_same_file_twice_ends() {
    let parts: Vec<String> = (0..100).map(|n| format!("p{n}.ejs")).collect();
    let index = "<%- include('p' + Math.floor(Math.random() * 100)) %>";
    let files: Vec<(&str, &str)> =
        parts.iter().map(|part| (part.as_str(), "p")).chain([("index.html", index)]).collect();
    let (page, _) = render(&files, "{}").await;
    assert_eq!(page.unwrap(), "p");
}
