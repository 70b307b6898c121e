//! What BibTeX, biber and makeindex read, write and run for a document that wants them to. biber evaluates replacements of
//! source maps as Perl, so code of the document's runs in its process: what holds is the cage.

use super::{PlantedFiles, document, leaks, made_of};
use crate::app::{TestApp, descendants};
use crate::canary::Canary;
use crate::service::text_of;
use crate::table::{Outcome, report};

const BOOKS: &str = "@book{a, title = {x}, author = {b}, year = 2000}\n";
/// A style that prints each title.
const STYLE: &str = "ENTRY {title}{}{}\nREAD\nFUNCTION {f} {\"\\bibitem{\" cite$ * \"}\" * title * write$ newline$}\nITERATE {f}\n";

/// A document that does `code`, with these files beside it.
type Attack = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Code that has biber evaluate this as Perl. What it answers is the title of a cited book.
macro_rules! perl {
    ($code:literal) => {
        concat!(r"\cite{a}\printbibliography\PERL{", $code, "}")
    };
}

const ATTACKS: &[Attack] = &[
    (
        "bibtex: a database of ours",
        r"\cite{secret}\bibliographystyle{s}\bibliography{FOLDER/secret}",
        &[("s.bst", STYLE)],
    ),
    (
        "bibtex: a database that goes up",
        r"\cite{secret}\bibliographystyle{plain}\bibliography{../../../../../../../../../../../../etc/passwd}",
        &[],
    ),
    (
        "bibtex: a style of ours",
        r"\cite{a}\bibliographystyle{FOLDER/secret}\bibliography{b}",
        &[("b.bib", BOOKS)],
    ),
    (
        "bibtex: an aux of ours",
        r"\makeatletter\immediate\write\@auxout{\string\@input{FOLDER/secret.tex}\string\citation{a}\string\bibdata{b}\string\bibstyle{plain}}",
        &[("b.bib", BOOKS)],
    ),
    (
        "bibtex: names that are options",
        r"\immediate\write-1{^^JNo file -min-crossrefs=1.bbl.^^JNo file ../x.bbl.^^JNo file FOLDER/written.bbl.^^J}\newwrite\x\immediate\openout\x=-o.aux \immediate\write\x{\string\bibdata{b}}",
        &[("b.bib", BOOKS)],
    ),
    (
        "makeindex: a style of ours",
        r"\makeindex[options=-s FOLDER/secret.ist]\index{a}\printindex",
        &[("%imakeidx", "")],
    ),
    (
        "makeindex: options that write",
        r"\makeindex[options=-o FOLDER/written -t FOLDER/transcript -p any]\index{a}\printindex",
        &[("%imakeidx", "")],
    ),
    (
        "makeindex: an index elsewhere",
        r"\immediate\write-1{^^JWriting index file FOLDER/secret.idx^^JWriting index file -o.idx^^JWriting index file ../x.idx^^J}",
        &[],
    ),
    (
        "makeindex: glossaries elsewhere",
        r"\makeatletter\immediate\write\@auxout{\string\providecommand\string\@istfilename[1]{}^^J\string\providecommand\string\@newglossary[4]{}^^J\string\@istfilename{FOLDER/secret.ist}^^J\string\@newglossary{m}{l}{/../../FOLDER/written}{tex}^^J\string\@newglossary{m}{l}{x -o FOLDER/written}{tex}}",
        &[],
    ),
    ("biber: perl makes a folder", perl!("mkdir q(FOLDER/made)"), &[("b.bib", BOOKS)]),
    (
        "biber: perl writes",
        perl!("do{open(F,q(|).q(touch FOLDER/run));open(F,q(+).chr(62),q(FOLDER/written))}"),
        &[("b.bib", BOOKS)],
    ),
    ("biber: perl runs", perl!("system(q(touch FOLDER/run))"), &[("b.bib", BOOKS)]),
    (
        "biber: perl runs perl",
        perl!("system(q(/usr/bin/perl),q(-e),q(mkdir q(FOLDER/made)))"),
        &[("b.bib", BOOKS)],
    ),
    ("biber: perl becomes", perl!("exec(q(/bin/touch),q(FOLDER/run))"), &[("b.bib", BOOKS)]),
    ("biber: perl reads", perl!("do{local(\\string@ARGV)=q(/etc/passwd);readline()}"), &[("b.bib", BOOKS)]),
    (
        "biber: perl reads ours",
        perl!("do{local(\\string@ARGV)=q(FOLDER/secret.tex);readline()}"),
        &[("b.bib", BOOKS)],
    ),
    (
        "biber: perl lists folders",
        perl!(
            "map{q(GOT)}grep{!/\\string^(main|b|texmf-var)/}(glob(q(FOLDER/*)),glob(q(/etc/*)),glob(q(/var/*)))"
        ),
        &[("b.bib", BOOKS)],
    ),
    ("biber: perl removes", perl!("unlink(q(FOLDER/secret.tex))"), &[("b.bib", BOOKS)]),
    (
        "biber: perl links",
        perl!(
            "do{unlink(q(main.bbl),q(main.aux));symlink(q(FOLDER/secret.tex),q(main.bbl));symlink(q(/etc/passwd),q(main.aux))}"
        ),
        &[("b.bib", BOOKS)],
    ),
    (
        "biber: perl of processes",
        perl!(
            "do{kill(9,getppid());map{open(F,$_)?q(GOT):q()}q(/proc/1/environ),q(/proc/self/environ),q(/dev/mem)}"
        ),
        &[("b.bib", BOOKS)],
    ),
    (
        "biber: perl connects",
        perl!("do{require+IO::Socket::INET;IO::Socket::INET-\\string>new(q(127.0.0.1:PORT))?q(GOT):q()}"),
        &[("b.bib", BOOKS)],
    ),
    (
        "biber: code in a pattern",
        r"\cite{a}\printbibliography\PATTERN{(?{mkdir q(FOLDER/made)})}",
        &[("b.bib", BOOKS)],
    ),
    ("biber: a database of ours", r"\cite{secret}\printbibliography\SOURCE{FOLDER/secret.bib}", &[]),
    ("biber: databases by a pattern", r"\cite{secret}\printbibliography\SOURCES{FOLDER/*.bib}", &[]),
    (
        "biber: a database that is a command",
        r"\cite{a}\printbibliography\SOURCES{$(touch FOLDER/run)`touch FOLDER/run`|touch FOLDER/run}",
        &[],
    ),
    ("biber: a remote database", r"\cite{a}\printbibliography\REMOTE{HTTP/x.bib}", &[]),
    (
        "biber: a configuration",
        r"\cite{a}\printbibliography\SOURCE{b.bib}",
        &[
            ("b.bib", BOOKS),
            (
                "biber.conf",
                "<config><sourcemap><maps datatype=\"bibtex\"><map><map_step map_field_source=\"title\" map_match=\"x\" map_replace=\"GOT\"/></map></maps></sourcemap></config>",
            ),
        ],
    ),
    (
        "biber: entities",
        r"\cite{a}\printbibliography\XML{b.bltxml}",
        &[(
            "b.bltxml",
            "<!DOCTYPE e [<!ENTITY x SYSTEM \"file://FOLDER/secret.tex\"><!ENTITY y SYSTEM \"HTTP/y\">]>\n<bltx:entries xmlns:bltx=\"http://biblatex-biber.sourceforge.net/biblatexml\"><bltx:entry id=\"a\" entrytype=\"book\"><bltx:title>&x;&y;</bltx:title></bltx:entry></bltx:entries>",
        )],
    ),
    (
        "biber: a control file of its own",
        r"\CONTROL{<!DOCTYPE e [<!ENTITY x SYSTEM 'file://FOLDER/secret.tex'>]><bcf:controlfile xmlns:bcf='https://sourceforge.net/projects/biblatex'>&x;</bcf:controlfile>}",
        &[],
    ),
];

