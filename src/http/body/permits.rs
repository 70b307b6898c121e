//! The memory of request bodies (`http.bodies_limit_bytes`), shared fairly between accounts.
//!
//! Hazard: a body stays in memory until its request is answered. A client that sends all but the last byte of many bodies
//! would fill the memory, and everybody else's bodies would be refused. So one account holds at most all but a quarter of
//! what the others leave. If a body needs room and there is none, slow bodies are given up: those that come slower than
//! `http.body_floor_bytes_per_s`.
//!
//! A slow body is safe while nobody needs its memory, and from accounts that hold more than its own: a flood must not push out
//! the one body of a client with a slow network.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::config::{HttpConfig, as_count};
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};
use crate::slots::AccountShare;
use crate::telemetry::Gauge;

/// The first bytes of a body, so many of them, pass even if bodies of others fill the memory: small requests pass beside large
/// ones. They count for their account. All together they are bounded by the limit on connections.
const SMALL_BYTES: usize = 64 * 1024;

/// All bodies in memory.
pub struct Bodies {
    limit: usize,
    floor: u64,
    window: Duration,
    longest_s: u64,
    state: Mutex<State>,
    held: Gauge,
}

/// The memory that one body holds. Free again when it is dropped.
pub(in crate::http) struct BodyMemory {
    bodies: Arc<Bodies>,
    id: u64,
    given_up: Arc<Notify>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    bodies: HashMap<u64, Held>,
    accounts: HashMap<AccountId, usize>,
    all: usize,
}

/// One body; it is in the map until it is dropped or given up.
struct Held {
    account: AccountId,
    bytes: usize,
    /// How far what came is in time; `None` once the body is complete.
    in_time_until: Option<Instant>,
    given_up: Arc<Notify>,
}

impl Bodies {
    /// No body yet.
    pub fn new(config: &HttpConfig, held: Gauge) -> Self {
        Self {
            limit: as_count(config.bodies_limit_bytes),
            floor: config.body_floor_bytes_per_s,
            window: Duration::from_millis(config.body_floor_window_ms),
            longest_s: config.upload_timeout_s,
            state: Mutex::new(State::default()),
            held,
        }
    }

    /// A body that begins; it holds nothing yet.
    pub(in crate::http) fn begin(self: &Arc<Self>, account: AccountId) -> BodyMemory {
        let given_up = Arc::new(Notify::new());
        let in_time_until = Some(Instant::now() + self.window);
        let mut state = self.state.lock();
        state.last_id += 1;
        let id = state.last_id;
        let body = Held { account, bytes: 0, in_time_until, given_up: Arc::clone(&given_up) };
        state.bodies.insert(id, body);
        BodyMemory { bodies: Arc::clone(self), id, given_up }
    }

    fn take(&self, id: u64, more: usize) -> Result<(), Problem> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let Some(body) = state.bodies.get(&id) else { return Err(self.too_slow_for_others()) };
        let growth = Growth { id, account: body.account, bytes: body.bytes + more, more };
        let before = state.all;
        state.make_room(&growth, self.limit, now).map_err(|own| self.no_room(own))?;
        if let Some(body) = state.bodies.get_mut(&id) {
            body.bytes = growth.bytes;
            body.in_time_until = body.in_time_until.map(|until| self.in_time_until(until, more, now));
        }
        *state.accounts.entry(growth.account).or_default() += more;
        state.all += more;
        self.moved(before, state.all);
        Ok(())
    }

    /// Each byte that came pays for some time, a window at most. A body that lags further behind the floor is owed no more
    /// than a window either, so one that comes fast again is soon in time.
    fn in_time_until(&self, until: Instant, bytes: usize, now: Instant) -> Instant {
        let paid = Duration::from_nanos((bytes as u64).saturating_mul(1_000_000_000) / self.floor.max(1));
        let lag = now.checked_sub(self.window).unwrap_or(now);
        (until.max(lag) + paid.min(self.window * 2)).min(now + self.window)
    }

    /// The body is complete.
    fn complete(&self, id: u64) -> Result<(), Problem> {
        let mut state = self.state.lock();
        let body = state.bodies.get_mut(&id).ok_or_else(|| self.too_slow_for_others())?;
        body.in_time_until = None;
        Ok(())
    }

    fn remove(&self, id: u64) {
        let mut state = self.state.lock();
        let before = state.all;
        state.remove(id);
        self.moved(before, state.all);
    }

    /// The metric is moved, not set: the lock is the order of all changes, and a gauge has none.
    fn moved(&self, before: usize, after: usize) {
        let change = i64::try_from(after).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(i64::MAX);
        self.held.inc_by(change);
    }

    fn no_room(&self, others_of_account: usize) -> Problem {
        let limit = self.limit;
        let cause = if others_of_account > 0 {
            format!(
                "This account's other bodies hold {others_of_account} bytes, and one account gets at most all but a \
                 quarter of what others leave of {limit} bytes (http.bodies_limit_bytes); wait for answers before you \
                 send more"
            )
        } else {
            format!(
                "The bodies of other requests fill the {limit} bytes there are for them (http.bodies_limit_bytes); try \
                 again"
            )
        };
        let detail = format!(
            "{cause}, or upload data and template to the presigned addresses that /documents/init answers."
        );
        Problem::new(Code::Overloaded, detail)
    }

    fn too_slow(&self) -> Problem {
        let longest_s = self.longest_s;
        let detail = format!(
            "The body did not arrive within {longest_s} seconds (http.upload_timeout_s): it comes too slowly, or the \
             client sends fewer bytes than its Content-Length says."
        );
        Problem::new(Code::RequestTimeout, detail)
    }

    fn too_slow_for_others(&self) -> Problem {
        let (floor, window_ms) = (self.floor, self.window.as_millis());
        let detail = format!(
            "The body came slower than {floor} bytes a second (http.body_floor_bytes_per_s) over {window_ms} ms, and \
             another request needed its memory. Send it again without pauses, or upload data and template to the \
             presigned addresses that /documents/init answers."
        );
        Problem::new(Code::RequestTimeout, detail)
    }
}

