//! Real presentations with their data, where they lie: `PLATEN_CORPUS`. Each is filled, and what its slides and charts say is compared with
//! what its own library made of it. docxtemplater's tags are the same as here; jsreport's are translated.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use office_template::{Delimiters, NoFiles, Template};
use serde_json::{Map, Value, json};

use crate::support::{blocks, entries, limits, run, zipped};

/// What cannot be compared, and why.
const EXCLUDED: [(&str, &str); 3] = [
    (
        "pptx-1de9d4e5d9",
        "a table is made of one cell by a helper (pptxTable); here rows and columns are repeated",
    ),
    (
        "pptx-8110f940a4",
        "a table is made of one cell by a helper (pptxTable); here rows and columns are repeated",
    ),
    ("pptx-434309b58c", "its chart is a waterfall, of a kind that is not filled here"),
];

/// What each part says, by its kind and its place among those of its kind.
type Said = BTreeMap<(String, usize), Vec<String>>;

#[test]
fn real_presentations_say_what_their_own_libraries_made_of_them() {
    let given = std::env::var_os("PLATEN_CORPUS").filter(|given| !given.is_empty() && given != "none");
    let Some(folder) = given.map(PathBuf::from) else {
        eprintln!("NOT TESTED: real presentations, for PLATEN_CORPUS paths no folder of them");
        return;
    };
    let mut all = 0;
    let (mut same, mut differing) = (0, Vec::new());
    for path in decks(&folder) {
        all += 1;
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if EXCLUDED.iter().any(|(excluded, _)| *excluded == name) {
            continue;
        }
        let read = |end: &str| std::fs::read(path.with_extension(end)).expect("a file of the corpus");
        let expected = said(&read("expected.pptx"));
        match filled(&path, read("template.pptx")).map(|made| said(&made)) {
            Ok(made) if made == expected => same += 1,
            Ok(made) => {
                let others = expected.iter().filter(|(part, texts)| made.get(*part) != Some(*texts));
                let others = others.map(|(part, texts)| {
                    format!("{part:?}\n  made     {:?}\n  expected {texts:?}", made.get(part))
                });
                differing.push(format!("{name}: {}", others.collect::<String>()));
            }
            Err(why) => differing.push(format!("{name}: {why}")),
        }
    }
    println!("{all} presentations, {} excluded, {same} say the same", EXCLUDED.len());
    assert!(all >= 16, "the corpus is not whole");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// The presentations that lie there with their data.
fn decks(folder: &Path) -> Vec<PathBuf> {
    let files = ["docxtemplater", "jsreport"].into_iter().flat_map(|from| {
        let files = std::fs::read_dir(folder.join(from)).expect("the corpus is there");
        files.map(|file| file.expect("a file of the corpus").path())
    });
    let data = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    data.filter(|path| path.with_extension("template.pptx").exists()).collect()
}

fn filled(path: &Path, file: Vec<u8>) -> Result<Vec<u8>, String> {
    let whole: Value = serde_json::from_slice(&std::fs::read(path).expect("its data")).expect("JSON");
    let is_translated = path.to_string_lossy().contains("jsreport");
    let delimiters = is_translated.then(|| Delimiters { start: "{{".to_owned(), end: "}}".to_owned() });
    let file = if is_translated { translated(&file) } else { file };
    let data = charted(&whole["data"]).to_string();
    let template = Template::read(file, delimiters, &limits()).map_err(|error| error.to_string())?;
    let answer = run(template.program(), &data, "{}");
    template.fill(&answer, &mut NoFiles).map(|filled| filled.file).map_err(|error| error.to_string())
}

/// jsreport's data of charts as they are written here.
fn charted(value: &Value) -> Value {
    match value {
        Value::Object(members) if members.contains_key("datasets") => {
            let series = value["datasets"].as_array().into_iter().flatten();
            let series = series.map(|one| json!({"name": one["label"], "values": one["data"]}));
            let mut names = json!({"names": value["labels"]});
            let is_day = |label: &Value| label.as_str().is_some_and(|label| label.starts_with("20"));
            if value["labels"].as_array().is_some_and(|labels| labels.iter().all(is_day)) {
                names["formatCode"] = json!("m/d/yyyy");
            }
            json!({"_type": "chart", "categories": names, "series": series.collect::<Vec<_>>()})
        }
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), charted(value))).collect::<Map<_, _>>(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(charted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A file with jsreport's tags written as they are here, each in one run.
fn translated(file: &[u8]) -> Vec<u8> {
    let mut files = entries(file);
    for (name, content) in &mut files {
        if Path::new(name.as_str()).extension().is_some_and(|end| end == "xml")
            && let Ok(text) = String::from_utf8(content.clone())
        {
            let paragraphs = text.split_inclusive("</a:p>").map(paragraph);
            *content = paragraphs.collect::<String>().into_bytes();
        }
    }
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&files)
}

fn paragraph(xml: &str) -> String {
    let mut pieces = xml.split("<a:t>");
    let before = pieces.next().unwrap_or_default();
    let runs: Vec<(&str, &str)> = pieces.filter_map(|piece| piece.split_once("</a:t>")).collect();
    let whole: String = runs.iter().map(|(text, _)| *text).collect();
    if !whole.contains("{{") {
        return xml.to_owned();
    }
    let mut written = before.to_owned();
    for (at, (_, behind)) in runs.iter().enumerate() {
        let text = if at == 0 { tags(&whole) } else { String::new() };
        written.extend(["<a:t>", &text, "</a:t>", behind]);
    }
    written
}

fn tags(text: &str) -> String {
    let mut written = String::new();
    for piece in text.split_inclusive("}}") {
        let (before, inside) = piece.split_once("{{").unwrap_or((piece, ""));
        let words: Vec<&str> = inside.trim_end_matches("}}").split_whitespace().collect();
        let value = |name: &str| {
            let found = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.unwrap_or_default().replace("&quot;", "\"")
        };
        let tag = match words.first().copied() {
            None | Some("/pptxSlides") => String::new(),
            Some("pptxSlides" | "#pptxSlides") => format!("{{{{:slides {}}}}}", words[1]),
            Some("pptxChart") => format!("{{{{{}}}}}", value("data")),
            Some("pptxImage") => format!("{{{{%{} | height({})}}}}", value("src"), value("height")),
            Some(_) => format!("{{{{{}}}}}", words.join(" ")),
        };
        written.extend([before, &tag]);
    }
    written
}

/// What the slides, notes, charts and `SmartArt` say; blank paragraphs are left out.
fn said(file: &[u8]) -> Said {
    let mut named: Vec<(String, usize, Vec<String>)> = Vec::new();
    for (name, content) in entries(file) {
        let Some(stem) = name.strip_prefix("ppt/").and_then(|name| name.strip_suffix(".xml")) else {
            continue;
        };
        let kind = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
        if !matches!(kind, "slides/slide" | "notesSlides/notesSlide" | "charts/chart" | "diagrams/data") {
            continue;
        }
        // A break may have properties, which say nothing.
        let xml = String::from_utf8(content).expect("UTF-8");
        let xml = xml.replace("<a:br>", "<a:br/><a:look>").replace("</a:br>", "</a:look>");
        let number = stem[kind.len()..].parse().unwrap_or_default();
        let texts = if kind == "charts/chart" {
            let values = xml.split("<c:v>").skip(1).filter_map(|value| value.split_once("</c:v>"));
            values.map(|(value, _)| value.to_owned()).collect()
        } else {
            let texts = blocks(&xml).into_iter().map(|block| block.text);
            texts.filter(|text| !text.trim().is_empty() && !text.starts_with('{')).collect()
        };
        named.push((kind.to_owned(), number, texts));
    }
    named.sort();
    let mut said = Said::new();
    for (kind, _, texts) in named {
        let place = said.keys().filter(|(known, _)| *known == kind).count();
        said.insert((kind, place), texts);
    }
    said
}
