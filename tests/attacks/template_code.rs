//! Suites D and H for template code: ways out of its realm, endless use of time and memory, traces for other jobs.

use std::time::Instant;

use bytes::Bytes;
use futures_util::StreamExt as _;
use platen::config::{AssembleConfig, Config};
use platen::domain::error::{ErrorCode, JobError, Warnings};
use platen::domain::ids::AccountId;
use platen::domain::site::Site;
use platen::engines::ejs::Assembler;
use platen::telemetry::metrics::Metrics;

use crate::processes::{DEADLINE, field, platen, processes, starter, until};
use crate::table::{Outcome, report};

fn config() -> AssembleConfig {
    AssembleConfig { spares: 0, memory_limit_mb: 64, timeout_ms: 2_000, ..Config::default().assemble }
}

fn assembler(config: &AssembleConfig) -> Assembler {
    crate::assembler::assembler(starter(), config, Metrics::new().children)
}

async fn render(
    assembler: &Assembler,
    account: AccountId,
    text: &str,
    data: &str,
) -> Result<String, JobError> {
    let site = Site::single("index.html", Bytes::from(text.to_owned()));
    let data = Bytes::from(data.to_owned());
    let page = assembler.assemble(account, &site, &data, &mut Warnings::default()).await?;
    Ok(String::from_utf8(page.to_vec()).unwrap())
}

/// A template with a cached script, so that it runs without EJS.
async fn cached_template(assembler: &Assembler, account: AccountId, text: &str, data: &str) -> Site {
    let site = Site::single("index.html", Bytes::from(text.to_owned())).keeping_scripts();
    let data = Bytes::from(data.to_owned());
    let held = site.clone();
    let _ = assembler.assemble(account, &held, &data, &mut Warnings::default()).await;
    until("its script is made", || !site.scripts().unwrap().lacks("index.html")).await;
    site
}

async fn render_cached(
    assembler: &Assembler,
    account: AccountId,
    site: &Site,
    data: &str,
) -> Result<String, JobError> {
    let data = Bytes::from(data.to_owned());
    let page = assembler.assemble(account, site, &data, &mut Warnings::default()).await?;
    Ok(String::from_utf8(page.to_vec()).unwrap())
}

/// Names that there are only outside of a realm without a host.
pub const OUTSIDE: &str = "['process', 'require', 'module', 'Deno', 'Bun', 'std', 'os', 'load', 'read', 'print', 'quit', 'gc', 'fetch',\
    'XMLHttpRequest', 'Worker', 'setTimeout', 'queueMicrotask', 'WebAssembly', 'SharedArrayBuffer', 'host', 'imports', 'window',\
    'document', '$vm', 'webkit', 'Java', 'ActiveXObject', '$262'].filter(name => name in global)";

