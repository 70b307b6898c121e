//! What a program may take, and the watch that sees when it takes more.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::config::WorkersConfig;
use crate::workers::group;
use crate::workers::holdings::{self, Reading};
use crate::workers::scratch::{self, Size, Unseen};
use crate::workers::spec::Limits;

/// What one run may take. The limits of processor time and of a file's length are kept by the system; the
/// others are watched.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Until it has ended (`workers.timeout_ms`).
    pub deadline: Duration,
    /// Memory, all processes together (`workers.memory_limit_mb`).
    pub memory_bytes: u64,
    /// Processes and threads (`workers.process_limit`).
    pub processes: u64,
    /// Processor time of each process (`workers.processor_limit_s`).
    pub processor_s: u64,
    /// What it has on the disk (`workers.scratch_limit_mb`); no file is longer.
    pub scratch_bytes: u64,
    /// Files and folders (`workers.scratch_files_limit`).
    pub scratch_files: u64,
    /// What it prints, to each of the two (`workers.printed_limit_bytes`).
    pub printed_bytes: u64,
}

/// What a program took too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Memory.
    Memory,
    /// Processes and threads.
    Processes,
    /// Processor time.
    Processor,
    /// Bytes on the disk.
    Written,
    /// Files, or folders inside folders.
    Files,
    /// Output to standard output or standard error.
    Printed,
}

/// Open files of each process.
const OPEN_FILES: u64 = 256;
/// As an unprivileged user the limit of processes counts everything that runs as the service's user, whose
/// own threads come and go: so much more is allowed, and the watch keeps the true limit.
const OTHERS_SLACK: u64 = 256;
/// A look takes no more than this part of the time.
const LOOK_SHARE: u32 = 10;
/// But no longer than this it looks away because of that: a program that makes looks long would have much time unseen.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

impl Bounds {
    /// Those of the configuration.
    pub fn new(config: &WorkersConfig) -> Self {
        Self {
            deadline: Duration::from_millis(config.timeout_ms),
            memory_bytes: config.memory_limit_mb << 20,
            processes: config.process_limit,
            processor_s: config.processor_limit_s,
            scratch_bytes: config.scratch_limit_mb << 20,
            scratch_files: config.scratch_files_limit,
            printed_bytes: config.printed_limit_bytes,
        }
    }

    /// The limits that the system keeps, for who is a user of its own or, if not, the service's.
    pub(in crate::workers) fn limits(&self, has_own_user: bool) -> io::Result<Limits> {
        let others = || group::tasks_of(nix::unistd::geteuid().as_raw()).map(|tasks| tasks + OTHERS_SLACK);
        let processes = self.processes + if has_own_user { 0 } else { others()? };
        Ok(Limits { processes: Some(processes), cpu_s: Some(self.processor_s), ..self.lasting_limits(true) })
    }

    /// Those of who works for long: none of processor time; and where it is the service's user none of processes, which
    /// would be that of its start: once Chromium had more tabs than then it could make no child. The watch counts them.
    pub(in crate::workers) fn lasting_limits(&self, has_own_user: bool) -> Limits {
        Limits {
            address_space_bytes: None,
            cpu_s: None,
            file_bytes: Some(self.scratch_bytes),
            processes: has_own_user.then_some(self.processes),
            open_files: Some(OPEN_FILES),
        }
    }

    fn excess(&self, reading: Reading, size: Result<Size, Unseen>) -> Option<Excess> {
        let (size, unseen) = match size {
            Ok(size) => (size, None),
            // Whoever hides what he writes has more to hide than he may write.
            Err(Unseen::Hidden) => (Size::default(), Some(Excess::Written)),
            Err(Unseen::TooMany) => (Size::default(), Some(Excess::Files)),
        };
        let found = [
            (reading.memory_bytes > self.memory_bytes).then_some(Excess::Memory),
            (reading.tasks > self.processes).then_some(Excess::Processes),
            (size.bytes + reading.unnamed_bytes > self.scratch_bytes).then_some(Excess::Written),
            unseen,
            reading.is_hidden.then_some(Excess::Written),
        ];
        found.into_iter().flatten().next()
    }
}

impl Excess {
    /// What it is, and the setting that bounds it.
    pub(in crate::workers) fn words(self) -> &'static str {
        match self {
            Self::Memory => "memory (workers.memory_limit_mb)",
            Self::Processes => "processes (workers.process_limit)",
            Self::Processor => "processor time (workers.processor_limit_s)",
            Self::Written => "space on the disk (workers.scratch_limit_mb)",
            Self::Files => "files (workers.scratch_files_limit)",
            Self::Printed => "printed output (workers.printed_limit_bytes)",
        }
    }

    pub(in crate::workers) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Processor => "processor",
            Self::Written => "written",
            Self::Files => "files",
            Self::Printed => "printed",
        }
    }
}

/// Waits until `leader`, with all that it started and all in its `folder`, takes more than it may; otherwise for ever.
pub(in crate::workers) async fn excess(
    leader: i32,
    folder: &OwnedFd,
    bounds: Bounds,
    interval: Duration,
) -> Excess {
    let mut pause = interval;
    loop {
        sleep(pause).await;
        let Ok(folder) = folder.try_clone() else { continue };
        let looked = spawn_blocking(move || {
            let begun = Instant::now();
            let reading = holdings::read(leader, bounds.processes);
            let size = scratch::measure(&folder, bounds.scratch_files);
            (bounds.excess(reading, size), begun.elapsed())
        });
        // Without a thread to be had it looks again later.
        let Ok((found, took)) = looked.await else { continue };
        if let Some(excess) = found {
            return excess;
        }
        pause = interval.max((took * LOOK_SHARE).min(LONGEST_PAUSE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_for_long_has_no_limit_that_others_can_use_up() {
        let bounds = Bounds::new(&crate::config::Config::default().workers);
        let limits = [true, false].map(|has_own_user| bounds.lasting_limits(has_own_user));
        assert_eq!(limits.map(|limits| limits.processes), [Some(bounds.processes), None]);
        assert_eq!(limits.map(|limits| limits.cpu_s), [None, None]);
        let one_run = bounds.limits(false).unwrap();
        assert!(one_run.processes > Some(bounds.processes) && one_run.cpu_s == Some(bounds.processor_s));
    }

    #[test]
    fn each_bound_is_told_from_the_others() {
        let bounds = Bounds {
            memory_bytes: 10,
            processes: 2,
            scratch_bytes: 100,
            ..Bounds::new(&crate::config::Config::default().workers)
        };
        let reading = Reading { memory_bytes: 10, tasks: 2, unnamed_bytes: 50, is_hidden: false };
        let size = Ok(Size { bytes: 50, files: 1 });
        assert_eq!(bounds.excess(reading, size), None);
        let cases = [
            (Reading { memory_bytes: 11, ..reading }, size, Excess::Memory),
            (Reading { tasks: 3, ..reading }, size, Excess::Processes),
            (Reading { unnamed_bytes: 51, ..reading }, size, Excess::Written),
            (Reading { is_hidden: true, ..reading }, size, Excess::Written),
            (reading, Err(Unseen::Hidden), Excess::Written),
            (reading, Err(Unseen::TooMany), Excess::Files),
        ];
        for (reading, size, excess) in cases {
            assert_eq!(bounds.excess(reading, size), Some(excess));
        }
    }
}
