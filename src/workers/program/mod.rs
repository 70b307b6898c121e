//! Foreign programs: one run in a cage and a folder of its own, then nothing of it is left.
//!
//! ```text
//! seat ─► scratch folder ─► inputs ─► at work, watched ─► dead with its whole group ─► outputs ─► folder and seat free
//!                                        └─► killed: deadline, too much of something, nobody waits
//! ```
//!
//! The cage keeps all that a program starts in its process group, so that one kill ends it; its first process
//! stays a zombie until then, so that the group's number is nobody else's.

mod bounds;
mod grounds;
mod running;
mod shared;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use caps::{CapSet, Capability};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::cage::Landlock;
use super::scratch::{Output, OutputError, Scratch};
use super::seats::Seats;
use super::spec::{Cage, ChildSpec, Signals};
use super::starter::Starter;
use crate::config::WorkersConfig;
use crate::telemetry::ChildMetrics;
pub(super) use bounds::excess;
pub use bounds::{Bounds, Excess};
use grounds::Grounds;
use running::Running;
pub use shared::SharedFile;

/// Why programs do not run as root without a capability.
const UNSEEN: &str = "the service is root without CAP_SYS_PTRACE, so it cannot watch what programs of other users hold; \
                      run it as an unprivileged user, or give it that capability";

/// Runs foreign programs. Cloning shares the seats; the folder of all their folders goes with the last clone.
#[derive(Clone, Debug)]
pub struct Programs {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    starter: Starter,
    config: WorkersConfig,
    /// Made for the first program: who runs none needs neither users nor a folder for them.
    grounds: OnceCell<Grounds>,
    /// Whether the system lets us look at what programs of other users hold.
    sees_programs: bool,
    bounds: Bounds,
    watch: Duration,
    confinement: Confinement,
    metrics: ChildMetrics,
}

/// Whether the files of this machine are fenced from programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Confinement {
    Kept,
    /// The operator wants programs all the same.
    Waived,
    Impossible,
}

/// What a program may reach beside its own folder, and how it runs.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Files and folders (with all below) it may execute and read: programs, and the libraries they load.
    pub execute: Vec<PathBuf>,
    /// Files and folders (with all below) it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders (with all below) it may write beside its folder, such as `/dev/null`.
    pub write: Vec<PathBuf>,
    /// Whom it may signal: of those that it has started.
    pub signals: Signals,
    /// Whether it leaves the processor to everybody else, from its start.
    pub yields: bool,
}

/// One run of a program.
pub struct ProgramRun {
    /// What it is for metrics and the log.
    pub name: &'static str,
    /// The program by its path.
    pub program: PathBuf,
    /// Its arguments. It starts in its folder, where inputs and outputs lie by their names.
    pub arguments: Vec<String>,
    /// Its environment, beside `HOME` and `TMPDIR`, which are a further folder of its own.
    pub environment: BTreeMap<String, String>,
    /// What it may reach.
    pub profile: Arc<Profile>,
    /// The files it finds.
    pub inputs: Vec<Input>,
    /// What it may take.
    pub bounds: Bounds,
}

/// A file that a program finds in its folder.
pub struct Input {
    name: String,
    content: Box<dyn AsyncRead + Send + Unpin>,
}

/// A program that has ended, with all that it started. Dropped, its folder goes; what was opened of it stays readable.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Bytes,
    /// What it printed to standard error.
    pub stderr: Bytes,
    scratch: Scratch,
}

/// Why a program has made nothing. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It could not be started: a fault of the installation.
    #[error("a program cannot start: {0}")]
    NotStarted(String),
    /// The kernel cannot keep it from the files of this machine.
    #[error(
        "this kernel has no Landlock, so files cannot be fenced from programs; boot it with landlock among lsm=, \
         or let programs read whatever their user can by workers.allow_unfenced_files"
    )]
    NotFenced,
    /// An input could not be read or written.
    #[error("an input of a program cannot be staged: {0}")]
    Input(io::Error),
    /// It took longer than its deadline and was killed.
    #[error("the program was killed at its deadline (workers.timeout_ms)")]
    Deadline,
    /// It took too much of something and was killed.
    #[error("the program was killed, for it took too much: {}", .0.words())]
    TooMuch(Excess),
    /// The system failed.
    #[error("a program's folder cannot be used: {0}")]
    System(io::Error),
}

