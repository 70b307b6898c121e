//! All metrics: one struct, made by `app` or a command, of which each part of the service gets its own part.
//!
//! Counting adds to a number in memory and never waits. Labels have few values, known beforehand: no ids, no paths as sent, no
//! texts of callers.

use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use super::browsers::BrowserMetrics;
use super::parts::{
    self, ChildMetrics, HttpMetrics, IndexMetrics, JobMetrics, PhaseMetrics, StoreMetrics, TexMetrics,
};
use super::process;
use super::register::{Counters, Gauges, Register};
use super::slots::SlotMetrics;
use super::templates::TemplateMetrics;
use super::threads::ThreadMetrics;
use crate::version::VERSION;

/// All metrics. Clones share them.
#[derive(Clone)]
pub struct Metrics {
    /// The queue and how jobs end.
    pub jobs: JobMetrics,
    /// How long each phase of a job takes.
    pub phases: PhaseMetrics,
    /// Engine processes.
    pub children: ChildMetrics,
    /// Pictures of Office documents that are fetched from URLs, by `outcome`: `fetched`, `refused`, `failed`, `too_long`,
    /// `late`.
    pub office_pictures: Counters<1>,
    /// Documents of LaTeX.
    pub tex: TexMetrics,
    /// By `engine`: 1 if all its requirements are installed, else 0.
    pub engines: Gauges<1>,
    /// Slots of engines that run heavy programs.
    pub slots: SlotMetrics,
    /// Browsers and their tabs.
    pub browser: BrowserMetrics,
    /// Objects.
    pub store: StoreMetrics,
    /// Records.
    pub index: IndexMetrics,
    /// Templates.
    pub templates: TemplateMetrics,
    /// Requests and connections.
    pub http: HttpMetrics,
    /// Threads that others share.
    pub threads: ThreadMetrics,
    registered: Arc<RegisteredMetrics>,
}

struct RegisteredMetrics {
    registry: Registry,
    table: String,
}

impl Metrics {
    /// The media type of what [`Metrics::text`] gives.
    pub const MEDIA_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// New metrics, all zero.
    pub fn new() -> Self {
        let mut register = Register::default();
        let jobs = JobMetrics::new(&mut register);
        let phases = PhaseMetrics::new(&mut register);
        let children = ChildMetrics::new(&mut register);
        let office_pictures = parts::office_pictures(&mut register);
        let tex = TexMetrics::new(&mut register);
        let engines = parts::available_engines(&mut register);
        let slots = SlotMetrics::new(&mut register);
        let browser = BrowserMetrics::new(&mut register);
        let store = StoreMetrics::new(&mut register);
        let index = IndexMetrics::new(&mut register);
        let templates = TemplateMetrics::new(&mut register);
        let http = HttpMetrics::new(&mut register);
        let threads = ThreadMetrics::new(&mut register);
        process::register(&mut register);
        register.info("platen_build", "version", "Which Platen this is", VERSION);
        let (registry, table) = register.finish();
        let registered = Arc::new(RegisteredMetrics { registry, table });
        Self {
            jobs,
            phases,
            children,
            office_pictures,
            tex,
            engines,
            slots,
            browser,
            store,
            index,
            templates,
            http,
            threads,
            registered,
        }
    }

    /// All metrics as text, in the format of `OpenMetrics`, which Prometheus reads.
    ///
    /// # Errors
    /// None in practice: it writes into memory.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::with_capacity(16 << 10);
        text::encode(&mut text, &self.registered.registry)?;
        Ok(text)
    }

    /// The table of `docs/metrics.txt`, a line for each metric: name, type, labels, meaning.
    pub fn table(&self) -> &str {
        &self.registered.table
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_metrics_are_those_registered() {
        let metrics = Metrics::new();
        let page = include_str!("../../docs/metrics.txt");
        assert!(
            metrics.table() == page,
            "docs/metrics.txt differs; if that is meant, write:\n{}",
            metrics.table()
        );
    }

    #[test]
    fn no_line_is_longer_than_a_page_and_every_name_is_ours_or_the_systems() {
        for line in Metrics::new().table().lines() {
            assert!(line.len() <= 160, "{line}");
            assert!(line.starts_with("platen_") || line.starts_with("process_"), "{line}");
        }
    }
}
