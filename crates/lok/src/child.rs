//! One child for one document: its start, its bounds, its end.

use std::io;
use std::os::fd::AsFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};
use rustix::process::{Pid, PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};

use crate::stall::{StallWatch, await_sleep};

/// The code of a child whose work never began, or went astray.
const ASTRAY: u8 = 125;

/// What a child may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Until it has ended; then it is killed.
    pub deadline: Duration,
    /// Processor time.
    pub processor_s: u64,
    /// Memory beside what this process holds already.
    pub memory_bytes: u64,
    /// Longest file that it writes.
    pub file_bytes: u64,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, its work done.
    Done,
    /// By itself, with this code of its work's.
    Failed(u8),
    /// By this signal.
    Signal(i32),
    /// It was killed, for it was late.
    Late,
    /// It was killed, for all its threads slept: it inherited a lock that nobody releases, which is not the document's doing
    /// (`stall.rs`).
    Stalled,
}

/// A child that has ended, and what it took.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// Processor time, all its threads together.
    pub processor: Duration,
    /// The most memory that it held, that of this process included, which it began with.
    pub peak_bytes: u64,
}

/// Forks, has `work` done in the child, and waits.
pub fn run(bounds: &Bounds, work: impl FnOnce() -> Result<(), u8>) -> io::Result<Ended> {
    let begun = Instant::now();
    let parent = getpid();
    let data_bytes = data_bytes()?;
    await_sleep();
    // SAFETY: LibreOffice asks for work where this thread holds no lock of its own. What a child inherits locked is
    // another thread's, and a child that waits for that one is found to stand still.
    let forked = unsafe { libc::fork() };
    if forked == 0 {
        let ready = die_with(parent).and_then(|()| limit(bounds, data_bytes));
        let work = AssertUnwindSafe(|| ready.map_err(|_| ASTRAY).and_then(|()| work()));
        let code = catch_unwind(work).unwrap_or(Err(ASTRAY)).err().unwrap_or(0);
        leave(code);
    }
    let child = Pid::from_raw(forked).filter(|_| forked > 0).ok_or_else(io::Error::last_os_error)?;
    let killed = wait_until(child, begun, bounds.deadline);
    if killed.is_err() {
        // Nobody would keep its deadline. It is there until it is reaped, so that the number is its own.
        let _ = kill_process(child, rustix::process::Signal::KILL);
    }
    let ended = reap(child)?;
    Ok(Ended { end: killed?.unwrap_or(ended.end), ..ended })
}

/// Ends this process at once: nothing is dropped, and nothing of LibreOffice's is taken down.
pub fn leave(code: u8) -> ! {
    // SAFETY: it takes any number and does not return.
    unsafe { libc::_exit(i32::from(code)) }
}

/// It dies with its parent, which may have died before.
fn die_with(parent: nix::unistd::Pid) -> Result<(), Errno> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH) }
}

fn limit(bounds: &Bounds, data_bytes: u64) -> Result<(), Errno> {
    let wanted = [
        (Resource::RLIMIT_CPU, bounds.processor_s),
        // Not the address space: of that LibreOffice reserves more than it ever touches.
        (Resource::RLIMIT_DATA, data_bytes.saturating_add(bounds.memory_bytes)),
        (Resource::RLIMIT_FSIZE, bounds.file_bytes),
        (Resource::RLIMIT_CORE, 0),
    ];
    for (resource, value) in wanted {
        let (_, most) = getrlimit(resource)?;
        // At the soft limit comes SIGXCPU, from which the limit is recognised; at the hard one SIGKILL, which says nothing. So
        // the hard limit is a second later.
        let hard = if resource == Resource::RLIMIT_CPU { value.saturating_add(1) } else { value };
        setrlimit(resource, value.min(most), hard.min(most))?;
    }
    Ok(())
}

/// Waits until the child has ended; one that is late or stands still is killed. Answers why it was.
fn wait_until(child: Pid, begun: Instant, deadline: Duration) -> io::Result<Option<End>> {
    let file = pidfd_open(child, PidfdFlags::empty())?;
    let mut stall_watch = StallWatch::of(child.as_raw_nonzero().get());
    loop {
        let left = deadline.saturating_sub(begun.elapsed()).min(StallWatch::PAUSE);
        // Rounded up, so that it never asks again without waiting.
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        let timeout = PollTimeout::try_from(left_ms).unwrap_or(PollTimeout::MAX);
        let mut files = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut files, timeout) {
            Ok(0) => {
                let is_late = begun.elapsed() >= deadline;
                if is_late || stall_watch.is_reached() {
                    pidfd_send_signal(&file, rustix::process::Signal::KILL)?;
                    return Ok(Some(if is_late { End::Late } else { End::Stalled }));
                }
            }
            Err(Errno::EINTR) => {}
            Ok(_) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn reap(child: Pid) -> io::Result<Ended> {
    let mut status = 0;
    // SAFETY: all its fields are numbers, for which nought is one.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: both are ours, of the types that it writes.
    while unsafe { libc::wait4(child.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let end = if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        match u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(ASTRAY) {
            0 => End::Done,
            code => End::Failed(code),
        }
    };
    let time = |value: libc::timeval| {
        let part = Duration::from_micros(u64::try_from(value.tv_usec).unwrap_or_default());
        Duration::from_secs(u64::try_from(value.tv_sec).unwrap_or_default()) + part
    };
    Ok(Ended {
        end,
        processor: time(usage.ru_utime) + time(usage.ru_stime),
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or_default() << 10,
    })
}

/// What this process has mapped to write to, which a child's limit counts as its own.
fn data_bytes() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes << 10).ok_or_else(|| io::Error::other("/proc/self/status is no such"))
}
