//! What a document costs: the floors (a bare connection to Chromium, see `common/floor.rs`), the pool, and the service.
//!
//! A benchmark, never a test: it fails at nothing, it prints. `cargo bench --bench service` takes the
//! parts `service`, `pool` and `rest`; `cargo bench --bench service -- service 4` the named part with so many
//! clients. Further parts, by name only: `tabs`, `pages`, `large`, `long` (four minutes),
//! `mixed` (ten minutes), `once`.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common/mod.rs"]
mod common;
mod lines;
mod long;
mod mixed;
mod path;
mod pool;
mod rest;

use std::io;

use common::document::Document;
use common::figures::Figures;
use common::floor::Floor;
use common::service::Service;
use common::supply::KINDS;

/// Clients at once.
const CLIENTS: [usize; 4] = [1, 2, 4, 8];
/// Documents of one measurement.
const DOCUMENTS: usize = 120;
/// Measurements of the same thing, taken in turn with the others: a machine is not the same twice.
const ROUNDS: usize = 2;

fn main() -> io::Result<()> {
    let parts: Vec<String> = std::env::args().skip(1).filter(|part| !part.starts_with('-')).collect();
    let clients: Vec<usize> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    let clients = if clients.is_empty() { CLIENTS.to_vec() } else { clients };
    let named = |part: &str| parts.iter().any(|named| named == part);
    let wanted = |part: &str| parts.is_empty() || named(part);
    if wanted("service") {
        service_against_the_floor(&clients)?;
    }
    if wanted("pool") {
        pool_against_the_floor(&clients)?;
    }
    if wanted("rest") {
        rest::compare()?;
    }
    if named("tabs") {
        pool::compare_tabs(DOCUMENTS)?;
    }
    if named("pages") {
        long::compare_pages()?;
    }
    if named("large") {
        long::make_large()?;
    }
    if named("long") {
        long::go_on()?;
    }
    if named("mixed") {
        mixed::go_on()?;
    }
    if named("once") {
        mixed::compare_once()?;
    }
    Ok(())
}

/// The floors and the whole service over HTTP, in turn.
fn service_against_the_floor(clients: &[usize]) -> io::Result<()> {
    lines::print_head("one-page invoice to PDF: the floors and the service");
    let (document, floor, service) = (Document::invoice()?, Floor::start()?, Service::start(&[])?);
    for &clients in clients {
        for _ in 0..ROUNDS {
            let floors = floors(&floor, &document, clients)?;
            let ours = service.measure(&document, clients, DOCUMENTS)?;
            lines::print(&format!("service, {clients} at once"), &ours, &floors);
        }
    }
    println!("resident memory of the service: {} MiB", service.program.memory_mb("VmRSS:"));
    Ok(())
}

/// The floors and our own path to the browser without the service, in turn. The pool has no bound of its own on
/// pages without script.
fn pool_against_the_floor(clients: &[usize]) -> io::Result<()> {
    lines::print_head("one-page invoice to PDF: the floors and our path without the service");
    let floor = Floor::start()?;
    for &clients in clients {
        for _ in 0..ROUNDS {
            for (way, served) in [("put", false), ("served", true)] {
                let document = Document { served, ..Document::invoice()? };
                println!("{way}:");
                let floors = floors(&floor, &document, clients)?;
                let ours = pool::measure(&document, clients, DOCUMENTS)?;
                lines::print(&format!("pool, {clients} at once"), &ours, &floors);
            }
        }
    }
    Ok(())
}

/// All floors, in turn.
fn floors(floor: &Floor, document: &Document, clients: usize) -> io::Result<Vec<(String, Figures)>> {
    let measure = |kind| {
        let figures = floor.measure(kind, document, clients, DOCUMENTS)?;
        lines::print(&format!("floor, {kind}, {clients} at once"), &figures, &[]);
        Ok((format!("{kind}"), figures))
    };
    KINDS.into_iter().map(measure).collect()
}
