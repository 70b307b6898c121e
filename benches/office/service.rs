//! The service over HTTP: a template that is saved, rendered in one request and downloaded in another; and one that is
//! uploaded with each job. What fills is the engine's process.

use std::io;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::Way;
use crate::common::program::{Program, make_account, read, text};
use crate::common::usage::{children_time, engines, process_time};
use crate::documents::{Document, INVOICE};
use crate::saved;

/// One process at work, and one of each kind that waits.
const SETTINGS: [(&str, &str); 7] = [
    ("PLATEN__ASSEMBLE__SPARES", "1"),
    ("PLATEN__ASSEMBLE__KEPT", "1"),
    ("PLATEN__ASSEMBLE__PROCESSES", "1"),
    ("PLATEN__BROWSER__TABS", "1"),
    // Other programs may have the processors meanwhile: what is compared is the time that each way had of them.
    ("PLATEN__ASSEMBLE__TIMEOUT_MS", "120000"),
    ("PLATEN__ASSEMBLE__YIELD_AFTER_MS", "60000"),
    // The data of 100,000 rows have 20 MB.
    ("PLATEN__HTTP__JSON_LIMIT_BYTES", "67108864"),
];

/// Where the template comes from.
#[derive(Clone, Copy)]
pub enum Template {
    /// The template is saved in the service.
    Saved,
    /// It comes with each job.
    Uploaded,
    /// The same, and it takes the engine.
    Computed,
}

/// A running service.
pub struct Service {
    program: Program,
    name: String,
    /// The id of the template that is saved.
    saved: Option<String>,
    is_computed: bool,
    _folder: tempfile::TempDir,
}

impl Service {
    /// Starts it, or another version's program, and waits until it is ready.
    pub fn start(template: Template, other: Option<&str>) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = make_account(folder.path(), "bench")?;
        let (name, saved) = match template {
            Template::Saved => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                ("Platen", Some(runtime.block_on(saved::save(folder.path(), INVOICE))?))
            }
            Template::Uploaded => ("Platen, uploaded each time", None),
            Template::Computed => ("Platen, with a filter", None),
        };
        let (program, name) = match other {
            Some(other) => {
                (Program::of(other, folder.path(), token, &SETTINGS)?, format!("{name}, another version"))
            }
            None => (Program::start(folder.path(), token, &SETTINGS)?, name.to_owned()),
        };
        program.runtime.block_on(program.ready())?;
        let is_computed = matches!(template, Template::Computed);
        Ok(Self { program, name, saved, is_computed, _folder: folder })
    }

    async fn fill_once(&self, document: &Document, job: &str) -> io::Result<Vec<u8>> {
        if self.saved.is_some() {
            return self.program.render(job.to_owned()).await;
        }
        let Program { client, .. } = &self.program;
        let file = if self.is_computed { &document.computed } else { &document.file }.clone();
        let begun = self.post("/v1/documents/init", job.to_owned()).await?;
        read(client.put(text(&begun, "/presignedTemplateUploadUrl")?).body(file)).await?;
        let id = text(&begun, "/jobId")?;
        let wait = json!({ "shouldWaitForRenderCompletion": true }).to_string();
        let view = self.post(&format!("/v1/documents/{id}/render"), wait).await?;
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
    fn name(&self) -> &str {
        &self.name
    }

    fn fill(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>> {
        let mut job = json!({ "type": document.kind, "target": document.kind, "data": document.data });
        if let Some(id) = &self.saved {
            job["templateId"] = json!(id);
        }
        let job = job.to_string();
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

    fn processes(&self) -> Vec<u32> {
        let id = self.program.id();
        engines(id).into_iter().chain([id]).collect()
    }
}
