//! Starts children through `platen exec`, and ends them with everything they started.

use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::{Command as StdCommand, Stdio};
use std::sync::{Arc, mpsc};

use command_fds::{CommandFdExt, FdMapping};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, gettid};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::at_work::{AtWork, Working};
use super::spec::{ChildSpec, EXEC_COMMAND, ExecRequest};

/// Starts children from one permanent thread of its own.
///
/// The kernel sends a child its death signal when the *thread* that started it ends, not the process, so that thread must
/// last. Also, forking a large process blocks longer than an asynchronous thread may. Children are killed when the last clone
/// of their starter is dropped, and on a kill -9 of the service.
#[derive(Clone, Debug)]
pub struct Starter {
    requests: mpsc::Sender<Request>,
    executable: Arc<Path>,
    at_work: AtWork,
}

/// A child's standard streams, and further descriptors.
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: Stdio,
    /// Standard output.
    pub stdout: Stdio,
    /// Standard error; `platen exec` writes there why it could not start the program.
    pub stderr: Stdio,
    /// Descriptors of the service, closed after the start, and their numbers in the child.
    pub descriptors: Vec<(OwnedFd, RawFd)>,
}

#[derive(Debug)]
struct Request {
    spec: ChildSpec,
    streams: Streams,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Started>>,
}

/// A started child that its caller has not received yet. If the caller is gone, it is killed with all that it has started.
#[derive(Debug)]
struct Started(Option<Child>);

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &self.0 {
            kill_group(child);
        }
    }
}

impl Starter {
    /// A starter with the path of our own binary (`current_exe` in production).
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(executable: PathBuf) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel();
        let beside = Arc::from(executable.as_path());
        std::thread::Builder::new()
            .name("platen-starter".to_owned())
            .spawn(move || serve(&executable, &inbox))?;
        Ok(Self { requests, executable: beside, at_work: AtWork::default() })
    }

    /// Counts a child that works from now on.
    pub(super) fn begin_work(&self) -> Working {
        self.at_work.begin()
    }

    /// The path of our own binary.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// The path of another program in the folder of our own binary.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.executable.with_file_name(name)
    }

    /// Starts a child; returns when `platen exec` runs. A program that cannot be started shows as an exit with
    /// [`EXEC_FAILED`](super::EXEC_FAILED) and a sentence on standard error. Dropping the result kills the child, but not what
    /// that has started: use [`kill_group`] or [`end`].
    ///
    /// # Errors
    /// When our own binary cannot be started.
    pub async fn spawn(&self, spec: ChildSpec, streams: Streams) -> io::Result<Child> {
        let (answer, started) = oneshot::channel();
        let request = Request { spec, streams, runtime: Handle::current(), answer };
        let gone = || io::Error::other("the thread that starts children has ended");
        self.requests.send(request).map_err(|_| gone())?;
        let mut started = started.await.map_err(|_| gone())??;
        started.0.take().ok_or_else(gone)
    }
}

impl Streams {
    /// All three to the null device.
    pub fn null() -> Self {
        Self { stdin: Stdio::null(), stdout: Stdio::null(), stderr: Stdio::null(), descriptors: Vec::new() }
    }

    /// All three through pipes.
    pub fn piped() -> Self {
        Self {
            stdin: Stdio::piped(),
            stdout: Stdio::piped(),
            stderr: Stdio::piped(),
            descriptors: Vec::new(),
        }
    }
}

/// Kills a child and its whole group, without waiting. Does nothing if the child has been waited for already.
pub fn kill_group(child: &Child) {
    let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) else { return };
    let leader = Pid::from_raw(id);
    // Before its `setsid` a child leads no group yet: then it is killed alone, and the group once more in case it was made
    // meanwhile.
    if killpg(leader, Signal::SIGKILL).is_err() {
        let _ = kill(leader, Signal::SIGKILL);
        let _ = killpg(leader, Signal::SIGKILL);
    }
}

/// Kills a child and its whole group, and reaps the child.
///
/// # Errors
/// When the system cannot wait for the child.
pub async fn end(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    kill_group(child);
    child.wait().await
}

fn serve(executable: &Path, inbox: &mpsc::Receiver<Request>) {
    while let Ok(request) = inbox.recv() {
        // Without a caller a child would run unwatched. If the caller goes during the start, `Started` kills the child.
        if request.answer.is_closed() {
            continue;
        }
        let _context = request.runtime.enter();
        let started = start(executable, request.spec, request.streams);
        let _ = request.answer.send(started.map(|child| Started(Some(child))));
    }
}

fn start(executable: &Path, spec: ChildSpec, streams: Streams) -> io::Result<Child> {
    let descriptors = streams.descriptors.iter().map(|(_, number)| *number).collect();
    let (parent, thread) = (std::process::id(), gettid().as_raw());
    let executable = spec.binary.as_deref().unwrap_or(executable).to_owned();
    let mut command = StdCommand::new(&executable);
    command.env_clear();
    if spec.binary.is_some() {
        // Hazard: this process still has the service's rights, so no variable may make the dynamic loader load other code.
        command.envs(spec.environment.iter().filter(|(name, _)| !name.starts_with("LD_")));
    }
    let request = serde_json::to_string(&ExecRequest { parent, thread, descriptors, child: spec })?;
    command.arg(EXEC_COMMAND).arg(request);
    command.stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
    let mappings = streams
        .descriptors
        .into_iter()
        .map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd })
        .collect::<Vec<_>>();
    if !mappings.is_empty() {
        command.fd_mappings(mappings).map_err(io::Error::other)?;
    }
    Command::from(command).kill_on_drop(true).spawn().map_err(|error| {
        io::Error::new(error.kind(), format!("cannot start '{}': {error}", executable.display()))
    })
}
