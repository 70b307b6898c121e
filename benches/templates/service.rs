//! The service on a filled folder.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::clients::at_once;
use crate::common::program::Program;
use crate::fill::Filled;

/// A running service.
pub struct Service(Program);

/// How long a start took, from when the program was called.
pub struct Started {
    /// Time until it reported that it runs.
    pub alive: Duration,
    /// Until it had answered for a template.
    pub answered: Duration,
}

impl Service {
    /// Starts the program.
    pub fn start(root: &Path, filled: &Filled) -> io::Result<(Self, Started)> {
        let begun = Instant::now();
        let service = Self(Program::start(root, filled.token.clone(), &[])?);
        let answered_after = |path: &str| -> io::Result<Duration> {
            service.0.runtime.block_on(service.get(path))?;
            Ok(begun.elapsed())
        };
        let alive = answered_after("/health/live")?;
        let answered = answered_after(&format!("/v1/templates/{}", filled.template(1)))?;
        Ok((service, Started { alive, answered }))
    }

    /// GETs `count` paths, `clients` at once: each latency, and how long all of it took.
    pub fn ask_all(
        &self,
        clients: usize,
        count: usize,
        path: impl Fn(usize) -> String,
    ) -> io::Result<(Vec<Duration>, Duration)> {
        self.measure(clients, count, async |number| self.get(&path(number)).await)
    }

    /// Renders templates to html, likewise; a render is the request and the download.
    pub fn render_all(
        &self,
        clients: usize,
        count: usize,
        template: impl Fn(usize) -> String,
    ) -> io::Result<(Vec<Duration>, Duration)> {
        self.measure(clients, count, async |number| self.render(&template(number)).await)
    }

    /// Resident memory of the service's own process in MiB.
    pub fn resident_mb(&self) -> u64 {
        self.0.memory_mb("VmRSS:")
    }

    /// The first requests warm up and are not counted.
    fn measure(
        &self,
        clients: usize,
        count: usize,
        request: impl AsyncFn(usize) -> io::Result<()>,
    ) -> io::Result<(Vec<Duration>, Duration)> {
        self.0.runtime.block_on(at_once(clients, clients * 4, &request))?;
        let begun = Instant::now();
        let latencies = self.0.runtime.block_on(at_once(clients, count, &request))?;
        Ok((latencies, begun.elapsed()))
    }

    async fn get(&self, path: &str) -> io::Result<()> {
        self.0.get(path).await.map(drop)
    }

    async fn render(&self, template: &str) -> io::Result<()> {
        let body = json!({"type": "html", "target": "html", "templateId": template, "data": {"name": "Bob"}});
        let page = String::from_utf8_lossy(&self.0.render(body.to_string()).await?).into_owned();
        if page.contains("Invoice for Bob") { Ok(()) } else { Err(io::Error::other(page)) }
    }
}
