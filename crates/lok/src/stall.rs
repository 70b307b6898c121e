//! What other threads of this process do to a fork.
//!
//! Hazard: a fork copies a lock that another thread holds at that moment. Nobody releases the copy, and a child that needs it
//! waits for ever.
//!
//! So a fork waits until all other threads sleep. That is not all: one may wake up between the look and the fork, or hold a
//! lock in its sleep. A child that sleeps with all its threads and uses no processor time is therefore ended long before its
//! deadline, and the next one takes the document. So is one that somebody has stopped, at the second look. A document that only
//! takes long computes, or waits for a disk, which the system does not call sleep.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A child that sleeps with all its threads for so long has stalled: a document has nothing to wait for.
const STALLED_AFTER: Duration = Duration::from_secs(3);

/// Longest wait of a fork for the other threads to sleep: one of them may never do.
const AWAIT_LIMIT: Duration = Duration::from_secs(1);
/// The pause between two checks of that.
const AWAIT_PAUSE: Duration = Duration::from_millis(1);

/// Waits until all other threads of this process sleep.
pub fn await_sleep() {
    let begun = Instant::now();
    while !others_sleep() && begun.elapsed() < AWAIT_LIMIT {
        std::thread::sleep(AWAIT_PAUSE);
    }
}

/// Whether they do. What cannot be read is a thread that has just ended.
fn others_sleep() -> bool {
    let own = rustix::thread::gettid().as_raw_nonzero().to_string();
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return true };
    let mut others = tasks.flatten().filter(|task| task.file_name() != own.as_str());
    others.all(|task| Task::read(&task.path()).is_none_or(|task| task.sleeps))
}

/// Finds by regular checks whether a child has stalled.
pub struct StallWatch {
    tasks: PathBuf,
    rest: Option<Rest>,
    since: Instant,
}

/// What the threads of a process look like where none of them does anything.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rest {
    /// The processor time of all of them, in ticks.
    used: u64,
    /// One of them is stopped.
    is_stopped: bool,
}

impl StallWatch {
    /// The pause between two checks.
    pub const PAUSE: Duration = Duration::from_millis(500);

    /// Watches this process.
    pub fn of(process: i32) -> Self {
        let tasks = PathBuf::from(format!("/proc/{process}/task"));
        Self { tasks, rest: None, since: Instant::now() }
    }

    /// Checks, and answers whether the process has stalled.
    pub fn is_reached(&mut self) -> bool {
        let rest = self.rest();
        if rest.is_none() || rest != self.rest {
            (self.rest, self.since) = (rest, Instant::now());
        }
        let is_stopped = self.rest.is_some_and(|rest| rest.is_stopped);
        self.since.elapsed() >= if is_stopped { Self::PAUSE / 2 } else { STALLED_AFTER }
    }

    /// `None` where a thread works.
    fn rest(&self) -> Option<Rest> {
        let mut rest = Rest { used: 0, is_stopped: false };
        for task in fs::read_dir(&self.tasks).ok()?.flatten() {
            let task = Task::read(&task.path()).filter(|task| task.sleeps || task.is_stopped)?;
            rest = Rest { used: rest.used + task.ticks, is_stopped: rest.is_stopped || task.is_stopped };
        }
        Some(rest)
    }
}

/// What the system says of a thread.
struct Task {
    sleeps: bool,
    /// By `SIGSTOP`, or by a tracer.
    is_stopped: bool,
    /// Its processor time.
    ticks: u64,
}

impl Task {
    fn read(folder: &Path) -> Option<Self> {
        let line = fs::read_to_string(folder.join("stat")).ok()?;
        let mut fields = line.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        // The state is the third field of the line, times of user and system are the fourteenth and fifteenth.
        let times = fields.skip(10).take(2);
        let (sleeps, is_stopped) = (state == "S", matches!(state, "T" | "t"));
        Some(Self { sleeps, is_stopped, ticks: times.filter_map(|time| time.parse::<u64>().ok()).sum() })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Looks until the process stands still, or for twice as long as that takes.
    fn has_stalled(process: u32) -> bool {
        let mut watch = StallWatch::of(i32::try_from(process).unwrap());
        let begun = Instant::now();
        while begun.elapsed() < STALLED_AFTER * 2 {
            if watch.is_reached() {
                return true;
            }
            std::thread::sleep(StallWatch::PAUSE); // poll
        }
        false
    }

    #[test]
    fn who_sleeps_or_is_stopped_stands_still_and_who_computes_does_not() {
        let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
        let mut worker = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let mut stopped = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let process = nix::unistd::Pid::from_raw(i32::try_from(stopped.id()).unwrap());
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGSTOP).unwrap();
        let found = [&sleeper, &stopped, &worker].map(std::process::Child::id);
        let found = found.map(|process| std::thread::spawn(move || has_stalled(process)));
        let found = found.map(|found| found.join().unwrap());
        for child in [&mut sleeper, &mut stopped, &mut worker] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found, [true, true, false]);
    }

    #[test]
    fn a_fork_waits_for_a_thread_that_computes() {
        let (is_over, begun) = (std::sync::atomic::AtomicBool::new(false), Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(|| while begun.elapsed() < AWAIT_LIMIT / 4 {});
            await_sleep();
            is_over.store(begun.elapsed() >= AWAIT_LIMIT / 4, std::sync::atomic::Ordering::SeqCst);
        });
        assert!(is_over.into_inner());
    }
}
