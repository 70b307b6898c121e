//! Error messages for authors of LaTeX: the line of their own file, what is wrong, and what to do.

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::command_line::platen;
use crate::unfilled::packed;

/// Where the mistake of [`in_a_loop`] is.
const PLACE: &str = "parts/row.tex:3: ";

/// A document with `preamble` and, in an included file that a loop repeats, `mistake`, after values with line breaks.
fn in_a_loop(preamble: &str, mistake: &str) -> Vec<u8> {
    let main = format!(
        "\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n<%- text %> \\VAR{{text}}\n<% for (const item of items) {{ -%>\n\
         <%- include('parts/row.tex', {{item}}) %>\n<% }} -%>\n\\end{{document}}\n"
    );
    let row = format!("\\par\n  \\VAR{{item}} of\n{mistake}\n\nend of <%= item %>\n");
    packed(&[("main.tex", main.as_bytes()), ("parts/row.tex", row.as_bytes())])
}

fn data() -> Value {
    json!({"text": "one\ntwo\n\nthree", "items": ["1\n2", "B & C", "3"]})
}

/// A mistake with its engine and preamble, and words of the expected message.
type Mistake = (&'static str, &'static str, &'static str, &'static [&'static str]);

const MISTAKES: &[Mistake] = &[
    (
        "",
        "",
        "x \\foo y",
        &["Undefined control sequence \\foo", "the package that defines it", "the line is 'x \\foo y'"],
    ),
    ("", "", "a_b", &["Missing $ inserted", "behind 'a_'", "write \\_"]),
    ("", "", "\\alpha", &["Missing $ inserted"]),
    ("", "", "$x^a^b$", &["Double superscript", "x^{a^b}"]),
    ("", "", "$x_a_b$", &["Double subscript"]),
    ("", "", "$$x$ y", &["Display math should end with $$"]),
    ("", "", "$\\left( x$", &["Missing \\right", "has no \\right"]),
    ("", "", "\\begin{tabular}{ll} a & b & c \\\\ \\end{tabular}", &["Extra alignment tab", "more cells"]),
    ("", "", "a & b", &["Misplaced alignment tab character &", "write \\&"]),
    ("", "", "x \\hline", &["Misplaced \\noalign", "directly behind the \\\\"]),
    ("", "", "\\begin{foo}x\\end{foo}", &["Environment foo undefined"]),
    ("", "", "\\begin{center}x\\end{flushleft}", &["ended by \\end{flushleft}", "in the order"]),
    ("", "", "x} y", &["Too many }'s", "the { that is missing"]),
    ("", "", "\\hspace{x}", &["Missing number", "a length was expected"]),
    ("", "", "\\hspace{3}", &["Illegal unit of measure", "write 3cm"]),
    ("", "", "\\begin{itemize}text\\end{itemize}", &["perhaps a missing \\item", "an empty loop"]),
    ("", "", "\\item x", &["Lonely \\item"]),
    (
        "",
        "",
        "\\parbox{3cm}{\\begin{figure}x\\end{figure}}",
        &["Not in outer par mode", "in running text only"],
    ),
    ("", "", "\\newcommand{\\LaTeX}{x}", &["already defined", "\\renewcommand"]),
    ("", "", "\\renewcommand{\\foo}{x}", &["Command \\foo undefined", "use \\newcommand"]),
    ("", "", "\\par\\\\", &["There's no line here to end", "leave it out"]),
    ("", "", "\\setcounter{foo}{1}", &["No counter 'foo' defined", "\\newcounter"]),
    ("", "", "\\usepackage{xcolor}", &["Can be used only in preamble", "before \\begin{document}"]),
    ("", "", "\\verb|x", &["\\verb ended by end of line", "second delimiter"]),
    ("", "", "#", &["macro parameter character #", "write \\#"]),
    ("", "", "\\input{nowhere}", &["File 'nowhere.tex' not found", "beside the template"]),
    ("", "", "\\textbf{opened", &["File ended while scanning use of \\textbf", "the } that is missing"]),
    ("pdflatex", "", "Ω", &["Unicode character", "lualatex has it"]),
    (
        "",
        "\\usepackage{graphicx}",
        "\\includegraphics{a.xyz}",
        &["Unknown graphics extension", "png, jpg and pdf"],
    ),
    ("", "\\usepackage{xcolor}", "\\textcolor{nocolor}{x}", &["Undefined color 'nocolor'", "\\definecolor"]),
    (
        "",
        "\\usepackage{tikz}",
        "\\tikz \\draw[foo=1] (0,0) -- (1,1);",
        &["I do not know the key '/tikz/foo'", "\\usetikzlibrary"],
    ),
    ("", "\\usepackage{siunitx}", "\\qty[foo=1]{1}{\\metre}", &["'siunitx/foo' is unknown", "slip"]),
    ("", "\\usepackage{siunitx}", "\\num{1a}", &["Invalid number '1a'", "decimal point"]),
    ("lualatex", "", "x \\directlua{error('boom')}", &["Lua: boom"]),
    (
        "lualatex",
        "\\usepackage{fontspec}",
        "\\fontspec{No Such Font}",
        &["\"NoSuchFont\" cannot be found", "put the font's file"],
    ),
];

/// An archive or a text, and the place and words of the message.
fn elsewhere() -> Vec<(Vec<u8>, &'static [&'static str])> {
    let text = |preamble: &str, body: &str| {
        format!("\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n")
            .into_bytes()
    };
    let turns = "<%- text %>\n<% items.forEach((item, turn) => { -%>\nRow \\VAR{item} \\\\\n<%- turn === 2 ? '\\\\bad' : 'x' %>\n<% }) -%>";
    let joined = "x\n<%- items.map(item => include('row.tex', {item})).join('\\n sep ') %>";
    let lua = "x\n<% for (const item of items) { -%>\n\\begin{luacode}\nlocal a = 1\n\nerror(\"bad \" .. a)\n\\end{luacode}\n<% } -%>";
    let with = |main: Vec<u8>, name: &str, part: &[u8]| packed(&[("main.tex", &main), (name, part)]);
    vec![
        (text("", turns), &["index.tex:7: Undefined control sequence \\bad", "the line is '<%- turn === 2"]),
        (
            with(text("", joined), "row.tex", b"\\VAR{item}\n\\bad\n"),
            &["row.tex:2: Undefined control sequence \\bad"],
        ),
        (
            with(text("", "x\n<%- include('row.tex') %>"), "row.tex", b"\\textbf{x\n\ny}"),
            &["row.tex:", "Paragraph ended before", "empty line in it"],
        ),
        (
            with(text("", "<%- text %>\\input{part}"), "part.tex", b"one\n\\two"),
            &["part.tex:2: Undefined control sequence \\two"],
        ),
        (
            with(text("", "<%- text %>\\input{part}"), "part.tex", b"one\ntw\xe4hrend x\nmore\n"),
            &["part.tex:2: ", "Invalid UTF-8 byte", "save the file as UTF-8"],
        ),
        (
            text("<%- text.replaceAll(/\\w+/g, '') %>\\usepackage[klingon]{babel}", "x"),
            &["index.tex:2 (in babel.sty): ", "Unknown option 'klingon'", "does not know this language"],
        ),
        (
            text("% nowhere\n\\usepackage{nowhere}\n\\usepackage{xcolor}<%# tag %>", "x"),
            &["index.tex:3: File 'nowhere.sty' not found", "beside the template"],
        ),
        (
            text("\\usepackage{musixtex}", "x"),
            &["index.tex:2: File 'musixtex.sty' not found; the package texlive-music of Debian brings it"],
        ),
        (
            text("\\usepackage{minted}", "x"),
            &["minted: You must invoke", "a document starts no programs here"],
        ),
        (
            text("\\usepackage{xcolor}\\usepackage[dvipsnames]{xcolor}", "x"),
            &["index.tex:2: Option clash for package xcolor", "load it once"],
        ),
        (text("\\usepackage{luacode}", lua), &["index.tex:9: Lua: bad 1"]),
        (text("stray", "x"), &["index.tex:2: Missing \\begin{document}", "stray letters"]),
        (
            text("", "<%- text %>\n\n\\textbf{<%= items[1] %>"),
            &["index.tex:6: File ended while scanning use of \\textbf", "the } that is missing"],
        ),
    ]
}

impl TestApp {
    /// What a document of these options ends with.
    async fn mistaken(&self, template: Vec<u8>, engine: &str) -> Value {
        let options = if engine.is_empty() { json!({}) } else { json!({"engine": engine}) };
        let body = json!({"type": "latex", "target": "pdf", "data": data(), "formatOpts": options});
        let job = self.init(body).await;
        assert_eq!(self.put(&job.template_url.unwrap(), template).await, 200);
        self.finish(&job.id).await
    }
}

#[actix_web::test]
async fn a_mistake_is_reported_by_the_authors_line_in_words_that_say_what_to_do() {
    let app = TestApp::start().await;
    let looped = MISTAKES
        .iter()
        .map(|(engine, preamble, mistake, words)| (in_a_loop(preamble, mistake), *engine, PLACE, *words));
    let cases: Vec<_> =
        looped.chain(elsewhere().into_iter().map(|(template, words)| (template, "", "", words))).collect();
    let wrong: Vec<_> = stream::iter(cases)
        .map(async |(template, engine, place, words)| {
            let view = app.mistaken(template, engine).await;
            let error = view["error"].as_str().unwrap_or_default().to_owned();
            let fits = error.starts_with(place) && words.iter().all(|word| error.contains(word));
            (!fits).then(|| format!("wanted {place}{words:?}\ntold   {view}\n"))
        })
        .buffer_unordered(2)
        .filter_map(async |wrong| wrong)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[actix_web::test]
async fn warnings_repeated_by_a_loop_are_reported_once_at_their_line() {
    let app = TestApp::start().await;
    let loop_of = |turn: &str| {
        format!(
            "\\documentclass{{article}}\n\\begin{{document}}\n<%- text %>\n\n<% for (let turn = 0; turn < 100; turn += 1) {{ -%>\n{turn}\n\n\
             <% }} -%>\n\\end{{document}}\n"
        )
    };
    let body = loop_of(
        "\\mbox{\\rule{<%= 400 + turn %>pt}{1pt}}\n\nSee \\ref{nowhere}.\n\\label{again}\\vbox to 1pt{\\rule{1pt}{20pt}}\n\
         {\\usefont{T1}{cmr}{b}{sc} x}",
    );
    let view = app.mistaken(body.into_bytes(), "").await;
    assert_eq!(view["success"], json!(true), "{view}");
    let warnings = view["warnings"].to_string();
    for words in [
        "index.tex:6: a line is 169.0 pt too wide (100 times)",
        "index.tex:8: the reference 'nowhere' is not defined (100 times)",
        "pt too high (100 times)",
        "the label 'again' is defined more than once",
        "there is no font T1/cmr/b/sc: T1/cmr/b/n was used",
    ] {
        assert!(
            warnings.contains(words) && warnings.matches(&words[..15]).count() == 1,
            "{words}: {warnings}"
        );
    }
    let body = loop_of("<%= turn %>\n<%= '中' %>");
    let view = app.mistaken(body.into_bytes(), "xelatex").await;
    let warnings = view["warnings"].to_string();
    assert!(warnings.contains("index.tex:7: the font") && warnings.contains("'中'"), "{warnings}");
}

#[actix_web::test]
async fn content_that_pandoc_drops_is_reported_by_the_authors_line() {
    let app = TestApp::start().await;
    let job = app.init(json!({"type": "latex", "target": "docx", "data": data()})).await;
    let template = in_a_loop("\\usepackage{graphicx}", "\\includegraphics{none}");
    assert_eq!(app.put(&job.template_url.unwrap(), template).await, 200);
    let view = app.finish(&job.id).await;
    assert!(
        view["warnings"].to_string().contains("parts/row.tex:3: the picture 'none' is not there"),
        "{view}"
    );
}

#[actix_web::test]
async fn a_cached_script_reports_the_authors_lines_too() {
    let app = TestApp::start().await;
    let source = "\\documentclass{article}\n\\begin{document}\n<% for (const item of items) { -%>\n\\VAR{item.name} &\n<% } -%>\n\
                  \\end{document}";
    for _ in 0..5 {
        let data = json!({"items": [{"name": "one\ntwo"}, {"name": "three"}]});
        let body = json!({"type": "latex", "target": "pdf", "template": source, "data": data});
        let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
        assert!(
            status >= 400 && answer.to_string().contains("index.tex:4: Misplaced alignment tab character &"),
            "{answer}"
        );
    }
    app.until("a script was made ahead", async || {
        let metrics =
            app.client.get(format!("{}/metrics", app.base)).send().await.unwrap().text().await.unwrap();
        metrics
            .lines()
            .any(|line| line.contains("scripts") && line.contains("ahead") && !line.ends_with(" 0"))
    })
    .await;
    let body =
        json!({"type": "latex", "target": "pdf", "template": source, "data": {"items": [{"name": "x"}]}});
    let (_, answer) = app.post("/v1/documents/immediate-render", &body).await;
    assert!(answer.to_string().contains("index.tex:4: Misplaced alignment tab character &"), "{answer}");
}

#[actix_web::test]
async fn lint_and_the_info_of_a_saved_template_know_latex() {
    let folder = tempfile::tempdir().unwrap();
    let main = "\\documentclass{article}\n% \\VAR{comment}\n\\begin{document}\n\\VAR{to.name} \\verb|\\VAR{verb}| 100\\% \\VAR{sum}\n\
                \\begin{verbatim}\n\\VAR{shown}\n\\end{verbatim}\n<% for (const item of items) { %><%- include('row.tex', {item}) %><% } \
                %><%- latex.lines(note) %>\n\\end{document}\n";
    for (name, text) in [("main.tex", main), ("row.tex", "x\n\\VAR{item.price}")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let lint = || {
        let output = platen(folder.path(), &[("log.filter", "off")], &["lint", ".", "--json"], b"");
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout).unwrap())
    };
    let (status, report) = lint();
    assert_eq!(
        (status, &report["type"], &report["faults"]),
        (Some(0), &json!("latex"), &json!([])),
        "{report}"
    );
    assert_eq!(report["variables"], json!(["items[].price", "note", "sum", "to.name"]));
    let tags: Vec<_> = report["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (&tag["file"], &tag["line"], &tag["tag"]))
        .collect();
    assert_eq!(tags[0], (&json!("main.tex"), &json!(4), &json!("\\VAR{to.name}")), "{report}");
    assert!(tags.contains(&(&json!("row.tex"), &json!(2), &json!("\\VAR{item.price}"))), "{report}");
    std::fs::write(folder.path().join("row.tex"), "x\n\\VAR{item.price").unwrap();
    let (status, report) = lint();
    let fault = json!([{"file": "row.tex", "line": 2, "tag": "", "message": "the tag '\\VAR{' is never closed with '}'"}]);
    assert_eq!((status, &report["faults"]), (Some(1), &fault), "{report}");
    std::fs::write(folder.path().join("row.tex"), "x\n\n<%= item.price").unwrap();
    assert_eq!(lint().1["faults"][0]["line"], json!(3));
}
