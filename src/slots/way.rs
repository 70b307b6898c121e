//! How a long job makes way for jobs of other accounts.
//!
//! Hazard: a job may hold its tab, its slot of an engine and its turn for half a minute. Two accounts with such jobs hold all
//! of a kind between them, and a third account's job of a second waits that long. So a job that has held something for a while
//! makes way when another account waits: what it holds is no longer counted as taken, and its processes yield the processor to
//! all others. It goes on beside the slots, as many jobs as there are overflow slots. It still counts for its account's share,
//! so an account does not get more by having long jobs.
//!
//! Whoever finds an account waiting (slots, the queue, the browsers' pool) asks a job of the account that holds the most:
//! [`longest`].

use std::cmp::Reverse;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::domain::ids::AccountId;

/// How often those that wait look for a job that makes way.
pub const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// How one job makes way. Clones are of the same job.
#[derive(Clone)]
pub struct Way(Arc<Inner>);

/// What a job holds, and gives up when it makes way.
pub trait MakesWay: Send + Sync {
    /// Gives it up: it is counted as free, or yields to all others. May be called again, and never while a lock of the holder's is held.
    fn make_way(&self);
}

struct Inner {
    account: AccountId,
    /// How long it has to hold something before it makes way with that; `None`: it never does.
    after: Option<Duration>,
    state: Mutex<State>,
    /// Told once, when the job has made way.
    report: Option<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct State {
    has_made_way: bool,
    held: Vec<Weak<dyn MakesWay>>,
}

impl Way {
    /// Of a job of `account` that makes way once it has held something for `after`; `report` is called when it does.
    pub fn new(account: AccountId, after: Duration, report: impl Fn() + Send + Sync + 'static) -> Self {
        Self::with(account, Some(after), Some(Box::new(report)))
    }

    /// Of work that never makes way.
    pub fn never(account: AccountId) -> Self {
        Self::with(account, None, None)
    }

    fn with(
        account: AccountId,
        after: Option<Duration>,
        report: Option<Box<dyn Fn() + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner { account, after, state: Mutex::default(), report }))
    }

    /// The job's account.
    pub fn account(&self) -> AccountId {
        self.0.account
    }

    /// The job holds this from now on, until it is dropped. If the job has made way already, it is given up at once.
    pub fn hold(&self, held: &Arc<impl MakesWay + 'static>) {
        let has_made_way = {
            let mut state = self.0.state.lock();
            state.held.retain(|held| held.strong_count() > 0);
            if !state.has_made_way {
                let held: Weak<dyn MakesWay> = Arc::<_>::downgrade(held) as Weak<dyn MakesWay>;
                state.held.push(held);
            }
            state.has_made_way
        };
        if has_made_way {
            held.make_way();
        }
    }

    /// Whether it makes way with what it has held since then.
    fn may_make_way(&self, since: Instant) -> bool {
        self.0.after.is_some_and(|after| since.elapsed() >= after) && !self.has_made_way()
    }

    /// Whether it holds nothing with which it would make way: it waits for its first slot or tab.
    pub fn holds_nothing(&self) -> bool {
        self.0.state.lock().held.iter().all(|held| held.strong_count() == 0)
    }

    /// Whether it has made way.
    pub fn has_made_way(&self) -> bool {
        self.0.state.lock().has_made_way
    }

    /// The job makes way: it gives up all that it holds, now and later.
    pub fn make(&self) {
        let held = {
            let mut state = self.0.state.lock();
            if std::mem::replace(&mut state.has_made_way, true) {
                return;
            }
            std::mem::take(&mut state.held)
        };
        tracing::debug!(account.id = %self.0.account, "a long job makes way for other accounts");
        held.iter().filter_map(Weak::upgrade).for_each(|held| held.make_way());
        if let Some(report) = &self.0.report {
            report();
        }
    }

    /// Whether both are of the same job.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Which job makes way for the account that waits. `holders` are all jobs that hold something, each since when.
///
/// It is one of an account that holds more than the waiting one, and has held something for long enough. Of several accounts it
/// is of the one that holds the most, and of its jobs the one that has held the longest.
pub fn longest<'a>(waiting: AccountId, holders: impl Iterator<Item = (Instant, &'a Way)>) -> Option<&'a Way> {
    let holders: Vec<_> = holders.collect();
    let count = |account: AccountId| holders.iter().filter(|(_, way)| way.account() == account).count();
    let own = count(waiting);
    let others = holders.iter().filter(|(_, way)| way.account() != waiting && count(way.account()) > own);
    let long = others.filter(|(since, way)| way.may_make_way(*since));
    long.max_by_key(|(since, way)| (count(way.account()), Reverse(*since))).map(|(_, way)| *way)
}

impl fmt::Debug for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Way").field("account", &self.0.account).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[derive(Default)]
    struct Held(AtomicUsize);

    impl MakesWay for Held {
        fn make_way(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Held {
        fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_job_holds_is_given_up_once_and_what_comes_later_at_once() {
        let (held, gone, later) =
            (Arc::new(Held::default()), Arc::new(Held::default()), Arc::new(Held::default()));
        let reports = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&reports);
        let way = Way::new(AccountId::generate(), SECOND, move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        way.hold(&held);
        way.hold(&gone);
        drop(gone);
        way.make();
        way.make();
        way.hold(&later);
        assert_eq!((held.count(), later.count(), reports.load(Ordering::Relaxed)), (1, 1, 1));
        assert!(way.has_made_way());
    }

    #[tokio::test(start_paused = true)]
    async fn the_account_that_holds_most_makes_way_with_what_it_has_held_longest() {
        let (waiting, other, many) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
        let way = |account| Way::new(account, SECOND, || ());
        let (never, single) = (Way::never(many), way(other));
        let begun = Instant::now();
        tokio::time::advance(SECOND / 2).await;
        let (early, late) = (way(many), way(many));
        let (then, later) = (Instant::now(), Instant::now() + SECOND / 4);
        let all = [(begun, &never), (begun, &single), (later, &late), (then, &early)];
        let asked = || longest(waiting, all.into_iter());
        assert!(asked().is_none(), "none has held for a second");
        tokio::time::advance(SECOND / 2).await;
        assert!(asked().is_some_and(|way| way.is(&single)), "the others have not held for long");
        tokio::time::advance(SECOND).await;
        assert!(asked().is_some_and(|way| way.is(&early)));
        early.make();
        assert!(asked().is_some_and(|way| way.is(&late)));
        let own = [way(waiting), way(waiting), way(waiting)];
        let equal = all.into_iter().chain(own.iter().map(|way| (begun, way)));
        assert!(longest(waiting, equal).is_none(), "nobody holds more than the one that waits");
    }
}
