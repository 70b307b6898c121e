//! Every character that a value of LaTeX may hold, in PDF, HTML and Word.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::latex::document;
use crate::latex_pandoc::part;
use crate::unfilled::packed;

/// First and last of ASCII, Latin-1, Latin Extended-A, Greek, Cyrillic, general punctuation, currencies, arrows, operators.
const CLASSES: [(u32, u32); 9] = [
    (0x20, 0x7e),
    (0xa0, 0xff),
    (0x100, 0x17f),
    (0x370, 0x3ff),
    (0x400, 0x4ff),
    (0x2000, 0x206f),
    (0x20a0, 0x20c0),
    (0x2190, 0x21ff),
    (0x2200, 0x22ff),
];
/// What Unicode has not given a character, in these.
const UNASSIGNED: [u32; 8] = [0x378, 0x379, 0x380, 0x381, 0x382, 0x383, 0x38b, 0x38d];
const UNASSIGNED_TOO: [u32; 2] = [0x3a2, 0x2065];

fn characters((first, last): (u32, u32)) -> impl Iterator<Item = char> {
    let is_assigned = |letter: &u32| !UNASSIGNED.contains(letter) && !UNASSIGNED_TOO.contains(letter);
    (first..=last).filter(is_assigned).filter_map(char::from_u32)
}

/// The data of [`body`].
fn letters(characters: impl Iterator<Item = char>) -> Value {
    let row = |letter: char| json!([format!("{:x}", u32::from(letter)), letter.to_string()]);
    json!({"letters": characters.map(row).collect::<Vec<_>>()})
}

/// A row for each letter, with it between two others.
fn body(cell: &str) -> String {
    format!("<% for (const [number, letter] of letters) {{ %>(<%= number %>:{cell}:)\n\n<% }} %>")
}

/// What is between the signs of the row of `letter`.
fn cell(text: &str, letter: char) -> Option<&str> {
    let (_, rest) = text.split_once(&format!("({:x}:", u32::from(letter)))?;
    rest.split_once(":)").map(|(cell, _)| cell)
}

/// The text of HTML or of a part of a Word document, without TeX's code behind formulas, each character as it is.
fn text_of(markup: &str) -> String {
    let markup = markup.replace("<w:softHyphen />", "\u{ad}").replace('\n', " ");
    let mut text = String::new();
    let mut is_code = false;
    for piece in markup.split('<').skip(1) {
        let (mark, behind) = piece.split_once('>').unwrap_or_default();
        is_code = mark.starts_with("annotation") || (is_code && mark != "/annotation");
        if !is_code {
            text.push_str(behind);
        }
    }
    let mut made = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once('&') {
        let (entity, behind) = behind.split_once(';').unwrap();
        let letter = match entity {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "nbsp" => '\u{a0}',
            number => char::from_u32(number.strip_prefix('#').unwrap().parse().unwrap()).unwrap(),
        };
        made.push_str(before);
        made.push(letter);
        rest = behind;
    }
    made.push_str(rest);
    // pandoc says of some arrows that they are no coloured signs.
    made.replace('\u{fe0e}', "")
}

#[actix_web::test]
async fn every_character_of_a_value_is_in_html_and_in_word() {
    let app = TestApp::start().await;
    let source =
        document("", &body("a<%= letter %>z:$a<%= letter %>z$:$<%- latex.formula(`a${letter}z`) %>$"));
    for class in CLASSES {
        for target in ["html", "docx"] {
            let data = letters(characters(class));
            let (view, file) = app.typeset(target, source.clone(), (data, json!({}))).await;
            assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
            let markup = match target {
                "html" => String::from_utf8(file).unwrap(),
                _ => part(&file, "word/document.xml"),
            };
            let text = text_of(&markup);
            for letter in characters(class) {
                let shown = match letter {
                    '\u{2028}' | '\u{2029}' => ' ',
                    letter => letter,
                };
                // In formulas as they are there.
                let formula = match letter {
                    ' ' | '\u{2028}' | '\u{2029}' => String::new(),
                    '-' => "\u{2212}".to_owned(),
                    letter => letter.to_string(),
                };
                let wanted = format!("a{shown}z:a{formula}z:a{shown}z");
                let found = cell(&text, letter).map(str::to_owned);
                assert_eq!(found, Some(wanted), "U+{:04X} in {target}", u32::from(letter));
            }
        }
    }
}

/// Title, heading, caption, footnote, item, cell, formulas, a tag, an included file and the file's properties.
const EVERYWHERE: &str = r"\documentclass{article}
\usepackage{hyperref,amsmath}
\hypersetup{pdftitle={P <%= odd %>}}
\title{T <%= odd %>}
\begin{document}
\maketitle
\section{S <%= odd %>}
\begin{figure}F\caption{C <%= odd %>}\end{figure}
Text\footnote{N <%= odd %>} $f <%= odd %>$ \begin{equation} x_{<%= odd %>} = \text{t <%= odd %>} \tag{g <%= odd %>} \end{equation}
\begin{itemize}\item I <%= odd %>\end{itemize}
\begin{tabular}{l|l} | & R <%= odd %> \\ <%- latex.lines(odd) %> & b \end{tabular}
<%- include('parts/part.tex') %>
\dag\DJ\texteuro\textminus\textellipsis\textasciigrave{}x $a\texteuro\textbar b\texttimes c$ \newcommand{\EUR}[1]{#1 EUR}\EUR{5}
\end{document}
";

#[actix_web::test]
async fn a_value_is_whole_in_html_and_word_wherever_it_stands() {
    let app = TestApp::start().await;
    let odd = "€−|`\\^~\"'_#&{}[x]*<>1\u{202f}234,50--„q“";
    let template = packed(&[
        ("main.tex", EVERYWHERE.as_bytes()),
        ("parts/part.tex", br"\textbf{B <%= odd %>}, \emph{<%= odd %>}"),
    ]);
    for target in ["html", "docx"] {
        let (view, file) = app.typeset(target, template.clone(), (json!({"odd": odd}), json!({}))).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{target}: {view}");
        let (text, properties) = if target == "html" {
            let html = String::from_utf8(file).unwrap();
            (text_of(&html), text_of(&html))
        } else {
            let parts = ["word/document.xml", "word/footnotes.xml"].map(|name| part(&file, name));
            (text_of(&parts.concat()), text_of(&part(&file, "docProps/core.xml")))
        };
        for before in ["T", "S", "C", "N", "I", "R", "B", "t", "g"] {
            assert!(text.contains(&format!("{before} {odd}")), "{before} of {target}: {text}");
        }
        assert!(properties.contains(&format!("P {odd}")), "{target}: {properties}");
        // In a formula the hyphens are signs of minus.
        let formula = odd.replace('-', "\u{2212}");
        assert!(
            text.contains(&format!("f{formula}")) && text.contains(&format!("x{formula}")),
            "{target}: {text}"
        );
        for words in ["†Đ€−…`x", "a€|b×c", "5 EUR"] {
            assert!(text.contains(words), "{words} in {target}: {text}");
        }
    }
}
