//! Small Office files with one text or one sheet, made when they are wanted.

use std::io::{self, Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const FORMATS: &str = "application/vnd.openxmlformats-officedocument";

/// A Word document of one paragraph.
pub fn word(text: &str) -> io::Result<Vec<u8>> {
    let main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let document = format!(
        "<w:document xmlns:w=\"{main}\"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
    );
    let parts = [("word/document.xml", "wordprocessingml.document.main", document)];
    package(&parts, &[])
}

/// A workbook of one sheet with these rows.
pub fn workbook(rows: &str) -> io::Result<Vec<u8>> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let book = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"List\" sheetId=\"1\" \
         r:id=\"rId1\"/></sheets></workbook>"
    );
    let sheet = format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>");
    let parts = [
        ("xl/workbook.xml", "spreadsheetml.sheet.main", book),
        ("xl/worksheets/sheet1.xml", "spreadsheetml.worksheet", sheet),
    ];
    package(&parts, &[("xl/_rels/workbook.xml.rels", links("worksheet", "worksheets/sheet1.xml"))])
}

/// A presentation of one slide with this text.
pub fn presentation(text: &str) -> io::Result<Vec<u8>> {
    let names = format!(
        "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
         xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" xmlns:r=\"{OFFICE}\""
    );
    let deck = format!(
        "<p:presentation {names}><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId1\"/></p:sldIdLst>\
         <p:sldSz cx=\"9144000\" cy=\"6858000\"/></p:presentation>"
    );
    let slide = format!(
        "<p:sld {names}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/>\
         </p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Text\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>\
         <p:spPr><a:xfrm><a:off x=\"914400\" y=\"914400\"/><a:ext cx=\"7000000\" cy=\"1000000\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t>\
         </a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    );
    let parts = [
        ("ppt/presentation.xml", "presentationml.presentation.main", deck),
        ("ppt/slides/slide1.xml", "presentationml.slide", slide),
    ];
    package(&parts, &[("ppt/_rels/presentation.xml.rels", links("slide", "slides/slide1.xml"))])
}

/// An archive of parts with their types, the first of which is the document, and of further files.
fn package(parts: &[(&str, &str, String)], files: &[(&str, String)]) -> io::Result<Vec<u8>> {
    let types = parts.iter().map(|(name, kind, _)| {
        format!("<Override PartName=\"/{name}\" ContentType=\"{FORMATS}.{kind}+xml\"/>")
    });
    let types = types.collect::<Vec<_>>().concat();
    let types = format!(
        "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>{types}</Types>"
    );
    let document = parts.first().map_or("", |(name, ..)| name);
    let own = [("[Content_Types].xml", types), ("_rels/.rels", links("officeDocument", document))];
    let parts = parts.iter().map(|(name, _, xml)| (*name, xml));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, xml) in own.iter().chain(files).map(|(name, xml)| (*name, xml)).chain(parts) {
        writer.start_file(name, SimpleFileOptions::default()).map_err(io::Error::other)?;
        writer.write_all(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{xml}").as_bytes())?;
    }
    Ok(writer.finish().map_err(io::Error::other)?.into_inner())
}

fn links(kind: &str, target: &str) -> String {
    format!(
        "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"rId1\" Type=\"{OFFICE}/{kind}\" \
         Target=\"{target}\"/></Relationships>"
    )
}
