//! 100,000 templates of one account: how long the service takes to start, to answer for one, to list a page.
//!
//! A benchmark, never a test: it fails at nothing, it prints. `cargo bench --bench templates` takes 100,000
//! templates; `cargo bench --bench templates -- 10000` as many as are named.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
mod common {
    pub mod clients;
    #[expect(dead_code, reason = "shared with benchmarks that ask for more")]
    pub mod program;
}
mod fill;
mod service;

use std::io;
use std::time::{Duration, Instant};

use common::program::command;
use service::Service;

/// Templates, unless a number is named.
const TEMPLATES: usize = 100_000;
/// Requests of one measurement.
const REQUESTS: usize = 4_000;
const PAGES: usize = 200;
const RENDERS: usize = 200;

fn main() -> io::Result<()> {
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(TEMPLATES);
    // Beside the build: a temporary folder may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let filled = fill::fill(folder.path(), count)?;
    println!("{count} templates of one account were made in {:.1} s", filled.seconds);
    for before in ["a kill", "a stop", "a stop"] {
        let (service, started) = Service::start(folder.path(), &filled)?;
        println!(
            "start after {before}: alive after {:.0} ms, the first template after {:.0} ms; resident {} MiB",
            ms(started.alive),
            ms(started.answered),
            service.resident_mb()
        );
    }
    let (service, _) = Service::start(folder.path(), &filled)?;
    println!("{:<44} {:>9} {:>9} {:>9} {:>9}", "", "p50 ms", "p99 ms", "max ms", "a second");
    for clients in [1, 8] {
        let get = |at: usize| format!("/v1/templates/{}", filled.template(at));
        print_line(&format!("get by id, {clients} at once"), service.ask_all(clients, REQUESTS, get)?);
    }
    for (limit, what) in [(20, "a page of 20"), (100, "a page of 100")] {
        let first = |_| format!("/v1/templates?limit={limit}");
        print_line(&format!("list, {what}, the first"), service.ask_all(1, PAGES, first)?);
        let deep = |at: usize| format!("/v1/templates?limit={limit}&cursor={}", filled.cursor(at));
        print_line(&format!("list, {what}, anywhere"), service.ask_all(1, PAGES, deep)?);
        print_line(&format!("list, {what}, anywhere, 8 at once"), service.ask_all(8, PAGES, deep)?);
    }
    for (text, what) in [("zebra", "one in a thousand"), ("unheard-of", "none")] {
        let rare = |at: usize| format!("/v1/templates?q={text}&cursor={}", filled.cursor(at));
        print_line(&format!("list, q that {what} has"), service.ask_all(1, PAGES, rare)?);
    }
    for clients in [1, 8] {
        let line = service.render_all(clients, RENDERS, |at| filled.template(at).to_string())?;
        print_line(&format!("render to html by id, {clients} at once"), line);
    }
    let again = service.render_all(1, RENDERS, |_| filled.template(0).to_string())?;
    print_line("render to html by id, always the same", again);
    println!("resident memory of the service: {} MiB", service.resident_mb());
    drop(service);
    let begun = Instant::now();
    let said = command(folder.path(), &["index", "rebuild"])?;
    println!("index rebuild in {:.1} s: {said}", begun.elapsed().as_secs_f64());
    Ok(())
}

fn print_line(name: &str, (mut latencies, wall): (Vec<Duration>, Duration)) {
    latencies.sort_unstable();
    let at = |hundredths: usize| {
        let last = latencies.len().saturating_sub(1);
        latencies.get(last * hundredths / 100).copied().map_or(0.0, ms)
    };
    let (median, tail, longest) = (at(50), at(99), at(100));
    let count = u32::try_from(latencies.len()).unwrap_or(u32::MAX);
    let throughput = f64::from(count) / wall.as_secs_f64();
    println!("{name:<44} {median:>9.2} {tail:>9.2} {longest:>9.2} {throughput:>9.0}");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
