//! What holds of any text and any document, whoever wrote it: the bodies of the fuzz targets (`fuzz/`), and of tests of this crate.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{Cursor, Read as _, Write as _};

use office_template::lexer::{Delimiters, lex};
use office_template::{Error, Limit, Limits, NoFiles, Template};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Sections inside of sections that are written twice; deeper ones once, for their copies multiply.
const DOUBLED: usize = 4;

/// Tags stand in their order, each where the text can be cut.
pub fn text(text: &str) {
    let mut behind = 0;
    for token in lex(text, &mut Delimiters::default()) {
        assert!(token.range.start >= behind && text.get(token.range.clone()).is_some());
        behind = token.range.end;
    }
}

/// A document of these bytes is refused, or filled with something that is well-formed.
pub fn document(xml: &[u8]) {
    let Ok(template) = Template::read(docx(xml), None, &limits()) else { return };
    let steps: Value = serde_json::from_str(template.program()).expect("a program is JSON");
    // A part without tags is copied unread.
    if steps == json!([]) {
        return;
    }
    let answer = json!({ "faults": [], "tree": answers(&steps, 0) });
    match template.fill(&answer.to_string(), &mut NoFiles) {
        Ok(filled) => well_formed(&filled.file),
        Err(Error::Limit(_)) => {}
        Err(error) => {
            assert!(!are_known(&steps), "{error}: {}", String::from_utf8_lossy(xml));
        }
    }
}

/// To each value a text, to each section its body again.
fn answers(steps: &Value, depth: usize) -> Value {
    let answer = |step: &Value| match step["kind"].as_str() {
        Some("section" | "otherwise") => {
            let copy = answers(&step["body"], depth + 1);
            if depth < DOUBLED { json!([copy, copy]) } else { json!([copy]) }
        }
        _ => json!("a\n<b>\t{c}"),
    };
    steps.as_array().into_iter().flatten().map(answer).collect()
}

/// Whether these answers are of the kind that all steps take.
fn are_known(steps: &Value) -> bool {
    let is_known = |step: &Value| {
        matches!(step["kind"].as_str(), Some("value" | "section" | "otherwise")) && are_known(&step["body"])
    };
    steps.as_array().into_iter().flatten().all(is_known)
}

fn limits() -> Limits {
    let limit = |name, value| Limit { name, value };
    Limits {
        entries: limit("entries", 10),
        unpacked_bytes: limit("unpacked_bytes", 10 << 20),
        ratio: limit("ratio", 1000),
        depth: limit("depth", 100),
        elements: limit("elements", 1 << 22),
        attributes: limit("attributes", 1000),
        items: limit("items", 1 << 20),
        slides: limit("any.slides", 1000),
        own_parts: limit("any.parts", 1000),
        tags: limit("tags", 1000),
        output_bytes: limit("output_bytes", 10 << 20),
    }
}

const MAIN: &str = "word/document.xml";

/// The smallest file around a document.
fn docx(xml: &[u8]) -> Vec<u8> {
    const TYPES: &str = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override PartName=\"/word/document.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("[Content_Types].xml", TYPES.as_bytes()), (MAIN, xml)] {
        writer.start_file(name, SimpleFileOptions::default()).expect("an entry begins");
        writer.write_all(content).expect("an entry is written");
    }
    writer.finish().expect("an archive ends").into_inner()
}

fn well_formed(file: &[u8]) {
    let mut archive = ZipArchive::new(Cursor::new(file)).expect("an archive");
    let mut xml = String::new();
    let mut entry = archive.by_name(MAIN).expect("the document is there");
    entry.read_to_string(&mut xml).expect("it is UTF-8");
    let mut reader = Reader::from_str(&xml);
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}")) {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    assert_eq!(depth, 0, "it ends too early: {xml}");
}
