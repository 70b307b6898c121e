//! Servers of a pool: programs that fork a child for each document and so work for all accounts. Each has a folder and, where the
//! service is root, a user of its own, and is watched as a program is.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::group;
use super::process_slots::ProcessSlots;
use super::program::{Bounds, Excess, Programs, SandboxProfile, excess};
use super::scratch::Scratch;
use super::spec::ChildSpec;

/// Sandbox and limits of each server of a [`Pool`](super::Pool). A server ends a late document's child itself; the pool's deadline
/// and these bounds apply if it does not.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Provides its folder and user.
    pub programs: Programs,
    /// Its sandbox.
    pub profile: SandboxProfile,
    /// Its limits, with all its children. The deadline is not used (the pool has one), and processor time is not limited: a
    /// server runs for long.
    pub bounds: Bounds,
}

/// Makes the folders and users of one pool's servers.
pub(super) struct ServerFactory {
    settings: ServerSettings,
    slots: Arc<ProcessSlots>,
}

/// One server's folder, and the watch over its use of resources. Dropping this ends the watch and removes the folder.
#[derive(Debug)]
pub(super) struct ServerGuard {
    scratch: Scratch,
    bounds: Bounds,
    interval: Duration,
    excess: Arc<OnceLock<Excess>>,
    watch: Option<(i32, JoinHandle<()>)>,
    gone: Option<oneshot::Sender<()>>,
}

impl ServerFactory {
    /// For `count` servers at once.
    pub fn new(settings: ServerSettings, count: usize) -> Self {
        let slots = settings.programs.server_slots(count);
        Self { settings, slots }
    }

    /// The server's spec with folder, user, cage and limits, and what watches it. Waits for a slot.
    pub async fn prepare(&self, spec: ChildSpec) -> io::Result<(ChildSpec, ServerGuard)> {
        let ServerSettings { programs, profile, bounds } = &self.settings;
        let cage = programs.cage(profile).map_err(io::Error::other)?;
        let scratch = programs.server_scratch(&self.slots).await.map_err(io::Error::other)?;
        let spec = scratch.caged(ChildSpec { yields: profile.yields, ..spec }, cage);
        let (bounds, limits) = (*bounds, bounds.lasting_limits(spec.user.is_some()));
        let spec = ChildSpec { limits, ..spec };
        let excess = Arc::default();
        let interval = programs.watch_interval();
        Ok((spec, ServerGuard { scratch, bounds, interval, excess, watch: None, gone: None }))
    }
}

impl ServerGuard {
    /// Receives when the server has ended by itself or was killed for an excess; an error if [`Self::stop_watch`] came first.
    pub fn gone(&mut self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.gone = Some(sender);
        receiver
    }

    /// Watches `leader`, the server's process. When it exceeds a limit, its whole group is killed; also when it has ended, for its
    /// children might go on and keep its pipes open.
    pub fn watch(&mut self, leader: i32) -> io::Result<()> {
        let (folder, found) = (self.scratch.watched()?, Arc::clone(&self.excess));
        let end = group::watch_end(leader)?;
        let (bounds, interval, gone) = (self.bounds, self.interval, self.gone.take());
        let watch = tokio::spawn(async move {
            tokio::select! {
                _ = end.readable() => {}
                excess = excess(leader, &folder, bounds, interval) => drop(found.set(excess)),
            }
            group::kill(leader);
            gone.map(|gone| gone.send(()));
        });
        self.watch = Some((leader, watch));
        Ok(())
    }

    /// The limit that it exceeded.
    pub fn excess(&self) -> Option<Excess> {
        self.excess.get().copied()
    }

    /// Ends the watch. Must be called before the server is waited for: afterwards its number may be reused, and the watch would
    /// kill another process. May be called again.
    pub async fn stop_watch(&mut self) {
        // Awaiting a finished task a second time panics.
        if let Some((_, watch)) = self.watch.as_mut().filter(|(_, watch)| !watch.is_finished()) {
            watch.abort();
            let _ = watch.await;
        }
    }

    /// Waits until all processes of the server are gone, and removes its folder.
    pub async fn wait_until_empty(self) {
        if let Some((leader, _)) = &self.watch
            && !group::gone(*leader).await
        {
            tracing::warn!("what a child process has started cannot be ended");
        }
    }
}

impl Drop for ServerGuard {
    fn drop(&mut self) {
        if let Some((_, watch)) = &self.watch {
            watch.abort();
        }
    }
}
