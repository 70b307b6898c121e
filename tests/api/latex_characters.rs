//! Every character that a value of LaTeX may hold, in PDF, HTML and Word.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::latex::document;
use crate::latex_pandoc::part;
use crate::libreoffice::poppler_output;
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

/// What a PDF may have for a character beside itself.
fn alternatives(letter: char) -> &'static [&'static str] {
    match letter {
        // Spaces, as far as they are wide enough to be seen as such.
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' => &[" ", ""],
        // Places for a line's end, joiners, and what directs others.
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => &[""],
        '\u{2010}' | '\u{2011}' => &["-"],
        'Ĳ' => &["IJ"],
        'ĳ' => &["ij"],
        _ => &[],
    }
}

/// Each character that is neither in the text nor named by a warning.
fn lost(text: &str, warnings: &str, class: (u32, u32)) -> Vec<String> {
    let is_lost = |letter: &char| {
        let found = cell(text, *letter).and_then(|cell| cell.strip_prefix('a')?.strip_suffix('z'));
        let is_there = found.is_some_and(|found| {
            // pdfTeX sets some letters as one with an accent, and poppler may see a gap beside that.
            let close = found.replace(' ', "");
            let is_composed =
                close.chars().count() == 2 && close.ends_with(|mark| ('\u{300}'..'\u{370}').contains(&mark));
            found.chars().eq([*letter])
                || close.chars().eq([*letter])
                || is_composed
                || alternatives(*letter).contains(&found)
        });
        !is_there && !warnings.contains(&format!("(U+{:04X})", u32::from(*letter)))
    };
    let lost = characters(class).filter(is_lost);
    lost.map(|letter| format!("U+{:04X} {:?}", u32::from(letter), cell(text, letter))).collect()
}

#[actix_web::test]
async fn every_character_of_a_value_is_in_the_pdf_or_named_by_a_warning() {
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    // Which characters a warning may be about, but those that only the newest fonts have.
    let newest = ["20c0"];
    for (engine, class, may_warn) in CLASSES
        .map(|class| ("", class, false))
        .into_iter()
        .chain([("lualatex", (0x2190, 0x21ff), false), ("lualatex", (0x138, 0x167), false)])
        .chain(["xelatex"].into_iter().flat_map(|engine| CLASSES.map(|class| (engine, class, true))))
    {
        let options = if engine.is_empty() { json!({}) } else { json!({"engine": engine}) };
        let source = document("", &body("a<%= letter %>z"));
        let (view, pdf) = app.typeset("pdf", source, (letters(characters(class)), options)).await;
        assert_eq!(view["success"], json!(true), "{engine} {class:x?}: {view}");
        let warnings = view["warnings"].to_string();
        let text = app.text_of(&pdf);
        let lost = lost(&text, &warnings, class);
        assert!(lost.is_empty(), "{engine} {class:x?}: {lost:?}: {view}");
        let told = warnings.matches("(U+").count();
        let excused = newest.iter().filter(|letter| warnings.contains(&letter.to_uppercase())).count();
        assert!(may_warn || told == excused, "{engine} {class:x?}: {view}");
    }
}

#[actix_web::test]
async fn formulas_have_the_characters_of_values_too() {
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    let text = "äßŁ×–½";
    let source =
        document("\\usepackage{amsmath}", "($<%= text %>$) \\begin{align} x_{<%= text %>} &= 1 \\end{align}");
    for engine in ["pdflatex", "lualatex", "xelatex"] {
        let options = json!({"engine": engine});
        let (view, pdf) = app.typeset("pdf", source.clone(), (json!({"text": text}), options)).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{engine}: {view}");
        let made = app.text_of(&pdf);
        assert!(made.contains(&format!("({text})")) && made.matches(text).count() == 2, "{engine}: {made}");
    }
    // What has a meaning in formulas keeps it.
    let preamble = "\\DeclareUnicodeCharacter{2264}{\\ensuremath{\\leq}}\\DeclareUnicodeCharacter{00B1}{\\ensuremath{\\pm}}";
    let source = document(preamble, "$a ≤ b ± c$\n\n$a \\leq b \\pm c$");
    let (view, pdf) = app.typeset("pdf", source, (json!({}), json!({"engine": "pdflatex"}))).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let text = app.text_of(&pdf);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(lines.len() == 3 && lines[0].contains('≤') && lines[0] == lines[1], "{text}");
}

