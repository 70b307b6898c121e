//! Word templates through the whole service: uploaded to a job, filled, downloaded; and what is refused, with the
//! remedy.

use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::app::TestApp;
use crate::command_line::platen;

const DOCUMENT: &str = "word/document.xml";

/// A file of the sample invoice, which is a page and a Word file for the same data.
fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/invoice");
    std::fs::read(folder.join(name)).unwrap()
}

fn data() -> Value {
    serde_json::from_slice(&sample("data.json")).unwrap()
}

/// The sample with the text `from` of its body replaced.
fn sample_with(from: &str, to: &str) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(sample("invoice.docx"))).unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        if name == DOCUMENT {
            let text = String::from_utf8(content).unwrap();
            assert!(text.contains(from), "the sample has no {from}");
            content = text.replacen(from, to, 1).into_bytes();
        }
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The text of each paragraph of a Word file's body.
fn paragraphs(docx: &[u8]) -> Vec<String> {
    let mut archive = ZipArchive::new(Cursor::new(docx)).unwrap();
    let mut xml = String::new();
    archive.by_name(DOCUMENT).unwrap().read_to_string(&mut xml).unwrap();
    let texts = |paragraph: &str| {
        let runs =
            paragraph.split("<w:t>").flat_map(|part| part.split("<w:t xml:space=\"preserve\">")).skip(1);
        runs.filter_map(|run| run.split_once("</w:t>")).map(|(text, _)| text).collect::<String>()
    };
    xml.split("</w:p>").map(texts).collect()
}

/// Fills `docx`, which is uploaded, with `data`; the job's view and the file.
async fn fill(app: &TestApp, docx: Vec<u8>, (data, opts): (Value, Value)) -> (Value, Vec<u8>) {
    let job = app.init(json!({"type": "docx", "target": "docx", "data": data, "formatOpts": opts})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), docx).await, 200);
    let view = app.finish(&job.id).await;
    let Some(url) = view["output"]["data"]["url"].as_str() else { return (view, Vec::new()) };
    let answer = app.client.get(url).send().await.unwrap();
    assert_eq!(
        answer.headers()["content-disposition"].to_str().unwrap().split(';').next(),
        Some("attachment")
    );
    (view, answer.bytes().await.unwrap().to_vec())
}

#[actix_web::test]
async fn a_word_template_becomes_the_filled_document() {
    let app = TestApp::start().await;
    let (view, docx) = fill(&app, sample("invoice.docx"), (data(), json!({}))).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let output = &view["output"]["data"];
    assert!(output["fileName"].as_str().unwrap().rsplit_once('.').unwrap().1 == "docx", "{output}");
    assert!(output["contentType"].as_str().unwrap().ends_with("wordprocessingml.document"), "{output}");
    let texts = paragraphs(&docx);
    let has = |wanted: &str| assert!(texts.iter().any(|text| text == wanted), "no '{wanted}' in {texts:#?}");
    for wanted in ["Invoice 2026-0147", "Freight Flensburg – Aarhus", "1,000 pcs", "€4.85", "€582.00"] {
        has(wanted);
    }
    assert!(texts.iter().all(|text| !text.contains('{')), "a tag is left: {texts:#?}");
    let items = data()["items"].as_array().unwrap().len();
    assert_eq!(texts.iter().filter(|text| text.starts_with('€')).count(), 2 * items, "a row an item");

    let german = json!({"locale": "de-DE", "timezone": "Europe/Berlin"});
    let (view, docx) = fill(&app, sample("invoice.docx"), (data(), german)).await;
    assert_eq!(view["warnings"], json!([]), "both keys are heeded");
    assert!(paragraphs(&docx).contains(&"4,85\u{a0}€".to_owned()), "{:#?}", paragraphs(&docx));
}

#[actix_web::test]
async fn a_long_table_becomes_as_many_rows() {
    let app = TestApp::start().await;
    let mut data = data();
    let item = data["items"][0].clone();
    data["items"] = Value::Array(vec![item; 3_000]);
    let (_, docx) = fill(&app, sample("invoice.docx"), (data, json!({}))).await;
    assert_eq!(paragraphs(&docx).iter().filter(|text| text.as_str() == "€4.85").count(), 3_000);
}

