//! Cached scripts: pages and faults are the same with them, they are generated once, and no job influences the script
//! that another one runs.

use bytes::Bytes;
use platen::config::AssembleConfig;
use platen::domain::error::{JobError, Warnings};
use platen::domain::ids::AccountId;
use platen::domain::site::Site;
use platen::engines::ejs::Assembler;
use platen::telemetry::metrics::Metrics;

use crate::assembler::assembler;
use crate::ejs::{config, site};
use crate::processes::{starter, until};

/// An assembler and its metrics.
struct AssemblerFixture {
    assembler: Assembler,
    metrics: Metrics,
}

impl AssemblerFixture {
    fn new(config: &AssembleConfig) -> Self {
        let metrics = Metrics::new();
        Self { assembler: assembler(starter(), config, metrics.children.clone()), metrics }
    }

    async fn assemble(&self, site: &Site, data: &str) -> Result<String, JobError> {
        let page = self
            .assembler
            .assemble(AccountId::generate(), site, &Bytes::from(data.to_owned()), &mut Warnings::default())
            .await?;
        Ok(String::from_utf8(page.to_vec()).unwrap())
    }

    /// The page of a later job, once the scripts of an earlier one are cached.
    async fn assemble_cached(&self, cached: &CachedSite, data: &str) -> Result<String, JobError> {
        until("the scripts are made", || !cached.site.scripts().unwrap().lacks("index.html")).await;
        self.assemble(&cached.site, data).await
    }

    /// How many scripts EJS generated: in jobs, ahead of them.
    fn generated(&self) -> (u64, u64) {
        let of = |made| self.metrics.children.scripts.of([made]).get();
        (of("in_job"), of("ahead"))
    }
}

/// A site whose scripts are cached, and a second handle that keeps the cache alive.
struct CachedSite {
    site: Site,
    _cache: Site,
}

fn cached(files: &[(&str, &str)]) -> CachedSite {
    let site = site(files).keeping_scripts();
    CachedSite { _cache: site.clone(), site }
}

/// Jobs of a template that succeed with `{"ok":true}` and may fail with other data.
const OK: &str = r#"{"ok":true,"list":[1,2,3],"name":"Größe & <Maß> \\ \"q\""}"#;

#[tokio::test]
async fn cached_scripts_make_the_same_pages() {
    let sites: [&[(&str, &str)]; 10] = [
        &[(
            "index.html",
            "<p>\n<% for (const x of list) { %>\n  <td><%= x %></td>\n<% } %>\n<%= name %><%- name %></p>",
        )],
        &[("index.html", "\u{feff}<%= name %>\u{feff}|<%= __lines %>|<%= __filename %>")],
        &[(
            "index.html",
            "a\n  \t<%_ if (ok) { _%>  \t\nb <%= __lines %>\n  <%_ } _%> \n<%# remark %>c -%>\n<%= 1 -%>\nd",
        )],
        &[("index.html", "\u{feff}  <%_ _%>  x<%= escape(__lines) %>\r\n<%- 2 -%>\r\n<% -%>\r\r\nend")],
        &[(
            "index.html",
            "<%% literal %%> <%= 'a' // remark %>\n<%= `€ ${name} 😀` %> \\n \" ' ` \u{2028}\u{2029} 😀",
        )],
        &[
            (
                "index.html",
                "<%- include('p/row', {n: 1}) %><%- include('/foot.html') %><%- include('p/row', {n: 2}) %>",
            ),
            ("p/row.ejs", "\u{feff}  <%_ if (n) { _%>  [<%= n %><%- include('../plain.txt') %>]\n<%_ } _%>"),
            ("plain.txt", "no tags at all\n"),
            ("foot.html", "<%= name %>\n"),
        ],
        &[(
            "index.html",
            "<%= ok %><% if (typeof deep === 'undefined') { %><%- include('index.html', {deep: 1}) %><% } %>",
        )],
        &[
            (
                "index.html",
                "<% try { %><%- include('bad') %><% } catch (e) { %>caught <%= e.message %><% } %>",
            ),
            ("bad.ejs", "<% } %>"),
        ],
        &[
            (
                "index.html",
                "<% try { %><%- include('open') %><% } catch (e) { %>caught <%= e.message %><% } %>",
            ),
            ("open.ejs", "<%= 1"),
        ],
        &[(
            "index.html",
            "<% function f(x) { %>(<%= x %>)<% } %><% f(1); f(2) %>\n<%= 1; %>\n<%- 'raw' ; %>",
        )],
    ];
    let fixture = AssemblerFixture::new(&AssembleConfig { spares: 1, ..config() });
    for files in sites {
        let plain = fixture.assemble(&site(files), OK).await.unwrap();
        let cached = cached(files);
        assert_eq!(fixture.assemble(&cached.site, OK).await.unwrap(), plain);
        let (before, _) = fixture.generated();
        assert_eq!(fixture.assemble_cached(&cached, OK).await.unwrap(), plain, "{files:?}");
        let (after, _) = fixture.generated();
        let broken = files.iter().filter(|(name, _)| *name == "open.ejs").count();
        let plain_text = files.iter().filter(|(name, _)| *name == "plain.txt").count();
        assert_eq!(after - before, (broken + plain_text) as u64, "all others are kept: {files:?}");
    }
}

