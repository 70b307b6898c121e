//! jsreport's real templates with their data, where they lie: `PLATEN_CORPUS`. Their tags are translated from Handlebars; every cell
//! (value, formula, style) and every reference outside of cells is compared with what jsreport made of them.
//!
//! Left out are cached values, `calcChain`, `fullCalcOnLoad`, the sheets' dimensions, in which way a text is stored, and the formats of
//! empty cells: here a row that is repeated keeps them beside the section, too, so that borders go on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::read::{Book, Cell, Value, address};
use crate::support::{entries, try_fill, zipped};

/// What draws a chart by a helper of jsreport's own, which here is a chart of data: its cells say nothing of templates.
const CHART_HELPER: &str = "xlsxChart";

/// Where the result is another one, and why that is right.
const OTHER: [(&str, &str); 3] = [
    (
        "112462e975",
        "a range of names to row 999999 grows by the rows that come into it, as it does when Excel inserts them",
    ),
    (
        "290ea4ebdf",
        "a sum over a repeated block is over its cells alone, without the heads and subtotals between them",
    ),
    (
        "713e3c5c33",
        "a formula means the same cell of another sheet in each turn; there it moves along from turn to turn",
    ),
];

#[test]
fn real_workbooks_are_what_their_own_library_made_of_them() {
    // 'none' says aloud that there are none, as `.ci/run` does.
    let given = std::env::var_os("PLATEN_CORPUS").filter(|given| !given.is_empty() && given != "none");
    let Some(folder) = given.map(PathBuf::from) else {
        eprintln!("NOT TESTED: real Excel templates, for PLATEN_CORPUS paths no folder of them");
        return;
    };
    let templates = templates(&folder);
    let scores: BTreeMap<String, Vec<String>> = templates
        .into_iter()
        .map(|(name, file, data)| {
            let expected = std::fs::read(folder.join(format!("jsreport/xlsx-{name}.expected.xlsx")));
            let expected = Book::read(&expected.expect("a file of the corpus"));
            let differences = match try_fill(file, &data.to_string(), "{}") {
                Ok(filled) => compared(&Book::read(&filled.file), &expected),
                Err(why) => vec![why.to_string()],
            };
            (name, differences)
        })
        .collect();
    let other: BTreeSet<&str> = scores
        .iter()
        .filter(|(_, differences)| !differences.is_empty())
        .map(|(name, differences)| {
            println!("{name}\n  {}", differences.join("\n  "));
            name.as_str()
        })
        .collect();
    println!("{} templates scored: {} differ", scores.len(), other.len());
    assert!(scores.len() >= 75, "the corpus is not whole");
    assert!((scores.len() - other.len()) * 100 >= scores.len() * 93, "too many differ");
    assert_eq!(other, OTHER.iter().map(|&(name, _)| name).collect(), "each difference has its reason");
}

/// Name, template with tags in our dialect, and data of each but those with the chart helper.
pub fn templates(folder: &Path) -> Vec<(String, Vec<u8>, Json)> {
    let files = std::fs::read_dir(folder.join("jsreport")).expect("the corpus is there");
    let data = files.map(|file| file.expect("a file of the corpus").path()).filter(|path| {
        path.extension().is_some_and(|end| end == "json") && path.with_extension("expected.xlsx").exists()
    });
    let template = |path: PathBuf| {
        let read = |end: &str| std::fs::read(path.with_extension(end)).expect("a file of the corpus");
        let file = read("template.xlsx");
        let json: Json = serde_json::from_slice(&read("json")).expect("its data is JSON");
        let name = path.file_stem().expect("a name").to_string_lossy().trim_start_matches("xlsx-").to_owned();
        (!has(&file, CHART_HELPER)).then(|| (name, translated(&file), json["data"].clone()))
    };
    data.filter_map(template).collect()
}

fn has(file: &[u8], word: &str) -> bool {
    entries(file).iter().any(|(_, content)| String::from_utf8_lossy(content).contains(word))
}

/// The template with its tags in our dialect, wherever they stand.
fn translated(file: &[u8]) -> Vec<u8> {
    let parts: Vec<(String, Vec<u8>)> = entries(file)
        .into_iter()
        .map(|(name, content)| match String::from_utf8(content) {
            Ok(text) if !name.contains("theme") => (name, tags(&text).into_bytes()),
            Ok(text) => (name, text.into_bytes()),
            Err(bytes) => (name, bytes.into_bytes()),
        })
        .collect();
    let parts: Vec<(&str, &[u8])> =
        parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&parts)
}

fn tags(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let mut around = Loop::default();
    while let Some((before, (tag, after))) =
        rest.split_once("{{").and_then(|(before, from)| Some((before, from.split_once("}}")?)))
    {
        out.push_str(before);
        out.push_str(&one(tag, &mut around));
        rest = after;
    }
    out + rest
}

/// The loop that one is in.
#[derive(Default)]
struct Loop {
    /// What it calls its item.
    item: String,
    /// Whether it is of rows and of the cells of each.
    is_of_cells: bool,
}

fn one(tag: &str, around: &mut Loop) -> String {
    let Some(of) = tag.strip_prefix("#each ") else {
        let own = tag.strip_prefix(&format!("{}.", around.item)).filter(|_| !around.item.is_empty());
        return match tag {
            "/each" if around.is_of_cells => "{/}{/}".to_owned(),
            "/each" => "{/}".to_owned(),
            "this" => "{.}".to_owned(),
            _ => format!("{{{}}}", own.unwrap_or(tag).replace("../", "$parent?.")),
        };
    };
    let (of, named) = of.split_once(" as |").unwrap_or((of, ""));
    let cells = of.strip_prefix("cells=");
    *around = Loop { item: named.trim_end_matches('|').to_owned(), is_of_cells: cells.is_some() };
    match (cells, of.strip_suffix(" vertical=true")) {
        (Some(list), _) => format!("{{-rows {list}}}{{-right .}}"),
        (_, Some(list)) => format!("{{-right {list}}}"),
        _ => format!("{{#{of}}}"),
    }
}

/// Where the two differ, and how.
fn compared(made: &Book, expected: &Book) -> Vec<String> {
    let mut differences = Vec::new();
    let names = |book: &Book| book.sheets.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if names(made) != names(expected) {
        return vec![format!("sheets: made {:?}, expected {:?}", names(made), names(expected))];
    }
    for ((name, made), (_, expected)) in made.sheets.iter().zip(&expected.sheets) {
        let places: BTreeSet<_> = made.keys().chain(expected.keys()).collect();
        for place in places {
            let cell = |cells: &BTreeMap<_, Cell>| {
                let mut cell = cells.get(place).cloned().unwrap_or_default();
                if cell.formula.is_some() {
                    cell.value = Value::Empty;
                } else if cell.value == Value::Empty {
                    cell.style = 0;
                }
                cell
            };
            let (made, expected) = (cell(made), cell(expected));
            if made != expected {
                differences.push(format!("{name}!{}: made {made:?}, expected {expected:?}", address(*place)));
            }
        }
    }
    let only = |one: &Book, other: &Book, who: &str| {
        one.references
            .difference(&other.references)
            .map(|line| format!("{who} only: {line}"))
            .collect::<Vec<_>>()
    };
    differences.extend(only(made, expected, "made"));
    differences.extend(only(expected, made, "expected"));
    differences
}