#[actix_web::test]
async fn a_character_that_the_fonts_of_the_author_lack_is_named_with_its_line() {
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    let lines = "<% for (const line of lines) { %><%= line %>\n\n<% } %>";
    for (preamble, engine, lines_of_data, warned) in [
        (
            "\\usepackage{fontspec}",
            "lualatex",
            ["a Ж ≤ €", "Ж \u{1f600}"],
            "index.tex:4: the font lmroman10-regular has no 'Ж' (U+0416), '≤' (U+2264), '😀' (U+1F600): they are not printed",
        ),
        (
            "\\usepackage{fontspec}",
            "xelatex",
            ["€", "Ж"],
            "index.tex:4: the font lmroman10-regular has no 'Ж' (U+0416): it is not printed",
        ),
    ] {
        let source = document(preamble, lines);
        let data = (json!({"lines": lines_of_data}), json!({"engine": engine}));
        let (view, pdf) = app.typeset("pdf", source, data).await;
        let warnings = view["warnings"].as_array().unwrap();
        assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().starts_with(warned), "{engine}: {view}");
        assert!(app.text_of(&pdf).contains('€'), "{engine}: {}", app.text_of(&pdf));
    }
    // Hundreds of them are named as well, not only as many as a job keeps warnings.
    let every = letters(characters((0x400, 0x4ff)));
    let options = json!({"engine": "xelatex"});
    let (view, _) = app.typeset("pdf", document("", &body("<%= letter %>")), (every, options)).await;
    let warnings = view["warnings"].to_string();
    let missing = characters((0x400, 0x4ff))
        .filter(|letter| !warnings.contains(&format!("(U+{:04X})", u32::from(*letter))));
    assert_eq!(missing.count(), 0, "{view}");
}

/// In their virtual fonts these are black squares, of which pdfTeX says nothing.
#[actix_web::test]
async fn what_fonts_of_postscript_lack_is_printed_in_latin_modern() {
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    let lacking = "ĵ ŋ Ŋ ǰ ȷ \u{2126} ‽";
    let body = "a<%= text %>z \\textbf{a<%= text %>z} $x <%= text %>$ € m² Ķ";
    for (preamble, lender) in [
        ("\\usepackage{times}", "LMRoman"),
        ("\\usepackage[scaled]{helvet}\\renewcommand\\familydefault{\\sfdefault}", "LMSans"),
        ("\\usepackage{courier}\\renewcommand\\familydefault{\\ttdefault}", "LMMono"),
        ("\\usepackage{palatino}", "LMRoman"),
    ] {
        let source = document(preamble, body);
        let data = (json!({"text": lacking}), json!({"engine": "pdflatex"}));
        let (view, pdf) = app.typeset("pdf", source, data).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{preamble}: {view}");
        let text = app.text_of(&pdf).replace([' ', '\n'], "");
        for letter in ["ĵ", "ŋ", "Ŋ", "ȷ", "‽"] {
            assert!(text.matches(letter).count() >= 3, "{letter} of {preamble}: {text}");
        }
        assert!(text.contains("€m²Ķ"), "{preamble}: {text}");
        let fonts = poppler_output("pdffonts", &[], &pdf);
        assert!(fonts.contains(lender), "{preamble}: {fonts}");
    }
}

/// In the encoding that pdflatex has for Greek the codes of Latin letters are Greek letters.
#[actix_web::test]
async fn greek_documents_print_latin_letters_of_values_as_such() {
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    let data = json!({"name": "Platen GmbH; Café?", "place": "Αθήνα", "sum": "−1.234,50 €"});
    let body = "\\section{<%= name %>} Καλημέρα <%= name %>, <%= place %> <%= sum %> $x <%= place %>$";
    let words = ["Platen GmbH; Café?", "Καλημέρα Platen GmbH; Café?, Αθήνα \u{2212}1.234,50 €"];
    for preamble in [
        "\\usepackage[greek]{babel}",
        "\\usepackage[english,main=greek]{babel}",
        "\\usepackage[greek,english]{babel}",
        "\\usepackage{babel}\\babelprovide[main,import]{greek}",
    ] {
        let (view, pdf) = app.typeset("pdf", document(preamble, body), (data.clone(), json!({}))).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{preamble}: {view}");
        let text = app.text_of(&pdf).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|words| text.contains(words)), "{preamble}: {text}");
    }
    // What babel defines for pdflatex alone.
    let source = document(
        "\\usepackage[greek,english]{babel}",
        "\\textgreek{<%= place %>} {\\greektext και} <%= name %>",
    );
    let (view, pdf) = app.typeset("pdf", source, (data.clone(), json!({}))).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    assert!(app.text_of(&pdf).contains("Αθήνα και Platen GmbH; Café?"), "{}", app.text_of(&pdf));
    // Captions of the language, where the source has no Greek letter itself.
    let source = document("\\usepackage[greek]{babel}", "\\tableofcontents\\section{<%= name %>}");
    let (view, pdf) = app.typeset("pdf", source, (data.clone(), json!({}))).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    // Its accent may be of the one or the other kind.
    assert!(app.text_of(&pdf).contains("Περιεχ"), "{}", app.text_of(&pdf));
    // Whoever asks for pdflatex is told, and has LaTeX's own remedy.
    let source = document("\\usepackage[greek]{babel}", "<%= place %> \\textlatin{<%= name %>}");
    let (view, pdf) = app.typeset("pdf", source, (data, json!({"engine": "pdflatex"}))).await;
    let warning = view["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.contains("\\textlatin") && view["warnings"].as_array().unwrap().len() == 1, "{view}");
    assert!(app.text_of(&pdf).contains("Αθήνα Platen GmbH; Café?"), "{}", app.text_of(&pdf));
}
