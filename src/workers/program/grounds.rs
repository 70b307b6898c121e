//! Whom programs and servers run as, and where.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::ProgramError;
use crate::config::{SERVER_USERS, WorkersConfig};
use crate::workers::scratch::{Place, Scratch};
use crate::workers::seats::Seats;

/// The seats of programs, and the folder of all folders.
#[derive(Debug)]
pub(super) struct Grounds {
    pub seats: Arc<Seats>,
    place: Arc<Place>,
}

impl Grounds {
    /// Sweeps what was left behind, and looks whether there can be seats.
    pub fn prepare(config: &WorkersConfig) -> io::Result<()> {
        Place::sweep(&parent(config));
        seats(config).map(drop)
    }

    /// Asks the system for names, kills, removes and makes, each of which may take its time.
    pub async fn make(config: &WorkersConfig) -> io::Result<Self> {
        let config = config.clone();
        spawn_blocking(move || Self::make_now(&config)).await.map_err(io::Error::other)?
    }

    fn make_now(config: &WorkersConfig) -> io::Result<Self> {
        let (seats, parent) = (seats(config)?, parent(config));
        Place::sweep(&parent);
        let place = place(&parent)?;
        Ok(Self { seats: Arc::new(seats), place: Arc::new(place) })
    }

    /// The folder of all folders.
    pub fn place(&self) -> Arc<Place> {
        Arc::clone(&self.place)
    }

    /// A folder and whom it belongs to. Waits for one of the seats.
    pub async fn scratch(&self, seats: &Arc<Seats>) -> Result<Scratch, ProgramError> {
        let seat = Seats::take(seats).await.map_err(ProgramError::System)?;
        let place = Arc::clone(&self.place);
        let scratch = spawn_blocking(move || Scratch::create(place, seat)).await.map_err(io::Error::other);
        scratch.flatten().map_err(ProgramError::System)
    }
}

/// Their users follow those of programs.
pub(super) fn server_seats(config: &WorkersConfig, count: usize) -> Seats {
    Seats::of_servers(count, number(config.first_uid.saturating_add(config.slots)), number(SERVER_USERS))
}

fn seats(config: &WorkersConfig) -> io::Result<Seats> {
    Seats::new(number(config.slots), number(config.first_uid))
}

fn place(parent: &Path) -> io::Result<Place> {
    Place::create(parent, nix::unistd::geteuid().is_root()).map_err(|error| {
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
