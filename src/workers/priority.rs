//! A process' use of processor and memory, and how it yields the processor to others.

use std::fs;
use std::io;
use std::time::Duration;

use nix::unistd::{SysconfVar, getsid, sysconf};
use rustix::process::{Pid, getpriority_process, setpriority_process};
use tokio::runtime::Handle;

use super::group::ProcessStat;
use crate::procfs::{children, stat_fields, statm, threads};

/// A process of this niceness gets about a tenth of the processor that one of niceness 0 gets.
const NICENESS: i32 = 10;
/// The highest niceness: about a seventh of the processor that one of niceness 10 gets.
const LOWEST_PRIORITY: i32 = 19;
/// A session of this niceness gets about twice what a program of niceness 10 gets.
const LARGE_NICENESS: i32 = 7;
/// A session of this niceness gets about a third of what a program of niceness 10 gets.
const LITTLE_NICENESS: i32 = 15;

/// What took so many times the processor time after which it has low priority has the lowest.
pub const LOWEST_AFTER: u32 = 10;
/// How often the processor time of what works is looked at.
pub const LONG_LOOK_PAUSE: Duration = Duration::from_millis(500);

/// The kernel lets all unprivileged users together change the niceness of a session once in 0.1 s, so a child tries this often.
const TRIES: u32 = 30;
const TRY_PAUSE: Duration = Duration::from_millis(20);
/// Most processes of a job that are made to yield.
const TREE_LIMIT: usize = 256;

/// The processor time of a process, all its threads together; `None` if it is gone.
pub fn processor_time(process: i32) -> Option<Duration> {
    time_and_niceness(process).map(|(time, _)| time)
}

/// The same, and its niceness, by one look.
pub fn time_and_niceness(process: i32) -> Option<(Duration, i32)> {
    let stat = stat_fields(process)?;
    // That of the user and that of the system.
    let time = of_ticks(stat.number::<u64>(14)? + stat.number::<u64>(15)?)?;
    Some((time, stat.number(19)?))
}

/// The processor time of a process, of all that it has started, and of those of them that have ended.
fn tree_time(process: i32) -> Duration {
    let time = |process| {
        let stat = stat_fields(process)?;
        let ticks = (14..=17).map(|field| stat.number::<u64>(field)).sum::<Option<u64>>()?;
        of_ticks(ticks)
    };
    tree(process).filter_map(time).sum()
}

/// A process and all that it has started, as many as a program may have: a hostile one could start others faster than they are
/// listed.
fn tree(process: i32) -> impl Iterator<Item = i32> {
    let mut pending = vec![process];
    std::iter::from_fn(move || {
        let process = pending.pop()?;
        pending.extend(children(process));
        Some(process)
    })
    .take(TREE_LIMIT)
}

fn of_ticks(ticks: u64) -> Option<Duration> {
    let a_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(Duration::from_millis(ticks * 1_000 / a_second))
}

/// The resident memory of a process; `None` if it is gone.
pub fn resident_bytes(process: i32) -> Option<u64> {
    statm(process).map(|memory| memory.resident_bytes)
}

/// Makes a process yield the processor to all others, with all its threads and those that it starts later. One that yields more
/// already stays so. The process must not do another job afterwards: without privileges it cannot be undone.
pub fn yield_processor(process: i32) {
    renice(process, NICENESS);
}

/// As [`yield_processor`], with all that the process has started, and also to processes that yield: for a job that made way.
pub fn yield_to_all(process: i32) {
    tree(process).for_each(|process| renice(process, LOWEST_PRIORITY));
}

/// As [`yield_to_all`], once it took so much processor time with all that it has started; whether it did. It blocks on files of
/// `/proc`.
pub fn yield_to_all_when_long(process: i32, undisturbed: Duration) -> bool {
    let is_long = tree_time(process) >= undisturbed;
    if is_long {
        yield_to_all(process);
    }
    is_long
}

/// A session that was given the lowest priority, and what it had before.
#[derive(Debug)]
pub struct LoweredSession {
    process: i32,
    before: i32,
}

impl LoweredSession {
    /// Lowers the session of a server once a document in it took so much processor time, and the child that makes the document,
    /// which makes no other. It blocks on files of `/proc`.
    pub fn of_long_document(server: i32, undisturbed: Duration) -> Option<Self> {
        let is_long = |child: &i32| processor_time(*child).is_some_and(|used| used >= undisturbed);
        let child = children(server).into_iter().find(is_long)?;
        yield_to_all_in_session(child);
        let before = session_niceness(server)?;
        refuse_own_session(server).and_then(|()| set_session_niceness(server, LOWEST_PRIORITY)).ok()?;
        Some(Self { process: server, before })
    }

    /// Gives it what it had before.
    ///
    /// # Errors
    /// Of kind `WouldBlock` where it is to be tried again: the kernel takes one such change in 0.1 s.
    pub fn restore(&self) -> io::Result<()> {
        set_session_niceness(self.process, self.before)
    }
}

/// As `yield_processor`, in its session, which is not its own alone: a renderer has that of its Chromium.
pub fn yield_in_session(process: i32) {
    renice_threads(process, NICENESS);
}

/// As `yield_to_all`, in its session.
pub fn yield_to_all_in_session(process: i32) {
    renice_threads(process, LOWEST_PRIORITY);
}

/// What the session of a Chromium gets of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionShare {
    /// It yields to nobody.
    #[default]
    Whole,
    /// About twice what a program gets: it has long pages beside short ones.
    Large,
    /// About a third of what a program gets: it has long pages.
    Little,
}

