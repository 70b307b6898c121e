//! Documents made by code, one for each thing that a copy must not have twice or lose. A new form of tags gets a line here.

use super::Case;
use crate::charts;
use crate::comment_threads;
use crate::dependents;
use crate::slides;
use crate::support::{docx, docx_with, p, table};
use crate::workbooks;

const ITEMS: &str = r#"{"items":[{"name":"A & <B>","lines":["x","y"]},{"name":"C\nD\tE","lines":[]}],"none":[],"logo":"iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAEElEQVR42mP4z8AARwzIHABvqgf5aN2vpwAAAABJRU5ErkJggg==","title":"T","links":["https://a.example/a b\"<>[1]#x#y|^\\\\{z}","https://bücher.example/ä\u00a0ö?q=%zz%20","mailto:a b@c.example, d@e.example?subject=[x]","mailto:@@","mailto:","tel:+49 (0)30/[1]","tel:","tel://x y","mailto:a@","mailto:a@b:x","mailto: ","http://[::1]:80/[x]","ftp://u:p@h.example./","http://h_x/?a[]=1","http://1.2.3.4.5:0/","http://999.1.1.1","http://a.example:65535"],"xml":"<w:p><w:bookmarkStart w:id='1' w:name='here'/><w:r w:rsidR='00AA1234'><!-- a -- b --><w:t>a &gt; b</w:t></w:r><w:bookmarkEnd w:id='1'/></w:p>"}"#;

/// All of them.
pub fn made() -> Vec<Case> {
    let with_items = |(name, file): (&str, Vec<u8>)| Case::new(name, file, ITEMS);
    let mut cases: Vec<Case> = plain().into_iter().chain(parts()).map(with_items).collect();
    let rows: Vec<String> = (0..1000).map(|row| format!("{{\"name\":\"{row}\"}}")).collect();
    cases.push(Case::new(
        "thousand rows",
        docx(&rows_of("{name}")),
        &format!("{{\"items\":[{}]}}", rows.join(",")),
    ));
    cases.push(Case::new("answers to comments", comment_threads::asked(), dependents::DATA));
    cases.push(Case::new("a chart", charts::columns(), charts::DATA));
    cases.push(Case { end: "pptx", ..Case::new("a deck", slides::deck(), slides::DATA) });
    let workbook = |(name, file)| Case { end: "xlsx", ..Case::new(name, file, &workbooks::data()) };
    cases.extend(workbooks::files().into_iter().map(workbook));
    let (links, towns) = workbooks::with_links();
    cases.push(Case { end: "xlsx", ..Case::new("links of cells", links, towns) });
    let report = include_bytes!("../../../../../assets/samples/report/report.xlsx").to_vec();
    let data = include_str!("../../../../../assets/samples/report/data.json");
    cases.push(Case { end: "xlsx", ..Case::new("the sample report", report, data) });
    cases
}

fn rows_of(tags: &str) -> String {
    table(&[&["Name", "Lines"], &[&format!("{{#items}}{tags}"), "{#lines}{.} {/}{/items}"], &["", ""]])
        + &p("")
}

/// What stands in the body.
fn plain() -> Vec<(&'static str, Vec<u8>)> {
    let between = |content: &str| [p("{#items}"), content.to_owned(), p("{/items}"), p("")].concat();
    let no_rows = table(&[&["{#none}{name}", "{/none}"]]) + &p("");
    let cell = table(&[&["{#none}", "x"]]).replace(
        "{#none}</w:t></w:r></w:p>",
        "{#none}</w:t></w:r></w:p><w:p><w:r><w:t>{/none}</w:t></w:r></w:p>",
    );
    vec![
        ("rows", docx(&rows_of("{name}"))),
        ("no rows", docx(&no_rows)),
        ("an empty cell", docx(&(cell + &p("")))),
        ("columns", docx(&(table(&[&["a", "{-w:tc items}{name}{/}", "b"]]) + &p("")))),
        ("paragraphs", docx(&between(&p("{name}")))),
        ("tables side by side", docx(&between(&table(&[&["{name}"]])))),
        ("pictures", docx(&(between(&p("{name} {%logo | alt(\"A\")}")) + &p("{%qr title} {%logo}")))),
        ("links", docx(&p("{#links}{:link . .} {/links}"))),
        ("XML", docx(&between(&p("{@xml}")))),
        ("runs", docx(&p("{#items}{name}, {/items}{^none}nothing{/none}"))),
        ("bookmarks", docx(&between(BOOKMARK))),
        ("pictures of shapes", docx(&between(&text_box("{name}")))),
        ("an empty text box", docx(&text_box("{#none}{name}{/none}"))),
        ("content controls", docx(&between(CONTROL))),
        ("fields", docx(&between(FIELD))),
        ("changes", docx(&between(CHANGE))),
        ("numbers of paragraphs", docx(&between(NUMBERED))),
        ("sections", docx(&between(SECTION))),
    ]
}

