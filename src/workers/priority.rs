//! What a process takes of processor and memory, and who goes last in line for the processor.

use std::fs;
use std::io;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};
use rustix::process::{Pid, setpriority_process};

/// A process of this niceness gets about a tenth of what one gets that has none.
const NICENESS: i32 = 10;

/// The system lets users without privileges change the niceness of a session once in a tenth of a second, all of them
/// together: so often a child tries, so long it waits between.
const TRIES: u32 = 30;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// Processor time that a process has used so far, all its threads together; nothing of one that is gone.
pub fn processor_time(process: i32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the program's name, which may hold anything: state, …, then utime and stime as the 12th and 13th.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).map(|field| field.parse::<u64>().ok());
    let ticks = fields.next()?? + fields.next()??;
    let a_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(Duration::from_millis(ticks * 1_000 / a_second))
}

/// Memory that a process holds at this moment; nothing of one that is gone.
pub fn resident_bytes(process: i32) -> Option<u64> {
    let account = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = account.split(' ').nth(1)?.parse().ok()?;
    let page_bytes = u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?;
    Some(pages * page_bytes)
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
    if let Err(error) = yield_session(&process.to_string()) {
        tracing::debug!(%error, process, "a process' session does not yield the processor");
    }
}

/// Has this process yield, and all that it starts, as [`yield_processor`] does with another.
pub(super) fn yield_from_now_on() -> io::Result<()> {
    setpriority_process(None, NICENESS)?;
    for _ in 0..TRIES {
        match yield_session("self") {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(TRY_PAUSE),
            // A system that does not let it still has the niceness of its processes.
            _ => break,
        }
    }
    Ok(())
}

/// Hazard: where the system groups processes by session (autogroup), niceness counts only among those of one session,
/// and each child leads its own: a nice one would have as much of the processor as everybody else. So its session is
/// made nice as well. Systems without such groups have no such file.
fn yield_session(process: &str) -> io::Result<()> {
    match fs::write(format!("/proc/{process}/autogroup"), NICENESS.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_process_that_yields_is_nice_with_all_its_threads() {
        // As our children do, in a session of its own: otherwise this would be the session of the tests.
        let mut child = Command::new("setsid")
            .args(["sh", "-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let id = i32::try_from(child.id()).unwrap();
        let begun = Instant::now();
        while processor_time(id).unwrap() < Duration::from_millis(50) {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        yield_processor(id);
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        assert_eq!(stat.rsplit_once(") ").unwrap().1.split(' ').nth(16), Some("10"));
        if let Ok(session) = fs::read_to_string(format!("/proc/{id}/autogroup"))
            && nix::unistd::geteuid().is_root()
        {
            assert!(session.ends_with(" nice 10\n"), "{session}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(processor_time(id), None);
    }
}
