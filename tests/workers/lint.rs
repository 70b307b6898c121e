//! Lint reports of templates, of which no code runs: by the real engine in its cage.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use platen::config::Config;
use platen::domain::error::{ErrorCode, JobError};
use platen::domain::ids::AccountId;
use platen::domain::kinds::TemplateKind;
use platen::domain::site::Site;
use platen::engines::lint::Linter;
use platen::engines::script::TemplateCodePool;
use platen::slots::AccountShare;
use platen::telemetry::metrics::Metrics;
use platen::templates::registry::variables::{KnownVariables, VariableReader as _};
use platen::workers::lint::{LintReport, SourceLocation};

use crate::ejs::site;
use crate::processes::starter;

fn linter(change: impl FnOnce(&mut Config)) -> Linter {
    let mut config = Config::default();
    config.assemble.spares = 0;
    // A loaded machine takes long to look through a large template.
    config.assemble.timeout_ms = 60_000;
    change(&mut config);
    let pool =
        TemplateCodePool::new(starter(), &config.assemble, AccountShare::whole(), Metrics::new().children);
    Linter::new(pool, &config)
}

async fn try_lint(linter: &Linter, files: &[(&str, &str)]) -> Result<LintReport, JobError> {
    linter.lint(AccountId::generate(), (TemplateKind::Html, &site(files)), None).await
}

/// The report of the page `text` beside `files`.
async fn lint(linter: &Linter, text: &str, files: &[(&str, &str)]) -> LintReport {
    let files: Vec<_> = [("index.html", text)].into_iter().chain(files.iter().copied()).collect();
    try_lint(linter, &files).await.unwrap()
}

fn places(report: &LintReport) -> Vec<String> {
    let place = |place: &SourceLocation| match place {
        SourceLocation::Line { file, line } => format!("{file}:{line}"),
        SourceLocation::Paragraph { part, paragraph } => format!("{part} {paragraph}"),
    };
    report.errors.iter().map(|fault| format!("{} {}", place(&fault.place), fault.message)).collect()
}

#[tokio::test]
async fn the_paths_of_the_data_are_read_from_the_syntax() {
    let table = [
        ("<%= customer.name %><%- title %><%# remark %>", "customer.name title"),
        (
            "<% items.forEach(i => { %><%= i.price * i.n %><% }) %><%= items.length %>",
            "items[].n items[].price",
        ),
        ("<%= items.length %>", "items"),
        ("<% for (const i of items) { for (const t of i.tags) { %><%= t %><% } } %>", "items[].tags[]"),
        (
            "<%= items.map(({price, tax: {rate = base}}) => price * rate) %>",
            "base items[].price items[].tax.rate",
        ),
        ("<%= locals.a %><%= locals?.b?.c %><%= locals['d'] %><%= e['x.y'] %>", "a b.c d e[\"x.y\"]"),
        ("<%= Math.max(q, 1) %><%= new Date(due).toISOString() %><%= JSON.stringify(meta) %>", "due meta q"),
        (
            "<% const list = order.lines || []; let sum = 0; list.forEach(l => sum += l.net) %><%= sum %>",
            "order.lines[].net",
        ),
        ("<% const full = p => p.first + p.last %><%= full(customer) %>", "customer.first customer.last"),
        ("<% function money(x) { return x.toFixed(2) } %><%= money(price) %>", "price"),
        ("<% total = 0; for (var k in map) { total += map[k].v } %><%= total %>", "map[].v"),
        ("<% for (const [k, v] of Object.entries(prices)) { %><%= k %><%= v.net %><% } %>", "prices[].net"),
        (
            "<% const {name, address: {city}, ...rest} = customer %><%= name + city + rest.zip %>",
            "customer.address.city customer.name customer.zip",
        ),
        (
            "<%= items.filter(i => i.ok).sort((a, b) => a.n - b.n).reduce((s, i) => s + i.v, 0) %>",
            "items[].n items[].ok items[].v",
        ),
        ("<% try { f() } catch (e) { %><%= e.message %><% } %><%= typeof opt %>", "f opt"),
        ("<% while (true) {} %>", ""),
        ("<% throw new Error(why) %>", "why"),
        ("<% const o = {...a, b: c} %><%= o.b + o.d %>", "a.d c"),
        ("<% const o = {b: c, ...a} %><%= o.b %>", "a.b c"),
        ("<% function f(x, ...rest) { return x.a + rest[1].b } %><%= f(p, q, s) %>", "p.a q s.b"),
        ("<% const f = (x, y) => x.a + y.b %><%= f(...pair) %>", "pair[].a pair[].b"),
        ("<% const o = {}; o.x = item %><%= o.x.name %>", "item.name"),
        ("<%= a['n\\x61me'] + a[`z`] %>", "a.name a.z"),
        ("plain", ""),
    ];
    let linter = linter(|_| {});
    for (text, expected) in table {
        let report = lint(&linter, text, &[]).await;
        assert_eq!(
            report.variables.clone().map(|paths| paths.join(" ")).as_deref(),
            Some(expected),
            "{text}"
        );
        assert!(report.errors.is_empty() && report.warnings.is_empty(), "{text}: {report:?}");
    }
}

