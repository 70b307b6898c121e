//! What a document costs: the floor (a bare connection to Chromium) and what stands above it.
//!
//! A benchmark, never a test: it fails at nothing, it prints. `cargo bench --bench service` takes all
//! parts; `cargo bench --bench service -- service 4` the named
//! part with so many clients.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod figures;
mod floor;
mod invoice;
mod pool;
mod rest;
mod service;

use std::io;

use floor::Floor;

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

/// The floor and the whole service over HTTP, in turn.
fn service_against_the_floor(clients: &[usize]) -> io::Result<()> {
    figures::print_head("one-page invoice to PDF: the floor and the service");
    let (floor, service) = (Floor::start()?, service::Service::start()?);
    for &clients in clients {
        for _ in 0..ROUNDS {
            let bare = floor.measure(floor::Way::Put, clients, DOCUMENTS)?;
            bare.print(&format!("floor,   {clients} at once"), None);
            let ours = service.measure(clients, DOCUMENTS)?;
            ours.print(&format!("service, {clients} at once"), Some(&bare));
        }
    }
    println!("resident memory of the service: {} MiB", service.resident_mb());
    Ok(())
}

/// The floor and our own path to the browser without the service, in turn.
fn pool_against_the_floor() -> io::Result<()> {
    figures::print_head("one-page invoice to PDF, a fresh context each");
    let floor = Floor::start()?;
    for clients in CLIENTS {
        for _ in 0..ROUNDS {
            for way in floor::WAYS {
                let bare = floor.measure(way, clients, DOCUMENTS)?;
                bare.print(&format!("floor, {way}, {clients} at once"), None);
                let ours = pool::measure(way, clients, DOCUMENTS)?;
                ours.print(&format!("pool,  {way}, {clients} at once"), Some(&bare));
            }
        }
    }
    Ok(())
}
