//! Scripts that are kept: pages and faults are the same with them, they are generated once, and no job has a say in
//! what another one runs.

use bytes::Bytes;
use platen::config::AssembleConfig;
use platen::domain::fault::{JobFault, Warnings};
use platen::domain::ids::AccountId;
use platen::domain::site::Site;
use platen::engines::ejs::Assembler;
use platen::slots::AccountShare;
use platen::telemetry::metrics::Metrics;

use crate::ejs::{config, site};
use crate::processes::{starter, until};

/// An assembler, and what it counts.
struct Lab {
    assembler: Assembler,
    metrics: Metrics,
}

impl Lab {
    fn new(config: &AssembleConfig) -> Self {
        let metrics = Metrics::new();
        Self {
            assembler: Assembler::new(starter(), config, AccountShare::whole(), metrics.children.clone()),
            metrics,
        }
    }

    async fn assemble(&self, site: &Site, data: &str) -> Result<String, JobFault> {
        let page = self
            .assembler
            .assemble(AccountId::generate(), site, &Bytes::from(data.to_owned()), &mut Warnings::default())
            .await?;
        Ok(String::from_utf8(page.to_vec()).unwrap())
    }

    /// The page of a job that somebody else has had before, so that its scripts are kept.
    async fn again(&self, kept: &Kept, data: &str) -> Result<String, JobFault> {
        until("the scripts are made", || !kept.site.scripts().unwrap().lacks("index.html")).await;
        self.assemble(&kept.site, data).await
    }

    /// How many scripts EJS generated: in jobs, ahead of them.
    fn generated(&self) -> (u64, u64) {
        let of = |made| self.metrics.children.scripts.of([made]).get();
        (of("in_job"), of("ahead"))
    }
}

/// A site and whoever keeps it.
struct Kept {
    site: Site,
    _cache: Site,
}

fn kept(files: &[(&str, &str)]) -> Kept {
    let site = site(files).keeping_scripts();
    Kept { _cache: site.clone(), site }
}

/// Jobs of a template that succeed with `{"ok":true}` and may fail with other data.
const OK: &str = r#"{"ok":true,"list":[1,2,3],"name":"Größe & <Maß> \\ \"q\""}"#;

#[tokio::test]
async fn pages_are_the_same() {
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
    let lab = Lab::new(&AssembleConfig { spares: 1, ..config() });
    for files in sites {
        let plain = lab.assemble(&site(files), OK).await.unwrap();
        let kept = kept(files);
        assert_eq!(lab.assemble(&kept.site, OK).await.unwrap(), plain);
        let (before, _) = lab.generated();
        assert_eq!(lab.again(&kept, OK).await.unwrap(), plain, "{files:?}");
        let (after, _) = lab.generated();
        let broken = files.iter().filter(|(name, _)| *name == "open.ejs").count();
        let plain_text = files.iter().filter(|(name, _)| *name == "plain.txt").count();
        assert_eq!(after - before, (broken + plain_text) as u64, "all others are kept: {files:?}");
    }
}

