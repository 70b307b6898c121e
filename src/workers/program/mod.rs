//! Foreign programs: each run has a cage and a folder of its own, and is removed with all that it started and wrote.
//!
//! ```text
//! slot ─► scratch folder ─► inputs ─► at work, watched ─► dead with its whole group ─► outputs ─► folder and slot free
//!                                        └─► killed: deadline, limit exceeded, job cancelled
//! ```
//!
//! The cage keeps all that a program starts in its process group, so that one kill ends it. Its first process is not waited for
//! before that: a zombie keeps the group's number from being reused.

mod bounds;
mod error;
mod resources;
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
use super::process_slots::ProcessSlots;
use super::scratch::{Output, OutputError, Scratch};
use super::spec::{Cage, ChildSpec, Signals, Starts};
use super::starter::Starter;
use crate::config::WorkersConfig;
use crate::slots::way::Way;
use crate::telemetry::ChildMetrics;
pub(super) use bounds::excess;
pub use bounds::{Bounds, Excess};
pub use error::ProgramError;
use resources::ProgramResources;
use running::Running;
pub use shared::SharedFile;

/// The error where root lacks a capability.
const UNSEEN: &str = "the service is root without CAP_SYS_PTRACE, so it cannot watch what programs of other users hold; \
                      run it as an unprivileged user, or give it that capability";

/// Runs foreign programs. Cloning shares the slots; the folder of all their folders goes with the last clone.
#[derive(Clone, Debug)]
pub struct Programs {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    starter: Starter,
    config: WorkersConfig,
    /// Made for the first program: a service that runs none needs neither users nor a folder for them.
    resources: OnceCell<ProgramResources>,
    /// Whether the service may inspect processes of other users.
    sees_programs: bool,
    bounds: Bounds,
    watch: Duration,
    confinement: Confinement,
    metrics: ChildMetrics,
}

/// Whether programs are confined to their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Confinement {
    Enforced,
    /// Impossible, and the operator runs programs nevertheless.
    Waived,
    Impossible,
}

/// A program's sandbox: what it may reach beside its own folder, and how it runs.
#[derive(Clone, Debug, Default)]
pub struct SandboxProfile {
    /// Files and folders (with all below) it may execute and read: programs, and the libraries they load.
    pub execute: Vec<PathBuf>,
    /// Files and folders (with all below) it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders (with all below) it may write beside its folder, such as `/dev/null`.
    pub write: Vec<PathBuf>,
    /// Which of the processes that it has started it may signal.
    pub signals: Signals,
    /// Whether it runs at low priority from its start.
    pub yields: bool,
}

/// One run of a program.
pub struct ProgramRun {
    /// Its name in metrics and logs.
    pub name: &'static str,
    /// The program's path.
    pub program: PathBuf,
    /// Its arguments. It starts in its folder, so inputs and outputs are named relative to that.
    pub arguments: Vec<String>,
    /// Its environment, beside `HOME` and `TMPDIR`, which name a second folder of its own.
    pub environment: BTreeMap<String, String>,
    /// Its sandbox.
    pub profile: Arc<SandboxProfile>,
    /// The files in its folder.
    pub inputs: Vec<Input>,
    /// Its limits.
    pub bounds: Bounds,
    /// How its job makes way: the program then yields to all others.
    pub way: Option<Way>,
}

/// A file that a program finds in its folder.
pub struct Input {
    name: String,
    content: Box<dyn AsyncRead + Send + Unpin>,
}

/// A program that has ended, with all that it started. Dropping this removes its folder; opened outputs stay readable.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Bytes,
    /// Its standard error.
    pub stderr: Bytes,
    scratch: Scratch,
}

