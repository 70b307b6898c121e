//! A package that is a whole document, and the ways to look at what was written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Read as _, Write as _};

use quick_xml::Reader;
use quick_xml::events::Event;
use word_writer::model::{Level, Picture, Role};
use word_writer::{Base, Content, Limits, Package, Written, html, numbering, styles, write};

const W: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const R: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// A document of nothing but what is written.
#[derive(Default)]
pub struct Docx {
    pub links: Vec<String>,
    pub pictures: usize,
    pub lists: Vec<Vec<Level>>,
    pub styles: BTreeMap<Role, String>,
}

impl Package for Docx {
    fn link(&mut self, url: &str) -> Result<String, String> {
        if url.contains("//[") {
            return Err("it names no host".into());
        }
        self.links.push(url.to_owned());
        Ok(format!("rLink{}", self.links.len()))
    }

    fn picture(&mut self, picture: &Picture) -> Result<String, String> {
        if !picture.source.starts_with("data:image/png") {
            return Err("no picture is there".into());
        }
        self.pictures += 1;
        Ok(drawing(self.pictures))
    }

    fn list(&mut self, levels: &[Level]) -> u32 {
        self.lists.push(levels.to_vec());
        u32::try_from(self.lists.len()).unwrap()
    }

    fn style(&mut self, role: Role) -> String {
        let id = styles::name(role).replace(' ', "");
        self.styles.insert(role, id.clone());
        id
    }
}

fn drawing(number: usize) -> String {
    let a = "http://schemas.openxmlformats.org/drawingml/2006/main";
    let pic = "http://schemas.openxmlformats.org/drawingml/2006/picture";
    let wp = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing";
    format!(
        "<w:drawing><wp:inline xmlns:wp=\"{wp}\"><wp:extent cx=\"457200\" cy=\"457200\"/><wp:docPr id=\"{number}\" name=\"p{number}\"/>\
         <a:graphic xmlns:a=\"{a}\"><a:graphicData uri=\"{pic}\"><pic:pic xmlns:pic=\"{pic}\"><pic:nvPicPr>\
         <pic:cNvPr id=\"{number}\" name=\"p\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed=\"rPicture\"/>\
         <a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/>\
         <a:ext cx=\"457200\" cy=\"457200\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>\
         </a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
}

/// A dot.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T', 0x78, 0x9C, 0x63, 0xF8, 0xCF,
    0xC0, 0xF0, 0x1F, 0, 5, 0, 1, 0xFF, 0x56, 0xC7, 0x2F, 0x0D, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE,
    0x42, 0x60, 0x82,
];

/// What is written of a text, and the package it was written for.
pub fn written(text: &str) -> (Written, Docx) {
    written_at(text, &Base::default())
}

/// The same, at a place.
pub fn written_at(text: &str, base: &Base) -> (Written, Docx) {
    let reading = html::read(text, &Limits::default()).unwrap();
    let mut docx = Docx::default();
    let written = write(&reading.document, base, &mut docx);
    (written, docx)
}

/// The elements that are written of a text, checked for being well-formed.
pub fn xml(text: &str) -> String {
    let (written, _) = written(text);
    let xml = match written.content {
        Content::Inline(xml) | Content::Blocks { xml, .. } => xml,
    };
    check(&xml);
    xml
}

