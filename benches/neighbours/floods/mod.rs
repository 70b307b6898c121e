//! What one account's jobs take beside floods of one other account and of two, and whether memory, processes, descriptors
//! and files come back afterwards. Each flood meets a service of its own, in its default configuration.
//!
//! The rule: 95 in 100 jobs take at most four times as long as when the service is quiet, and none is refused, fails or is
//! unfinished after 25 s.

mod bodies;
mod hostile;
mod neighbour;
mod overload;

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::{JoinHandle, LocalSet};

use crate::common::footprint::{Footprint, Moments, Watch, temporary_folder};
use crate::common::options::Options;
use crate::common::program::{OWN, Program, WITH_OFFICE, make_account};
use bodies::{Flood, Job};
use hostile::Hostile;
use neighbour::{Measured, measure};

/// Options that a number follows, all in seconds.
pub const NUMBERS: [&str; 3] = ["seconds", "run-up", "rest"];
/// How many accounts flood.
const ACCOUNTS: [usize; 2] = [1, 2];
/// Jobs of a kind that warm up, at least: LaTeX's preamble is read ahead from the third on.
const WARM_UP: usize = 5;
/// Jobs of a kind that are measured when the service is quiet, at least.
const QUIET: usize = 10;
/// Between two looks at what the service holds.
const LOOK: Duration = Duration::from_secs(1);

/// How long each part of a row takes.
struct Times {
    /// Each kind of job, beside the flood; half of it before.
    window: Duration,
    /// The flood, before anything is measured beside it.
    run_up: Duration,
    /// After the flood, before the last look.
    rest: Duration,
}

/// What came of a flood.
#[derive(Default)]
struct Row {
    /// Of each kind of job, before the flood and beside it.
    quiet: Vec<Measured>,
    beside: Vec<Measured>,
    /// Jobs of the flood that ended, and how.
    a_minute: f64,
    ends: String,
    /// What the service held before the flood, the most meanwhile, and what it held afterwards.
    moments: Vec<Footprint>,
    /// Processes and files that outlasted the service.
    left: (usize, usize),
}

/// The service with all that belongs to it.
struct Service {
    program: Program,
    hostile: Vec<String>,
    watch: Rc<RefCell<Watch>>,
    folder: tempfile::TempDir,
}

/// Prints the table of the floods that are chosen.
pub fn run(options: &Options) -> io::Result<()> {
    let seconds = |name, default| Duration::from_secs(options.number(name, default));
    let times =
        Times { window: seconds("seconds", 10), run_up: seconds("run-up", 10), rest: seconds("rest", 30) };
    let (jobs, floods) = (bodies::jobs()?, bodies::floods()?);
    let is_all = options.words.iter().any(|word| word == "floods");
    let executable = options.program.as_deref().unwrap_or(OWN);
    if options.chooses("overload") {
        overload::run(executable, times.window)?;
    }
    let mut has_head = false;
    for flood in floods.iter().filter(|flood| is_all || options.chooses(flood.name)) {
        if !std::mem::replace(&mut has_head, true) {
            print_head(&jobs);
        }
        for accounts in ACCOUNTS {
            match measure_row(flood, accounts, &jobs, &times, executable) {
                Ok(row) => row.print(flood.name, accounts),
                Err(error) => println!("| {} | {accounts} | left out: {error} |", flood.name),
            }
        }
    }
    Ok(())
}

fn print_head(jobs: &[Job]) {
    println!(
        "\nMilliseconds p50, p95: quiet → beside the flood. What the service holds: before, most, after, see benches/README.md.\n"
    );
    let jobs: Vec<_> = jobs.iter().map(|job| job.name).collect();
    println!(
        "| flood | accounts | {} | refused, unfinished, failed | | flood: jobs a minute | memory MB | processes | descriptors \
         | files | left | how the flood's jobs ended |",
        jobs.join(" | ")
    );
    println!("|---|--:|{}", "---|".repeat(jobs.len() + 9));
}

