//! What holds of any text and any document, whoever wrote it: the bodies of the fuzz targets (`fuzz/`), and of tests of this crate.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use office_template::lexer::{Delimiters, lex};
use office_template::{Error, Limit, Limits, NoFiles, Template};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

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

/// A Word document of these bytes is refused, or filled with something that is well-formed.
pub fn document(xml: &[u8]) {
    if let Err(error) = check(&[("[Content_Types].xml", TYPES), ("word/document.xml", xml)]) {
        panic!("{error}: {}", String::from_utf8_lossy(xml));
    }
}

/// The same of an Office file: `bytes` are its parts, each a name, a NUL, its content and a NUL.
pub fn file(bytes: &[u8]) {
    let pieces: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let parts = pieces.chunks_exact(2).map(|piece| Some((std::str::from_utf8(piece[0]).ok()?, piece[1])));
    let parts = parts.collect::<Option<Vec<_>>>().unwrap_or_default();
    match check(&parts) {
        // A part that only filling reads may be broken.
        Ok(()) | Err(Error::NotOffice(_)) => {}
        Err(error) => panic!("{error}: {}", shown(&parts)),
    }
}

/// The error is one of filling, where reading had none to tell, and the answers are of the kind that all tags take.
fn check(parts: &[(&str, &[u8])]) -> Result<(), Error> {
    let Some(Ok(template)) = packed(parts).map(|file| Template::read(file, None, &limits())) else {
        return Ok(());
    };
    let steps: Value = serde_json::from_str(template.program()).expect("a program is JSON");
    // A part without tags is copied unread.
    if steps == json!([]) {
        return Ok(());
    }
    let answer = json!({ "faults": [], "tree": answers(&steps, 0) });
    match template.fill(&answer.to_string(), &mut NoFiles) {
        Ok(filled) => changed_parts_are_well_formed(parts, &filled.file),
        Err(Error::Limit(_)) => {}
        Err(error) if are_known(&steps) => return Err(error),
        Err(_) => {}
    }
    Ok(())
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

const TYPES: &[u8] = b"<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override PartName=\"/word/document.xml\" \
    ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";

/// The file of these parts; nothing where two have one name.
fn packed(parts: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in parts {
        writer.start_file(*name, options).ok()?;
        writer.write_all(content).expect("a part is written");
    }
    Some(writer.finish().expect("an archive ends").into_inner())
}

fn shown(parts: &[(&str, &[u8])]) -> String {
    let part = |(name, content): &(&str, &[u8])| format!("{name}: {}\n", String::from_utf8_lossy(content));
    parts.iter().map(part).collect::<Vec<_>>().concat()
}

/// Every part that was written; those that were copied unread may be anything.
fn changed_parts_are_well_formed(parts: &[(&str, &[u8])], file: &[u8]) {
    let mut archive = ZipArchive::new(Cursor::new(file)).expect("an archive");
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("a part");
        let name = entry.name().expect("it has a name").into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("it is unpacked");
        let is_copied = parts.contains(&(&name, &content));
        if !is_copied && Path::new(&name).extension().is_some_and(|it| it == "xml") {
            well_formed(std::str::from_utf8(&content).expect("it is UTF-8"));
        }
    }
}

fn well_formed(xml: &str) {
    let mut reader = Reader::from_str(xml);
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