#[tokio::test]
async fn expressions_that_are_not_followed_are_reported() {
    let linter = linter(|_| {});
    for (text, expected) in [
        ("<%- include(part, {x: y}) %>", "an include names its file by an expression"),
        ("<% const m = new Map(items.map(i => [i.id, i])) %><%= m.get(1).name %>", "'new Map'"),
        ("<%= JSON.parse(text).a %>", "'JSON.parse'"),
        ("<%= escape(a) + other(b.c) %>", "'other(…)'"),
    ] {
        let report = lint(&linter, text, &[]).await;
        let [warning] = &report.warnings[..] else { panic!("{text}: {report:?}") };
        assert!(warning.contains(expected), "{text}: {warning}");
    }
}

#[tokio::test]
async fn faults_beyond_the_limit_are_counted() {
    let linter = linter(|_| {});
    let report = lint(&linter, &"<%- include('gone') %>\n".repeat(130), &[]).await;
    assert_eq!((report.errors.len(), report.more_errors), (100, 30));
    assert!(places(&report)[99].starts_with("index.html:100 "), "{:?}", places(&report)[99]);
}

#[tokio::test]
async fn the_time_grows_as_the_template_does() {
    let linter = linter(|_| {});
    let mut times = [Duration::MAX; 2];
    for _ in 0..3 {
        for (time, count) in times.iter_mut().zip([1_000, 4_000]) {
            let begun = Instant::now();
            let report = lint(&linter, &"<%= a %>\n".repeat(count), &[]).await;
            assert_eq!(report.variables.unwrap(), ["a"]);
            *time = begun.elapsed().min(*time);
        }
    }
    assert!(times[1] < times[0] * 9, "{times:?}: the square would be sixteen");
    let many = lint(&linter, &"<%= a %>\n".repeat(20_000), &[]).await;
    assert_eq!((many.variables.unwrap().len(), many.tags.len(), many.more_tags), (1, 5_000, 15_000));
}