/// One flood by so many accounts.
fn measure_row(
    flood: &Flood,
    accounts: usize,
    jobs: &[Job],
    times: &Times,
    executable: &str,
) -> io::Result<Row> {
    let service = Service::start(executable, accounts)?;
    let program = &service.program;
    let mut row = LocalSet::new().block_on(&program.runtime, async {
        program.ready().await?;
        let mut row = Row::default();
        if let Some(first) = &flood.first {
            // It goes on when its client gives it up; the last one that is asked for waits for the same fonts.
            while measure(program, first, Duration::ZERO, 1).await.unfinished > 0 {}
        }
        for job in jobs {
            // The first ones warm up.
            measure(program, job, times.window / 4, WARM_UP).await;
            row.quiet.push(measure(program, job, times.window / 2, QUIET).await);
        }
        if let Some(why) = row.quiet.iter().find(|quiet| quiet.is_empty()) {
            return Err(io::Error::other(format!("nothing was made when quiet: {:?}", why.failures.first())));
        }
        row.moments.push(service.watch.borrow_mut().look());
        let (watcher, most) = service.look_on();
        let hostile = Hostile::begin(flood, program, &service.hostile);
        tokio::time::sleep(times.run_up).await;
        for job in jobs {
            row.beside.push(measure(program, job, times.window, 1).await);
        }
        (row.a_minute, row.ends) = hostile.end().await?;
        watcher.abort();
        row.moments.push(most.get());
        tokio::time::sleep(times.rest).await;
        row.moments.push(service.watch.borrow_mut().look());
        Ok(row)
    })?;
    row.left = service.end();
    Ok(row)
}

impl Service {
    fn start(executable: &str, accounts: usize) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let temporary = temporary_folder(folder.path())?;
        let token = make_account(folder.path(), "neighbour")?;
        let hostile = (0..accounts).map(|number| make_account(folder.path(), &format!("hostile-{number}")));
        let hostile = hostile.collect::<io::Result<_>>()?;
        let path = temporary.display().to_string();
        let program = Program::of(executable, folder.path(), token, &[WITH_OFFICE, ("TMPDIR", &path)])?;
        let watch = Rc::new(RefCell::new(Watch::new(program.id(), temporary)));
        Ok(Self { program, hostile, watch, folder })
    }

    /// The most that it holds from now on, until the task is aborted.
    fn look_on(&self) -> (JoinHandle<()>, Rc<Cell<Footprint>>) {
        let most = Rc::<Cell<Footprint>>::default();
        let (kept, watch) = (Rc::clone(&most), Rc::clone(&self.watch));
        let watcher = tokio::task::spawn_local(async move {
            loop {
                most.set(most.get().most(watch.borrow_mut().look()));
                tokio::time::sleep(LOOK).await;
            }
        });
        (watcher, kept)
    }

    /// Ends it; how many processes and files are left.
    fn end(self) -> (usize, usize) {
        let Self { program, watch, folder, .. } = self;
        drop(program);
        let left = watch.borrow().left();
        drop(folder);
        left
    }
}

impl Row {
    /// What the neighbour has of it, and then all else.
    fn print(&self, flood: &str, accounts: usize) {
        let pairs = || self.beside.iter().zip(&self.quiet);
        let times: Vec<_> = pairs().map(|(beside, quiet)| beside.beside(quiet)).collect();
        let sum = |count: &dyn Fn(&Measured) -> usize| self.beside.iter().map(count).sum::<usize>();
        let (refused, unfinished) = (sum(&|kind| kind.refused), sum(&|kind| kind.unfinished));
        let failed = sum(&|kind| kind.failures.len());
        let verdict = if pairs().all(|(beside, quiet)| beside.holds(quiet)) { "holds" } else { "BROKEN" };
        let Self { a_minute, ends, left: (processes, files), moments, .. } = self;
        let failure = self.beside.iter().flat_map(|kind| &kind.failures).next();
        let failure = failure.map(|failure| format!("; the neighbour's: {failure}")).unwrap_or_default();
        println!(
            "| {flood} | {accounts} | {} | {refused}, {unfinished}, {failed} | {verdict} | {a_minute:.0} | {} | {processes}, {files} \
             | {ends}{failure} |",
            times.join(" | "),
            Moments(moments)
        );
    }
}
