//! The cost of template code: processor time a job, and the memory of a process that waits for one.
//!
//! A benchmark, never a test: it fails at nothing, it prints. `cargo bench --bench template_code` measures this version,
//! `cargo bench --bench template_code -- /path/to/platen` another version's program in turn with it: two engines are
//! never in one program. The target is html, so that no browser has a part in it.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod common {
    pub mod program;
    pub mod usage;
}
mod engines;
mod templates;

use std::io;

use engines::Engines;
use templates::Template;

/// Jobs of one measurement.
const JOBS: usize = 100;
/// Measurements of the same thing, taken in turn with the others: a machine is not the same twice.
const ROUNDS: usize = 5;
/// Jobs after which the memory of a kept process is read.
const JOBS_BEFORE_MEMORY: usize = 50;

/// A template and a program that makes pages of it.
struct Line {
    program: String,
    template: Template,
    engines: Engines,
    /// Nothing where the program cannot make the page.
    found: Option<Found>,
}

#[derive(Default)]
struct Found {
    start_ms: f64,
    spare_mib: f64,
    first_mib: f64,
    kept_mib: f64,
    cpu_ms: Vec<f64>,
}

fn main() -> io::Result<()> {
    let other = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let programs = [Some(env!("CARGO_BIN_EXE_platen").to_owned()), other];
    let mut lines = Vec::new();
    for template in templates::all()? {
        for program in programs.iter().flatten() {
            let engines = Engines::start(program)?;
            let found = memory(&engines, &template);
            lines.push(Line { program: program.clone(), template: template.clone(), engines, found });
        }
    }
    for _ in 0..ROUNDS {
        for Line { template, engines, found, .. } in &mut lines {
            if let Some(found) = found {
                found.cpu_ms.push(engines.cpu_ms_a_job(template, JOBS)?);
            }
        }
    }
    print(&lines);
    Ok(())
}

/// Reads the memory of a process before its first job, after it, and after many; nothing where the page is refused.
fn memory(engines: &Engines, template: &Template) -> Option<Found> {
    let (start_ms, spare_mib) = (engines.start_ms(), engines.spare_mib());
    if let Err(error) = engines.run(template, 1) {
        println!("{} is refused: {error}", template.name);
        return None;
    }
    let first_mib = engines.kept_mib();
    engines.run(template, JOBS_BEFORE_MEMORY - 1).ok()?;
    Some(Found { start_ms, spare_mib, first_mib, kept_mib: engines.kept_mib(), cpu_ms: Vec::new() })
}

fn print(lines: &[Line]) {
    println!(
        "\n| template | CPU ms a job | a start | MiB of a spare | MiB after a job | MiB after {JOBS_BEFORE_MEMORY} | program |"
    );
    println!("|:--|--:|--:|--:|--:|--:|:--|");
    for Line { program, template, found, .. } in lines {
        let name = template.name;
        match found {
            Some(Found { start_ms, spare_mib, first_mib, kept_mib, cpu_ms }) => {
                let cpu = middle(cpu_ms);
                println!(
                    "| {name} | {cpu:.2} | {start_ms:.1} | {spare_mib:.1} | {first_mib:.1} | {kept_mib:.1} | {program} |"
                );
            }
            None => println!("| {name} | fails | | | | | {program} |"),
        }
    }
}

fn middle(figures: &[f64]) -> f64 {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