/// Documents with limits: a name, the code, files beside it, and words of the message.
const BOMBS: &[(Attack, &str)] = &[
    (
        (
            "bibtex: a loop",
            r"\cite{a}\bibliographystyle{s}\bibliography{b}",
            &[
                ("b.bib", BOOKS),
                ("s.bst", "ENTRY {}{}{}\nREAD\nFUNCTION {f} {{#1} {skip$} while$}\nEXECUTE {f}\n"),
            ],
        ),
        "tex.processor_limit_s",
    ),
    (
        (
            "bibtex: doubled texts",
            r"\cite{a}\bibliographystyle{s}\bibliography{b}",
            &[
                ("b.bib", BOOKS),
                (
                    "s.bst",
                    "ENTRY {}{}{}\nREAD\nSTRINGS {t}\nFUNCTION {f} {\"x\" 't := {#1} {t t * 't := t write$} while$}\nEXECUTE {f}\n",
                ),
            ],
        ),
        "",
    ),
    (("biber: a loop", perl!("do{1 while 1}"), &[("b.bib", BOOKS)]), "tex.processor_limit_s"),
    (("biber: memory", perl!("do{my $t=q(x)x 1e9;q()}"), &[("b.bib", BOOKS)]), "tex.memory_limit_mb"),
    (("biber: processes", perl!("do{fork while 1}"), &[("b.bib", BOOKS)]), "the document"),
    (("biber: processes that stay", perl!("do{fork||do{sleep 600};q()}"), &[("b.bib", BOOKS)]), ""),
    (
        ("biber: words", perl!("do{print q(x)x 9e6;print q(x)x 9e6;q()}"), &[("b.bib", BOOKS)]),
        "tex.printed_limit_bytes",
    ),
    (
        (
            "biber: a billion laughs",
            r"\cite{a}\printbibliography\XML{b.bltxml}",
            &[(
                "b.bltxml",
                "<!DOCTYPE e [<!ENTITY a \"hahahahahahahahaha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\"><!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\"><!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\"><!ENTITY g \"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\"><!ENTITY h \"&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;\">]>\n<bltx:entries xmlns:bltx=\"http://biblatex-biber.sourceforge.net/biblatexml\"><bltx:entry id=\"a\" entrytype=\"book\"><bltx:title>&h;</bltx:title></bltx:entry></bltx:entries>",
            )],
        ),
        "",
    ),
    (("biber: doubled strings", r"\cite{a}\printbibliography\SOURCE{b.bib}", &[("b.bib", "DOUBLED")]), ""),
    (
        (
            "biber: a pattern that tries all ways",
            r"\cite{a}\printbibliography\PATTERN{(x+x+)+y}",
            &[(
                "b.bib",
                "@book{a, author={b}, title={xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxz}}",
            )],
        ),
        "",
    ),
];

