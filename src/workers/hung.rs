//! Finds a child that hangs, and says whether a child was killed from outside: neither is its document's doing.
//!
//! Hazard: a stopped child keeps its slot and its job until the deadline, and then the document would be blamed. By `/proc` it is
//! found at the second look at which it, or what it has started, is stopped and has used no processor time in between. A child
//! whose threads all sleep and use no processor time ([`SleepWatch`]) waits for something that does not come: these programs have
//! nothing to wait for but what the service gives them, and meanwhile their [`WorkClock`](super::work_clock::WorkClock) is paused.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::procfs::{SleepWatch, children, thread_stat_fields, threads};

/// `SIGHUP`, `SIGINT`, `SIGKILL`, `SIGTERM`: no child of ours raises these itself, and no limit of the system ends one by them. A
/// full heap ends Chromium's renderer by `SIGTRAP` (tried), others by `SIGABRT` or a fault; the kernel's memory killer sends
/// `SIGKILL`.
const SIGNALS_FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);
/// A look that comes later than this after the one before is late.
const LATE: Duration = Duration::from_millis(1_500);
/// Most processes that are looked at; more are an excess, which the watch of its limits finds.
const MOST: usize = 1_000;

/// How a child hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hung {
    /// It, or what it has started, is stopped.
    #[error("was stopped from outside")]
    Stopped,
    /// All of it sleeps for so long, and uses no processor time.
    #[error("did nothing for {} ms (workers.hung_ms)", .0.as_millis())]
    Asleep(Duration),
}

/// Which of its processes are looked at for a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All.
    Whole,
    /// The first alone: a server finds by itself that a document's child is stopped, and goes on.
    Leader,
}

/// A child was killed, by somebody else than itself and than the limits of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("was killed from outside ({0})")]
pub struct KilledFromOutside(ExitStatus);

impl KilledFromOutside {
    /// Whether a child that ended like this was.
    pub(super) fn of(status: ExitStatus) -> Option<Self> {
        status.signal().is_some_and(is_from_outside).then_some(Self(status))
    }
}

/// Whether a signal that ended a process came from somebody else.
pub fn is_from_outside(signal: i32) -> bool {
    SIGNALS_FROM_OUTSIDE.contains(&signal)
}

/// Completes when `leader` hangs, with all that it started; otherwise never. `limit`: how long it may sleep. While `is_paused` it
/// waits for the service.
pub(super) async fn hung(leader: i32, scope: Scope, limit: Duration, is_paused: impl Fn() -> bool) -> Hung {
    let mut watch = Watch::default();
    loop {
        sleep(PAUSE).await;
        let began_at = Instant::now();
        let Ok(look) = spawn_blocking(move || Look::at(leader, scope)).await else { continue };
        if is_paused() {
            watch = Watch::default();
        } else if let Some(hung) = watch.judge(look, began_at, limit) {
            return hung;
        }
    }
}

/// What is remembered from look to look.
#[derive(Default)]
struct Watch {
    /// Those that were stopped.
    stopped: Vec<Task>,
    sleep: SleepWatch<Vec<Task>>,
}

/// What one look shows.
#[derive(Debug, Default)]
struct Look {
    stopped: Vec<Task>,
    /// All threads, where each of them sleeps or is stopped.
    asleep: Option<Vec<Task>>,
}

/// A thread that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    thread: i32,
    /// When it started, in ticks since boot: its number may be used again.
    started: u64,
    /// Its processor time, in ticks.
    used: u64,
}

impl Watch {
    fn judge(&mut self, look: Look, began_at: Instant, limit: Duration) -> Option<Hung> {
        let is_stopped = look.stopped.iter().any(|task| self.stopped.contains(task));
        self.stopped = look.stopped;
        let slept = self.sleep.look(look.asleep, began_at, LATE);
        let is_asleep = slept.is_some_and(|slept| slept >= limit);
        is_stopped.then_some(Hung::Stopped).or(is_asleep.then_some(Hung::Asleep(limit)))
    }
}

impl Look {
    /// Blocks on files of `/proc`.
    fn at(leader: i32, scope: Scope) -> Self {
        let (mut look, mut asleep) = (Self::default(), Some(Vec::new()));
        let (mut pending, mut count) = (vec![leader], 0);
        while let Some(process) = pending.pop().filter(|_| count < MOST) {
            count += 1;
            for thread in threads(process) {
                let Some((state, task)) = Task::read(process, thread) else { continue };
                let is_stopped = matches!(state, b'T' | b't');
                if is_stopped && (scope == Scope::Whole || process == leader) {
                    look.stopped.push(task);
                }
                match &mut asleep {
                    Some(tasks) if is_stopped || state == b'S' => tasks.push(task),
                    // One that has ended does nothing, and never will.
                    _ if state == b'Z' => {}
                    _ => asleep = None,
                }
            }
            pending.extend(children(process));
        }
        look.asleep = asleep.filter(|tasks| !tasks.is_empty());
        look
    }
}

impl Task {
    /// A thread and its state; `None` if it is gone.
    fn read(process: i32, thread: i32) -> Option<(u8, Self)> {
        let stat = thread_stat_fields(process, thread)?;
        let state = *stat.text(3)?.as_bytes().first()?;
        let used = stat.number::<u64>(14)? + stat.number::<u64>(15)?;
        Some((state, Self { thread, started: stat.number(22)?, used }))
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    fn shell(script: &str) -> (Child, i32) {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let process = i32::try_from(child.id()).unwrap();
        (child, process)
    }

    #[tokio::test]
    async fn what_is_stopped_or_sleeps_hangs_and_what_works_or_waits_for_the_service_does_not() {
        let limit = PAUSE * 3;
        let (mut sleeper, sleeps) = shell("exec sleep 60");
        let (mut stopped, stops) = shell("while :; do :; done");
        let (mut worker, works) = shell("while :; do :; done");
        kill(Pid::from_raw(stops), Signal::SIGSTOP).unwrap();
        let found = tokio::join!(
            hung(sleeps, Scope::Whole, limit, || false),
            hung(stops, Scope::Leader, Duration::MAX, || false),
        );
        assert_eq!(found, (Hung::Asleep(limit), Hung::Stopped));
        let not = PAUSE * 4;
        let (working, waiting) = tokio::join!(
            tokio::time::timeout(not, hung(works, Scope::Whole, limit, || false)),
            tokio::time::timeout(not, hung(sleeps, Scope::Whole, limit, || true)),
        );
        assert!(working.is_err() && waiting.is_err());
        for child in [&mut sleeper, &mut stopped, &mut worker] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_sleep_counts_anew_after_a_look_that_came_late() {
        let task = |used| Task { thread: 1, started: 1, used };
        let look = |used| Look { stopped: Vec::new(), asleep: Some(vec![task(used)]) };
        let (begun, limit) = (Instant::now(), PAUSE * 4);
        let judged = |pause: Duration, used: fn(u32) -> u64| {
            let mut watch = Watch::default();
            (0..20).find_map(|number| watch.judge(look(used(number)), begun + pause * number, limit))
        };
        assert_eq!(judged(PAUSE, |_| 7), Some(Hung::Asleep(limit)));
        assert_eq!(judged(PAUSE, u64::from), None, "it works");
        assert_eq!(judged(LATE * 2, |_| 7), None);
    }
}
