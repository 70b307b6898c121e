//! The service: a job whose template is uploaded, waited for and downloaded over HTTP. What fills is the engine's process.

use std::io;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::Way;
use crate::common::program::{Program, make_account, read, text};
use crate::common::usage::{children_time, engines, process_time};
use crate::documents::Document;

/// One process at work, and one of each kind that waits.
const SETTINGS: [(&str, &str); 4] = [
    ("PLATEN__ASSEMBLE__SPARES", "1"),
    ("PLATEN__ASSEMBLE__KEPT", "1"),
    ("PLATEN__ASSEMBLE__PROCESSES", "1"),
    ("PLATEN__BROWSER__TABS", "1"),
];

/// A running service.
pub struct Service {
    program: Program,
    _folder: tempfile::TempDir,
}

impl Service {
    /// Starts it and waits until it is ready.
    pub fn start() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = make_account(folder.path(), "bench")?;
        let program = Program::start(folder.path(), token, &SETTINGS)?;
        program.runtime.block_on(async {
            while program.get("/health/ready").await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        Ok(Self { program, _folder: folder })
    }

    async fn fill_once(&self, document: &Document, job: &str) -> io::Result<Vec<u8>> {
        let Program { client, .. } = &self.program;
        let begun = self.post("/v1/documents/init", job.to_owned()).await?;
        read(client.put(text(&begun, "/presignedTemplateUploadUrl")?).body(document.file)).await?;
        let id = text(&begun, "/jobId")?;
        self.post(&format!("/v1/documents/{id}/render"), "{}".to_owned()).await?;
        let view = read(self.program.request(Method::GET, &format!("/v1/jobs/{id}?wait=20"))).await?;
        let url = text(&view, "/output/data/url")?;
        let answer = client.get(url).send().await.map_err(io::Error::other)?;
        Ok(answer.bytes().await.map_err(io::Error::other)?.into())
    }

    async fn post(&self, path: &str, body: String) -> io::Result<Value> {
        let request = self.program.request(Method::POST, path);
        read(request.header("content-type", "application/json").body(body)).await
    }
}

impl Way for Service {
    fn name(&self) -> &'static str {
        "Platen"
    }

    fn fill(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>> {
        let job = json!({ "type": "docx", "target": "docx", "data": document.data }).to_string();
        self.program.runtime.block_on(async {
            let mut file = Vec::new();
            for _ in 0..times {
                file = self.fill_once(document, &job).await?;
            }
            Ok(file)
        })
    }

    fn used(&self) -> [Duration; 2] {
        let id = self.program.id();
        [children_time(id, || engines(id)), process_time(id)]
    }
}
