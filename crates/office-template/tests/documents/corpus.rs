//! Real templates with their data, where they lie: `PLATEN_CORPUS`. They are filled unchanged, and every part with text is compared with
//! what its own library made of it, block by block: a block is a paragraph, or a property of the document.
//!
//! Left out on both sides are blank paragraphs of parts with sections: a paragraph in which only tags of sections stand vanishes here,
//! and stays there. Left out are blank paragraphs at a part's end, too: here one stands behind a table, as Word writes it. What is
//! missing is empty here, and `undefined` in docxtemplater.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use office_template::{Delimiters, Error, NoFiles, Template};
use serde_json::Value;

use crate::support::{Block, blocks, entries, limits, run, well_formed};

/// What cannot be scored, and why.
const EXCLUDED: [(&str, &str); 11] = [
    ("0060-4f4aa6dbcb", "its XML is not well-formed; no Word opens it"),
    ("0178-4b88e9bc4e", "needs the option allowUnclosedTag of docxtemplater; here it is a fault"),
    ("0179-b65fe609d8", "needs the option allowUnclosedTag of docxtemplater; here it is a fault"),
    ("0186-c02d08ac57", "its delimiters are changed by {$…$}, an option of docxtemplater"),
    ("0187-812a2fa614", "a tag over two paragraphs needs the option preserveNewlinesInTags of docxtemplater"),
    ("0263-cba34b28e0", "a tag over six paragraphs needs the option preserveNewlinesInTags of docxtemplater"),
    ("0195-9a42504aee", "it is no document: text stands beside its one paragraph"),
    ("0ed86a4ae6", "its pictures are bytes in a form of the corpus, and no text"),
    ("8d34819814", "its pictures are bytes in a form of the corpus, and no text"),
    ("9ce6f64143", "the rest of a paragraph goes with replaceParagraph, an option of easy-template-x"),
    ("ec2711df26", "its sections are written {{>> x}}…{{<< x}}, an option of easy-template-x"),
];

/// Where the text is another one, and why that is right.
const OTHER_TEXT: [(&str, &str); 1] = [(
    "2391b605d2",
    "the template's chart has no series; its categories are written here, and were lost there",
)];

/// Where replaced text has another style, and why that is right.
const OTHER_STYLE: [(&str, &str); 1] = [(
    "cdee3a12d8",
    "a link is blue and underlined, and not of the style Hyperlink, which a document may lack",
)];

/// A template's numbers.
#[derive(Default)]
struct Score {
    differences: Vec<String>,
    /// Blocks with replaced text, and those of them whose letters have other styles.
    replaced: usize,
    styles: Vec<String>,
}

#[test]
fn real_templates_say_what_their_own_libraries_made_of_them() {
    // 'none' says aloud that there are none, as `.ci/run` does.
    let given = std::env::var_os("PLATEN_CORPUS").filter(|given| !given.is_empty() && given != "none");
    let Some(folder) = given.map(PathBuf::from) else {
        eprintln!("NOT TESTED: real Word templates, for PLATEN_CORPUS paths no folder of them");
        return;
    };
    let scores: BTreeMap<String, Score> =
        triples(&folder).into_iter().map(|(name, path)| (name, score(&path))).collect();
    let names = |list: &[(&'static str, &str)]| list.iter().map(|&(name, _)| name).collect::<BTreeSet<_>>();
    let excluded = names(&EXCLUDED);
    let scorable: Vec<(&str, &Score)> = scores
        .iter()
        .map(|(name, score)| (name.as_str(), score))
        .filter(|(name, _)| !excluded.contains(name))
        .collect();
    let other: BTreeSet<&str> =
        scorable.iter().filter(|(_, score)| !score.differences.is_empty()).map(|&(name, _)| name).collect();
    let styled: BTreeSet<&str> =
        scorable.iter().filter(|(_, score)| !score.styles.is_empty()).map(|&(name, _)| name).collect();
    for (name, score) in &scorable {
        for line in score.differences.iter().chain(&score.styles) {
            println!("{name}: {line}");
        }
    }
    let replaced: usize = scorable.iter().map(|(_, score)| score.replaced).sum();
    let unstyled: usize = scorable.iter().map(|(_, score)| score.styles.len()).sum();
    println!(
        "{} templates, {} excluded, {} scored: {} with another text; {replaced} blocks with replaced text, {unstyled} with \
         other styles",
        scores.len(),
        excluded.len(),
        scorable.len(),
        other.len()
    );
    assert!(scores.len() >= 92, "the corpus is not whole");
    assert!(excluded.len() * 100 <= scores.len() * 15, "too much is excluded");
    assert!((scorable.len() - other.len()) * 100 >= scorable.len() * 97, "too many texts are others");
    assert!((replaced - unstyled) * 100 >= replaced * 95, "too many styles are others");
    assert_eq!(other, names(&OTHER_TEXT), "each other text has its reason");
    assert_eq!(styled, names(&OTHER_STYLE), "each other style has its reason");
    for name in &excluded {
        let score = scores.get(*name).unwrap_or_else(|| panic!("{name} is in the corpus"));
        assert!(!score.differences.is_empty(), "{name} need not be left out any more");
    }
}

/// Templates with data and what became of them, by their names.
fn triples(folder: &Path) -> Vec<(String, PathBuf)> {
    let files = ["docxtemplater", "easy-template-x"].into_iter().flat_map(|from| {
        let files = std::fs::read_dir(folder.join(from)).expect("the corpus is there");
        files.map(|file| file.expect("a file of the corpus").path())
    });
    let data = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let whole = data.filter(|data| {
        let is_plain = |json: &Value| json["customParser"] != true && json["customResolver"] != true;
        data.with_extension("template.docx").exists()
            && data.with_extension("expected.docx").exists()
            && is_plain(&json(data))
    });
    whole.map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), path)).collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("its data")).expect("its data is JSON")
}