/// Each puts into `global` what it takes for the outside, if anything.
pub const WAYS: &[(&str, &str)] = &[
    ("constructor chain", "global = locals.constructor?.constructor('return this')() ?? global"),
    ("constructor of a text", "global = ''.constructor.constructor('return this')()"),
    ("constructor of an include", "global = include.constructor('return this')()"),
    ("constructor of the escaping", "global = escapeFn.constructor('return this')()"),
    (
        "caller of a function",
        "(function f() { global = f.caller?.caller?.constructor('return this')() ?? global })()",
    ),
    (
        "arguments",
        "global = [...arguments].map(it => it?.constructor?.constructor('return this')()).find(it => it) ?? global",
    ),
    ("async function", "(async () => { global = (async () => 0).constructor('return this')() ?? global })()"),
    (
        "generator",
        "global = Object.getPrototypeOf(function* () {}).constructor('yield this')().next().value ?? global",
    ),
    (
        "import()",
        "import('fs').then(it => { global = it }, error => { global = error.constructor.constructor('return this')() })",
    ),
    ("import() of a file", "import('file:///etc/passwd').then(it => { global = it }, () => 0)"),
    ("import.meta", "global = Function('try { return eval(\"import.meta\") } catch { return this }')()"),
    (
        "error objects",
        "try { null.x } catch (error) { global = error.constructor.constructor('return this')() }",
    ),
    (
        "stack frames",
        "Error.prepareStackTrace = (e, frames) => { global = frames[0].getThis() }; new Error('').stack",
    ),
    ("getter", "global = new Proxy({}, {get: (target, name, self) => (self, Function('return this')())}).x"),
    (
        "proxy as prototype",
        "Object.setPrototypeOf(locals, new Proxy({}, {has: () => false, get: (t, n) => { global[n] }}))",
    ),
    (
        "finalizer",
        "new FinalizationRegistry(() => { global = this }).register({}, 1); for (let i = 0; i < 1e5; i++) ({})",
    ),
    ("weak reference", "global = new WeakRef(Function('return this')()).deref()"),
    ("promise", "Promise.resolve().then(() => { global = Function('return this')() })"),
    ("thenable", "(async () => await {then(done) { global = done.constructor('return this')(); done() }})()"),
    ("tail of eval", "global = (0, eval)('this')"),
    ("Intl", "global = Intl.Collator.constructor('return this')()"),
    ("toString of the data", "global = JSON.parse.constructor('return this')()"),
    (
        "Symbol.species",
        "class A extends Array { static get [Symbol.species]() { return function () { global = this } } } new A(1).map(it => it)",
    ),
    ("Atomics.wait", "Atomics.wait(new Int32Array(new ArrayBuffer(8)), 0, 0, 1e9)"),
    ("Reflect", "global = Reflect.construct(Function, ['return this'])()"),
    ("with", "with (globalThis) { global = this ?? global }"),
];

#[tokio::test]
async fn template_code_finds_no_way_out() {
    let assembler = assembler(&config());
    let outcomes = futures_util::stream::iter(WAYS).then(|(name, code)| {
        let text = format!(
            "<% let global = globalThis; try {{ {code} }} catch (error) {{ }} %><%= {OUTSIDE} %>|<%= typeof ejs + typeof fs %>"
        );
        let assembler = assembler.clone();
        async move {
            let messages = render(&assembler, AccountId::generate(), &text, "{}").await;
            let messages = messages.unwrap_or_else(|error| error.message);
            let mut leaks = if messages == "|undefinedundefined" { vec![] } else { vec![messages.clone()] };
            let account = AccountId::generate();
            let site = cached_template(&assembler, account, &text, "{}").await;
            let again = render_cached(&assembler, account, &site, "{}").await;
            let again = again.unwrap_or_else(|error| error.message);
            if again != messages {
                leaks.push(format!("without EJS: {again}"));
            }
            Outcome { name: (*name).to_owned(), carrier: "a tag".to_owned(), leaks, messages }
        }
    });
    report("Suite D: ways out of a template's realm", outcomes.collect().await);
}

/// What needs more than there is, in each way.
const HOGS: &[(&str, &str)] = &[
    ("small objects", "for (;;) kept.push({a: {}})"),
    ("arrays", "for (;;) kept.push(new Array(1000).fill(1))"),
    ("an array of holes", "new Array(1e9).fill(0)"),
    ("typed arrays", "for (;;) kept.push(new Uint8Array(1e5).fill(1))"),
    ("buffers", "for (;;) kept.push(new ArrayBuffer(1e7))"),
    ("strings", "for (;;) kept.push('x'.repeat(1e6) + kept.length)"),
    ("doubled strings", "let s = 'x'; for (;;) { s += s + 'y'; s.indexOf('z') }"),
    ("shapes", "for (let i = 0; ; i++) { const o = {}; o['a' + i] = 1; o['b' + i] = 2; kept.push(o) }"),
    (
        "structures, which lie in memory that was reserved before the limit was set",
        "let p = null; for (let i = 0; ; i++) { p = Object.create(p && i % 1000 ? p : null); kept.push(p) }",
    ),
    ("a dictionary", "const o = {}; for (let i = 0; ; i++) o['k' + i] = i"),
    ("Map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})"),
    ("Set", "const m = new Set(); for (let i = 0; ; i++) m.add('' + i)"),
    ("WeakMap", "const m = new WeakMap(); for (;;) { const o = {}; kept.push(o); m.set(o, {}) }"),
    ("BigInt", "for (let i = 0n; ; i++) kept.push(2n ** 100000n + i)"),
    ("RegExp", "for (let i = 0; ; i++) kept.push(new RegExp('(a' + i + '|b)*').exec('ab'))"),
    ("functions", "for (let i = 0; ; i++) kept.push(new Function('return ' + i))"),
    ("symbols", "for (let i = 0; ; i++) kept.push(Symbol.for('s' + i))"),
    ("errors", "for (;;) kept.push(new Error('x'))"),
    ("promises", "for (;;) kept.push(new Promise(() => 0))"),
    ("microtasks that pile up", "for (;;) Promise.resolve().then(() => 0)"),
    ("generators", "for (;;) { const g = (function* () { yield 1 })(); g.next(); kept.push(g) }"),
    ("formats", "for (;;) kept.push(new Intl.NumberFormat('de-DE'))"),
    ("a page", "for (;;) { %>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<% }"),
];

