//! A running program: watched until its end, then killed with all that it has started.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
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
use crate::slots::way::{MakesWay, Way};
use crate::telemetry::GaugeGuard;
use crate::workers::at_work::Working;
use crate::workers::exec::EXEC_FAILED;
use crate::workers::group;
use crate::workers::hung::{KilledFromOutside, Scope, hung};
use crate::workers::priority::{LONG_LOOK_PAUSE, yield_to_all, yield_to_all_when_long};
use crate::workers::scratch::Scratch;
use crate::workers::spec::ChildSpec;
use crate::workers::starter::{Streams, kill_group};

/// The prefix of messages of `platen exec` where it could not start the program.
const EXEC_ERROR_PREFIX: &[u8] = b"platen exec: ";
/// How long the output of a dead program is waited for.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// A program that was started. However its run ends, its whole group is killed, it is waited for, and its folder is removed.
pub(super) struct Running {
    live: Option<LiveProcess>,
    bounds: Bounds,
    watch: Duration,
    _working: GaugeGuard,
}

/// The process that is to be ended.
struct LiveProcess {
    child: Child,
    group: i32,
    /// Readable when the first process has ended; does not reap it, so its number is not reused.
    ended: AsyncFd<OwnedFd>,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
    is_output_full: CancellationToken,
    scratch: Scratch,
    at_work: Working,
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
            // The whole group: it may have started others already, which would run unwatched.
            kill_group(&child);
            unable(error)
        })?;
        let is_output_full = CancellationToken::new();
        let stdout = tokio::spawn(collect(stdout, bounds.printed_bytes, is_output_full.clone()));
        let stderr = tokio::spawn(collect(stderr, bounds.printed_bytes, is_output_full.clone()));
        let working = GaugeGuard::new(&programs.inner.metrics.children.of([name, "working"]));
        let at_work = programs.inner.starter.begin_work();
        let live = LiveProcess { child, group, ended, stdout, stderr, is_output_full, scratch, at_work };
        Ok(Self { live: Some(live), bounds, watch: programs.inner.watch, _working: working })
    }

    /// Waits until it ends or exceeds a limit, and then ends all of it.
    pub async fn finish(mut self, way: Option<&Way>) -> Result<Finished, ProgramError> {
        let yielding = self.live.as_ref().map(|live| Arc::new(Yielding { leader: live.group }));
        way.zip(yielding.as_ref()).inspect(|(way, yielding)| way.hold(yielding));
        let outcome = match &self.live {
            Some(live) => live.work(self.bounds, self.watch).await,
            None => Ok(()),
        };
        drop(yielding);
        let Some(mut live) = self.live.take() else {
            return Err(ProgramError::NotStarted("it is gone already".to_owned()));
        };
        let gone = live.end().await.map_err(ProgramError::System);
        let [stdout, stderr] = live.printed().await;
        outcome?;
        let status = gone?;
        // Output is not read beyond its limit: the program may have died of a broken pipe before it was killed.
        if live.is_output_full.is_cancelled() {
            return Err(ProgramError::TooMuch(Excess::Printed));
        }
        if status.code() == Some(i32::from(EXEC_FAILED)) && stderr.starts_with(EXEC_ERROR_PREFIX) {
            let words = String::from_utf8_lossy(&stderr[EXEC_ERROR_PREFIX.len()..]);
            return Err(ProgramError::NotStarted(words.trim().to_owned()));
        }
        match status.signal().map(Signal::try_from) {
            Some(Ok(Signal::SIGXCPU)) => Err(ProgramError::TooMuch(Excess::Processor)),
            Some(Ok(Signal::SIGXFSZ)) => Err(ProgramError::TooMuch(Excess::Written)),
            _ => match KilledFromOutside::of(status) {
                Some(killed) => Err(ProgramError::KilledFromOutside(killed)),
                None => Ok(Finished { status, stdout, stderr, scratch: live.scratch }),
            },
        }
    }
}

/// A program that yields to all others when its job makes way.
struct Yielding {
    leader: i32,
}

impl MakesWay for Yielding {
    fn make_way(&self) {
        yield_to_all(self.leader);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut live) = self.live.take() else { return };
        kill_group(&live.child);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = live.end().await {
                    tracing::warn!(%error, "a program that nobody waits for any more does not end");
                }
            });
        }
    }
}

impl LiveProcess {
    async fn work(&self, bounds: Bounds, interval: Duration) -> Result<(), ProgramError> {
        let folder = self.scratch.watched().map_err(ProgramError::System)?;
        tokio::select! {
            biased;
            ended = self.ended.readable() => ended.map(|_| ()).map_err(ProgramError::System),
            () = self.is_output_full.cancelled() => Err(ProgramError::TooMuch(Excess::Printed)),
            excess = excess(self.group, &folder, bounds, interval) => Err(ProgramError::TooMuch(excess)),
            hung = hung(self.group, Scope::Whole, bounds.still, || false) => Err(ProgramError::Hung(hung)),
            never = yield_when_long(self.group, bounds.undisturbed, &self.at_work) => match never {},
            () = sleep(bounds.deadline) => Err(ProgramError::Deadline),
        }
    }

    /// Kills its whole group, and returns when all of it is dead.
    async fn end(&mut self) -> io::Result<ExitStatus> {
        // Before the first process is waited for: its zombie keeps the group's number from being reused.
        kill_group(&self.child);
        let status = self.child.wait().await?;
        if group::gone(self.group).await {
            return Ok(status);
        }
        Err(io::Error::other("what the program has started cannot be ended"))
    }

    async fn printed(&mut self) -> [Bytes; 2] {
        let mut printed = [Bytes::new(), Bytes::new()];
        for (output, stream) in printed.iter_mut().zip([&mut self.stdout, &mut self.stderr]) {
            if let Ok(Ok(bytes)) = timeout(OUTPUT_TIMEOUT, &mut *stream).await {
                *output = bytes.into();
            } else {
                stream.abort();
            }
        }
        printed
    }
}

/// Gives the lowest priority to a program that computed for so long, with all that it has started, once another one works.
async fn yield_when_long(leader: i32, undisturbed: Duration, at_work: &Working) -> Infallible {
    loop {
        sleep(LONG_LOOK_PAUSE).await;
        if !at_work.has_company() {
            continue;
        }
        let look = spawn_blocking(move || yield_to_all_when_long(leader, undisturbed));
        if look.await.is_ok_and(|is_long| is_long) {
            return pending().await;
        }
    }
}

/// Reads to the end, or to one byte above `limit_bytes`, and then cancels `is_output_full`.
async fn collect(
    mut stream: impl AsyncRead + Unpin,
    limit_bytes: u64,
    is_output_full: CancellationToken,
) -> Vec<u8> {
    let mut output = Vec::new();
    // When reading fails the program is dead; what came until then is its output.
    let _ = (&mut stream).take(limit_bytes + 1).read_to_end(&mut output).await;
    if output.len() as u64 > limit_bytes {
        is_output_full.cancel();
    }
    output
}