#[tokio::test]
async fn included_files_are_followed_with_what_they_are_given() {
    let linter = linter(|_| {});
    let files = [
        ("row.ejs", "<%= item.name %><%= no %><%= currency %><%- include('deep/foot', customer) %>"),
        ("deep/foot.ejs", "<%= email %>\n<%- include('../row', {}) %>"),
        ("unused.ejs", "<%= never %>"),
        ("far.ejs", "<%= far %>"),
    ];
    let text = "<% items.forEach(item => { %>\n<%- include('row', {item, no: 1}) %><% }) %>\n<%- include('gone') %><%- include('f\\x61r') %>";
    let report = lint(&linter, text, &files).await;
    let variables = report.variables.as_ref().unwrap().join(" ");
    assert_eq!(variables, "currency customer.email far items[].name");
    assert_eq!(places(&report), ["index.html:3 the template has no file 'gone.ejs' to include"]);
    let tags: Vec<_> =
        report.tags.iter().map(|tag| format!("{:?} {} {}", tag.place, tag.kind, tag.tag)).collect();
    assert_eq!(tags.len(), 5 + 4 + 2 + 1, "{tags:?}");
    assert_eq!(tags[1], r#"Line { file: "index.html", line: 2 } value <%- include('row', {item, no: 1}) %>"#);
}

#[tokio::test]
async fn a_fault_has_its_line_and_leaves_the_variables_unknown() {
    let linter = linter(|_| {});
    for (text, expected) in [
        ("a\n<% if (x) { %>\nb", "index.html:2 '{' is never closed"),
        ("a\n\n<%= a b %>", "index.html:3 "),
        ("<p>\n<%= a", "index.html:2 the tag '<%=' is never closed with '%>'"),
    ] {
        let report = lint(&linter, text, &[]).await;
        let [fault] = &places(&report)[..] else { panic!("{report:?}") };
        assert!(fault.starts_with(expected), "{fault}");
        assert_eq!(report.variables, None);
    }
    let report = lint(&linter, "<%- include('a') %>", &[("a.ejs", "\n<% } %>")]).await;
    assert_eq!((places(&report), report.variables), (vec!["a.ejs:2 '}' closes nothing".to_owned()], None));
}

#[tokio::test]
async fn a_template_over_the_limits_ends_in_time_without_variables() {
    let listed =
        |count: usize, one: &dyn Fn(usize) -> String| (1..count).map(one).collect::<Vec<_>>().concat();
    let many = listed(20_000, &|number| format!("<%= a{number}.b %>"));
    let report = try_lint(&linter(|_| {}), &[("index.html", &many)]).await.unwrap();
    assert_eq!(report.untold.as_deref(), Some("the code reads too many names to tell them"));
    let linter = linter(|config| config.assemble.timeout_ms = 4_000);
    let begun = Instant::now();
    let deep = format!("<%= {}a{} %>", "(".repeat(100_000), ")".repeat(100_000));
    let nested = format!("<%= {}a{} %>", "[x=>".repeat(900), "]".repeat(900));
    let doubled = listed(40, &|n| format!("const f{n} = x => f{0}(x) + f{0}(x);", n - 1));
    let spread = format!("<% const f0 = x => x; {doubled} %><%= f39(a) %>");
    for text in [deep, nested, spread] {
        let report = try_lint(&linter, &[("index.html", &text)]).await;
        match report {
            Ok(report) => assert_eq!(report.variables, None, "{}", &text[..60]),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::TemplateLimit, "{}", error.message);
                assert!(!error.message.contains("shorten the data"), "{}", error.message);
            }
        }
    }
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn lint_runs_no_template_code() {
    let linter = linter(|_| {});
    let text = "<% } ; globalThis.JSON.stringify = () => '{}'; Object.prototype.tags = 1; { %><%= a %>";
    let report = lint(&linter, text, &[]).await;
    assert_eq!((report.tags.len(), report.variables.unwrap()), (2, vec!["a".to_owned()]));
    // Out of the function that the script is put into.
    let text = "<% } } finally {} }; globalThis.JSON = null; for (;;); (function () { try { { %><%= a %>";
    let report = lint(&linter, text, &[]).await;
    assert_eq!((report.tags.len(), report.errors.len()), (2, 1), "{report:?}");
    let text = "<% (function () { globalThis.JSON = null; for (;;); })() %><%= a %>";
    assert_eq!(lint(&linter, text, &[]).await.variables.unwrap(), ["a"]);
}

#[tokio::test]
async fn a_file_that_is_no_workbook_is_refused_with_the_reason() {
    let linter = linter(|_| {});
    let site = Site::single("a", Bytes::from_static(b"a"));
    let error = linter.lint(AccountId::generate(), (TemplateKind::Xlsx, &site), None).await.unwrap_err();
    assert!(error.message.contains("begins with PK"), "{}", error.message);
}

#[tokio::test]
async fn variables_are_reported_aside_or_not_at_all() {
    let linter = linter(|_| {});
    let (account, limit) = (AccountId::generate(), Duration::from_secs(20));
    let files = site(&[("index.html", "<%- include('a') %>"), ("a.ejs", "<%= b.c %>")]);
    let report = linter.variables(account, (TemplateKind::Framework, &files), limit).await;
    assert_eq!(report, KnownVariables::Found(vec!["b.c".to_owned()]));
    let faulty = site(&[("index.html", "<% if { %>")]);
    assert_eq!(
        linter.variables(account, (TemplateKind::Html, &faulty), limit).await,
        KnownVariables::Unreadable
    );
    assert_eq!(
        linter.variables(account, (TemplateKind::Pptx, &files), limit).await,
        KnownVariables::Unreadable
    );
    let no_time = Duration::from_millis(1);
    let begun = Instant::now();
    assert_eq!(
        linter.variables(account, (TemplateKind::Html, &files), no_time).await,
        KnownVariables::NotYet
    );
    assert!(begun.elapsed() < Duration::from_secs(2), "no process is waited for: {:?}", begun.elapsed());
}