fn score(data: &Path) -> Score {
    let read = |end: &str| std::fs::read(data.with_extension(end)).expect("a file of the corpus");
    let template = read("template.docx");
    match filled(&json(data), template.clone()) {
        Ok(made) => compared(&parts(&template), &parts(&made), &parts(&read("expected.docx"))),
        Err(why) => Score { differences: vec![why.to_string()], ..Score::default() },
    }
}

fn filled(json: &Value, file: Vec<u8>) -> Result<Vec<u8>, Error> {
    let given = &json[if json["options"].is_object() { "options" } else { "easy" }]["delimiters"];
    // docxtemplater's are written as they stand in XML.
    let delimiter = |name: &str| Some(given[name].as_str()?.replace("&lt;", "<").replace("&gt;", ">"));
    let delimiters = delimiter("start").zip(delimiter("end")).map(|(start, end)| Delimiters { start, end });
    let template = Template::read(file, delimiters, &limits())?;
    let answer = run(template.program(), &json["data"].to_string(), "{}");
    let filled = template.fill(&answer, &mut NoFiles)?.file;
    for (part, content) in entries(&filled) {
        if part.starts_with("word/") && content.starts_with(b"<?xml") {
            well_formed(&part, &content);
        }
    }
    Ok(filled)
}

/// The blocks of every part with text, by its name.
fn parts(file: &[u8]) -> BTreeMap<String, Vec<Block>> {
    let is_of_text = |name: &str| {
        Path::new(name).extension().is_some_and(|end| end == "xml")
            && (name.starts_with("word/") || name.starts_with("docProps/"))
    };
    let parts = entries(file).into_iter().filter(|(name, _)| is_of_text(name));
    parts
        .filter_map(|(name, content)| Some((name, blocks(&String::from_utf8(content).ok()?))))
        .filter(|(_, blocks)| !blocks.is_empty())
        .collect()
}

fn compared(
    template: &BTreeMap<String, Vec<Block>>,
    made: &BTreeMap<String, Vec<Block>>,
    expected: &BTreeMap<String, Vec<Block>>,
) -> Score {
    let mut score = Score::default();
    for (part, expected) in expected {
        let Some(original) = template.get(part) else { continue };
        let has_sections =
            original.iter().any(|block| ["{#", "{^", "{-w:"].iter().any(|tag| block.text.contains(tag)));
        let counts = |block: &&Block| !has_sections || !plain(&block.text).is_empty();
        let made: Vec<&Block> = to_end(made.get(part).map_or(&[], Vec::as_slice)).filter(counts).collect();
        let expected: Vec<&Block> = to_end(expected).filter(counts).collect();
        let texts = |blocks: &[&Block]| blocks.iter().map(|block| plain(&block.text)).collect::<Vec<_>>();
        let (ours, theirs) = (texts(&made), texts(&expected));
        if ours != theirs {
            score.differences.push(format!("{part}\n  made     {ours:?}\n  expected {theirs:?}"));
            continue;
        }
        let known: BTreeSet<&str> = original.iter().map(|block| block.text.as_str()).collect();
        let replaced = made.iter().zip(expected).filter(|(block, _)| !known.contains(block.text.as_str()));
        for (made, expected) in replaced {
            score.replaced += 1;
            if styles(made) != styles(expected) {
                let (ours, theirs) = (styles(made), styles(expected));
                score.styles.push(format!("{part}\n  made     {ours:?}\n  expected {theirs:?}"));
            }
        }
    }
    score
}

/// The blocks without the blank ones at the end.
fn to_end(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    let last = blocks.iter().rposition(|block| !plain(&block.text).is_empty());
    blocks.iter().take(last.map_or(0, |last| last + 1))
}

/// The text with single blanks and without what docxtemplater says of what is missing.
fn plain(text: &str) -> String {
    text.replace("undefined", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Stretches of letters with one style each.
fn styles(block: &Block) -> Vec<(String, String)> {
    let mut stretches: Vec<(String, String)> = Vec::new();
    for (text, style) in &block.runs {
        let text: String = text.replace("undefined", "").split_whitespace().collect();
        match stretches.last_mut() {
            Some((last, known)) if known == style => last.push_str(&text),
            _ if text.is_empty() => {}
            _ => stretches.push((text, style.clone())),
        }
    }
    stretches
}
