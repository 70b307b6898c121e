//! LaTeX as HTML and as Word documents, by pandoc: their content, warnings and errors.

use std::io::{Cursor, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::app::{TestApp, bounded};
use crate::command_line::platen;
use crate::latex::{PNG, document};
use crate::missing_engine::Hidden;
use crate::small_disk::rerun_in_mount_namespace;
use crate::unfilled::packed;

const ARTICLE: &str = r"\documentclass{article}
\usepackage[ngerman]{babel}
\graphicspath{{pictures/}}
\usepackage{amsmath,graphicx,house}
\title{Über \VAR{subject}}
\author{Ada \& Bo}
\begin{document}
\maketitle
\tableofcontents
\section{Anfang}\label{begin}
Siehe \ref{end}, \autoref{dot}, Tabelle~\ref{table}, \eqref{two} und \cite{knuth}: <%= text %>. \house
\begin{align} a &= b \label{one} \\ c &= d \label{two} \end{align}
\begin{figure}\centering\includegraphics[width=2cm]{dot}\caption{Ein Punkt}\label{dot}\end{figure}
\begin{table}\begin{tabular}{lS} Wort & Zahl \\ eins & \fbox{1} \end{tabular}\caption{Werte}\label{table}\end{table}
\section{Ende}\label{end}
\input{part}
\bibliographystyle{plainnat}
\bibliography{books}
\end{document}
";
const BOOKS: &str = "@book{knuth, author={Donald E. Knuth}, title={The TeXbook}, year={1984}}";

fn article(name: &str) -> Vec<u8> {
    packed(&[
        (name, ARTICLE.as_bytes()),
        ("house.sty", b"\\newcommand\\house{Unser Haus.}"),
        ("part.tex", b"Ein Teil mit \\strange{x} und\n\\begin{tikzpicture}\n\\draw (0,0);\n\\end{tikzpicture} \\ref{nowhere}."),
        ("books.bib", BOOKS.as_bytes()),
        ("pictures/dot.png", &STANDARD.decode(PNG).unwrap()),
    ])
}

fn data() -> Value {
    json!({"subject": "Maß & Zahl", "text": "<script>alert(1)</script> 5 % of $x_1$"})
}

/// A part of a Word document.
pub fn part(document: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(document)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// What is between the marks.
fn text_of(markup: &str) -> String {
    let pieces = markup.split('<').filter_map(|piece| piece.split_once('>'));
    let text: String = pieces.map(|(mark, text)| if mark == "/w:p" { "\n" } else { text }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[actix_web::test]
async fn an_article_becomes_one_html_file_numbered_as_the_pdf_is() {
    let app = TestApp::start().await;
    let (view, html) = app.typeset("html", article("main.tex"), (data(), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    let html = String::from_utf8(html).unwrap();
    for words in [
        "<html lang=\"de\">",
        "<title>Über Maß &amp; Zahl</title>",
        "<nav> <ul> <li><a href=\"#begin\" id=\"toc-begin\"><span class=\"toc-section-number\">1</span> Anfang</a>",
        "<p class=\"author\">Ada &amp; Bo</p>",
        "Siehe <a href=\"#end\">2</a>, <a href=\"#dot\">Abbildung\u{a0}1</a>, Tabelle\u{a0}<a href=\"#table\">1</a>, <a \
         href=\"#two\">(2)</a>",
        "(Knuth 1984)",
        "Donald E. 1984. <em>The TeXbook</em>",
        "<math display=\"block\"",
        "<span>(1)</span><span>(2)</span>",
        "<figcaption>Abbildung\u{a0}1: Ein Punkt</figcaption>",
        "<caption>Tabelle\u{a0}1: Werte</caption>",
        "<td style=\"text-align: right;\">1</td>",
        "src=\"data:image/png;base64,iVBOR",
        "&lt;script&gt;alert(1)&lt;/script&gt; 5 % of $x_1$. Unser Haus.",
        "Ein Teil mit",
    ] {
        assert!(one_line(&html).contains(words), "no {words}: {html}");
    }
    assert!(
        !html.contains("<script")
            && !html.contains("src=\"http")
            && html.contains("default-src &#39;none&#39;"),
        "{html}"
    );
    assert_eq!(
        view["warnings"],
        json!([
            "part.tex:1: \\strange was left out with its arguments; pandoc makes nothing of it",
            "part.tex:2: the environment tikzpicture was left out with all that is in it; pandoc makes nothing of it",
            "part.tex:4: the reference 'nowhere' is not defined",
        ])
    );
}

#[actix_web::test]
async fn metadata_and_locale_are_written_unchanged() {
    let app = TestApp::start().await;
    let metadata =
        json!({"title": "T_1 & <ü> *x*", "author": "A \\ B", "subject": "1. S", "keywords": "k, l"});
    let options = json!({"metadata": metadata, "locale": "fr-FR"});
    let source = document("", "\\section{A}\\label{a} \\autoref{a}\\begin{figure}\\caption{C}\\end{figure}");
    let (view, html) = app.typeset("html", source, (json!({}), options.clone())).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let html = String::from_utf8(html).unwrap();
    for words in [
        "<html lang=\"fr-FR\">",
        "<title>T_1 &amp; &lt;ü&gt; *x*</title>",
        "name=\"author\" content=\"A \\ B\"",
        "name=\"description\" content=\"1. S\"",
        "name=\"keywords\" content=\"k, l\"",
        "Figure\u{a0}1: C",
    ] {
        assert!(html.contains(words), "no {words}: {html}");
    }
    // Of Word they are properties, and the page keeps its own title.
    let titled = document(
        "\\usepackage{hyperref}\\hypersetup{pdftitle={PDF of <%= who %>, \\emph{s}}, pdfauthor=No}\\title{On \\emph{paper}}\\author{Ada\\thanks{Of a school} \
         \\and Bo}\\date{May}",
        "\\maketitle x $\\begin{pmatrix} a \\end{pmatrix}$ \\footnote{$\\begin{pmatrix} b \\end{pmatrix}$}\n\
         \\begin{thebibliography}{1}\\bibitem{book} A book.\\end{thebibliography}",
    );
    let (view, docx) = app.typeset("docx", titled.clone(), (json!({"who": ""}), options)).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let (properties, notes) = (part(&docx, "docProps/core.xml"), part(&docx, "word/footnotes.xml"));
    assert!(text_of(&notes).contains("Of a school"), "the note that the author's sign leads to: {notes}");
    for words in [
        "<dc:title>T_1 &amp; &lt;ü&gt; *x*</dc:title>",
        "<dc:creator>A \\ B</dc:creator>",
        "<dc:subject>1. S</dc:subject>",
        "<cp:keywords>k, l</cp:keywords>",
    ] {
        assert!(properties.contains(words), "no {words}: {properties}");
    }
    let body = part(&docx, "word/document.xml");
    let text = text_of(&body);
    assert!(text.starts_with("On paper Ada Bo May x") && text.contains("[1]A book."), "{body}");
    // The order of the format, which is not pandoc's.
    for formulas in [body, part(&docx, "word/footnotes.xml")] {
        assert!(
            formulas.contains("<m:mcPr><m:count m:val=\"1\" /><m:mcJc m:val=\"center\" /></m:mcPr>"),
            "{formulas}"
        );
    }
    let custom = part(&docx, "docProps/custom.xml");
    assert!(
        custom.contains("<Properties") && !custom.contains("<property"),
        "nothing is a property of its own: {custom}"
    );
    // Or what the document has hyperref say.
    let data_and_options = (json!({"who": "A & {B} ^ \\"}), json!({"metadata": {"author": "Me"}}));
    let (_, docx) = app.typeset("docx", titled.clone(), data_and_options.clone()).await;
    let properties = part(&docx, "docProps/core.xml");
    let own = "<dc:title>PDF of A &amp; {B} ^ \\, s</dc:title><dc:creator>Me</dc:creator>";
    assert!(properties.contains(own), "{properties}");
    let (_, html) = app.typeset("html", titled, data_and_options).await;
    let html = String::from_utf8(html).unwrap();
    for words in ["<title>PDF of A &amp; {B} ^ \\, s</title>", "content=\"Me\"", ">On <em>paper</em></h1>"] {
        assert!(html.contains(words), "no {words}: {html}");
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

#[actix_web::test]
async fn an_article_becomes_a_word_document_in_default_or_own_styles() {
    let app = TestApp::start().await;
    let (view, docx) = app.typeset("docx", article("index.tex"), (data(), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    let body = part(&docx, "word/document.xml");
    let text = text_of(&body);
    for words in [
        "Über Maß &amp; Zahl",
        "Siehe 2, Abbildung 1, Tabelle 1, (2) und (Knuth 1984)",
        "Abbildung 1: Ein Punkt",
        "Knuth, Donald E. 1984.",
    ] {
        assert!(text.contains(words), "no {words}: {text}");
    }
    for mark in ["w:val=\"Heading1\"", "<m:oMath>", "<pic:pic", "<w:tbl>", "w:val=\"Equation\""] {
        assert!(body.contains(mark), "no {mark}: {body}");
    }
    let properties = part(&docx, "docProps/core.xml");
    assert!(
        properties.contains("<dc:title>Über Maß &amp; Zahl</dc:title>")
            && properties.contains("Ada &amp; Bo"),
        "{properties}"
    );
    assert!(part(&docx, "word/styles.xml").contains("Equation"), "the styles are ours");
    // What it was made of is a Word document with the author's styles for the next one.
    // A document whose styles the author brings.
    let source = document("", "\\section{A}");
    let with = |reference: &[u8]| packed(&[("main.tex", source.as_bytes()), ("reference.docx", reference)]);
    let (view, again) = app.typeset("docx", with(&docx), (json!({}), json!({}))).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    assert!(text_of(&part(&again, "word/document.xml")).contains("1A"));
    let (view, _) = app.typeset("docx", with(b"no document"), (json!({}), json!({}))).await;
    assert_eq!(view["errorCode"], json!("template_error"), "{view}");
}

#[actix_web::test]
async fn a_pdf_figure_becomes_a_picture_and_an_unusable_one_is_reported_with_its_line() {
    let app = TestApp::start().await;
    let (view, pdf) = app.typeset("pdf", document("", "a plot"), (json!({}), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    let body = "\\includegraphics[width=3cm]{plots/plot}\n\\includegraphics{old.eps}\n\\includegraphics{https://example.org/a.png}\n\
                \\includegraphics{/etc/passwd}\n\\includegraphics{none}\n\\includegraphics{broken.pdf}";
    let source = document("", body);
    let files: [(&str, &[u8]); 4] = [
        ("main.tex", source.as_bytes()),
        ("plots/plot.pdf", &pdf),
        ("old.eps", b"%!PS"),
        ("broken.pdf", b"%PDF-"),
    ];
    let (view, html) = app.typeset("html", packed(&files), (json!({}), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    let html = String::from_utf8(html).unwrap();
    assert!(
        html.matches("src=\"data:image/png;base64,").count() == 1 && html.contains("width:3cm"),
        "{html}"
    );
    let warnings: Vec<_> =
        view["warnings"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let begun = [
        "main.tex:5: the picture 'old.eps' was left out",
        "main.tex:6: the picture 'https://example.org/a.png' was left out: nothing is fetched",
        "main.tex:7: the picture '/etc/passwd' is not there",
        "main.tex:8: the picture 'none' is not there",
        "main.tex:9: the picture 'broken.pdf' was left out",
    ];
    assert!(
        warnings.len() == begun.len()
            && warnings.iter().zip(begun).all(|(line, begun)| line.starts_with(begun)),
        "{warnings:?}"
    );
}

#[actix_web::test]
async fn an_error_names_file_and_line_and_a_limit_its_key() {
    // Of the processor's time, so that a busy machine has what is good end well.
    let app = TestApp::with(&[("pandoc.processor_limit_s", "5"), ("pandoc.timeout_ms", "100000")]).await;
    for (body, code, words) in [
        ("a\n\n{ \\textbf{x", "template_error", "index.tex:7: pandoc cannot read this: unexpected \\end"),
        ("\\def\\a{\\a\\a}\\a", "template_error", "the macro \\a calls itself"),
        ("\\bibliography{none}\\cite{x}", "template_error", "the bibliography 'none.bib' is not there"),
        (
            "\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{xxxxxxxxxxxxxxxxxxxx\\a}\\a",
            "template_limit",
            "(pandoc.",
        ),
    ] {
        let (view, _) = app.typeset("html", document("", body), (json!({}), json!({}))).await;
        assert_eq!(view["errorCode"], json!(code), "{body}: {view}");
        assert!(view["error"].as_str().unwrap().contains(words), "{body}: {view}");
    }
    let (view, _) = app.typeset("docx", document("", "next"), (json!({}), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
}

#[actix_web::test]
async fn citations_are_numbered_or_named_as_the_style_says() {
    let app = TestApp::start().await;
    let books = "@book{b, author={Zoe Zett}, title={Last}, year={2001}}\n@book{a, author={Al Aha}, title={First}, year={2002}}";
    let text = async |body: &str| {
        let files = [("main.tex", document("", body)), ("all.bib", books.to_owned())];
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let (view, html) = app.typeset("html", packed(&files), (json!({}), json!({}))).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{body}: {view}");
        let html = String::from_utf8(html).unwrap();
        text_of(html.split("<main>").nth(1).unwrap())
    };
    let cited = "See \\cite{b} and \\cite[p.~5]{a}.";
    let of = async |style: &str| {
        text(&format!("{cited}\\bibliographystyle{{{style}}}\\bibliography{{all}}")).await
    };
    assert!(of("plain").await.starts_with("See [2] and [1, p."), "{}", of("plain").await);
    assert!(of("unsrt").await.starts_with("See [1] and [2, p."), "{}", of("unsrt").await);
    assert!(
        of("plainnat").await.starts_with("See (Zett 2001) and (Aha 2002, 5)"),
        "{}",
        of("plainnat").await
    );
    let list = "\\begin{thebibliography}{9}\\bibitem{a} A.\n\\bibitem{b} B.\\end{thebibliography}";
    let own = text(&format!("{cited}{list}")).await;
    assert!(own.starts_with("See [2] and [1, p.") && own.contains("References [1] A. [2] B."), "{own}");
}

#[test]
fn the_command_line_makes_them_too() {
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("note.tex");
    std::fs::write(&template, document("", "\\section{Note} to \\VAR{name}: $x^2$")).unwrap();
    std::fs::write(folder.path().join("data.json"), r#"{"name": "Ada"}"#).unwrap();
    for (target, start) in [("html", &b"<!DOCTYPE html>"[..]), ("docx", b"PK")] {
        let made = format!("note.{target}");
        let arguments = ["render", "note.tex", "--type", "latex", "--data", "data.json", "-o", &made];
        let output = platen(folder.path(), &[], &arguments, b"");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(std::fs::read(folder.path().join(made)).unwrap().starts_with(start));
    }
}

#[actix_web::test]
async fn without_pandoc_its_conversions_are_refused_with_what_to_install_and_others_work() {
    if rerun_in_mount_namespace(
        "latex_pandoc::without_pandoc_its_conversions_are_refused_with_what_to_install_and_others_work",
    )
    .is_some()
    {
        return;
    }
    let hidden = Hidden::over(Path::new("/usr/local/lib/platen/pandoc"));
    let app = TestApp::start().await;
    for target in ["html", "docx"] {
        let (status, problem) =
            app.post("/v1/documents/init", &json!({"type": "latex", "target": target})).await;
        assert_eq!((status, &problem["code"]), (422, &json!("unsupported_conversion")), "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.contains("pandoc is not installed") && detail.contains("scripts/setup --latex"),
            "{detail}"
        );
    }
    let doctor = app.set(bounded()).arg("doctor").output().unwrap();
    let found = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(found.contains("pandoc") && found.contains("latex to docx, html"), "{found}");
    let (view, _) = app.typeset("pdf", document("", "x"), (json!({}), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    drop(hidden);
    let wanted = json!({"type": "latex", "target": "html"});
    app.until("it is seen", async || app.post("/v1/documents/init", &wanted).await.0 == 200).await;
}

#[actix_web::test]
async fn a_workbook_of_latex_is_refused_and_word_and_html_are_made_without_tex() {
    let app = TestApp::start().await;
    let (status, problem) = app.post("/v1/documents/init", &json!({"type": "latex", "target": "xlsx"})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("unsupported_conversion")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("jpg, png, pptx, docx, html, pdf"), "{problem}");
    let doctor = platen(app.scratch(), &[], &["doctor", "--matrix"], b"");
    let matrix = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for cell in
        ["latex      docx  ejs > pandoc", "latex      html  ejs > pandoc", "latex      pdf   ejs > tex "]
    {
        assert!(matrix.contains(cell), "{matrix}");
    }
}
