//! What the system says of this process, read when somebody asks.

use std::fmt;
use std::fs;
use std::time::Instant;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::register::Register;

const MEMORY: (&str, &str) = ("process_resident_memory_bytes", "Memory of the service, without its children");
const FILES: (&str, &str) = ("process_open_fds", "Open files and connections of the service");
const UPTIME: (&str, &str) = ("platen_uptime_seconds", "Time since the service started");

#[derive(Debug)]
struct Process {
    since: Instant,
}

/// Has the figures of this process read whenever metrics are.
pub(super) fn register(register: &mut Register) {
    for (name, meaning) in [MEMORY, FILES, UPTIME] {
        register.note(name, MetricType::Gauge, &[], meaning);
    }
    register.read(Process { since: Instant::now() });
}

impl Collector for Process {
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
    // What is made up when it is read gets no full stop by itself.
    let meaning = format!("{meaning}.");
    gauge.encode(encoder.encode_descriptor(name, &meaning, None, gauge.metric_type())?)
}

fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = resident.trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1_024)
}

fn open_files() -> Option<i64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    // The listing itself is one of them.
    i64::try_from(count).ok().map(|count| count - 1)
}