/// Panics for what is not well-formed, for tables whose rows do not agree with their grid, for cells that end with a table, and for tables
/// that touch.
#[expect(clippy::too_many_lines, reason = "one pass over the events, with all that is checked on the way")]
pub fn check(xml: &str) {
    let whole = format!("<w:body xmlns:w=\"{W}\" xmlns:r=\"{R}\">{xml}</w:body>");
    let mut reader = Reader::from_str(&whole);
    let mut open: Vec<String> = Vec::new();
    // The element that was closed last in each open one.
    let mut last: Vec<String> = vec![String::new()];
    let mut grids: Vec<(usize, usize)> = Vec::new();
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("{error}: {whole}"));
        let (name, closes) = match &event {
            Event::Start(tag) => (tag.name(), false),
            Event::Empty(tag) => (tag.name(), true),
            Event::End(tag) => (tag.name(), true),
            Event::Text(text) => {
                assert!(text.decode().unwrap().chars().all(|one| one >= ' '), "a control character: {whole}");
                continue;
            }
            Event::Eof => break,
            Event::Comment(_)
            | Event::CData(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => continue,
        };
        let name = String::from_utf8(name.as_ref().to_vec()).unwrap();
        if let Event::Start(tag) | Event::Empty(tag) = &event {
            let value = || {
                let value = tag.attributes().map(Result::unwrap).next().unwrap().value;
                String::from_utf8(value.to_vec()).unwrap().parse::<usize>().unwrap()
            };
            tag.attributes().for_each(|one| assert!(one.is_ok()));
            match name.as_str() {
                "w:tbl" => {
                    assert_ne!(last.last().unwrap(), "w:tbl", "tables touch: {whole}");
                    grids.push((0, 0));
                }
                "w:gridCol" => grids.last_mut().unwrap().0 += 1,
                "w:tc" => grids.last_mut().unwrap().1 += 1,
                "w:gridSpan" => grids.last_mut().unwrap().1 += value() - 1,
                _ => {}
            }
        }
        match &event {
            Event::Start(_) => {
                open.push(name.clone());
                last.push(String::new());
            }
            Event::End(_) => {
                assert_eq!(open.pop().unwrap(), name);
                let ended = last.pop().unwrap();
                match name.as_str() {
                    "w:tc" => assert_eq!(ended, "w:p", "a cell ends with a paragraph: {whole}"),
                    "w:tr" => {
                        let (columns, found) = grids.last_mut().unwrap();
                        assert_eq!(columns, found, "a row as wide as the grid: {whole}");
                        *found = 0;
                    }
                    "w:tbl" => assert!(grids.pop().is_some()),
                    _ => {}
                }
            }
            Event::Empty(_)
            | Event::Eof
            | Event::Text(_)
            | Event::Comment(_)
            | Event::CData(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        if closes {
            *last.last_mut().unwrap() = name;
        }
    }
    assert!(open.is_empty());
}

/// A whole file of a text.
pub fn docx(text: &str) -> Vec<u8> {
    let (written, package) = written(text);
    let body = match written.content {
        Content::Inline(xml) => format!("<w:p>{xml}</w:p>"),
        Content::Blocks { xml, ends_with_table, .. } => xml + if ends_with_table { "<w:p/>" } else { "" },
    };
    let section = "<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/><w:pgMar w:top=\"1440\" w:right=\"1440\" w:bottom=\"1440\" \
                   w:left=\"1440\" w:header=\"708\" w:footer=\"708\" w:gutter=\"0\"/></w:sectPr>";
    let document =
        format!("<w:document xmlns:w=\"{W}\" xmlns:r=\"{R}\"><w:body>{body}{section}</w:body></w:document>");
    let mut relationships = format!(
        "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"rStyles\" Type=\"{R}/styles\" Target=\"styles.xml\"/>\
         <Relationship Id=\"rNumbering\" Type=\"{R}/numbering\" Target=\"numbering.xml\"/>\
         <Relationship Id=\"rPicture\" Type=\"{R}/image\" Target=\"media/dot.png\"/>"
    );
    for (place, link) in package.links.iter().enumerate() {
        let link = link.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let _ = write!(
            relationships,
            "<Relationship Id=\"rLink{}\" Type=\"{R}/hyperlink\" Target=\"{link}\" TargetMode=\"External\"/>",
            place + 1
        );
    }
    relationships.push_str("</Relationships>");
    let types = format!(
        "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"png\" ContentType=\"image/png\"/>{}</Types>",
        [("document", "document.main"), ("styles", "styles"), ("numbering", "numbering")]
            .map(|(part, kind)| format!(
                "<Override PartName=\"/word/{part}.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml\"/>"
            ))
            .concat()
    );
    let root = format!(
        "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{R}/officeDocument\" Target=\"word/document.xml\"/></Relationships>"
    );
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", relationships.as_bytes()),
        ("word/styles.xml", style_part(&package).as_bytes()),
        ("word/numbering.xml", numbering_part(&package).as_bytes()),
        ("word/media/dot.png", PNG),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn style_part(package: &Docx) -> String {
    let styles: String = package
        .styles
        .iter()
        .map(|(&role, id)| {
            styles::definition("w", role, id, (styles::kind(role) == "paragraph").then_some("Normal"))
        })
        .collect();
    format!(
        "<w:styles xmlns:w=\"{W}\"><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii=\"Carlito\" w:hAnsi=\"Carlito\" w:cs=\"Arial\"/>\
         <w:sz w:val=\"22\"/><w:szCs w:val=\"22\"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after=\"120\"/></w:pPr></w:pPrDefault>\
         </w:docDefaults><w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/></w:style>{styles}</w:styles>"
    )
}

fn numbering_part(package: &Docx) -> String {
    let ids = || (1_u32..).zip(&package.lists);
    let looks: String = ids().map(|(id, levels)| numbering::abstract_num("w", id, levels)).collect();
    let lists: String = ids().map(|(id, _)| numbering::num("w", id, id)).collect();
    format!("<w:numbering xmlns:w=\"{W}\">{looks}{lists}</w:numbering>")
}

/// The text of a part of a file.
pub fn part(file: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}
