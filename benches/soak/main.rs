//! Documents of all kinds by five accounts for as long as one likes, while processes below the service are stopped and killed:
//! whether any job is lost, comes twice or has another one's text, how long each kind takes, and what the service holds
//! before and after.
//!
//! A benchmark, never a test: it fails at nothing, it prints Markdown. `cargo bench --bench soak` takes five minutes, three of
//! them under load; `-- --minutes 60` an hour, `--no-faults` leaves all processes alone, `--seed 7` chooses other documents
//! and faults, `--clients 2` has each account ask for two at once, `--rest` is the pause before each look, in seconds. A path has
//! another version's program measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod common {
    pub mod document;
    pub mod figures;
    pub mod footprint;
    pub mod office_files;
    pub mod options;
    pub mod program;
    pub mod request;
    pub mod saved;
    pub mod tree;
    pub mod usage;
}
mod client;
mod documents;
mod faults;
mod random;
mod tally;

use std::cell::RefCell;
use std::io;
use std::time::{Duration, Instant};

use futures_util::future::{join, try_join_all};

use client::{Account, Load};
use common::footprint::{Moments, Watch, temporary_folder};
use common::options::Options;
use common::program::{OWN, Program, WITH_OFFICE, make_account};
use documents::Files;
use faults::{Hits, inject};
use random::Random;
use tally::End;

const ACCOUNTS: usize = 5;
/// Numbers of the command line.
const NUMBERS: [&str; 4] = ["minutes", "seed", "clients", "rest"];
/// The faults' sequence of the seed; those of the clients are counted from 0.
const FAULTS: u64 = u64::MAX;

fn main() -> io::Result<()> {
    let options = Options::read(&NUMBERS)?;
    let folder = tempfile::tempdir()?;
    let temporary = temporary_folder(folder.path())?;
    let tokens = (0..ACCOUNTS).map(|number| make_account(folder.path(), &format!("account-{number}")));
    let tokens = tokens.collect::<io::Result<Vec<_>>>()?;
    let path = temporary.display().to_string();
    let executable = options.program.as_deref().unwrap_or(OWN);
    let settings = [WITH_OFFICE, ("TMPDIR", path.as_str())];
    let program = Program::of(executable, folder.path(), tokens[0].clone(), &settings)?;
    let mut watch = Watch::new(program.id(), temporary);
    let summary = program.runtime.block_on(soak(&program, tokens, &options, &mut watch))?;
    drop(program);
    let (processes, files) = watch.left();
    println!("\nAfter its end {processes} processes and {files} files are left.\n\n{summary}");
    Ok(())
}

/// Prints all tables; gives the last line.
async fn soak(
    program: &Program,
    tokens: Vec<String>,
    options: &Options,
    watch: &mut Watch,
) -> io::Result<String> {
    program.ready().await?;
    let (files, tally, next) = (Files::make()?, RefCell::default(), RefCell::default());
    let load = Load { program, files: &files, tally: &tally, next: &next };
    let mut accounts = Vec::new();
    for (number, token) in tokens.into_iter().enumerate() {
        let saved = documents::save(program, &token).await?;
        accounts.push(Account { number, token, saved });
    }
    try_join_all(accounts.iter().map(|account| load.warm_up(account))).await?;
    let warm = tally.take();
    if let Some((id, job)) = warm.jobs.iter().find(|(_, job)| !matches!(job.end, End::Made)) {
        return Err(io::Error::other(format!(
            "without faults {} failed: {id}: {}",
            job.kind.name(),
            job.end
        )));
    }
    let rest = Duration::from_secs(options.number("rest", 30));
    tokio::time::sleep(rest).await;
    let ended = ended(program).await?;
    let mut moments = vec![watch.look()];
    let hits = under_load(&load, &accounts, options).await?;
    tokio::time::sleep(rest).await;
    moments.push(watch.look());
    for account in &accounts {
        load.compare(account).await?;
    }
    let ended = self::ended(program).await? - ended;
    println!("\n| | memory MB | processes | descriptors | files |\n|---|---|---|---|---|");
    println!("| before, after | {} |", Moments(&moments));
    println!("\n{} processes below the service are stopped.", faults::stopped(program.id()));
    for (hit, count) in &hits {
        println!("- {count} x {hit}");
    }
    Ok(tally.into_inner().summary(ended))
}

/// The load and the faults; what was hit.
async fn under_load(load: &Load<'_>, accounts: &[Account], options: &Options) -> io::Result<Hits> {
    let until = Instant::now() + Duration::from_mins(options.number("minutes", 3));
    let (seed, clients) = (options.number("seed", 1), options.number("clients", 1));
    let client = |(stream, account)| load.run(account, Random::new(seed, stream), until);
    let each = accounts.iter().flat_map(|account| (0..clients).map(move |_| account));
    let clients = try_join_all((0..).zip(each).map(client));
    if options.has("no-faults") {
        return clients.await.map(|_| Hits::new());
    }
    let mut random = Random::new(seed, FAULTS);
    let (made, hits) = join(clients, inject(load.program.id(), until, &mut random)).await;
    made.map(|_| hits)
}

/// Jobs that have ended, as the service counts them.
async fn ended(program: &Program) -> io::Result<usize> {
    let metrics = program.get("/metrics").await?;
    let counts = metrics.lines().filter(|line| line.starts_with("platen_jobs_ended_total{"));
    let counts = counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok());
    Ok(counts.sum())
}
