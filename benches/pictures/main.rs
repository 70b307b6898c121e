//! Pages of PDFs drawn as pictures: processor time of the service's children that are no browser, most of it the renderer's.
//!
//! A benchmark, never a test: it fails at nothing, it prints Markdown. `cargo bench --bench pictures -- /path/to/platen`
//! has another version's program draw in turn with this one. Slides of HTML are pictures of the pages of a PDF, so the
//! target is pptx.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod common {
    pub mod clients;
    pub mod document;
    pub mod figures;
    pub mod program;
    pub mod saved;
    pub mod service;
    pub mod usage;
}

use std::io;

use serde_json::json;

use common::service::Service;

/// Measurements of the same thing, taken in turn with the others: a machine is not the same twice.
const ROUNDS: usize = 7;

/// One process of each kind, so that nothing starts meanwhile.
const SETTINGS: [(&str, &str); 4] = [
    ("PLATEN__ASSEMBLE__SPARES", "1"),
    ("PLATEN__ASSEMBLE__KEPT", "1"),
    ("PLATEN__ASSEMBLE__PROCESSES", "1"),
    ("PLATEN__BROWSER__TABS", "1"),
];

/// A page, by its name in the table.
const DOCUMENTS: [(&str, &str); 3] = [
    ("text", include_str!("text.html")),
    ("photos", include_str!("photos.html")),
    ("drawings", include_str!("drawings.html")),
];

fn main() -> io::Result<()> {
    let other = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut ways = vec![("Platen", Service::start(&SETTINGS)?)];
    if let Some(other) = &other {
        ways.push(("another version", Service::start_version(Some(other), &SETTINGS)?));
    }
    println!("| pages | way | CPU ms a document | × Platen |");
    println!("|:--|:--|--:|--:|");
    for (document, page) in DOCUMENTS {
        let job = json!({ "type": "html", "target": "pptx", "template": page }).to_string();
        let mut figures = vec![Vec::new(); ways.len()];
        for (_, service) in &ways {
            draw(service, &job)?;
        }
        for _ in 0..ROUNDS {
            for ((_, service), figures) in ways.iter().zip(&mut figures) {
                figures.push(draw(service, &job)?);
            }
        }
        let figures: Vec<f64> = figures.into_iter().map(middle).collect();
        for ((name, _), figure) in ways.iter().zip(&figures) {
            let ratio = figure / figures.first().unwrap_or(figure);
            println!("| {document} | {name} | {figure:.0} | {ratio:.2} |");
        }
    }
    Ok(())
}

/// Draws the pages once; the processor time in ms.
fn draw(service: &Service, job: &str) -> io::Result<f64> {
    let before = service.used().engines;
    let file = service.program.runtime.block_on(service.program.render(job.to_owned()))?;
    if !file.starts_with(b"PK") {
        return Err(io::Error::other("no presentation came"));
    }
    Ok(service.used().engines.saturating_sub(before).as_secs_f64() * 1_000.0)
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
