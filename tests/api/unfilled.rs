//! Office files that are taken as they are: without tags, and of older and foreign formats, through the whole service.

use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::app::TestApp;
use crate::command_line::platen;
use crate::libreoffice::poppler_output;

/// An Office file of `tests/office_files`.
pub fn office_file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/office_files").join(name)).unwrap()
}

/// An archive with these files in it.
pub fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The entries of an archive.
pub fn unpacked(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(file)).unwrap();
    let entry = |at| {
        let mut file = archive.by_index(at).unwrap();
        let (name, mut content) = (file.name().unwrap().into_owned(), Vec::new());
        file.read_to_end(&mut content).unwrap();
        (name, content)
    };
    (0..ZipArchive::new(Cursor::new(file)).unwrap().len()).map(entry).collect()
}

/// A file with a text of it replaced, in whatever part that is.
pub fn with(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut found = false;
    let mut files = unpacked(file);
    for (_, content) in
        files.iter_mut().filter(|(name, _)| name.rsplit_once('.').is_some_and(|(_, end)| end == "xml"))
    {
        let text = String::from_utf8(std::mem::take(content)).unwrap();
        found |= text.contains(from);
        *content = text.replace(from, to).into_bytes();
    }
    assert!(found, "there is no '{from}'");
    packed(&files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect::<Vec<_>>())
}

impl TestApp {
    /// What becomes of an uploaded file: the job's view and the document.
    pub async fn made(&self, (kind, target): (&str, &str), file: Vec<u8>, data: Value) -> (Value, Vec<u8>) {
        let job = self.init(json!({"type": kind, "target": target, "data": data})).await;
        assert_eq!(self.put(&job.template_url.unwrap(), file).await, 200);
        let view = self.finish(&job.id).await;
        let Some(url) = view["output"]["data"].get("url") else { return (view, Vec::new()) };
        let (status, document) = self.fetch(url).await;
        assert_eq!(status, 200);
        (view, document)
    }
}

fn warnings(view: &Value) -> Vec<&str> {
    view["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_workbook_without_tags_is_taken_as_it_is_but_for_macros() {
    let app = TestApp::start().await;
    let file = office_file("table.xlsx");
    let (view, document) = app.made(("xlsx", "xlsx"), file.clone(), json!({})).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    assert!(document == file, "not a byte of it changes");
    let output = &view["output"]["data"];
    assert!(output["fileName"].as_str().unwrap().ends_with("xlsx"), "{output}");
    let files = unpacked(&office_file("table.xlsx"));
    let mut files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    let relation = "<Relationship Id=\"rIdM\" Type=\"http://schemas.microsoft.com/office/2006/relationships/vbaProject\" \
        Target=\"vbaProject.bin\"/></Relationships>";
    for (name, from, to) in [
        (
            "[Content_Types].xml",
            "openxmlformats-officedocument.spreadsheetml.sheet.main",
            "ms-excel.sheet.macroEnabled.main",
        ),
        ("xl/_rels/workbook.xml.rels", "</Relationships>", relation),
    ] {
        let (_, content) = files.iter_mut().find(|(known, _)| *known == name).unwrap();
        let text = String::from_utf8(content.clone()).unwrap();
        assert!(text.contains(from), "{text}");
        *content = text.replace(from, to).into_bytes();
    }
    files.push(("xl/vbaProject.bin", b"macros".to_vec()));
    let macros = packed(&files.iter().map(|(name, content)| (*name, content.as_slice())).collect::<Vec<_>>());
    let (view, document) = app.made(("xlsx", "xlsx"), macros, json!({})).await;
    assert!(warnings(&view)[0].contains("macros, which are left out: no document has any"), "{view}");
    assert!(unpacked(&document).iter().all(|(name, _)| !name.contains("vba")));
}

#[tokio::test]
async fn older_and_foreign_formats_become_pages_as_their_younger_kin_do() {
    let app = TestApp::start().await;
    let pages = async |kind: &str, file: Vec<u8>, data: Value| {
        let (view, pdf) = app.made((kind, "pdf"), file, data).await;
        assert_eq!(view["success"], true, "{view}");
        let text = app.text_of(&pdf).split_whitespace().collect::<Vec<_>>().join(" ");
        let counted = format!("Pages:           {}\n", view["output"]["metadata"]["pages"]);
        let about = poppler_output("pdfinfo", &[], &pdf);
        assert!(about.contains(&counted), "{counted}{about}");
        (view, text)
    };
    for (name, kind, words) in [
        ("letter.odt", "docx", "twelve loaves of rye wait for you at the counter."),
        ("letter.doc", "docx", "twelve loaves of rye wait for you at the counter."),
        ("letter.rtf", "docx", "twelve loaves of rye wait for you at the counter."),
        ("table.xlsx", "xlsx", "Rye 12 4.5 Spelt 7 5.25"),
        ("table.ods", "xlsx", "Rye 12 4.5 Spelt 7 5.25"),
        ("table.xls", "xlsx", "Rye 12 4.5 Spelt 7 5.25"),
        ("slides.pptx", "pptx", "Bread since 1921 Rye, spelt and oats"),
        ("slides.odp", "pptx", "Bread since 1921 Rye, spelt and oats"),
        ("slides.ppt", "pptx", "Bread since 1921 Rye, spelt and oats"),
    ] {
        let (view, text) = pages(kind, office_file(name), json!({})).await;
        assert_eq!(view["warnings"], json!([]), "{name}: {view}");
        assert!(text.contains(words), "{name}: {text}");
        let count = if kind == "pptx" { 2 } else { 1 };
        assert_eq!(view["output"]["metadata"]["pages"], count, "{name}: {view}");
        // Under any name in an archive.
        let packed = packed(&[("The letter.doc", &office_file(name)), ("notes.txt", b"x")]);
        assert!(pages(kind, packed, json!({})).await.1.contains(words), "{name} in an archive");
    }
    // Packed anew by another program, it would be taken for a Word file.
    let mut parts = unpacked(&office_file("letter.odt"));
    parts.rotate_left(1);
    let parts: Vec<_> = parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let job = app.init(json!({"type": "docx", "target": "pdf", "data": {}})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), packed(&parts)).await, 422);
    let tagged = with(&office_file("letter.odt"), "Ms Brandt", "{customer.name}");
    let (view, text) = pages("docx", tagged, json!({"customer": {"name": "Ann"}})).await;
    assert!(text.contains("Dear {customer.name},"), "{text}");
    let message = warnings(&view).join(" | ");
    for words in [
        "the data was not used: the template is an OpenDocument text (.odt), which is not filled; save it as .docx",
        "the tag {customer.name} is not filled and stands in the document as it is",
    ] {
        assert!(message.contains(words), "no '{words}' in {message}");
    }
}

