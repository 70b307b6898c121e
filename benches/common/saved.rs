//! A document's template saved at the service, as its callers save one: begun, uploaded, unzipped, previewed.

use std::io::{self, Cursor, Write as _};

use reqwest::Method;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::document::Document;
use crate::common::program::{Program, read, text};

impl Program {
    /// Saves the template for whose token this is; gives its id.
    pub async fn save_as(&self, token: &str, document: &Document) -> io::Result<String> {
        let data: Value = serde_json::from_str(&document.data)?;
        let begun = self.ask_as(token, Method::GET, "/v1/templates/init", &Value::Null).await?;
        let id = text(&begun, "/templateId")?;
        self.upload(text(&begun, "/presignedTemplateUploadUrl")?, archive(document)?).await?;
        let path = format!("/v1/templates/{id}");
        self.ask_as(token, Method::PATCH, &format!("{path}/unzip"), &Value::Null).await?;
        let wanted = json!({ "type": document.kind(), "data": data });
        let previews = self.ask_as(token, Method::POST, &format!("{path}/render-previews"), &wanted).await?;
        let info = json!({ "title": document.name, "description": "", "type": document.kind(),
            "sampleData": data, "categories": [] });
        let previews = json!({ "pngJobId": text(&previews, "/pngPreview/jobId")?,
            "pdfJobId": text(&previews, "/pdfPreview/jobId")? });
        let saved = json!({ "templateInfo": info, "previewIds": previews });
        self.ask_as(token, Method::POST, &path, &saved).await?;
        Ok(id.to_owned())
    }

    /// Asks for whose token this is; null is no body.
    pub async fn ask_as(&self, token: &str, method: Method, path: &str, body: &Value) -> io::Result<Value> {
        let request = self.request_as(token, method, path);
        read(if body.is_null() { request } else { request.json(body) }).await
    }

    /// PUTs a body to a presigned address.
    pub async fn upload(&self, url: &str, body: Vec<u8>) -> io::Result<()> {
        read(self.client.put(url).body(body)).await.map(drop)
    }
}

/// The archive that a caller uploads.
pub fn archive(document: &Document) -> io::Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let entry = [("index.html", document.template.as_bytes())];
    let files = document.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()));
    for (path, content) in files.chain(entry) {
        writer.start_file(path, SimpleFileOptions::default())?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}
