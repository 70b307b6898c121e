//! Templates and data in other encodings than plain UTF-8, from upload to document.

use std::io::{Cursor, Read as _, Write as _};

use encoding_rs::{Encoding, SHIFT_JIS, WINDOWS_1252};
use reqwest::Method;
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::app::TestApp;

const PAGE: &str = "<!doctype html><html><head><meta charset=iso-8859-1><title>Grüße</title>\
    <link rel=stylesheet href=plain.css><link rel=stylesheet href=said.css><script src=a.js></script></head>\
    <body><p>Seite für <%= name %></p><%- include('part') %><p class=a></p><p class=b></p><p id=c></p>\
    <iframe src=frame.html></iframe><script>c.textContent = fromScript</script></body></html>";

/// An archive of which every text is in `encoding`, but for what says that it is in something else.
fn archive(encoding: &'static Encoding, page: &str) -> Vec<u8> {
    let plain = [
        ("index.html", page),
        ("part.ejs", "<p>Teil: Zoë & <%= name %></p>"),
        ("plain.css", ".a::after { content: 'schlicht ü' }"),
        ("a.js", "const fromScript = 'Skript ü';"),
        ("frame.html", "<p>Rahmen ü</p>"),
    ];
    let encoded = plain.map(|(path, text)| {
        let (bytes, _, lossy) = encoding.encode(text);
        assert!(!lossy, "{text}");
        (path, bytes.into_owned())
    });
    let declared = b"@charset \"windows-1251\"; .b::after { content: 'gesagt \xcf\xf0' }".to_vec();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in encoded.into_iter().chain([("said.css", declared)]) {
        writer.start_file(path, SimpleFileOptions::default()).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The file of the template's archive, as it is downloaded.
async fn downloaded(app: &TestApp, template: &str, path: &str) -> Vec<u8> {
    let (_, address) = app.get(&format!("/v1/templates/{template}/presigned-url")).await;
    let (_, zip) = app.fetch(&address["presignedUrl"]).await;
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// The words of the document, its warnings.
async fn render(app: &TestApp, upload: Vec<u8>, data: &'static str) -> (Vec<String>, Vec<String>) {
    let new = app.init(json!({"type": "html", "target": "pdf"})).await;
    assert_eq!(app.put(new.template_url.as_deref().unwrap(), upload).await, 200);
    assert_eq!(app.put(new.data_url.as_deref().unwrap(), data).await, 200);
    let view = app.finish(&new.id).await;
    assert_eq!(view["error"], json!(null), "{view}");
    let (_, pdf) = app.fetch(&view["output"]["data"]["url"]).await;
    let warnings =
        view["warnings"].as_array().map(|lines| lines.iter().map(|it| it.as_str().unwrap().to_owned()));
    (lines(&app.text_of(&pdf)), warnings.into_iter().flatten().collect())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn an_archive_in_latin_1_is_read_as_that_with_all_it_refers_to() {
    let app = TestApp::start().await;
    let wanted = ["Seite für Zoë", "Teil: Zoë & Zoë", "schlicht ü", "gesagt Пр", "Skript ü", "Rahmen ü"];
    let data = "\u{feff}{\"name\":\"Zoë\"}";
    let (found, warnings) = render(&app, archive(WINDOWS_1252, PAGE), data).await;
    assert_eq!(found, wanted, "data with a mark before it");
    assert_eq!(warnings, Vec::<String>::new());
    let undeclared = PAGE.replace("<meta charset=iso-8859-1>", "");
    let (found, warnings) = render(&app, archive(WINDOWS_1252, &undeclared), data).await;
    assert_eq!(found, wanted);
    assert!(
        warnings[0].starts_with("index.html: line 1 is not UTF-8 and no encoding is declared"),
        "{warnings:?}"
    );
    let utf16: Vec<u8> =
        "\u{feff}<p>Seite für <%= name %></p>".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let (found, warnings) = render(&app, utf16, data).await;
    assert_eq!(found[0], "Seite für Zoë", "{warnings:?}");
}

#[tokio::test]
async fn a_saved_template_is_read_and_replaced_in_any_encoding() {
    let app = TestApp::start().await;
    let id = app.saved("Latin", archive(WINDOWS_1252, PAGE)).await;
    let path = format!("/v1/templates/{id}/index-html");
    assert_eq!(app.get(&path).await.1["indexHtml"], PAGE);
    let original = downloaded(&app, &id, "index.html").await;
    assert_eq!(
        WINDOWS_1252.decode_without_bom_handling(&original).0,
        PAGE,
        "what was uploaded is what is kept"
    );
    // Its meta says Latin-1 still, which has none of these letters.
    let text = PAGE.replace("Seite", "ページ");
    assert_eq!(app.post(&path, &json!({"indexHtml": text})).await.0, 204);
    assert_eq!(app.get(&path).await.1["indexHtml"], text.as_str());
    let kept = downloaded(&app, &id, "index.html").await;
    assert_eq!(kept, format!("\u{feff}{text}").as_bytes(), "browsers read it as what it is");
    let body = json!({"type": "html", "target": "pdf", "templateId": id, "data": {"name": "Ann"}});
    let (_, answer) = app.post("/v1/documents/immediate-render", &body).await;
    let (_, pdf) = app.fetch(&answer["url"]).await;
    // Fonts for Japanese differ in their widths, by which pdftotext tells where a word ends.
    let found: String = app.text_of(&pdf).split_whitespace().collect();
    assert!(found.starts_with("ページfürAnnTeil:Zoë&Ann"), "{found}");
}

#[tokio::test]
async fn a_document_declares_its_encoding() {
    let app = TestApp::start().await;
    let (bytes, ..) = SHIFT_JIS.encode("<!doctype html><meta charset=shift_jis><p>表示 <%= name %></p>");
    let new = app.init(json!({"type": "html", "target": "html"})).await;
    assert_eq!(app.put(new.template_url.as_deref().unwrap(), bytes.into_owned()).await, 200);
    assert_eq!(app.put(new.data_url.as_deref().unwrap(), "{\"name\":\"Zoë\"}").await, 200);
    let view = app.finish(&new.id).await;
    let (_, html) = app.fetch(&view["output"]["data"]["url"]).await;
    let wanted = "\u{feff}<!doctype html><meta charset=shift_jis><p>表示 Zoë</p>";
    assert_eq!(
        String::from_utf8(html).unwrap(),
        wanted,
        "opened from a disk, the mark counts and not the meta"
    );

    // A request carries characters, whatever their meta says; a mark before its JSON is nothing.
    let text = "<!doctype html><meta charset=iso-8859-1><p>東京 <%= name %></p>";
    let body = json!({"type": "html", "target": "pdf", "template": text, "data": {"name": "Zoë"}});
    let request = app.request(Method::POST, "/v1/documents/immediate-render").body(format!("\u{feff}{body}"));
    let (status, answer) = crate::app::read(request.send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer}");
    let (_, pdf) = app.fetch(&answer["url"]).await;
    assert_eq!(app.text_of(&pdf).trim(), "東京 Zoë");
}
