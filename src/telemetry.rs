//! Logs on stderr, as text for people or JSON for machines, and metrics. Every module may count and log; `app` and `cli` install
//! the subscriber and make the metrics.

mod browsers;
pub mod metrics;
mod parts;
mod process;
mod register;
mod slots;
mod templates;
mod threads;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::time::SystemTime;

pub use browsers::BrowserMetrics;
pub use parts::{
    ChildMetrics, HttpMetrics, IndexMetrics, JobMetrics, JobPhase, PhaseMetrics, StoreMetrics, TexMetrics,
};
pub use register::{Counters, Gauge, Gauges, Histogram, Label, Labelled};
pub use slots::{EngineSlotMetrics, GaugeGuard, SlotMetrics, SlotWait};
pub use templates::TemplateMetrics;
pub use threads::ThreadMetrics;

use crate::config::{LogConfig, LogFormat};

/// The tracing target of the access log; `log.access` alone switches it on, whatever `log.filter` has.
pub const ACCESS: &str = "platen::access";

/// Installs the process's subscriber. A second call has no effect.
pub fn install(config: &LogConfig) {
    let filter = EnvFilter::try_new(&config.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let level = if config.access { LevelFilter::INFO } else { LevelFilter::OFF };
    let filter = match format!("{ACCESS}={level}").parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    };
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_timer(SystemTime).with_writer(std::io::stderr);
    let installed = match config.format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Pretty => {
            builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init()
        }
    };
    drop(installed);
}