/// What never ends.
const ENDLESS: &[(&str, &str)] = &[
    ("a loop", "for (;;) {}"),
    ("a loop in finally", "try { for (;;) {} } finally { for (;;) {} }"),
    ("indexOf", "const s = 'a'.repeat(1e7); for (;;) s.indexOf('a'.repeat(1000) + 'b')"),
    // The engine gives a search up by itself after a number of steps, which takes about two seconds.
    ("backtracking", "for (;;) /(a*)*(a*)*b/.test('a'.repeat(40))"),
    ("sort", "[...'x'.repeat(1000)].sort(() => { for (;;) {} })"),
    (
        "sort of much",
        "const a = Array.from({length: 3e5}, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)",
    ),
    ("microtasks", "const again = () => Promise.resolve().then(again); again()"),
    ("a getter", "Object.defineProperty(Object.prototype, 'x', {get() { for (;;) {} }}); ({}).x"),
    ("an iterator", "[...{[Symbol.iterator]: () => ({next: () => ({done: false})})}].length"),
    ("an async function", "(async () => { for (;;) await 0 })()"),
    ("toString", "const o = {toString() { for (;;) {} }}; `${o}`"),
    ("BigInt", "let b = 3n ** 100000n; for (;;) b * b"),
    (
        "a proxy's prototype",
        "const p = new Proxy({}, {getPrototypeOf: () => { for (;;) {} }}); p instanceof Object",
    ),
];

async fn bounded(name: &str, code: &str) -> Outcome {
    let begun = Instant::now();
    let text = format!("<% const kept = []; {code} %>ended");
    let messages = render(&assembler(&config()), AccountId::generate(), &text, "{}").await;
    let mut leaks = Vec::new();
    let messages = match messages {
        Ok(page) => {
            leaks.push(format!("it ended: {page}"));
            page
        }
        Err(error) => {
            let is_named = error.code == ErrorCode::TemplateLimit || error.message.contains("(assemble.");
            if !is_named {
                leaks.push(format!("no limit is named: {}", error.message));
            }
            error.message
        }
    };
    if begun.elapsed() > DEADLINE {
        leaks.push(format!("after {:?}", begun.elapsed()));
    }
    Outcome { name: name.to_owned(), carrier: "a tag".to_owned(), leaks, messages }
}

#[tokio::test]
async fn template_code_has_no_more_than_its_memory() {
    let outcomes = futures_util::stream::iter(HOGS).map(|(name, code)| bounded(name, code));
    report("Suite D: memory of template code", outcomes.buffer_unordered(2).collect().await);
}

#[tokio::test]
async fn template_code_ends_at_its_deadline() {
    let outcomes = futures_util::stream::iter(ENDLESS).map(|(name, code)| bounded(name, code));
    report("Suite D: template code without end", outcomes.buffer_unordered(2).collect().await);
}

