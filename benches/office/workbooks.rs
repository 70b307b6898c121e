//! Workbooks of many rows, and a presentation of many slides: processor time, and the most memory that all processes
//! held at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::decks;
use crate::documents::{self, Document};
use crate::service::Template;
use crate::{Way, count, measure, middle, peers, start_all};

const ROUNDS: usize = 5;
/// Between two looks at the memory.
const LOOK: Duration = Duration::from_millis(20);

/// Prints the table.
pub fn run(other: Option<&str>) -> io::Result<()> {
    let mut ways = start_all(&[Template::Uploaded, Template::Computed], other, peers::EXCEL)?;
    println!("| rows | way | CPU s a workbook | × Platen | µs a row | MB at most |");
    println!("|--:|:--|--:|--:|--:|--:|");
    for document in documents::workbooks()? {
        print(&mut ways, &document)?;
    }
    // None of the other libraries makes slides of a list.
    ways.retain(|way| way.name().starts_with("Platen"));
    println!("\n| slides | way | CPU s a presentation | × Platen | µs a slide | MB at most |");
    println!("|--:|:--|--:|--:|--:|--:|");
    print(&mut ways, &decks::deck()?)
}

/// Prints a line a way.
fn print(ways: &mut [Box<dyn Way>], document: &Document) -> io::Result<()> {
    let mut ours = f64::NAN;
    let mut rounds = vec![Vec::new(); ways.len()];
    for way in &mut *ways {
        document.check(&way.fill(document, 1)?)?;
    }
    for _ in 0..ROUNDS {
        for (way, rounds) in ways.iter_mut().zip(&mut rounds) {
            rounds.push(measure(way.as_mut(), document)?);
        }
    }
    for (way, rounds) in ways.iter_mut().zip(&rounds) {
        let taken = middle(rounds, 0) / 1_000.0;
        ours = if ours.is_nan() { taken } else { ours };
        let memory = most_memory(way.as_mut(), document)?;
        let (rows, name, ratio) = (document.rows, way.name(), taken / ours);
        println!(
            "| {rows} | {name} | {taken:.2} | {ratio:.2} | {:.1} | {memory} |",
            taken * 1e6 / count(rows)
        );
    }
    Ok(())
}

/// The most megabytes that a way's processes have together while it fills: of what several share each has its part.
fn most_memory(way: &mut dyn Way, document: &Document) -> io::Result<u64> {
    let is_done = AtomicBool::new(false);
    let service = way.processes();
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !is_done.load(Ordering::Relaxed) {
                most = most.max(tree(&service).into_iter().map(kilobytes).sum());
                std::thread::sleep(LOOK);
            }
            most / 1_024
        });
        let filled = way.fill(document, 1);
        is_done.store(true, Ordering::Relaxed);
        let most = watcher.join().map_err(|_| io::Error::other("nobody looked at the memory"))?;
        filled.map(|_| most)
    })
}

/// The processes and what they have started, but no browser.
fn tree(roots: &[u32]) -> Vec<u32> {
    let all: Vec<_> = crate::common::usage::processes().collect();
    let mut found = roots.to_vec();
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let is_new = |id: u32| !found.contains(&id);
        let children =
            all.iter().filter(|(_, stat)| stat.number(1) == Some(parent) && !stat.program.contains("chrom"));
        let children: Vec<u32> = children.map(|(id, _)| *id).filter(|id| is_new(*id)).collect();
        found.extend(children);
        at += 1;
    }
    found
}

fn kilobytes(id: u32) -> u64 {
    let rollup = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or_default()
}
