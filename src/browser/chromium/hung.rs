//! Finds processes of a Chromium that hang: alive, and without an answer ever to come.
//!
//! Hazard: a process that hangs closes no connection, so every call that needs it waits for its deadline. Two signs are told
//! from an answer that is merely late:
//!
//! - A process is stopped (`SIGSTOP`, or a tracer's stop) at two looks one after the other, and has used no processor time in
//!   between. That is certain, of any process. A renderer is killed alone, which costs its own page. Without any other process
//!   the browser cannot work: without its network service pages would lose their files, and nobody would tell.
//! - The browser process answers no `Browser.getVersion`, for which it needs nobody else, and meanwhile all its threads sleep and
//!   use no processor time ([`SleepWatch`]). The network service has no such question; what it does without being stopped is
//!   left to the deadlines of pages.

use std::time::{Duration, Instant};

use memchr::memmem;

use super::memory::{RENDERER, command_line, descendants};
use crate::procfs::{SleepWatch, StatFields, stat_fields, thread_stat_fields, threads};

const NETWORK: &[u8] = b"--utility-sub-type=network.mojom.NetworkService";
const ZYGOTE: &[u8] = b"--type=zygote";

/// Looks within the time after which silence counts (`browser.hung_ms`).
const LOOKS: u32 = 5;
/// A look that comes later than this many pauses after the one before is late.
const LATE: u32 = 2;

/// What one look at the processes of a Chromium shows.
#[derive(Debug, Default)]
pub(in crate::browser) struct Look {
    /// Those that are stopped.
    stopped: Vec<Still>,
    /// The browser process, where all its threads sleep.
    asleep: Option<Still>,
}

/// A process that does nothing at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Still {
    process: i32,
    kind: ProcessKind,
    /// When it started, in ticks since boot: its number may be used again.
    started: u64,
    /// Its processor time, in ticks.
    used: u64,
}

/// A process that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) struct Hung {
    pub process: i32,
    pub kind: ProcessKind,
    /// It is stopped; otherwise it answers nothing.
    pub is_stopped: bool,
}

/// What a process of Chromium does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum ProcessKind {
    Browser,
    Network,
    Zygote,
    Renderer,
    Other,
}

/// What is remembered of one Chromium from look to look.
#[derive(Debug, Default)]
pub(in crate::browser) struct HungWatch {
    /// Those that were stopped.
    stopped: Vec<Still>,
    /// The browser process.
    sleep: SleepWatch<Still>,
    /// When it was asked the question that it has not answered.
    pub asked_at: Option<Instant>,
    /// A look is under way.
    pub is_looking: bool,
}

/// The pause between two looks.
pub(in crate::browser) fn pause(limit: Duration) -> Duration {
    limit / LOOKS
}

/// Looks at all processes of the Chromium `browser`. It blocks on files of `/proc`.
pub(in crate::browser) fn look(browser: i32) -> Look {
    let stopped = std::iter::once(browser).chain(descendants(browser)).filter_map(|process| {
        let stat = stat_fields(process).filter(|stat| matches!(stat.text(3), Some("T" | "t")))?;
        let kind = if process == browser { ProcessKind::Browser } else { ProcessKind::of(process) };
        Still::of((process, kind), &stat)
    });
    Look { stopped: stopped.collect(), asleep: asleep(browser) }
}

fn asleep(process: i32) -> Option<Still> {
    let is_asleep = |stat: StatFields| stat.text(3) == Some("S");
    let stat = stat_fields(process)?;
    let still = Still::of((process, ProcessKind::Browser), &stat).filter(|_| is_asleep(stat))?;
    // A thread that cannot be read has ended.
    let mut others = threads(process).into_iter().filter_map(|thread| thread_stat_fields(process, thread));
    others.all(is_asleep).then_some(still)
}

impl Still {
    fn of((process, kind): (i32, ProcessKind), stat: &StatFields) -> Option<Self> {
        let used = stat.number::<u64>(14)? + stat.number::<u64>(15)?;
        Some(Self { process, kind, started: stat.number(22)?, used })
    }
}

impl HungWatch {
    /// The processes that hang, by this look and those before. `began_at`: when it began.
    pub(in crate::browser) fn judge(&mut self, look: Look, began_at: Instant, limit: Duration) -> Vec<Hung> {
        let hung = |still: &Still, is_stopped| Hung { process: still.process, kind: still.kind, is_stopped };
        let stopped = look.stopped.iter().filter(|it| self.stopped.contains(it));
        let mut found: Vec<_> = stopped.map(|still| hung(still, true)).collect();
        self.stopped = look.stopped;
        let slept = self.sleep.look(look.asleep, began_at, pause(limit) * LATE);
        let silent = self.asked_at.map(|asked| began_at - asked);
        // It is asked once it is seen asleep, so not for as long as it sleeps.
        if slept.is_some_and(|slept| slept >= limit) && silent.is_some_and(|silent| silent >= limit / 2) {
            found.extend(look.asleep.map(|still| hung(&still, false)));
        }
        found
    }

