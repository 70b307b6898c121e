//! What is read of sources, logs and errors, in the words that pandoc 3.9 has for them.

use latex_pandoc::{
    Citations, Error, Facts, Place, Texts, code_of, error, lines_with, notices, prepare, without_comments,
};

const SOURCE: &str = "\\documentclass{article}\n\\begin{document}\n\\index{a} \\centering\n\\begin{tikzpicture}\n\\draw (0,0);\n\
                      \\end{tikzpicture}\n% \\cite{k}\n\\cite{k} \\ref{x} $\\strange{x}$ \\index{b}\n\\includegraphics{http://a/b.png}\n";

fn place(file: &str, line: usize) -> Place {
    Place { file: file.to_owned(), line }
}

#[test]
fn what_is_left_out_is_reported_once_with_its_first_line() {
    let log = r#"[
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\setlength{x}", "source": "a.tex", "line": 1, "column": 3},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\foo", "source": "a.tex", "line": 1, "column": 3},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\bar", "source": "own.sty", "line": 9, "column": 3},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\index{\nb}", "source": "a.tex", "line": 9, "column": 40},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\index{\nb}", "source": "a.tex", "line": 9, "column": 40},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\index{a}", "source": "a.tex", "line": 3, "column": 10},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\centering", "source": "a.tex", "line": 3, "column": 20},
        {"type": "SkippedContent", "verbosity": "INFO",
         "contents": "\\begin{tikzpicture}\n\\draw (0,0);\n\\end{tikzpicture}", "source": "a.tex", "line": 4, "column": 20},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\begin{odd}", "source": "b.tex", "line": 1, "column": 9},
        {"type": "SkippedContent", "verbosity": "INFO", "contents": "\\end{odd}", "source": "b.tex", "line": 2, "column": 9},
        {"type": "CiteprocWarning", "verbosity": "WARNING", "message": "citation k not found"},
        {"type": "CouldNotConvertTeXMath", "verbosity": "WARNING", "contents": "x",
         "message": "^\nunexpected control sequence \\strange\nexpecting"},
        {"type": "ScriptingWarning", "verbosity": "WARNING", "message": "reference: x", "source": "f.lua", "line": 1},
        {"type": "ScriptingWarning", "verbosity": "WARNING", "message": "remote: http://a/b.png", "source": "f.lua", "line": 1},
        {"type": "CouldNotLoadIncludeFile", "verbosity": "INFO", "path": "tikz.sty", "source": "a.tex", "line": 1},
        {"type": "CouldNotLoadIncludeFile", "verbosity": "WARNING", "path": "no.tex", "source": "a.tex", "line": 9},
        {"type": "New", "verbosity": "INFO"}
    ]"#;
    let texts = Texts::of("a.tex", SOURCE).with("b.tex", "");
    let told: Vec<_> = notices(log.as_bytes(), &texts)
        .iter()
        .map(|notice| {
            let place = notice.place.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
            format!("{}{notice}", place.unwrap_or_default())
        })
        .collect();
    let expected = [
        "a.tex:3: \\index was left out with its arguments; pandoc makes nothing of it (and once more)",
        "a.tex:4: the environment tikzpicture was left out with all that is in it; pandoc makes nothing of it",
        "a.tex:8: 'k' is cited and in no bibliography",
        "a.tex:8: a formula is there as its code, for pandoc does not know \\strange",
        "a.tex:8: the reference 'x' is not defined",
        "a.tex:9: the picture 'http://a/b.png' was left out: nothing is fetched for LaTeX; put it beside the template, in one archive",
        "a.tex:9: the file 'no.tex' is not there; put it beside the template, in one archive",
        "b.tex:1: the environment odd is unknown to pandoc; what is in it is there as plain text",
    ];
    assert_eq!(told, expected);
    assert_eq!(notices(b"no log", &texts), []);
}

#[test]
fn an_error_has_its_place() {
    let of = |printed: &str| error(printed);
    let read = of(
        "[WARNING] x\nError at \"a b.tex\" (line 3, column 20):\nunexpected \\end\nexpecting x\nhello \\end\n      ^\n",
    );
    let message = "pandoc cannot read this: unexpected \\end, expecting x".to_owned();
    assert_eq!(read, Error { place: Some(place("a b.tex", 3)), message });
    let told = |printed: &str| of(printed).message;
    assert!(told("Loop encountered in expanding macro a").contains("\\a calls itself"));
    assert!(
        told("pandoc: /etc/x.bib: withBinaryFile: does not exist (No…").contains("'/etc/x.bib' is not there")
    );
    assert!(told("[W]\nFile x.bib not found in resource path\n").contains("'x.bib' is not there"));
    assert!(told("Could not fetch http://a/x.bib\nHttp").contains("'http://a/x.bib' is not there"));
    assert!(told("pandoc: Data.Binary.Get.runGet at position 4").contains("reference.docx is no Word"));
    assert!(told("").contains("does not say why") && told("\nOut of luck\n").contains("Out of luck"));
}

