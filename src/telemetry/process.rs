//! Metrics of this process, read from the system when they are requested.

use std::fmt;
use std::fs;
use std::time::Instant;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::register::Register;
use crate::procfs;

const MEMORY: (&str, &str) = ("process_resident_memory_bytes", "Memory of the service, without its children");
const FILES: (&str, &str) = ("process_open_fds", "Open files and connections of the service");
const UPTIME: (&str, &str) = ("platen_uptime_seconds", "Time since the service started");

#[derive(Debug)]
struct ProcessCollector {
    since: Instant,
}

/// Registers a collector that reads them at each request of the metrics.
pub(super) fn register(register: &mut Register) {
    for (name, meaning) in [MEMORY, FILES, UPTIME] {
        register.add_row(name, MetricType::Gauge, &[], meaning);
    }
    register.collector(ProcessCollector { since: Instant::now() });
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        if let Some(bytes) = resident_bytes() {
            write(&mut encoder, MEMORY, &ConstGauge::new(bytes))?;
        }
        if let Some(count) = open_files() {
            write(&mut encoder, FILES, &ConstGauge::new(count))?;
        }
        write(&mut encoder, UPTIME, &ConstGauge::new(self.since.elapsed().as_secs_f64()))
    }
}

fn write(
    encoder: &mut DescriptorEncoder,
    (name, meaning): (&str, &str),
    gauge: &impl EncodeMetric,
) -> Result<(), fmt::Error> {
    // The library adds a full stop to registered metrics, but not to those of collectors.
    let meaning = format!("{meaning}.");
    gauge.encode(encoder.encode_descriptor(name, &meaning, None, gauge.metric_type())?)
}

fn resident_bytes() -> Option<i64> {
    let own = i32::try_from(std::process::id()).ok()?;
    i64::try_from(procfs::statm(own)?.resident_bytes).ok()
}

fn open_files() -> Option<i64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    // Without the descriptor of this listing.
    i64::try_from(count).ok().map(|count| count - 1)
}
