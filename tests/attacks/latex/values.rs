//! Suite D for LaTeX: attacks that come as values of the data. In every place where a template may print one, each is text: its
//! characters are shown, and nothing of it is read, written, run or fetched.

use serde_json::json;

use super::{PlantedFiles, SECRET, USERS, contains};
use crate::canary::Canary;
use crate::remains::WatchedApp;
use crate::routes::{Route, Sent, made, words};
use crate::table::{Outcome, report};

/// Values. `FOLDER` is a folder with mode 0777, `PORT` a port that must not be reached; what has succeeded prints `GOT`.
const VALUES: &[&str] = &[
    r"\input{/etc/passwd}",
    r"\input{FOLDER/secret}",
    r"}\input{FOLDER/secret}{",
    r"]{\input{FOLDER/secret}}",
    r"$\input{FOLDER/secret}$",
    r"^^5cinput{FOLDER/secret}",
    r"\csname input\endcsname{FOLDER/secret}",
    r"\catcode`\|=0 |catcode`|[=1 |catcode`|]=2 |input[FOLDER/secret]",
    r"\makeatletter\@@input FOLDER/secret.sty \secret",
    r"\openin5=FOLDER/secret \read5 to\x \x",
    r"\immediate\openout5=FOLDER/written \immediate\write5{x}",
    r"\immediate\write18{touch FOLDER/run}",
    r#"\input{|"touch FOLDER/run; echo GOT"}"#,
    r#"|"touch FOLDER/run""#,
    r#"\directlua{os.execute("touch FOLDER/run") tex.print("G".."OT")}"#,
    r"\special{psfile=FOLDER/secret.tex}",
    r"\includegraphics{FOLDER/secret.pdf}",
    r"\href{HTTP/x}{y}\url{HTTP/y}",
    r"\end{document}",
    r"\end{tabular}\end{table}\loop\iftrue\repeat",
    r"\def\x{\x}\x",
    r"\renewcommand\section[1]{GOT}",
    r"% GOT is a comment",
    r"x|input{FOLDER/secret}!y@z",
    "x\"|(textbf\"!\\input{FOLDER/secret}",
    r"\ { } $ % & # _ ^ ~",
    r"#1 ## \number\year",
    r"\\[1cm]\newpage&\hline",
    r"-- --- ?` !` << >> '' `` ,,",
    "one\n\n\\input{FOLDER/secret}\n%\n\\par",
    "\\endlinechar=-1\r\\input{FOLDER/secret}\u{2028}\\par",
    "^^M^^M\\^^69nput{FOLDER/secret}",
    "\u{0}\u{7f}\\input{FOLDER/secret}\u{1b}",
    "\u{ad}\\\u{200b}input{FOLDER/secret}",
];

/// Each value in each place; titles and labels are written to files that TeX reads again, entries of the index to one that
/// makeindex reads.
const PLACES: &str = r"\documentclass{article}\usepackage{hyperref}\usepackage{makeidx}\makeindex
\hypersetup{pdftitle={<%= values.join(' ') %>}}
\begin{document}
\tableofcontents\listoftables
<% for (const value of values) { %>
\section{<%= value %>}\label{<%- latex.key(value) %>}
(<%= value %>) (\VAR{value}) \emph{<%= value %>}\footnote{<%= value %>} See \ref{<%- latex.key(value) %>}.
\begin{table}[h]\caption{<%= value %>}\begin{tabular}{l}<%= value %>\\\end{tabular}\end{table}
\begin{itemize}\item <%= value %>\end{itemize}
$<%= value %>$ $<%- latex.formula(value) %>$ <%- latex.lines(value) %> <%- latex.paragraphs(value) %>
\href{<%- latex.url(value) %>}{link}\index{<%- latex.index(value) %>}
<% } %>
\printindex
\end{document}
";
/// The same without what pandoc does not know.
const FEWER: &str = r"\documentclass{article}\begin{document}
<% for (const value of values) { %>
\section{<%= value %>}\label{<%- latex.key(value) %>}
(<%= value %>) (\VAR{value}) \emph{<%= value %>}\footnote{<%= value %>} \href{<%- latex.url(value) %>}{link}
\begin{tabular}{l}<%= value %>\\\end{tabular}
\begin{itemize}\item <%= value %>\end{itemize}
<%- latex.lines(value) %> <%- latex.paragraphs(value) %>
<% } %>
\end{document}
";

/// What a reader sees of a value: letters, digits and signs that every program prints as they are.
fn plain(text: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "\\{}$%&#_^~[]()@=.:/".contains(*letter);
    text.chars().filter(is_plain).collect()
}

#[actix::test]
async fn a_value_is_text_in_every_place_and_engine() {
    let watched = WatchedApp::start(&[("tex.runs_limit", "2")]).await;
    let mut outcomes = Vec::new();
    for (engine, target, source, times) in [
        ("pdflatex", "pdf", PLACES, 6),
        ("lualatex", "pdf", PLACES, 6),
        ("xelatex", "pdf", PLACES, 6),
        ("pandoc", "html", FEWER, 6),
        ("pandoc", "docx", FEWER, 6),
    ] {
        let (canary, planted) = (Canary::listen(), PlantedFiles::new());
        let folder = planted.path().display().to_string();
        let values: Vec<_> =
            VALUES.iter().map(|value| canary.aim(&value.replace("FOLDER", &folder))).collect();
        let data = json!({ "values": values }).to_string();
        let template = format!("% !TeX program = {engine}\n{source}");
        let sent = Sent { kind: "latex", target, template: template.as_bytes(), data: &data };
        let made = made(&watched.app, Route::Init, &sent).await;
        let mut leaks = planted.changes();
        leaks.extend(canary.hits());
        match &made {
            Ok(file) => {
                let text = words(file);
                for words in [SECRET, USERS] {
                    leaks.extend(
                        (text.contains(words) || contains(file, words))
                            .then(|| format!("'{words}' is in it")),
                    );
                }
                let text = plain(&text);
                let shown = |value: &String| text.matches(&plain(value)).count();
                let lost = values.iter().filter(|value| shown(value) < times);
                leaks.extend(lost.map(|value| format!("{value:?} is there {} times", shown(value))));
            }
            Err(error) => leaks.push(error.clone()),
        }
        outcomes.push(Outcome {
            name: format!("{} values", values.len()),
            carrier: format!("{engine} to {target}"),
            leaks,
            messages: String::new(),
        });
    }
    report("Suite D for LaTeX: values of the data", outcomes);
    watched.finish().await;
}
