//! A data folder with templates in every state, made once by the real program with its browser, then copied.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use platen::failpoint::Fault;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::fault_file::FaultFile;
use crate::service::{self, Service};

/// The folder, and what is in it.
pub struct PreparedFolder {
    folder: TempDir,
    pub token: String,
    /// Saved.
    pub saved: Template,
    /// Unzipped and previewed, not saved.
    pub draft: Template,
    /// Uploaded, not unzipped.
    pub uploaded: Template,
}

/// A template that was begun.
pub struct Template {
    pub id: String,
    pub upload_url: String,
    /// The jobs of its previews, as `previewIds`.
    pub previews: Value,
}

/// A copy of the folder; it is deleted when it is dropped.
pub struct FolderCopy {
    folder: TempDir,
}

impl FolderCopy {
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The file that says which fault the service meets, and when.
    pub fn fault_file(&self) -> PathBuf {
        self.folder.path().join("fault")
    }

    /// From now on the service counts its changes and kills itself before or after the `number`-th.
    pub fn arm(&self, number: u64) {
        FaultFile::new(self.fault_file()).arm(Fault::Abort, number);
    }
}

/// An archive with the page that shows `text` and the data's `name`.
pub fn archive(text: &str) -> Vec<u8> {
    archive_of(&[("index.html", format!("<!doctype html><p>{text} <%= name %></p>"))])
}

/// An archive of these files.
pub fn archive_of(files: &[(&str, String)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The body of a request that saves a template.
pub fn save_request(title: &str, template: &Template) -> Value {
    json!({
        "templateInfo": {
            "title": title, "description": "For tests.", "type": "html", "sampleData": {"name": "Ann"},
            "categories": ["invoice"], "permissions": "public"
        },
        "previewIds": template.previews
    })
}

impl PreparedFolder {
    /// Everything is made as clients make it.
    pub async fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        service::command(&data, &["account", "create", "test"]).unwrap();
        let token = service::command(&data, &["token", "create", "--account", "test"]).unwrap();
        let service = Service::launch(service::program(&data), &token);
        service.until_ready().await;
        let saved = begin(&service, "saved").await;
        let saved = preview(&service, saved).await;
        let (status, answer) =
            service.post(&format!("/v1/templates/{}", saved.id), &save_request("Saved", &saved)).await;
        assert_eq!(status, 204, "{answer}");
        let draft = begin(&service, "draft").await;
        let draft = preview(&service, draft).await;
        let uploaded = begin(&service, "uploaded").await;
        service.stop();
        Self { folder, token, saved, draft, uploaded }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn copy(&self) -> FolderCopy {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(&self.data(), folder.path());
        FolderCopy { folder }
    }

    /// The templates by the names that the tests call them.
    pub fn templates(&self) -> [(&'static str, &Template); 3] {
        [("saved", &self.saved), ("draft", &self.draft), ("uploaded", &self.uploaded)]
    }
}

fn copy_folder(from: &Path, into: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(into).status().unwrap();
    assert!(status.success());
}

async fn begin(service: &Service, text: &str) -> Template {
    let (status, answer) = service.get("/v1/templates/init").await;
    assert_eq!(status, 200, "{answer}");
    let member = |member: &str| answer[member].as_str().unwrap().to_owned();
    let (id, upload_url) = (member("templateId"), member("presignedTemplateUploadUrl"));
    assert_eq!(service.upload(&upload_url, archive(text)).await.unwrap(), 200);
    Template { id, upload_url, previews: Value::Null }
}

async fn preview(service: &Service, template: Template) -> Template {
    let path = format!("/v1/templates/{}", template.id);
    assert_eq!(service.send(Method::PATCH, &format!("{path}/unzip"), None).await.0, 204);
    let body = json!({"type": "html", "data": {"name": "Ann"}});
    let (status, answer) = service.post(&format!("{path}/render-previews"), &body).await;
    assert_eq!(status, 200, "{answer}");
    let previews = json!({
        "pngJobId": answer["pngPreview"]["jobId"], "pdfJobId": answer["pdfPreview"]["jobId"]
    });
    Template { previews, ..template }
}
