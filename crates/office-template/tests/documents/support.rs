//! A real engine, Word files made by code, and what stands in them.

#![expect(clippy::wildcard_enum_match_arm, reason = "of the many events of XML, a few matter")]

use std::fmt::Write as _;
use std::io::{Cursor, Read, Write as _};

use javascriptcore6::{Context, VirtualMachine};
use office_template::{Delimiters, Error, Filled, Limit, Limits, Needs, NoFiles, Template, library};
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

pub const DOCUMENT: &str = "word/document.xml";
pub const RELATIONS: &str = "word/_rels/document.xml.rels";
/// What has braces and is no tag.
pub const GUID: &str = "{28A0092B-C50C-407E-A947-70E740481C1C}";
const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
     xmlns:w14=\"http://schemas.microsoft.com/office/word/2010/wordml\" \
     xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
     xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\" \
     xmlns:wps=\"http://schemas.microsoft.com/office/word/2010/wordprocessingShape\" xmlns:v=\"urn:schemas-microsoft-com:vml\"";

/// How often sections may be repeated.
const ITEMS: u64 = 1_000_000;

/// Limits that no honest test reaches.
pub fn limits() -> Limits {
    let limit = |name, value| Limit { name, value };
    Limits {
        entries: limit("test.entries", 100),
        unpacked_bytes: limit("test.unpacked", 100 << 20),
        ratio: limit("test.ratio", 200),
        depth: limit("test.depth", 200),
        elements: limit("test.elements", 4_000_000),
        attributes: limit("test.attributes", 1000),
        items: limit("test.items", ITEMS),
        slides: limit("test.slides", 1000),
        own_parts: limit("test.parts", 10_000),
        tags: limit("test.tags", 5000),
        output_bytes: limit("test.output", 200 << 20),
    }
}

/// What the template's program answers: a fresh machine each time, as in the service.
pub fn run(program: &str, data: &str, settings: &str) -> String {
    let context = Context::with_virtual_machine(&VirtualMachine::new());
    let needs = Needs::of(data.as_bytes());
    let read = if needs.long_numbers { "fill.read" } else { "JSON.parse" };
    let library = context.evaluate(&library(program, needs)).expect("the library loads");
    let (program, data) = (literal(program), literal(data));
    let settings = format!("{{ ...{settings}, items: {ITEMS} }}");
    let code = format!("(fill) => fill({program}, {read}({data}), {settings})");
    let value = context.evaluate(&code).expect("a function").function_callv(&[library]);
    if let Some(exception) = context.exception() {
        panic!("the library failed: {:?} at line {}", exception.message(), exception.line_number());
    }
    value.expect("the library answers").to_str().to_string()
}

fn literal(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// Fills a file, or says why not.
pub fn try_fill(file: Vec<u8>, data: &str, settings: &str) -> Result<Filled, Error> {
    let without_engine =
        crate::paths::without(&file, data, settings.replace('"', "").contains("strict:true"));
    let template = Template::read(file, None, &limits())?;
    let answer = run(template.program(), data, settings);
    let filled = template.fill(&answer, &mut NoFiles)?;
    if let Some(other) = without_engine {
        assert!(other?.file == filled.file, "it takes no engine, and is another document with one");
    }
    for (name, content) in entries(&filled.file) {
        if [".xml", ".rels"].iter().any(|end| name.ends_with(end)) {
            well_formed(&name, &content);
        }
    }
    Ok(filled)
}

/// The body of a document with `body`, filled.
pub fn fill(body: &str, data: &str) -> String {
    fill_with(body, data, "{}")
}

pub fn fill_with(body: &str, data: &str, settings: &str) -> String {
    let filled = try_fill(docx(body), data, settings).unwrap_or_else(|error| panic!("{body}: {error}"));
    inner(&part(&filled.file, DOCUMENT))
}

/// Why a document with `body` cannot be filled.
pub fn fault(body: &str, data: &str, settings: &str) -> String {
    match try_fill(docx(body), data, settings) {
        Ok(filled) => panic!("{body} is filled: {}", inner(&part(&filled.file, DOCUMENT))),
        Err(error) => error.to_string(),
    }
}

fn inner(document: &str) -> String {
    let begin = document.find("<w:body>").expect("a body") + "<w:body>".len();
    document[begin..document.rfind("<w:sectPr").expect("a section")].to_owned()
}

/// A paragraph of one run.
pub fn p(text: &str) -> String {
    format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", escape(text))
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A table; a row a line, its cells parted by `|`.
pub fn table(rows: &[&[&str]]) -> String {
    let cell = |text: &&str| format!("<w:tc><w:tcPr/>{}</w:tc>", p(text));
    let row = |cells: &&[&str]| format!("<w:tr>{}</w:tr>", cells.iter().map(cell).collect::<String>());
    format!("<w:tbl><w:tblPr/><w:tblGrid/>{}</w:tbl>", rows.iter().map(row).collect::<String>())
}

pub fn docx(body: &str) -> Vec<u8> {
    docx_with(body, &[])
}

/// A document with further parts: name, end of the content type, root, content.
pub fn docx_with(body: &str, others: &[(&str, &str, &str, &str)]) -> Vec<u8> {
    let main = "application/vnd.openxmlformats-officedocument.wordprocessingml";
    let mut types =
        format!("<Override PartName=\"/word/document.xml\" ContentType=\"{main}.document.main+xml\"/>");
    let mut links = String::new();
    let mut files = Vec::new();
    for (index, (name, kind, root, content)) in others.iter().enumerate() {
        write!(types, "<Override PartName=\"/word/{name}\" ContentType=\"{main}.{kind}+xml\"/>")
            .expect("a text grows");
        write!(
            links,
            "<Relationship Id=\"rId{}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" \
             Target=\"{name}\"/>",
            index + 1
        )
        .expect("a text grows");
        files.push((format!("word/{name}"), format!("<w:{root} {NAMESPACES}>{content}</w:{root}>")));
    }
    let relationships = "http://schemas.openxmlformats.org/package/2006/relationships";
    let mut all = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
                 <Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
                 <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
                 <Default Extension=\"xml\" ContentType=\"application/xml\"/>{types}</Types>"
            ),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                "<Relationships xmlns=\"{relationships}\"><Relationship Id=\"rId1\" \
                 Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
                 Target=\"word/document.xml\"/></Relationships>"
            ),
        ),
        (DOCUMENT.to_owned(), document(body)),
        (
            "word/_rels/document.xml.rels".to_owned(),
            format!("<Relationships xmlns=\"{relationships}\">{links}</Relationships>"),
        ),
    ];
    all.extend(files);
    let all: Vec<(&str, &[u8])> =
        all.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    zipped(&all)
}