#[tokio::test]
async fn templates_that_do_not_match_their_type_are_refused_by_name() {
    let app = TestApp::start().await;
    for (name, kind, words) in [
        (
            "letter.odt",
            "pptx",
            "the template is an OpenDocument text (.odt) and goes with the type docx, but the job's type is pptx",
        ),
        (
            "letter.rtf",
            "xlsx",
            "the template is a file in Rich Text Format (.rtf) and goes with the type docx",
        ),
        ("table.xls", "docx", "the template is a file of an old Excel (.xls) and goes with the type xlsx"),
        (
            "slides.ppt",
            "html",
            "the template is a file of an old PowerPoint (.ppt) and goes with the type pptx",
        ),
        (
            "table.xlsx",
            "docx",
            "the template is an Excel workbook (.xlsx) and goes with the type xlsx, but the job's type is docx",
        ),
        (
            "slides.pptx",
            "xlsx",
            "the template is a PowerPoint presentation (.pptx) and goes with the type pptx, but the job's type is xlsx",
        ),
        // Older and foreign formats are shown, and not written anew.
        (
            "letter.doc",
            "docx",
            "a file of an old Word (.doc), which becomes pages and pictures, and not a .docx; save it as .docx",
        ),
        (
            "table.ods",
            "xlsx",
            "an OpenDocument spreadsheet (.ods), which becomes pages and pictures, and not a .xlsx",
        ),
    ] {
        let target = if kind == "html" { "html" } else { kind };
        let (view, _) = app.made((kind, target), office_file(name), json!({})).await;
        assert_eq!(view["errorCode"], "template_invalid", "{view}");
        assert!(view["error"].as_str().unwrap().contains(words), "no '{words}' in {view}");
    }
    let flat = "<?xml version=\"1.0\"?>\n<office:document xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\"/>";
    for (text, words) in [
        (
            "name;price\nchair;12\n",
            "is plain text, neither zip archive nor Office file, and goes with the type html",
        ),
        (flat, "is a flat OpenDocument file (.fodt, .fods, .fodp); save it as .odt, .ods or .odp"),
    ] {
        let (view, _) = app.made(("xlsx", "xlsx"), text.into(), json!({})).await;
        assert_eq!(view["errorCode"], "template_invalid", "{view}");
        assert!(view["error"].as_str().unwrap().contains(words), "no '{words}' in {view}");
    }
}

#[tokio::test]
async fn encrypted_files_are_refused_at_their_upload() {
    let app = TestApp::on_disk(&[]).await;
    let manifest = b"<manifest:encryption-data/>";
    let kind = b"application/vnd.oasis.opendocument.spreadsheet";
    let ods = packed(&[("mimetype", kind), ("META-INF/manifest.xml", manifest), ("content.xml", b"x")]);
    for kind in ["docx", "xlsx", "pptx"] {
        let job = app.init(json!({"type": kind, "target": kind})).await;
        let answer = app.client.put(job.template_url.unwrap()).body(ods.clone()).send().await.unwrap();
        assert_eq!(answer.status(), 422);
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], "template_archive_invalid", "{problem}");
        assert!(
            problem["detail"].as_str().unwrap().contains("is protected by a password; save it without one"),
            "{problem}"
        );
    }
    let begun = app.begin().await;
    assert_eq!(app.put(&begun.upload_url, ods).await, 200);
    let (status, problem) =
        app.send(reqwest::Method::PATCH, &format!("/v1/templates/{}/unzip", begun.id)).await;
    assert_eq!((status, problem["code"].as_str()), (422, Some("template_archive_invalid")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("is protected by a password"), "{problem}");
}

#[test]
fn the_command_line_takes_them_as_well() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["table.xlsx", "letter.odt"] {
        std::fs::write(folder.path().join(name), office_file(name)).unwrap();
    }
    let run = |name: &str, kind: &str, out: &str| {
        let line = ["render", name, "--type", kind, "-o", out];
        let output = platen(folder.path(), &[("log.filter", "off")], &line, b"");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (is_made, message) = run("table.xlsx", "xlsx", "out.xlsx");
    assert!(is_made, "{message}");
    assert_eq!(std::fs::read(folder.path().join("out.xlsx")).unwrap(), office_file("table.xlsx"));
    let (is_made, message) = run("letter.odt", "docx", "out.docx");
    assert!(!is_made && message.contains("an OpenDocument text (.odt), which becomes pages"), "{message}");
}
