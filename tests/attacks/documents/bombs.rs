//! Suites E and F: documents that exhaust, hang or crash LibreOffice. Each is followed by a good one.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::convert;
use super::made::{drawing, formula, huge_png, open_document, sheet, sheet_with, slide, word};
use crate::app::{TestApp, descendants};
use crate::service::text_of;
use crate::table::{Outcome, report};

/// The deadline of a document.
const DOCUMENT_MS: &str = "10000";
/// The error codes that such documents may end with; any other is a fault of the service.
const ENDS: [&str; 4] = ["template_invalid", "template_limit", "output_too_large", "template_missing"];

fn good() -> Vec<u8> {
    word("<w:p><w:r><w:t>after it</w:t></w:r></w:p>", &[], &[])
}

/// The error where the next, good document is not made.
async fn failure_of_next_document(app: &TestApp) -> Option<String> {
    let (view, pdf) = convert(app, "docx", good()).await;
    let is_made = view["success"] == true && text_of(&pdf).contains("after it");
    (!is_made).then(|| format!("the next document failed: {view}"))
}

fn paragraphs(text: &str, times: usize) -> String {
    format!("<w:p><w:r>{text}</w:r></w:p>").repeat(times)
}

fn nested_tables(depth: usize) -> Vec<u8> {
    let open = "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w=\"9000\"/></w:tblGrid><w:tr><w:tc><w:tcPr/>";
    let close = "<w:p/></w:tc></w:tr></w:tbl>";
    word(&format!("{}<w:p/>{}", open.repeat(depth), close.repeat(depth)), &[], &[])
}

fn huge_picture() -> Vec<u8> {
    word(&drawing("r:embed=\"r1\""), &[("image", "media/p.png")], &[("word/media/p.png", &huge_png())])
}

fn entities() -> Vec<u8> {
    let mut bomb = String::from("<!DOCTYPE x [<!ENTITY a0 \"ha\">");
    for at in 1..30 {
        write!(bomb, "<!ENTITY a{at} \"&a{0};&a{0};&a{0};\">", at - 1).unwrap();
    }
    bomb.push_str("]><w:styles xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">&a29;</w:styles>");
    word("", &[("styles", "styles.xml")], &[("word/styles.xml", bomb.as_bytes())])
}

/// A good document's archive with its middle cut out.
fn truncated() -> Vec<u8> {
    let whole = good();
    whole[..whole.len() / 2].to_vec()
}

/// Well-formed parts around a main part that ends in its middle.
fn broken_part() -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut archive = zip::ZipArchive::new(Cursor::new(good())).unwrap();
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).unwrap();
        let (name, mut content) = (part.name().unwrap().into_owned(), Vec::new());
        std::io::Read::read_to_end(&mut part, &mut content).unwrap();
        if name == "word/document.xml" {
            content.truncate(content.len() * 2 / 3);
        }
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn rows(count: u32) -> String {
    let row = |at: u32| format!("<row r=\"{at}\"><c r=\"A{at}\"><v>{at}</v></c></row>");
    (1..=count).map(row).collect()
}

/// A row with tags in its first cell, which are closed in its second.
fn tags(open: &str) -> String {
    let cell =
        |place: &str, text: &str| format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let ends = "{/}".repeat(open.matches(['#', '-']).count());
    format!("<row r=\"1\">{}{}</row>", cell("A1", &format!("{open}own text")), cell("B1", &ends))
}

/// A table as large as OpenDocument has it, in three elements.
const REPEATED: &str = "<table:table table:name=\"T\"><table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell \
    table:number-columns-repeated=\"16384\" office:value-type=\"float\" office:value=\"1\"><text:p>1</text:p></table:table-cell>\
    </table:table-row></table:table>";