#[test]
fn what_hyperref_shall_say_is_known() {
    let source = "\\usepackage[pdftitle = {One, \\emph{two} \\} {3}},pdfauthor=Ada \\& Bo]{hyperref}\n\
                  \\hypersetup{pdfsubject=S, % pdfkeywords={no}\n  pdfkeywords=}\n\
                  \\hypersetup{pdfauthor={Zoë}}\n\\begin{document}\\hypersetup{pdfsubject=late}";
    let found = Facts::of(source).properties;
    let found: Vec<_> = found.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(found, [("title", "{One, \\emph{two} \\} {3}}"), ("author", "{Zoë}"), ("subject", "S")]);
    for source in ["pdftitle", "pdftitle=", "pdftitle={", "pdftitle=\\", "x pdftitle y"] {
        let found = Facts::of(source).properties;
        assert!(found.iter().all(|(_, text)| text == "{" || text == "\\"), "{source}: {found:?}");
    }
}

#[test]
fn facts_of_a_document_are_read_without_its_comments() {
    let of = |source: &str| Facts::of(source);
    assert_eq!(of("\\documentclass[ngerman]{scrbook}\n\\usepackage{babel}").language, Some("de"));
    assert_eq!(of("\\usepackage[ngerman,main=french,english]{babel}").language, Some("fr"));
    assert_eq!(of("\\usepackage[ngerman, english]{babel}").language, Some("en"));
    assert_eq!(of("\\setmainlanguage[variant=x]{spanish}").language, Some("es"));
    assert_eq!(of("%\\usepackage[ngerman]{babel}").language, None);
    assert!(of("\\documentclass{report}").chapters && !of("\\documentclass{article}").chapters);
    assert!(of("\\tableofcontents").contents && !of("% \\tableofcontents").contents);
    assert_eq!(of("\\graphicspath{{a/}{b}}\n\\foo{x}").folders, ["a/", "b/"]);
    for (source, citations) in [
        ("\\bibliographystyle{plain}", Citations::Numbers),
        ("\\bibliographystyle{unsrt}", Citations::NumbersAsCited),
        ("\\bibliographystyle{plainnat}", Citations::ByYear),
        ("\\usepackage[numbers]{natbib}\\bibliographystyle{plainnat}", Citations::Numbers),
        ("\\usepackage[backend=biber]{biblatex}", Citations::Numbers),
        ("\\usepackage[style=authoryear]{biblatex}", Citations::ByYear),
        ("\\usepackage[style=numeric,sorting=none]{biblatex}", Citations::NumbersAsCited),
        ("", Citations::ByYear),
    ] {
        assert_eq!(of(source).citations, citations, "{source}");
    }
}

#[test]
fn columns_that_pandoc_does_not_know_become_such_that_it_knows() {
    for (source, prepared) in [
        (r"\begin{tabular}{|l|S[table-format=3.2]r@{x}s}a", r"\begin{tabular}{|l|rr@{x}r}a"),
        (
            r"\begin{longtable}[c]{p{3cm}D{.}{,}{2}>{\bfseries}c}",
            r"\begin{longtable}[c]{p{3cm}r>{\bfseries}c}",
        ),
        (
            r"\begin{tabularx}{\textwidth}{XYL{2cm}C*{3}{l}}",
            r"\begin{tabularx}{\textwidth}{Xlp{2cm}c*{3}{l}}",
        ),
        (r"\begin{tabular}{w{c}{3cm}}", r"\begin{tabular}{l}"),
        (r"\begin{description}[leftmargin=1cm]\item[a]", r"\begin{description}\item[a]"),
        (r"\begin{itemize}[x] \begin{tabular}{", r"\begin{itemize}[x] \begin{tabular}{"),
        ("\\begin{tabular}{S\nl}", "\\begin{tabular}{S\nl}"),
    ] {
        assert_eq!(prepare(source), prepared);
    }
}

#[test]
fn comments_are_left_out_and_lines_keep_their_numbers() {
    for (text, code) in [
        ("a % b\nc", "a \nc"),
        ("a \\% b", "a \\% b"),
        ("a \\\\% b\n%\n\\%% c\n", "a \\\\\n\n\\%\n"),
        ("a\n\\\n%b", "a\n\\\n"),
        ("% only", ""),
        ("", ""),
    ] {
        assert_eq!(without_comments(text), code, "{text}");
        let lines: Vec<_> = text.split('\n').map(code_of).collect();
        assert_eq!(lines.join("\n"), code, "{text}");
    }
}

#[test]
fn lines_with_words_are_found_by_their_numbers() {
    fn found<'t>(text: &'t str, words: &str) -> Vec<(usize, &'t str)> {
        lines_with(text, words).collect()
    }
    assert_eq!(found("x\n\nxx x\na\nx", "x"), [(1, "x"), (3, "xx x"), (5, "x")]);
    assert_eq!(found("a\nb x\n", "x"), [(2, "b x")]);
    assert_eq!(found("a\nb", "x"), []);
    // One pass, whatever stands where.
    assert_eq!(found(&"\n".repeat(20_000_000), "x"), []);
    assert_eq!(lines_with(&"x\n".repeat(1_000_000), "x").last(), Some((1_000_000, "x")));
    assert_eq!(found(&"x".repeat(1_000_000), "x").len(), 1);
}
