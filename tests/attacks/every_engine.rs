//! Suite D by every route and engine: options of EJS and prototypes smuggled in data, and ways out of template code, in pages,
//! headers and footers, Word, Excel and PowerPoint files and LaTeX.

use crate::documents::made::lines;
use crate::remains::WatchedApp;
use crate::routes::{Route, Sent, made, words};
use crate::table::{Outcome, report};
use crate::template_code::{OUTSIDE, WAYS};

/// Whatever has a meaning for EJS, its callers or JavaScript, and hides no name that a template needs.
const SMUGGLED: &str = r#"{"name": "Ann",
    "__proto__": {"polluted": "yes", "outputFunctionName": "x;globalThis.polluted='yes';s", "client": true},
    "constructor": {"prototype": {"polluted": "yes"}}, "prototype": {"polluted": "yes"},
    "nested": {"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": "yes"}}},
    "outputFunctionName": "x;globalThis.polluted='yes';s", "escapeFunction": "1;return 'polluted'",
    "escape": "1;return 'polluted'", "localsName": "x=(globalThis.polluted='yes')", "client": true, "_with": false,
    "destructuredLocals": ["x=(globalThis.polluted='yes')"], "delimiter": "?", "openDelimiter": "[", "closeDelimiter": "]",
    "settings": {"view options": {"outputFunctionName": "x;globalThis.polluted='yes';s", "client": true}, "views": "/etc"},
    "views": ["/etc"], "root": "/etc", "filename": "/etc/passwd", "cache": true, "context": {"polluted": "yes"}, "async": true,
    "strict": true, "compileDebug": true, "debug": true, "rmWhitespace": true, "toString": "polluted", "valueOf": "polluted",
    "hasOwnProperty": "polluted", "toJSON": "polluted", "then": "polluted", "length": 1000000000, "_type": "rawXml",
    "xml": "<w:p/>", "__output": "polluted", "__append": "polluted", "__line": 1, "globalThis": {"polluted": "yes"}}"#;

/// A template that looks for what the data may not change, and what it then says. None is JSON that EJS has an option for.
fn probe(kind: &str) -> Vec<u8> {
    let page =
        "(<%= name %>|<%= ({}).polluted %>|<%= ''.polluted %>|<%= [].polluted %>|<%= typeof polluted %>)";
    match kind {
        "html" => page.as_bytes().to_vec(),
        "latex" => {
            format!("\\documentclass{{article}}\\begin{{document}}{page}\\end{{document}}").into_bytes()
        }
        _ => {
            let text = "({name}|{({}).polluted}|{''.polluted}|{[].polluted}|{typeof polluted})";
            lines(kind, &[text.to_owned()])
        }
    }
}
const PROBED: &str = "(Ann||||undefined)";

/// Each route with each engine: the type and the target.
const CELLS: &[(Route, &[(&str, &str)])] = &[
    (
        Route::Init,
        &[("html", "html"), ("docx", "docx"), ("xlsx", "xlsx"), ("pptx", "pptx"), ("latex", "html")],
    ),
    (
        Route::Uploads,
        &[("html", "html"), ("docx", "docx"), ("xlsx", "xlsx"), ("pptx", "pptx"), ("latex", "docx")],
    ),
    (Route::Body, &[("html", "html"), ("latex", "html")]),
    (
        Route::Form,
        &[("html", "html"), ("docx", "docx"), ("xlsx", "xlsx"), ("pptx", "pptx"), ("latex", "pdf")],
    ),
    (Route::FormFiles, &[("html", "html"), ("docx", "docx"), ("xlsx", "xlsx"), ("pptx", "pptx")]),
    (Route::Saved, &[("html", "html"), ("docx", "docx")]),
    (Route::Preview, &[("html", "pdf"), ("pptx", "pdf")]),
    (Route::Header, &[("html", "pdf")]),
];

#[actix::test]
async fn nothing_in_data_is_an_option_or_changes_a_prototype_by_any_route() {
    let watched = WatchedApp::start(&[]).await;
    let mut outcomes = Vec::new();
    for (route, engines) in CELLS {
        for (kind, target) in *engines {
            let sent = Sent { kind, target, template: &probe(kind), data: SMUGGLED };
            let found = made(&watched.app, *route, &sent).await.map(|file| words(&file));
            let is_clean = found.as_ref().is_ok_and(|text| text.contains(PROBED) && !text.contains("yes"));
            outcomes.push(Outcome {
                name: format!("{route:?}"),
                carrier: format!("{kind} to {target}"),
                leaks: if is_clean { Vec::new() } else { vec![format!("{found:?}")] },
                messages: String::new(),
            });
        }
    }
    report("Suite D: options and prototypes in data, by route and engine", outcomes);
    watched.finish().await;
}

/// A template that tries all ways out, each of which says `(…;)` with the names of the outside that it found.
fn ways(kind: &str) -> Vec<u8> {
    if matches!(kind, "html" | "latex") {
        let way = |(_, code): &(&str, &str)| {
            format!(
                "<% {{ let global = globalThis; try {{ {code} }} catch (error) {{ }} %>\n(<%= {OUTSIDE} %>;<%= typeof ejs + typeof fs %>)\n<% }} %>"
            )
        };
        let page: String = WAYS.iter().map(way).collect();
        return match kind {
            "html" => page.into_bytes(),
            _ => format!("\\documentclass{{article}}\\begin{{document}}{page}\\end{{document}}").into_bytes(),
        };
    }
    let way = |(_, code): &(&str, &str)| {
        format!(
            "({{(() => {{ let global = {{}}; try {{ {code} }} catch (error) {{ }} return Object(global) === global ? {OUTSIDE}.join() : '' }})()}};\
             {{typeof ejs + typeof fs}})"
        )
    };
    lines(kind, &WAYS.iter().map(way).collect::<Vec<_>>())
}

#[actix::test]
async fn template_code_finds_no_way_out_in_any_engine() {
    let watched = WatchedApp::start(&[]).await;
    let mut outcomes = Vec::new();
    for (route, kind, target) in [
        (Route::Init, "docx", "docx"),
        (Route::Init, "xlsx", "xlsx"),
        (Route::Init, "pptx", "pptx"),
        (Route::Init, "latex", "html"),
        (Route::Header, "html", "pdf"),
    ] {
        let sent = Sent { kind, target, template: &ways(kind), data: "{}" };
        let found = made(&watched.app, route, &sent).await.map(|file| words(&file));
        // A header stands on its sheet beside the footer.
        let times = WAYS.len() * if route == Route::Header { 2 } else { 1 };
        let is_clean =
            found.as_ref().is_ok_and(|text| text.matches("(;undefinedundefined)").count() == times);
        outcomes.push(Outcome {
            name: format!("{} ways", WAYS.len()),
            carrier: format!("{kind} to {target} by {route:?}"),
            leaks: if is_clean { Vec::new() } else { vec![format!("{found:?}")] },
            messages: String::new(),
        });
    }
    report("Suite D: ways out of template code, by engine", outcomes);
    watched.finish().await;
}
