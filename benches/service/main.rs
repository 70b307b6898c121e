//! What a document costs: two floors (a bare connection to Chromium, see `floor.rs`) and what stands above
//! them.
//!
//! A benchmark, never a test: it fails at nothing, it prints. `cargo bench --bench service` takes all
//! parts; `cargo bench --bench service -- service 4` the named
//! part with so many clients.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod figures;
mod floor;
mod invoice;
mod pipe;
mod pool;
mod rest;
mod service;
mod supply;

use std::io;

use figures::Figures;
use floor::{Floor, Way};
use supply::Kind;

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
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    if wanted("service") {
        service_against_the_floor(&clients)?;
    }
    if wanted("pool") {
        pool_against_the_floor()?;
    }
    if wanted("rest") {
        rest::compare()?;
    }
    if parts.iter().any(|part| part == "tabs") {
        pool::compare_tabs(DOCUMENTS)?;
    }
    Ok(())
}

/// The floors and the whole service over HTTP, in turn.
fn service_against_the_floor(clients: &[usize]) -> io::Result<()> {
    figures::print_head("one-page invoice to PDF: the floors and the service");
    let (floor, service) = (Floor::start()?, service::Service::start()?);
    for &clients in clients {
        for _ in 0..ROUNDS {
            let (plain, ahead) = floors(&floor, Way::Put, clients)?;
            let ours = service.measure(clients, DOCUMENTS)?;
            ours.print(&format!("service, {clients} at once"), &[("plain", &plain), ("ahead", &ahead)]);
        }
    }
    println!("resident memory of the service: {} MiB", service.resident_mb());
    Ok(())
}

/// The floors and our own path to the browser without the service, in turn. The pool has no bound of its own on
/// pages without script.
fn pool_against_the_floor() -> io::Result<()> {
    figures::print_head("one-page invoice to PDF, a fresh context each");
    let floor = Floor::start()?;
    for clients in CLIENTS {
        for _ in 0..ROUNDS {
            for way in floor::WAYS {
                let (plain, ahead) = floors(&floor, way, clients)?;
                let ours = pool::measure(way, clients, DOCUMENTS)?;
                let name = format!("pool, {way}, {clients} at once");
                ours.print(&name, &[("plain", &plain), ("ahead", &ahead)]);
            }
        }
    }
    Ok(())
}

/// Both floors, in turn: the plain one and the one made ahead.
fn floors(floor: &Floor, way: Way, clients: usize) -> io::Result<(Figures, Figures)> {
    let plain = floor.measure(Kind::Plain, way, clients, DOCUMENTS)?;
    plain.print(&format!("floor, {way}, {clients} at once"), &[]);
    let ahead = floor.measure(Kind::Ahead, way, clients, DOCUMENTS)?;
    ahead.print(&format!("floor, made ahead, {way}, {clients} at once"), &[]);
    Ok((plain, ahead))
}
