//! What is told of templates of which nothing runs: by the real engine in its cage.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use platen::config::Config;
use platen::domain::fault::{FaultCode, JobFault};
use platen::domain::ids::AccountId;
use platen::domain::kinds::TemplateKind;
use platen::domain::site::Site;
use platen::engines::lint::Linter;
use platen::engines::script::ScriptPool;
use platen::slots::AccountShare;
use platen::telemetry::metrics::Metrics;
use platen::templates::variables::VariableReader as _;
use platen::workers::lint::{LintReport, Place};

use crate::ejs::site;
use crate::processes::starter;

fn linter(change: impl FnOnce(&mut Config)) -> Linter {
    let mut config = Config::default();
    config.assemble.spares = 0;
    change(&mut config);
    let pool = ScriptPool::new(starter(), &config.assemble, AccountShare::whole(), Metrics::new().children);
    Linter::new(pool, &config)
}

async fn try_lint(linter: &Linter, files: &[(&str, &str)]) -> Result<LintReport, JobFault> {
    linter.lint(AccountId::generate(), (TemplateKind::Html, &site(files)), None).await
}

/// What is told of the page `text` beside `files`.
async fn lint(linter: &Linter, text: &str, files: &[(&str, &str)]) -> LintReport {
    let files: Vec<_> = [("index.html", text)].into_iter().chain(files.iter().copied()).collect();
    try_lint(linter, &files).await.unwrap()
}

fn places(report: &LintReport) -> Vec<String> {
    let place = |place: &Place| match place {
        Place::Line { file, line } => format!("{file}:{line}"),
        Place::Paragraph { part, paragraph } => format!("{part} {paragraph}"),
    };
    report.faults.iter().map(|fault| format!("{} {}", place(&fault.place), fault.message)).collect()
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
        ("plain", ""),
    ];
    let linter = linter(|_| {});
    for (text, expected) in table {
        let report = lint(&linter, text, &[]).await;
        assert_eq!(report.variables.map(|paths| paths.join(" ")).as_deref(), Some(expected), "{text}");
        assert!(report.faults.is_empty(), "{text}: {:?}", report.faults);
    }
}

#[tokio::test]
async fn included_files_are_followed_with_what_they_are_given() {
    let linter = linter(|_| {});
    let files = [
        ("row.ejs", "<%= item.name %><%= no %><%= currency %><%- include('deep/foot', customer) %>"),
        ("deep/foot.ejs", "<%= email %>\n<%- include('../row', {}) %>"),
        ("unused.ejs", "<%= never %>"),
    ];
    let text =
        "<% items.forEach(item => { %>\n<%- include('row', {item, no: 1}) %><% }) %>\n<%- include('gone') %>";
    let report = lint(&linter, text, &files).await;
    let variables = report.variables.as_ref().unwrap().join(" ");
    assert_eq!(variables, "currency customer.email items[].name");
    assert_eq!(places(&report), ["index.html:3 the template has no file 'gone.ejs' to include"]);
    let tags: Vec<_> =
        report.tags.iter().map(|tag| format!("{:?} {} {}", tag.place, tag.kind, tag.tag)).collect();
    assert_eq!(tags.len(), 4 + 4 + 2, "{tags:?}");
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
async fn what_is_too_much_tells_nothing_and_ends_in_time() {
    let linter = linter(|config| config.assemble.timeout_ms = 4_000);
    let begun = Instant::now();
    let deep = format!("<%= {}a{} %>", "(".repeat(100_000), ")".repeat(100_000));
    let nested = format!("<%= {}a{} %>", "[x=>".repeat(900), "]".repeat(900));
    let listed =
        |count: usize, one: &dyn Fn(usize) -> String| (1..count).map(one).collect::<Vec<_>>().concat();
    let many = listed(20_000, &|number| format!("<%= a{number}.b %>"));
    let doubled = listed(40, &|n| format!("const f{n} = x => f{0}(x) + f{0}(x);", n - 1));
    let spread = format!("<% const f0 = x => x; {doubled} %><%= f39(a) %>");
    for text in [deep, nested, many, spread] {
        let told = try_lint(&linter, &[("index.html", &text)]).await;
        match told {
            Ok(report) => assert_eq!(report.variables, None, "{}", &text[..60]),
            Err(fault) => assert_eq!(fault.code, FaultCode::TemplateLimit, "{}", fault.message),
        }
    }
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn nothing_of_a_template_runs() {
    let linter = linter(|_| {});
    let text = "<% } ; globalThis.JSON.stringify = () => '{}'; Object.prototype.tags = 1; { %><%= a %>";
    let told = lint(&linter, text, &[]).await;
    assert_eq!((told.tags.len(), told.variables.unwrap()), (2, vec!["a".to_owned()]));
    // Out of the function that the script is put into.
    let text = "<% } } finally {} }; globalThis.JSON = null; for (;;); (function () { try { { %><%= a %>";
    let told = lint(&linter, text, &[]).await;
    assert_eq!((told.tags.len(), told.faults.len()), (2, 1), "{told:?}");
    let text = "<% (function () { globalThis.JSON = null; for (;;); })() %><%= a %>";
    assert_eq!(lint(&linter, text, &[]).await.variables.unwrap(), ["a"]);
}

#[tokio::test]
async fn a_kind_without_an_engine_is_refused_by_a_sentence() {
    let linter = linter(|_| {});
    for kind in [TemplateKind::Xlsx, TemplateKind::Pptx, TemplateKind::Latex] {
        let site = Site::single("a", Bytes::from_static(b"a"));
        let fault = linter.lint(AccountId::generate(), (kind, &site), None).await.unwrap_err();
        assert!(fault.message.contains(kind.name()), "{}", fault.message);
    }
}

#[tokio::test]
async fn variables_are_told_aside_or_not_at_all() {
    let linter = linter(|_| {});
    let (account, limit) = (AccountId::generate(), Duration::from_secs(20));
    let files = site(&[("index.html", "<%- include('a') %>"), ("a.ejs", "<%= b.c %>")]);
    let told = linter.variables(account, (TemplateKind::Framework, &files), limit).await;
    assert_eq!(told.unwrap(), ["b.c"]);
    let faulty = site(&[("index.html", "<% if { %>")]);
    assert_eq!(linter.variables(account, (TemplateKind::Html, &faulty), limit).await, None);
    assert_eq!(linter.variables(account, (TemplateKind::Pptx, &files), limit).await, None);
    let no_time = Duration::from_millis(1);
    assert_eq!(linter.variables(account, (TemplateKind::Html, &files), no_time).await, None);
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
        assert!(report.faults.is_empty(), "{text}: {report:?}");
    }
    let report = word(&linter, "{#items}{a |}{b}{/other}{/}").await.unwrap();
    assert_eq!(report.faults.len(), 3, "all at once: {report:?}");
    assert_eq!(report.tags.len(), 4, "{report:?}");
    assert!(report.variables.unwrap().contains(&"items[].b".to_owned()));
    assert_eq!(report.tags[0].place, Place::Paragraph { part: "word/document.xml".to_owned(), paragraph: 1 });
    let site = Site::single("a.docx", Bytes::from_static(b"PK\x03\x04"));
    let fault = linter.lint(AccountId::generate(), (TemplateKind::Docx, &site), None).await.unwrap_err();
    assert_eq!(fault.code, FaultCode::TemplateInvalid);
}

/// What is told of a Word file of one paragraph.
async fn word(linter: &Linter, text: &str) -> Result<LintReport, JobFault> {
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