impl Programs {
    /// Users and folders are made when the first program runs. `landlock` is the answer of [`landlock`](super::landlock).
    pub fn new(starter: Starter, config: &WorkersConfig, landlock: Landlock, metrics: ChildMetrics) -> Self {
        let inner = Inner {
            starter,
            config: config.clone(),
            resources: OnceCell::new(),
            sees_programs: sees_others(),
            bounds: Bounds::new(config),
            watch: Duration::from_millis(config.watch_ms),
            confinement: Confinement::of(landlock, config.allow_unfenced_files),
            metrics,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Removes what a killed service of this user has left behind, and logs why programs cannot run here. For the service's
    /// start, in the background; it is done again before the first program.
    pub async fn prepare(self) {
        if !self.inner.sees_programs {
            tracing::error!("{UNSEEN}");
        }
        let config = self.inner.config.clone();
        let prepared = spawn_blocking(move || ProgramResources::prepare(&config));
        if let Err(error) = prepared.await.map_err(io::Error::other).flatten() {
            tracing::error!(%error, "foreign programs cannot run");
        }
    }

    /// The configured limits of a run.
    pub fn bounds(&self) -> Bounds {
        self.inner.bounds
    }

    /// Whether programs may run here at all.
    ///
    /// # Errors
    /// [`ProgramError::NotConfined`]; [`ProgramError::NotStarted`] where they could not be watched.
    pub fn check(&self) -> Result<(), ProgramError> {
        match self.inner.confinement {
            Confinement::Impossible => Err(ProgramError::NotConfined),
            Confinement::Enforced | Confinement::Waived if self.inner.sees_programs => Ok(()),
            Confinement::Enforced | Confinement::Waived => Err(ProgramError::NotStarted(UNSEEN.to_owned())),
        }
    }

    /// Whether programs are confined to their files. Otherwise they may write whatever this user may.
    pub fn confines_files(&self) -> bool {
        self.inner.confinement == Confinement::Enforced
    }

    /// Waits for a slot, runs a program, and waits for its end; the caller checks its exit status. The deadline includes the
    /// writing of inputs, but not the wait for a slot. Dropping the future kills the program.
    ///
    /// # Errors
    /// See [`ProgramError`].
    pub async fn run(&self, run: ProgramRun) -> Result<Finished, ProgramError> {
        let name = run.name;
        let finished = async {
            // First: where nothing may run, no folder is made.
            self.check()?;
            self.run_in(self.scratch().await?, run).await
        };
        self.counted(name, finished.await)
    }

    /// Runs a further program in the folder of a finished run, with all files there.
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
        let running = Running::start(self, run.name, scratch.caged(spec, cage), (scratch, bounds)).await?;
        running.finish(run.way.as_ref()).await
    }

    /// The cage of a profile; an error where programs may not run at all.
    pub(super) fn cage(&self, profile: &SandboxProfile) -> Result<Cage, ProgramError> {
        self.check()?;
        Ok(profile.cage(self.inner.confinement == Confinement::Enforced))
    }

    /// Makes a file for runs whose profile names it; `write` fills it, on a blocking thread.
    ///
    /// # Errors
    /// [`ProgramError::NotConfined`] where any program could overwrite it; and errors of writing it.
    pub async fn share(
        &self,
        extension: &'static str,
        write: impl FnOnce(&mut std::fs::File) -> io::Result<()> + Send + 'static,
    ) -> Result<SharedFile, ProgramError> {
        self.check()?;
        if !self.confines_files() {
            return Err(ProgramError::NotConfined);
        }
        let root = Arc::clone(&self.resources().await?.root);
        let made = spawn_blocking(move || SharedFile::create(root, extension, write));
        made.await.map_err(io::Error::other).flatten().map_err(ProgramError::System)
    }

    pub(super) fn watch_interval(&self) -> Duration {
        self.inner.watch
    }

    /// Waits for a slot: a program's folder with it.
    async fn scratch(&self) -> Result<Scratch, ProgramError> {
        let resources = self.resources().await?;
        resources.scratch(&resources.slots).await
    }

    /// `count` slots for servers, separate from those of programs.
    pub(super) fn server_slots(&self, count: usize) -> Arc<ProcessSlots> {
        Arc::new(resources::server_slots(&self.inner.config, count))
    }

    /// Waits for a slot: a server's folder with it.
    pub(super) async fn server_scratch(&self, slots: &Arc<ProcessSlots>) -> Result<Scratch, ProgramError> {
        self.resources().await?.scratch(slots).await
    }

    async fn resources(&self) -> Result<&ProgramResources, ProgramError> {
        let resources =
            self.inner.resources.get_or_try_init(|| ProgramResources::make(&self.inner.config)).await;
        resources.map_err(|error| ProgramError::NotStarted(error.to_string()))
    }
}

/// Whether the watch can see all that programs hold. Hazard: root without `CAP_SYS_PTRACE` cannot read the open files and mappings
/// of another user's process, and what a program hides there would not count. For an unprivileged service programs run as its
/// own user.
fn sees_others() -> bool {
    let may = caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_PTRACE).unwrap_or(false);
    may || !nix::unistd::geteuid().is_root()
}

/// Writes the inputs of a run, at most `limit_bytes` together.
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
            (Landlock::Available, _) => Self::Enforced,
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

impl SandboxProfile {
    fn cage(&self, requires_landlock: bool) -> Cage {
        Cage {
            execute: self.execute.clone(),
            read: self.read.clone(),
            write: self.write.clone(),
            signals: self.signals,
            starts: Starts::Anything,
            together: true,
            network: false,
            requires_landlock,
        }
    }
}

impl Input {
    /// A file from memory. `name` is a relative path without `..`; its folders are made.
    pub fn bytes(name: impl Into<String>, content: Bytes) -> Self {
        Self { name: name.into(), content: Box::new(io::Cursor::new(content)) }
    }

    /// A file from a stream, which is copied to its end.
    pub fn stream(name: impl Into<String>, content: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self { name: name.into(), content: Box::new(content) }
    }

    /// Writes the file and returns its length. It stops one byte above `limit_bytes`, which the caller recognises as too much.
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
    /// Opens a file that the program has made; only a regular file of its own, and no link.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn open(&self, name: &str, limit_bytes: u64) -> Result<Output, OutputError> {
        self.scratch.open(name, limit_bytes)
    }

    /// As [`read`](Self::read), for a thread for blocking work.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn read_blocking(&self, name: &str, limit_bytes: u64) -> Result<Bytes, OutputError> {
        let Output { file, bytes } = self.open(name, limit_bytes)?;
        let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
        io::Read::read_to_end(&mut io::Read::take(file, bytes), &mut content)?;
        Ok(content.into())
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
