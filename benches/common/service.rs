//! The service: the program over HTTP. A document is an immediate render (data in the body, and the template too
//! unless files lie beside it, which saves it first; assembled) and the download of its PDF; all are of one account.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::clients::at_once;
use crate::common::document::Document;
use crate::common::figures::{Figures, Used, warm_up};
use crate::common::program::{Program, make_account};
use crate::common::usage::{children_time, engines, group_time, process_time};

/// How often a measurement in which Chromium ended is taken.
const ATTEMPTS: usize = 3;

/// A running service with an account.
pub struct Service {
    pub program: Program,
    _folder: TempDir,
    /// What is asked for a document, by its name.
    bodies: RefCell<HashMap<String, String>>,
}

impl Service {
    /// Starts the program with further settings and waits until it is ready.
    pub fn start(settings: &[(&str, &str)]) -> io::Result<Self> {
        Self::start_version(None, settings)
    }

    /// The same of another version's program, if one is given.
    pub fn start_version(other: Option<&str>, settings: &[(&str, &str)]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = make_account(folder.path(), "bench")?;
        let program = match other {
            Some(other) => Program::of(other, folder.path(), token, settings)?,
            None => Program::start(folder.path(), token, settings)?,
        };
        Self::of(program, folder)
    }

    /// A started program on that folder, once it is ready.
    pub fn of(program: Program, folder: TempDir) -> io::Result<Self> {
        program.runtime.block_on(program.ready())?;
        Ok(Self { program, _folder: folder, bodies: RefCell::default() })
    }

    /// Renders `documents` times, `clients` at once.
    ///
    /// The kernel adds up the processor time of all ended children, Chromium and engines alike: a measurement in which
    /// a Chromium ended is repeated.
    pub fn measure(&self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
        self.render_all(document, clients, warm_up(clients))?;
        let id = self.program.id();
        for _ in 0..ATTEMPTS {
            let browsers = chromium_groups(id);
            let figures = Figures::measure(|| self.used(), || self.render_all(document, clients, documents))?;
            if browsers == chromium_groups(id) {
                return Ok(figures);
            }
        }
        Err(io::Error::other(format!("Chromium ended in each of {ATTEMPTS} measurements")))
    }

    /// Processor time until now.
    pub fn used(&self) -> Used {
        let id = self.program.id();
        Used {
            chromium: chromium_groups(id).into_iter().map(group_time).sum(),
            own: process_time(id),
            engines: children_time(id, || engines(id)),
        }
    }

    /// Renders `documents` times, `clients` at once; gives each latency.
    pub fn render_all(
        &self,
        document: &Document,
        clients: usize,
        documents: usize,
    ) -> io::Result<Vec<Duration>> {
        self.program.runtime.block_on(async {
            let body = self.body_of(document).await?;
            let render = async |_| document.check(&self.program.render(body.clone()).await?);
            at_once(clients, documents, render).await
        })
    }

    async fn body_of(&self, document: &Document) -> io::Result<String> {
        if let Some(body) = self.bodies.borrow().get(&document.name) {
            return Ok(body.clone());
        }
        let (member, template) = if document.files.is_empty() {
            ("template", document.template.clone())
        } else {
            ("templateId", self.program.save_as(&self.program.token, document).await?)
        };
        let (kind, template, data) = (document.kind(), Value::from(template), &document.data);
        let body =
            format!(r#"{{"type": "{kind}", "target": "pdf", "{member}": {template}, "data": {data}}}"#);
        self.bodies.borrow_mut().insert(document.name.clone(), body.clone());
        Ok(body)
    }
}

/// The process groups of the service's browsers: a browser leads a group of its own.
pub fn chromium_groups(service: u32) -> Vec<i32> {
    let is_chromium = |id: &u32| {
        let program = std::fs::read_link(format!("/proc/{id}/exe"));
        program.is_ok_and(|program| program.to_string_lossy().contains("chrom"))
    };
    let mut groups: Vec<_> =
        children(service).into_iter().filter(is_chromium).filter_map(|id| i32::try_from(id).ok()).collect();
    groups.sort_unstable();
    groups
}

fn children(service: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{service}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: String = children.collect::<Vec<_>>().join(" ");
    children.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}
