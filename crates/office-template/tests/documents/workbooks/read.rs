//! What stands in a workbook, as far as tests ask for it.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::support::entries;

/// Row and column, from 1.
pub type Address = (u32, u32);

#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    #[default]
    Empty,
    Number(f64),
    Text(String),
    Truth(bool),
    Error(String),
}

/// A cell; one that is not written is none of its sheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    pub value: Value,
    pub formula: Option<String>,
    pub style: u32,
}

#[derive(Debug, Default)]
pub struct Book {
    /// The cells of each sheet, by its name, in the order of the tabs.
    pub sheets: Vec<(String, BTreeMap<Address, Cell>)>,
    /// Everything outside of cells that refers to cells, and the heights of rows: part, element, reference.
    pub references: BTreeSet<String>,
}

impl Book {
    pub fn read(file: &[u8]) -> Self {
        let parts: BTreeMap<String, String> = entries(file)
            .into_iter()
            .filter_map(|(name, content)| Some((name, String::from_utf8(content).ok()?)))
            .collect();
        let texts = parts.get("xl/sharedStrings.xml").map_or_else(Vec::new, |xml| shared(xml));
        let links = attributes(&parts["xl/_rels/workbook.xml.rels"], "Relationship");
        let sheets = attributes(&parts["xl/workbook.xml"], "sheet").into_iter().map(|sheet| {
            let link = links.iter().find(|link| link["Id"] == sheet["id"]).expect("a sheet has its part");
            let part = link["Target"].trim_start_matches("/xl/");
            (sheet["name"].clone(), cells(&parts[&format!("xl/{part}")], &texts))
        });
        let references = parts.iter().filter(|(name, _)| name.starts_with("xl/"));
        Self {
            sheets: sheets.collect(),
            references: references.flat_map(|(name, xml)| refers(name, xml)).collect(),
        }
    }

    /// The cells of a sheet; none where there is no such sheet.
    pub fn sheet(&self, name: &str) -> Option<&BTreeMap<Address, Cell>> {
        self.sheets.iter().find(|(found, _)| found == name).map(|(_, cells)| cells)
    }

    pub fn cell(&self, sheet: &str, address: &str) -> Option<&Cell> {
        self.sheet(sheet)?.get(&read_address(address))
    }
}

/// `B7` as row and column.
pub fn read_address(text: &str) -> Address {
    let digits = text.find(|letter: char| letter.is_ascii_digit()).expect("a row");
    let column = text[..digits].bytes().fold(0, |column, letter| column * 26 + u32::from(letter - b'A') + 1);
    (text[digits..].parse().expect("a row"), column)
}

pub fn address((row, column): Address) -> String {
    let (mut letters, mut rest) = (Vec::new(), column);
    while rest > 0 {
        letters.push(b'A' + u8::try_from((rest - 1) % 26).expect("a letter"));
        rest = (rest - 1) / 26;
    }
    letters.reverse();
    format!("{}{row}", String::from_utf8(letters).expect("letters"))
}

type Attributes = BTreeMap<String, String>;

fn local(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn attributes_of(tag: &BytesStart<'_>) -> Attributes {
    let read = |attribute: quick_xml::events::attributes::Attribute<'_>| {
        let value = String::from_utf8_lossy(&attribute.value).into_owned();
        (local(attribute.key.local_name().as_ref()), unescape(&value).expect("a text").into_owned())
    };
    tag.attributes().map(|attribute| read(attribute.expect("well-formed"))).collect()
}

/// The attributes of all elements of a name.
fn attributes(xml: &str, name: &str) -> Vec<Attributes> {
    let mut found = Vec::new();
    walk(xml, |path, attributes, _| {
        if path.last().is_some_and(|last| last == name) {
            found.push(attributes.clone());
        }
    });
    found
}