#[actix_web::test]
async fn faults_of_a_word_template_are_reported_to_its_author() {
    let app = TestApp::start().await;
    let error_of = async |docx: Vec<u8>, data: Value, opts: Value, code: &str| {
        let (view, _) = fill(&app, docx, (data, opts)).await;
        assert_eq!(view["errorCode"], code, "{view}");
        view["error"].as_str().unwrap().to_owned()
    };
    let strict = json!({"strict": true});
    let error = error_of(sample("invoice.docx"), json!({"items": []}), strict, "template_error").await;
    assert!(error.contains("'number' is not defined") && error.contains("{number}"), "{error}");
    let unclosed = sample_with("{/items}", "");
    let error = error_of(unclosed, data(), json!({}), "template_error").await;
    assert!(error.contains("{#items}") && error.contains(DOCUMENT), "{error}");
    let unknown = sample_with("{number}", "{number | shout}");
    let error = error_of(unknown, data(), json!({}), "template_error").await;
    assert!(error.contains("shout"), "{error}");
    let error = error_of(b"<p>no Word file</p>".to_vec(), data(), json!({}), "template_invalid").await;
    assert!(error.contains("docx"), "{error}");

    let (status, problem) = app.post("/v1/documents/init", &json!({"type": "docx", "target": "xlsx"})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("unsupported_conversion")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("docx"), "it can become itself: {problem}");
    let wrong =
        json!({"type": "docx", "target": "docx", "formatOpts": {"delimiters": {"start": "a", "end": "]"}}});
    let (status, problem) = app.post("/v1/documents/init", &wrong).await;
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/formatOpts/delimiters/start")));
}

#[actix_web::test]
async fn delimiters_are_the_callers_choice() {
    let app = TestApp::start().await;
    let opts = json!({"delimiters": {"start": "[[", "end": "]]"}});
    let docx = sample_with("{number}", "[[number]] {number}");
    let (view, docx) = fill(&app, docx, (data(), opts)).await;
    assert_eq!(view["success"], true, "{view}");
    assert!(paragraphs(&docx).contains(&"Invoice 2026-0147 {number}".to_owned()), "{:#?}", paragraphs(&docx));
}

/// An archive as people pack a template.
fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A picture of one pixel.
fn picture() -> Vec<u8> {
    let text =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap()
}

/// Whether the file has an entry of exactly these bytes in `word/media`.
fn has_picture(docx: &[u8], wanted: &[u8]) -> bool {
    let mut archive = ZipArchive::new(Cursor::new(docx)).unwrap();
    (0..archive.len()).any(|at| {
        let mut file = archive.by_index(at).unwrap();
        let (mut content, is_media) = (Vec::new(), file.name().unwrap().starts_with("word/media/"));
        file.read_to_end(&mut content).unwrap();
        is_media && content == wanted
    })
}

#[actix_web::test]
async fn a_word_template_takes_its_pictures_from_its_archive() {
    let app = TestApp::start().await;
    let (docx, png) = (sample_with("{number}", "{%logo} {number}"), picture());
    let mut data = data();
    for (name, folder) in [("logo.png", ""), ("img/logo.png", "letter/")] {
        data["logo"] = json!(name);
        let (entry, beside) = (format!("{folder}index.docx"), format!("{folder}{name}"));
        // Other Office files at the top do not make it doubtful which one is meant.
        let other = format!("{folder}terms.docx");
        let upload = packed(&[(&entry, &docx), (&beside, &png), (&other, &sample("invoice.docx"))]);
        let (view, file) = fill(&app, upload, (data.clone(), json!({}))).await;
        assert_eq!(view["success"], true, "{view}");
        assert!(has_picture(&file, &png), "{name}");
    }
    // The only document at the top is the template, whatever it is called.
    let (view, file) =
        fill(&app, packed(&[("Letter.docx", &docx), ("img/logo.png", &png)]), (data.clone(), json!({})))
            .await;
    assert_eq!(view["success"], true, "{view}");
    assert!(has_picture(&file, &png));

    for (name, upload, words) in [
        (
            "none.png",
            packed(&[("index.docx", &docx), ("logo.png", &png)]),
            "the archive has none of this name",
        ),
        ("none.png", docx.clone(), "upload a zip archive with the document as index.docx"),
        ("https://a.example/x.png", docx.clone(), "outbound.allow can open it: \"a.example\""),
    ] {
        data["logo"] = json!(name);
        let (view, _) = fill(&app, upload, (data.clone(), json!({}))).await;
        assert_eq!(view["errorCode"], "template_error", "{view}");
        let error = view["error"].as_str().unwrap();
        assert!(error.contains(words) && error.contains("{%logo}"), "no '{words}' in: {error}");
    }
    let (view, _) = fill(&app, packed(&[("a.docx", &docx), ("b.docx", &docx)]), (data, json!({}))).await;
    assert!(view["error"].as_str().unwrap().contains("rename the one that is it to index.docx"), "{view}");
}