#[tokio::test]
async fn cached_scripts_report_the_same_faults() {
    let broken = |text: &'static str| ("index.html", text);
    let sites: [&[(&str, &str)]; 9] = [
        &[broken("<p>\n<%= name %>\n\n<% if (!ok) { %>\n<%= customer.street %><% } %>")],
        &[broken("<p>\n  <%_ if (!ok) { _%>  \n\n<%\n  const a = 1;\n  a.b.c;\n%>\n<% } %>")],
        &[broken("\n<% if (!ok) throw null %>")],
        &[broken("\n<% if (!ok) { let f = () => f() + 1; f() } %>")],
        &[broken("a\n<% if (!ok) { %><%- include('bad') %><% } %>"), ("bad.ejs", "\n\n<% } %>")],
        &[broken("a\n<% if (!ok) { %><%- include('bad') %><% } %>"), ("bad.ejs", "\n\n<%= a b %>")],
        &[broken("a\n<% if (!ok) { %><%- include('open') %><% } %>"), ("open.ejs", "\n\n<%= 1")],
        &[
            broken("\n\n<% if (!ok) { %><%- include('parts/table') %><% } %>"),
            ("parts/table.ejs", "\n  <%_ _%>  \n<%- include('row', {n: 1}) %>"),
            ("parts/row.ejs", "<%= n %>\n\n\n<%= m %>"),
        ],
        &[broken("<% if (!ok) { %>\n<%- include('index.html') %><% } %>")],
    ];
    let fixture = AssemblerFixture::new(&AssembleConfig { spares: 1, ..config() });
    for files in sites {
        let expected = fixture.assemble(&site(files), r#"{"ok":false,"name":1}"#).await.unwrap_err();
        let cached = cached(files);
        fixture.assemble(&cached.site, OK).await.unwrap();
        let error = fixture.assemble_cached(&cached, r#"{"ok":false,"name":1}"#).await.unwrap_err();
        assert!(cached.site.script("index.html").is_some());
        assert_eq!((error.code, error.message), (expected.code, expected.message));
    }
}

#[tokio::test]
async fn ejs_generates_once_for_ten_jobs() {
    let files = [
        ("index.html", "<%= n %><%- include('row') %>"),
        ("row.ejs", "[<%= n %>]"),
        ("other.ejs", "<%= 1 %>"),
    ];
    let fixture = AssemblerFixture::new(&config());
    let cached = cached(&files);
    assert_eq!(fixture.assemble(&cached.site, r#"{"n":0}"#).await.unwrap(), "0[0]");
    for n in 1..10 {
        assert_eq!(
            fixture.assemble_cached(&cached, &format!("{{\"n\":{n}}}")).await.unwrap(),
            format!("{n}[{n}]")
        );
    }
    assert_eq!(
        fixture.generated(),
        (2, 2),
        "the first job's two, and the same ahead: nobody reads the third one"
    );

    // Nothing is generated ahead for a site of one job, nor for one that nothing else keeps.
    let once = site(&files);
    let nobody = site(&files).keeping_scripts();
    for site in [&once, &once, &nobody, &nobody] {
        fixture.assemble(site, r#"{"n":0}"#).await.unwrap();
    }
    assert_eq!(fixture.generated(), (10, 2));
    assert!(nobody.scripts().unwrap().begin(), "nobody began");
}

#[tokio::test]
async fn files_that_later_jobs_read_first_are_generated_after_those() {
    let files = [
        ("index.html", "<%= n %><% if (n > 0) { %><%- include('row') %><% } %>"),
        ("row.ejs", "[<%= n %>]"),
        ("huge.ejs", &format!("<%= 1 %>{}", "x".repeat(20 << 20))),
    ];
    let fixture = AssemblerFixture::new(&config());
    let cached = cached(&files);
    assert_eq!(fixture.assemble(&cached.site, r#"{"n":0}"#).await.unwrap(), "0");
    assert_eq!(fixture.assemble_cached(&cached, r#"{"n":1}"#).await.unwrap(), "1[1]");
    let scripts = cached.site.scripts().unwrap();
    until("the row is made", || !scripts.lacks("row.ejs")).await;
    assert_eq!(fixture.assemble(&cached.site, r#"{"n":2}"#).await.unwrap(), "2[2]");
    assert_eq!(fixture.generated(), (2, 2));
    assert!(scripts.lacks("huge.ejs"), "nobody reads it");
}

/// Replaces what EJS uses while it generates scripts, and tells the data wherever it can.
const HOSTILE: &str = "<%
  const told = 'told ' + secret;
  const global = ''.constructor.constructor('return this')();
  const lie = function () { return told };
  const ways = {
    text: () => { String.prototype.replace = lie },
    tags: () => { RegExp.prototype.exec = () => null },
    lines: () => { Array.prototype.forEach = lie; Array.prototype.push = lie; String.prototype.lastIndexOf = lie },
    names: () => { Map.prototype.get = lie; Set.prototype.has = lie; Object.defineProperty = lie },
    global: () => { global.Function = lie; global.JSON = {stringify: lie}; global.Date = lie; global.ejs = lie },
    function: () => { Function.prototype.call = lie; Function.prototype.apply = lie },
    members: () => { for (const name of ['source', 'text', 'templateText', 'cache']) Object.prototype[name] = told },
    setters: () => {
      for (const name of ['source', 'text', 'name', 'time', '0', '1']) {
        Object.defineProperty(Object.prototype, name, {get: lie, set() {}, configurable: true});
      }
    },
  };
  for (const way in ways) if (how === way || how === 'all') ways[way]();
%>";

#[tokio::test]
async fn no_job_influences_the_script_of_another() {
    let files = [
        (
            "index.html",
            "<% if (locals.secret) { %><%- include('evil') %><% } %><p><%= name %></p><%- include('b') %>",
        ),
        ("evil.ejs", HOSTILE),
        ("b.ejs", "<b>\"<%= name %>\"</b>\n"),
    ];
    let clean = AssemblerFixture::new(&config());
    let reference = cached(&files);
    let expected = clean.assemble(&reference.site, r#"{"name":"N"}"#).await.unwrap();
    assert_eq!(clean.assemble_cached(&reference, r#"{"name":"N"}"#).await.unwrap(), expected);

    let harmless = r#"{"name":"N","secret":"s3cret","how":"none"}"#;
    clean.assemble(&reference.site, harmless).await.unwrap();
    until("all are made", || !reference.site.scripts().unwrap().lacks("evil.ejs")).await;

    let ways = ["text", "tags", "lines", "names", "global", "function", "members", "setters", "all"];
    let mut spoilt = 0;
    for how in ways {
        // The hostile job's child is kept for its account, for which scripts are generated.
        let fixture = AssemblerFixture::new(&AssembleConfig { kept: 4, ..config() });
        let (account, cached) = (AccountId::generate(), cached(&files));
        let data = Bytes::from(format!(r#"{{"name":"N","secret":"s3cret","how":"{how}"}}"#));
        let page = fixture.assembler.assemble(account, &cached.site, &data, &mut Warnings::default()).await;
        spoilt += u32::from(page.is_ok_and(|page| page != expected));
        // Where the hostile job failed altogether, the next job generates the scripts.
        assert_eq!(fixture.assemble(&cached.site, r#"{"name":"N"}"#).await.unwrap(), expected);
        assert_eq!(fixture.assemble_cached(&cached, r#"{"name":"N"}"#).await.unwrap(), expected);
        fixture.assemble(&cached.site, harmless).await.unwrap();
        until("all are made", || !cached.site.scripts().unwrap().lacks("evil.ejs")).await;
        for (path, _) in files {
            let script = cached.site.script(path).unwrap();
            assert_eq!(Some(script), reference.site.script(path), "{how}: {path}");
            assert!(!String::from_utf8_lossy(&script.source).contains("s3cret"));
        }
    }
    assert!(
        spoilt >= 2,
        "some spoil what EJS generates, and have pages, after which scripts are made: {spoilt}"
    );
}

/// Template code may have changed the child that it ran in, so scripts must not be generated there.
#[tokio::test]
async fn scripts_are_generated_in_a_fresh_child() {
    let fixture = AssemblerFixture::new(&AssembleConfig { spares: 0, kept: 4, processes: 2, ..config() });
    let account = AccountId::generate();
    let data = Bytes::from_static(b"{}");
    // Of two that are the same the script would be made as well.
    let job = async |text| {
        let once = site(&[("index.html", text)]);
        fixture.assembler.assemble(account, &once, &data, &mut Warnings::default()).await
    };
    let jobs = tokio::join!(job("<%= 1 %>"), job("<%= 2 %>"));
    assert!(jobs.0.is_ok() && jobs.1.is_ok());
    until("two children are kept", || fixture.assembler.script.pool.kept() == 2).await;
    let cached = cached(&[("index.html", "<%= 1 %>")]);
    fixture.assembler.assemble(account, &cached.site, &data, &mut Warnings::default()).await.unwrap();
    until("a third one had to be started", || fixture.assembler.script.pool.kept() == 3).await;
    assert!(cached.site.script("index.html").is_some());
}

/// A mere syntax check may run a script: the text closes the function that it is wrapped in.
#[tokio::test]
async fn no_template_code_runs_while_scripts_are_generated() {
    let calm = "<% ''.constructor.constructor('return this')().calm = true;\
        try { %><%- include('escape') %><% } catch {} %><%= 1 %>";
    let escape = "<% if (0) { %><%= 1 %><% } } } finally {} }); while (typeof calm === 'undefined') {} \
        (function () { try { with ({}) { %>";
    let files = [("index.html", calm), ("escape.ejs", escape)];
    let fixture = AssemblerFixture::new(&AssembleConfig { timeout_ms: 3_000, ..config() });
    let cached = cached(&files);
    fixture.assemble(&cached.site, "{}").await.unwrap();
    fixture.assemble_cached(&cached, "{}").await.unwrap();
    assert!(cached.site.script("escape.ejs").is_some());
    assert_eq!(fixture.generated(), (2, 2));
}

#[tokio::test]
async fn limits_hold_while_scripts_are_generated() {
    // EJS looks for blanks before such a tag from every blank anew.
    let slow = format!("{}<%= 1 %><%_ _%>", " ".repeat(20_000));
    let files = [("index.html", "<%- include('slow').trim() %>"), ("slow.ejs", &slow)];
    let fixture =
        AssemblerFixture::new(&AssembleConfig { timeout_ms: 60_000, ahead_timeout_ms: 10, ..config() });
    let cached = cached(&files);
    let ended = fixture.metrics.children.jobs.of(["assemble", "deadline"]);
    let mut jobs = 0;
    // Where no process is ready within 10 ms, generation is left to the next job.
    while ended.get() == 0 {
        assert!(jobs < 20, "the making was never ended");
        assert_eq!(fixture.assemble(&cached.site, "{}").await.unwrap(), "1");
        jobs += 1;
    }
    assert_eq!(fixture.assemble(&cached.site, "{}").await.unwrap(), "1");
    assert!(cached.site.scripts().unwrap().lacks("index.html"));
    assert_eq!(fixture.generated(), (2 * (jobs + 1), 0), "it is generated in jobs only");
    assert_eq!(ended.get(), 1, "it is not tried again");
}

/// What comes with each job again is generated in two of them, whatever their data.
#[tokio::test]
async fn a_text_that_an_account_sends_repeatedly_is_generated_once() {
    let fixture = AssemblerFixture::new(&AssembleConfig { spares: 1, ..config() });
    let account = AccountId::generate();
    let job = async |text: &str, data: &'static str| {
        let (site, data) = (site(&[("index.html", text)]), Bytes::from_static(data.as_bytes()));
        let page = fixture.assembler.assemble(account, &site, &data, &mut Warnings::default()).await;
        page.map(|page| String::from_utf8(page.to_vec()).unwrap())
    };
    let text = "<p>\n<% for (const x of list) { %>\n<b><%= x %></b><% } %>\n<%= customer.name %></p>";
    let data = r#"{"list":["<a>",2],"customer":{"name":"Ö"}}"#;
    let page = job(text, data).await.unwrap();
    assert_eq!(page, "<p>\n\n<b>&lt;a&gt;</b>\n<b>2</b>\nÖ</p>");
    assert_eq!(job(text, data).await.unwrap(), page);
    until("its script is made", || fixture.generated() == (2, 1)).await;
    assert_eq!(job(text, data).await.unwrap(), page);
    // Faults are reported by EJS, which is loaded for that.
    let error = job(text, r#"{"list":[]}"#).await.unwrap_err().to_string();
    assert!(error.contains("index.html:4: 'customer' is not defined"), "{error}");
    assert_eq!(fixture.generated(), (2, 1));
}
