//! The limits of a program, and the watch that finds when one is exceeded.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::config::WorkersConfig;
use crate::workers::group;
use crate::workers::scratch::{self, Size, Unseen};
use crate::workers::spec::ResourceLimits;
use crate::workers::usage::{self, Usage};

/// The limits of one run. The system enforces those of processor time and of a file's length; the others are watched.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may take (`workers.timeout_ms`).
    pub deadline: Duration,
    /// Processor time after which it has the lowest priority (`workers.yield_after_ms`).
    pub undisturbed: Duration,
    /// How long all of it may sleep (`workers.hung_ms`).
    pub still: Duration,
    /// Memory, all processes together (`workers.memory_limit_mb`).
    pub memory_bytes: u64,
    /// Processes and threads (`workers.process_limit`).
    pub processes: u64,
    /// Processor time of each process (`workers.processor_limit_s`).
    pub processor_s: u64,
    /// All its files on the disk, and the longest one (`workers.scratch_limit_mb`).
    pub scratch_bytes: u64,
    /// Files and folders (`workers.scratch_files_limit`).
    pub scratch_files: u64,
    /// Its output to standard output and standard error, each (`workers.printed_limit_bytes`).
    pub printed_bytes: u64,
}

/// The resource of which a program took too much.
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
/// Where programs run as the service's user, `RLIMIT_NPROC` also counts the service's threads, which come and go. So the system's
/// limit has this margin, and the watch enforces the true one.
const OTHERS_SLACK: u64 = 256;
/// The watch pauses this many times as long as a check takes.
const LOOK_SHARE: u32 = 10;
/// The longest pause for that reason. Hazard: a program that makes checks slow would win time in which it is not watched.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

impl Bounds {
    /// The configured limits.
    pub fn new(config: &WorkersConfig) -> Self {
        Self {
            deadline: Duration::from_millis(config.timeout_ms),
            undisturbed: Duration::from_millis(config.yield_after_ms),
            still: Duration::from_millis(config.hung_ms),
            memory_bytes: config.memory_limit_mb << 20,
            processes: config.process_limit,
            processor_s: config.processor_limit_s,
            scratch_bytes: config.scratch_limit_mb << 20,
            scratch_files: config.scratch_files_limit,
            printed_bytes: config.printed_limit_bytes,
        }
    }

    /// The limits that the system enforces. `has_own_user`: the program runs as a user of its own, not as the service's.
    pub(in crate::workers) fn limits(&self, has_own_user: bool) -> io::Result<ResourceLimits> {
        let others = || group::tasks_of(nix::unistd::geteuid().as_raw()).map(|tasks| tasks + OTHERS_SLACK);
        let processes = self.processes + if has_own_user { 0 } else { others()? };
        Ok(ResourceLimits {
            processes: Some(processes),
            cpu_s: Some(self.processor_s),
            ..self.lasting_limits(true)
        })
    }

    /// The system's limits of a server, which runs for long: none of processor time. As the service's user none of processes
    /// either: `RLIMIT_NPROC` counts Chromium's, too, and when those become more the server could fork no child. The watch
    /// counts its processes.
    pub(in crate::workers) fn lasting_limits(&self, has_own_user: bool) -> ResourceLimits {
        ResourceLimits {
            address_space_bytes: None,
            cpu_s: None,
            file_bytes: Some(self.scratch_bytes),
            processes: has_own_user.then_some(self.processes),
            open_files: Some(OPEN_FILES),
        }
    }

    fn excess(&self, usage: Usage, size: Result<Size, Unseen>) -> Option<Excess> {
        let (size, unseen) = match size {
            Ok(size) => (size, None),
            // What a program hides cannot be measured, so it counts as too much.
            Err(Unseen::Hidden) => (Size::default(), Some(Excess::Written)),
            Err(Unseen::TooMany) => (Size::default(), Some(Excess::Files)),
        };
        let found = [
            (usage.memory_bytes > self.memory_bytes).then_some(Excess::Memory),
            (usage.tasks > self.processes).then_some(Excess::Processes),
            (size.bytes + usage.unnamed_bytes > self.scratch_bytes).then_some(Excess::Written),
            unseen,
            usage.is_hidden.then_some(Excess::Written),
        ];
        found.into_iter().flatten().next()
    }
}

impl Excess {
    /// The resource and the setting that limits it.
    pub(in crate::workers) fn description(self) -> &'static str {
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

/// Completes when `leader`, with all that it started and all in its `folder`, exceeds a limit; otherwise never.
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
            let usage = usage::read(leader, bounds.processes);
            let size = scratch::measure(&folder, bounds.scratch_files);
            (bounds.excess(usage, size), begun.elapsed())
        });
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
    fn a_server_has_no_limit_that_other_processes_can_use_up() {
        let bounds = Bounds::new(&crate::config::Config::default().workers);
        let limits = [true, false].map(|has_own_user| bounds.lasting_limits(has_own_user));
        assert_eq!(limits.map(|limits| limits.processes), [Some(bounds.processes), None]);
        assert_eq!(limits.map(|limits| limits.cpu_s), [None, None]);
        let one_run = bounds.limits(false).unwrap();
        assert!(one_run.processes > Some(bounds.processes) && one_run.cpu_s == Some(bounds.processor_s));
    }

    #[test]
    fn each_bound_is_reported_from_the_others() {
        let bounds = Bounds {
            memory_bytes: 10,
            processes: 2,
            scratch_bytes: 100,
            ..Bounds::new(&crate::config::Config::default().workers)
        };
        let usage = Usage { memory_bytes: 10, tasks: 2, unnamed_bytes: 50, is_hidden: false };
        let size = Ok(Size { bytes: 50, files: 1 });
        assert_eq!(bounds.excess(usage, size), None);
        let cases = [
            (Usage { memory_bytes: 11, ..usage }, size, Excess::Memory),
            (Usage { tasks: 3, ..usage }, size, Excess::Processes),
            (Usage { unnamed_bytes: 51, ..usage }, size, Excess::Written),
            (Usage { is_hidden: true, ..usage }, size, Excess::Written),
            (usage, Err(Unseen::Hidden), Excess::Written),
            (usage, Err(Unseen::TooMany), Excess::Files),
        ];
        for (usage, size, excess) in cases {
            assert_eq!(bounds.excess(usage, size), Some(excess));
        }
    }
}
