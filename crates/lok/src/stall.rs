//! Whether a child stands still.
//!
//! Hazard: a fork copies a lock that another thread holds at that moment, and the copy is never released: a child that needs
//! it waits for ever. LibreOffice's threads hold none for long, so this is rare (seen once in some hundred starts, on a
//! machine with much to do), and the next child does not meet it. So a child whose threads all sleep and use no processor time is
//! ended long before its deadline. A document that only takes long computes, or waits for a disk, which is no sleep.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A document never sleeps so long: there is nothing for it to wait for.
const STILL: Duration = Duration::from_secs(3);

/// A look at a child now and then.
pub struct Stillness {
    tasks: PathBuf,
    used: Option<u64>,
    since: Instant,
}

impl Stillness {
    /// Between two looks.
    pub const PAUSE: Duration = Duration::from_millis(500);

    /// Of this process.
    pub fn of(process: i32) -> Self {
        let tasks = PathBuf::from(format!("/proc/{process}/task"));
        Self { tasks, used: None, since: Instant::now() }
    }

    /// Looks, and says whether the process has stood still for long.
    pub fn is_reached(&mut self) -> bool {
        let used = self.sleeping_time();
        if used.is_none() || used != self.used {
            (self.used, self.since) = (used, Instant::now());
        }
        self.since.elapsed() >= STILL
    }

    /// The processor time of all threads, in ticks, where all of them sleep.
    fn sleeping_time(&self) -> Option<u64> {
        let mut used = 0;
        for task in fs::read_dir(&self.tasks).ok()?.flatten() {
            let line = fs::read_to_string(task.path().join("stat")).ok()?;
            let mut fields = line.rsplit_once(") ")?.1.split(' ');
            (fields.next()? == "S").then_some(())?;
            // The state is the third field of the line, times of user and system are the fourteenth and fifteenth.
            let times = fields.skip(10).take(2);
            used += times.filter_map(|time| time.parse::<u64>().ok()).sum::<u64>();
        }
        Some(used)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Looks until the process stands still, or for twice as long as that takes.
    fn is_still(process: u32) -> bool {
        let mut stillness = Stillness::of(i32::try_from(process).unwrap());
        let begun = Instant::now();
        while begun.elapsed() < STILL * 2 {
            if stillness.is_reached() {
                return true;
            }
            std::thread::sleep(Stillness::PAUSE); // poll
        }
        false
    }

    #[test]
    fn who_sleeps_stands_still_and_who_computes_does_not() {
        let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
        let mut worker = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let found = [&sleeper, &worker].map(std::process::Child::id);
        let [sleeps, works] = found.map(|process| std::thread::spawn(move || is_still(process)));
        let found = (sleeps.join().unwrap(), works.join().unwrap());
        for child in [&mut sleeper, &mut worker] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found, (true, false));
    }
}
