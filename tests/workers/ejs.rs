//! EJS as template authors meet it: pages, faults with file and line, limits, and what hostile templates
//! and data try.

use std::io::Write as _;
use std::time::Instant;

use bytes::Bytes;
use platen::config::{AssembleConfig, Config};
use platen::domain::error::{ErrorCode, JobError, Warnings};
use platen::domain::ids::AccountId;
use platen::domain::site::Site;
use platen::engines::ejs::Assembler;
use platen::telemetry::metrics::Metrics;
use platen::templates::package::Package;

use crate::processes::{DEADLINE, starter};

pub fn config() -> AssembleConfig {
    Config::default().assemble
}

pub fn assembler(config: &AssembleConfig) -> Assembler {
    crate::assembler::assembler(starter(), config, Metrics::new().children)
}

pub fn site(files: &[(&str, &str)]) -> Site {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), Bytes::from((*text).to_owned())));
    Site::new("index.html", files.collect())
}

async fn assemble(files: &[(&str, &str)], data: &str) -> Result<String, JobError> {
    let config = AssembleConfig { spares: 0, ..config() };
    let page = assembler(&config)
        .assemble(
            AccountId::generate(),
            &site(files),
            &Bytes::from(data.to_owned()),
            &mut Warnings::default(),
        )
        .await?;
    Ok(String::from_utf8(page.to_vec()).unwrap())
}

async fn page(text: &str, data: &str) -> String {
    assemble(&[("index.html", text)], data).await.unwrap()
}

async fn error(files: &[(&str, &str)], data: &str) -> (ErrorCode, String) {
    let error = assemble(files, data).await.unwrap_err();
    (error.code, error.message)
}

/// The sentence of a template whose code is wrong.
async fn wrong(text: &str, data: &str) -> String {
    let (code, sentence) = error(&[("index.html", text)], data).await;
    assert_eq!(code, ErrorCode::TemplateError, "{sentence}");
    sentence
}

#[tokio::test]
async fn data_becomes_locals() {
    let text =
        "<% for (const k in locals) { %><%= k %>=<%= locals[k] %>;<% } %><%- raw %>|<%= raw %>|<%= a['ü'] %>";
    let data = r#"{"z":1.50,"raw":"<b>&","y":null,"a":{"ü":"€"},"x":[1,2]}"#;
    let expected = "z=1.5;raw=&lt;b&gt;&amp;;y=;a=[object Object];x=1,2;<b>&|&lt;b&gt;&amp;|€";
    assert_eq!(page(text, data).await, expected);
    for data in ["[1]", "1", "\"a\"", "null", "true"] {
        let (code, sentence) = error(&[("index.html", "plain")], data).await;
        assert_eq!(code, ErrorCode::DataInvalid);
        assert!(sentence.contains("must be a JSON object"), "{sentence}");
    }
}

/// What EJS writes into its scripts has names, too.
#[tokio::test]
async fn members_with_the_engine_s_own_names_are_data() {
    let text = "<% for (const x of list) { %>\n<%= x %><%= escapeFn %>|<%- __append %>|<%= __line %>|<%= __output %>|\
                <%= locals._$append %>|<%= locals._$escape %><% } %>\n<%= rethrow %>";
    let data = r#"{"list":["&"],"escapeFn":"<a>","__append":"b","__line":"c","__output":"d","_$append":"e","_$escape":"f",
                   "_$line":"g","rethrow":"h"}"#;
    assert_eq!(page(text, data).await, "\n&amp;&lt;a&gt;|b|c|d|e|f\nh");
    assert_eq!(page("a<% for (const x of [1, 2]) __append(x) %>b", "{}").await, "a12b");
}

#[tokio::test]
async fn tags_of_all_kinds_work() {
    let text = "\u{feff}a<%# remark %>\n  <%_ if (true) { _%>  \nb<% } -%>\n<%% <%= 1 // one %> %%>";
    assert_eq!(page(text, "{}").await, "a\nb<% 1 %>");
}