pub fn document(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:document {NAMESPACES}><w:body>{body}\
         <w:sectPr/></w:body></w:document>"
    )
}

pub fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).expect("an entry begins");
        writer.write_all(content).expect("an entry is written");
    }
    writer.finish().expect("an archive ends").into_inner()
}

pub fn entries(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(file)).expect("an archive");
    let count = archive.len();
    let read = |index| {
        let mut entry = archive.by_index(index).expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("an entry is whole");
        (entry.name().expect("a name").into_owned(), content)
    };
    (0..count).map(read).collect()
}

pub fn part(file: &[u8], name: &str) -> String {
    let (_, content) = entries(file).into_iter().find(|(found, _)| found == name).expect("the part is there");
    String::from_utf8(content).expect("a part is UTF-8")
}

pub fn well_formed(name: &str, content: &[u8]) {
    let mut reader = Reader::from_reader(content);
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{name}: {error}")) {
            Event::Start(tag) => {
                depth += 1;
                let broken = tag.attributes().find_map(Result::err);
                assert!(broken.is_none(), "{name}: {broken:?}");
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) => {
                let text = text.decode().expect("a text is UTF-8");
                let bad = text.chars().find(|&letter| {
                    letter < ' ' && !"\t\r\n".contains(letter) || ('\u{fffe}'..='\u{ffff}').contains(&letter)
                });
                assert!(bad.is_none(), "{name}: {bad:?} in {text:?}");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{name} ends too early");
}

/// The text of each paragraph, breaks and tabs as letters.
pub fn paragraphs(xml: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<usize> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    let mut in_text = false;
    loop {
        let event = reader.read_event().expect("well-formed");
        let mut add = |text: &str| {
            if let Some(&index) = open.last() {
                all[index].push_str(text);
            }
        };
        match event {
            Event::Start(tag) if tag.name().as_ref() == b"w:p" => {
                open.push(all.len());
                all.push(String::new());
            }
            Event::Empty(tag) if tag.name().as_ref() == b"w:p" => all.push(String::new()),
            Event::End(tag) if tag.name().as_ref() == b"w:p" => {
                open.pop();
            }
            Event::Start(tag) if tag.name().as_ref() == b"w:t" => in_text = true,
            Event::End(tag) if tag.name().as_ref() == b"w:t" => in_text = false,
            Event::Empty(tag) if tag.name().as_ref() == b"w:br" => add("\n"),
            Event::Empty(tag) if tag.name().as_ref() == b"w:tab" => add("\t"),
            Event::Text(text) if in_text => add(&text.decode().expect("UTF-8")),
            Event::GeneralRef(reference) if in_text => add(match &*reference {
                b"amp" => "&",
                b"lt" => "<",
                b"gt" => ">",
                b"quot" => "\"",
                b"apos" => "'",
                other => panic!("{other:?}"),
            }),
            Event::Eof => return all,
            _ => {}
        }
    }
}

/// The texts of the paragraphs of a document with `body`, filled; parted by `¶`.
pub fn text(body: &str, data: &str) -> String {
    paragraphs(&fill(body, data)).join("¶")
}

/// The text of one paragraph, filled.
pub fn say(paragraph: &str, data: &str) -> String {
    text(&p(paragraph), data)
}

pub fn say_with(paragraph: &str, data: &str, settings: &str) -> String {
    paragraphs(&fill_with(&p(paragraph), data, settings)).join("¶")
}

pub fn delimiters(start: &str, end: &str) -> Delimiters {
    Delimiters { start: start.to_owned(), end: end.to_owned() }
}

/// A paragraph, or another element of text alone.
#[derive(Debug, Default)]
pub struct Block {
    pub text: String,
    /// Its runs: text, and what is said of its style.
    pub runs: Vec<(String, String)>,
}

/// The paragraphs of a part, and texts outside of them.
pub fn blocks(xml: &str) -> Vec<Block> {
    let mut reader = Reader::from_str(xml);
    let (mut all, mut open): (Vec<Block>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut path, mut style, mut is_style): (Vec<String>, String, bool) = Default::default();
    let mut from = 0;
    loop {
        let Ok(event) = reader.read_event() else { return all };
        let end = usize::try_from(reader.buffer_position()).expect("a place in a text");
        let raw = &xml[from..end];
        from = end;
        let is_of_run = path.len() > 1 && path[path.len() - 2] == "r" && path[path.len() - 1] == "rPr";
        is_style = is_style && path.iter().any(|name| name == "rPr") || is_of_run;
        if is_style && !raw.trim().is_empty() && !raw.starts_with("</") {
            style.push_str(&raw.replace("/>", ">").replace(' ', ""));
        }
        let mut add = |text: &str| {
            if let Some(block) = open.last().and_then(|&index| all.get_mut(index)) {
                block.text.push_str(text);
                block.runs.push((text.to_owned(), style.clone()));
            }
        };
        match event {
            Event::Start(tag) => {
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                if name == "p" {
                    open.push(all.len());
                    all.push(Block::default());
                } else if name == "r" {
                    style.clear();
                }
                path.push(name);
            }
            Event::Empty(tag) => match tag.local_name().as_ref() {
                b"p" => all.push(Block::default()),
                b"br" => add("\n"),
                b"tab" if path.last().is_some_and(|name| name == "r") => add("\t"),
                _ => {}
            },
            Event::End(_) => {
                let ended = path.pop();
                if ended.as_deref() == Some("p") {
                    open.pop();
                }
            }
            Event::Text(text) if path.last().is_some_and(|name| name == "t") => {
                add(&text.decode().expect("UTF-8"));
            }
            Event::GeneralRef(reference) if path.last().is_some_and(|name| name == "t") => {
                let letter = match &*reference {
                    b"amp" => "&",
                    b"lt" => "<",
                    b"gt" => ">",
                    b"quot" => "\"",
                    b"apos" => "'",
                    _ => "?",
                };
                add(letter);
            }
            Event::Text(text) if open.is_empty() && !text.iter().all(u8::is_ascii_whitespace) => {
                let text = text.decode().expect("UTF-8").into_owned();
                all.push(Block { text, ..Block::default() });
            }
            Event::Eof => return all,
            _ => {}
        }
    }
}

/// A document with further parts of any kind (name, content type, content), and links (id, address).
pub fn package(body: &str, parts: &[(&str, &str, &str)], links: &[(&str, &str)]) -> Vec<u8> {
    let mut files = entries(&docx(body));
    let mut types = String::new();
    for (name, kind, content) in parts {
        write!(types, "<Override PartName=\"/{name}\" ContentType=\"{kind}\"/>").expect("a text grows");
        files.push(((*name).to_owned(), content.as_bytes().to_vec()));
    }
    let mut relationships = String::new();
    for (id, address) in links {
        write!(
            relationships,
            "<Relationship Id=\"{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink\" \
             Target=\"{address}\" TargetMode=\"External\"/>"
        )
        .expect("a text grows");
    }
    for (name, content) in &mut files {
        let (end, more) = match name.as_str() {
            "[Content_Types].xml" => ("</Types>", &types),
            RELATIONS => ("</Relationships>", &relationships),
            _ => continue,
        };
        let text = String::from_utf8(std::mem::take(content)).expect("UTF-8");
        *content = text.replace(end, &format!("{more}{end}")).into_bytes();
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&files)
}
