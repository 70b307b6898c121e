//! The whole service with its default configuration, and jobs of strangers in it.

use std::io::{Cursor, Write as _};
use std::process::Command;

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::app::TestApp;

/// What a job became.
pub struct Made {
    pub view: Value,
    pub file: Vec<u8>,
    pub target: &'static str,
}

/// A template as it is uploaded, and what is asked of it.
#[derive(Clone)]
pub struct Order {
    pub template: Vec<u8>,
    pub target: &'static str,
    pub opts: Value,
}

impl Order {
    /// A page alone, as a PDF.
    pub fn pdf(page: &str) -> Self {
        Self { template: page.as_bytes().to_vec(), target: "pdf", opts: json!({}) }
    }

    /// A page with a file beside it.
    pub fn packed(page: &str, target: &'static str) -> Self {
        let template = archive(&[("index.html", page.as_bytes()), ("own.txt", b"own")]);
        Self { template, target, opts: json!({}) }
    }
}

impl Made {
    /// The job's error and warnings, in one text.
    pub fn messages(&self) -> String {
        let warnings = self.view["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let error = self.view["error"].as_str();
        error.into_iter().chain(warnings).collect::<Vec<_>>().join(" | ")
    }

    /// Everything that the owner gets: the file, its text, and the job's view.
    pub fn everything(&self) -> Vec<u8> {
        let mut all = self.file.clone();
        if self.target == "pdf" && !self.file.is_empty() {
            all.extend(text_of(&self.file).into_bytes());
        }
        all.extend(self.view.to_string().into_bytes());
        all
    }

    pub fn holds(&self, wanted: &str) -> bool {
        self.everything().windows(wanted.len()).any(|window| window == wanted.as_bytes())
    }
}

/// Renders `order` for the account of `token`.
pub async fn render(app: &TestApp, token: &str, order: Order) -> Made {
    let body = json!({"type": "html", "target": order.target, "data": {}, "formatOpts": order.opts});
    let request = app.client.post(format!("{}/v1/documents/init", app.base)).bearer_auth(token);
    let (status, job) = crate::app::read(request.body(body.to_string()).send().await.unwrap()).await;
    assert_eq!(status, 200, "{job}");
    assert_eq!(app.put(job["presignedTemplateUploadUrl"].as_str().unwrap(), order.template).await, 200);
    finish(app, token, job["jobId"].as_str().unwrap(), order.target).await
}

/// Starts the job `id` of the account of `token`, and waits for what it becomes.
pub async fn finish(app: &TestApp, token: &str, id: &str, target: &'static str) -> Made {
    let request = app.client.post(format!("{}/v1/documents/{id}/render", app.base)).bearer_auth(token);
    let (status, answer) = crate::app::read(request.body("{}").send().await.unwrap()).await;
    assert!(matches!(status, 200 | 202), "{answer}");
    let view = loop {
        let request = app.client.get(format!("{}/v1/jobs/{id}?wait=20", app.base)).bearer_auth(token);
        let (status, view) = crate::app::read(request.send().await.unwrap()).await;
        assert_eq!(status, 200, "{view}");
        if view["status"] == "done" {
            break view;
        }
    };
    let file = match view["output"]["data"]["url"].as_str() {
        Some(url) => app.client.get(url).send().await.unwrap().bytes().await.unwrap().to_vec(),
        None => Vec::new(),
    };
    Made { view, file, target }
}

/// The text of a PDF.
pub fn text_of(pdf: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pdf).unwrap();
    let output = Command::new("pdftotext").arg(file.path()).arg("-").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An archive as people make them.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
