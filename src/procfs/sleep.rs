//! For how long a process sleeps, by looks at it again and again.
//!
//! On a busy machine a thread that has work is not asleep: it waits for the processor. A look that comes late says that this
//! machine, or this service, is what is slow: then the sleep counts anew.

use std::time::{Duration, Instant};

/// What is remembered from look to look. `T` says what sleeps, and how much processor time it has used.
#[derive(Debug)]
pub struct SleepWatch<T> {
    before: Option<T>,
    looked_at: Option<Instant>,
    since: Option<Instant>,
}

impl<T: PartialEq> SleepWatch<T> {
    /// How long it has slept without using the processor; `None` where it is awake. The look began at `began_at`, and is late if
    /// the one before began more than `late` earlier.
    pub fn look(&mut self, asleep: Option<T>, began_at: Instant, late: Duration) -> Option<Duration> {
        let is_late = self.looked_at.is_none_or(|before| began_at - before > late);
        let goes_on = !is_late && asleep == self.before;
        self.since = asleep.as_ref().map(|_| self.since.filter(|_| goes_on).unwrap_or(began_at));
        self.before = asleep;
        self.looked_at = Some(began_at);
        self.since.map(|since| began_at - since)
    }

    /// Whether it slept at the latest look.
    pub fn is_asleep(&self) -> bool {
        self.before.is_some()
    }

    /// It gave a sign of life: its sleep counts anew.
    pub fn count_anew(&mut self) {
        self.since = None;
    }
}

impl<T> Default for SleepWatch<T> {
    fn default() -> Self {
        Self { before: None, looked_at: None, since: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(400);

    /// How long it has slept at the last of ten looks. It has used so much of the processor at each of them.
    fn slept(pause: Duration, used: fn(u32) -> Option<u32>) -> Option<Duration> {
        let (mut watch, begun) = (SleepWatch::default(), Instant::now());
        (0..10).map(|number| watch.look(used(number), begun + pause * number, PAUSE * 2)).last().flatten()
    }

    #[test]
    fn a_sleep_lasts_until_it_works_or_a_look_comes_late() {
        assert_eq!(slept(PAUSE, |_| Some(7)), Some(PAUSE * 9));
        assert_eq!(slept(PAUSE, |number| Some(number / 6)), Some(PAUSE * 3), "it has worked in between");
        assert_eq!(slept(PAUSE, |number| (number < 9).then_some(7)), None, "it is awake");
        assert_eq!(slept(PAUSE * 3, |_| Some(7)), Some(Duration::ZERO), "each look is late");
    }

    #[test]
    fn a_sign_of_life_ends_a_sleep() {
        let (mut watch, begun) = (SleepWatch::default(), Instant::now());
        watch.look(Some(7), begun, PAUSE);
        watch.count_anew();
        assert!(watch.is_asleep());
        assert_eq!(watch.look(Some(7), begun + PAUSE, PAUSE), Some(Duration::ZERO));
        assert_eq!(watch.look(Some(7), begun + PAUSE * 2, PAUSE), Some(PAUSE));
    }
}
