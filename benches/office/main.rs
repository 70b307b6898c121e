//! Word and Excel templates filled by the service, each beside two libraries that fill them in Node.js; presentations,
//! alone; Office documents made into PDFs, beside what people wrap LibreOffice with: processor time of whole processes.
//!
//! A benchmark, never a test: it fails at nothing, it prints Markdown. `cargo bench --bench office` fills and converts, with
//! `-- fill`, `-- workbooks`, `-- convert` one of them; `-- long` looks at memory over a thousand documents. It
//! installs the others with `npm ci` and `pip` when they are not there; without these it goes on alone. A path, as in
//! `-- fill /path/to/platen`, has another version's program fill in turn with this one, and leaves the libraries out.
//! `benches/README.md` has results.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod common {
    pub mod program;
    pub mod tree;
    pub mod usage;
}
mod convert;
mod decks;
mod documents;
mod peers;
mod saved;
mod service;
mod workbooks;

use std::io;
use std::time::Duration;

use documents::Document;
use service::{Service, Template};

/// Measurements of the same thing, taken in turn with the others: a machine is not the same twice.
const ROUNDS: usize = 5;

/// A way to fill templates.
trait Way {
    /// Its name in the table.
    fn name(&self) -> &str;
    /// Fills the document so many times, one after the other; gives the last file.
    fn fill(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>>;
    /// Processor time so far: of what fills, and of what is around it.
    fn used(&self) -> [Duration; 2];
    /// Its processes now, browsers aside.
    fn processes(&self) -> Vec<u32>;
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let (paths, parts): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.contains('/'));
    let other = paths.first().map(String::as_str);
    let is_asked = |part: &str| parts.iter().any(|word| word == part);
    if is_asked("long") {
        return convert::run_long();
    }
    if parts.is_empty() || is_asked("fill") {
        fill(other)?;
    }
    if parts.is_empty() || is_asked("workbooks") {
        workbooks::run(other)?;
    }
    if parts.is_empty() || is_asked("convert") {
        convert::run()?;
    }
    Ok(())
}

/// What is measured: the service with each of these templates, beside another version of it or beside libraries.
fn start_all(
    templates: &[Template],
    other: Option<&str>,
    libraries: [(&'static str, &str); 2],
) -> io::Result<Vec<Box<dyn Way>>> {
    let mut ways: Vec<Box<dyn Way>> = Vec::new();
    for &template in templates {
        ways.push(Box::new(Service::start(template, None)?));
        if let Some(other) = other {
            ways.push(Box::new(Service::start(template, Some(other))?));
        }
    }
    if other.is_some() {
        return Ok(ways);
    }
    for peer in peers::start_all(libraries) {
        match peer {
            Ok(peer) => ways.push(Box::new(peer)),
            Err(error) => println!("left out: {error}"),
        }
    }
    Ok(ways)
}

/// Fills templates.
fn fill(other: Option<&str>) -> io::Result<()> {
    let templates = [Template::Saved, Template::Uploaded, Template::Computed];
    let mut ways = start_all(&templates, other, peers::WORD)?;
    println!("| rows | way | CPU ms a document | of these around it | × Platen | µs a row |");
    println!("|--:|:--|--:|--:|--:|--:|");
    for document in documents::all()? {
        let mut rounds = vec![Vec::new(); ways.len()];
        for way in &mut ways {
            // Its own compiler has seen the code when it is measured.
            document.check(&way.fill(&document, document.times)?)?;
        }
        for _ in 0..ROUNDS {
            for (way, round) in ways.iter_mut().zip(&mut rounds) {
                round.push(measure(way.as_mut(), &document)?);
            }
        }
        print(&ways, &document, &rounds);
    }
    Ok(())
}

/// Milliseconds a document: all, and of these what is around what fills.
fn measure(way: &mut dyn Way, document: &Document) -> io::Result<[f64; 2]> {
    let before = way.used();
    document.check(&way.fill(document, document.times)?)?;
    let after = way.used();
    let a_document = |at: usize| {
        let used = after
            .get(at)
            .zip(before.get(at))
            .map_or(Duration::ZERO, |(after, before)| after.saturating_sub(*before));
        used.as_secs_f64() * 1_000.0 / count(document.times)
    };
    Ok([a_document(0) + a_document(1), a_document(1)])
}

fn print(ways: &[Box<dyn Way>], document: &Document, rounds: &[Vec<[f64; 2]>]) {
    let rows = document.rows;
    let ours = rounds.first().map_or(f64::NAN, |rounds| middle(rounds, 0));
    for (way, rounds) in ways.iter().zip(rounds) {
        let (all, around) = (middle(rounds, 0), middle(rounds, 1));
        let (ratio, a_row) = (all / ours, all * 1_000.0 / count(rows));
        println!("| {rows} | {} | {all:.2} | {around:.2} | {ratio:.2} | {a_row:.1} |", way.name());
    }
}

fn middle(rounds: &[[f64; 2]], at: usize) -> f64 {
    let mut figures: Vec<f64> = rounds.iter().filter_map(|round| round.get(at).copied()).collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