const SLEEP: Attack = ("biber: a sleep", perl!("sleep 600"), &[("b.bib", BOOKS)]);

/// The files of an attack: placeholders for a source, a source map or a control file are filled in.
fn files(code: &str, others: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut preamble = String::new();
    let mut code = code.to_owned();
    let mut take = |command: &str| {
        let at = code.find(command)?;
        let argument = code[at + command.len() + 1..].strip_suffix('}')?.to_owned();
        code.truncate(at);
        Some(argument)
    };
    let biblatex = |source: &str| format!("\\usepackage{{biblatex}}\\addbibresource{source}");
    let map = |step: &str| {
        format!(
            "{}\\DeclareSourcemap{{\\maps{{\\map{{\\step[fieldsource=title,{step}]}}}}}}",
            biblatex("{b.bib}")
        )
    };
    if let Some(perl) = take("\\PERL") {
        preamble = map(&format!("match=x,replace={{\\string@\\string{{[{perl}]\\string}}}}"));
    } else if let Some(pattern) = take("\\PATTERN") {
        preamble = map(&format!("match=\\regexp{{{pattern}}},replace={{y}}"));
    } else if let Some(source) = take("\\SOURCES") {
        preamble = biblatex(&format!("[glob=true]{{{source}}}"));
    } else if let Some(source) = take("\\SOURCE") {
        preamble = biblatex(&format!("{{{source}}}"));
    } else if let Some(source) = take("\\REMOTE") {
        preamble = biblatex(&format!("[location=remote]{{{source}}}"));
    } else if let Some(source) = take("\\XML") {
        preamble = biblatex(&format!("[datatype=biblatexml]{{{source}}}"));
    } else if let Some(control) = take("\\CONTROL") {
        preamble = format!(
            "\\AtEndDocument{{\\newwrite\\x\\immediate\\openout\\x=main.bcf \\begingroup\\catcode`\\&=12 \\catcode`\\#=12 \
             \\immediate\\write\\x{{\\detokenize{{{control}}}}}\\endgroup\\immediate\\closeout\\x}}"
        );
    }
    let mut files: Vec<_> = Vec::new();
    for (name, content) in others {
        match name.strip_prefix('%') {
            // Such a command belongs before the document.
            Some(package) => {
                let (before, behind) = code.split_once(']').unwrap();
                preamble = format!("\\usepackage{{{package}}}{before}]");
                code = behind.to_owned();
            }
            None => files.push(((*name).to_owned(), (*content).to_owned())),
        }
    }
    let source = document(&code).replace("\\begin{document}", &format!("{preamble}\n\\begin{{document}}"));
    files.push(("main.tex".to_owned(), source));
    files
}

