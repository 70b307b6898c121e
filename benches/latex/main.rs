//! LaTeX: what a document costs in the service, with its preamble read ahead and without, beside the bare pdflatex and latexmk
//! on the same source, already filled in: processor time and time of the clock.
//!
//! A benchmark, never a test: it fails at nothing, it prints Markdown. `cargo bench --bench latex` takes some minutes, `-- quick`
//! looks whether it runs, `-- long` looks at memory, files and processes over a thousand documents. latexmk is left out
//! where it is not installed. `benches/README.md` says how to read it.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod common {
    pub mod clients;
    pub mod program;
    pub mod usage;
}
mod bare;
mod documents;
mod long;
mod platen;

use std::io;
use std::time::{Duration, Instant};

use documents::Document;

/// Measurements of the same thing, taken in turn with the others: a machine is not the same twice.
const ROUNDS: usize = 7;
/// Documents of a measurement.
const TIMES: usize = 10;
/// Between two looks at what is waited for.
const PAUSE: Duration = Duration::from_millis(20);

/// A way to make PDFs of LaTeX.
trait Way {
    /// Its name in the table.
    fn name(&self) -> &'static str;
    /// Makes a PDF from scratch, without results of an earlier one.
    fn make(&mut self, document: &Document) -> io::Result<Vec<u8>>;
    /// Processor time so far: of TeX, and of all that is around it.
    fn used(&self) -> [Duration; 2];
    /// Waits until no work of an earlier document is under way.
    fn wait_until_idle(&self) {}
    /// Whether it is more than TeX alone.
    fn is_service(&self) -> bool {
        false
    }
}

/// One measurement, in ms a document.
#[derive(Clone, Copy)]
struct Timing {
    tex: f64,
    around: f64,
    passed: f64,
}

fn main() -> io::Result<()> {
    let is_asked = |part: &str| std::env::args().any(|word| word == part);
    let is_quick = is_asked("quick");
    if is_asked("long") {
        return long::run(if is_quick { long::QUICK } else { long::DOCUMENTS });
    }
    let (rounds, times) = if is_quick { (1, 2) } else { (ROUNDS, TIMES) };
    let mut ways: Vec<Box<dyn Way>> =
        vec![Box::new(bare::Pdflatex::once()?), Box::new(bare::Pdflatex::settled()?)];
    match bare::Latexmk::find() {
        Ok(latexmk) => ways.push(Box::new(latexmk)),
        Err(error) => println!("left out: latexmk: {error}\n"),
    }
    ways.push(Box::new(platen::Service::start(platen::Preambles::EachTime)?));
    ways.push(Box::new(platen::Service::start(platen::Preambles::Ahead)?));
    println!(
        "| document | way | CPU ms of TeX | × one run | × its runs | CPU ms around it | ms of one client | of these not TeX's |"
    );
    println!("|---|:--|--:|--:|--:|--:|--:|--:|");
    for document in documents::all() {
        // At the second one the service has a format made.
        for way in &mut ways {
            document.check_pages(&way.make(&document)?)?;
            document.check_pages(&way.make(&document)?)?;
            way.wait_until_idle();
        }
        let mut taken = vec![Vec::new(); ways.len()];
        for _ in 0..rounds {
            for (way, taken) in ways.iter_mut().zip(&mut taken) {
                taken.push(measure(way.as_mut(), &document, times)?);
            }
        }
        print(&ways, &document, &taken);
    }
    Ok(())
}

fn measure(way: &mut dyn Way, document: &Document, times: usize) -> io::Result<Timing> {
    let ([tex, around], begun) = (way.used(), Instant::now());
    for _ in 0..times {
        document.check(&way.make(document)?)?;
    }
    let (passed, [tex_now, around_now]) = (begun.elapsed(), way.used());
    let a_document = |time: Duration| time.as_secs_f64() * 1_000.0 / count(times);
    Ok(Timing {
        tex: a_document(tex_now.saturating_sub(tex)),
        around: a_document(around_now.saturating_sub(around)),
        passed: a_document(passed),
    })
}

fn print(ways: &[Box<dyn Way>], document: &Document, taken: &[Vec<Timing>]) {
    let middle = |taken: &[Timing], of: fn(&Timing) -> f64| {
        let mut figures: Vec<f64> = taken.iter().map(of).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let tex_of = |at: usize| taken.get(at).map_or(f64::NAN, |taken| middle(taken, |taken| taken.tex));
    let (once, settled) = (tex_of(0), tex_of(1));
    for (way, taken) in ways.iter().zip(taken) {
        let (tex, passed) = (middle(taken, |taken| taken.tex), middle(taken, |taken| taken.passed));
        let around = middle(taken, |taken| taken.around);
        let own = if way.is_service() {
            format!("{around:.1} | {passed:.0} | {:.1}", middle(taken, |taken| taken.passed - taken.tex))
        } else {
            format!("| {passed:.0} |")
        };
        println!(
            "| {} | {} | {tex:.0} | {:.2} | {:.2} | {own} |",
            document.name,
            way.name(),
            tex / once,
            tex / settled
        );
    }
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