#[tokio::test]
async fn faults_are_the_same() {
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
    let lab = Lab::new(&AssembleConfig { spares: 1, ..config() });
    for files in sites {
        let expected = lab.assemble(&site(files), r#"{"ok":false,"name":1}"#).await.unwrap_err();
        let kept = kept(files);
        lab.assemble(&kept.site, OK).await.unwrap();
        let fault = lab.again(&kept, r#"{"ok":false,"name":1}"#).await.unwrap_err();
        assert!(kept.site.script("index.html").is_some());
        assert_eq!((fault.code, fault.message), (expected.code, expected.message));
    }
}

#[tokio::test]
async fn ejs_generates_once_for_ten_jobs() {
    let files = [
        ("index.html", "<%= n %><%- include('row') %>"),
        ("row.ejs", "[<%= n %>]"),
        ("other.ejs", "<%= 1 %>"),
    ];
    let lab = Lab::new(&config());
    let kept = kept(&files);
    assert_eq!(lab.assemble(&kept.site, r#"{"n":0}"#).await.unwrap(), "0[0]");
    for n in 1..10 {
        assert_eq!(lab.again(&kept, &format!("{{\"n\":{n}}}")).await.unwrap(), format!("{n}[{n}]"));
    }
    assert_eq!(
        lab.generated(),
        (2, 2),
        "the first job's two, and the same ahead: nobody reads the third one"
    );

    // A site of one job is as ever: nothing is made for nobody.
    let once = site(&files);
    let nobody = site(&files).keeping_scripts();
    for site in [&once, &once, &nobody, &nobody] {
        lab.assemble(site, r#"{"n":0}"#).await.unwrap();
    }
    assert_eq!(lab.generated(), (10, 2));
    assert!(nobody.scripts().unwrap().begin(), "nobody began");
}

#[tokio::test]
async fn what_only_later_jobs_read_is_made_after_them() {
    let files = [
        ("index.html", "<%= n %><% if (n > 0) { %><%- include('row') %><% } %>"),
        ("row.ejs", "[<%= n %>]"),
        ("huge.ejs", &format!("<%= 1 %>{}", "x".repeat(20 << 20))),
    ];
    let lab = Lab::new(&config());
    let kept = kept(&files);
    assert_eq!(lab.assemble(&kept.site, r#"{"n":0}"#).await.unwrap(), "0");
    assert_eq!(lab.again(&kept, r#"{"n":1}"#).await.unwrap(), "1[1]");
    let scripts = kept.site.scripts().unwrap();
    until("the row is made", || !scripts.lacks("row.ejs")).await;
    assert_eq!(lab.assemble(&kept.site, r#"{"n":2}"#).await.unwrap(), "2[2]");
    assert_eq!(lab.generated(), (2, 2));
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
async fn no_job_has_a_say_in_what_another_runs() {
    let files = [
        (
            "index.html",
            "<% if (locals.secret) { %><%- include('evil') %><% } %><p><%= name %></p><%- include('b') %>",
        ),
        ("evil.ejs", HOSTILE),
        ("b.ejs", "<b>\"<%= name %>\"</b>\n"),
    ];
    let clean = Lab::new(&config());
    let reference = kept(&files);
    let expected = clean.assemble(&reference.site, r#"{"name":"N"}"#).await.unwrap();
    assert_eq!(clean.again(&reference, r#"{"name":"N"}"#).await.unwrap(), expected);

    let harmless = r#"{"name":"N","secret":"s3cret","how":"none"}"#;
    clean.assemble(&reference.site, harmless).await.unwrap();
    until("all are made", || !reference.site.scripts().unwrap().lacks("evil.ejs")).await;

    let ways = ["text", "tags", "lines", "names", "global", "function", "members", "setters", "all"];
    let mut spoilt = 0;
    for how in ways {
        // The hostile job's child is kept for its account, which is the one that scripts are made for.
        let lab = Lab::new(&AssembleConfig { kept: 4, ..config() });
        let (account, kept) = (AccountId::generate(), kept(&files));
        let data = Bytes::from(format!(r#"{{"name":"N","secret":"s3cret","how":"{how}"}}"#));
        let page = lab.assembler.assemble(account, &kept.site, &data, &mut Warnings::default()).await;
        spoilt += u32::from(page.is_ok_and(|page| page != expected));
        // Where it spoilt its own job altogether, the next one has them made.
        assert_eq!(lab.assemble(&kept.site, r#"{"name":"N"}"#).await.unwrap(), expected);
        assert_eq!(lab.again(&kept, r#"{"name":"N"}"#).await.unwrap(), expected);
        lab.assemble(&kept.site, harmless).await.unwrap();
        until("all are made", || !kept.site.scripts().unwrap().lacks("evil.ejs")).await;
        for (path, _) in files {
            let script = kept.site.script(path).unwrap();
            assert_eq!(Some(script), reference.site.script(path), "{how}: {path}");
            assert!(!String::from_utf8_lossy(&script.source).contains("s3cret"));
        }
    }
    assert!(
        spoilt >= 2,
        "some spoil what EJS generates, and have pages, after which scripts are made: {spoilt}"
    );
}

/// A child that a template's code has run in may be no more what it was.
#[tokio::test]
async fn scripts_are_made_in_a_child_without_a_past() {
    let lab = Lab::new(&AssembleConfig { spares: 0, kept: 4, processes: 2, ..config() });
    let account = AccountId::generate();
    let data = Bytes::from_static(b"{}");
    // Of two that are the same the script would be made as well.
    let job = async |text| {
        let once = site(&[("index.html", text)]);
        lab.assembler.assemble(account, &once, &data, &mut Warnings::default()).await
    };
    let jobs = tokio::join!(job("<%= 1 %>"), job("<%= 2 %>"));
    assert!(jobs.0.is_ok() && jobs.1.is_ok());
    until("two children are kept", || lab.assembler.pool().kept() == 2).await;
    let kept = kept(&[("index.html", "<%= 1 %>")]);
    lab.assembler.assemble(account, &kept.site, &data, &mut Warnings::default()).await.unwrap();
    until("a third one had to be started", || lab.assembler.pool().kept() == 3).await;
    assert!(kept.site.script("index.html").is_some());
}

/// What only parses a script may run it: the text closes the function that it is put into.
#[tokio::test]
async fn nothing_of_a_template_runs_while_scripts_are_made() {
    let calm = "<% ''.constructor.constructor('return this')().calm = true;\
        try { %><%- include('escape') %><% } catch {} %><%= 1 %>";
    let escape = "<% if (0) { %><%= 1 %><% } } } finally {} }); while (typeof calm === 'undefined') {} \
        (function () { try { with ({}) { %>";
    let files = [("index.html", calm), ("escape.ejs", escape)];
    let lab = Lab::new(&AssembleConfig { timeout_ms: 3_000, ..config() });
    let kept = kept(&files);
    lab.assemble(&kept.site, "{}").await.unwrap();
    lab.again(&kept, "{}").await.unwrap();
    assert!(kept.site.script("escape.ejs").is_some());
    assert_eq!(lab.generated(), (2, 2));
}

#[tokio::test]
async fn limits_hold_for_the_making_too() {
    // EJS looks for blanks before such a tag from every blank anew.
    let slow = format!("{}<%= 1 %><%_ _%>", " ".repeat(20_000));
    let files = [("index.html", "<%- include('slow').trim() %>"), ("slow.ejs", &slow)];
    let lab = Lab::new(&AssembleConfig { timeout_ms: 60_000, ahead_timeout_ms: 10, ..config() });
    let kept = kept(&files);
    let ended = lab.metrics.children.jobs.of(["assemble", "deadline"]);
    let mut jobs = 0;
    // Where no process is ready within 10 ms the making is left to the next job.
    while ended.get() == 0 {
        assert!(jobs < 20, "the making was never ended");
        assert_eq!(lab.assemble(&kept.site, "{}").await.unwrap(), "1");
        jobs += 1;
    }
    assert_eq!(lab.assemble(&kept.site, "{}").await.unwrap(), "1");
    assert!(kept.site.scripts().unwrap().lacks("index.html"));
    assert_eq!(lab.generated(), (2 * (jobs + 1), 0), "it is generated in jobs only");
    assert_eq!(ended.get(), 1, "it is not tried again");
}

/// What comes with each job again is generated in two of them, whatever their data.
#[tokio::test]
async fn a_text_that_an_account_sends_again_and_again_is_generated_once_for_all() {
    let lab = Lab::new(&AssembleConfig { spares: 1, ..config() });
    let account = AccountId::generate();
    let job = async |text: &str, data: &'static str| {
        let (site, data) = (site(&[("index.html", text)]), Bytes::from_static(data.as_bytes()));
        let page = lab.assembler.assemble(account, &site, &data, &mut Warnings::default()).await;
        page.map(|page| String::from_utf8(page.to_vec()).unwrap())
    };
    let text = "<p>\n<% for (const x of list) { %>\n<b><%= x %></b><% } %>\n<%= customer.name %></p>";
    let data = r#"{"list":["<a>",2],"customer":{"name":"Ö"}}"#;
    let page = job(text, data).await.unwrap();
    assert_eq!(page, "<p>\n\n<b>&lt;a&gt;</b>\n<b>2</b>\nÖ</p>");
    assert_eq!(job(text, data).await.unwrap(), page);
    until("its script is made", || lab.generated() == (2, 1)).await;
    assert_eq!(job(text, data).await.unwrap(), page);
    // What fails is told as ever: by EJS, which is loaded for it.
    let told = job(text, r#"{"list":[]}"#).await.unwrap_err().to_string();
    assert!(told.contains("index.html:4: 'customer' is not defined"), "{told}");
    assert_eq!(lab.generated(), (2, 1));
}
