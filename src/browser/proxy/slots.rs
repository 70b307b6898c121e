//! Connection slots of one page: how many requests and tunnels it has at once, and which tunnel is closed for a new one.
//!
//! A request frees its slot with its answer. Chromium keeps tunnels open for reuse after their last answer, so a page of
//! many hosts would fill all slots with idle tunnels and wait until its deadline: the tunnel that is idle for longest is
//! closed for each request that waits.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A tunnel whose host had the last word so long ago is idle: nobody misses it.
const IDLE: Duration = Duration::from_secs(1);
/// Until the place of a tunnel that gives way is free, usually.
const LEAVING: Duration = Duration::from_millis(100);

/// The places of one page.
#[derive(Debug)]
pub(in crate::browser) struct ConnectionSlots {
    free: Arc<Semaphore>,
    talks: Mutex<Vec<Weak<TunnelActivity>>>,
}

/// Activity of a tunnel: which side sent last, and when. Tells an idle one from one that awaits its answer.
#[derive(Debug)]
pub(in crate::browser) struct TunnelActivity {
    last: Mutex<(bool, Instant)>,
    given_up: CancellationToken,
}

impl ConnectionSlots {
    pub(in crate::browser) fn new(count: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(count)), talks: Mutex::default() }
    }

    /// Waits for a place. For each that waits the tunnel gives way that has been idle longest.
    pub(in crate::browser) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        let mut place = pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            tokio::select! {
                biased;
                place = &mut place => return place.ok(),
                () = async { sleep_until(self.give_up_idlest()).await } => {}
            }
        }
    }

    /// A tunnel that begins, of which nobody has said anything yet.
    pub(in crate::browser) fn begin_tunnel(&self) -> Arc<TunnelActivity> {
        let last = Mutex::new((false, Instant::now()));
        let talk = Arc::new(TunnelActivity { last, given_up: CancellationToken::new() });
        let mut talks = self.talks.lock().unwrap_or_else(PoisonError::into_inner);
        talks.retain(|talk| talk.strong_count() > 0);
        talks.push(Arc::downgrade(&talk));
        talk
    }

    /// Gives at most one tunnel up, and says when to look again.
    fn give_up_idlest(&self) -> Instant {
        let now = Instant::now();
        let talks = self.talks.lock().unwrap_or_else(PoisonError::into_inner);
        let there = talks.iter().filter_map(Weak::upgrade).filter(|talk| !talk.given_up.is_cancelled());
        let answered = there.filter_map(|talk| Some((talk.answered_at()?, talk)));
        match answered.min_by_key(|(at, _)| *at) {
            Some((at, idlest)) if at + IDLE <= now => {
                idlest.given_up.cancel();
                now + LEAVING
            }
            Some((at, _)) => at + IDLE,
            None => now + IDLE,
        }
    }
}

impl TunnelActivity {
    /// Something was said, by the host or the page.
    pub(in crate::browser) fn note(&self, of_host: bool) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (of_host, Instant::now());
    }

    pub(in crate::browser) fn is_idle(&self) -> bool {
        self.answered_at().is_some_and(|at| at.elapsed() >= IDLE)
    }

    /// Comes when somebody else needs its place.
    pub(in crate::browser) async fn given_up(&self) {
        self.given_up.cancelled().await;
    }

    /// When the host spoke last; `None` where it has not answered the page.
    fn answered_at(&self) -> Option<Instant> {
        let (of_host, at) = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        of_host.then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tunnel_is_idle_when_its_host_had_the_last_word_for_a_while() {
        let talk = ConnectionSlots::new(1).begin_tunnel();
        for (of_host, quiet_ms, idle) in [(true, 0, false), (true, 1_500, true), (false, 1_500, false)] {
            talk.note(of_host);
            tokio::time::advance(Duration::from_millis(quiet_ms)).await;
            assert_eq!(talk.is_idle(), idle, "{of_host} {quiet_ms}");
        }
    }

    /// A tunnel that holds a place until it is given up, and then says its name.
    async fn hold(
        places: &ConnectionSlots,
        name: &'static str,
        ended: &Mutex<Vec<&'static str>>,
        talk: Arc<TunnelActivity>,
    ) {
        let place = places.take().await.unwrap();
        talk.given_up().await;
        ended.lock().unwrap().push(name);
        drop(place);
    }

    #[tokio::test(start_paused = true)]
    async fn one_gives_way_for_each_that_waits_and_never_one_that_awaits_an_answer() {
        let (places, ended) = (ConnectionSlots::new(3), Mutex::default());
        let talks: [_; 3] = std::array::from_fn(|_| places.begin_tunnel());
        let names = ["answers last", "awaits an answer", "answers first"];
        let held = names.iter().zip(&talks).map(|(name, talk)| hold(&places, name, &ended, Arc::clone(talk)));
        let held = futures_util::future::join_all(held);
        let scene = async {
            for (talk, of_host) in [(2, true), (1, false), (0, true)] {
                talks[talk].note(of_host);
                tokio::time::advance(Duration::from_millis(300)).await;
            }
            let begun = Instant::now();
            let first = places.take().await.unwrap();
            // 900 of its 1,000 ms were over.
            assert_eq!(
                (ended.lock().unwrap().clone(), begun.elapsed().as_millis()),
                (vec!["answers first"], 100)
            );
            let (second, begun) = (places.take().await.unwrap(), begun);
            assert_eq!(ended.lock().unwrap().clone(), ["answers first", "answers last"]);
            assert_eq!(begun.elapsed().as_millis(), 700);
            let third = tokio::time::timeout(Duration::from_mins(1), places.take()).await;
            assert!(third.is_err(), "who awaits an answer keeps its place");
            drop((first, second));
        };
        tokio::select! {
            biased;
            _ = held => unreachable!("one of them stays"),
            () = scene => {}
        }
    }
}
