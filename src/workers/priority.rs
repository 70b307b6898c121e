//! A process' use of processor and memory, and how it yields the processor to others.

use std::fs;
use std::io;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};
use rustix::process::{Pid, getpriority_process, setpriority_process};

use crate::procfs::{stat_fields, statm, threads};

/// A process of this niceness gets about a tenth of the processor that one of niceness 0 gets.
const NICENESS: i32 = 10;

/// The kernel lets all unprivileged users together change the niceness of a session once in 0.1 s, so a child tries this often.
const TRIES: u32 = 30;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// The processor time of a process, all its threads together; `None` if it is gone.
pub fn processor_time(process: i32) -> Option<Duration> {
    let stat = stat_fields(process)?;
    // That of the user and that of the system.
    let ticks = stat.number::<u64>(14)? + stat.number::<u64>(15)?;
    let a_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(Duration::from_millis(ticks * 1_000 / a_second))
}

/// The resident memory of a process; `None` if it is gone.
pub fn resident_bytes(process: i32) -> Option<u64> {
    statm(process).map(|memory| memory.resident_bytes)
}

/// Makes a process yield the processor to all others, with all its threads and those that it starts later. It cannot be undone
/// without privileges, so the process must not do another job afterwards.
pub fn yield_processor(process: i32) {
    let threads = threads(process);
    if threads.is_empty() {
        return;
    }
    for thread in threads.into_iter().filter_map(Pid::from_raw) {
        if let Err(error) = setpriority_process(Some(thread), NICENESS) {
            tracing::debug!(%error, process, "a process does not yield the processor");
        }
    }
    if let Err(error) = yield_session(&process.to_string()) {
        tracing::debug!(%error, process, "a process' session does not yield the processor");
    }
}

/// As [`yield_processor`], for this process and all that it starts.
pub(super) fn yield_from_now_on() -> io::Result<()> {
    yield_process()?;
    for _ in 0..TRIES {
        match yield_session("self") {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(TRY_PAUSE),
            // Where that is refused, the niceness of the processes still counts.
            _ => break,
        }
    }
    Ok(())
}

/// Makes this process nice, unless it is nicer already: a lower niceness needs a privilege, and the child would not start.
fn yield_process() -> io::Result<()> {
    if getpriority_process(None)? < NICENESS {
        setpriority_process(None, NICENESS)?;
    }
    Ok(())
}

/// Makes a session nice. Hazard: with the kernel's autogroups niceness counts only within one session, and each child leads its
/// own, so a nice child alone would get as much processor as others. Kernels without autogroups do not have the file.
fn yield_session(process: &str) -> io::Result<()> {
    match fs::write(format!("/proc/{process}/autogroup"), NICENESS.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nicer_already_stays_so() {
        // The niceness is the thread's.
        let niceness_from = |given: i32| {
            let thread = std::thread::spawn(move || {
                setpriority_process(None, given).unwrap();
                yield_process().unwrap();
                getpriority_process(None).unwrap()
            });
            thread.join().unwrap()
        };
        let own = getpriority_process(None).unwrap();
        for given in [own, (own.max(NICENESS) + 5).min(19)] {
            assert_eq!(niceness_from(given), given.max(NICENESS));
        }
    }
}