/// Calls for every element when it ends: the names from the root to it, its attributes, the text directly in it.
fn walk(xml: &str, mut each: impl FnMut(&[String], &Attributes, &str)) {
    let mut reader = Reader::from_str(xml);
    let mut path: Vec<String> = Vec::new();
    let mut open: Vec<(Attributes, String)> = Vec::new();
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(tag) => {
                path.push(local(tag.local_name().as_ref()));
                open.push((attributes_of(&tag), String::new()));
            }
            Event::Empty(tag) => {
                path.push(local(tag.local_name().as_ref()));
                each(&path, &attributes_of(&tag), "");
                path.pop();
            }
            Event::End(_) => {
                let (attributes, text) = open.pop().expect("it began");
                each(&path, &attributes, &text);
                path.pop();
            }
            Event::Text(text) => {
                if let Some((_, to)) = open.last_mut() {
                    to.push_str(&text.decode().expect("UTF-8"));
                }
            }
            Event::GeneralRef(reference) => {
                let name = String::from_utf8_lossy(&reference).into_owned();
                let text = unescape(&format!("&{name};")).expect("an entity of XML").into_owned();
                open.last_mut().expect("in an element").1.push_str(&text);
            }
            Event::Eof => return,
            Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn shared(xml: &str) -> Vec<String> {
    let (mut all, mut text) = (Vec::new(), String::new());
    walk(xml, |path, _, part| match path.last().map(String::as_str) {
        Some("t") if !path.iter().any(|name| name == "rPh") => text.push_str(part),
        Some("si") => all.push(std::mem::take(&mut text)),
        _ => {}
    });
    all
}

fn cells(xml: &str, texts: &[String]) -> BTreeMap<Address, Cell> {
    let mut all = BTreeMap::new();
    let (mut value, mut inline, mut formula) = (None, String::new(), None);
    walk(xml, |path, attributes, text| match path.last().map(String::as_str) {
        Some("t") if path.iter().any(|name| name == "is") => inline.push_str(text),
        Some("v") => value = Some(text.to_owned()),
        Some("f") if path.iter().any(|name| name == "c") => formula = Some(text.to_owned()),
        Some("c") => {
            let number = |text: &str| text.parse::<f64>().expect("a number");
            let kind = attributes.get("t").map_or("n", String::as_str);
            let read = match (kind, value.take()) {
                ("s", Some(index)) => Value::Text(texts[index.parse::<usize>().expect("a place")].clone()),
                ("b", Some(truth)) => Value::Truth(truth == "1"),
                ("e", Some(error)) => Value::Error(error),
                ("str", Some(text)) => Value::Text(text),
                ("n", Some(text)) => Value::Number(number(&text)),
                _ => Value::Text(std::mem::take(&mut inline)),
            };
            let value = if read == Value::Text(String::new()) { Value::Empty } else { read };
            let style = attributes.get("s").map_or(0, |style| style.parse().expect("a style"));
            inline.clear();
            all.insert(read_address(&attributes["r"]), Cell { value, formula: formula.take(), style });
        }
        _ => {}
    });
    all
}

/// What refers to cells in a part, but for its cells, and what is only the state of a window.
fn refers(part: &str, xml: &str) -> Vec<String> {
    if part.contains("/_rels/")
        || part.starts_with("_rels/")
        || part.starts_with("xl/pivot")
        || !xml.starts_with('<')
    {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut corner = String::new();
    walk(xml, |path, attributes, text| {
        let name = path.last().map_or("", String::as_str);
        let is_in = |outer: &str| path.iter().any(|name| name == outer);
        let mut add = |what: &str| all.push(format!("{part} {name} {what}"));
        if is_in("sheetViews") || name == "dimension" || is_in("c") {
            return;
        }
        for key in ["ref", "sqref", "location", "min", "max"] {
            if let Some(value) = attributes.get(key) {
                add(&format!("{key}={value}"));
            }
        }
        match name {
            "row" if is_in("sheetData") => {
                for key in ["ht", "hidden", "outlineLevel", "s"] {
                    if let Some(value) = attributes.get(key) {
                        add(&format!("{} {key}={value}", attributes["r"]));
                    }
                }
            }
            "tableColumn" => add(&attributes["name"]),
            "brk" => add(&attributes["id"]),
            "definedName" => add(&format!("{}={text}", attributes["name"])),
            "f" | "formula" | "formula1" | "formula2" | "sqref" => add(text),
            "col" | "row" => corner.extend([" ", text]),
            "from" | "to" => add(&std::mem::take(&mut corner)),
            _ => {}
        }
    });
    all
}
