//! Office files of a few parts, as strings: what an attacker writes by hand.

use crate::service::archive;

/// The namespaces that the bodies below use.
const WORD: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
    xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
    xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
    xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\" \
    xmlns:v=\"urn:schemas-microsoft-com:vml\" xmlns:o=\"urn:schemas-microsoft-com:office:office\"";
const SHEET: &str = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const SLIDE: &str = "xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" \
    xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const ODF: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
    xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" \
    xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
    xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" \
    xmlns:svg=\"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0\" \
    xmlns:script=\"urn:oasis:names:tc:opendocument:xmlns:script:1.0\" \
    xmlns:presentation=\"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0\" \
    xmlns:xlink=\"http://www.w3.org/1999/xlink\"";
const TYPE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/";

/// Further parts: path and content.
pub type Parts<'a> = &'a [(&'a str, &'a [u8])];

/// Relationships, each of a kind to a target; those with a scheme or a leading `/` lie outside.
pub fn relationships(all: &[(&str, &str)]) -> String {
    let one = |(at, (kind, target)): (usize, &(&str, &str))| {
        let mode = if target.contains(':') { " TargetMode=\"External\"" } else { "" };
        format!("<Relationship Id=\"r{}\" Type=\"{TYPE}{kind}\" Target=\"{target}\"{mode}/>", at + 1)
    };
    let all: String = all.iter().enumerate().map(one).collect();
    format!("<Relationships xmlns=\"{PACKAGE}relationships\">{all}</Relationships>")
}

fn types(main: &str, content: &str, more: &str) -> String {
    format!(
        "<Types xmlns=\"{PACKAGE}content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/><Default Extension=\"png\" ContentType=\"image/png\"/>\
         <Default Extension=\"svg\" ContentType=\"image/svg+xml\"/><Default Extension=\"bin\" ContentType=\"application/vnd.ms-office.vbaProject\"/>\
         <Override PartName=\"/{main}\" ContentType=\"application/vnd.openxmlformats-officedocument.{content}.main+xml\"/>{more}</Types>"
    )
}

/// A text as XML has it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A file of a type that is filled, with these texts: paragraphs of Word, the first cells of Excel's rows, texts of a slide.
pub fn lines(kind: &str, texts: &[String]) -> Vec<u8> {
    let texts = texts.iter().map(|text| escaped(text));
    match kind {
        "docx" => {
            let paragraph = |text| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
            word(&texts.map(paragraph).collect::<String>(), &[], &[])
        }
        "xlsx" => {
            let row = |(at, text): (usize, String)| {
                let at = at + 1;
                format!("<row r=\"{at}\"><c r=\"A{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c></row>")
            };
            sheet(&texts.enumerate().map(row).collect::<String>(), "", &[], &[])
        }
        _ => {
            let paragraph = |text| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
            let paragraphs = texts.map(paragraph).collect::<Vec<_>>().concat();
            let shape = format!(
                "<p:sp><p:nvSpPr><p:cNvPr id=\"3\" name=\"s\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x=\"100000\" y=\"1500000\"/><a:ext cx=\"8000000\" cy=\"4000000\"/></a:xfrm></p:spPr><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
            );
            slide(&shape, &[])
        }
    }
}

/// A Word file with this body; `related` are `r1`, `r2` … in it.
pub fn word(body: &str, related: &[(&str, &str)], parts: Parts<'_>) -> Vec<u8> {
    let document = format!(
        "<w:document {WORD}><w:body><w:p><w:r><w:t>own text</w:t></w:r></w:p>{body}<w:sectPr/></w:body></w:document>"
    );
    let settings = "<Override PartName=\"/word/settings.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml\"/>";
    let (types, root) = (
        types("word/document.xml", "wordprocessingml.document", settings),
        relationships(&[("officeDocument", "word/document.xml")]),
    );
    let related = relationships(related);
    let basis: [(&str, &[u8]); 4] = [
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", related.as_bytes()),
    ];
    archive(&[&basis, parts].concat())
}

