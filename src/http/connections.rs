//! The connections held at once (`http.connection_limit`), shared between accounts and addresses.
//!
//! Hazard: whoever holds all connections (long-polls, slow uploads and downloads, or nothing at all) keeps everybody else out.
//! A connection counts for the account of its latest request; before the first request it counts for its client's address.
//! One holder may have all connections while nobody else comes. When the service is full, the holder of the most makes way: of
//! its 32 oldest connections the quietest is closed for the newcomer. The newcomer is refused if it would then hold more than
//! a third as many. So two end with three quarters and one quarter.
//!
//! A proxy in front has all connections. `X-Forwarded-For` tells its clients apart until their accounts are known. It counts
//! only from `http.trusted_proxies`, because anybody else could write any address.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Context;
use std::time::Instant;

use actix_web::HttpRequest;
use actix_web::dev::{Extensions, ServiceRequest};
use actix_web::http::header::HeaderMap;
use futures_util::task::AtomicWaker;
use parking_lot::Mutex;

use crate::config::{HttpConfig, as_count};
use crate::domain::ids::AccountId;
use crate::domain::network::{Network, site_of};
use crate::problem::{Code, Problem};
use crate::slots::{AccountShare, AccountSlots, Slot};
use crate::telemetry::Counters;

/// Files that the service opens besides connections: the index, objects, pipes to children.
const OWN_FILES: u64 = 1_024;
/// Connections beyond the limit that each worker accepts: to learn whose they are, or to answer that there are too many.
pub(super) const NEWCOMERS: usize = 256;
/// The largest holder keeps at least so many times as many connections as the newcomer has.
const TIMES: usize = 3;
/// So many of the largest holder's oldest connections are compared, and the quietest makes way. More would cost each newcomer
/// too long a look.
const CANDIDATES: usize = 32;
const FORWARDED_FOR: &str = "x-forwarded-for";

/// All connections.
pub struct Connections {
    limit: usize,
    trusted: Vec<Network>,
    state: Mutex<State>,
    since: Instant,
    /// By `outcome`: `refused`, `made_way`.
    full: Counters<1>,
    /// Uploads and downloads in progress.
    transfers: AccountSlots,
}

/// How many connections and transfers at once the limit of open files leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Connections at once.
    pub connections: usize,
    /// Uploads and downloads at once; each has a file besides its connection.
    pub transfers: usize,
}

/// One connection's place among them, free when it is dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    id: u64,
    holder: Mutex<Holder>,
    held: Arc<Held>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Address(IpAddr),
    Account(AccountId),
}

#[derive(Default)]
struct State {
    last_id: u64,
    holders: HashMap<Holder, BTreeMap<u64, Arc<Held>>>,
    count: usize,
}

/// What others know of a connection.
#[derive(Default)]
struct Held {
    /// Milliseconds after the start when it last received or sent.
    active_ms: AtomicU64,
    makes_way: AtomicBool,
    task: AtomicWaker,
}

impl FileLimits {
    /// For `connection_limit` (`http.connection_limit`) of each, where the system allows `open_files`. Of what the service's own
    /// files leave, connections get three quarters at most, and transfers the rest.
    pub fn new(connection_limit: u64, open_files: Option<u64>) -> Self {
        let files =
            open_files.map_or(usize::MAX, |files| as_count(files.saturating_sub(OWN_FILES).max(files / 2)));
        let configured = as_count(connection_limit);
        let connections = configured.min(AccountShare::default().of(files));
        Self { connections, transfers: configured.min(files - connections) }
    }

    /// So many open files leave `connection_limit` of each.
    pub fn wanted(connection_limit: u64) -> u64 {
        connection_limit.saturating_mul(2).saturating_add(OWN_FILES)
    }
}

impl Connections {
    /// None yet. `open_files` is the limit of the system.
    pub fn new(config: &HttpConfig, open_files: Option<u64>, full: Counters<1>) -> Self {
        let limits = FileLimits::new(config.connection_limit, open_files);
        Self {
            limit: limits.connections,
            transfers: AccountSlots::new(limits.transfers, AccountShare::default()),
            trusted: config.trusted_proxies.iter().filter_map(|text| Network::parse(text)).collect(),
            state: Mutex::new(State::default()),
            since: Instant::now(),
            full,
        }
    }

