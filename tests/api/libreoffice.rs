//! Office documents that become PDFs, through the whole service.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::command_line::platen;
use crate::unfilled::{office_file, packed, unpacked, with};

/// The output of a program of poppler for a PDF.
pub fn poppler_output(program: &str, arguments: &[&str], pdf: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pdf).unwrap();
    let output =
        Command::new(program).arg(file.path()).args(arguments).stderr(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn text(pdf: &[u8]) -> String {
    poppler_output("pdftotext", &["-layout", "-"], pdf)
}

impl TestApp {
    /// What becomes of a document with these options.
    async fn converted(&self, kind: &str, file: Vec<u8>, options: Value) -> (Value, Vec<u8>) {
        let body = json!({"type": kind, "target": "pdf", "data": {"name": "Ada"}, "formatOpts": options});
        let job = self.init(body).await;
        assert_eq!(self.put(&job.template_url.unwrap(), file).await, 200);
        let view = self.finish(&job.id).await;
        let Some(url) = view["output"]["data"].get("url") else { return (view, Vec::new()) };
        let (status, document) = self.fetch(url).await;
        assert_eq!(status, 200);
        (view, document)
    }
}

/// A Word file with this body.
pub fn word(body: &str) -> Vec<u8> {
    word_about(body, None)
}

/// A Word file with this `docProps/app.xml`.
fn word_about(body: &str, about: Option<&str>) -> Vec<u8> {
    let document = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}</w:body></w:document>"
    );
    let types = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
        ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/word/document.xml\" \
        ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/><Override \
        PartName=\"/word/styles.xml\" \
        ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml\"/><Override \
        PartName=\"/docProps/app.xml\" \
        ContentType=\"application/vnd.openxmlformats-officedocument.extended-properties+xml\"/></Types>";
    let relations = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
        Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
        Target=\"word/document.xml\"/><Relationship Id=\"r2\" \
        Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/extended-properties\" \
        Target=\"docProps/app.xml\"/></Relationships>";
    let inner = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"r1\" \
        Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles\" \
        Target=\"styles.xml\"/></Relationships>";
    let styles = "<w:styles xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:style \
        w:type=\"paragraph\" w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/></w:style></w:styles>";
    let about = about.map(|about| {
        format!(
            "<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/extended-properties\">{about}</Properties>"
        )
    });
    let mut files = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", relations.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", inner.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ];
    files.extend(about.as_ref().map(|about| ("docProps/app.xml", about.as_bytes())));
    packed(&files)
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// So many pages, each with its number in words of its own.
fn pages(count: usize) -> Vec<u8> {
    let page = |number: usize| {
        let end = if number < count { "<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>" } else { "" };
        paragraph(&format!("sheet {number} of {{name}}")) + end
    };
    word(&(1..=count).map(page).collect::<String>())
}

#[tokio::test]
async fn documents_become_pdfs_with_their_text_and_their_pages() {
    let app = TestApp::start().await;
    let (view, pdf) = app.converted("docx", pages(3), json!({})).await;
    assert_eq!((&view["output"]["metadata"]["pages"], &view["warnings"]), (&json!(3), &json!([])), "{view}");
    assert!(text(&pdf).contains("sheet 3 of Ada"));
}

