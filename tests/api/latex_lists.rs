//! Bibliographies, indexes and glossaries of LaTeX, which other programs make between the runs of TeX.

use std::path::Path;

use serde_json::{Value, json};

use crate::app::{TestApp, bounded};
use crate::latex::document;
use crate::missing_engine::Hidden;
use crate::small_disk::rerun_in_mount_namespace;
use crate::unfilled::packed;

const BOOKS: &str = "@book{knuth,\n  author = {Donald E. Knuth},\n  title = {The {\\TeX}book},\n  publisher = {Addison},\n  \
                     year = 1984,\n}\n@book{lamport,\n  author = {Leslie Lamport},\n  title = {Document},\n  publisher = \
                     {Addison},\n  year = 1994,\n}\n";

impl TestApp {
    /// What becomes of `main.tex` with other files beside it.
    async fn typeset_with_files(&self, main: &str, others: &[(&str, &str)]) -> (Value, String) {
        let files: Vec<_> = others.iter().copied().chain([("main.tex", main)]).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let (view, pdf) = self.typeset("pdf", packed(&files), (json!({"key": "knuth"}), json!({}))).await;
        let text = if pdf.is_empty() { String::new() } else { self.text_of(&pdf) };
        (view, text)
    }

    /// The text of such a document that is made without a warning, in one space between words.
    async fn typeset_without_warnings(&self, main: &str, others: &[(&str, &str)]) -> String {
        let (view, text) = self.typeset_with_files(main, others).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// On a busy machine biber alone takes its time.
async fn app_with_long_timeouts() -> TestApp {
    TestApp::with(&[("tex.timeout_ms", "120000")]).await
}

fn contains_all(text: &str, wanted: &[&str]) {
    for words in wanted {
        assert!(text.contains(words), "no '{words}': {text}");
    }
}

#[actix_web::test]
async fn a_bibliography_of_bibtex_is_made_and_references_to_it_are_right() {
    let app = app_with_long_timeouts().await;
    let body = "\\tableofcontents\\newpage\\section{One}See \\cite{<%- key %>} and \\cite{lamport} on page \
                \\pageref{end}.\\include{parts/two}\\bibliographystyle{plain}\\bibliography{books}\\label{end}";
    let others = [("books.bib", BOOKS), ("parts/two.tex", "\\section{Two}Again \\cite{knuth}.")];
    // TeX writes the `.aux` of an included file into that file's folder, which must exist.
    let text = app.typeset_without_warnings(&document("", body), &others).await;
    contains_all(
        &text,
        &["See [1] and [2] on page 4.", "Again [1].", "References [1] Donald E. Knuth. The TEXbook."],
    );
    // An entry that no database has is reported once, with the line that cites it.
    let body =
        "See \\cite{knuth}\n\\cite{nowhere}.\\nocite{never}\\bibliographystyle{plain}\\bibliography{books}";
    let (view, text) = app.typeset_with_files(&document("", body), &others).await;
    contains_all(&text, &["See [1] [?]", "Donald E. Knuth"]);
    let warnings = [
        "main.tex:5: the citation 'nowhere' is not defined: no database has an entry of that name",
        "main.tex:5: the citation 'never' is not defined: no database has an entry of that name",
    ];
    assert_eq!(view["warnings"], json!(warnings), "{view}");
}

#[actix_web::test]
async fn each_bibliography_of_a_document_is_made() {
    let app = app_with_long_timeouts().await;
    let body = "\\cite{knuth} \\citeweb{lamport}\\bibliographystyle{plain}\\bibliography{books}\
                \\bibliographystyleweb{alpha}\\bibliographyweb{books}";
    let preamble = "\\usepackage{multibib}\\newcites{web}{On the web}";
    let text = app.typeset_without_warnings(&document(preamble, body), &[("books.bib", BOOKS)]).await;
    contains_all(&text, &["[1] [Lam94]", "References [1] Donald", "On the web [Lam94] Leslie"]);
}

#[actix_web::test]
async fn a_bibliography_of_biblatex_is_made_by_biber() {
    let app = app_with_long_timeouts().await;
    let preamble = "\\usepackage[style=authoryear]{biblatex}\\addbibresource{books.bib}";
    let body = "\\parencite{<%- key %>} and \\textcite{lamport}, \\cite{new}.\\printbibliography";
    let books = format!(
        "{BOOKS}@online{{new, author = {{Ånäs Ólafur}}, title = {{Nýtt}}, date = {{2020-02-03}}, url = {{x}}}}"
    );
    let text = app.typeset_without_warnings(&document(preamble, body), &[("books.bib", &books)]).await;
    contains_all(
        &text,
        &["(Knuth 1984) and Lamport (1994), Ólafur 2020.", "References Knuth, Donald E. (1984)."],
    );
    let body = "\\cite{knuth}\n\\cite{nowhere}\\printbibliography";
    let (view, text) = app.typeset_with_files(&document(preamble, body), &[("books.bib", &books)]).await;
    contains_all(&text, &["Knuth, Donald E. (1984)"]);
    let warning = "main.tex:5: the citation 'nowhere' is not defined: no database has an entry of that name";
    assert_eq!(view["warnings"], json!([warning]), "{view}");
    // A document without citations needs no database: one warning.
    let (view, _) = app
        .typeset_with_files(&document(preamble, "none\\printbibliography"), &[("books.bib", &books)])
        .await;
    assert_eq!(view["warnings"], json!(["main.tex:4: LaTeX: Empty bibliography"]), "{view}");
}

#[actix_web::test]
async fn faults_of_a_database_are_reported_with_its_line() {
    let app = app_with_long_timeouts().await;
    let broken = format!("{BOOKS}@book{{bad,\n  title = {{x}}\n  year = 2000,\n}}\n");
    let bibtex = document("", "\\cite{knuth}\\bibliographystyle{plain}\\bibliography{books}");
    let biblatex =
        document("\\usepackage{biblatex}\\addbibresource{books.bib}", "\\cite{knuth}\\printbibliography");
    for (source, words) in
        [(&bibtex, "books.bib:15: BibTeX was expecting"), (&biblatex, "books.bib:15: syntax error")]
    {
        let (view, text) = app.typeset_with_files(source, &[("books.bib", &broken)]).await;
        contains_all(&text, &["[1]", "Knuth"]);
        assert!(view["warnings"][0].as_str().unwrap().starts_with(words), "{view}");
        assert_eq!(view["warnings"].as_array().unwrap().len(), 1, "{view}");
        // Without a good entry there is no bibliography, and no document.
        let (view, _) = app.typeset_with_files(source, &[("books.bib", &broken[BOOKS.len()..])]).await;
        assert_eq!(view["errorCode"], json!("template_error"), "{view}");
        assert!(view["error"].as_str().unwrap().starts_with(&words.replace("15", "3")), "{view}");
        let (view, _) = app.typeset_with_files(source, &[]).await;
        assert_eq!(
            view["error"],
            json!("File 'books.bib' not found; put it beside the template, in one archive")
        );
    }
    let (view, _) =
        app.typeset_with_files(&bibtex.replace("{plain}", "{house}"), &[("books.bib", BOOKS)]).await;
    assert!(view["error"].as_str().unwrap().starts_with("File 'house.bst' not found; put it"), "{view}");
    let remote =
        biblatex.replace("source{books.bib}", "source[location=remote]{http://127.0.0.1:9/books.bib}");
    let (view, _) = app.typeset_with_files(&remote, &[]).await;
    let message = view["error"].as_str().unwrap();
    assert!(
        message.starts_with("'http://127.0.0.1:9/books.bib' is not fetched, for documents reach no network"),
        "{view}"
    );
}

#[actix_web::test]
async fn a_bibliography_that_the_template_brings_is_kept_where_it_brings_no_database() {
    let app = app_with_long_timeouts().await;
    let own = "\\begin{thebibliography}{1}\\bibitem{knuth} My own words.\\end{thebibliography}";
    let main = document("", "\\cite{knuth}\\bibliographystyle{plain}\\bibliography{books}");
    let text = app.typeset_without_warnings(&main, &[("main.bbl", own)]).await;
    contains_all(&text, &["[1]", "My own words."]);
    let text = app.typeset_without_warnings(&main, &[("main.bbl", own), ("books.bib", BOOKS)]).await;
    assert!(text.contains("Donald") && !text.contains("My own"), "{text}");
    let main = document("\\usepackage{makeidx}\\makeindex", "\\index{apple}\\printindex");
    let own = "\\begin{theindex}\\item my index\\end{theindex}";
    assert!(app.typeset_without_warnings(&main, &[("main.ind", own)]).await.contains("my index"));
    let text = app.typeset_without_warnings(&main, &[("main.ind", own), ("main.idx", "")]).await;
    assert!(text.contains("apple, 1") && !text.contains("my index"), "{text}");
}

#[actix_web::test]
async fn indexes_are_sorted_each_in_its_style_with_the_pages_that_are_right_at_last() {
    let app = app_with_long_timeouts().await;
    let preamble =
        "\\usepackage{imakeidx}\\makeindex[options=-s dots.ist]\\makeindex[name=people,title=People]";
    // All is a page further on once there are contents.
    let body = "\\IfFileExists{main.toc}{x\\newpage}{}\\tableofcontents\\newpage\\section{One}\\index{pear}\
                \\newpage\\index{apple}\\index{pear!green}\\index[people]{Ada}\
                x\\newpage\\printindex\\printindex[people]";
    let style = "delim_0 \" \\\\dotfill \"\n";
    let text = app.typeset_without_warnings(&document(preamble, body), &[("dots.ist", style)]).await;
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no '{words}': {text}"));
    assert!(at("Index apple . . .") < at("pear . . .") && at("pear") < at("green, 4"), "{text}");
    contains_all(&text, &["People Ada, 4"]);
    let main = document("\\usepackage{makeidx}\\makeindex", "x\\index{good}\\index{a|\"}\\printindex");
    let (view, text) = app.typeset_with_files(&main, &[]).await;
    contains_all(&text, &["good, 1"]);
    let warning = "the entry 'a|\"' of the index: Incomplete first argument (premature LFD)";
    assert_eq!(view["warnings"], json!([warning]), "{view}");
    let main =
        document("\\usepackage{imakeidx}\\makeindex[options=-s none.ist]", "x\\index{good}\\printindex");
    let (view, _) = app.typeset_with_files(&main, &[]).await;
    assert!(view["error"].as_str().unwrap().starts_with("File 'none.ist' not found; put it"), "{view}");
}

#[actix_web::test]
async fn glossaries_acronyms_and_nomenclatures_are_made() {
    let app = app_with_long_timeouts().await;
    let preamble = "\\usepackage[acronym]{glossaries}\\makeglossaries\\usepackage{nomencl}\\makenomenclature\
                    \\newglossaryentry{tree}{name=tree,description={a plant}}\\newacronym{html}{HTML}{hypertext}";
    let body =
        "\\gls{tree} \\gls{html}\\nomenclature{$c$}{speed of light}\\printglossaries\\printnomenclature";
    let text = app.typeset_without_warnings(&document(preamble, body), &[]).await;
    contains_all(
        &text,
        &[
            "tree hypertext (HTML)",
            "Glossary tree a plant. 1",
            "Acronyms HTML hypertext. 1",
            "speed of light",
        ],
    );
}

#[actix_web::test]
async fn without_biber_only_what_needs_it_fails_and_says_what_to_install() {
    if rerun_in_mount_namespace(
        "latex_lists::without_biber_only_what_needs_it_fails_and_says_what_to_install",
    )
    .is_some()
    {
        return;
    }
    let hidden = Hidden::over(Path::new("/usr/bin/biber"));
    let app = app_with_long_timeouts().await;
    let books = [("books.bib", BOOKS)];
    let main =
        document("\\usepackage{biblatex}\\addbibresource{books.bib}", "\\cite{knuth}\\printbibliography");
    let (view, _) = app.typeset_with_files(&main, &books).await;
    assert_eq!(view["errorCode"], json!("engine_unavailable"), "{view}");
    contains_all(
        view["error"].as_str().unwrap(),
        &["biber is not installed", "apt-get install --no-install-recommends biber"],
    );
    let main = document("", "\\cite{knuth}\\bibliographystyle{plain}\\bibliography{books}");
    assert!(app.typeset_without_warnings(&main, &books).await.contains("Donald"));
    let doctor = app.set(bounded()).args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let state = |part: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["part"] == part).unwrap()["state"].clone()
    };
    let states = ["biber", "bibtex", "makeindex", "pdflatex"].map(state);
    assert_eq!(states, ["warning", "ok", "ok", "ok"].map(Value::from), "{report}");
    drop(hidden);
}