/// What stands in other parts.
fn parts() -> Vec<(&'static str, Vec<u8>)> {
    let body = [p("{title}"), p("{#items}"), REFERENCES.to_owned(), p("{/items}")].concat();
    let note = |text: &str| format!("<w:footnote w:id=\"1\">{}</w:footnote>", p(text));
    let comment = "<w:comment w:id=\"0\" w:author=\"A\"><w:p><w:r><w:t>seen</w:t></w:r></w:p></w:comment>";
    let commented = [p("{#items}"), COMMENTED.to_owned(), p("{/items}")].concat();
    vec![
        (
            "header",
            docx_with(
                &p("{title}"),
                &[("header1.xml", "header", "hdr", &(rows_of("{name}") + &text_box("{title}")))],
            ),
        ),
        (
            "an empty footer",
            docx_with(&p("{title}"), &[("footer1.xml", "footer", "ftr", &p("{#none}{name}{/none}"))]),
        ),
        (
            "notes",
            docx_with(
                &body,
                &[("footnotes.xml", "footnotes", "footnotes", &note("{#items}{name} {/items}"))],
            ),
        ),
        ("comments", docx_with(&commented, &[("comments.xml", "comments", "comments", comment)])),
        (
            "notes of turns",
            docx_with(
                &[p("{#items}"), REFERENCES.to_owned(), NUMBERED_NOTE.to_owned(), p("{/items}")].concat(),
                &[
                    ("footnotes.xml", "footnotes", "footnotes", &note("{name}{#lines}, {.}{/lines}")),
                    ("endnotes.xml", "endnotes", "endnotes", &note("{name}").replace("footnote", "endnote")),
                ],
            ),
        ),
        (
            "headers of turns",
            docx_with(
                &[p("{#items}"), HEADED.to_owned(), p("{/items}"), p("")].concat(),
                &[
                    ("header1.xml", "header", "hdr", &(p("{name}") + &text_box("{title}"))),
                    ("footer1.xml", "footer", "ftr", &p("{title}")),
                ],
            ),
        ),
        (
            "lists of turns",
            docx_with(
                &[p("{#items}"), p("{name}"), LIST_ITEM.repeat(2), p("{/items}"), p("")].concat(),
                &[("numbering.xml", "numbering", "numbering", NUMBERING)],
            ),
        ),
        ("references of turns", docx(&[p("{#items}"), REFERRED.to_owned(), p("{/items}"), p("")].concat())),
    ]
}

const BOOKMARK: &str = "<w:p><w:bookmarkStart w:id=\"1\" w:name=\"here\"/><w:r><w:t>{name}</w:t></w:r><w:bookmarkEnd w:id=\"1\"/></w:p>";
const CONTROL: &str = "<w:sdt><w:sdtPr><w:alias w:val=\"Name\"/><w:tag w:val=\"name\"/><w:id w:val=\"100\"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>{name}</w:t></w:r></w:p></w:sdtContent></w:sdt>";
const FIELD: &str = "<w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>{name}</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>";
const CHANGE: &str = "<w:p><w:ins w:id=\"5\" w:author=\"A\"><w:r><w:t>{name}</w:t></w:r></w:ins><w:del w:id=\"6\" w:author=\"A\"><w:r><w:delText>{name}</w:delText></w:r></w:del></w:p>";
const NUMBERED: &str =
    "<w:p w14:paraId=\"12345678\" w14:textId=\"77777777\"><w:r><w:t>{name}</w:t></w:r></w:p>";
const SECTION: &str =
    "<w:p><w:pPr><w:sectPr><w:type w:val=\"nextPage\"/></w:sectPr></w:pPr><w:r><w:t>{name}</w:t></w:r></w:p>";
const REFERENCES: &str =
    "<w:p><w:r><w:t>{name}</w:t></w:r><w:r><w:footnoteReference w:id=\"1\"/></w:r></w:p>";
const NUMBERED_NOTE: &str = "<w:p><w:r><w:endnoteReference w:id=\"1\"/></w:r></w:p>";
const HEADED: &str = "<w:p><w:pPr><w:sectPr><w:headerReference xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" w:type=\"default\" r:id=\"rId1\"/><w:footerReference xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" w:type=\"default\" r:id=\"rId2\"/></w:sectPr></w:pPr></w:p>";
const LIST_ITEM: &str = "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>";
const NUMBERING: &str = "<w:abstractNum w:abstractNumId=\"0\"><w:multiLevelType w:val=\"singleLevel\"/><w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/><w:lvlJc w:val=\"left\"/></w:lvl></w:abstractNum>\
     <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"3\"/></w:lvlOverride></w:num>";
const REFERRED: &str = "<w:p><w:bookmarkStart w:id=\"1\" w:name=\"m\"/><w:fldSimple w:instr=\" SEQ Figure \"><w:r><w:t>1</w:t></w:r></w:fldSimple><w:bookmarkEnd w:id=\"1\"/>\
     <w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>REF m</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>{name}</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>";
const COMMENTED: &str = "<w:p><w:commentRangeStart w:id=\"0\"/><w:r><w:t>{name}</w:t></w:r><w:commentRangeEnd w:id=\"0\"/><w:r><w:commentReference w:id=\"0\"/></w:r></w:p>";

/// A paragraph with a text box and its twin for older versions.
fn text_box(text: &str) -> String {
    let content = format!("<w:txbxContent>{}</w:txbxContent>", p(text));
    format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wp:inline><wp:extent cx=\"1000000\" cy=\"500000\"/>\
         <wp:docPr id=\"1\" name=\"Box\"/><wp:cNvGraphicFramePr/><a:graphic xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">\
         <a:graphicData uri=\"http://schemas.microsoft.com/office/word/2010/wordprocessingShape\"><wps:wsp><wps:cNvSpPr txBox=\"1\"/>\
         <wps:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"1000000\" cy=\"500000\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></wps:spPr>\
         <wps:txbx>{content}</wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>\
         <mc:Fallback><w:pict><v:shape id=\"box\" style=\"width:80pt;height:40pt\"><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback>\
         </mc:AlternateContent></w:r></w:p>"
    )
}