#[tokio::test]
async fn pdf_options_and_conformance_are_kept_and_options_without_effect_are_reported() {
    let app = TestApp::start().await;
    let (view, pdf) = app.converted("docx", pages(4), json!({"fromPage": 2, "toPage": 3})).await;
    assert_eq!(view["output"]["metadata"]["pages"], json!(2), "{view}");
    let found = text(&pdf);
    assert!(found.contains("sheet 2") && found.contains("sheet 3") && !found.contains("sheet 1"), "{found}");
    assert_eq!(view["warnings"], json!([]), "{view}");
    let (view, _) = app.converted("docx", pages(3), json!({"fromPage": 2, "toPage": 9})).await;
    let warning = "the document ends with page 3, and formatOpts.toPage is 9: it has no more pages";
    assert_eq!(
        (&view["output"]["metadata"]["pages"], &view["warnings"]),
        (&json!(2), &json!([warning])),
        "{view}"
    );
    let (view, _) = app.converted("docx", pages(2), json!({"fromPage": 7})).await;
    assert_eq!(view["errorCode"], json!("options_invalid"), "{view}");
    let error = view["error"].as_str().unwrap();
    assert!(error.contains("no pages 7- (formatOpts.fromPage, toPage), it ends with page 2;"), "{view}");

    let metadata = json!({"title": "T & <ü>", "author": "A", "subject": "S", "keywords": ["k", "l"]});
    let (view, pdf) = app.converted("docx", pages(3), json!({"metadata": metadata, "pdfa": "2b"})).await;
    assert_eq!(view["output"]["metadata"]["pages"], json!(3), "{view}");
    let about = poppler_output("pdfinfo", &[], &pdf);
    for line in
        ["Title:           T & <ü>", "Author:          A", "Subject:         S", "Keywords:        k, l"]
    {
        assert!(about.contains(line), "{line}: {about}");
    }
    let packet = poppler_output("pdfinfo", &["-meta"], &pdf);
    assert!(
        packet.contains("<pdfaid:part>2</pdfaid:part>") && packet.contains("T &amp; &lt;ü&gt;"),
        "{packet}"
    );
    let (_, pdf) = app.converted("docx", pages(1), json!({"pdfa": "1b"})).await;
    assert!(poppler_output("pdfinfo", &["-meta"], &pdf).contains("<pdfaid:part>1</pdfaid:part>"));
    let (_, pdf) = app.converted("docx", pages(1), json!({"pdfua": true})).await;
    assert!(poppler_output("pdfinfo", &["-meta"], &pdf).contains("<pdfuaid:part>1</pdfuaid:part>"));

    for (options, tagged) in [(json!({}), "yes"), (json!({"tagged": false}), "no")] {
        let (_, pdf) = app.converted("docx", pages(1), options).await;
        assert!(poppler_output("pdfinfo", &[], &pdf).contains(&format!("Tagged:          {tagged}")));
    }
    for metadata in [json!({}), json!({"author": "A"})] {
        let (view, _) = app.converted("docx", pages(1), json!({"pdfua": true, "metadata": metadata})).await;
        assert!(
            view["warnings"][0].as_str().is_some_and(|warning| warning.contains("has no title")),
            "{view}"
        );
    }
    let options = json!({"pdfua": true, "metadata": {"title": "Called"}});
    let (view, pdf) = app.converted("docx", pages(1), options).await;
    assert_eq!(view["warnings"], json!([]), "{view}");
    assert!(pdf.windows(21).any(|bytes| bytes == b"/DisplayDocTitle true"));
    let idle = json!({"landscape": true, "format": "A5", "margin": "1cm"});
    let (view, _) = app.converted("docx", pages(1), idle).await;
    assert_eq!(view["warnings"].as_array().map(Vec::len), Some(3), "{view}");
}

/// LibreOffice makes a window for each comment, for which a package must be installed that none of the others needs.
#[tokio::test]
async fn a_document_with_a_comment_is_read() {
    let app = TestApp::start().await;
    let commented = "<w:p><w:commentRangeStart w:id=\"0\"/><w:r><w:t>Said of {name}</w:t></w:r><w:commentRangeEnd w:id=\"0\"/>\
        <w:r><w:commentReference w:id=\"0\"/></w:r></w:p>";
    let comments = "<w:comments xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:comment w:id=\"0\" \
        w:author=\"A\"><w:p><w:r><w:t>Really?</w:t></w:r></w:p></w:comment></w:comments>";
    let relations = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
        Id=\"r9\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments\" \
        Target=\"comments.xml\"/></Relationships>";
    let mut files = unpacked(&word(commented));
    files.retain(|(name, _)| name != "word/_rels/document.xml.rels");
    files.push(("word/comments.xml".to_owned(), comments.into()));
    files.push(("word/_rels/document.xml.rels".to_owned(), relations.into()));
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let (view, pdf) = app.converted("docx", packed(&files), json!({})).await;
    assert_eq!(view["success"], json!(true), "{view}");
    assert!(text(&pdf).contains("Said of Ada"));
}

/// A heading that begins a page.
fn chapter(number: usize) -> String {
    format!(
        "<w:p><w:pPr><w:pageBreakBefore/><w:outlineLvl w:val=\"0\"/></w:pPr><w:r><w:t>Chapter {number}</w:t></w:r></w:p>"
    )
}