#[tokio::test]
async fn the_names_of_word_tags_are_those_of_the_sections_around_them() {
    let steps = BTreeMap::from([
        ("{customer.name} {First Name}", "First Name customer.name"),
        ("{#items}{name}{.price}{$index}{$parent.x}{/items}{total}", "items[].name items[].price total x"),
        ("{#items}{.}{/}{^items}{none}{/}{#price > 10}{dear}{/}", "dear items[] none price"),
        ("{#items | group('city')}{key}{#items}{n}{/}{/}", "items[].city items[].n"),
        (
            "{rows | sum('price') | currency('EUR')}{x | join(', ', 'name')}{y | default(z)}",
            "rows[].price x[].name y z",
        ),
        ("{#a}{#tags}{.}{label}{/}{/}{Math.max(b, c)}{Date}", "a[].tags[].label b c"),
    ]);
    let linter = linter(|_| {});
    for (text, expected) in steps {
        let report = word(&linter, text).await.unwrap();
        assert_eq!(
            report.variables.clone().map(|paths| paths.join(" ")).as_deref(),
            Some(expected),
            "{text}"
        );
        assert!(report.errors.is_empty(), "{text}: {report:?}");
    }
    let report = word(&linter, "{#items}{a |}{b}{/other}{/}").await.unwrap();
    assert_eq!(report.errors.len(), 3, "all at once: {report:?}");
    assert_eq!(report.tags.len(), 4, "{report:?}");
    assert!(report.variables.unwrap().contains(&"items[].b".to_owned()));
    assert_eq!(
        report.tags[0].place,
        SourceLocation::Paragraph { part: "word/document.xml".to_owned(), paragraph: 1 }
    );
    let site = Site::single("a.docx", Bytes::from_static(b"PK\x03\x04"));
    let error = linter.lint(AccountId::generate(), (TemplateKind::Docx, &site), None).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::TemplateInvalid);
}

#[tokio::test]
async fn expressions_and_filters_of_word_tags_are_looked_through() {
    let linter = linter(|_| {});
    for (text, expected) in [
        ("{b | nofilter}", "'nofilter' is neither a filter (there are default, count, sum, "),
        ("{c + }", "'c +' is neither a name in the data nor an expression"),
        ("{#list}{a b)}{/}", "'a b)' is neither a name in the data nor an expression"),
        ("{a) + (b}", "'a) + (b' is neither a name in the data nor an expression"),
        ("{a | default(1 +)}", "'1 +', given to default, is no expression of JavaScript ("),
        ("{a | size(2)}", "'size' is neither a filter"),
        (
            "{:include \"gone.docx\"}",
            "upload a zip archive with the document as index.docx, and the file in it",
        ),
    ] {
        let report = word(&linter, text).await.unwrap();
        let [fault] = &places(&report)[..] else { panic!("{text}: {report:?}") };
        assert!(fault.starts_with("word/document.xml 1 ") && fault.contains(expected), "{text}: {fault}");
        let variables = report.variables.unwrap_or_default();
        assert!(variables.iter().all(|path| !path.contains([' ', '+'])), "{text}: {variables:?}");
    }
    let good = "{First Name}{Client's name}{a | toFixed(2)}{a | default('x') | padStart(3)}{%pic | size(2)}{a.class}{class}\
                {.}{#a}{$parent.b + 1}{/}{x ? 'y' : z}{x.y}";
    let report = word(&linter, good).await.unwrap();
    assert!(report.errors.is_empty(), "{report:?}");
    let variables = report.variables.unwrap();
    assert!(
        ["Client's name", "First Name"].iter().all(|&name| variables.contains(&name.to_owned())),
        "{variables:?}"
    );
    let many = word(&linter, &"{a +}".repeat(130)).await.unwrap();
    assert_eq!((many.errors.len(), many.more_errors), (100, 30));
}

#[tokio::test]
async fn every_filter_there_is_is_known() {
    let linter = linter(|_| {});
    let report = word(&linter, "{a | nofilter}").await.unwrap();
    let needs = office_template::Needs { long_numbers: false, typed: false, charts: false, words: false };
    // Names are told where a program has filters.
    let library = office_template::library(r#"{"name":"trim"}"#, needs);
    let (_, names) = library.split_once("FILTER_NAMES = \"").unwrap();
    let (names, _) = names.split_once('"').unwrap();
    assert!(names.split(", ").count() > 9, "{names}");
    let message = &report.errors[0].message;
    let (_, known) = message.split_once("there are ").unwrap();
    let (known, _) = known.split_once(')').unwrap();
    let sorted = |names: &str| {
        let mut names: Vec<_> = names.split(", ").map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(sorted(known), sorted(names));
}

/// The report of a Word file of one paragraph.
async fn word(linter: &Linter, text: &str) -> Result<LintReport, JobError> {
    let site = Site::single("a.docx", docx(text));
    linter.lint(AccountId::generate(), (TemplateKind::Docx, &site), None).await
}

fn docx(text: &str) -> Bytes {
    use std::io::Write as _;
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let types = "application/vnd.openxmlformats-package.relationships+xml";
    let main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
    let relationship = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    let parts = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
                 ContentType=\"{types}\"/><Override PartName=\"/word/document.xml\" ContentType=\"{main}\"/></Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
                 Id=\"r1\" Type=\"{relationship}\" Target=\"word/document.xml\"/></Relationships>"
            ),
        ),
        (
            "word/document.xml",
            format!(
                "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r>\
                 <w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
            ),
        ),
    ];
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner().into()
}
