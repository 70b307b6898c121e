//! Platen beside others on the same machine and Chromium, in turn: the floors (a bare connection to Chromium, see
//! `common/floor.rs`), the service over HTTP, and what npm has of other renderers. `benches/README.md` has results.
//!
//! A benchmark, never a test: it fails at nothing, it prints Markdown. `cargo bench --bench peers` takes all
//! documents and numbers of clients; `cargo bench --bench peers -- drawn 4` those whose name has the word, with
//! so many clients. It installs the others with `npm ci` when they are not there; without npm it goes on alone. A path
//! has another version's program in their place.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common/mod.rs"]
mod common;
mod documents;
mod driver;
mod processes;
mod table;
mod ways;

use std::io;

use common::document::Document;
use common::floor::Floor;
use common::service::Service;
use common::supply::KINDS;
use table::Row;
use ways::{Bare, Platen, Way};

/// Clients at once.
const CLIENTS: [usize; 3] = [1, 4, 16];
/// Measurements of the same thing, taken in turn with the others: a machine is not the same twice.
const ROUNDS: usize = 5;
/// How long a measurement takes, about.
const MEASUREMENT_S: f64 = 2.0;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let (paths, words): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.contains('/'));
    let (numbers, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.parse::<usize>().is_ok());
    let clients: Vec<usize> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let clients = if clients.is_empty() { CLIENTS.to_vec() } else { clients };
    let (floor, service) = (Floor::start()?, Service::start(&[])?);
    let other = paths.first().map(|path| Service::start_version(Some(path), &[])).transpose()?;
    let mut ways: Vec<Box<dyn Way + '_>> = Vec::new();
    for kind in KINDS {
        ways.push(Box::new(Bare { floor: &floor, kind }));
    }
    ways.push(Box::new(Platen { service: &service, name: "Platen" }));
    if let Some(other) = &other {
        ways.push(Box::new(Platen { service: other, name: "Platen, another version" }));
    } else {
        for peer in driver::start_all(floor.origin.port) {
            match peer {
                Ok(peer) => ways.push(Box::new(peer)),
                Err(error) => println!("left out: {error}"),
            }
        }
    }
    for document in documents::all()? {
        if names.is_empty() || names.iter().any(|name| document.name.contains(name.as_str())) {
            table::print_head(&document.name);
            for &clients in &clients {
                table::print(clients, &measure(&mut ways, &document, clients));
            }
        }
    }
    println!("\nResident memory of the service: {} MiB.", service.program.memory_mb("VmRSS:"));
    Ok(())
}

/// All ways, in turn and again. The first measurement of each says how many documents the others take, and is
/// not counted; a way that fails is printed and left out.
fn measure(ways: &mut [Box<dyn Way + '_>], document: &Document, clients: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for way in &mut *ways {
        match way.measure(document, clients, clients * 2) {
            Ok(figures) => rows.push(Row::new(way.name(), portion(figures.throughput(), clients))),
            Err(error) => println!("{}: left out, {error}", way.name()),
        }
    }
    for _ in 0..ROUNDS {
        for way in &mut *ways {
            let Some(row) = rows.iter_mut().find(|row| row.name == way.name()) else { continue };
            match way.measure(document, clients, row.documents) {
                Ok(figures) => row.rounds.push(figures),
                Err(error) => {
                    println!("{}: left out, {error}", way.name());
                    // Rounds of two ways are compared by their place.
                    rows.retain(|row| row.name != way.name());
                }
            }
        }
    }
    rows
}

/// How many documents a measurement takes.
fn portion(documents_a_second: f64, clients: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
    let portion = (documents_a_second * MEASUREMENT_S) as usize;
    portion.max(clients * 2)
}