impl Programs {
    /// Programs whose users and folder are made for the first of them. `landlock` is what the kernel says
    /// ([`landlock`](super::landlock)).
    pub fn new(starter: Starter, config: &WorkersConfig, landlock: Landlock, metrics: ChildMetrics) -> Self {
        let inner = Inner {
            starter,
            config: config.clone(),
            grounds: OnceCell::new(),
            sees_programs: sees_others(),
            bounds: Bounds::new(config),
            watch: Duration::from_millis(config.watch_ms),
            confinement: Confinement::of(landlock, config.allow_unfenced_files),
            metrics,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sweeps what a killed service of this user has left behind, and logs what keeps programs from running here:
    /// for a service at its start, in the background. Before the first program it happens in any case.
    pub async fn prepare(self) {
        if !self.inner.sees_programs {
            tracing::error!("{UNSEEN}");
        }
        let config = self.inner.config.clone();
        let prepared = spawn_blocking(move || Grounds::prepare(&config));
        if let Err(error) = prepared.await.map_err(io::Error::other).flatten() {
            tracing::error!(%error, "foreign programs cannot run");
        }
    }

    /// What a run may take by the configuration.
    pub fn bounds(&self) -> Bounds {
        self.inner.bounds
    }

    /// Whether programs may run here at all.
    ///
    /// # Errors
    /// [`ProgramError::NotFenced`], and [`ProgramError::NotStarted`] where they could not be watched.
    pub fn check(&self) -> Result<(), ProgramError> {
        match self.inner.confinement {
            Confinement::Impossible => Err(ProgramError::NotFenced),
            Confinement::Kept | Confinement::Waived if self.inner.sees_programs => Ok(()),
            Confinement::Kept | Confinement::Waived => Err(ProgramError::NotStarted(UNSEEN.to_owned())),
        }
    }

    /// Whether the files of this machine are kept from programs. Where they are not, programs may write what this user may.
    pub fn confines_files(&self) -> bool {
        self.inner.confinement == Confinement::Kept
    }

    /// Runs a program and waits until it has ended, well or badly: that is in the answer. It waits for a seat
    /// first; the deadline counts from there, the writing of inputs included. Dropping the future kills the program.
    ///
    /// # Errors
    /// See [`ProgramError`].
    pub async fn run(&self, run: ProgramRun) -> Result<Finished, ProgramError> {
        let name = run.name;
        let finished = async {
            // Where nothing may run, no folder is made.
            self.check()?;
            self.run_in(self.scratch().await?, run).await
        };
        self.counted(name, finished.await)
    }

    /// The same in the folder of a run that has ended, with all that lies there.
    ///
    /// # Errors
    /// See [`ProgramError`].
    pub async fn run_on(&self, finished: Finished, run: ProgramRun) -> Result<Finished, ProgramError> {
        let name = run.name;
        let finished = async {
            finished.scratch.vacate().map_err(ProgramError::System)?;
            self.run_in(finished.scratch, run).await
        };
        self.counted(name, finished.await)
    }

    fn counted(
        &self,
        name: &'static str,
        finished: Result<Finished, ProgramError>,
    ) -> Result<Finished, ProgramError> {
        let end = finished.as_ref().map_or_else(ProgramError::name, |_| "answered");
        self.inner.metrics.jobs.of([name, end]).inc();
        finished
    }

    async fn run_in(&self, scratch: Scratch, run: ProgramRun) -> Result<Finished, ProgramError> {
        let cage = self.cage(&run.profile)?;
        let (begun, mut bounds) = (Instant::now(), run.bounds);
        let staged = timeout(bounds.deadline, stage_all(run.inputs, scratch, bounds.scratch_bytes));
        let scratch = staged.await.map_err(|_| ProgramError::Deadline)??;
        bounds.deadline = bounds.deadline.saturating_sub(begun.elapsed());
        let spec = ChildSpec::new(run.program).arguments(run.arguments);
        let mut spec = ChildSpec { yields: run.profile.yields, ..spec };
        spec.environment.extend(run.environment);
        let running = Running::start(self, run.name, scratch.house(spec, cage), (scratch, bounds)).await?;
        running.finish().await
    }

    /// The cage of a profile, which is closed to all of them where files cannot be fenced.
    pub(super) fn cage(&self, profile: &Profile) -> Result<Cage, ProgramError> {
        self.check()?;
        Ok(profile.cage(self.inner.confinement == Confinement::Kept))
    }

    pub(super) fn watch_interval(&self) -> Duration {
        self.inner.watch
    }

    /// A program's folder and whom it belongs to.
    async fn scratch(&self) -> Result<Scratch, ProgramError> {
        let grounds = self.grounds().await?;
        grounds.scratch(&grounds.seats).await
    }

    /// Seats for so many servers, none of which a program could have.
    pub(super) fn server_seats(&self, count: usize) -> Arc<Seats> {
        Arc::new(grounds::server_seats(&self.inner.config, count))
    }

    /// A server's folder and whom it belongs to.
    pub(super) async fn server_scratch(&self, seats: &Arc<Seats>) -> Result<Scratch, ProgramError> {
        self.grounds().await?.scratch(seats).await
    }

    async fn grounds(&self) -> Result<&Grounds, ProgramError> {
        let grounds = self.inner.grounds.get_or_try_init(|| Grounds::make(&self.inner.config)).await;
        grounds.map_err(|error| ProgramError::NotStarted(error.to_string()))
    }
}

/// Hazard: without that capability root is refused the open files and the mappings of another user's process, so that
/// what a program hides there would count as nothing. As an unprivileged user programs are the service's own user.
fn sees_others() -> bool {
    let may = caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_PTRACE).unwrap_or(false);
    may || !nix::unistd::geteuid().is_root()
}

/// Writes the inputs of a run, which may have `limit_bytes` together.
async fn stage_all(
    inputs: Vec<Input>,
    mut scratch: Scratch,
    limit_bytes: u64,
) -> Result<Scratch, ProgramError> {
    let mut left = limit_bytes;
    for input in inputs {
        let (filled, bytes) = input.stage(scratch, left).await.map_err(ProgramError::Input)?;
        left = left.checked_sub(bytes).ok_or(ProgramError::TooMuch(Excess::Written))?;
        scratch = filled;
    }
    Ok(scratch)
}

impl Confinement {
    fn of(landlock: Landlock, is_waived: bool) -> Self {
        match (landlock, is_waived) {
            (Landlock::Available, _) => Self::Kept,
            (Landlock::Missing, false) => Self::Impossible,
            (Landlock::Missing, true) => {
                tracing::error!(
                    "this kernel has no Landlock: programs that open strangers' documents can read whatever their \
                     user can, for workers.allow_unfenced_files is set"
                );
                Self::Waived
            }
        }
    }
}

impl Profile {
    fn cage(&self, files_must_be_fenced: bool) -> Cage {
        Cage {
            execute: self.execute.clone(),
            read: self.read.clone(),
            write: self.write.clone(),
            signals: self.signals,
            together: true,
            network: false,
            files_must_be_fenced,
        }
    }
}

impl Input {
    /// A file from memory. `name` is relative and leads down; folders on the way are made.
    pub fn bytes(name: impl Into<String>, content: Bytes) -> Self {
        Self { name: name.into(), content: Box::new(io::Cursor::new(content)) }
    }