#[tokio::test]
async fn numbers_and_dates_read_as_in_the_locale_they_are_asked_for() {
    let plain = "<%= (1234567.8915).toLocaleString() %>|<%= new Date(0).toLocaleString() %>|\
                 <%= [1e21, -0.5].toLocaleString() %>";
    let expected = "1,234,567.892|1/1/1970, 12:00:00 AM|1,000,000,000,000,000,000,000,-0.5";
    assert_eq!(page(plain, "{}").await, expected);
    let german = "<%= (1234.5).toLocaleString('de-DE', {style: 'currency', currency: 'EUR'}) %>|\
                  <%= new Date(0).toLocaleDateString('de-DE', {dateStyle: 'long', timeZone: 'Europe/Berlin'}) %>|\
                  <%= ['ä', 'z', 'a'].sort(new Intl.Collator('sv').compare) %>|<%= 'I'.toLocaleLowerCase('tr') %>";
    assert_eq!(page(german, "{}").await, "1.234,50\u{a0}€|1. Januar 1970|a,z,ä|ı");
}

#[tokio::test]
async fn a_page_without_tags_is_its_own_page() {
    let assembler = assembler(&AssembleConfig { spares: 0, ..config() });
    let bytes = Bytes::from_static(b"<p>100%> \xff\x00</p>");
    let site = Site::single("index.html", bytes.clone());
    let page = assembler
        .assemble(AccountId::generate(), &site, &Bytes::from_static(b"{}"), &mut Warnings::default())
        .await
        .unwrap();
    assert_eq!(page.as_ptr(), bytes.as_ptr(), "not even copied");

    let site = Site::single("index.html", Bytes::from_static(b"one\ntwo \0\xff <%= 1 %>"));
    let error = assembler
        .assemble(AccountId::generate(), &site, &Bytes::from_static(b"{}"), &mut Warnings::default())
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::TemplateInvalid);
    assert_eq!(error.message, "index.html:2: this is no text; upload a page (HTML, EJS), saved as UTF-8");
}