/// The settings of a Word file and what they refer to.
pub fn word_settings(settings: &str, related: &[(&str, &str)]) -> Vec<u8> {
    let settings = format!("<w:settings {WORD}>{settings}</w:settings>");
    let related = relationships(related);
    let parts: [(&str, &[u8]); 2] =
        [("word/settings.xml", settings.as_bytes()), ("word/_rels/settings.xml.rels", related.as_bytes())];
    word("", &[("settings", "settings.xml")], &parts)
}

/// A picture in a Word file's paragraph; `blip` are the attributes that name it.
pub fn drawing(blip: &str) -> String {
    format!(
        "<w:p><w:r><w:drawing><wp:inline><wp:extent cx=\"3600000\" cy=\"3600000\"/><wp:docPr id=\"1\" name=\"p\"/><a:graphic>\
         <a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:pic><pic:nvPicPr>\
         <pic:cNvPr id=\"1\" name=\"p\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip {blip}/><a:stretch><a:fillRect/>\
         </a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"3600000\" cy=\"3600000\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )
}

/// A field of Word with its code.
pub fn field(code: &str) -> String {
    format!(
        "<w:p><w:r><w:fldChar w:fldCharType=\"begin\" w:dirty=\"true\"/></w:r><w:r><w:instrText xml:space=\"preserve\"> {code} \
         </w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>old</w:t></w:r><w:r>\
         <w:fldChar w:fldCharType=\"end\"/></w:r></w:p>"
    )
}

/// An Excel file whose first sheet has these rows.
pub fn sheet(rows: &str, book: &str, related: &[(&str, &str)], parts: Parts<'_>) -> Vec<u8> {
    sheet_with((rows, ""), book, related, parts)
}

/// The same with elements behind the rows, whose `r1` the part `xl/worksheets/_rels/sheet1.xml.rels` names.
pub fn sheet_with(
    (rows, behind): (&str, &str),
    book: &str,
    related: &[(&str, &str)],
    parts: Parts<'_>,
) -> Vec<u8> {
    let workbook = format!(
        "<workbook {SHEET}><sheets><sheet name=\"One\" sheetId=\"1\" r:id=\"r1\"/></sheets>{book}</workbook>"
    );
    let sheet = format!("<worksheet {SHEET}><sheetData>{rows}</sheetData>{behind}</worksheet>");
    let more = "<Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>\
        <Override PartName=\"/xl/externalLinks/externalLink1.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.externalLink+xml\"/>\
        <Override PartName=\"/xl/connections.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.connections+xml\"/>";
    let (types, root) = (
        types("xl/workbook.xml", "spreadsheetml.sheet", more),
        relationships(&[("officeDocument", "xl/workbook.xml")]),
    );
    let related = relationships(&[&[("worksheet", "worksheets/sheet1.xml")], related].concat());
    let basis: [(&str, &[u8]); 5] = [
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", workbook.as_bytes()),
        ("xl/_rels/workbook.xml.rels", related.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ];
    archive(&[&basis, parts].concat())
}

/// A row with one formula, whose cached value is none.
pub fn formula(formula: &str) -> String {
    format!(
        "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>own text</t></is></c><c r=\"B1\"><f>{formula}</f></c></row>"
    )
}

/// A link of an Excel file to another workbook.
pub fn external_link(link: &str, target: &str) -> [(String, String); 2] {
    let link = format!("<externalLink {SHEET}>{link}</externalLink>");
    [
        ("xl/externalLinks/externalLink1.xml".to_owned(), link),
        (
            "xl/externalLinks/_rels/externalLink1.xml.rels".to_owned(),
            relationships(&[("externalLinkPath", target)]),
        ),
    ]
}

/// A PowerPoint file of one slide with these shapes.
pub fn slide(shapes: &str, related: &[(&str, &str)]) -> Vec<u8> {
    let presentation = format!(
        "<p:presentation {SLIDE}><p:sldIdLst><p:sldId id=\"256\" r:id=\"r1\"/></p:sldIdLst><p:sldSz cx=\"9144000\" cy=\"6858000\"/>\
         <p:notesSz cx=\"6858000\" cy=\"9144000\"/></p:presentation>"
    );
    let slide = format!(
        "<p:sld {SLIDE}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>\
         <p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"t\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x=\"100000\" y=\"100000\"/>\
         <a:ext cx=\"5000000\" cy=\"900000\"/></a:xfrm><a:prstGeom prst=\"rect\"/></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>own text</a:t>\
         </a:r></a:p></p:txBody></p:sp>{shapes}</p:spTree></p:cSld></p:sld>"
    );
    let more = "<Override PartName=\"/ppt/slides/slide1.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.presentationml.slide+xml\"/>";
    let (types, root) = (
        types("ppt/presentation.xml", "presentationml.presentation", more),
        relationships(&[("officeDocument", "ppt/presentation.xml")]),
    );
    let (book, related) = (relationships(&[("slide", "slides/slide1.xml")]), relationships(related));
    archive(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("ppt/presentation.xml", presentation.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", book.as_bytes()),
        ("ppt/slides/slide1.xml", slide.as_bytes()),
        ("ppt/slides/_rels/slide1.xml.rels", related.as_bytes()),
    ])
}

/// A picture of a slide; `blip` are the attributes that name it.
pub fn slide_picture(blip: &str, more: &str) -> String {
    format!(
        "<p:pic><p:nvPicPr><p:cNvPr id=\"4\" name=\"p\"/><p:cNvPicPr/><p:nvPr>{more}</p:nvPr></p:nvPicPr><p:blipFill><a:blip {blip}/>\
         <a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x=\"1000000\" y=\"2000000\"/><a:ext cx=\"3000000\" cy=\"3000000\"/>\
         </a:xfrm><a:prstGeom prst=\"rect\"/></p:spPr></p:pic>"
    )
}

/// An `OpenDocument` file: `text` or `spreadsheet` with this body; `scripts` stand before it.
pub fn open_document(kind: &str, body: &str, scripts: &str, parts: Parts<'_>) -> Vec<u8> {
    let mime = format!("application/vnd.oasis.opendocument.{kind}");
    let content = format!(
        "<office:document-content {ODF} office:version=\"1.3\">{scripts}<office:body><office:{kind}>{body}</office:{kind}></office:body>\
         </office:document-content>"
    );
    let entry = |path: &str, mime: &str| {
        format!("<manifest:file-entry manifest:full-path=\"{path}\" manifest:media-type=\"{mime}\"/>")
    };
    let others: String = parts.iter().map(|(path, _)| entry(path, "text/xml")).collect();
    let manifest = format!(
        "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\" manifest:version=\"1.3\">{}{}{others}\
         </manifest:manifest>",
        entry("/", &mime),
        entry("content.xml", "text/xml")
    );
    let basis: [(&str, &[u8]); 3] = [
        ("mimetype", mime.as_bytes()),
        ("META-INF/manifest.xml", manifest.as_bytes()),
        ("content.xml", content.as_bytes()),
    ];
    archive(&[&basis, parts].concat())
}

/// A workbook with a connection, which is this element's attributes and content.
pub fn connected(attributes: &str, source: &str) -> Vec<u8> {
    let connections = format!(
        "<connections xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><connection id=\"1\" name=\"c\" refreshedVersion=\"6\" refreshOnLoad=\"1\" {attributes}>{source}</connection></connections>"
    );
    sheet(
        &formula("1+1"),
        "",
        &[("connections", "connections.xml")],
        &[("xl/connections.xml", connections.as_bytes())],
    )
}

/// A picture of 50,000 × 50,000 dots, which is a hundred kilobytes.
pub fn huge_png() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 50_000, 50_000);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header().unwrap();
    let mut stream = writer.stream_writer().unwrap();
    for _ in 0..50_000 {
        std::io::Write::write_all(&mut stream, &[0x55; 6_250]).unwrap();
    }
    stream.finish().unwrap();
    drop(writer);
    file
}