/// Looks for traces of another job, prints them, and leaves its own wherever it can.
const TRACES: &str = "<%
    const global = ''.constructor.constructor('return this')();
    const found = [], leaves = [];
    const look = (kind, seen, leave) => { if (seen) found.push(kind + '=' + seen); leaves.push(leave) };
    look('global', global.left, () => { global.left = mark });
    look('prototype', ({}).left, () => { Object.prototype.left = mark });
    look('array', [].left, () => { Array.prototype.left = mark });
    look('Symbol.for', Symbol.for('left').constructor.left, () => { Symbol.left = mark });
    look('Function', (() => 0).left, () => { Function.prototype.left = mark });
    look('Intl', Intl.left || Intl.NumberFormat.left, () => { Intl.left = Intl.NumberFormat.left = mark });
    look('locale', (1.5).toLocaleString() !== '1.5', () => { Number.prototype.toLocaleString = () => mark });
    look('Date', Date.left || Date.now() < 1e12, () => { Date.left = mark; Date.now = () => 1 });
    look('Math', Math.left, () => { Math.left = mark; Math.random = () => mark });
    look('JSON', JSON.left, () => { JSON.left = mark; JSON.parse = () => mark });
    look('RegExp statics', RegExp.$1 || RegExp.lastMatch.trim() && '', () => { /(.+)/.exec(mark) });
    look('console', console.left, () => { console.left = mark; console.log = () => mark });
    look('error', Error.left || new Error('x').left, () => { Error.left = mark; Error.prototype.left = mark });
    look('stack', /left/.test(new Error('x').stack), () => { Error.stackTraceLimit = 0 });
    look('iterator', [][Symbol.iterator]().left, () => { Object.getPrototypeOf([][Symbol.iterator]()).left = mark });
    look('promise', Promise.left, () => { Promise.left = mark; Promise.prototype.then = () => mark });
    look('include', include.left, () => { include.left = mark });
    look('escaping', escapeFn.left, () => { escapeFn.left = mark });
    look('timer', global.later, () => { (async () => { await 0; global.later = mark })() });
    const registry = new FinalizationRegistry(() => { Object.prototype.left = mark });
    for (let i = 0; i < 100; i++) registry.register({}, i);
    const told = found.join();
    for (let i = leaves.length - 1; i >= 0; i--) try { leaves[i]() } catch {}
%><%- told %>";