    /// A file from a stream, which is copied to its end.
    pub fn stream(name: impl Into<String>, content: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self { name: name.into(), content: Box::new(content) }
    }

    /// Writes it, one byte more than `limit_bytes` at most; and says how many these are.
    async fn stage(self, scratch: Scratch, limit_bytes: u64) -> io::Result<(Scratch, u64)> {
        let name = self.name;
        let (scratch, file) =
            spawn_blocking(move || scratch.create_file(&name).map(|file| (scratch, file))).await??;
        let mut file = File::from_std(file);
        let mut content = self.content.take(limit_bytes.saturating_add(1));
        let bytes = tokio::io::copy(&mut content, &mut file).await?;
        file.flush().await?;
        Ok((scratch, bytes))
    }
}

impl Finished {
    /// Opens a file that the program has made; never what a link leads to, nor anything else than a file of its own.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn open(&self, name: &str, limit_bytes: u64) -> Result<Output, OutputError> {
        self.scratch.open(name, limit_bytes)
    }

    /// The content of a file that the program has made.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub async fn read(&self, name: &str, limit_bytes: u64) -> Result<Bytes, OutputError> {
        let Output { file, bytes } = self.open(name, limit_bytes)?;
        let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
        File::from_std(file).take(bytes).read_to_end(&mut content).await?;
        Ok(content.into())
    }
}

impl ProgramError {
    fn name(&self) -> &'static str {
        match self {
            Self::NotStarted(_) | Self::NotFenced => "not_started",
            Self::Input(_) | Self::System(_) => "not_staged",
            Self::Deadline => "deadline",
            Self::TooMuch(excess) => excess.name(),
        }
    }
}
