//! What was measured, and how it is printed.

use std::fs;
use std::time::Duration;

/// The clock of `/proc/*/stat`, in ticks a second.
const TICKS_A_SECOND: u32 = 100;

/// One measurement.
pub struct Figures {
    /// From asking to having the file, each document.
    pub latencies: Vec<Duration>,
    /// From the first asked to the last had.
    pub wall: Duration,
    /// Processor time of Chromium.
    pub chromium: Duration,
    /// Processor time of this process.
    pub own: Duration,
}

impl Figures {
    /// The value below which `share` of the latencies lie, in milliseconds.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = (last as f64 * share).round() as usize;
        sorted.get(at).map_or(0.0, Duration::as_secs_f64) * 1_000.0
    }

    /// Documents a second.
    pub fn throughput(&self) -> f64 {
        self.count() / self.wall.as_secs_f64()
    }

    /// One line of the table; with a floor, the ratios to it.
    pub fn print(&self, name: &str, floor: Option<&Self>) {
        let (median, tail) = (self.percentile_ms(0.5), self.percentile_ms(0.99));
        let throughput = self.throughput();
        let (chromium, own) = (self.a_document_ms(self.chromium), self.a_document_ms(self.own));
        let ratios = floor.map_or(String::new(), |floor| {
            let latency = median / floor.percentile_ms(0.5);
            format!("  x{latency:.2} latency, x{:.2} throughput", throughput / floor.throughput())
        });
        println!("{name:<34} {median:>7.1} {tail:>7.1} {throughput:>7.1} {chromium:>9.1} {own:>6.1}{ratios}");
    }

    fn a_document_ms(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1_000.0 / self.count()
    }

    fn count(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let count = self.latencies.len() as f64;
        count
    }
}

/// The head of the table.
pub fn print_head(title: &str) {
    println!("\n{title}");
    println!("{:<34} {:>7} {:>7} {:>7} {:>9} {:>6}", "", "p50 ms", "p99 ms", "doc/s", "Chromium", "own ms");
}

/// Processor time of all processes of a group, those that have ended and were waited for included.
pub fn group_time(group: i32) -> Duration {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| ticks(&name, Some(group))).sum::<u32>() * second() / TICKS_A_SECOND
}

/// Processor time of this process.
pub fn own_time() -> Duration {
    ticks("self", None).unwrap_or(0) * second() / TICKS_A_SECOND
}

fn second() -> Duration {
    Duration::from_secs(1)
}

/// User and system time, own and of children that were waited for.
fn ticks(process: &str, group: Option<i32>) -> Option<u32> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = line.rsplit_once(") ")?.1.split(' ').collect();
    if group.is_some_and(|group| fields.get(2) != Some(&group.to_string().as_str())) {
        return None;
    }
    let take = if group.is_some() { 11..15 } else { 11..13 };
    Some(fields.get(take)?.iter().filter_map(|field| field.parse::<u32>().ok()).sum())
}
