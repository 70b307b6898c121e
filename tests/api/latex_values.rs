//! Values wherever an author puts them, and documents that another TeX must make.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::unfilled::packed;

const ODD: &str = "\\ { } $ % & # _ ^ ~ < > \" ' ` | [ ] * -- ,, ?` << é “q” – €";

/// Text, titles, captions, formulas, cells, items, edges, tags that hold braces, and addresses.
const EVERYWHERE: &str = r#"\documentclass{article}
<%- preamble %>
\usepackage{amsmath}\usepackage{hyperref}
\hypersetup{pdftitle={<%= odd %>}}
\begin{document}
(<%= odd %>)
\section{S <%= odd %>}\label{<%- latex.key(odd) %>}
\begin{table}[ht]\caption{C <%= odd %>}\end{table}

Formulas: $<%= signs %>$; \[ x_{<%= signs %>} = <%= number %> \]
\begin{align} a &= <%= minus %> <%= dash %> c \end{align}
($<%- latex.formula(money) %>$) ($<%- latex.formula('1,234.5') %>$) ($<%- latex.formula('é_% x') %>$)
$\begin{array}{l} <%= signs %> \\ <%= bracket %> \end{array}$

\begin{tabular}{ll} a & b \\
<%= bracket %> & <%= star %> \\
<%= star %> & c \end{tabular}
\begin{itemize}\item <%= bracket %> \item<%= name %>\end{itemize}

Edges: (-<%= dash %>-) (<%= what %>`) (\bfseries<%= name %>\mdseries) (50\%>) (\hspace{<%= number %>sp})
(\VAR{ name.replace(/[}"]/g, '}') }) (\VAR{`${'{'}a}`}) (\VAR{'x}'}) See \ref{<%- latex.key(odd) %>}.

\href{<%- latex.url(address) %>}{link}\footnote{\url{<%- latex.url(address) %>}}
\end{document}
"#;

#[actix_web::test]
async fn a_value_is_printed_unchanged_in_every_context() {
    let app = TestApp::start().await;
    let values = json!({
        "odd": ODD, "signs": "a_b^c%d<e|f>g\\h{i}#&$~\"'`", "number": -1234.5, "minus": "\u{2212}5", "dash": "-",
        "money": "\u{2212}1,234.50 €", "bracket": "[x]", "star": "*y", "name": "Ada \"}", "what": "what?",
        "address": "https://example.org/a b/ü?x=1&y=50%25&z={q}_~#frag%"
    });
    for (engine, preamble) in [
        ("pdflatex", ""),
        ("pdflatex", "\\usepackage[OT1]{fontenc}"),
        ("pdflatex", "\\usepackage[ngerman]{babel}"),
        ("lualatex", ""),
        ("xelatex", ""),
    ] {
        let mut data = values.clone();
        data["preamble"] = json!(preamble);
        let (view, pdf) = app.typeset("pdf", EVERYWHERE, (data, json!({"engine": engine}))).await;
        assert_eq!(
            (&view["success"], &view["warnings"]),
            (&json!(true), &json!([])),
            "{engine} {preamble}: {view}"
        );
        let text = app.text_of(&pdf).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches(ODD).count(), 3, "{engine} {preamble}: {text}");
        // Formulas have spaces of their own.
        let close: String = text.split_whitespace().collect();
        let signs = "a_b^c%d<e|f>g\\h{i}#&$~\"'`";
        for (expected, count) in [
            (signs, 3),
            ("=\u{2212}1234.5", 1),
            ("a=\u{2212}5\u{2212}c", 1),
            ("(\u{2212}1,234.50€)(1,234.5)(é_%x)", 1),
            ("[x]*y*yc", 1),
            ("Edges:(---)(what?‘)(Ada\"})(50%>)()(Ada}})({a})(x})See1.", 1),
            ("https://example.org/a%20b/%C3%BC?x=1&y=50%25&z=%7Bq%7D_~#frag%25", 1),
        ] {
            assert_eq!(close.matches(expected).count(), count, "{engine} {preamble}, {expected}: {close}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &pdf).unwrap();
        let about = std::process::Command::new("pdfinfo").arg(file.path()).output().unwrap();
        let about = String::from_utf8_lossy(&about.stdout).into_owned();
        assert!(about.contains(&format!("Title:           {ODD}\n")), "{engine} {preamble}: {about}");
    }
}

/// What the page of LaTeX says of values that are no plain text.
#[actix_web::test]
async fn numbers_lists_and_blanks_print_as_the_page_says() {
    let app = TestApp::start().await;
    let source = "\\documentclass{article}\\begin{document}\\raggedright\n\
                  <% for (const one of [...values, true]) { %>(<%= one %>)\\par\n<% } %>\\end{document}";
    let data = r#"{"values": [1.50, 12345678901234567890, 1e-7, "1.50", "007", "12345678901234567890", null, ["a", "b_"], {"a": 1},
        "a  b\tc\nd\r\n\r\ne", "", "50 % & more"]}"#;
    let data: Box<serde_json::value::RawValue> = serde_json::from_str(data).unwrap();
    let expected = "(1.5) (12345678901234567000) (1e-7) (1.50) (007) (12345678901234567890) () (a,b_) ([object Object]) \
                    (a b c d e) () (50 % & more) (true)";
    for target in ["pdf", "html"] {
        let body = format!(
            r#"{{"type": "latex", "target": "{target}", "data": {data}, "template": {}}}"#,
            json!(source)
        );
        let request = app.request(reqwest::Method::POST, "/v1/documents/immediate-render").body(body);
        let (status, answer) = crate::app::read(request.send().await.unwrap()).await;
        let warnings =
            json!(["number loses digits: values[1] has more than JavaScript keeps; send it as a string"]);
        assert_eq!((status, &answer["warnings"]), (200, &warnings), "{target}: {answer}");
        let (_, file) = app.fetch(&answer["url"]).await;
        let text = if target == "pdf" { app.text_of(&file) } else { text_of_page(&file) };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expected), "{target}: {text}");
    }
}