#[tokio::test]
async fn a_table_of_contents_has_the_right_page_numbers() {
    let app = TestApp::start().await;
    let template = || word(&(paragraph("{:toc}") + &(1..=9).map(chapter).collect::<String>()));
    let (view, pdf) = app.converted("docx", template(), json!({"outline": true})).await;
    assert_eq!(view["output"]["metadata"]["pages"], json!(10), "{view}");
    let first = poppler_output("pdftotext", &["-l", "1", "-layout", "-"], &pdf);
    for number in 1..=9 {
        let line = first.lines().find(|line| line.contains(&format!("Chapter {number}"))).unwrap_or_default();
        assert!(line.trim_end().ends_with(&format!("{}", number + 1)), "{first}");
    }
    // Without that option it is unchanged.
    let (_, pdf) = app.converted("docx", template(), json!({"updateFields": false})).await;
    let first = poppler_output("pdftotext", &["-l", "1", "-layout", "-"], &pdf);
    assert!(
        !first.lines().any(|line| line.contains("Chapter 9") && line.trim_end().ends_with("10")),
        "{first}"
    );
}

/// A sheet with these rows; what belongs before and behind them stands around `<sheetData>`.
fn sheet(inner: &str) -> String {
    let inner =
        if inner.contains("<sheetData>") { inner } else { &format!("<sheetData>{inner}</sheetData>") };
    format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">{inner}</worksheet>"
    )
}