    /// Whether the browser process is to be asked for an answer: it does nothing, and there is no question under way.
    pub(in crate::browser) fn wants_answer(&self) -> bool {
        self.asked_at.is_none() && self.sleep.is_asleep()
    }

    /// It has answered.
    pub(in crate::browser) fn answered(&mut self) {
        self.asked_at = None;
        self.sleep.count_anew();
    }
}

impl Hung {
    /// By what it is known to hang.
    pub(in crate::browser) fn sign(self) -> &'static str {
        if self.is_stopped { "is stopped" } else { "answers nothing and does nothing (browser.hung_ms)" }
    }
}

impl ProcessKind {
    /// The name in logs and metrics.
    pub(in crate::browser) fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Network => "network",
            Self::Zygote => "zygote",
            Self::Renderer => "renderer",
            Self::Other => "other",
        }
    }

    /// That of a process below the browser's.
    pub(super) fn of(process: i32) -> Self {
        let kinds = [(NETWORK, Self::Network), (ZYGOTE, Self::Zygote), (RENDERER, Self::Renderer)];
        let line = command_line(process);
        let known = kinds.into_iter().find(|(argument, _)| memmem::find(&line, argument).is_some());
        known.map_or(Self::Other, |(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(2);

    fn still(process: i32, used: u64) -> Still {
        Still { process, kind: ProcessKind::Browser, started: 1, used }
    }

    /// Looks at a browser process that sleeps unless it used the processor, each a pause after the one before.
    fn judged(looks: u32, watch: &mut HungWatch, used: impl Fn(u32) -> u64) -> Vec<Hung> {
        let begun = Instant::now();
        let look = |number| Look { stopped: Vec::new(), asleep: Some(still(1, used(number))) };
        (0..looks)
            .flat_map(|number| watch.judge(look(number), begun + pause(LIMIT) * number, LIMIT))
            .collect()
    }

    #[test]
    fn a_process_hangs_that_is_stopped_at_two_looks() {
        let (mut watch, begun) = (HungWatch::default(), Instant::now());
        let look = |used| Look { stopped: vec![still(i32::MAX, used)], asleep: None };
        assert_eq!(watch.judge(look(1), begun, LIMIT), []);
        assert_eq!(watch.judge(look(2), begun, LIMIT), [], "it has gone on in between");
        assert_eq!(watch.judge(Look::default(), begun, LIMIT), []);
        assert_eq!(watch.judge(look(2), begun, LIMIT), []);
        // A late look does not matter.
        let hung = watch.judge(look(2), begun + LIMIT * 10, LIMIT);
        assert_eq!(hung.iter().map(|it| (it.process, it.is_stopped)).collect::<Vec<_>>(), [(i32::MAX, true)]);
    }

    #[test]
    fn silence_counts_only_of_a_browser_that_does_nothing_and_was_asked() {
        let asked = || HungWatch { asked_at: Some(Instant::now()), ..HungWatch::default() };
        let hung = judged(LOOKS + 1, &mut asked(), |_| 7);
        assert_eq!(hung, [Hung { process: 1, kind: ProcessKind::Browser, is_stopped: false }]);
        assert_eq!(judged(LOOKS, &mut asked(), |_| 7), [], "not long enough");
        assert_eq!(judged(20, &mut asked(), u64::from), [], "it works");
        assert_eq!(judged(20, &mut HungWatch::default(), |_| 7), [], "nobody has asked it");
    }

    #[test]
    fn silence_counts_anew_after_a_look_that_came_late() {
        let begun = Instant::now();
        let mut watch = HungWatch { asked_at: Some(begun), ..HungWatch::default() };
        let look = || Look { stopped: Vec::new(), asleep: Some(still(1, 7)) };
        for number in 0..10 {
            let at = begun + pause(LIMIT) * (LATE + 1) * number;
            assert_eq!(watch.judge(look(), at, LIMIT), []);
        }
    }

    #[test]
    fn the_system_tells_who_is_stopped_and_who_sleeps() {
        use nix::sys::signal::{Signal, kill};
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = i32::try_from(sleeper.id()).unwrap();
        let until = |holds: fn(&Look) -> bool| {
            let begun = Instant::now();
            while !holds(&look(process)) {
                assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", look(process));
                std::thread::sleep(Duration::from_millis(1)); // poll
            }
        };
        until(|look| look.asleep.is_some() && look.stopped.is_empty());
        kill(nix::unistd::Pid::from_raw(process), Signal::SIGSTOP).unwrap();
        until(|look| look.asleep.is_none() && look.stopped.len() == 1);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(look(process).stopped, []);
    }
}