async fn outcome(
    app: &TestApp,
    (name, code, others): &Attack,
    canary: &Canary,
    planted: &PlantedFiles,
) -> (Outcome, serde_json::Value) {
    let folder = planted.path().display().to_string();
    let doubled: Vec<_> = (1..60).map(|n| format!("@string{{s{n} = s{} # s{}}}", n - 1, n - 1)).collect();
    let doubled = doubled.join("\n");
    let doubled = format!("@string{{s0 = {{xxxxxxxxxxxxxxxx}}}}\n{doubled}\n@book{{a, title = s59}}\n");
    let files: Vec<_> = files(code, others)
        .into_iter()
        .map(|(name, text)| (name, canary.aim(&text.replace("FOLDER", &folder).replace("DOUBLED", &doubled))))
        .collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let (view, pdf) = made_of(app, "pdflatex", &files).await;
    let mut leaks = leaks(&view, &pdf);
    leaks.extend(planted.changes());
    leaks.extend(canary.hits());
    leaks.extend((view["errorCode"] == "internal").then(|| view.to_string()));
    let messages =
        view["error"].as_str().map_or_else(|| format!("made: {}", view["warnings"]), str::to_owned);
    (Outcome { name: (*name).to_owned(), carrier: "lists".to_owned(), leaks, messages }, view)
}

/// A document with a bibliography of each kind and an index.
async fn good(app: &TestApp) {
    let (view, pdf) = made_of(app, "pdflatex", &[
        ("b.bib", BOOKS),
        ("main.tex", "\\documentclass{article}\\usepackage{biblatex}\\addbibresource{b.bib}\\usepackage{makeidx}\\makeindex\
                      \\begin{document}\\cite{a}\\index{apple}\\printbibliography\\printindex\\end{document}"),
    ])
    .await;
    let text = text_of(&pdf);
    assert!(
        view["warnings"] == serde_json::json!([]) && text.contains("2000") && text.contains("apple, 1"),
        "{view}"
    );
}

#[actix::test]
async fn lists_are_made_without_reading_writing_or_running_anything_of_this_machine() {
    let (app, canary) = (TestApp::with(&[("tex.timeout_ms", "100000")]).await, Canary::listen());
    let mut outcomes = Vec::new();
    for attack in ATTACKS {
        outcomes.push(outcome(&app, attack, &canary, &PlantedFiles::new()).await.0);
    }
    good(&app).await;
    report("suites A, B, D for LaTeX: lists", outcomes);
}

#[actix::test]
async fn an_endless_list_is_stopped_and_the_next_one_is_made() {
    let app = TestApp::with(&[
        // Of the processor's time, so that a busy machine has what is good end well.
        ("tex.processor_limit_s", "4"),
        ("tex.timeout_ms", "100000"),
        ("tex.memory_limit_mb", "400"),
        ("tex.files_limit_mb", "32"),
        ("tex.files_limit", "300"),
    ])
    .await;
    let (canary, planted) = (Canary::listen(), PlantedFiles::new());
    let mut outcomes = Vec::new();
    for (attack, words) in BOMBS {
        let (mut outcome, _) = outcome(&app, attack, &canary, &planted).await;
        let messages = &outcome.messages;
        outcome.leaks.extend((!messages.contains(words)).then(|| format!("no '{words}' in: {messages}")));
        outcomes.push(outcome);
    }
    good(&app).await;
    let hurried = TestApp::with(&[("tex.timeout_ms", "8000")]).await;
    let (mut outcome, _) = outcome(&hurried, &SLEEP, &canary, &planted).await;
    let messages = &outcome.messages;
    outcome.leaks.extend((!messages.contains("tex.timeout_ms")).then(|| format!("no deadline: {messages}")));
    outcomes.push(outcome);
    for app in [&app, &hurried] {
        let is_over = async || descendants(app.pid()).iter().all(|(pid, _)| !is_maker(*pid));
        app.until("none of them is left", is_over).await;
    }
    report("suite D for LaTeX: what a list may take", outcomes);
}

fn is_maker(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    ["bibtex", "bibtex.original", "biber", "perl", "makeindex", "pdflatex"].contains(&name.trim())
}