    /// How many are held at most.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// A place for a connection of this client; `None` when there is none, and nobody makes way.
    pub(super) fn admit(self: &Arc<Self>, client: IpAddr) -> Option<Arc<Place>> {
        let (holder, held) = (Holder::Address(site_of(client)), Arc::new(Held::default()));
        held.active_ms.store(self.now_ms(), Ordering::Relaxed);
        let mut state = self.state.lock();
        if state.count >= self.limit {
            let Some(other) = state.make_way(holder) else {
                self.full.of(["refused"]).inc();
                return None;
            };
            self.full.of(["made_way"]).inc();
            other.makes_way.store(true, Ordering::Release);
            other.task.wake();
        }
        state.last_id += 1;
        let id = state.last_id;
        state.insert(id, holder, Arc::clone(&held));
        Some(Arc::new(Place { connections: Arc::clone(self), id, holder: Mutex::new(holder), held }))
    }

    /// A place for an upload to or a download from the account, as long as it is in progress.
    ///
    /// # Errors
    /// `overloaded` when there are as many as there may be, or all but a quarter of them are the account's.
    pub(super) fn begin_transfer(&self, account: AccountId) -> Result<Slot, Problem> {
        self.transfers.try_acquire(account).ok_or_else(|| {
            let detail = "As many uploads and downloads are in progress as there may be, or all but a quarter of them for this \
                          account (http.connection_limit); let some end, and try again.";
            Problem::new(Code::Overloaded, detail)
        })
    }

    /// The client's address: that of the peer, or the one that trusted proxies name.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let is_trusted = |address: IpAddr| self.trusted.iter().any(|network| network.contains(address));
        if !is_trusted(peer) {
            return peer;
        }
        let lines = headers.get_all(FORWARDED_FOR).filter_map(|line| line.to_str().ok());
        let hops: Vec<&str> = lines.flat_map(|line| line.split(',')).collect();
        let mut client = peer;
        for address in hops.into_iter().rev().map_while(address_of) {
            client = address;
            if !is_trusted(address) {
                break;
            }
        }
        client
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The address of one entry, with or without a port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

impl Place {
    /// Puts the connection where requests find it.
    pub(super) fn note(self: &Arc<Self>, data: &mut Extensions) {
        data.insert(Arc::downgrade(self));
    }

    /// Whether the connection must be closed for another one. The task is woken when that happens later.
    pub(super) fn makes_way(&self, context: &Context<'_>) -> bool {
        self.held.task.register(context.waker());
        self.held.makes_way.load(Ordering::Acquire)
    }

    /// The connection received or sent something.
    pub(super) fn is_active(&self) {
        self.held.active_ms.store(self.connections.now_ms(), Ordering::Relaxed);
    }

    fn count_for(&self, holder: Holder) {
        let mut present = self.holder.lock();
        if *present == holder {
            return;
        }
        let mut state = self.connections.state.lock();
        if let Some(held) = state.remove(self.id, *present) {
            state.insert(self.id, holder, held);
        }
        *present = holder;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let holder = *self.holder.lock();
        self.connections.state.lock().remove(self.id, holder);
    }
}

/// Counts the connection of a request for the client that a trusted proxy names, if one does.
pub(super) fn count_for_client(request: &ServiceRequest) {
    let place = request.conn_data::<Weak<Place>>().and_then(Weak::upgrade);
    let (Some(place), Some(peer)) = (place, request.peer_addr()) else { return };
    let client = place.connections.client(peer.ip(), request.headers());
    if client != peer.ip() {
        place.count_for(Holder::Address(site_of(client)));
    }
}

/// Counts the connection of a request for the account that it is of.
pub(super) fn count_for_account(request: &HttpRequest, account: AccountId) {
    if let Some(place) = request.conn_data::<Weak<Place>>().and_then(Weak::upgrade) {
        place.count_for(Holder::Account(account));
    }
}

impl State {
    /// Takes out the connection that makes way for one more of `newcomer`, if one does.
    fn make_way(&mut self, newcomer: Holder) -> Option<Arc<Held>> {
        let own = self.holders.get(&newcomer).map_or(0, BTreeMap::len);
        let (largest, theirs) = self.holders.iter().max_by_key(|(_, theirs)| theirs.len())?;
        if theirs.len() <= TIMES * (own + 1) {
            return None;
        }
        let earliest = theirs.iter().take(CANDIDATES);
        let (id, _) = earliest.min_by_key(|(_, held)| held.active_ms.load(Ordering::Relaxed))?;
        let (id, largest) = (*id, *largest);
        self.remove(id, largest)
    }

    fn insert(&mut self, id: u64, holder: Holder, held: Arc<Held>) {
        self.holders.entry(holder).or_default().insert(id, held);
        self.count += 1;
    }

    fn remove(&mut self, id: u64, holder: Holder) -> Option<Arc<Held>> {
        let theirs = self.holders.get_mut(&holder)?;
        let held = theirs.remove(&id)?;
        if theirs.is_empty() {
            self.holders.remove(&holder);
        }
        self.count -= 1;
        Some(held)
    }
}

#[cfg(test)]
mod tests;
