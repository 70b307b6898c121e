//! Where a pool's children live that are foreign to us or work for everybody: in a folder and, as root, as a user
//! of their own, watched as a program is.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::group;
use super::program::{Bounds, Excess, Profile, Programs, excess};
use super::scratch::Scratch;
use super::seats::Seats;
use super::spec::ChildSpec;

/// How each child of a [`Pool`](super::Pool) lives that is a server: it makes a child of its own for each document,
/// ends that when it is late, and is anybody's. The pool's deadline is the net under it, and these bounds are.
#[derive(Clone, Debug)]
pub struct Housing {
    /// Where its folder lies and its user comes from.
    pub programs: Programs,
    /// What it may reach, and whether it may signal the children it makes.
    pub profile: Profile,
    /// What it may take with all its children. Deadline and processor time are the pool's and its own affair:
    /// it works for long.
    pub bounds: Bounds,
}

/// The housing of one pool, with the seats of its children.
pub(super) struct Quarters {
    housing: Housing,
    seats: Arc<Seats>,
}

/// One child's folder and the watch over it.
#[derive(Debug)]
pub(super) struct House {
    scratch: Scratch,
    bounds: Bounds,
    interval: Duration,
    beyond: Arc<OnceLock<Excess>>,
    watch: Option<(i32, JoinHandle<()>)>,
    gone: Option<oneshot::Sender<()>>,
}

impl Quarters {
    /// Quarters with room for so many children at once.
    pub fn new(housing: Housing, count: usize) -> Self {
        let seats = housing.programs.server_seats(count);
        Self { housing, seats }
    }

    /// A folder for a child, and the child with its cage and limits. Waits for a seat.
    pub async fn furnish(&self, spec: ChildSpec) -> io::Result<(ChildSpec, House)> {
        let Housing { programs, profile, bounds } = &self.housing;
        let cage = programs.cage(profile).map_err(io::Error::other)?;
        let scratch = programs.server_scratch(&self.seats).await.map_err(io::Error::other)?;
        let spec = scratch.house(ChildSpec { yields: profile.yields, ..spec }, cage);
        let (bounds, limits) = (*bounds, bounds.lasting_limits(spec.user.is_some()));
        let spec = ChildSpec { limits, ..spec };
        let beyond = Arc::default();
        let interval = programs.watch_interval();
        Ok((spec, House { scratch, bounds, interval, beyond, watch: None, gone: None }))
    }
}

impl House {
    /// Comes when the child has ended by itself, or was killed for what it took; never where it is ended.
    pub fn gone(&mut self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.gone = Some(sender);
        receiver
    }

    /// Watches `leader`, which was started here: when it takes too much, it is killed with its whole group; when it
    /// has ended, what it has started is, which might go on and keep its pipes open.
    pub fn watch(&mut self, leader: i32) -> io::Result<()> {
        let (folder, beyond) = (self.scratch.watched()?, Arc::clone(&self.beyond));
        let end = group::watch_end(leader)?;
        let (bounds, interval, gone) = (self.bounds, self.interval, self.gone.take());
        let watch = tokio::spawn(async move {
            tokio::select! {
                _ = end.readable() => {}
                found = excess(leader, &folder, bounds, interval) => drop(beyond.set(found)),
            }
            group::kill(leader);
            gone.map(|gone| gone.send(()));
        });
        self.watch = Some((leader, watch));
        Ok(())
    }

    /// What it took too much of.
    pub fn excess(&self) -> Option<Excess> {
        self.beyond.get().copied()
    }

    /// Ends the watch: from now on its number may be somebody else's. May be called again.
    pub async fn look_away(&mut self) {
        // A task that has been waited for must not be waited for once more.
        if let Some((_, watch)) = self.watch.as_mut().filter(|(_, watch)| !watch.is_finished()) {
            watch.abort();
            let _ = watch.await;
        }
    }

    /// Waits until nobody lives here any more.
    pub async fn leave(self) {
        if let Some((leader, _)) = &self.watch
            && !group::gone(*leader).await
        {
            tracing::warn!("what a child process has started cannot be ended");
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some((_, watch)) = &self.watch {
            watch.abort();
        }
    }
}
