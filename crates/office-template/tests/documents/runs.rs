//! Word cuts text into runs as it likes: where it does so changes nothing.

use crate::support::{self, docx, escape, paragraphs, part, try_fill};
use proptest::prelude::*;

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

fn filled(template: &[&str], cuts: &[(usize, usize)]) -> Vec<String> {
    let body: String = template.iter().map(|text| paragraph(text, cuts)).collect();
    let filled = try_fill(docx(&body), DATA, "{}").unwrap_or_else(|error| panic!("{body}: {error}"));
    paragraphs(&part(&filled.file, support::DOCUMENT))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn cutting_tags_into_runs_changes_nothing(
        template in 0..TEMPLATES.len(),
        cuts in prop::collection::vec((0_usize..80, 0..NOISE.len()), 0..24),
    ) {
        prop_assert_eq!(filled(TEMPLATES[template], &cuts), filled(TEMPLATES[template], &[]));
    }
}
