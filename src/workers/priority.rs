//! Processor time, and who goes last in line for it.

use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};
use rustix::process::{Pid, setpriority_process};

/// A process of this niceness gets about a tenth of what one gets that has none.
const NICENESS: i32 = 10;

/// Processor time that a process has used so far, all its threads together; nothing of one that is gone.
#[must_use]
pub fn processor_time(process: i32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the program's name, which may hold anything: state, …, then utime and stime as the 12th and 13th.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).map(|field| field.parse::<u64>().ok());
    let ticks = fields.next()?? + fields.next()??;
    let a_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(Duration::from_millis(ticks * 1_000 / a_second))
}

/// Has a process yield the processor to everybody who wants it, with all its threads: those it starts later inherit
/// that. It cannot be undone without privileges, so the process must not serve anybody else afterwards.
pub fn yield_processor(process: i32) {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return };
    let ids = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok());
    for thread in ids.filter_map(Pid::from_raw) {
        if let Err(error) = setpriority_process(Some(thread), NICENESS) {
            tracing::debug!(%error, process, "a process does not yield the processor");
        }
    }
}

/// Has this process yield, and all that it starts, as [`yield_processor`] does with another.
pub(super) fn yield_from_now_on() -> std::io::Result<()> {
    Ok(setpriority_process(None, NICENESS)?)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_process_that_yields_is_nice_with_all_its_threads() {
        let mut child =
            Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        let begun = Instant::now();
        while processor_time(id).unwrap() < Duration::from_millis(50) {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        yield_processor(id);
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        assert_eq!(stat.rsplit_once(") ").unwrap().1.split(' ').nth(16), Some("10"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(processor_time(id), None);
    }
}
