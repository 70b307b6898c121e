//! A program at work: watched until it has ended, and then ended with all that it has started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use nix::sys::signal::Signal;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Bounds, Excess, Finished, ProgramError, Programs, excess};
use crate::telemetry::GaugeGuard;
use crate::workers::exec::EXEC_FAILED;
use crate::workers::group;
use crate::workers::scratch::Scratch;
use crate::workers::spec::ChildSpec;
use crate::workers::starter::{Streams, kill_group};

/// What `platen exec` begins its words with when there is no program.
const EXEC_WORDS: &[u8] = b"platen exec: ";
/// How long the end of what a dead program has printed may take to come.
const WORDS_TIMEOUT: Duration = Duration::from_secs(1);

/// A program that was started. However it ends, it is killed with its whole group and waited for, and its folder goes.
pub(super) struct Running {
    rest: Option<Rest>,
    bounds: Bounds,
    watch: Duration,
    _working: GaugeGuard,
}

/// What is to be ended.
struct Rest {
    child: Child,
    group: i32,
    /// Can be read from when the first process has ended, and does not take its number from it.
    ended: AsyncFd<OwnedFd>,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
    is_loud: CancellationToken,
    scratch: Scratch,
}

impl Running {
    /// Starts it in its folder.
    pub async fn start(
        programs: &Programs,
        name: &'static str,
        spec: ChildSpec,
        (scratch, bounds): (Scratch, Bounds),
    ) -> Result<Self, ProgramError> {
        let has_own_user = spec.user.is_some();
        let limits = spawn_blocking(move || bounds.limits(has_own_user)).await.map_err(io::Error::other);
        let limits = limits.and_then(|limits| limits).map_err(ProgramError::System)?;
        let unable = |error: io::Error| ProgramError::NotStarted(error.to_string());
        let streams = Streams { stdin: Stdio::null(), ..Streams::piped() };
        let mut child =
            programs.inner.starter.spawn(ChildSpec { limits, ..spec }, streams).await.map_err(unable)?;
        let printed = child.stdout.take().zip(child.stderr.take());
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        let Some(((stdout, stderr), group)) = printed.zip(number) else {
            return Err(ProgramError::NotStarted("it has no pipes".to_owned()));
        };
        let ended = group::watch_end(group).map_err(|error| {
            // It may have started others already, whom nobody would watch.
            kill_group(&child);
            unable(error)
        })?;
        let is_loud = CancellationToken::new();
        let stdout = tokio::spawn(keep(stdout, bounds.printed_bytes, is_loud.clone()));
        let stderr = tokio::spawn(keep(stderr, bounds.printed_bytes, is_loud.clone()));
        let working = GaugeGuard::new(&programs.inner.metrics.children.of([name, "working"]));
        let rest = Rest { child, group, ended, stdout, stderr, is_loud, scratch };
        Ok(Self { rest: Some(rest), bounds, watch: programs.inner.watch, _working: working })
    }

    /// Waits until it has ended, or has to be.
    pub async fn finish(mut self) -> Result<Finished, ProgramError> {
        let outcome = match &self.rest {
            Some(rest) => rest.work(self.bounds, self.watch).await,
            None => Ok(()),
        };
        let Some(mut rest) = self.rest.take() else {
            return Err(ProgramError::NotStarted("it is gone already".to_owned()));
        };
        let gone = rest.end().await.map_err(ProgramError::System);
        let [stdout, stderr] = rest.words().await;
        outcome?;
        let status = gone?;
        // Whom nobody listens to any more may end of that before it is killed.
        if rest.is_loud.is_cancelled() {
            return Err(ProgramError::TooMuch(Excess::Printed));
        }
        if status.code() == Some(i32::from(EXEC_FAILED)) && stderr.starts_with(EXEC_WORDS) {
            let words = String::from_utf8_lossy(&stderr[EXEC_WORDS.len()..]);
            return Err(ProgramError::NotStarted(words.trim().to_owned()));
        }
        match status.signal().map(Signal::try_from) {
            Some(Ok(Signal::SIGXCPU)) => Err(ProgramError::TooMuch(Excess::Processor)),
            Some(Ok(Signal::SIGXFSZ)) => Err(ProgramError::TooMuch(Excess::Written)),
            _ => Ok(Finished { status, stdout, stderr, scratch: rest.scratch }),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut rest) = self.rest.take() else { return };
        kill_group(&rest.child);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = rest.end().await {
                    tracing::warn!(%error, "a program that nobody waits for any more does not end");
                }
            });
        }
    }
}

impl Rest {
    async fn work(&self, bounds: Bounds, interval: Duration) -> Result<(), ProgramError> {
        let folder = self.scratch.watched().map_err(ProgramError::System)?;
        tokio::select! {
            biased;
            ended = self.ended.readable() => ended.map(|_| ()).map_err(ProgramError::System),
            () = self.is_loud.cancelled() => Err(ProgramError::TooMuch(Excess::Printed)),
            excess = excess(self.group, &folder, bounds, interval) => Err(ProgramError::TooMuch(excess)),
            () = sleep(bounds.deadline) => Err(ProgramError::Deadline),
        }
    }

    /// Kills it with its whole group, and returns when all of that is dead.
    async fn end(&mut self) -> io::Result<ExitStatus> {
        // Nobody has waited for the first process yet, so the number of the group is its own.
        kill_group(&self.child);
        let status = self.child.wait().await?;
        if group::gone(self.group).await {
            return Ok(status);
        }
        Err(io::Error::other("what the program has started cannot be ended"))
    }

    async fn words(&mut self) -> [Bytes; 2] {
        let mut words = [Bytes::new(), Bytes::new()];
        for (kept, stream) in words.iter_mut().zip([&mut self.stdout, &mut self.stderr]) {
            if let Ok(Ok(bytes)) = timeout(WORDS_TIMEOUT, &mut *stream).await {
                *kept = bytes.into();
            } else {
                stream.abort();
            }
        }
        words
    }
}

/// Reads to the end, or until it is more than `limit_bytes`, which it tells.
async fn keep(mut stream: impl AsyncRead + Unpin, limit_bytes: u64, is_loud: CancellationToken) -> Vec<u8> {
    let mut kept = Vec::new();
    // What cannot be read to its end was printed by who is dead.
    let _ = (&mut stream).take(limit_bytes + 1).read_to_end(&mut kept).await;
    if kept.len() as u64 > limit_bytes {
        is_loud.cancel();
    }
    kept
}
