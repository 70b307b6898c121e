//! Templates as existing clients make them: begun, uploaded, unzipped, previewed, saved.

use std::io::{Cursor, Write as _};

use reqwest::Method;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::app::TestApp;

/// A template that was begun.
#[derive(Clone, Debug)]
pub struct Begun {
    pub id: String,
    pub upload_url: String,
}

/// The jobs of a template's previews.
#[derive(Clone, Debug)]
pub struct Previews {
    pub png: String,
    pub pdf: String,
}

/// An archive as people make them.
pub fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A Word file with one paragraph.
pub fn word_file() -> Vec<u8> {
    let types = "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
        <Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.\
        wordprocessingml.document.main+xml\"/></Types>";
    archive(&[("[Content_Types].xml", types), ("word/document.xml", "<w:document/>")])
}

/// An archive of a page that shows `text` and the data's `name`.
pub fn page(text: &str) -> Vec<u8> {
    let page = format!("<!doctype html><link rel=stylesheet href=/a.css><p>{text} <%= name %></p>");
    archive(&[("index.html", &page), ("a.css", "p { color: green }")])
}

/// The body of a request that saves a template.
pub fn save_request(title: &str, previews: &Previews) -> Value {
    json!({
        "templateInfo": {
            "title": title, "description": "For tests.", "type": "html", "sampleData": {"name": "Ann"},
            "categories": ["invoice", "other"], "sourceCode": null
        },
        "previewIds": {"pngJobId": previews.png, "pdfJobId": previews.pdf}
    })
}

impl TestApp {
    /// Sends a request without a body but with its type, as clients do; gives status and body.
    pub async fn send(&self, method: Method, path: &str) -> (u16, Value) {
        let request = self.request(method, path).header("content-type", "application/json");
        crate::app::read(request.send().await.unwrap()).await
    }

    /// PUTs JSON with the token.
    pub async fn update(&self, path: &str, body: &Value) -> (u16, Value) {
        crate::app::read(self.request(Method::PUT, path).body(body.to_string()).send().await.unwrap()).await
    }

    pub async fn begin(&self) -> Begun {
        let (status, answer) = self.send(Method::GET, "/v1/templates/init").await;
        assert_eq!(status, 200, "{answer}");
        let text = |member: &str| answer[member].as_str().unwrap().to_owned();
        Begun { id: text("templateId"), upload_url: text("presignedTemplateUploadUrl") }
    }

    /// A template with files, not saved.
    pub async fn unzipped(&self, archive: Vec<u8>) -> String {
        let begun = self.begin().await;
        assert_eq!(self.put(&begun.upload_url, archive).await, 200);
        let (status, answer) = self.send(Method::PATCH, &format!("/v1/templates/{}/unzip", begun.id)).await;
        assert_eq!((status, &answer), (204, &Value::Null));
        begun.id
    }

    pub async fn previews(&self, template: &str) -> Previews {
        let body = json!({"type": "html", "data": {"name": "Ann"}});
        let (status, answer) = self.post(&format!("/v1/templates/{template}/render-previews"), &body).await;
        assert_eq!(status, 200, "{answer}");
        let job = |member: &str| answer[member]["jobId"].as_str().unwrap().to_owned();
        Previews { png: job("pngPreview"), pdf: job("pdfPreview") }
    }

    /// A saved template.
    pub async fn saved(&self, title: &str, archive: Vec<u8>) -> String {
        let id = self.unzipped(archive).await;
        let previews = self.previews(&id).await;
        let (status, answer) =
            self.post(&format!("/v1/templates/{id}"), &save_request(title, &previews)).await;
        assert_eq!((status, &answer), (204, &Value::Null));
        id
    }

    /// What a template becomes as html, by immediate-render; the status and the problem's code where it fails.
    pub async fn shown(&self, template: &str) -> Result<String, (u16, String)> {
        let body = json!({"type": "html", "target": "html", "templateId": template, "data": {"name": "Bob"}});
        let (status, answer) = self.post("/v1/documents/immediate-render", &body).await;
        match answer["url"].as_str() {
            Some(url) => Ok(self.client.get(url).send().await.unwrap().text().await.unwrap()),
            None => Err((status, answer["code"].as_str().unwrap_or_default().to_owned())),
        }
    }

    /// The bytes at an address, without a token.
    pub async fn fetch(&self, url: &Value) -> (u16, Vec<u8>) {
        let answer = self.client.get(url.as_str().unwrap()).send().await.unwrap();
        (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
    }
}