impl BodyMemory {
    /// Waits for the body, which `arrival` receives and takes memory for.
    ///
    /// # Errors
    /// Its own; `request_timeout` if it does not end within `http.upload_timeout_s`, or is given up for another body.
    pub(in crate::http) async fn receive<T, E: From<Problem>>(
        &self,
        arrival: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let longest = Duration::from_secs(self.bodies.longest_s);
        let received = tokio::select! {
            received = timeout(longest, arrival) => received.map_err(|_| self.bodies.too_slow())??,
            () = self.given_up.notified() => return Err(self.bodies.too_slow_for_others().into()),
        };
        self.bodies.complete(self.id)?;
        Ok(received)
    }

    /// Takes memory for `bytes` more, that of slow bodies if there is no other.
    ///
    /// # Errors
    /// `overloaded` when there is no room, `request_timeout` when this body was given up.
    pub(in crate::http) fn take(&self, bytes: usize) -> Result<(), Problem> {
        self.bodies.take(self.id, bytes)
    }
}

impl Drop for BodyMemory {
    fn drop(&mut self) {
        self.bodies.remove(self.id);
    }
}

/// A body that is to hold more.
struct Growth {
    id: u64,
    account: AccountId,
    /// All that it will hold.
    bytes: usize,
    more: usize,
}

impl State {
    fn held(&self, account: AccountId) -> usize {
        self.accounts.get(&account).copied().unwrap_or(0)
    }

    /// Gives up slow bodies until there is room; none if that would not do. The error is what other bodies of the account hold.
    fn make_room(&mut self, growth: &Growth, limit: usize, now: Instant) -> Result<(), usize> {
        if self.has_room(growth, limit, (0, 0)) {
            return Ok(());
        }
        let late = self.late(growth, now);
        let (mut own, mut others) = (0, 0);
        for body in late.iter().filter_map(|id| self.bodies.get(id)) {
            *(if body.account == growth.account { &mut own } else { &mut others }) += body.bytes;
        }
        if !self.has_room(growth, limit, (own, others)) {
            return Err(self.held(growth.account) + growth.more - growth.bytes);
        }
        for id in late {
            if self.has_room(growth, limit, (0, 0)) {
                break;
            }
            if let Some(body) = self.remove(id) {
                body.given_up.notify_one();
            }
        }
        Ok(())
    }

    /// Whether there is room once so many bytes of the account and of others are free.
    fn has_room(&self, growth: &Growth, limit: usize, (own_freed, others_freed): (usize, usize)) -> bool {
        let held = self.held(growth.account);
        let of_others = if growth.bytes <= SMALL_BYTES { 0 } else { self.all - held - others_freed };
        held - own_freed + growth.more <= AccountShare::default().of(limit.saturating_sub(of_others))
    }

    /// Bodies below the floor that may be given up for this one, the slowest first.
    fn late(&self, growth: &Growth, now: Instant) -> Vec<u64> {
        let held = self.held(growth.account);
        let mut late: Vec<(Instant, u64)> = Vec::new();
        for (id, body) in &self.bodies {
            let Some(until) = body.in_time_until.filter(|until| *until < now && *id != growth.id) else {
                continue;
            };
            if body.bytes > 0 && (body.account == growth.account || self.held(body.account) >= held) {
                late.push((until, *id));
            }
        }
        late.sort_unstable();
        late.into_iter().map(|(_, id)| id).collect()
    }

    fn remove(&mut self, id: u64) -> Option<Held> {
        let body = self.bodies.remove(&id)?;
        self.all -= body.bytes;
        if let Some(held) = self.accounts.get_mut(&body.account) {
            *held -= body.bytes;
            if *held == 0 {
                self.accounts.remove(&body.account);
            }
        }
        Some(body)
    }
}

#[cfg(test)]
mod tests;