#[tokio::test]
async fn includes_reach_the_sites_own_files() {
    let files = [
        (
            "index.html",
            "<% for (const n of [1,2]) { %><%- include('parts/row', {n}) %><% } %><%- include('/foot.html') %>",
        ),
        ("parts/row.ejs", "[<%= n %><%- include('../dot.ejs') %>]"),
        ("dot.ejs", "."),
        ("foot.html", "end <%= title %>"),
    ];
    assert_eq!(assemble(&files, r#"{"title":"T"}"#).await.unwrap(), "[1.][2.]end T");
}

/// A template as it comes: an archive with a folder around it, read by its content.
#[tokio::test]
async fn includes_reach_the_files_of_an_archive() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let files = [
        ("mail/", ""),
        ("mail/index.html", "<%- include('partials/head') %><%- include('/partials/foot', {n: 1}) %>"),
        ("mail/partials/head.ejs", "<%- include('../layout/logo.html') %><%- include('./größe') %> "),
        ("mail/partials/größe.ejs", "<%= title %>"),
        ("mail/partials/foot.ejs", "foot <%= n %><%- include('/layout/../partials/größe.ejs') %>"),
        ("mail/layout/logo.html", "<b>logo</b>"),
        ("mail/partials/._head.ejs", "\0"),
    ];
    for (name, text) in files {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    let upload = Bytes::from(writer.finish().unwrap().into_inner());
    let package = Package::read(&upload, &Config::default().templates).unwrap();
    let site = Site::new(&package.entry, package.files);
    let assembler = assembler(&AssembleConfig { spares: 0, ..config() });
    let data = Bytes::from_static(b"{\"title\":\"T\"}");
    let page =
        assembler.assemble(AccountId::generate(), &site, &data, &mut Warnings::default()).await.unwrap();
    assert_eq!(page, "<b>logo</b>T foot 1T");
}

#[tokio::test]
async fn a_runtime_fault_names_file_line_and_chain() {
    let text = "<p>\n<%= name %>\n\n<%= customer.street %>";
    assert_eq!(
        wrong(text, r#"{"name":1}"#).await,
        "index.html:4: 'customer' is not defined; the data has name"
    );
    let sentence = wrong(text, r#"{"name":1,"customer":null}"#).await;
    assert_eq!(
        sentence,
        "index.html:4: Cannot read properties of null (reading 'street') in 'customer.street'"
    );
    let near = r#"{"number":1,"name":2,"nmae":3,"customers":4,"items":5,"x":6}"#;
    assert_eq!(
        wrong("<%= nmea %>", near).await,
        "index.html:1: 'nmea' is not defined; the data has name, nmae, number, items, x, …"
    );
    let no_names = r#"{"a b":1,"if\u001b[31m":2,"ann@example.org":3}"#;
    assert_eq!(wrong("<%= a %>", no_names).await, "index.html:1: 'a' is not defined");
    let many = format!("{{{}}}", (0..5_000).map(|at| format!("\"n{at}\":0")).collect::<Vec<_>>().join(","));
    assert!(wrong("<%= unknown %>", &many).await.len() < 100);
    // A template that breaks the engine's own functions is told no names.
    let broken = "<% Array.prototype.sort = Array.from = () => { throw 1; } %><%= nope %>";
    assert_eq!(wrong(broken, near).await, "index.html:1: 'nope' is not defined");
    let long = "<p>\n<%\n  const a = 1;\n  const b = 2;\n  a.b.c;\n%>";
    assert_eq!(
        wrong(long, "{}").await,
        "index.html:5: Cannot read properties of undefined (reading 'c') in 'a.b.c'"
    );
    let each = "<p>\n<% [1].forEach(function (x) { %>\n  <%= x %>\n  <%= missing %>\n<% }) %>";
    assert_eq!(wrong(each, "{}").await, "index.html:4: 'missing' is not defined");
    assert_eq!(wrong("\n<% throw 'a word' %>", "{}").await, "index.html:2: a word");
    assert_eq!(wrong("<% throw null %>", "{}").await, "index.html:1: null was thrown");
    assert_eq!(wrong("<% throw {message: 'm'} %>", "{}").await, "index.html:1: m");

    let files = [
        ("index.html", "\n\n<%- include('parts/table') %>"),
        ("parts/table.ejs", "\n<%- include('row', {n: 1}) %>"),
        ("parts/row.ejs", "<%= n %>\n\n\n<%= m %>"),
    ];
    let (code, sentence) = error(&files, "{}").await;
    assert_eq!(code, ErrorCode::TemplateError);
    assert_eq!(
        sentence,
        "parts/row.ejs:4: 'm' is not defined; the data has n (included from parts/table.ejs:2, index.html:3)"
    );
}

#[tokio::test]
async fn an_error_that_a_template_catches_is_untouched() {
    let files = [
        ("index.html", "<% try { include('a') } catch (e) { %><%= e.message %><% } %>"),
        ("a.ejs", "\n<% throw new Error('as it was') %>"),
    ];
    assert_eq!(assemble(&files, "{}").await.unwrap(), "as it was");
}

#[tokio::test]
async fn a_syntax_fault_names_file_and_line() {
    let cases = [
        ("a\nb\n<%= foo( %>\nc\n<%= d %>", 3, "in '<%= foo( %>'"),
        ("a\n<%= a b %>", 2, "in '<%= a b %>'"),
        ("a\n\n<%=\n  1 +\n  ) %>\n", 5, "Unexpected"),
        ("a\n<% let 1x = 2; %>\n", 2, ""),
        ("a\n<%\n let a = 1;\n let = = 2;\n%>\nb", 4, ""),
        ("a\n<% if (true) { %>\nb\n<% for (;;) { %>\n<% } %>\nc\n", 2, "'{' is never closed"),
        ("a\n<% [1].forEach(function (x) { %>\nb\n<% } %>\nc\nd", 2, "'(' is never closed"),
        ("a\n\n<% } %>\nb\nc", 3, "'}' closes nothing"),
        ("a\n<% if (1) { %>}{(<% var s = '}}'; /* } */ var r = /[}]}/; } } %>\nb\n", 2, "'}' closes nothing"),
        ("a\n<%= 1 %>\n<% if (true) {\nb", 3, "the tag '<%' is never closed with '%>'"),
        ("a\n<%- x\n<%= 1 %>", 2, "the tag '<%-' is never closed with '%>'"),
    ];
    for (text, line, words) in cases {
        let sentence = wrong(text, "{}").await;
        assert!(sentence.starts_with(&format!("index.html:{line}: ")), "{text:?}: {sentence}");
        assert!(sentence.contains(words), "{text:?}: {sentence}");
        assert!(!sentence.contains("EJS-Lint"), "{sentence}");
    }
    let files = [("index.html", "\n<%- include('a') %>"), ("a.ejs", "\n\n<% } %>")];
    let (_, sentence) = error(&files, "{}").await;
    assert_eq!(sentence, "a.ejs:3: '}' closes nothing (included from index.html:2)");
    let files = [("index.html", "\n<%- include('a') %>"), ("a.ejs", "\n\n<%= 1")];
    let (_, sentence) = error(&files, "{}").await;
    assert_eq!(sentence, "a.ejs:3: the tag '<%=' is never closed with '%>' (included from index.html:2)");
}

#[tokio::test]
async fn includes_lead_nowhere_else() {
    for path in ["/etc/passwd", "../../etc/passwd", "file:///etc/passwd", "/proc/self/environ", "x\\0.ejs"] {
        let sentence = wrong(&format!("<%- include('{path}') %>"), "{}").await;
        assert!(sentence.starts_with("index.html:1: "), "{sentence}");
        assert!(sentence.contains("no file") || sentence.contains("Could not find"), "{sentence}");
    }
    let files = [("index.html", "<%- include('index.html') %>")];
    let (code, sentence) = error(&files, "{}").await;
    assert_eq!(code, ErrorCode::TemplateLimit);
    assert!(sentence.contains("assemble.include_depth_limit"), "{sentence}");
    assert!(sentence.starts_with("index.html:1: "), "{sentence}");
}

#[tokio::test]
async fn templates_reach_nothing() {
    let nothing = [
        "process",
        "require",
        "module",
        "exports",
        "std",
        "os",
        "bjson",
        "print",
        "scriptArgs",
        "load",
        "fetch",
        "Deno",
        "Worker",
        "setTimeout",
        "host",
        "fs",
    ];
    for name in nothing {
        assert_eq!(page(&format!("<%= typeof {name} %>"), "{}").await, "undefined", "{name}");
    }
    let sentence = wrong("<%= locals.constructor.constructor('return process')() %>", "{}").await;
    assert!(sentence.starts_with("index.html:1: "), "{sentence}");
    let sentence = wrong("<%= ''.constructor.constructor('return process')() %>", "{}").await;
    assert_eq!(sentence, "index.html:1: 'process' is not defined");
    let global =
        "<%= Object.getOwnPropertyNames(''.constructor.constructor('return this')()).includes('ejs') %>";
    assert_eq!(page(global, "{}").await, "false");
    let import = "<% let got = 'nothing'; import('os').then(() => { got = 'os' }) %><%= got %>";
    assert_eq!(page(import, "{}").await, "nothing");
}

#[tokio::test]
async fn data_is_no_options_and_pollutes_nothing() {
    let data = r#"{
        "outputFunctionName":"x;globalThis.pwned=1;s", "escapeFunction":"1;return 'pwned'", "client":true,
        "delimiter":"?", "openDelimiter":"[", "closeDelimiter":"]", "localsName":"pwned", "debug":true,
        "cache":true, "filename":"/etc/passwd", "root":"/etc", "views":["/etc"], "context":{"a":1},
        "_with":false, "strict":true, "async":true, "destructuredLocals":["a=pwned"], "rmWhitespace":true,
        "settings":{"view options":{"outputFunctionName":"x;globalThis.pwned=1;s","client":true,
        "escapeFunction":"1;return 'pwned'"}, "views":["/etc"]},
        "__proto__":{"polluted":"yes","outputFunctionName":"x;globalThis.pwned=1;s"},
        "constructor":{"prototype":{"polluted":"yes"}}, "v":"<"}"#;
    let text =
        "<%= v %>  <?= v ?>\n<%= typeof pwned %><%= ({}).polluted %><%= locals.polluted %><%= ''.polluted %>";
    assert_eq!(page(text, data).await, "&lt;  <?= v ?>\nundefined");
    let spread = "<%= Object.assign({}, locals).polluted %>|<%= typeof globalThis.pwned %>";
    assert_eq!(page(spread, data).await, "|undefined");
}

/// The error of a template under tight limits, and that it came in time.
async fn limited(text: &str, config: AssembleConfig) -> (ErrorCode, String) {
    let begun = Instant::now();
    let error = assembler(&config)
        .assemble(
            AccountId::generate(),
            &site(&[("index.html", text)]),
            &Bytes::from_static(b"{}"),
            &mut Warnings::default(),
        )
        .await;
    let error = error.unwrap_err();
    assert!(begun.elapsed() < DEADLINE, "{text}: {:?}", begun.elapsed());
    (error.code, error.message)
}

#[tokio::test]
async fn loops_end_at_the_deadline() {
    let loops = [
        "<% for (;;) {} %>",
        "<% try { for (;;) {} } finally { for (;;) {} } %>",
        // One native call that the script engine itself cannot interrupt.
        "<% const s = 'a'.repeat(1e8); for (;;) s.indexOf('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab') %>",
        "<% /(a*)*(a*)*b/.test('a'.repeat(40)) %>",
    ];
    for text in loops {
        let (code, sentence) = limited(text, AssembleConfig { timeout_ms: 300, ..config() }).await;
        assert_eq!(code, ErrorCode::TemplateLimit, "{text}: {sentence}");
        assert!(sentence.contains("300 ms (assemble.timeout_ms)"), "{text}: {sentence}");
    }
}

#[tokio::test]
async fn memory_is_limited() {
    let hogs = [
        "<% const a = []; for (;;) a.push('x'.repeat(1e6) + a.length) %>",
        "<% let s = 'x'; for (;;) { s += s + 'y'; s.indexOf('z') } %>",
        "<% const a = []; for (;;) a.push({}) %>",
        "<% const a = []; for (;;) a.push(new ArrayBuffer(1e7)) %>",
        "<% for (;;) { %>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<% } %>",
    ];
    for text in hogs {
        let (code, sentence) = limited(text, AssembleConfig { memory_limit_mb: 48, ..config() }).await;
        assert_eq!(code, ErrorCode::TemplateLimit, "{text}: {sentence}");
        assert!(sentence.contains("48 MB of memory (assemble.memory_limit_mb)"), "{text}: {sentence}");
    }
    let doubling = "<% let s = 'x'; for (;;) s += s + 'y' %>";
    let (code, sentence) = limited(doubling, config()).await;
    assert_eq!(code, ErrorCode::TemplateError);
    assert!(
        sentence.starts_with("index.html:1: a string grew longer than 2147483647 characters"),
        "{sentence}"
    );
    let recursion = "\n<% function f() { return f() + 1 } f() %>";
    let (code, sentence) = limited(recursion, config()).await;
    assert_eq!(code, ErrorCode::TemplateError);
    assert_eq!(sentence, "index.html:2: Maximum call stack size exceeded");
}

#[tokio::test]
async fn the_page_is_limited() {
    let small = AssembleConfig { output_limit_bytes: 2_000, ..config() };
    for text in ["<%- 'x'.repeat(2001) %>", "<%- 'ä'.repeat(1001) %>"] {
        let (code, sentence) = limited(text, small.clone()).await;
        assert_eq!(code, ErrorCode::TemplateLimit);
        assert_eq!(sentence, "the document is larger than 2000 bytes (assemble.output_limit_bytes)");
    }
    let page = assembler(&small)
        .assemble(
            AccountId::generate(),
            &site(&[("index.html", "<%- 'ä'.repeat(1000) %>")]),
            &Bytes::from_static(b"{}"),
            &mut Warnings::default(),
        )
        .await;
    assert_eq!(page.unwrap().len(), 2_000);
}

#[tokio::test]
async fn a_lone_surrogate_does_not_spoil_the_page() {
    assert_eq!(page("<%= 'a\\ud800b' %>€", "{}").await, "a\u{fffd}b€");
}

/// What a template makes of its own fault stays an error of its own.
#[tokio::test]
async fn a_sentence_that_grows_is_cut() {
    let long = "<% String.prototype.slice = () => 'x'.repeat(200000); throw new Error('y'.repeat(3000)) %>";
    let forged =
        "<% Object.prototype.toJSON = () => ({generated: 1e18, included: {}}); throw new Error('mine') %>";
    let assembler = assembler(&AssembleConfig { spares: 0, ..config() });
    for text in [long, forged] {
        let site = site(&[("index.html", text)]);
        let data = Bytes::from_static(b"{}");
        let page = assembler.assemble(AccountId::generate(), &site, &data, &mut Warnings::default()).await;
        let error = page.unwrap_err();
        assert_eq!(error.code, ErrorCode::TemplateError, "{error}");
        assert!(error.message.len() < 10_000);
    }
}