/// What a reader sees of a page without scripts.
fn text_of_page(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let (_, body) = page.split_once("<body").expect("it has a body");
    let parts = body.split('<').filter_map(|part| part.split_once('>'));
    parts.map(|(_, text)| text).collect::<String>().replace("&amp;", "&")
}

#[actix_web::test]
async fn text_has_the_direction_of_its_script_and_breaks_between_characters() {
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    let source = "\\documentclass{article}\\begin{document}\n\\section{<%= hebrew %>}\nHe said <%= hebrew %> (<%= hebrew %>), \
                  twice.\n\n<%= hebrew %> (ABC 12). \\textbf{<%= arabic %>}\n\n<%= chinese.repeat(12) %>\n\n(gap \\the\\labelsep)\n\n\
                  \\begin{description}\\item[<%= term %>] <%= hebrew %>\\end{description}\n\\end{document}";
    let data = json!({"hebrew": "שלום עולם", "term": "צד", "arabic": "مرحبا بالعالم", "chinese": "人人生而自由，在尊严和权利上一律平等。"});
    let (view, pdf) = app.typeset("pdf", source, (data, json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    // Nothing else: no line is too wide, no letter is missing.
    let warnings = view["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().contains("so lualatex made it"), "{view}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &pdf).unwrap();
    let places =
        std::process::Command::new("pdftotext").arg("-bbox").arg(file.path()).arg("-").output().unwrap();
    let places = String::from_utf8(places.stdout).unwrap();
    let left = |word: &str| -> Vec<f64> {
        let lines = places.lines().filter(|line| line.contains(&format!(">{word}<")));
        lines.filter_map(|line| line.split("xMin=\"").nth(1)?.split('"').next()?.parse().ok()).collect()
    };
    // poppler reports each letter that runs from right to left on its own.
    let (first, second) = (left("ש"), left("ע"));
    assert!(
        first.len() >= 4 && first.iter().zip(&second).all(|(one, two)| one > two),
        "{first:?} {second:?}"
    );
    let heading = first[0];
    let (first, second) = (left("צ"), left("ד"));
    assert!(first.len() == 1 && first[0] > second[0], "a term that is described: {first:?} {second:?}");
    let number = left("1");
    assert!(number.iter().any(|at| *at > heading), "a heading begins at the right: {places}");
    let text = app.text_of(&pdf);
    assert!(text.contains("مرحبا بالعالم") && text.contains("(ABC 12)"), "{text}");
    assert!(text.contains("(gap 5.0pt)"), "lists have their gaps behind such paragraphs: {text}");
}

#[actix_web::test]
async fn a_package_that_needs_another_tex_program_gets_it() {
    let app = TestApp::start().await;
    let main = "\\documentclass{article}\\usepackage{house}\\begin{document}<%= text %>\\end{document}";
    let archive =
        |style: &str, main: &str| packed(&[("index.tex", main.as_bytes()), ("house.sty", style.as_bytes())]);
    let data = json!({"text": "Hello"});
    let typeset = async |style: &str, main: &str| -> (Value, Vec<u8>) {
        app.typeset("pdf", archive(style, main), (data.clone(), json!({}))).await
    };
    for (style, program) in [
        ("\\RequirePackage{fontspec}", "lualatex"),
        ("\\RequirePackage{luacode}", "lualatex"),
        ("\\RequirePackage{mathspec}", "xelatex"),
    ] {
        let (view, pdf) = typeset(style, main).await;
        assert_eq!(view["success"], json!(true), "{style}: {view}");
        assert!(view["warnings"][0].as_str().unwrap().starts_with(program), "{style}: {view}");
        assert!(app.text_of(&pdf).contains("Hello"));
    }
    let broken = main.replace("<%= text %>", "\\foo");
    let (view, _) = typeset("\\RequirePackage{fontspec}", &broken).await;
    let error = view["error"].as_str().unwrap();
    for words in [
        "index.tex:1: Undefined control sequence \\foo",
        "said lualatex",
        "because pdflatex said",
        "fontspec",
    ] {
        assert!(error.contains(words), "no {words}: {error}");
    }
}

/// The code that tracks a text's source line has names of its own in the template's script.
#[actix_web::test]
async fn a_member_called_as_one_of_the_engines_names_is_the_authors() {
    let app = TestApp::start().await;
    let text = "\\documentclass{article}\n\\begin{document}\n<% for (const x of [1, 2]) { %>\nlong\ntext\n<% } %>\n\
                (<%= __at %>)\n\\end{document}\n";
    let (view, pdf) = app.typeset("pdf", text, (json!({"__at": "kept"}), json!({}))).await;
    assert_eq!(view["success"], true, "{view}");
    assert!(app.text_of(&pdf).contains("(kept)"));
}
