//! What something costs, by the processor's time of this thread: what else the machine does is not counted, and how fast it is hardly matters.

use std::time::Duration;

/// How much more four times as many may cost. What is linear costs four times as much, what is quadratic sixteen times.
const MOST: u32 = 10;

/// What was quadratic took minutes, and what is linear takes a second or two.
const MOMENT: Duration = Duration::from_mins(1);

/// Does work on some and on four times as many, and compares what both cost.
pub fn assert_linear(few: usize, work: impl Fn(usize)) {
    let cost = |count: usize| cost(|| work(count)).0;
    // What is done for the first time costs more.
    let small = cost(few).min(cost(few));
    let large = cost(4 * few);
    assert!(large < small * MOST, "{few} cost {small:?}, four times as many {large:?}");
}

/// Does what must not take long, though neither how much it is nor what it costs can be compared with less of it.
pub fn in_a_moment<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (cost, done) = cost(work);
    assert!(cost < MOMENT, "{what} cost {cost:?}");
    done
}

fn cost<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = time();
    let done = work();
    (time().saturating_sub(begin), done)
}

/// The processor's time that this thread has had (Linux, `Documentation/scheduler/sched-stats.rst`).
fn time() -> Duration {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    let own = all.split(' ').next().and_then(|own| own.parse().ok());
    Duration::from_nanos(own.expect("a number"))
}
