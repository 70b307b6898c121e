//! A presentation of ten slides, each of which is there once for each of twenty items.

use std::io::{self, Cursor};

use serde_json::json;
use zip::ZipArchive;

use crate::documents::{Document, zipped};

/// Slides of the template.
const SLIDES: usize = 10;
/// Items of the data.
const ITEMS: usize = 20;
/// Lines of the table on each slide.
const LINES: usize = 8;

const NAMES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
    xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const MAIN: &str = "application/vnd.openxmlformats-officedocument.presentationml";

/// The template with its data.
pub fn deck() -> io::Result<Document> {
    let line = |line: usize| json!({ "article": format!("Menu cards, batch {line}"), "amount": line * 3 });
    let item = |item: usize| json!({ "customer": format!("Café Blåbær {item}"), "lines": (0..LINES).map(line).collect::<Vec<_>>() });
    let data = json!({ "items": (0..ITEMS).map(item).collect::<Vec<_>>() });
    let (file, computed) = (file("{customer}")?, file("{customer | upper}")?);
    let (foreign, rows, times) = (Vec::new(), SLIDES * ITEMS, 20);
    Ok(Document { kind: "pptx", file, foreign, computed, data, rows, times })
}

/// Whether there are so many slides.
pub fn check(archive: &ZipArchive<Cursor<&[u8]>>, slides: usize) -> io::Result<()> {
    let names = archive.file_names().filter_map(Result::ok);
    let found = names.filter(|name| name.starts_with("ppt/slides/slide")).count();
    if found == slides {
        return Ok(());
    }
    Err(io::Error::other(format!("{found} slides came in place of {slides}")))
}

/// Slides with a title and a table of the item's lines.
fn file(title: &str) -> io::Result<Vec<u8>> {
    let link = |id: usize, kind: &str, target: &str| {
        format!("<Relationship Id=\"rId{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let links = |all: &str| format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{all}</Relationships>");
    let mut parts = Vec::new();
    let (mut types, mut listed, mut relations) = (Vec::new(), Vec::new(), String::new());
    for number in 1..=SLIDES {
        types.push(format!(
            "<Override PartName=\"/ppt/slides/slide{number}.xml\" ContentType=\"{MAIN}.slide+xml\"/>"
        ));
        listed.push(format!("<p:sldId id=\"{}\" r:id=\"rId{number}\"/>", 255 + number));
        relations.push_str(&link(number, "slide", &format!("slides/slide{number}.xml")));
        parts.push((format!("ppt/slides/slide{number}.xml"), slide(number, title)));
    }
    let (types, listed) = (types.concat(), listed.concat());
    let kinds = format!(
        "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override \
         PartName=\"/ppt/presentation.xml\" ContentType=\"{MAIN}.presentation.main+xml\"/>{types}</Types>"
    );
    let main = format!("<p:presentation {NAMES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>");
    parts.extend([
        ("[Content_Types].xml".to_owned(), kinds),
        ("_rels/.rels".to_owned(), links(&link(1, "officeDocument", "ppt/presentation.xml"))),
        ("ppt/presentation.xml".to_owned(), main),
        ("ppt/_rels/presentation.xml.rels".to_owned(), links(&relations)),
    ]);
    zipped(&parts)
}

fn slide(number: usize, title: &str) -> String {
    let text = |text: &str| format!("<a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
    let cell = |tag: &str| format!("<a:tc><a:txBody>{}</a:txBody><a:tcPr/></a:tc>", text(tag));
    let title = text(&format!("{{:slides items}}Part {number} for {title}"));
    let cells = cell("{#lines}{article}") + &cell("{amount}{/lines}");
    format!(
        "<p:sld {NAMES}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Title\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>\
         <p:txBody>{title}</p:txBody></p:sp><p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"3\" name=\"Lines\"/>\
         <p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><a:graphic><a:graphicData \
         uri=\"http://schemas.openxmlformats.org/drawingml/2006/table\"><a:tbl><a:tblPr/><a:tblGrid><a:gridCol w=\"4000000\"/>\
         <a:gridCol w=\"2000000\"/></a:tblGrid><a:tr h=\"300000\">{cells}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>\
         </p:spTree></p:cSld></p:sld>"
    )
}