#[expect(clippy::too_many_lines, reason = "a table")]
fn documents() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let columns: String = (0..16_384).map(|_| "<c><v>1</v></c>").collect();
    let slow = "<row r=\"1\">".to_owned()
        + &"<c><f>SUMPRODUCT((ROW($1:$60000)=TRANSPOSE(ROW($1:$60000)))*1)</f></c>".repeat(30)
        + "</row>";
    let cyclic = "<w:styles xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:style w:type=\"paragraph\" w:styleId=\"A\"><w:name w:val=\"A\"/><w:basedOn w:val=\"B\"/></w:style><w:style w:type=\"paragraph\" w:styleId=\"B\"><w:name w:val=\"B\"/><w:basedOn w:val=\"A\"/></w:style></w:styles>";
    let groups = "<p:grpSp><p:nvGrpSpPr><p:cNvPr id=\"5\" name=\"g\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>";
    vec![
        ("truncated", "docx", truncated()),
        ("a part that ends early", "docx", broken_part()),
        ("entities that grow", "docx", entities()),
        ("tables in tables", "docx", nested_tables(150)),
        ("a picture of 2.5 billion dots", "docx", huge_picture()),
        ("ten thousand pages", "docx", word(&paragraphs("<w:br w:type=\"page\"/>", 10_000), &[], &[])),
        ("two million paragraphs", "docx", word(&"<w:p/>".repeat(2_000_000), &[], &[])),
        (
            "styles in a circle",
            "docx",
            word(
                "<w:p><w:pPr><w:pStyle w:val=\"A\"/></w:pPr></w:p>",
                &[("styles", "styles.xml")],
                &[("word/styles.xml", cyclic.as_bytes())],
            ),
        ),
        ("a million rows", "xlsx", sheet(&rows(1_000_000), "", &[], &[])),
        ("sixteen thousand columns", "xlsx", sheet(&format!("<row r=\"1\">{columns}</row>"), "", &[], &[])),
        (
            "the last cell",
            "xlsx",
            sheet("<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>", "", &[], &[]),
        ),
        ("a text of a gigabyte", "xlsx", sheet(&formula("REPT(REPT(\"x\",32000),32000)"), "", &[], &[])),
        ("formulas without end", "xlsx", sheet(&slow, "", &[], &[])),
        ("ten million rows of a template", "xlsx", sheet(&tags("{#Array(10000000).fill(1)}"), "", &[], &[])),
        (
            "thousands of columns of many rows",
            "xlsx",
            sheet(&tags("{-rows Array(1e6).fill(1)}{-right Array(16000)}"), "", &[], &[]),
        ),
        (
            "a sheet for each of a million",
            "xlsx",
            sheet(&tags("{:sheet Array(1000000).fill(1)}{#1}"), "", &[], &[]),
        ),
        (
            "blanks that are counted",
            "docx",
            open_document("text", "<text:p>x<text:s text:c=\"2000000000\"/></text:p>", "", &[]),
        ),
        ("cells that are repeated", "xlsx", open_document("spreadsheet", REPEATED, "", &[])),
        (
            "a span of columns",
            "docx",
            word(
                "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"1000000000\"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>",
                &[],
                &[],
            ),
        ),
        (
            "a merged sheet",
            "xlsx",
            sheet_with(
                (&formula("1+1"), "<mergeCells><mergeCell ref=\"A1:XFD1048576\"/></mergeCells>"),
                "",
                &[],
                &[],
            ),
        ),
        (
            "groups in groups",
            "pptx",
            slide(&format!("{}{}", groups.repeat(150), "</p:grpSp>".repeat(150)), &[]),
        ),
    ]
}

#[actix::test]
async fn whatever_a_document_does_the_next_one_is_made() {
    // With one slot there is one server, also where a busy machine is slow to make it ready again.
    let settings = [("office.timeout_ms", DOCUMENT_MS), ("engines.slots", "[\"libreoffice=1\"]")];
    let app = TestApp::on_disk(&settings).await;
    assert_eq!(failure_of_next_document(&app).await, None);
    let mut outcomes = Vec::new();
    for (name, kind, document) in documents() {
        let (view, _) = convert(&app, kind, document).await;
        let code = view["errorCode"].as_str().unwrap_or_default().to_owned();
        let mut leaks: Vec<String> = failure_of_next_document(&app).await.into_iter().collect();
        leaks.extend((view["success"] == false && !ENDS.contains(&code.as_str())).then(|| view.to_string()));
        let messages =
            if view["success"] == true { "a PDF".to_owned() } else { format!("{code} {}", view["error"]) };
        outcomes.push(Outcome { name: name.to_owned(), carrier: kind.to_owned(), leaks, messages });
    }
    report("Documents that want everything (E, F)", outcomes);
    app.until("only the server is left", async || holders(&app).len() == 1).await;
}

/// The processes of the service that hold a LibreOffice, oldest first.
fn holders(app: &TestApp) -> Vec<u32> {
    let holds = |id: &u32| {
        std::fs::read_to_string(format!("/proc/{id}/maps")).is_ok_and(|maps| maps.contains("libmergedlo"))
    };
    let mut found: Vec<(u64, u32)> = descendants(app.pid())
        .into_iter()
        .filter(|(id, _)| holds(id))
        .map(|(id, since)| (since, id))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, id)| id).collect()
}

#[actix::test]
async fn a_killed_child_costs_its_own_document_only() {
    let app =
        TestApp::on_disk(&[("office.timeout_ms", "100000"), ("engines.slots", "[\"libreoffice=1\"]")]).await;
    assert_eq!(failure_of_next_document(&app).await, None);
    let slow = documents().into_iter().find(|(name, ..)| *name == "formulas without end").unwrap().2;
    for victim in ["document", "server"] {
        let job = app.init(json!({"type": "xlsx", "target": "pdf", "data": {}})).await;
        assert_eq!(app.put(&job.template_url.unwrap(), slow.clone()).await, 200);
        let (view, ()) = tokio::join!(app.finish(&job.id), async {
            app.until("it is converted", async || holders(&app).len() > 1).await;
            let holders = holders(&app);
            let id = if victim == "document" { holders.last() } else { holders.first() };
            kill(Pid::from_raw(i32::try_from(*id.unwrap()).unwrap()), Signal::SIGKILL).unwrap();
        });
        // A document that lost its process or its server through no fault of its own is made once more.
        assert_eq!(view["success"], true, "{victim}: {view}");
        let warning = view["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.starts_with("LibreOffice was killed from outside"), "{victim}: {view}");
        assert_eq!(failure_of_next_document(&app).await, None, "after the {victim}");
    }
    app.until("nobody of them is left", async || holders(&app).len() == 1).await;
}
