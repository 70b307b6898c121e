//! Word cuts text into runs as it likes: where it does so changes nothing.

use std::sync::LazyLock;

use office_template::{NoFiles, Template};
use proptest::prelude::*;

use crate::support::{self, docx, escape, limits, paragraphs, part, run, well_formed};

const DATA: &str =
    r#"{"name":"N & <M>","items":[{"name":"A","price":1.5},{"name":"B","price":2}],"no":[],"a b":"key"}"#;

/// Paragraphs' texts, and what they say when they are filled.
const TEMPLATES: [&[&str]; 6] = [
    &["Dear {name}, & {items.length} < {name | upper}"],
    &["{#items}{name}: {price | number(\"0.00\")}; {/items}{^no}none{/no}"],
    &["{#items}", "{name} {#price > 1.7}dear{/}", "{/items}"],
    &["x {#items} {name}", "and {price}{/items} y"],
    &["{=[[ ]]=}[[name]] {name}", "[[#items]][[\u{201c}}\u{201d}]][[a b]][[/items]]"],
    &["{#items}{name}", "{.price}{/items}", "{\"a\\\"}b\"}"],
];

/// What Word writes between runs, and inside of a run before its text.
const NOISE: [&str; 6] = [
    "",
    "<w:proofErr w:type=\"spellStart\"/>",
    "<w:bookmarkStart w:id=\"0\" w:name=\"n\"/>",
    "<w:r><w:rPr><w:b/></w:rPr><w:lastRenderedPageBreak/></w:r>",
    "<w:r><w:t></w:t></w:r>",
    "<w:r/>",
];

fn paragraph(text: &str, cuts: &[(usize, usize)]) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut at: Vec<(usize, usize)> =
        cuts.iter().map(|&(cut, noise)| (cut % (letters.len() + 1), noise)).collect();
    at.sort_unstable();
    let mut xml = String::from("<w:p>");
    let mut from = 0;
    for (cut, noise) in at.into_iter().chain([(letters.len(), 0)]) {
        let run: String = letters[from..cut.max(from)].iter().collect();
        let style = if noise % 2 == 0 { "" } else { "<w:rPr><w:i/></w:rPr>" };
        let run = format!("<w:r>{style}<w:t>{}</w:t></w:r>", escape(&run));
        let (begin, end) =
            if noise == 5 { ("<w:hyperlink w:anchor=\"x\">", "</w:hyperlink>") } else { ("", "") };
        xml.extend([begin, &run, end]);
        xml.push_str(NOISE[noise]);
        from = cut.max(from);
    }
    xml + "</w:p>"
}

/// A template in one piece: its program, what the engine answers to it, and what it says then.
struct Whole {
    program: String,
    answer: String,
    said: Vec<String>,
}

/// The engine runs once a template: what it answers depends on the program and the data alone.
static WHOLE: LazyLock<Vec<Whole>> = LazyLock::new(|| {
    let whole = |texts: &&[&str]| {
        let program = read(texts, &[]).program().to_owned();
        let answer = run(&program, DATA, "{}");
        let said = said(texts, &[], &answer);
        Whole { program, answer, said }
    };
    TEMPLATES.iter().map(whole).collect()
});

fn read(texts: &[&str], cuts: &[(usize, usize)]) -> Template {
    let body: String = texts.iter().map(|text| paragraph(text, cuts)).collect();
    Template::read(docx(&body), None, &limits()).unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn said(texts: &[&str], cuts: &[(usize, usize)], answer: &str) -> Vec<String> {
    let filled = read(texts, cuts).fill(answer, &mut NoFiles);
    let filled = filled.unwrap_or_else(|error| panic!("{cuts:?}: {error}"));
    let xml = part(&filled.file, support::DOCUMENT);
    well_formed(support::DOCUMENT, xml.as_bytes());
    paragraphs(&xml)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn cutting_tags_into_runs_changes_nothing(
        template in 0..TEMPLATES.len(),
        cuts in prop::collection::vec((0_usize..80, 0..NOISE.len()), 0..24),
    ) {
        let (texts, whole) = (TEMPLATES[template], &WHOLE[template]);
        let template = read(texts, &cuts);
        prop_assert_eq!(template.program(), &whole.program);
        prop_assert_eq!(&said(texts, &cuts, &whole.answer), &whole.said);
    }
}
