//! Connection slots of one page: how many requests and tunnels it has at once, and which tunnel is closed for a new one.
//!
//! A request frees its slot with its answer. Chromium keeps tunnels open for reuse after their last answer, so a page of
//! many hosts would fill all slots with idle tunnels and wait until its deadline: the tunnel that is idle for longest is
//! closed for each request that waits.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A tunnel is idle when its host sent last, and at least so long ago.
const IDLE: Duration = Duration::from_secs(1);
/// How long it usually takes until the slot of a closed tunnel is free.
const CLOSING: Duration = Duration::from_millis(100);

/// The slots of one page.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    free: Arc<Semaphore>,
    tunnels: Mutex<Vec<Weak<TunnelActivity>>>,
}

/// Activity of a tunnel: which side sent last, and when. Shows whether it is idle or awaits an answer.
#[derive(Debug)]
pub(super) struct TunnelActivity {
    last: Mutex<(bool, Instant)>,
    given_up: CancellationToken,
}

impl ConnectionSlots {
    pub(super) fn new(count: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(count)), tunnels: Mutex::default() }
    }

    /// Waits for a slot. For each request that waits the tunnel is closed that has been idle longest.
    pub(super) async fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        let mut slot = pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            tokio::select! {
                biased;
                slot = &mut slot => return slot.ok(),
                () = async { sleep_until(self.give_up_idlest()).await } => {}
            }
        }
    }

    /// A tunnel that begins, through which nothing was sent yet.
    pub(super) fn begin_tunnel(&self) -> Arc<TunnelActivity> {
        let last = Mutex::new((false, Instant::now()));
        let tunnel = Arc::new(TunnelActivity { last, given_up: CancellationToken::new() });
        let mut tunnels = self.tunnels.lock();
        tunnels.retain(|tunnel| tunnel.strong_count() > 0);
        tunnels.push(Arc::downgrade(&tunnel));
        tunnel
    }

    /// Gives at most one tunnel up, and says when to look again.
    fn give_up_idlest(&self) -> Instant {
        let now = Instant::now();
        let tunnels = self.tunnels.lock();
        let there = tunnels.iter().filter_map(Weak::upgrade).filter(|tunnel| !tunnel.given_up.is_cancelled());
        let answered = there.filter_map(|tunnel| Some((tunnel.answered_at()?, tunnel)));
        match answered.min_by_key(|(at, _)| *at) {
            Some((at, idlest)) if at + IDLE <= now => {
                idlest.given_up.cancel();
                now + CLOSING
            }
            Some((at, _)) => at + IDLE,
            None => now + IDLE,
        }
    }
}

impl TunnelActivity {
    /// Something was sent, by the host or the page.
    pub(super) fn note(&self, of_host: bool) {
        *self.last.lock() = (of_host, Instant::now());
    }

    /// Whether it was idle then. Not now: on a busy machine a deadline is noticed late.
    pub(super) fn was_idle_at(&self, then: Instant) -> bool {
        self.answered_at().is_some_and(|at| then.saturating_duration_since(at) >= IDLE)
    }

    /// Returns when another request needs its slot.
    pub(super) async fn given_up(&self) {
        self.given_up.cancelled().await;
    }

    /// When the host sent last; `None` where it has not answered the page.
    fn answered_at(&self) -> Option<Instant> {
        let (of_host, at) = *self.last.lock();
        of_host.then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tunnel_is_idle_when_its_host_sent_last_and_that_is_a_while_ago() {
        let tunnel = ConnectionSlots::new(1).begin_tunnel();
        for (of_host, quiet_ms, idle) in [(true, 0, false), (true, 1_500, true), (false, 1_500, false)] {
            tunnel.note(of_host);
            tokio::time::advance(Duration::from_millis(quiet_ms)).await;
            assert_eq!(tunnel.was_idle_at(Instant::now()), idle, "{of_host} {quiet_ms}");
        }
    }

    /// A tunnel that holds a slot until it is given up, and then notes its name.
    async fn hold(
        slots: &ConnectionSlots,
        name: &'static str,
        ended: &Mutex<Vec<&'static str>>,
        tunnel: Arc<TunnelActivity>,
    ) {
        let slot = slots.acquire().await.unwrap();
        tunnel.given_up().await;
        ended.lock().push(name);
        drop(slot);
    }

    #[tokio::test(start_paused = true)]
    async fn one_idle_tunnel_gives_way_for_each_request_that_waits() {
        let (slots, ended) = (ConnectionSlots::new(3), Mutex::default());
        let tunnels: [_; 3] = std::array::from_fn(|_| slots.begin_tunnel());
        let names = ["answers last", "awaits an answer", "answers first"];
        let held =
            names.iter().zip(&tunnels).map(|(name, tunnel)| hold(&slots, name, &ended, Arc::clone(tunnel)));
        let held = futures_util::future::join_all(held);
        let requests = async {
            for (tunnel, of_host) in [(2, true), (1, false), (0, true)] {
                tunnels[tunnel].note(of_host);
                tokio::time::advance(Duration::from_millis(300)).await;
            }
            let begun = Instant::now();
            let first = slots.acquire().await.unwrap();
            // 900 of its 1,000 ms were over.
            assert_eq!((ended.lock().clone(), begun.elapsed().as_millis()), (vec!["answers first"], 100));
            let (second, begun) = (slots.acquire().await.unwrap(), begun);
            assert_eq!(ended.lock().clone(), ["answers first", "answers last"]);
            assert_eq!(begun.elapsed().as_millis(), 700);
            let third = tokio::time::timeout(Duration::from_mins(1), slots.acquire()).await;
            assert!(third.is_err(), "a tunnel that awaits an answer keeps its slot");
            drop((first, second));
        };
        tokio::select! {
            biased;
            _ = held => unreachable!("one of them stays"),
            () = requests => {}
        }
    }
}