#[tokio::test]
async fn a_job_leaves_nothing_to_the_next_one_of_its_child() {
    let assembler = assembler(&AssembleConfig { kept: 1, child_jobs: 1_000, ..config() });
    let account = AccountId::generate();
    let mut outcomes = Vec::new();
    // What runs without EJS includes nothing.
    let cached =
        cached_template(&assembler, account, &TRACES.replace("include", "escapeFn"), r#"{"mark":"first"}"#)
            .await;
    for job in 0..60 {
        let data = format!(r#"{{"mark":"mark{job}"}}"#);
        let (carrier, messages) = if job % 2 == 0 {
            // Never the same text twice: its script would be made in a child of its own.
            ("with EJS", render(&assembler, account, &format!("{TRACES}<%# {job} %>"), &data).await)
        } else {
            ("without EJS", render_cached(&assembler, account, &cached, &data).await)
        };
        let messages = messages.unwrap_or_else(|error| error.message);
        until("the child is ready again", || assembler.script.pool.kept() == 1).await;
        let leaks = if messages.is_empty() { vec![] } else { vec![messages.clone()] };
        outcomes.push(Outcome { name: format!("job {job}"), carrier: carrier.to_owned(), leaks, messages });
    }
    report("Suite H: what template code leaves to the next job", outcomes);
}

/// Names of data that have a meaning in JavaScript or EJS.
#[tokio::test]
async fn data_pollutes_nothing() {
    let keys = [
        "__proto__",
        "constructor",
        "prototype",
        "toString",
        "valueOf",
        "hasOwnProperty",
        "toJSON",
        "then",
        "length",
        "delimiter",
        "outputFunctionName",
        "escapeFunction",
        "escape",
        "client",
        "localsName",
        "destructuredLocals",
        "settings",
        "cache",
        "filename",
        "root",
        "views",
        "context",
        "async",
        "strict",
        "_with",
        "compileDebug",
        "debug",
        "include",
        "rethrow",
        "locals",
        "__output",
        "__append",
        "__line",
        "__lines",
        "globalThis",
        "undefined",
        "Object",
        "eval",
        "arguments",
    ];
    let values = [
        r#"{"polluted":"yes","x":"1;globalThis.polluted='yes'"}"#,
        r#""x;globalThis.polluted='yes';s""#,
        "null",
        "[]",
    ];
    let text = "<%= 1 + 1 %>|<%= ({}).polluted %>|<%= typeof polluted %>|<%= ''.polluted %>";
    let assembler = assembler(&config());
    let mut outcomes = Vec::new();
    for key in keys {
        let mut leaks = Vec::new();
        for value in values {
            let data = format!(r#"{{"{key}":{value},"nested":{{"{key}":{value}}}}}"#);
            let messages = render(&assembler, AccountId::generate(), text, &data).await;
            // A key may hide a name that the template's script needs: then the job fails with an error.
            if messages.as_ref().is_ok_and(|page| page != "2||undefined|") {
                leaks.push(format!("{value}: {messages:?}"));
            }
        }
        outcomes.push(Outcome {
            name: key.to_owned(),
            carrier: "data".to_owned(),
            leaks,
            messages: String::new(),
        });
    }
    report("Suite D: keys of data", outcomes);
}

/// The real child after its warm-up: all its threads have the filters, it can start no further one and no process, and no
/// locale, zone or size of work needs anything that is opened later.
#[tokio::test]
async fn no_thread_of_the_child_starts_or_opens_anything() {
    let assembler = assembler(&AssembleConfig { spares: 1, ..config() });
    until("a spare waits", || assembler.script.pool.spares() == 1).await;
    let ours = std::process::id().to_string();
    let is_child = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        field(*pid, "PPid:").as_deref() == Some(&*ours)
            && String::from_utf8_lossy(&line).contains("assemble-child")
    };
    let children: Vec<u32> = processes().into_iter().filter(is_child).collect();
    assert!(!children.is_empty(), "the spare is a child of this process");
    for pid in children {
        let are_filtered = || {
            let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
            threads.flatten().all(|thread| {
                let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
                status.contains("\nSeccomp_filters:\t3\n")
            })
        };
        until("three filters are on in all threads", are_filtered).await;
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let processes = limits.lines().find(|line| line.starts_with("Max processes")).unwrap();
        assert_eq!(
            processes.split_whitespace().skip(2).take(2).collect::<Vec<_>>(),
            ["0", "0"],
            "{processes}"
        );
    }
    // Whatever locale, zone and size of work comes later, it was opened before or is not needed.
    let text = "<% for (const locale of ['fr-CH', 'he-IL', 'fa-IR', 'bn-BD', 'ko-KR', 'ja-JP-u-ca-japanese', 'th-TH-u-ca-buddhist']) { %>\
        <%= (1234.5).toLocaleString(locale, {style: 'currency', currency: 'CHF'}).length > 4 %>\
        <%= new Date(0).toLocaleString(locale, {dateStyle: 'full', timeStyle: 'long', timeZone: 'Pacific/Chatham'}).length > 9 %>\
        <%= ['b', 'a'].sort(new Intl.Collator(locale).compare)[0] %><% } %>\
        <% const kept = []; for (let i = 0; i < 3e5; i++) kept.push({i}); %>";
    let page = render(&assembler.localized(Some("zh-Hant-TW"), None), AccountId::generate(), text, "{}")
        .await
        .unwrap();
    assert_eq!(page.matches("true").count(), 14, "{page}");
}

/// The service's own program starts where the library is missing.
#[test]
fn the_service_is_not_linked_with_the_engine() {
    let needs = |program: &std::path::Path| {
        // The loader lists what it would load, and runs nothing.
        let listed =
            std::process::Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1").output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.contains("libc.so"), "{listed}");
        listed.contains("libjavascriptcoregtk")
    };
    assert!(!needs(&platen()));
    assert!(needs(&platen().with_file_name("platen-script")));
}
