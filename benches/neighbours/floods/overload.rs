//! What an account gets that asks with more and more clients at once: its documents a second, how long each takes, and how many
//! are refused.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::bodies;
use super::neighbour::{Measured, measure};
use crate::common::program::{Program, make_account};

/// Clients at once, each with one job after the other.
const CLIENTS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Jobs that warm up, at least.
const WARM_UP: usize = 20;

/// Prints the curve; each number of clients asks for so long.
pub fn run(executable: &str, window: Duration) -> io::Result<()> {
    let [invoice, ..] = bodies::jobs()?;
    let folder = tempfile::tempdir()?;
    let token = make_account(folder.path(), "alone")?;
    let program = Program::of(executable, folder.path(), token, &[])?;
    println!("\n| clients | documents a second | p50 ms | p95 ms | p99 ms | refused, unfinished, failed |");
    println!("|--:|--:|--:|--:|--:|--:|");
    program.runtime.block_on(async {
        program.ready().await?;
        measure(&program, &invoice, window / 4, WARM_UP).await;
        for clients in CLIENTS {
            let begun = Instant::now();
            let all = join_all((0..clients).map(|_| measure(&program, &invoice, window, 1))).await;
            println!("| {clients} | {} |", Measured::together(all).summary(begun.elapsed()));
        }
        Ok(())
    })
}