/// Sets what the session of a Chromium gets, which can be taken back.
///
/// # Errors
/// Of kind `WouldBlock` where it is to be tried again: the kernel takes one such change in 0.1 s.
pub fn set_session_share(process: i32, share: SessionShare) -> io::Result<()> {
    let wanted = match share {
        SessionShare::Whole => 0,
        SessionShare::Large => LARGE_NICENESS,
        SessionShare::Little => LITTLE_NICENESS,
    };
    if session_niceness(process).is_none_or(|now| now == wanted) {
        return Ok(());
    }
    refuse_own_session(process)?;
    set_session_niceness(process, wanted)
}

fn renice(process: i32, niceness: i32) {
    if !renice_threads(process, niceness) {
        return;
    }
    match yield_session_of(process, niceness) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => retry_session(process, niceness),
        Err(error) => tracing::debug!(%error, process, "a process' session does not yield the processor"),
        Ok(()) => {}
    }
}

/// Tries again, on another thread, as long as it is the same process.
fn retry_session(process: i32, niceness: i32) {
    let (Some(before), Ok(runtime)) = (ProcessStat::of(process), Handle::try_current()) else { return };
    let is_same = move || ProcessStat::of(process).is_some_and(|now| now.started == before.started);
    runtime.spawn_blocking(move || {
        for _ in 0..TRIES {
            std::thread::sleep(TRY_PAUSE);
            if !is_same() {
                return;
            }
            let tried = yield_session_of(process, niceness);
            if !tried.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                return;
            }
        }
    });
}

/// Makes the session of a process nice; `WouldBlock` where it is to be tried again: the kernel takes one such change in 0.1 s, of
/// all unprivileged users together.
///
/// Hazard: a child that was just started is in the service's own session until it has one of its own. Made nice, the service
/// would have no processor beside any busy process, and for good.
fn yield_session_of(process: i32, niceness: i32) -> io::Result<()> {
    refuse_own_session(process)?;
    yield_session(process, niceness)
}

fn refuse_own_session(process: i32) -> io::Result<()> {
    let session = ProcessStat::of(process).map(|stat| stat.session);
    let is_own = session == getsid(None).ok().map(nix::unistd::Pid::as_raw);
    if is_own { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
}

/// False where the process is gone.
fn renice_threads(process: i32, niceness: i32) -> bool {
    let threads = threads(process);
    for thread in threads.iter().copied().filter_map(Pid::from_raw) {
        // As root a thread that yields more would get processor time back.
        if getpriority_process(Some(thread)).is_ok_and(|now| now >= niceness) {
            continue;
        }
        if let Err(error) = setpriority_process(Some(thread), niceness) {
            tracing::debug!(%error, process, "a process does not yield the processor");
        }
    }
    !threads.is_empty()
}

/// As [`yield_processor`], for this process and all that it starts.
pub(super) fn yield_from_now_on() -> io::Result<()> {
    yield_process()?;
    for _ in 0..TRIES {
        match yield_session(nix::unistd::Pid::this().as_raw(), NICENESS) {
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
/// own, so a nice child alone would get as much processor as others. Kernels without autogroups do not have the file. One that
/// is nicer already stays so.
fn yield_session(process: i32, niceness: i32) -> io::Result<()> {
    if session_niceness(process).is_none_or(|now| now >= niceness) {
        return Ok(());
    }
    set_session_niceness(process, niceness)
}

/// `None` where the kernel has no autogroups, or the process is gone.
fn session_niceness(process: i32) -> Option<i32> {
    let group = fs::read_to_string(autogroup(process)).ok()?;
    group.trim().rsplit_once("nice ")?.1.parse().ok()
}

fn set_session_niceness(process: i32, niceness: i32) -> io::Result<()> {
    match fs::write(autogroup(process), niceness.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

fn autogroup(process: i32) -> String {
    format!("/proc/{process}/autogroup")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_yields_with_its_own_session_and_never_with_that_of_the_service() {
        let own = nix::unistd::Pid::this().as_raw();
        let before = session_niceness(own);
        // Without a job control of its own the shell leads no group, so `setsid` starts no further process.
        let mut child = tokio::process::Command::new("sh")
            .args(["-c", "sleep 0.2; exec setsid sleep 60"])
            .spawn()
            .unwrap();
        let process = i32::try_from(child.id().unwrap()).unwrap();
        yield_to_all(process);
        assert_eq!(session_niceness(own), before, "the child had no session of its own yet");
        let has_yielded = tokio::time::timeout(Duration::from_mins(1), async {
            // Kernels without autogroups show none.
            let expected = before.map(|_| LOWEST_PRIORITY);
            while session_niceness(process) != expected {
                tokio::time::sleep(TRY_PAUSE).await;
            }
        });
        has_yielded.await.unwrap();
        for (share, niceness) in [
            (SessionShare::Little, LITTLE_NICENESS),
            (SessionShare::Large, LARGE_NICENESS),
            (SessionShare::Whole, 0),
        ] {
            while set_session_share(process, share).is_err() {
                tokio::time::sleep(TRY_PAUSE).await;
            }
            assert_eq!(session_niceness(process), before.map(|_| niceness));
        }
        let other = if before == Some(0) { SessionShare::Little } else { SessionShare::Whole };
        assert!(set_session_share(own, other).is_err() || before.is_none(), "it is the service's");
        assert_eq!(session_niceness(own), before);
        child.kill().await.unwrap();
    }

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
