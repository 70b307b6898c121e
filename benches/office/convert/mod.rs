//! Office documents made into PDFs by the service, beside what people wrap LibreOffice with: processor time of all
//! processes, latency of one client, and throughput by slots.

mod documents;
mod platen;
mod soffice;
mod tree;
mod warm;

use std::io;
use std::time::{Duration, Instant};

use documents::Document;

/// Measurements of the same thing, taken in turn with the others.
const ROUNDS: usize = 3;
/// Documents of a measurement; fewer for converters that take a second or more for each.
const TIMES: usize = 10;

/// A way to make PDFs of Office documents.
pub trait Converter {
    /// Its name in the table.
    fn name(&self) -> String;
    /// Makes PDFs of the document so many times, one after the other; gives the last one.
    fn convert(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>>;
    /// Processor time so far, of all its processes.
    fn used(&self) -> Duration;
    /// How much slower it is than the others, in whole times: it is asked for so many fewer documents.
    fn slowness(&self) -> usize {
        1
    }
}

/// One measurement: processor time and time of the clock, in ms a document.
#[derive(Clone, Copy)]
struct Timing {
    used: f64,
    passed: f64,
}

/// Prints the table of what a document costs, then the one of throughput.
pub fn run() -> io::Result<()> {
    let mut converters = start_all();
    let first = documents::all().into_iter().next().ok_or(io::ErrorKind::NotFound)?;
    converters.retain_mut(|converter| {
        let tried = converter.convert(&first, 1).and_then(|made| first.check(&made));
        tried.inspect_err(|error| println!("left out: {}: {error}", converter.name())).is_ok()
    });
    println!("| document | way | CPU ms a document | × Platen | ms of one client |");
    println!("|---|:--|--:|--:|--:|");
    for document in documents::all() {
        let mut rounds = vec![Vec::new(); converters.len()];
        for converter in &mut converters {
            document.check(&converter.convert(&document, 1)?)?;
        }
        for _ in 0..ROUNDS {
            for (converter, round) in converters.iter_mut().zip(&mut rounds) {
                round.push(measure(converter.as_mut(), &document)?);
            }
        }
        print(&converters, &document, &rounds);
    }
    drop(converters);
    platen::print_throughput()
}

/// Documents without end through one service: the memory of what it is made of, every hundred.
pub fn run_long() -> io::Result<()> {
    platen::print_memory()
}

fn start_all() -> Vec<Box<dyn Converter>> {
    let mut converters: Vec<Box<dyn Converter>> = Vec::new();
    let started = [
        platen::start(),
        soffice::cold(),
        soffice::reused(),
        warm::start("carbone"),
        warm::start("unoserver"),
    ];
    for converter in started {
        match converter {
            Ok(converter) => converters.push(converter),
            Err(error) => println!("left out: {error}"),
        }
    }
    converters
}

fn measure(converter: &mut dyn Converter, document: &Document) -> io::Result<Timing> {
    let times = (TIMES / converter.slowness()).max(1);
    let (used, begun) = (converter.used(), Instant::now());
    let made = converter.convert(document, times)?;
    let (passed, used) = (begun.elapsed(), converter.used().saturating_sub(used));
    document.check(&made)?;
    let a_document = |time: Duration| time.as_secs_f64() * 1_000.0 / super::count(times);
    Ok(Timing { used: a_document(used), passed: a_document(passed) })
}

fn print(converters: &[Box<dyn Converter>], document: &Document, rounds: &[Vec<Timing>]) {
    let used = |rounds: &[Timing]| middle(rounds.iter().map(|taken| taken.used).collect());
    let ours = rounds.first().map_or(f64::NAN, |rounds| used(rounds));
    for (converter, rounds) in converters.iter().zip(rounds) {
        let (all, passed) = (used(rounds), middle(rounds.iter().map(|taken| taken.passed).collect()));
        println!("| {} | {} | {all:.0} | {:.2} | {passed:.0} |", document.name, converter.name(), all / ours);
    }
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
