//! Clients that ask at once.

use std::cell::Cell;
use std::io;
use std::time::{Duration, Instant};

/// Has `ask` done `count` times by so many clients, each time with another number from 0; gives each latency.
pub async fn at_once(
    clients: usize,
    count: usize,
    ask: impl AsyncFn(usize) -> io::Result<()>,
) -> io::Result<Vec<Duration>> {
    let next = Cell::new(0);
    let client = async || -> io::Result<Vec<Duration>> {
        let mut latencies = Vec::new();
        while next.get() < count {
            let begun = Instant::now();
            ask(next.replace(next.get() + 1)).await?;
            latencies.push(begun.elapsed());
        }
        Ok(latencies)
    };
    Ok(futures_util::future::try_join_all((0..clients).map(|_| client())).await?.concat())
}