#[actix_web::test]
async fn a_template_with_macros_becomes_a_plain_document() {
    const TYPES: [(&str, &str); 2] = [
        (
            "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            "vnd.ms-word.document.macroEnabled.main+xml",
        ),
        (
            "</Types>",
            "<Default Extension=\"bin\" ContentType=\"application/vnd.ms-office.vbaProject\"/></Types>",
        ),
    ];
    const RELATIONS: [(&str, &str); 1] = [(
        "</Relationships>",
        "<Relationship Id=\"rIdMacros\" Type=\"http://schemas.microsoft.com/office/2006/relationships/vbaProject\" \
         Target=\"vbaProject.bin\"/></Relationships>",
    )];
    let app = TestApp::start().await;
    let mut archive = ZipArchive::new(Cursor::new(sample("invoice.docx"))).unwrap();
    let mut files = vec![("word/vbaProject.bin".to_owned(), b"macros".to_vec())];
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let (name, mut content) = (file.name().unwrap().into_owned(), Vec::new());
        file.read_to_end(&mut content).unwrap();
        let changes = match name.as_str() {
            "[Content_Types].xml" => &TYPES[..],
            "word/_rels/document.xml.rels" => &RELATIONS[..],
            _ => &[],
        };
        for (from, to) in changes {
            let text = String::from_utf8(content).unwrap();
            assert!(text.contains(from), "{name} has no {from}");
            content = text.replacen(from, to, 1).into_bytes();
        }
        files.push((name, content));
    }
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let docm = packed(&files);
    let (view, file) = fill(&app, docm, (data(), json!({}))).await;
    let warnings = view["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().contains("macros"), "{view}");
    let mut filled = ZipArchive::new(Cursor::new(&file[..])).unwrap();
    let names: Vec<_> =
        (0..filled.len()).map(|at| filled.by_index(at).unwrap().name().unwrap().into_owned()).collect();
    assert!(names.iter().all(|name| !name.contains("vba")), "{names:?}");
    assert!(paragraphs(&file).contains(&"Invoice 2026-0147".to_owned()));
}

#[test]
fn the_command_line_fills_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("letter");
    std::fs::create_dir_all(template.join("img")).unwrap();
    std::fs::write(template.join("index.docx"), sample_with("{number}", "{%logo} {number}")).unwrap();
    std::fs::write(template.join("img/logo.png"), picture()).unwrap();
    std::fs::write(template.join(".hidden.docx"), "no document").unwrap();
    let mut data = data();
    data["logo"] = json!("img/logo.png");
    std::fs::write(folder.path().join("data.json"), data.to_string()).unwrap();
    let line = ["render", "letter", "--type", "docx", "--data", "data.json", "-o", "filled.docx"];
    let output = platen(folder.path(), &[("log.filter", "off")], &line, b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(has_picture(&std::fs::read(folder.path().join("filled.docx")).unwrap(), &picture()));
    let small = [("log.filter", "off"), ("templates.archive_entries_limit", "1")];
    let output = platen(folder.path(), &small, &line, b"");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("more than 1 files (templates.archive_entries_limit)"), "{message}");
}

#[test]
fn the_command_line_fills_a_word_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["invoice.docx", "data.json"] {
        std::fs::write(folder.path().join(name), sample(name)).unwrap();
    }
    let line = ["render", "invoice.docx", "--type", "docx", "--data", "data.json", "-o", "filled.docx"];
    let output = platen(folder.path(), &[("log.filter", "off")], &line, b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let filled = std::fs::read(folder.path().join("filled.docx")).unwrap();
    assert!(paragraphs(&filled).contains(&"Invoice 2026-0147".to_owned()));
}
