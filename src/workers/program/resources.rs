//! What runs of programs and servers share: process slots, and the root of scratch folders.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::ProgramError;
use crate::config::{SERVER_USERS, WorkersConfig};
use crate::workers::process_slots::ProcessSlots;
use crate::workers::scratch::{Scratch, ScratchRoot};

/// The process slots of programs, and the root of all scratch folders.
#[derive(Debug)]
pub(super) struct ProgramResources {
    pub slots: Arc<ProcessSlots>,
    pub root: Arc<ScratchRoot>,
}

impl ProgramResources {
    /// Removes what was left behind, and checks that there can be slots.
    pub fn prepare(config: &WorkersConfig) -> io::Result<()> {
        ScratchRoot::sweep(&parent(config));
        slots(config).map(drop)
    }

    /// Makes them, on a blocking thread: it looks up users, kills processes, and removes folders.
    pub async fn make(config: &WorkersConfig) -> io::Result<Self> {
        let config = config.clone();
        let make = move || {
            let (slots, parent) = (slots(&config)?, parent(&config));
            ScratchRoot::sweep(&parent);
            Ok(Self { slots: Arc::new(slots), root: Arc::new(root(&parent)?) })
        };
        spawn_blocking(make).await.map_err(io::Error::other)?
    }

    /// Waits for one of the slots, and makes a folder for it.
    pub async fn scratch(&self, slots: &Arc<ProcessSlots>) -> Result<Scratch, ProgramError> {
        let slot = ProcessSlots::acquire(slots).await.map_err(ProgramError::System)?;
        let root = Arc::clone(&self.root);
        let scratch = spawn_blocking(move || Scratch::create(root, slot)).await.map_err(io::Error::other);
        scratch.flatten().map_err(ProgramError::System)
    }
}

/// Slots of servers; their range of user ids begins after that of programs.
pub(super) fn server_slots(config: &WorkersConfig, count: usize) -> ProcessSlots {
    ProcessSlots::of_servers(
        count,
        number(config.first_uid.saturating_add(config.slots)),
        number(SERVER_USERS),
    )
}

fn slots(config: &WorkersConfig) -> io::Result<ProcessSlots> {
    ProcessSlots::new(number(config.slots), number(config.first_uid))
}

fn root(parent: &Path) -> io::Result<ScratchRoot> {
    ScratchRoot::create(parent, nix::unistd::geteuid().is_root()).map_err(|error| {
        let parent = parent.display();
        let sentence =
            format!("no folder for programs can be made in '{parent}' (workers.scratch_dir): {error}");
        io::Error::new(error.kind(), sentence)
    })
}

fn parent(config: &WorkersConfig) -> PathBuf {
    match config.scratch_dir.as_str() {
        "" => std::env::temp_dir(),
        path => PathBuf::from(path),
    }
}

fn number(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