/// A workbook of these sheets, each with its name and whether it is visible, and these names of areas.
fn workbook(sheets: &[(&str, &str, String)], names: &str) -> Vec<u8> {
    let schema = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relations = |all: String| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{all}</Relationships>"
        )
    };
    let relation = |id: usize, kind: &str, target: &str| {
        format!("<Relationship Id=\"r{id}\" Type=\"{schema}/{kind}\" Target=\"{target}\"/>")
    };
    let (mut listed, mut parts, mut inner, mut files) =
        (String::new(), String::new(), String::new(), Vec::new());
    for (id, (name, state, xml)) in (1..).zip(sheets) {
        let sheet = format!("<sheet name=\"{name}\" sheetId=\"{id}\" state=\"{state}\" r:id=\"r{id}\"/>");
        let part = format!(
            "<Override PartName=\"/xl/worksheets/sheet{id}.xml\" \
             ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>"
        );
        listed += &sheet;
        parts += &part;
        inner += &relation(id, "worksheet", &format!("worksheets/sheet{id}.xml"));
        files.push((format!("xl/worksheets/sheet{id}.xml"), xml.clone()));
    }
    let book = format!(
        "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" xmlns:r=\"{schema}\">\
         <sheets>{listed}</sheets><definedNames>{names}</definedNames></workbook>"
    );
    let types = format!(
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/xl/workbook.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>{parts}</Types>"
    );
    let top = relations(relation(1, "officeDocument", "xl/workbook.xml"));
    for (name, content) in
        [("xl/_rels/workbook.xml.rels", relations(inner)), ("xl/workbook.xml", book), ("_rels/.rels", top)]
    {
        files.push((name.to_owned(), content));
    }
    files.push(("[Content_Types].xml".to_owned(), types));
    files.reverse();
    packed(&files.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_wide_sheet_is_scaled_to_the_page_width_and_repeats_its_head() {
    let app = TestApp::start().await;
    let cell = |row: usize, column: char| {
        let text = if row == 1 { format!("head-{column}") } else { format!("{column}-{row}") };
        format!("<c r=\"{column}{row}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let row =
        |row| format!("<row r=\"{row}\">{}</row>", ('A'..='H').map(|one| cell(row, one)).collect::<String>());
    let rows: String = (1..=60).map(row).collect();
    let names = "<definedName name=\"_xlnm.Print_Titles\" localSheetId=\"0\">Long!$1:$1</definedName>";
    // A5, which its eight columns are wider than.
    let set_up = |fit: &str, how: &str| {
        sheet(&format!("{fit}<sheetData>{rows}</sheetData><pageSetup paperSize=\"11\"{how}/>"))
    };
    let fitted =
        set_up("<sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr>", " fitToWidth=\"1\" fitToHeight=\"0\"");
    let file = workbook(&[("Long", "visible", fitted)], names);
    let (view, pdf) = app.converted("xlsx", file, json!({})).await;
    assert_eq!(view["output"]["metadata"]["pages"], json!(2), "{view}");
    for (page, rows) in [("1", ["A-2", "H-2"]), ("2", ["A-60", "H-60"])] {
        let found = poppler_output("pdftotext", &["-f", page, "-l", page, "-layout", "-"], &pdf);
        for word in ["head-A", "head-H"].into_iter().chain(rows) {
            assert!(found.contains(word), "no {word} on page {page}: {found}");
        }
    }
    // As it is without that: columns on pages of their own, and the head on the first.
    let file = workbook(&[("Long", "visible", set_up("", ""))], "");
    let (view, pdf) = app.converted("xlsx", file, json!({})).await;
    assert_eq!(view["output"]["metadata"]["pages"], json!(4), "{view}");
    assert_eq!(text(&pdf).matches("head-A").count(), 1);
}

/// A field, and what it has shown when the file was saved.
fn field(code: &str, shown: &str) -> String {
    let mark = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    format!(
        "{}<w:r><w:instrText xml:space=\"preserve\"> {code} </w:instrText></w:r>{}<w:r><w:t>{shown}</w:t></w:r>{}",
        mark("begin"),
        mark("separate"),
        mark("end")
    )
}

/// Contents as Google Docs writes them, of chapters that all were on page 77 then; on the last page, fields that count.
fn contents_of_google_docs(chapters: usize) -> String {
    let entry = |number: usize| {
        let begin = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText xml:space=\"preserve\">TOC \\h \\u \\z \\t \
            &quot;Heading 1,1,Heading 2,2,&quot;</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>";
        let end = "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
        format!(
            "<w:p>{}<w:hyperlink w:anchor=\"_{number}\"><w:r><w:t>Chapter {number}</w:t></w:r></w:hyperlink>\
             <w:r><w:tab/></w:r>{}{}</w:p>",
            if number == 1 { begin } else { "" },
            field(&format!("PAGEREF _{number} \\h"), "77"),
            if number == chapters { end } else { "" }
        )
    };
    let heading = |number: usize| {
        format!(
            "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/><w:pageBreakBefore/></w:pPr><w:bookmarkStart w:id=\"{number}\" \
             w:name=\"_{number}\"/><w:r><w:t>Chapter {number}</w:t></w:r><w:bookmarkEnd w:id=\"{number}\"/></w:p>"
        )
    };
    let counted = format!(
        "<w:p>{}<w:r><w:t xml:space=\"preserve\"> pages, </w:t></w:r>{}<w:r><w:t xml:space=\"preserve\"> words</w:t></w:r></w:p>",
        field("NUMPAGES", "88"),
        field("NUMWORDS", "99")
    );
    format!(
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val=\"Table of Contents\"/></w:docPartObj></w:sdtPr>\
         <w:sdtContent>{}</w:sdtContent></w:sdt>{}{counted}",
        (1..=chapters).map(entry).collect::<String>(),
        (1..=chapters).map(heading).collect::<String>()
    )
}

#[tokio::test]
async fn a_files_own_table_of_contents_is_rebuilt_whichever_program_wrote_it() {
    let app = TestApp::start().await;
    // Google Docs says nothing of a file, others not how much is in it, Word does.
    let counted = "<Pages>1</Pages><Words>1</Words><Characters>5</Characters><Paragraphs>1</Paragraphs><Lines>1</Lines>";
    for about in [None, Some("<Application>another</Application>"), Some(counted)] {
        let file = || word_about(&contents_of_google_docs(7), about);
        let (view, pdf) = app.converted("docx", file(), json!({})).await;
        assert_eq!(view["output"]["metadata"]["pages"], json!(8), "{about:?}: {view}");
        let first = poppler_output("pdftotext", &["-l", "1", "-layout", "-"], &pdf);
        for number in 1..=7 {
            let chapter = format!("Chapter {number}");
            let lines: Vec<_> = first.lines().filter(|line| line.contains(&chapter)).collect();
            let [line] = lines.as_slice() else { panic!("{about:?}: {first}") };
            assert!(line.trim_end().ends_with(&format!("{}", number + 1)), "{about:?}: {first}");
        }
        assert!(!first.contains("77"), "{about:?}: {first}");
        let last = poppler_output("pdftotext", &["-f", "8", "-layout", "-"], &pdf);
        assert!(last.contains("8 pages, 39 words"), "{about:?}: {last}");
        // Without that option it is unchanged.
        let (_, pdf) = app.converted("docx", file(), json!({"updateFields": false})).await;
        let first = poppler_output("pdftotext", &["-l", "1", "-layout", "-"], &pdf);
        assert_eq!(first.matches("77").count(), 7, "{about:?}: {first}");
    }
}

#[tokio::test]
async fn a_workbook_is_printed_as_its_author_set_it_up() {
    let app = TestApp::start().await;
    // Without a value that Excel has kept, and on a sheet that is hidden.
    let sum = sheet(
        "<row r=\"1\"><c r=\"A1\"><v>40</v></c><c r=\"B1\"><v>2</v></c><c r=\"C1\"><f>A1+B1+100</f></c></row>",
    );
    let hidden = sheet("<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>canary</t></is></c></row>");
    let area = sheet(
        "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>within</t></is></c><c r=\"B1\" t=\"inlineStr\"><is><t>beyond</t></is></c></row>",
    );
    let names = "<definedName name=\"_xlnm.Print_Area\" localSheetId=\"2\">Area!$A$1:$A$1</definedName>";
    let file =
        workbook(&[("Sum", "visible", sum), ("Hidden", "hidden", hidden), ("Area", "visible", area)], names);
    let (view, pdf) = app.converted("xlsx", file, json!({})).await;
    assert_eq!(view["output"]["metadata"]["pages"], json!(2), "{view}");
    let found = text(&pdf);
    assert!(found.contains("142") && found.contains("within"), "{found}");
    assert!(!found.contains("canary") && !found.contains("beyond"), "{found}");
}

#[test]
fn the_command_starts_no_browser_where_no_page_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.docx"), pages(2)).unwrap();
    // It reports a LibreOffice that is started, and one that cannot be.
    let settings = [("browser.executable", "/nowhere/chromium"), ("log.filter", "info")];
    let line = ["render", "a.docx", "--type", "docx", "-o", "a.pdf"];
    let output = platen(folder.path(), &settings, &line, b"");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !message.contains("chromium"), "{message}");
    std::fs::write(folder.path().join("all.json"), r#"{"pages": "all"}"#).unwrap();
    let line = ["render", "a.docx", "--type", "docx", "--opts", "all.json", "-o", "a.png"];
    let output = platen(folder.path(), &settings, &line, b"");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("-o NAME.zip --target png"), "{message}");
    assert!(!folder.path().join("a.png").exists());
}

#[tokio::test]
async fn documents_that_libreoffice_cannot_read_or_finish_are_reported_and_the_next_one_is_made() {
    let app = TestApp::with(&[("office.timeout_ms", "10000")]).await;
    // A file of Microsoft Office is read by what fills it first.
    let broken = with(&office_file("table.ods"), "</office:spreadsheet>", "<");
    let (view, _) = app.converted("xlsx", broken, json!({})).await;
    assert_eq!(view["errorCode"], json!("template_invalid"), "{view}");
    assert!(view["error"].as_str().unwrap().contains("LibreOffice could not read the document"), "{view}");
    // Products of large matrices, each another one, so that they are not computed by threads.
    let endless = (1_000..1_200).map(|row| {
        let columns = "COLUMN($A$1:$ALL$1)";
        format!(
            "<row r=\"{row}\"><c r=\"C{row}\"><f>SUMPRODUCT(MMULT(ROW($A$1:$A${row})*{columns},\
             ROW($A$1:$A$1000)*{columns}))</f></c></row>"
        )
    });
    let endless = workbook(&[("Endless", "visible", sheet(&endless.collect::<String>()))], "");
    let (view, _) = app.converted("xlsx", endless, json!({})).await;
    assert_eq!(view["errorCode"], json!("template_limit"), "{view}");
    assert!(view["error"].as_str().unwrap().contains("10000 ms (office.timeout_ms)"), "{view}");
    let (view, _) = app.converted("docx", pages(1), json!({})).await;
    assert_eq!(view["success"], json!(true), "{view}");
}
